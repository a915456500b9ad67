"""Regions of two decisions: they hold exactly the inputs on which both come to different outcomes."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.compiler.proving.conditions_at_random import (
    DOMAINS,
    ENVIRONMENT,
    conditions,
    deciding_row,
    inputs,
    program,
    truth,
)
from tests.compiler.proving.test_relations import DOMAINS as RELATED
from tests.compiler.proving.test_relations import TESTS, an_input
from tests.compiler.proving.test_relations import program as related
from tests.rounds import rounds

from rulewright.diagnostics import Span
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, DYN, INT, SCORE, STRING, EnumType, MapType, OptionalType, Type
from rulewright.lower.table_syntax import TableRow
from rulewright.policies.policy_model import NOTHING, PolicyDecision, computed, table
from rulewright.policies.regions import Comparison, compare
from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.domains import Domains
from rulewright.proving.search import TOO_MANY
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, literal

PAIRS = rounds(6, 500)
EQUAL = rounds(5, 1_000)
INPUTS = list(inputs())[::299]
NOWHERE = Span("", 0, 0, 0, 0)
LOOSE = settings(max_examples=PAIRS, suppress_health_check=list(HealthCheck))


def text(word: str) -> Program:
    return Program((Node("const", (), literal(word)),))


def rows(texts: list[str]) -> PolicyDecision:
    """A table whose rows give three words in turn."""
    return table("t", [TableRow(program(each), text(f"o{at % 3}"), None, NOWHERE) for at, each in enumerate(texts)])


def carried_out(texts: list[str], bindings: dict[str, object]) -> str:
    """What the table gives, by the evaluator alone."""
    row = deciding_row(texts, bindings)
    if isinstance(row, int):
        return f"'o{row % 3}'"
    return "nothing" if row is None else "an error"


@LOOSE
@given(st.lists(conditions, min_size=1, max_size=3), st.lists(conditions, min_size=1, max_size=3))
def test_the_regions_in_words_hold_exactly_the_inputs_on_which_two_tables_differ(
    one: list[str], two: list[str]
) -> None:
    found = compare(rows(one), rows(two), DOMAINS)
    assert found.unknown is None
    holds = [(region, [prepare(program(where)) for where in region.where]) for region in found.regions]
    for region in found.regions:
        assert region.witness is not None
        shown = dict(region.witness.bindings)
        assert (carried_out(one, shown), carried_out(two, shown)) == (region.before, region.after)
    for given_ in INPUTS:
        gives = carried_out(one, given_), carried_out(two, given_)
        inside = [region for region, parts in holds if any(bits_of(each, given_) == TRUE for each in parts)]
        assert [(region.before, region.after) for region in inside] == ([gives] if gives[0] != gives[1] else [])


def related_rows(texts: list[str]) -> PolicyDecision:
    """A table whose conditions are about one text, one list, one value and one time."""
    return table("t", [TableRow(related(each), text(f"o{at}"), None, NOWHERE) for at, each in enumerate(texts)])


def test_every_input_on_which_tables_over_texts_and_lists_differ_is_in_a_region_of_its_outcomes() -> None:
    chance = random.Random(202)
    given_ = [an_input(chance) for _ in range(100)]

    def outcome(texts: list[str], bindings: dict[str, object]) -> str:
        for number, each in enumerate(texts):
            bits = bits_of(prepare(related(each)), bindings)
            if bits != FALSE:
                return "an error" if bits == ERROR else f"'o{number}'"
        return "nothing"

    for _ in range(rounds(5, 1_000)):
        one = [" || ".join(chance.sample(TESTS, 2)), chance.choice(TESTS)]
        two = [" && ".join((one[0], chance.choice(TESTS))), one[1]]
        found = {(each.before, each.after) for each in compare(related_rows(one), related_rows(two), RELATED).regions}
        for each in given_:
            gives = outcome(one, each), outcome(two, each)
            assert gives[0] == gives[1] or gives in found, (one, two, each)


_LINES = (
    ("x < 0.5", "1 - x > 0.5"), ("x >= 0.25", "!(x < 0.25)"), ("x + y > 1.0", "1.0 - y < x"), ("n > 2", "n >= 3"),
    ("2 * y - 0.5 < 0.1", "y < 0.3"), ("e == GO || e == WAIT", "e != NO_GO"), ("x > y", "!(y >= x)"),
    ("s in ['a', 'b']", "s == 'b' || s == 'a'"), ("x + x < 1.0", "x < 0.5"),
    ("b == r.q", "r.q == b"), ("b != r.q", "(b && !r.q) || (!b && r.q)"),
)  # fmt: skip


def rewritten(chance: random.Random, depth: int) -> tuple[str, str]:
    """A condition, and another one that means the same by algebra."""
    kind = chance.choice(("atom", "and", "or", "not", "cond")) if depth else "atom"
    if kind == "atom":
        one, two = chance.choice(_LINES)
        return f"({one})", f"({two})"
    parts = [rewritten(chance, depth - 1) for _ in range(3)]
    (a, x), (b, y), (c, z) = parts
    return {
        "and": (f"({a} && {b})", f"!(!{y} || !{x})"),
        "or": (f"({a} || {b})", f"!(!{x} && !{y})"),
        "not": (f"!{a}", f"({x} ? false : true)"),
        "cond": (f"({a} ? {b} : {c})", f"(({x} && {y}) || (!{x} && {z}))"),
    }[kind]


def test_the_first_text_of_a_list_is_not_any_of_its_texts() -> None:
    one, two = "texts[0] == 'a'", "texts[0] == 'a' || texts.exists(t, t == 'a')"
    found = compare(related_rows([one]), related_rows([two]), RELATED)
    assert ("nothing", "'o0'") in {(each.before, each.after) for each in found.regions}


def test_pairs_that_algebra_rewrites_are_proved_equal() -> None:
    chance = random.Random(7)
    for _ in range(EQUAL):
        pairs = [rewritten(chance, 2) for _ in range(chance.randint(1, 3))]
        one, two = rows([each for each, _ in pairs]), rows([each for _, each in pairs])
        assert compare(one, two, DOMAINS) == Comparison(()), pairs


def test_a_table_of_200_rows_is_compared_with_its_successor() -> None:
    types: dict[str, Type] = {"score": SCORE, "age": INT, "kind": EnumType("kind", ("a", "b", "c", "d"))}
    environment = Environment(variables=types)

    def made(changed: tuple[int, ...]) -> PolicyDecision:
        found = []
        for at in range(200):
            kind, low = "abcd"[at // 50], 99 - 2 * (at % 50)
            other = f"age > {at * 7 % 80}" if at % 2 else f"score < 0.{low // 2 + 10:02d}"
            word = "other" if at in changed else f"label {at % 7}"
            built = build(f"kind == {kind} && score >= 0.{low:02d} && {other}", environment).program
            found.append(TableRow(built, text(word), None, NOWHERE))
        return table("t", found)

    domains = Domains(types)
    assert compare(made(()), made(()), domains).equal
    found = compare(made(()), made((11, 60, 111)), domains)
    assert {(region.before, region.after) for region in found.regions} == {
        ("'label 4'", "'other'"), ("'label 6'", "'other'")
    }  # fmt: skip
    assert all(region.witness for region in found.regions)


def test_a_table_of_200_rows_about_texts_is_compared_with_its_successor() -> None:
    types: dict[str, Type] = {"said": STRING, "age": INT}
    conditions = [f"said.contains('word{at}') && age > {at * 7 % 60}" for at in range(200)]
    ready = [build(each, Environment(variables=types)).program for each in conditions]

    def made(changed: tuple[int, ...]) -> PolicyDecision:
        words = ["other" if at in changed else "same" for at in range(len(ready))]
        return table("t", [TableRow(each, text(word), None, NOWHERE) for each, word in zip(ready, words, strict=True)])

    found = compare(made(()), made((11, 60, 111)), Domains(types))
    assert found.unknown is None
    (region,) = found.regions
    assert region.witness is not None
    first = next(at for at, each in enumerate(ready) if prepare(each)(region.witness.bindings))
    assert first in (11, 60, 111)


def regions(one: str, two: str) -> list[tuple[str, str, tuple[str, ...], str]]:
    comparison = compare(truth("c", program(one), "yes", "no"), truth("c", program(two), "yes", "no"), DOMAINS)
    return [(each.before, each.after, each.where, str(each.witness)) for each in comparison.regions]


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("x >= 0.5", "x > 0.5", [("yes", "no", ("x == 0.5",), "x = 0.5")]),
        ("x >= 0.5", "x >= 0.75 || x == 0.5", [("yes", "no", ("x > 0.5 && x < 0.75",), "x = 0.6")]),
        ("x * 3 < 1", "x * 3 <= 1", [("no", "yes", ("x == score(1) / 3",), "x = score(1) / 3")]),
        ("r.p > 0.5", "has(r.p) && r.p > 0.5", [("yes", "no", ("!has(r.p)",), "r.p absent")]),
        ("o.orValue(1.0) > 0.5", "o.hasValue()", [
            ("yes", "no", ("!o.hasValue()",), "o absent"), ("no", "yes", ("o.value() <= 0.5",), "o = 0.0"),
        ]),
        ("'a' in ts", "ts.exists(t, t in ['a', 'b'])", [("no", "yes", ("!('a' in ts) && 'b' in ts",), "ts = ['b']")]),
        ("s.contains('x') && b", "b", [("no", "yes", ("b && !(s.contains('x'))",), "b = true, s = ''")]),
    ],
)  # fmt: skip
def test_a_region_is_described_in_the_words_of_the_source(one: str, two: str, expected: list[object]) -> None:
    assert regions(one, two) == expected


def test_computed_outputs_are_compared_by_what_they_give() -> None:
    def choice(source: str) -> PolicyDecision:
        return computed("c", build(source, ENVIRONMENT).program)

    assert compare(choice("b ? 1 - x : y"), choice("!b ? y : 1 + -x"), DOMAINS).equal
    (region,) = compare(choice("b ? x : score(0)"), choice("b ? x : y"), DOMAINS).regions
    assert (region.before, region.after, region.where) == ("0.0", "y", ("!b && y != 0.0",))
    assert compare(PolicyDecision("c", (), NOTHING), PolicyDecision("c", (), NOTHING), DOMAINS).equal


def test_an_example_has_every_variable_that_can_not_be_absent() -> None:
    types: dict[str, Type] = {"n": INT, "m": INT, "e": EnumType("e", ("GO", "WAIT")), "meta": MapType(STRING, DYN)}

    def made(*conditions: str) -> PolicyDecision:
        programs = [build(each, Environment(variables=types), expect=BOOL).program for each in conditions]
        return table("t", [TableRow(each, text(str(at)), None, NOWHERE) for at, each in enumerate(programs)])

    nested = "has(meta.a) && has(meta.a.b)"
    found = compare(made(nested), made("n * n > 3 ? m > 3 : e != GO", nested), Domains(types))
    shown = [region.witness.bindings.keys() for region in found.regions if region.witness]
    assert shown
    assert all(each >= types.keys() for each in shown)


def test_a_key_of_a_map_is_shown_with_its_value() -> None:
    types: dict[str, Type] = {"meta": MapType(STRING, DYN)}
    one, two = (
        truth("c", build(f"'tier' in meta && meta['tier'] == '{word}'", Environment(variables=types)).program, "y", "n")
        for word in ("gold", "free")
    )
    shown = {(each.before, each.after): each.witness for each in compare(one, two, Domains(types)).regions}
    for step, tier in ((("y", "n"), "gold"), (("n", "y"), "free")):
        witness = shown[step]
        assert witness is not None
        assert witness.bindings == {"meta": {"tier": tier}}


def test_too_many_cases_are_not_called_too_deep() -> None:
    names = Environment(variables={"name": STRING})
    rows_of = [build(f"name == 'k{number}'", names, expect=BOOL).program for number in range(460)]
    one, two = (table("t", [TableRow(row, text(word), None, NOWHERE) for row in rows_of]) for word in ("a", "b"))
    assert compare(one, two, Domains(names.variables)) == Comparison((), TOO_MANY)


def test_both_zeros_are_tried_where_a_condition_tells_them_apart() -> None:
    types: dict[str, Type] = {"x": DOUBLE, "o": OptionalType(DOUBLE)}

    def differing(one: str, two: str = "false") -> list[str]:
        before, after = (
            truth("c", build(each, Environment(variables=types)).program, "yes", "no") for each in (one, two)
        )
        return [str(region.witness) for region in compare(before, after, Domains(types)).regions]

    assert differing("x == 0.0 && string(x) == '-0'") == ["x = -0.0"]
    assert differing("x == 0.0 && string(x) == '0'") == ["x = 0.0"]
    assert differing("o.value() == 0.0 && string(o.value()) == '-0'") == ["o = -0.0"]
    assert not differing("x == 0.0 && string(x) == '1'")
    assert not differing("x == 2.5 && string(x) == '2'")
