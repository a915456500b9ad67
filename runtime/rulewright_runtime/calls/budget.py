"""Budgets: limits on calls, tokens and dollars of a run, and bounds on the cost of a call."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

import anyio
import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.call import ModelCall, Usage

MESSAGE_TOKENS: Final = 32  # added to a message by a chat template: an upper bound for all known ones
MAX_TOKEN_BYTES: Final = 128  # no tokenizer in use has a longer token
MILLION: Final = 1_000_000


class BudgetError(RuntimeFailure):
    """A call that the budget does not allow. The run stops and can be resumed with a larger one."""


class Price(msgspec.Struct, frozen=True):
    """USD per million input tokens and per million output tokens."""

    input: Decimal
    output: Decimal


class Spending(msgspec.Struct, frozen=True):
    """Calls, tokens and USD; `usd` is None when a price is unknown."""

    calls: int = 0
    tokens: int = 0
    usd: Decimal | None = Decimal(0)

    def __add__(self, other: Spending) -> Spending:
        """Return the sum; an unknown price makes it unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spending(self.calls + other.calls, self.tokens + other.tokens, usd)

    def __sub__(self, other: Spending) -> Spending:
        """Return the difference; an unknown price makes it unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd - other.usd
        return Spending(self.calls - other.calls, self.tokens - other.tokens, usd)


def max_spending(call: ModelCall, price: Price | None) -> Spending:
    """Return the most that one attempt can cost: a token has at least one byte, the reply at most `max_tokens`."""
    sent = sum(len(message.content.encode()) + MESSAGE_TOKENS for message in call.messages)
    return Spending(1, sent + call.max_tokens, cost(price, sent, call.max_tokens))


def min_spending(call: ModelCall, price: Price | None) -> Spending:
    """Return the least that an answered call can cost: the fewest tokens of its prompt, and one of a reply."""
    sent = sum(-(-len(message.content.encode()) // MAX_TOKEN_BYTES) for message in call.messages)
    return Spending(1, sent + 1, cost(price, sent, 1))


def minimum_budget(calls: Iterable[tuple[ModelCall, Price | None]]) -> Spending:
    """Return the smallest budget with which all calls, each with its price, may be answered in some order.

    Before a call is sent its maximum cost must be left, while the calls before it may have cost their minimum. So the
    call with the smallest difference of the two comes last, and every maximum has to fit by itself.
    """
    bounds = [(min_spending(call, price), max_spending(call, price)) for call, price in calls]
    if not bounds:
        return Spending()
    total = sum((low for low, _ in bounds), Spending())
    spare = [high - low for low, high in bounds]
    tokens = max(total.tokens + min(each.tokens for each in spare), max(high.tokens for _, high in bounds))
    differences = [each.usd for each in spare if each.usd is not None]
    highest = [high.usd for _, high in bounds if high.usd]
    usd = None if total.usd is None else max([total.usd + min(differences, default=Decimal()), *highest])
    return Spending(len(bounds), tokens, usd)


def actual_spending(call: ModelCall, usage: Usage, price: Price | None) -> Spending:
    """Return the cost of an answered call by the endpoint's token counts; without them, or if they are fewer than the
    prompt can have, the most it can have cost."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return max_spending(call, price)
    tokens = usage.input_tokens + usage.output_tokens
    if tokens < min_spending(call, price).tokens:
        return max_spending(call, price)
    return Spending(1, tokens, cost(price, usage.input_tokens, usage.output_tokens))


def cost(price: Price | None, sent: int, received: int) -> Decimal | None:
    """Return USD for tokens, or None without a price."""
    return None if price is None else (price.input * sent + price.output * received) / MILLION


class Budget:
    """The limits of a run, with its spent and reserved amounts. None means no limit."""

    def __init__(self, calls: int | None = None, tokens: int | None = None, usd: Decimal | None = None) -> None:
        """Start with nothing spent. Raises BudgetError for a negative limit."""
        for name, limit in (("calls", calls), ("tokens", tokens), ("usd", usd)):
            if limit is not None and limit < 0:
                raise BudgetError(f"the limit of `{name}` must not be negative, not {limit}")
        self._calls, self._tokens, self._usd = calls, tokens, usd
        self.spent = Spending()
        self._reserved = Spending()
        self._settled = anyio.Event()

    async def reserve(self, spending: Spending) -> None:
        """Reserve the maximum cost of a call; waits while calls in flight may still release enough of the budget.

        Raises BudgetError when nothing is in flight and the reservation would exceed a limit.
        """
        while True:
            try:
                self.check(self.spent + self._reserved + spending)
            except BudgetError:
                if self._reserved.calls == 0:
                    self._refuse(spending, "a single call may need {} {}")
                    raise
                await self._settled.wait()
            else:
                self._reserved += spending
                return

    def refuse(self, needed: Spending) -> None:
        """Raise BudgetError when the minimum `needed` exceeds a limit."""
        self._refuse(needed, "at least {} {} are needed", f" (of at most {MAX_TOKEN_BYTES} bytes a token)")

    def _refuse(self, needed: Spending, wording: str, basis: str = "") -> None:
        for name, unit, limit, minimum in (
            ("max_calls", "calls", self._calls, needed.calls),
            ("max_tokens", "tokens", self._tokens, needed.tokens),
            ("max_usd", "USD", self._usd, needed.usd),
        ):
            if limit is not None and minimum is not None and minimum > limit:
                amount = f"{minimum.normalize():f}" if isinstance(minimum, Decimal) else minimum
                need = wording.format(amount, unit) + basis * (unit != "calls")
                raise BudgetError(f"{need}, and no more than {limit} are allowed (`{name}`)")

    def check(self, total: Spending) -> None:
        """Raise BudgetError when `total` exceeds a limit, or can't be compared with it."""
        if self._calls is not None and total.calls > self._calls:
            raise BudgetError(f"the budget of {self._calls} calls is used up")
        if self._tokens is not None and total.tokens > self._tokens:
            raise BudgetError(f"the budget of {self._tokens} tokens does not allow another call")
        if self._usd is not None and total.usd is None:
            raise BudgetError("a budget in USD needs the model's price; add it to the project's `pricing`")
        if self._usd is not None and total.usd is not None and total.usd > self._usd:
            raise BudgetError(f"the budget of ${self._usd} does not allow another call")

    def settle(self, reserved: Spending, actual: Spending) -> None:
        """Replace a reservation by the actual spending."""
        self._reserved -= reserved
        self.spent += actual
        self._settled.set()
        self._settled = anyio.Event()
