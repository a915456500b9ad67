"""What lowering makes of a checked expression, and that a program prints and lowers again to the same meaning."""

from typing import Any

import pytest

from rulewright.expression.build import build, lower, lower_unchecked
from rulewright.expression.checker import check
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import BOOL, DOUBLE, INT, SCORE, STRING, EnumType, ListType, MapType, RecordType
from rulewright.expression.unparse import decompile, unparse
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, validate

PLACE = Environment(
    variables={
        "review": RecordType("review", {"decision": EnumType("decision", ("GO", "NO_GO"))}),
        "score": SCORE,
        "scores": ListType(SCORE),
        "metrics": MapType(STRING, SCORE),
        "n": INT,
        "xs": ListType(INT),
        "x": INT,
    }
)
INPUT: dict[str, Any] = {
    "review": {"decision": "GO"},
    "score": 0.8,
    "scores": [0.9, 0.8, 0.7],
    "metrics": {"a": 0.9, "b": 0.8},
    "n": 3,
    "xs": [1, 2, 3],
    "x": 5,
}


def operations(text: str, environment: Environment = PLACE, *, fold: bool = True) -> list[Node]:
    return [Node(n.op, n.args, n.value) for n in build(text, environment, fold=fold).program.nodes]


def test_a_comparison_becomes_a_call_on_a_name_and_a_constant() -> None:
    assert operations("n > 2") == [
        Node("name", (), [["n", []]]),
        Node("const", (), ["int", "2"]),
        Node("call", (0, 1), "_>_"),
    ]


def test_chains_of_and_and_or_are_flat() -> None:
    *_, last = operations("n == 1 and n == 2 and (n == 3 and n == 4)")
    assert last.op == "and"
    assert len(last.args) == 4


def test_a_constant_of_an_enum_is_its_text() -> None:
    assert Node("const", (), ["string", "GO"]) in operations("review.decision == GO")


def test_a_literal_next_to_a_score_is_exact_in_the_authors_digits() -> None:
    assert Node("const", (), ["score", "4/5"]) in operations("score >= 0.80")
    written = "0.1000000000000000000000000000000000000001"
    (literal,) = [n for n in operations(f"score >= {written}") if n.op == "const"]
    assert literal.value == ["score", f"1{'0' * 38}1/1{'0' * 40}"]


def test_what_a_schema_calls_a_score_is_read_as_one() -> None:
    assert Node("call", (0,), "score") in operations("score >= 0.80")
    assert prepare(build("mean(scores).value() >= 0.8", PLACE).program)(INPUT) is True
    with pytest.raises(EvaluationError):
        prepare(build("score > 0.5", PLACE).program)({"score": 1.5})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("metrics.all(m, metrics[m] >= 0.8)", True),
        ("mean(scores.filter(s, s > 0.75)).value() == 0.85", True),
        ("scores.exists(s, s == 0.7)", True),
        ("metrics.?a.value() == 0.9", True),
        ("wmean_present(metrics, {'a': 1, 'b': 1}).value() == 0.85", True),
        ("cel.bind(s, scores, mean(s).value() == 0.8)", True),
        ("scores.map(s, s * 2) == [1.8, 1.6, 1.4]", True),
        ("scores.sortBy(s, s)[0] == 0.7", True),
    ],
)
def test_scores_stay_exact_wherever_they_come_from(text: str, value: bool) -> None:
    assert prepare(build(text, PLACE).program)(INPUT) is value


def test_a_whole_literal_next_to_a_double_is_a_double() -> None:
    assert prepare(build("type([1, 2.5][0]) == double", PLACE).program)({}) is True
    assert prepare(build("type(n > 5 ? 2.5 : 1) == double", PLACE).program)({"n": 1}) is True
    assert prepare(build("n in [2.5, 3]", PLACE).program)({"n": 3}) is True
    assert build("1", PLACE, expect=DOUBLE).program.nodes[0].value == ["double", "1.0"]


def test_any_number_becomes_a_score_where_one_is_due() -> None:
    built = build("0.5", PLACE, expect=SCORE)
    assert built.type == SCORE
    assert str(prepare(built.program)({})) == "1/2"
    assert str(prepare(build("double(n) / 4.0", PLACE, expect=SCORE).program)({"n": 3})) == "3/4"


FOLDED = [
    ("1 + 2 * 3", ["int", "7"]),
    ("'a' + 'b'", ["string", "ab"]),
    ("duration('90s')", ["duration", "90000000000"]),
    ("!(1 > 2)", ["bool", True]),
    ("[1, 2]", ["list", [["int", "1"], ["int", "2"]]]),
    ("true ? 1 : 2", ["int", "1"]),
    ("2 in [1, 2]", ["bool", True]),
    ("1 == 1 and 2 == 3", ["bool", False]),
]


@pytest.mark.parametrize(("text", "constant"), FOLDED, ids=[t for t, _ in FOLDED])
def test_what_is_constant_is_computed_once(text: str, constant: object) -> None:
    assert operations(text) == [Node("const", (), constant)]


@pytest.mark.parametrize("text", ["1 / 0", "[1][5]", "9223372036854775807 + 1", "{'a': 1}.b"])
def test_what_fails_is_left_to_run_time(text: str) -> None:
    program = build(text, PLACE).program
    with pytest.raises(EvaluationError):
        prepare(program)({})


def test_a_branch_never_taken_leaves_no_trace() -> None:
    assert operations("1 > 2 ? n : x") == operations("x")


def test_folding_can_be_turned_off() -> None:
    assert len(operations("1 + 2", fold=False)) == 3


def test_bound_variables_are_slots_by_depth() -> None:
    nodes = operations("xs.all(a, xs.exists(b, a == b))")
    assert [n.value for n in nodes if n.op == "local"] == [0, 1]
    assert [n.value for n in nodes if n.op in ("all", "exists")] == [[1], [0]]


def test_every_node_knows_its_place_in_the_source() -> None:
    built = build("n > 2 and x == 1", PLACE)
    places = {n.op: built.program.source[slice(*n.at)] for n in built.program.nodes if n.op in ("and", "name")}
    assert places == {"and": "n > 2 and x == 1", "name": "x"}


def test_unchecked_names_are_tried_from_the_longest() -> None:
    environment = Environment(container="a", dialect=Dialect.STRICT)
    program = lower_unchecked(parse("x.y.z", Dialect.STRICT), "x.y.z", environment)
    assert program.nodes[0].value == [
        ["a.x.y.z", []], ["x.y.z", []], ["a.x.y", ["z"]], ["x.y", ["z"]], ["a.x", ["y", "z"]], ["x", ["y", "z"]],
    ]  # fmt: skip


ROUND_TRIPS = [
    "n > 2 and x == 5 or not (n == 3)", "xs.all(y, y < x)", "xs.map(y, y * 2) == [2, 4, 6]",
    "xs.filter(y, y > 1).exists_one(z, z == 2)", "xs.transformList(i, y, i + y) == [1, 3, 5]",
    "{'a': 1}.transformMap(k, v, k + string(v)).a == 'a1'", "{'a': 1}.transformMapEntry(k, v, {v: k})[1] == 'a'",
    "cel.bind(y, n + 1, y * y) == 16", "optional.of(n).optMap(y, y + 1).orValue(0) == 4",
    "optional.of(n).optFlatMap(y, optional.of(y)).hasValue()", "xs.sortBy(y, -y)[0] == 3", "score >= 0.80",
    "score * 2 >= 1.6 and 1 - score < 0.5", "mean(scores).orValue(0.0) == 0.8", "score > 1 / 3",
    "review.decision == GO", "has(review.decision) ? review.decision == 'GO' : false", "metrics.?a.orValue(0.5) > 0.6",
    "xs[?7].orValue(n) == 3", "{'a': n, ?'b': optional.of(x)}.b == 5", "[?optional.none(), n] == [3]",
    "'%d %s'.format([n, 'a']) == '3 a'", "math.greatest(n, x, 1) == 5",
    "duration('90s') > duration('1s') and timestamp('2026-01-01T00:00:00Z') < timestamp('2027-01-01T00:00:00Z')",
    "math.sqrt(4) != 1.0", "double('inf') > 1.0",
    "b'\\xff' == b'\\xff'", "type(n) == int", "18446744073709551615u > 1u", "-n == -3",
    "(n + x) * 2 - 1 == 15 and n + x * 2 == 13", "contains_ci('ABC', 'b')", "n in xs and 'a'.startsWith('a')",
    "rate([n > 1, n > 5]).value() == 0.5",
]  # fmt: skip


@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_a_program_prints_as_an_expression_of_the_same_meaning(text: str, fold: bool) -> None:
    program = build(text, PLACE, expect=BOOL, fold=fold).program
    validate(program)
    printed = unparse(decompile(program))
    again = build(printed, PLACE, expect=BOOL, fold=fold).program
    assert prepare(again)(INPUT) is prepare(program)(INPUT) is True
    assert unparse(decompile(again)) == printed


def test_printing_leaves_out_what_lowering_added() -> None:
    assert unparse(decompile(build("mean(scores).orValue(0.0) >= 0.80", PLACE).program)) == (
        "mean(scores).orValue(0.0) >= 0.8"
    )


@pytest.mark.parametrize("text", ["score(1) / 3", "score(0.5) / 3", "0.8 / score(0.3)", "-score(0.2) / 0.7"])
def test_a_score_without_decimals_is_printed_as_what_computes_it(text: str) -> None:
    program = build(text, Environment()).program
    again = build(unparse(decompile(program)), Environment()).program
    assert len(program.nodes) == 1
    assert prepare(again)({}) == prepare(program)({})


def test_printing_never_captures_a_name_the_program_reads() -> None:
    program = build("xs.exists(y, y == x)", PLACE).program
    assert unparse(decompile(program)) == "xs.exists(x_, x_ == x)"


def test_lowering_a_checked_tree_twice_gives_the_same_program() -> None:
    checked = check(parse("n > 2 and score >= 0.5"), "n > 2 and score >= 0.5", PLACE)
    first: Program = lower(checked, "", PLACE)
    assert first == lower(checked, "", PLACE)
