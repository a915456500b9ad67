"""A program from elsewhere is refused unless an honest compiler could have written it."""

import json
from typing import Any

import pytest
from tests.runtime.programs import call, local, loop, name, op, program

from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import MAX_LEVELS, MAX_NODES, Node, Program, decode, encode, literal, literal_value, validate
from rulewright_runtime.score import Score
from rulewright_runtime.values import NONE, Duration, Map, Optional, Timestamp, TypeValue, UInt, equal

ONE = Node("const", (), ["int", "1"])
REFUSED: list[tuple[str, tuple[Node, ...]]] = [
    ("no nodes", ()),
    ("an unknown operation", (Node("eval", (), "1"),)),
    ("a forward reference", (Node("not", (1,)), ONE)),
    ("a reference to itself", (Node("not", (0,)),)),
    ("a negative reference", (ONE, Node("not", (-1,)))),
    ("too few arguments", (ONE, Node("cond", (0, 0)))),
    ("one operand of `and`", (ONE, Node("and", (0,)))),
    ("an odd map", (ONE, Node("map", (0,)))),
    ("an unbound local", (Node("local", (), 0),)),
    ("a local outside its loop", (ONE, Node("local", (), 0), Node("all", (0, 1), [0]), Node("and", (2, 1)))),
    ("a range that reads its own variable", (Node("local", (), 0), ONE, Node("all", (0, 1), [0]))),
    ("a slot that is not a number", (ONE, Node("all", (0, 0), ["x"]))),
    ("a slot that is a bool", (ONE, Node("all", (0, 0), [True]))),
    ("a slot out of range", (ONE, Node("all", (0, 0), [10**9]))),
    ("no slots", (ONE, Node("all", (0, 0), []))),
    ("three slots", (ONE, Node("all", (0, 0), [0, 1, 2]))),
    ("the same slot twice", (ONE, Node("all", (0, 0), [0, 0]))),
    ("two slots of `bind`", (ONE, Node("bind", (0, 0), [0, 1]))),
    ("a selection without a field", (ONE, Node("select", (0,), None))),
    ("a call without a name", (ONE, Node("call", (0,), 3))),
    ("a name without candidates", (Node("name", (), []),)),
    ("a name of the wrong shape", (Node("name", (), ["a"]),)),
    ("a malformed literal", (Node("const", (), ["int", 1]),)),
    ("an int out of range", (Node("const", (), ["int", "9223372036854775808"]),)),
    ("an unknown literal", (Node("const", (), ["object", "x"]),)),
    ("a literal that is not a list", (Node("const", (), 3),)),
    ("bytes that are not base64", (Node("const", (), ["bytes", "$"]),)),
    ("a score over nothing", (Node("const", (), ["score", "1/0"]),)),
    ("an optional item that is not there", (ONE, Node("list", (0,), [3]))),
]


@pytest.mark.parametrize("nodes", [case[1] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_malformed_program_is_refused_before_it_runs(nodes: tuple[Node, ...]) -> None:
    with pytest.raises(PlanError):
        prepare(Program(nodes))
    with pytest.raises(PlanError):
        decode(encode(Program(nodes)))


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"nodes": 3}', b'{"nodes": [["const", [], ["int", "1"]]], "extra": 1}']
)
def test_malformed_json_is_a_plan_error(data: bytes) -> None:
    with pytest.raises(PlanError):
        decode(data)


def test_shared_nodes_count_as_often_as_they_are_used() -> None:
    nodes = [ONE]
    for number in range(40):
        nodes.append(Node("list", (number, number)))
    with pytest.raises(PlanError, match="too large"):
        validate(Program(tuple(nodes)))


def test_size_and_depth_have_limits() -> None:
    nodes = [Node("const", (), ["bool", True]), *(Node("not", (number,)) for number in range(400))]
    with pytest.raises(PlanError, match="nested"):
        validate(Program(tuple(nodes)))
    with pytest.raises(PlanError, match="too large"):
        validate(Program((nodes[0],) * (MAX_NODES + 1)))


def test_the_deepest_program_allowed_runs() -> None:
    depth = MAX_LEVELS
    nodes = [Node("const", (), ["bool", True]), *(Node("not", (number,)) for number in range(depth - 1))]
    assert prepare(Program(tuple(nodes)))({}) is (depth % 2 == 1)
    listed = [Node("name", (), [["x", []]]), *(Node("list", (number,)) for number in range(depth - 1))]
    assert isinstance(prepare(Program(tuple(listed)))({"x": 1}), list)


VALUES: list[Any] = [
    None, True, 0, -(2**63), UInt(2**64 - 1), 1.5, -0.0, float("inf"), 5e-324, "", "é😀\n", b"\x00\xff", Score(4, 5),
    TypeValue("int"), Timestamp(1), Duration(-1), NONE, Optional(1), [], [1, "a", [None]], {"a": 1},
    Map([(1, 2), (True, 3)]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_every_value_survives_json(value: Any) -> None:
    back = literal_value(json.loads(json.dumps(literal(value))))
    assert equal(back, value)
    assert type(back) is type(value)


def test_nan_survives_json_and_foreign_objects_have_no_literal() -> None:
    nan = literal_value(literal(float("nan")))
    assert nan != nan
    with pytest.raises(TypeError):
        literal(object())


def test_a_literal_nested_without_end_is_refused() -> None:
    deep: list[Any] = ["null"]
    for _ in range(252):
        deep = ["list", [deep]]
    with pytest.raises(PlanError):
        literal_value(deep)


def test_a_program_reads_back_as_it_was_written() -> None:
    tree = loop("exists", name("xs"), op("and", call("_>_", local(0, "score"), 0.5), local(0, "ok")))
    written = program(tree)
    assert decode(encode(written)) == Program(written.nodes, strict=written.strict)
    assert encode(decode(encode(written))) == encode(written)
    assert prepare(decode(encode(written)))({"xs": [{"score": 0.6, "ok": True}]}) is True


def test_a_function_nobody_knows_is_an_error_when_it_runs() -> None:
    for given, code in ((call("os.system", "x"), "unknown_function"), (call("size", 1, 2, 3), "no_such_overload")):
        with pytest.raises(EvaluationError) as caught:
            prepare(program(given))({})
        assert caught.value.code == code
