"""Comparisons of sums: what is proved of them holds on a grid."""

import random
from fractions import Fraction
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest
from tests.compiler.proving.conditions_at_random import truth
from tests.rounds import rounds

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, INT, SCORE, Type
from rulewright.policies.regions import compare
from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.domains import Domain, Domains, NumberRange, Path, whole
from rulewright.proving.results import Proved, Refuted, Unknown
from rulewright.proving.search import never
from rulewright.proving.simplex import Simplex
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score

CONDITIONS = rounds(20, 1_500)
TYPES: dict[str, Type] = {"a": SCORE, "b": SCORE, "c": SCORE, "i": INT, "j": INT}
ENVIRONMENT = Environment(variables=TYPES)
SUMS = (
    "a - b {} {}", "a + b {} {}", "b - a {} {}", "a {} b + {}", "a {} b - {}", "1 - a {} b - {}", "b + c {} {}",
    "a - c {} {}",
    "b - c {} {}", "a {} {}", "b {} {}", "-(a - b) {} {}", "(a - b) / 2 {} {}", "2 * (b - c) {} {}", "a + b - b {} {}",
)  # fmt: skip
LEAST = ("min([a, b]).value() {} {}", "max([b, 1 - c, a]).value() {} {}", "min([a, 0.5]).value() {} b - {}")
MEANS = ("wmean([a, b, c], [2, 1, 1]).value() {} {}", "mean([a, 1 - c]).value() {} {}")
ODD = (*MEANS, "2 * a - b {} {}", "a + b + c {} {}", "a * 0.5 + b {} {}", "a - 3 * b {} {}")
WHOLE = ("i - j {} {}", "i + j {} {}", "i {} j + {}", "2 * i - j {} {}")
PLAIN = ("a {} {}", "b {} {}")
ORDER = ("<", "<=", ">", ">=", "==", "!=")
CUTS = ("0.0", "0.1", "0.25", "-0.1", "0.5", "1.0", "0.3")


def program(text: str) -> Program:
    return build(text, ENVIRONMENT, expect=BOOL).program


def condition(chance: random.Random, forms: tuple[str, ...], depth: int = 2) -> str:
    if depth and chance.random() < 0.8:
        one, two = (condition(chance, forms, depth - 1) for _ in range(2))
        return chance.choice([f"({one} && {two})", f"({one} && {two})", f"({one} || {two})", f"!{one}"])
    form = chance.choice(forms)
    cut = str(chance.randint(-3, 3)) if form in WHOLE else chance.choice(CUTS)
    if form in PLAIN + MEANS + LEAST:
        cut = cut.removeprefix("-")
    return f"({form.format(chance.choice(ORDER), cut)})"


def bounded(chance: random.Random) -> Domains:
    known: dict[Path, Domain] = {}
    for name in "abc":
        low, high = sorted(Fraction(chance.randint(0, 10), 10) for _ in range(2))
        pieces = (NumberRange.inside(low, low), NumberRange.inside(low, high), NumberRange.inside(high, high))
        known[name,] = Domain("score", pieces=tuple(dict.fromkeys(pieces)))
    known["i",], known["j",] = whole(chance.randint(-3, 0), chance.randint(0, 4)), whole(0, 3)
    return Domains(TYPES, known)


def grid(domains: Domains, names: str) -> list[dict[str, Any]]:
    """Every twentieth within the bounds, or every whole number."""
    lines: list[list[Any]] = []
    for name in names:
        domain = domains.known[name,]
        if domain.kind == "int":
            assert domain.low is not None
            assert domain.high is not None
            lines.append(list(range(int(domain.low), int(domain.high) + 1)))
        else:
            low, high = domain.pieces[0].low, domain.pieces[-1].high
            lines.append([Score(k, 20) for k in range(21) if low <= Fraction(k, 20) <= high])
    return [dict(zip(names, values, strict=True)) for values in product(*lines)]


@pytest.mark.parametrize(
    ("forms", "names"), [(SUMS, "abc"), (SUMS + ODD, "abc"), (PLAIN + LEAST, "abc"), (WHOLE, "ij")]
)
def test_what_is_proved_of_sums_holds_on_a_grid(forms: tuple[str, ...], names: str) -> None:
    chance = random.Random(3)
    proved = 0
    for _ in range(CONDITIONS):
        text, domains = condition(chance, forms), bounded(chance)
        compiled = program(text)
        evaluate = prepare(compiled)
        seen = {bits_of(evaluate, {"a": 0, "b": 0, "c": 0, "i": 0, "j": 0, **each}) for each in grid(domains, names)}
        for bits in (TRUE, FALSE, ERROR):
            result = never(compiled, domains, bits)
            proved += isinstance(result, Proved)
            assert not (isinstance(result, Proved) and bits in seen), (text, domains.known)
            if isinstance(result, Refuted):
                assert result.witness is not None
                assert bits_of(evaluate, dict(result.witness.bindings)) == bits
    assert proved > CONDITIONS


@pytest.mark.parametrize(
    "text",
    [
        "a >= b + 0.1 && a < b", "a < b && b < c && c < a", "a - b > 0.5 && b - c > 0.5", "a + b > 1.5 && a < 0.5",
        "a + b < 0.5 && a > 0.3 && b > 0.2", "a > b && 1 - a > 1 - b", "a == b && b == c && a != c", "a - b > 1.0",
        "i - j > 2 && i - j < 3", "a > 0.5 && b < 0.5 && a < b", "2 * a + b + c >= 3.5 && a + b + c < 2.5",
        "min([a, b]).value() > max([b, a]).value()", "max([a, b, c]).value() < 0.5 && a + b > 1.0",
        "a + 2 * b < 0.3 && 2 * a + b < 0.3 && a + b >= 0.2", "a + b + c > 2.0 && a + b <= 1.0 && c < 1.0",
    ],
)  # fmt: skip
def test_these_never_hold(text: str) -> None:
    domains = Domains(TYPES, {("i",): whole(0, 9), ("j",): whole(0, 9)})
    assert never(program(text), domains, TRUE) == Proved()


def test_whole_numbers_without_bounds_may_overflow_and_doubles_round() -> None:
    assert isinstance(never(program("i - j > 2 && i - j < 1"), Domains(TYPES), TRUE), Unknown)


def test_regions_of_sums_in_words_hold_exactly_the_inputs_on_which_two_conditions_differ() -> None:
    chance = random.Random(6)
    for _ in range(CONDITIONS // 4):
        one, two, domains = condition(chance, SUMS, 1), condition(chance, SUMS, 1), bounded(chance)
        found = compare(truth("c", program(one), "yes", "no"), truth("c", program(two), "yes", "no"), domains)
        assert found.unknown is None
        tests = [prepare(program(where)) for region in found.regions for where in region.where]
        assert all(region.witness is not None for region in found.regions)
        left, right = prepare(program(one)), prepare(program(two))
        for values in grid(domains, "abc"):
            differ = bits_of(left, values) != bits_of(right, values)
            assert differ == any(bits_of(each, values) == TRUE for each in tests), (one, two, values)


@pytest.mark.parametrize(
    ("text", "never_so"),
    [
        ("wmean([a, b], [1]).value() > 0.5", []),  # weights that give an error are not calculated with
        ("wmean([a, b], [2, -1]).value() > 0.5", []),
        ("wmean([a, b], [0, 0]).value() > 0.5", []),
        ("wmean([a, b], [0, 1]).value() > 0.5 && b <= 0.5", [TRUE, ERROR]),
        ("a - b - a + b != 0.0", []),
        ("i - i == 0", []),
        ("score(a - 0.5) < 0.1", [ERROR]),
        ("score(a + 0.3) < 0.3", [TRUE, ERROR]),
        ("1 - (a > 0.3 && a < 0.7 ? a : 0.2) < 0.3", [TRUE, ERROR]),
        ("1 - [a, 0.5][0] > 1.0", []),
    ],
)
def test_what_is_never_so_of_one_sum_is_never_so_on_a_grid(text: str, never_so: list[int]) -> None:
    unit = Domain("score", pieces=(NumberRange.inside(Fraction(0), Fraction(1)),))
    domains = Domains(TYPES, {("a",): unit, ("b",): unit, ("i",): whole(-2, 3)})
    evaluate = prepare(program(text))
    on_grid = {bits_of(evaluate, bindings) for bindings in grid(domains, "ab" if "a" in text else "i")}
    proved = [bits for bits in (TRUE, FALSE, ERROR) if isinstance(never(program(text), domains, bits), Proved)]
    assert proved == never_so
    assert on_grid.isdisjoint(proved)


def test_numbers_lie_within_bounds_exactly_where_they_do_on_a_grid() -> None:
    chance = random.Random(4)
    for _ in range(rounds(30, 1_000)):
        sums = [dict(enumerate(map(Fraction, chance.choices(range(-2, 3), k=2)))) for _ in "abc"]
        simplex = Simplex(2, [{at: by for at, by in each.items() if by} for each in sums])
        spans: dict[int, NumberRange] = {}
        for _ in range(6):  # from one question to the next the same one answers, and some bounds stay
            kept = {at: span for at, span in spans.items() if chance.random() < 0.4}
            bounded = [at for at in range(5) if at < 2 or chance.random() < 0.8]
            spans = {at: _span(chance, 0 if at < 2 else -2) for at in bounded} | kept
            found = simplex.point(spans)
            tried = [found] if found else [[Fraction(k, 4), Fraction(m, 4)] for k in range(9) for m in range(9)]
            holds = [all(span.holds(_value(at, point, sums)) for at, span in spans.items()) for point in tried]
            assert holds == [True] if found else not any(holds), (sums, spans)


def test_only_what_is_bounded_otherwise_than_in_the_last_question_is_looked_at() -> None:
    one = Fraction(1)
    simplex = Simplex(50, [{at: one, at + 1: -one} for at in range(49)])
    spans = dict.fromkeys(range(50), NumberRange(Fraction(0), one))
    assert simplex.is_possible(spans)
    with patch.object(Simplex, "_nearest", autospec=True, side_effect=Simplex._nearest) as asked:
        assert simplex.is_possible({**spans, 7: NumberRange(one / 2, one)})
        assert simplex.is_possible(spans)
    assert asked.call_count < 10


def _span(chance: random.Random, least: int) -> NumberRange:
    low, high = sorted(chance.choices(range(least, 3), k=2))
    return NumberRange(Fraction(low), Fraction(high), chance.random() < 0.3, chance.random() < 0.3)


def _value(at: int, point: list[Fraction], sums: list[dict[int, Fraction]]) -> Fraction:
    return point[at] if at < 2 else sum((by * point[each] for each, by in sums[at - 2].items()), Fraction(0))
