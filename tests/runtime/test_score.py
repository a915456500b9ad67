"""Scores are exact: what enters as a decimal stays that decimal until it leaves."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import rounds
from tests.runtime.programs import call, const, name, op, program

from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.plan.scorecard import Parameter, parameter_value
from rulewright_runtime.score import MAX_BITS, Score, add, divide, leave, multiply, parse_score, score_of, subtract
from rulewright_runtime.values import UInt, equal, less, less_equal

DECIMALS = st.integers(0, 1000).map(lambda n: n / 1000)


def test_the_mean_of_three_decimals_is_the_threshold_in_every_order() -> None:
    for values in itertools.permutations([0.9, 0.8, 0.7]):
        scores = op("list", *(call("score", value) for value in values))
        mean = call("value", call("mean", scores))
        assert prepare(program(call("_>=_", mean, Score(4, 5))))({}) is True
        assert prepare(program(call("_==_", mean, Score(4, 5))))({}) is True
        third = call("_/_", call("value", call("sum", scores)), 3)
        assert prepare(program(call("_>=_", third, Score(4, 5))))({}) is True


def test_doubles_added_as_doubles_would_have_missed_it() -> None:
    assert not all(sum(values) / 3 >= 0.8 for values in itertools.permutations([0.9, 0.8, 0.7]))


@given(st.permutations([0.1, 0.7, 0.35, 0.005, 0.999]), st.permutations([0.1, 0.7, 0.35, 0.005, 0.999]))
def test_no_permutation_of_the_same_decimals_changes_a_mean(one: list[float], two: list[float]) -> None:
    mean = prepare(program(call("value", call("mean", name("xs")))))
    assert mean({"xs": one}) == mean({"xs": two})
    exact = [[score_of(value) for value in values] for values in (one, two)]
    assert mean({"xs": exact[0]}) == mean({"xs": exact[1]}) == score_of(0.4308)


@given(st.lists(DECIMALS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_no_order_changes_a_weighted_mean(values: list[float], random: Any) -> None:
    pairs = [(value, number % 3 + 1) for number, value in enumerate(values)]
    wmean = prepare(program(call("value", call("wmean", name("xs"), name("ws")))))
    before = wmean({"xs": [v for v, _ in pairs], "ws": [w for _, w in pairs]})
    random.shuffle(pairs)
    assert wmean({"xs": [v for v, _ in pairs], "ws": [w for _, w in pairs]}) == before


@given(DECIMALS, DECIMALS)
def test_arithmetic_agrees_with_fractions(a: float, b: float) -> None:
    x, y = Fraction(repr(a)), Fraction(repr(b))
    left, right = score_of(a), score_of(b)
    for ours, exact in ((add, x + y), (subtract, x - y), (multiply, x * y)):
        made = ours(left, right)
        assert (made.numerator, made.denominator) == (exact.numerator, exact.denominator)
    if y:
        assert divide(left, right) == Score((x / y).numerator, (x / y).denominator)
    assert (left < right, left <= right, left == right, left > right) == (x < y, x <= y, x == y, x > y)


@given(st.floats(0, 1), st.sampled_from(["0", "0.5", "0.8", "0.333333333333333", "1", "0.123456789012345"]))
@settings(max_examples=rounds(40, 2_000))
def test_comparing_doubles_and_comparing_decimals_decide_the_same(value: float, literal: str) -> None:
    bar = parse_score(literal)
    exact = Fraction(repr(value)) >= Fraction(literal)
    assert prepare(program(call("_>=_", call("score", name("s")), bar)))({"s": value}) is exact
    assert (score_of(value) >= bar) is exact


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.0000000000000002, -5e-324, 2, -1, True, "1", None])
def test_a_value_that_is_not_a_number_from_0_to_1_is_not_a_score(value: object) -> None:
    with pytest.raises(EvaluationError) as caught:
        score_of(value)
    assert caught.value.code == "not_a_score"


def test_intermediate_results_may_leave_the_interval_and_a_leaving_score_may_not() -> None:
    double = add(Score(3, 4), Score(3, 4))
    assert leave(divide(double, 2)) == 0.75
    assert leave(subtract(Score(1), Score(1, 10))) == 0.9
    for outside in (double, subtract(Score(0), Score(1, 10**30))):
        with pytest.raises(EvaluationError, match="between 0 and 1"):
            leave(outside)


def test_a_score_leaves_rounded_once() -> None:
    third = divide(1, Score(3))
    assert leave(multiply(third, 3)) == 1.0
    assert leave(third) == 1 / 3


def test_a_score_may_not_grow_without_end() -> None:
    value = parse_score("0.123456789012345")
    while value.denominator.bit_length() * 2 <= MAX_BITS:
        value = multiply(value, value)
    with pytest.raises(EvaluationError) as caught:
        multiply(value, value)
    assert caught.value.code == "limit"


def test_a_score_is_never_divided_by_zero() -> None:
    for zero in (0, 0.0, Score(0)):
        with pytest.raises(EvaluationError) as caught:
            divide(Score(1, 2), zero)
        assert caught.value.code == "divide_by_zero"


def test_scores_meet_other_numbers_exactly_and_nothing_else() -> None:
    assert equal(Score(4, 5), 0.8)
    assert equal(Score(1), 1)
    assert equal(UInt(1), Score(1))
    assert not equal(Score(1), True)
    assert not equal(Score(4, 5), "0.8")
    assert not equal(Score(1), math.nan)
    assert less(Score(1, 3), 0.34)
    assert less_equal(1, Score(1))
    with pytest.raises(EvaluationError):
        less(Score(1, 3), math.nan)
    assert hash(Score(1, 2)) == hash(Score(2, 4))
    assert Score(-1, -2) == Score(1, 2)


@pytest.mark.parametrize("text", ["", "x", "1/0", "NaN", "inf", "1e99999", "1/2/3"])
def test_a_malformed_score_is_refused(text: str) -> None:
    with pytest.raises(EvaluationError):
        parse_score(text)


def test_mixed_numbers_promote_in_the_profile_only() -> None:
    mixed = call("_*_", name("weight"), 2)
    assert prepare(program(mixed))({"weight": 1.5}) == 3.0
    with pytest.raises(EvaluationError) as caught:
        prepare(program(mixed, strict=True))({"weight": 1.5})
    assert caught.value.code == "no_such_overload"
    assert prepare(program(call("_+_", const(UInt(3)), 2)))({}) == 5
    assert prepare(program(call("_/_", 7, 2)))({}) == 3
    assert prepare(program(call("-_", const(Score(1, 2)))))({}) == Score(-1, 2)


@pytest.mark.parametrize(
    "given", ["1e99999999", "1e-99999999", "1/0", "1/" + "9" * 5000, "5/4", "2", "-0.1", "nan", "x", ""]
)
def test_a_parameter_that_is_no_score_is_refused_at_once(given: str) -> None:
    with pytest.raises(PlanError, match="must be a score from 0 to 1, found"):
        parameter_value(Parameter("least", "score", "0.5"), given)


def test_a_parameter_is_the_score_that_its_text_says() -> None:
    values = [parameter_value(Parameter("least", "score", "0.5"), text) for text in ("1/3", "0.3", "1e-3", "1")]
    assert values == [Score(1, 3), Score(3, 10), Score(1, 1000), Score(1, 1)]
