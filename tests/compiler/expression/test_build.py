"""Building an expression in one call: what it reads, what it means in the open, and that it never fails oddly."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import rounds
from tests.shared_data import folder

from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import BOOL, DOUBLE, DYN, INT, SCORE, STRING, ListType, MapType, RecordType
from rulewright.expression.unparse import unparse
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.values import equal

PLACE = Environment(
    variables={
        "i": INT,
        "d": DOUBLE,
        "s": STRING,
        "b": BOOL,
        "score": SCORE,
        "ints": ListType(INT),
        "scores": ListType(SCORE),
        "table": MapType(STRING, INT),
        "r": RecordType("r", {"n": INT, "items": ListType(RecordType("item", {"n": INT}))}),
        "any": DYN,
    }
)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("r.n > 1 and i == 2", {("r", "n"), ("i",)}),
        ("r.items.exists(x, x.n == i)", {("r", "items"), ("i",)}),
        ("has(r.items) and r['n'] == 1", {("r", "items"), ("r", "n")}),
        ("any.a.b.c == 1", {("any", "a", "b", "c")}),
        ("any[i].c == 1", {("any",), ("i",)}),
        ("type(i) == int", {("i",)}),
        ("1 + 1 == 2", set()),
        ("cel.bind(x, i, x + d > 1)", {("i",), ("d",)}),
    ],
)
def test_an_expression_says_which_paths_it_reads(text: str, reads: set[tuple[str, ...]]) -> None:
    assert build(text, PLACE).reads == reads


@pytest.mark.parametrize("text", ["score > 1e-99999999", "score >= -1e-99999999", "score > 1e-2000"])
def test_a_literal_of_an_enormous_exponent_costs_nothing(text: str) -> None:
    assert build(text, PLACE).reads == {("score",)}


def golden() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder("workflow") / "golden_expressions.json").read_text("utf-8"))
    return rows


def test_the_golden_expressions_of_the_workflow_family_hold() -> None:
    rows = golden()
    assert len(rows) >= 26
    for row in rows:
        assert decided(row["expr"], row["context"]) == row["expect"], row["id"]


def decided(text: str, context: dict[str, Any]) -> dict[str, bool]:
    """What a permitting place makes of a condition in the open, or that it does not compile."""
    try:
        program = build(text, Environment(open=True), expect=BOOL).program
    except ExpressionError:
        return {"error": True}
    return {"value": condition(program, Polarity.PERMITTING)(context).holds}


@pytest.mark.parametrize(
    ("text", "context", "holds"),
    [
        ("a == Word", {"a": "Word"}, True),
        ("a in [GO, NO_GO]", {"a": "GO"}, True),
        ("a == word", {"a": "word"}, False),
        ("a == word", {"a": "x", "word": "x"}, True),
        ("not (missing == GO)", {}, False),
        ("missing != GO", {}, False),
        ("a.b > 2 or true == b", {"b": True}, True),
    ],
)
def test_in_the_open_an_upper_case_word_on_the_right_is_a_constant(
    text: str, context: dict[str, Any], holds: bool
) -> None:
    assert decided(text, context) == {"value": holds}


@pytest.mark.parametrize("text", ["GO", "Word.x == 1 ? a : b", "open('f')", "a.system('x')", "a.b"])
def test_in_the_open_a_condition_is_still_a_condition(text: str) -> None:
    assert decided(text, {}) == {"error": True}


NUMBER = st.deferred(lambda: st.one_of(INTEGER, REAL, EXACT))
INTEGER: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            ["i", "0", "1", "-7", "9223372036854775807", "r.n", "table['a']", "any.n", "ints[0]", "size(s)"]
        ),
        st.builds("({} {} {})".format, INTEGER, st.sampled_from("+-*/%"), INTEGER),
        st.builds("({} ? {} : {})".format, TRUTH, INTEGER, INTEGER),
        st.builds("sum(ints.map(x, x + {})).orValue({})".format, INTEGER, INTEGER),
        st.builds("cel.bind(y, {}, y + y)".format, INTEGER),
        st.builds("ints[?{}].orValue({})".format, INTEGER, INTEGER),
    )
)
REAL: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["d", "0.5", "1e300", "-2.25", "double(i)"]),
        st.builds("({} {} {})".format, REAL, st.sampled_from("+-*/"), st.one_of(REAL, INTEGER)),
    )
)
EXACT: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["score", "scores[0]", "mean(scores).orValue(0.5)", "score(1)"]),
        st.builds("({} {} {})".format, EXACT, st.sampled_from("+-*/"), st.one_of(EXACT, REAL, INTEGER)),
    )
)
TEXT: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["s", "''", "'aé'", "any.s", "string(i)", "s.upperAscii()"]),
        st.builds("({} + {})".format, TEXT, TEXT),
        st.builds("{}.substring({})".format, TEXT, INTEGER),
        st.builds("'%s %d'.format([{}, {}])".format, TEXT, INTEGER),
    )
)
TRUTH: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["b", "true", "false", "any.flag == 1", "has(any.n)", "i in ints", "'a' in table"]),
        st.builds("({} {} {})".format, NUMBER, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), NUMBER),
        st.builds("({} {} {})".format, TRUTH, st.sampled_from(["and", "or"]), TRUTH),
        st.builds("not ({})".format, TRUTH),
        st.builds("{}.contains({})".format, TEXT, TEXT),
        st.builds("ints.{}(x, {} and x > {})".format, st.sampled_from(["all", "exists", "exists_one"]), TRUTH, INTEGER),
        st.builds("r.items.exists(item, item.n == {})".format, INTEGER),
        st.builds("scores.filter(x, x > {}).size() > {}".format, EXACT, INTEGER),
    )
)
INPUTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "i": st.integers(-(2**63), 2**63 - 1),
        "d": st.floats(),
        "s": st.text(max_size=5),
        "b": st.booleans(),
        "score": st.one_of(st.floats(0, 1), st.just(7)),
        "ints": st.lists(st.integers(-5, 5), max_size=3),
        "scores": st.lists(st.floats(0, 1), max_size=3),
        "table": st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 3)),
        "r": st.fixed_dictionaries({"n": st.integers(0, 3)}, optional={"items": st.just([{"n": 1}, {}])}),
        "any": st.sampled_from([None, 1, {}, {"n": 1, "flag": 1}, {"n": "x", "s": 2}, [1]]),
    },
)


def outcome(program: Any, given_: dict[str, Any]) -> object:
    """The value, or the code of the evaluation error; anything else that is raised is a failure."""
    try:
        return prepare(program)(given_)
    except EvaluationError as failure:
        return failure.code


@settings(max_examples=rounds(25, 1_500))
@given(text=st.one_of(TRUTH, NUMBER, TEXT), bindings=INPUTS)
def test_folding_never_changes_what_an_expression_means(text: str, bindings: dict[str, Any]) -> None:
    try:
        folded = build(text, PLACE)
    except ExpressionError as failure:
        reasons = {m.message for m in failure.errors}
    else:
        reasons = set()
    assert all("is outside the range" in reason for reason in reasons)  # a literal that no score can reach
    if reasons:
        return
    plain = outcome(build(text, PLACE, fold=False).program, bindings)
    found = outcome(folded.program, bindings)
    assert type(found) is type(plain)
    assert equal(found, plain) or (found != found and plain != plain)


NESTED = {
    "lists": lambda n: "[" * n + "]" * n,
    "calls": lambda n: "dyn(" * n + "1" + ")" * n,
    "signs": lambda n: "-(" * n + "i" + ")" * n,
    "branches": lambda n: "b ? (" * n + "1" + ") : 2" * n,
    "loops": lambda n: "".join(f"[1].exists(x{i}, " for i in range(n)) + "true" + ")" * n,
    "maps": lambda n: "{'a':" * n + "1" + "}" * n,
    "fields": lambda n: "any" + ".a" * n,
    "sums": lambda n: "i" + " + i" * n,
    "methods": lambda n: "ints" + ".reverse()" * n,
    "bindings": lambda n: "".join(f"cel.bind(x{i}, i, " for i in range(n)) + "i" + ")" * n,
}


@pytest.mark.parametrize("depth", [60, 240])
@pytest.mark.parametrize("shape", NESTED)
def test_nesting_ends_in_a_value_or_a_documented_error(shape: str, depth: int) -> None:
    try:
        program = build(NESTED[shape](depth), PLACE).program
    except ExpressionError:
        assert depth >= 120
        return
    outcome(program, {"i": 1, "b": True, "ints": [1], "any": {}})


@settings(max_examples=rounds(25, 1_500))
@given(text=st.text(alphabet="ab1.0()[]{}+-*/%<>=!&|?:,'\" in", max_size=30), strict=st.booleans())
def test_any_text_builds_or_is_refused(text: str, strict: bool) -> None:
    environment = Environment(open=True, dialect=Dialect.STRICT if strict else Dialect.PROFILE)
    try:
        program = build(text, environment).program
    except ExpressionError:
        return
    outcome(program, {"a": 1, "b": [1]})


EXAMPLES = rounds(25, 20_000)
TOKENS = r"""
a b.c names score true null 1 1u 0x1F 1.5 .5 1e3 'x' "y" r'\d' b'z' '''w''' ( ) [ ] { } , : ; ? ?. . ! - + * / % && ||
== != < <= > >= in and or not && has(a.b) size( .all(x, .exists(x, .filter(x, .map(x, .matches( a ? b : c # // in not(
.?d [?0] {a: 1} [1, 2] cel.bind( @ $ ` \ é 😀 99999999999999999999 1e999
"""
WORDS = [*TOKENS.split(), "\t", "\n", "\ud800"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=40)
ENVIRONMENT = Environment(variables={"a": DYN, "names": ListType(STRING), "score": SCORE})


def check_mistakes(failure: ExpressionError, text: str) -> None:
    """Every mistake has words on one line and a place in the text."""
    assert failure.errors
    lines = text.count("\n") + 1
    for mistake in failure.errors:
        assert 0 <= mistake.start <= mistake.end <= len(text)
        assert 1 <= mistake.line <= lines
        assert mistake.column >= 1
        assert mistake.message


@pytest.mark.parametrize("dialect", list(Dialect), ids=str)
@given(text=TEXTS)
@settings(max_examples=EXAMPLES)
def test_any_text_parses_or_is_explained(text: str, dialect: Dialect) -> None:
    try:
        tree = parse(text, dialect)
    except ExpressionError as failure:
        check_mistakes(failure, text)
        return
    try:
        printed = unparse(tree, dialect)
    except ValueError:  # a name that is an operator in the dialect, which no text can stand for
        return
    assert parse(printed, dialect) == tree


@given(text=TEXTS)
@settings(max_examples=EXAMPLES)
def test_any_text_is_built_or_explained(text: str) -> None:
    try:
        build(text, ENVIRONMENT)
    except ExpressionError as failure:
        check_mistakes(failure, text)
