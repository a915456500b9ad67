"""Single conditions: what they say always or never, what follows from what, and which of their parts are idle."""

from collections.abc import Callable, Iterator
from operator import eq, ge, gt, le, lt, ne
from typing import Final

import pytest
from hypothesis import given, settings
from tests.compiler.proving.conditions_at_random import (
    DOMAINS,
    ORDER,
    TYPES,
    conditions,
    implies,
    inputs,
    program,
    same,
)

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, STRING, ListType, OptionalType
from rulewright.linting.lint_run import lint_text
from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.domains import Domains
from rulewright.proving.program_parts import extract, written
from rulewright.proving.results import Proved, Refuted, Unknown
from rulewright.proving.search import never, without_effect
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.values import INT_MAX, INT_MIN

INPUTS = list(inputs())[::13]


@pytest.mark.parametrize(
    "text",
    [
        "x >= 0.0", "x > 0.5 || x <= 0.5", "n > 3 || n < 4", "e in [GO, NO_GO, WAIT]", "s == 'a' || s != 'a'",
        "b || !b", "has(r.p) ? r.p <= 1.0 : true", "o.orValue(0.3) >= 0.0", "1 - x <= 1.0", "b == b",
    ],
)  # fmt: skip
def test_these_always_hold(text: str) -> None:
    assert never(program(text), DOMAINS, FALSE | ERROR) == Proved()
    assert isinstance(never(program(text), DOMAINS, TRUE), Refuted)


@pytest.mark.parametrize(
    "text",
    [
        "x > 0.5 && x < 0.3", "n > 3 && n < 4", "e == GO && e == WAIT", "s == 'a' && s == 'b'", "b && !b",
        "x * 2 > 2.0", "(x in [0.25, 0.5]) == true && x > 0.5", "r.p > 0.5 && !has(r.p)", "x in [0.1, 0.2] && x > 0.2",
    ],
)  # fmt: skip
def test_these_never_hold(text: str) -> None:
    assert never(program(text), DOMAINS, TRUE) == Proved()


@pytest.mark.parametrize("text", ["w == optional.of('a')", "w != optional.of('a')", "w == optional.none()"])
def test_an_optional_text_may_be_the_one_that_is_compared_with(text: str) -> None:
    types = {"w": OptionalType(STRING)}
    condition = build(text, Environment(variables=types), expect=BOOL).program
    assert isinstance(never(condition, Domains(types), TRUE), Refuted)
    assert isinstance(never(condition, Domains(types), FALSE), Refuted)


def test_what_is_only_undecided_sometimes_does_not_always_hold() -> None:
    text = "r.p >= 0.0"
    assert never(program(text), DOMAINS, FALSE) == Proved()
    result = never(program(text), DOMAINS, FALSE | ERROR)
    assert isinstance(result, Refuted)
    assert str(result.witness) == "r.p absent"


@pytest.mark.parametrize("text", ["(x in [0.3, 0.8]) != is_refusal('so')", "(x in [0.3, 0.8]) == true"])
def test_a_test_of_a_number_may_be_compared(text: str) -> None:
    for bits in (TRUE, FALSE):
        assert not isinstance(never(program(text), DOMAINS, bits), Proved)


def test_a_stricter_limit_implies_a_looser_one_and_not_the_other_way_round() -> None:
    assert implies(program("x > 0.5"), program("x > 0.3")) == Proved()
    result = implies(program("x > 0.3"), program("x > 0.5"))
    assert isinstance(result, Refuted)
    assert str(result.witness) == "x = 0.4"


def test_an_undecided_conclusion_does_not_follow() -> None:
    result = implies(program("b"), program("r.p >= 0.0"))
    assert isinstance(result, Refuted)
    assert str(result.witness) == "b = true, r.p absent"


def test_conditions_that_differ_only_where_they_are_undecided_differ() -> None:
    one, two = program("has(r.p) && r.p > 0.5"), program("r.p > 0.5")
    assert isinstance(same(one, two), Refuted)
    assert same(program("!(x > 0.5 && b)"), program("x <= 0.5 || !b")) == Proved()


def test_what_is_not_understood_is_unknown() -> None:
    for bits in (FALSE | ERROR, TRUE):
        result = never(program("s.startsWith('a')"), DOMAINS, bits)
        assert isinstance(result, Unknown)
        assert "`s.startsWith('a')` is too complex for this proof" in result.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 0.3 && x > 0.5", ["x > 0.3"]),
        ("x > 0.3 || x > 0.5", ["x > 0.5"]),
        ("b && x > 0.5 && b", ["b"]),
        ("x > 0.5 && y > 0.5", []),
        ("has(r.p) && r.p > 0.5", []),
        ("n >= 2 && (n >= 1 || b) && e == GO", ["n >= 1 || b"]),
        ("x >= 0.0 && b", []),
        ("x >= 0.5 || (b && x >= 0.7)", ["b && x >= 0.7"]),
    ],
)
def test_the_parts_without_which_a_condition_means_the_same(text: str, expected: list[str]) -> None:
    condition = program(text)
    assert [written(extract(condition, at)) for at, _ in without_effect(condition, DOMAINS)] == expected


def test_a_part_without_effect_is_found_among_many_that_matter() -> None:
    names = [f"{letter}{at}" for at in range(30) for letter in "bd"]
    text = " || ".join(["(b7 && !d7 && d8)", *(f"(b{at} && !d{at})" for at in range(30))])
    condition = build(text, Environment(dict.fromkeys(names, BOOL))).program
    idle = without_effect(condition, Domains(dict.fromkeys(names, BOOL)))
    assert [written(extract(condition, at)) for at, _ in idle] == ["b7 && !d7 && d8"]


@settings(max_examples=60)
@given(conditions)
def test_a_part_that_adds_nothing_can_be_dropped_everywhere(text: str) -> None:
    condition = program(text)
    for at, _ in without_effect(condition, DOMAINS):
        nodes = condition.nodes
        joined = next(n for n in nodes if n.op in ("and", "or") and at in n.args)
        rest = [prepare(extract(condition, arg)) for arg in joined.args if arg != at]
        whole = prepare(extract(condition, nodes.index(joined)))
        if len(rest) == 1:
            assert all(bits_of(whole, each) == bits_of(rest[0], each) for each in INPUTS)


LARGE: Final = (9007199254740992.0, 9007199254740994.0, -9007199254740992.0, 2.0**62, 2.0**63, 0.5, -3.0)
OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne,
}  # fmt: skip


def conditions_and_rows(text: str, order: str) -> Iterator[tuple[str, bool]]:
    """Conditions that hold for one int near a double at most, each with whether they do."""
    for value in LARGE:
        for number in {int(value) + step for step in (-1025, -513, -512, -2, -1, 0, 1, 2, 512, 1025)}:
            if INT_MIN <= number <= INT_MAX:
                yield text.format(number, order, value), OPERATORS[order](float(number), value)


@pytest.mark.parametrize("order", ORDER)
@pytest.mark.parametrize("text", ["n == {} && n {} {!r}", "n == {} && (n {} {!r} && (x > y || x <= y))"])
def test_next_to_a_double_an_int_counts_as_its_nearest_double(text: str, order: str) -> None:
    for condition, holds in conditions_and_rows(text, order):
        found = never(program(condition), DOMAINS, TRUE)
        assert isinstance(found, Refuted if holds else Proved), condition


def test_a_double_meets_the_nearest_double_of_an_int() -> None:
    types = {**TYPES, "d": DOUBLE}
    environment, domains = Environment(variables=types), Domains(types)
    met = build("d == 9007199254740993", environment).program
    passed = build("d < 9007199254740993 && d >= 9007199254740992.0", environment).program
    assert isinstance(never(met, domains, TRUE), Refuted)
    assert never(passed, domains, TRUE) == Proved()


@pytest.mark.parametrize("count", [55, 500])
def test_hundreds_of_alternatives_are_linted(count: int) -> None:
    text = " or ".join(f"answer == 'w{number}'" for number in range(count))
    assert lint_text(f"id: many\nfail: {text}\n", "many.yaml").diagnostics == ()  # 200 of them took minutes


def test_a_part_of_texts_may_be_looked_for_in_a_map() -> None:
    text = "texts.exists(t, t.lowerAscii() in {'a': 1}) && texts.exists(t, t.lowerAscii() == 'x')"
    types = {"texts": ListType(STRING)}
    condition = build(text, Environment(variables=types), expect=BOOL).program
    assert isinstance(never(condition, Domains(types), TRUE), Unknown)


@pytest.mark.parametrize("tests", ["answer == 'w{}'", "v('other').verdict == FAIL"])
def test_a_check_of_hundreds_of_choices_is_linted_or_said_to_be_too_deep(tests: str) -> None:
    text = " : ".join(f"{tests.format(number)} ? size(turns) > {number}" for number in range(120)) + " : false"
    found = lint_text(f'id: many\nfail: "{text}"\n', "many.yaml").diagnostics
    assert {each.message for each in found} <= {"the expression is too large or nests too deeply"}
