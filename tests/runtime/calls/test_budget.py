import re
from contextlib import suppress
from decimal import Decimal
from random import Random

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright_runtime.calls.budget import (
    Budget,
    BudgetError,
    Price,
    Spending,
    actual_spending,
    max_spending,
    min_spending,
    minimum_budget,
)
from rulewright_runtime.models.call import ChatMessage, ModelCall, Usage

PRICE = Price(Decimal(2), Decimal(8))
CALL = ModelCall((ChatMessage("user", "é" * 100),), 50)


def test_a_call_costs_at_most_its_bytes_and_its_longest_reply() -> None:
    assert max_spending(CALL, PRICE) == Spending(1, 232 + 50, Decimal("0.000864"))
    assert max_spending(CALL, None).usd is None


def test_what_the_endpoint_does_not_count_is_counted_in_full() -> None:
    assert actual_spending(CALL, Usage(10, 20), PRICE) == Spending(1, 30, Decimal("0.00018"))
    assert actual_spending(CALL, Usage(10, None), PRICE) == max_spending(CALL, PRICE)


@pytest.mark.parametrize("counts", [(0, 0), (1, 1), (0, 2)])
def test_counts_that_no_prompt_of_this_length_can_have_do_not_stretch_a_budget(counts: tuple[int, int]) -> None:
    assert min_spending(CALL, PRICE).tokens == 3
    assert actual_spending(CALL, Usage(*counts), PRICE) == max_spending(CALL, PRICE)
    assert actual_spending(CALL, Usage(2, 1), PRICE) == min_spending(CALL, PRICE)


@pytest.mark.parametrize("limits", [{"calls": -1}, {"tokens": -5}, {"usd": Decimal(-1)}])
def test_a_negative_limit_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(BudgetError, match="must not be negative"):
        Budget(**limits)  # type: ignore[arg-type]


def test_a_dollar_budget_needs_a_price() -> None:
    with pytest.raises(BudgetError, match="needs the model's price"):
        Budget(usd=Decimal(1)).check(Spending(1, 1, None))
    Budget(usd=Decimal(1)).check(Spending(1, 1, Decimal(1)))
    with pytest.raises(BudgetError, match=r"the budget of \$1 does not allow another call"):
        Budget(usd=Decimal(1)).check(Spending(1, 1, Decimal("1.01")))


@given(st.lists(st.integers(1, 40), max_size=20), st.integers(0, 300))
def test_spent_and_reserved_never_exceed_a_limit(costs: list[int], limit: int) -> None:
    budget = Budget(tokens=limit)

    async def one(tokens: int) -> bool:
        reserved = Spending(1, tokens)
        await budget.reserve(reserved)
        assert budget.spent.tokens + budget._reserved.tokens <= limit
        await anyio.sleep(0)
        budget.settle(reserved, Spending(1, tokens // 2))
        return True

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for tokens in costs:
                group.start_soon(_swallowed, one, tokens)

    anyio.run(all_of_them)
    assert budget.spent.tokens <= limit
    assert budget._reserved == Spending()


async def _swallowed(one: object, tokens: int) -> None:
    with suppress(BudgetError):
        await one(tokens)  # type: ignore[operator]


def test_a_call_waits_for_those_in_flight_before_it_is_refused() -> None:
    async def whole() -> Spending:
        budget = Budget(calls=10, tokens=100)
        first = Spending(1, 100)
        await budget.reserve(first)
        async with anyio.create_task_group() as group:
            group.start_soon(budget.reserve, Spending(1, 50))
            await anyio.sleep(0.01)
            budget.settle(first, Spending(1, 50))  # it cost less than it might have
        return budget.spent

    assert anyio.run(whole) == Spending(1, 50)


def test_a_call_that_is_answered_costs_at_least_its_longest_tokens_and_one_of_a_reply() -> None:
    assert min_spending(CALL, PRICE) == Spending(1, 2 + 1, Decimal("0.000012"))
    assert minimum_budget([]) == Spending()
    assert minimum_budget([(CALL, None)]) == max_spending(CALL, None)
    assert minimum_budget([(CALL, PRICE)] * 3) == Spending(
        3, 2 * 3 + 282, 2 * Decimal("0.000012") + Decimal("0.000864")
    )


CALLS = st.builds(
    lambda size, reply: ModelCall((ChatMessage("user", "x" * size),), reply), st.integers(0, 400), st.integers(1, 90)
)


@given(st.lists(CALLS, min_size=1, max_size=7), st.randoms(), st.integers(0, 1500))
def test_no_order_of_calls_fits_into_less_than_the_floor(calls: list[ModelCall], random: Random, limit: int) -> None:
    """Calls that cost the least they can, each sent only where the most that it can cost is left."""
    random.shuffle(calls)
    spent_so_far, fits = 0, True
    for each in calls:
        fits = fits and spent_so_far + max_spending(each, None).tokens <= limit
        spent_so_far += min_spending(each, None).tokens
    try:
        Budget(tokens=limit).refuse(minimum_budget([(each, None) for each in calls]))
    except BudgetError:
        assert not fits


def test_a_limit_below_the_floor_is_named() -> None:
    for limits, said in (
        ({"calls": 2}, "at least 3 calls are needed, and no more than 2 are allowed (`max_calls`)"),
        ({"tokens": 287}, "at least 288 tokens are needed (of at most 128 bytes a token), and no more than 287"),
        ({"usd": Decimal("0.0008")}, "at least 0.000888 USD are needed (of at most 128 bytes a token)"),
    ):
        with pytest.raises(BudgetError, match=re.escape(said)):
            Budget(**limits).refuse(minimum_budget([(CALL, PRICE)] * 3))
    Budget(3, 288, Decimal("0.000888")).refuse(minimum_budget([(CALL, PRICE)] * 3))


def test_a_call_that_no_budget_of_this_size_allows_is_refused_for_its_size() -> None:
    with pytest.raises(BudgetError, match=r"a single call may need 1\.5 USD, and no more than 1 are allowed"):
        anyio.run(Budget(usd=Decimal(1)).reserve, Spending(1, 10, Decimal("1.50")))
