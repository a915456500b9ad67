"""Trees: precedence, places, macros, limits, and the published cases."""

from operator import eq, ne

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiler.expression.published import cel_cases
from tests.rounds import rounds

from rulewright.errors import ExpressionError
from rulewright.expression import syntax_tree
from rulewright.expression.parser import MAX_DEPTH, MAX_LENGTH, parse
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Dialect,
    Has,
    Literal,
    Macro,
    MessageLiteral,
    Name,
    Select,
    TextSpan,
    Unary,
)
from rulewright.expression.unparse import unparse

NOWHERE = TextSpan(0, 0, 0)
A, B, C, D = (Name(name, NOWHERE) for name in "abcd")


def binary(operator: str, left: syntax_tree.Expr, right: syntax_tree.Expr) -> Binary:
    """A binary node without a place."""
    return Binary(operator, left, right, NOWHERE)


def refused(text: str, *, macros: bool = True) -> tuple[int, str]:
    """Column and message of the first mistake."""
    with pytest.raises(ExpressionError) as caught:
        parse(text, macros=macros)
    return caught.value.errors[0].column, caught.value.errors[0].message


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a < b == c", "(a < b) == c"),
        ("a == b && c", "(a == b) && c"),
        ("a && b || c", "(a && b) || c"),
        ("a ? b : c ? d : a", "a ? b : (c ? d : a)"),
        ("!a.b[c]", "!(a.b[c])"),
        ("-a * b", "(-a) * b"),
        ("not a == b", "!(a == b)"),
        ("not a and b", "(!a) && b"),
        ("not not a", "!(!a)"),
        ("a or not b", "a || !b"),
        ("a ? not b : c", "a ? !b : c"),
        ("!!a", "a"),
        ("!!!a", "!a"),
        ("--a", "a"),
        ("-1.abs()", "(-1).abs()"),
        ("a in b in c", "(a in b) in c"),
        ("[a, b,]", "[a, b]"),
        ("[,]", "[]"),
        ("{a: b,}", "{a: b}"),
        ("a // comment\n + b", "a + b"),
    ],
)
def test_two_ways_of_writing_the_same(text: str, same: str) -> None:
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "1u"), ("1", "1.0"), ("1", "true"), ("-(1)", "-1"), ("a.b", "a.?b"), ("a", ".a"), ("'1'", "b'1'")],
)
def test_two_things_that_differ(one: str, other: str) -> None:
    assert parse(one) != parse(other)


def test_long_chains_of_and_and_or_are_balanced() -> None:
    assert parse("a && b && c") == binary("&&", binary("&&", A, B), C)
    assert parse("a && b && c && d") == binary("&&", binary("&&", A, B), binary("&&", C, D))
    assert parse(" || ".join(["a == 1"] * 8000)).span.end == 8000 * 10 - 4


@pytest.mark.parametrize(
    ("text", "start", "end", "at"),
    [
        ("a + b", 0, 5, 2),
        ("f(a)", 0, 4, 1),
        ("a.f(b)", 0, 6, 3),
        ("a.b", 0, 3, 1),
        ("a.?b", 0, 4, 1),
        ("a[b]", 0, 4, 1),
        (" -a", 1, 3, 1),
        ("a ? b : c", 0, 9, 2),
        (".a", 0, 2, 1),
        ("{a: b}", 0, 6, 0),
        ("T{a: b}", 0, 7, 1),
        ("(a) + (b)", 0, 9, 4),
        ("(a + b) * (c)", 0, 13, 8),
        ("(a || b) || (c)", 0, 15, 9),
        ("has(a.b)", 0, 8, 3),
        ("xs.all(x, x)", 0, 12, 6),
        ("'😀' + a", 0, 7, 4),
    ],
)
def test_a_node_knows_its_extent_and_where_errors_point(text: str, start: int, end: int, at: int) -> None:
    assert parse(text).span == TextSpan(start, end, at)


@pytest.mark.parametrize(
    ("text", "kind", "variables", "bodies"),
    [
        ("a.all(x, b)", "all", "x", 1),
        ("a.exists(x, y, b)", "exists", "x y", 1),
        ("a.existsOne(x, b)", "exists_one", "x", 1),
        ("a.exists_one(x, b)", "exists_one", "x", 1),
        ("a.filter(x, b)", "filter", "x", 1),
        ("a.map(x, b)", "map", "x", 1),
        ("a.map(x, b, c)", "map", "x", 2),
        ("a.transformList(i, x, b)", "transformList", "i x", 1),
        ("a.transformMap(i, x, b, c)", "transformMap", "i x", 2),
        ("a.transformMapEntry(k, v, {v: k})", "transformMapEntry", "k v", 1),
        ("a.sortBy(x, b)", "sortBy", "x", 1),
        ("a.optMap(x, b)", "optMap", "x", 1),
        ("a.optFlatMap(x, b)", "optFlatMap", "x", 1),
        ("cel.bind(x, a, b)", "bind", "x", 1),
    ],
)
def test_macros_become_nodes(text: str, kind: str, variables: str, bodies: int) -> None:
    node = parse(text)
    assert isinstance(node, Macro)
    assert (node.kind, " ".join(node.variables), len(node.bodies)) == (kind, variables, bodies)
    assert node.target == A
    assert [text[place.start : place.end] for place in node.variable_spans] == list(node.variables)
    assert isinstance(parse(text, macros=False), Call)


@pytest.mark.parametrize(
    "text", ["a.all(x)", "all(x, b)", "a.map(x)", "has(a, b)", ".has(a.b)", "x.has(a.b)", "x.bind(a, b, c)"]
)
def test_other_names_and_numbers_of_arguments_are_ordinary_calls(text: str) -> None:
    assert isinstance(parse(text), Call)


def test_has_tests_a_field() -> None:
    assert parse("has(a.b.c)") == Has(Select(A, "b", NOWHERE), "c", NOWHERE)
    assert parse("has(a.`b-c`)") == Has(A, "b-c", NOWHERE)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("has(a)", 5),
        ("has(a.b[0])", 8),
        ("has(a.?b)", 6),
        ("a.all(1, b)", 7),
        ("a.all(x.y, b)", 8),
        ("a.all(.x, b)", 8),
        ("a.all(x, x, b)", 10),
        ("a.map(__result__, b)", 7),
        ("a.transformList(i, __result__, b)", 20),
        ("cel.bind(a.b, 1, 2)", 11),
        ("a.optMap(f(x), b)", 11),
    ],
)
def test_a_macro_written_wrongly_is_a_mistake_at_the_argument(text: str, column: int) -> None:
    assert refused(text)[0] == column


def test_messages_keep_their_type_and_fields() -> None:
    node = parse(".a.for.T{x: 1, ?`y-z`: 2}")
    one, two = Literal(1, NOWHERE), Literal(2, NOWHERE)
    assert node == MessageLiteral(".a.for.T", (("x", one), ("y-z", two)), NOWHERE, (1,))


def test_loop_is_a_name_of_the_profile_only() -> None:
    assert parse("loop.iteration >= 2", Dialect.PROFILE)
    with pytest.raises(ExpressionError, match="`loop` is a reserved word"):
        parse("loop.iteration >= 2", Dialect.STRICT)


def test_reserved_words_are_fields_but_no_names() -> None:
    assert parse("a.for") == Select(A, "for", NOWHERE)
    assert refused("a + for") == (5, "`for` is a reserved word and can't be a name")
    assert refused("while(1)")[0] == 1
    assert refused(".var")[0] == 1


def test_strict_cel_has_no_word_operators() -> None:
    assert parse("not(a)", Dialect.STRICT) == Call("not", None, (A,), NOWHERE)
    assert parse("not(a)") == Unary("!", A, NOWHERE)
    assert parse("and", Dialect.STRICT) == Name("and", NOWHERE)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2_000, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "not " * 2_000 + "a", "a" + " + a" * 4_000,
        "a" + ".a" * 4_000, "a" + "[0]" * 2_000, "a ? b : " * 2_000 + "c", "a" * (MAX_LENGTH + 1), "-" * 8_000,
        "&" * 19_999, "'" * 19_999, '"""' * 6_666, "`" * 19_999, "a " * 9_999, "1" * 19_999, "\\" * 19_999,
        "a?" * 9_999, "{" * 19_999, "f(" * 9_999, ".x" * 4_000 + "{",
    ],
    ids=lambda text: f"{text[:8]} x {len(text)}",
)  # fmt: skip
def test_hostile_texts_are_refused(text: str) -> None:
    refused(text)


@pytest.mark.parametrize(
    "text", ["(" * 250 + "a" + ")" * 250, "[" * 249 + "a" + "]" * 249, "a" + " + a" * 249, "a" + ".b" * 249]
)
def test_the_deepest_trees_are_parsed_and_printed(text: str) -> None:
    printed = unparse(parse(text))
    assert unparse(parse(printed)) == printed


def test_every_published_expression_with_a_value_or_a_type_parses() -> None:
    for case in cel_cases("open.json"):
        if "error" not in case["expect"]:
            parse(case["expr"], Dialect.STRICT, macros=not case.get("disable_macros", False))
    for case in cel_cases("static_open.json"):
        if case["kind"] != "syntax":
            parse(case["expr"], Dialect.STRICT)


PIECES = [
    *"()[]{}.,?:!-+*<=&|'\"`\\ 0u\n#é😀\u00a0\x00",
    *["&&", "||", " in ", "true", "'''", '"""', "\\x4", "0x", "1.", "e5", "has(a.b)", "[?", "{?", "x.y", "-1", "`a b`"],
    *[" and ", " not ", " or ", "//", "a", " for ", ".all(x, x)", "cel.bind(", "T{a: 1}"],
]


def outcome(text: str, dialect: Dialect, *, macros: bool) -> syntax_tree.Expr | ExpressionError:
    """The tree, or the refusal."""
    try:
        return parse(text, dialect, macros=macros)
    except ExpressionError as refusal:
        return refusal


@settings(max_examples=rounds(100, 5_000))
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(list(Dialect)), st.booleans())
def test_any_text_gives_a_tree_or_mistakes_within_it(text: str, dialect: Dialect, macros: bool) -> None:
    found = outcome(text, dialect, macros=macros)
    if not isinstance(found, ExpressionError):
        assert parse(unparse(found, dialect), dialect, macros=macros) == found
        return
    assert found.errors
    assert list(found.errors) == sorted(found.errors, key=lambda mistake: mistake.start)
    for mistake in found.errors:
        assert 0 <= mistake.start <= mistake.end <= len(text)
        lines = text.split("\n")[: mistake.line - 1]
        assert mistake.start == sum(len(line) + 1 for line in lines) + mistake.column - 1


def test_children_are_in_the_order_written() -> None:
    text = "[a, b ? c : d, {a: b}, T{f: c}, d.map(x, a, b), f(c), d.g(a), -b, c[d], has(a.b), c.e, 1, b + c]"
    order = [parse(text)]
    names = []
    while order:
        node = order.pop()
        names += [node.name] if isinstance(node, Name) else []
        order += reversed(syntax_tree.children(node))
    assert "".join(names) == "abcdabcdabcdabcdacbc"


@pytest.mark.parametrize("text", ["1", "a.b", "size(a) == 0", "xs.exists(x, x > 1)", "[1, ?a]", "{'a': 1}"])
def test_two_nodes_are_equal_wherever_they_are_written(text: str) -> None:
    one, two, other = parse(text), parse(f"  {text}"), parse(f"!({text})")
    assert [eq(one, two), ne(one, two), hash(one) == hash(two)] == [True, False, True]
    assert [eq(one, other), ne(one, other)] == [False, True]
