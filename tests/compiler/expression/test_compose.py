"""Programs are composed as programs; nothing composes them as text."""

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.source_code import parsed, walked

import rulewright
from rulewright.expression.build import build
from rulewright.expression.compose import all_of, any_of, choose, fill, negate
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_tree import dotted
from rulewright.expression.types import BOOL, DYN
from rulewright.proving.program_parts import shape
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program, validate

PLACE = Environment(variables=dict.fromkeys("abcd", BOOL) | {"xs": DYN, "n": DYN})
TEXTS = ["a", "b // must hold", "// first\n c", "a || b", "a && b", "not a", "a ? b : c", "(c)", "true", "1 == 1",
         "xs.exists(x, x == n)", "a and // inner\n b", "'//' != '//' || d", "(a || b) // both", "!d"]  # fmt: skip
ROWS = [
    dict(zip("abcd", values, strict=True)) | {"xs": [1, 2], "n": 2}
    for values in itertools.product([True, False], repeat=4)
]


def program(text: str) -> Program:
    return build(text, PLACE, expect=BOOL).program


def bracketed(text: str) -> str:
    return f"({text}\n)"


@pytest.mark.parametrize("text", TEXTS)
def test_a_composed_program_means_what_its_source_says(text: str) -> None:
    parts = [program(text), program("b || c"), program("d")]
    composed = [
        all_of(parts),
        any_of(parts),
        negate(parts[0]),
        choose(*parts),
        all_of([any_of(parts), negate(parts[0])]),
    ]
    written = [
        " && ".join(map(bracketed, (text, "b || c", "d"))),
        " || ".join(map(bracketed, (text, "b || c", "d"))),
        f"!{bracketed(text)}",
        f"{bracketed(text)} ? {bracketed('b || c')} : d",
        f"({' || '.join(map(bracketed, (text, 'b || c', 'd')))}) && !{bracketed(text)}",
    ]
    for each, meant in zip(composed, written, strict=True):
        validate(each)
        for row in ROWS:
            expected = prepare(program(meant))(row)
            assert prepare(each)(row) is expected
            assert prepare(program(each.source))(row) is expected, each.source


@pytest.mark.parametrize("text", TEXTS)
def test_every_node_keeps_its_text(text: str) -> None:
    alone, other = program(text), program("n == 2")
    composed = all_of([negate(other), alone])
    said = [composed.source[node.at[0] : node.at[1]] for node in composed.nodes if node.at]
    for part in (other, alone):
        for node in part.nodes[:-1]:
            assert part.source[node.at[0] : node.at[1]] in said
    assert said[-1] == composed.source


def test_a_chain_in_a_chain_is_one_chain() -> None:
    composed = all_of([program("a && b"), program("c"), program("a && (b || d)")])
    assert shape(composed) == shape(program("a && b && c && a && (b || d)"))
    assert composed.source == "a && b && c && a && (b || d)"


def test_of_nothing_all_hold_and_none_does() -> None:
    assert prepare(all_of([]))({}) is True
    assert prepare(any_of([]))({}) is False
    one = program("a // alone")
    assert all_of([one]) is one


def test_an_absent_value_does_not_hide_what_decides() -> None:
    absent = program("xs.missing == 1")
    assert prepare(all_of([absent, program("a")]))({"a": False, "xs": {}}) is False
    assert prepare(any_of([absent, program("a")]))({"a": True, "xs": {}}) is True
    with pytest.raises(EvaluationError):
        prepare(all_of([absent, program("a")]))({"a": True, "xs": {}})


@pytest.mark.parametrize(
    "value",
    ["plain", "it's", 'say "x"', "back\\slash", "line\nbreak", "tab\t", "é ’ 😀", "\x00\x7f", "\u2028",
     "') || true || ('",
     "// no comment", "", 0.8, 1e-05, 1, -3, True, None, ("a", "it's"), []],
)  # fmt: skip
def test_data_becomes_a_literal(value: object) -> None:
    found = prepare(build(fill("data", data=value), Environment()).program)({})
    assert found == (list(value) if isinstance(value, tuple) else value)


def test_a_part_replaces_its_name() -> None:
    assert fill("xs.exists(x, x in words) && y", words=("a", "b"), y=dotted("p", "q")) == (
        "xs.exists(x, x in ['a', 'b']) && p.q"
    )
    assert fill("x.words + words", words=1) == "x.words + 1", "a field is not a name"


def test_data_without_a_literal_is_refused() -> None:
    with pytest.raises(ValueError, match="unpaired surrogate"):
        fill("x == data", data="\ud800")


SINKS = {"parse", "build", "fill"}


def spliced(tree: ast.Module) -> Iterator[int]:
    """The lines at which a text that was put together is parsed: directly, through a variable, or through a function
    of the module that hands its parameter on."""
    if not (names := imported(tree)):
        return
    functions = [node for node in walked(tree) if isinstance(node, ast.FunctionDef)]
    found: set[int] = set()
    before = -1
    while len(names) > before:  # until no further function hands its parameter on
        before = len(names)
        for function in functions:
            parameters = {each.arg for each in function.args.args}
            joined = {
                target.id
                for node in walked(function)
                if isinstance(node, (ast.Assign, ast.AugAssign)) and node.value is not None
                if isinstance(node, ast.AugAssign) or is_joined(node.value, set())
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
                if isinstance(target, ast.Name)
            }
            for call in (node for node in walked(function) if isinstance(node, ast.Call) and node.args):
                name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
                first = call.args[0]
                if name not in names:
                    continue
                if is_joined(first, joined):
                    found.add(call.lineno)
                if isinstance(first, ast.Name) and first.id in parameters:
                    names.add(function.name)
    yield from sorted(found)


def imported(tree: ast.Module) -> set[str]:
    """What the module calls the functions that parse an expression."""
    return {
        name.asname or name.name
        for node in walked(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rulewright.expression")
        for name in node.names
        if name.name in SINKS
    }


def is_joined(value: ast.expr, joined: set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in joined
    if isinstance(value, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) for part in value.values)
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, (ast.Add, ast.Mod))
    if isinstance(value, ast.IfExp):
        return is_joined(value.body, joined) or is_joined(value.orelse, joined)
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in ("format", "join", "replace", "format_map", "sub")
    )


MODULES = sorted(Path(rulewright.__file__).parent.rglob("*.py"))


def test_no_module_builds_an_expression_from_text_it_puts_together() -> None:
    using = [path for path in MODULES if "rulewright.expression" in path.read_text(encoding="utf-8")]
    assert len(using) > 20
    assert [f"{path}:{line}" for path in using for line in spliced(parsed(path))] == []


@pytest.mark.parametrize(
    "body",
    [
        'build(f"({x})", e)', 'build("(" + x + ")", e)', 'build(" && ".join(x), e)', 'build("{}".format(x), e)',
        'text = f"{x}"\n    build(text, e)', 'build(f"({x})" if x else "true", e)', 'ours(f"{x} == 1")',
        'text = "a"\n    text += x\n    build(text, e)',
    ],
)  # fmt: skip
def test_spliced_text_is_seen(body: str) -> None:
    module = (
        f"from rulewright.expression.build import build\ndef ours(text):\n    build(text, e)\ndef f(x):\n    {body}\n"
    )
    assert list(spliced(ast.parse(module)))
