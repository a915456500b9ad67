"""What is printed reads well and parses to the same tree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiler.expression.published import cel_cases
from tests.rounds import every, rounds

from rulewright.errors import ExpressionError
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Conditional,
    Dialect,
    Expr,
    Has,
    Index,
    ListLiteral,
    Literal,
    Macro,
    MapLiteral,
    MessageLiteral,
    Name,
    Select,
    TextSpan,
    Unary,
)
from rulewright.expression.unparse import unparse
from rulewright_runtime.values import UInt

HERE = TextSpan(0, 0, 0)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a+b*c-(d-e)-f", "a + b * c - (d - e) - f"),
        ("((a)&&(b))||c", "a && b || c"),
        ("a && (b || c)", "a && (b || c)"),
        ("a && b && c && d && e", "a && b && c && d && e"),
        ("((a && b) && c) && d", "(a && b && c) && d"),
        ("not a == b", "!(a == b)"),
        ("a and b or not c", "a && b || !c"),
        ("(a ? b : c) ? d : (e ? f : g)", "(a ? b : c) ? d : e ? f : g"),
        ("-(1)", "-(1)"),
        ("-1.abs()", "(-1).abs()"),
        ("1.abs()", "(1).abs()"),
        ("a - -1", "a - -1"),
        ("-(-a)", "-(-a)"),
        ("0.80 <= 1e3", "0.80 <= 1e3"),
        ("'it\\'s'", '"it\'s"'),
        ('"plain"', "'plain'"),
        ("'both \\' and \"'", "'both \\' and \"'"),
        ("x.matches('\\\\d+')", r"x.matches(r'\d+')"),
        ("'a\\nb\\u0007'", r"'a\nb\u0007'"),
        ("b'\\x00a\\''", r"b'\x00a\''"),
        ("[?a,b,]", "[?a, b]"),
        ("{?a:b,}", "{?a: b}"),
        ("a.?b[?c].`d-e`", "a.?b[?c].`d-e`"),
        ("has ( a.b )", "has(a.b)"),
        ("xs.existsOne(x,x>1)", "xs.exists_one(x, x > 1)"),
        ("cel.bind(x,1,x)", "cel.bind(x, 1, x)"),
        (".a.b.T{c:1}", ".a.b.T{c: 1}"),
        ("{and:1,?or:2}.not", "{and: 1, ?or: 2}.not"),
        (".f(.x)", ".f(.x)"),
    ],
)
def test_an_expression_is_printed_as_a_person_would_write_it(text: str, printed: str) -> None:
    assert unparse(parse(text)) == printed
    assert parse(printed) == parse(text)


@pytest.mark.parametrize(
    "expr",
    [
        Name("not", HERE),
        Name("for", HERE),
        Name("a b", HERE),
        Name("in", HERE),
        Call("or", None, (), HERE),
        Select(Name("a", HERE), "é", HERE),
        Literal(float("inf"), HERE),
        Literal(float("nan"), HERE),
        Literal("\ud800", HERE),
    ],
)
def test_what_no_text_can_say_is_refused(expr: Expr) -> None:
    with pytest.raises(ValueError, match=r"can't be|no literal|can't contain"):
        unparse(expr)


def test_strict_cel_may_name_a_thing_not() -> None:
    assert unparse(Call("not", None, (Name("and", HERE),), HERE), Dialect.STRICT) == "not(and)"


def test_every_published_expression_comes_back() -> None:
    for case in every(3, cel_cases("open.json") + cel_cases("static_open.json")):
        for dialect in Dialect:
            for macros in (True, False):
                try:
                    tree = parse(case["expr"], dialect, macros=macros)
                except ExpressionError:
                    continue
                assert parse(unparse(tree, dialect), dialect, macros=macros) == tree


names = st.sampled_from(["a", "b", "xs", "_", "size", "x1"])
fields = st.one_of(names, st.sampled_from(["and", "for", "b-c", "in", "a b", "not", "1x"]))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
literals = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**64 - 1).map(UInt),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
    st.binary(max_size=4),
).map(lambda value: Literal(value, HERE))
leaves = st.one_of(literals, st.builds(Name, names, st.just(HERE), st.booleans()))


def _optional(count: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.sets(st.integers(0, max(count - 1, 0)), max_size=count).map(lambda found: tuple(sorted(found)))


def _list(items: list[Expr]) -> st.SearchStrategy[Expr]:
    return _optional(len(items)).map(lambda optional: ListLiteral(tuple(items), HERE, optional))


def _map(entries: list[tuple[Expr, Expr]]) -> st.SearchStrategy[Expr]:
    return _optional(len(entries)).map(lambda optional: MapLiteral(tuple(entries), HERE, optional))


def _message(entries: list[tuple[str, Expr]]) -> st.SearchStrategy[Expr]:
    return _optional(len(entries)).map(lambda optional: MessageLiteral("a.T", tuple(entries), HERE, optional))


def _macro(kind: str, target: Expr, bodies: tuple[Expr, Expr]) -> Expr:
    two = kind in ("transformList", "transformMap", "transformMapEntry")
    used = bodies if two or kind == "map" else bodies[:1]
    return Macro(kind, target, ("x", "y") if two else ("x",), used, HERE)


def _extend(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    here = st.just(HERE)
    operators = st.sampled_from(["||", "&&", "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%"])
    kinds = st.sampled_from(["all", "exists", "exists_one", "filter", "map", "transformList", "transformMap",
                             "transformMapEntry", "bind", "optMap", "optFlatMap", "sortBy"])  # fmt: skip
    functions = st.sampled_from(["f", "size", "g1"])
    methods = st.sampled_from(["f", "and", "not", "for"])
    arguments = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Binary, operators, inner, inner, here),
        st.builds(Binary, st.sampled_from(["||", "&&"]), inner, inner, here),
        st.builds(Unary, st.sampled_from("!-"), inner, here),
        st.builds(Conditional, inner, inner, inner, here),
        st.builds(Select, inner, fields, here, st.booleans()),
        st.builds(Has, inner, fields, here),
        st.builds(Index, inner, inner, here, st.booleans()),
        st.builds(Call, functions, st.none(), arguments, here, st.booleans()),
        st.builds(Call, methods, inner, arguments, here),
        st.lists(inner, max_size=3).flatmap(_list),
        st.lists(st.tuples(inner, inner), max_size=3).flatmap(_map),
        st.lists(st.tuples(fields, inner), max_size=3).flatmap(_message),
        st.builds(_macro, kinds, inner, st.tuples(inner, inner)),
    )


@settings(max_examples=rounds(40, 3_000))
@given(st.recursive(leaves, _extend, max_leaves=12), st.sampled_from(list(Dialect)))
def test_what_is_printed_parses_to_the_same_tree(tree: Expr, dialect: Dialect) -> None:
    assert parse(unparse(tree, dialect), dialect) == tree


@settings(max_examples=rounds(40, 3_000))
@given(texts)
def test_a_string_comes_back(text: str) -> None:
    tree = parse(unparse(Literal(text, HERE)))
    assert isinstance(tree, Literal)
    assert tree.value == text
