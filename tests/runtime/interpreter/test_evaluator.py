"""Programs run as CEL says: names, presence, errors that are absorbed, loops and their limits."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.runtime.programs import Tree, call, const, local, loop, name, op, program

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.values import NONE, Map, Optional, UInt

BROKEN = call("_/_", 1, 0)  # an error wherever it is evaluated
OK = call("_>_", name("n"), 0)


def run(tree: Any, bindings: dict[str, Any] | None = None, strict: bool = True) -> Any:
    return prepare(program(tree, strict))(bindings or {})


def code(tree: Any, bindings: dict[str, Any] | None = None) -> str:
    with pytest.raises(EvaluationError) as caught:
        run(tree, bindings)
    return caught.value.code


@pytest.mark.parametrize(
    ("bindings", "value"),
    [({"a.b.c": 1, "a.b": {"c": 2}}, 1), ({"a.b": {"c": 2}, "a": {"b": {"c": 3}}}, 2), ({"a": {"b": {"c": 3}}}, 3)],
)
def test_the_most_qualified_name_wins(bindings: dict[str, Any], value: int) -> None:
    tree = Tree("name", (), [["a.b.c", []], ["a.b", ["c"]], ["a", ["b", "c"]]])
    assert run(tree, bindings) == value
    assert run(loop("map_list", [1], op("list", local(0), tree)), bindings) == [[1, value]]


def test_an_absent_name_and_an_absent_field_have_codes_of_their_own() -> None:
    assert code(name("a")) == "no_such_name"
    assert code(name("a.b"), {"a": {}}) == "no_such_key"
    assert code(name("a.b"), {"a": 1}) == "no_such_overload"
    assert code(Tree("name", (), [["a.b", []], ["a", ["b"]]]), {"a": {}}) == "no_such_key"
    assert code(Tree("name", (), [["a.b", []], ["a", ["b"]]])) == "no_such_name"


def test_and_and_or_absorb_errors_on_either_side() -> None:
    for first, second in ((BROKEN, OK), (OK, BROKEN)):
        assert run(op("or", first, second), {"n": 1}) is True
        assert code(op("or", first, second), {"n": 0}) == "divide_by_zero"
        assert run(op("and", first, second), {"n": 0}) is False
        assert code(op("and", first, second), {"n": 1}) == "divide_by_zero"
    assert run(op("and", BROKEN, name("x"), const(False)), {"x": 3}) is False
    assert code(op("or", const(False), name("x")), {"x": 3}) == "no_such_overload"


def test_only_the_chosen_branch_is_evaluated() -> None:
    assert run(op("cond", const(True), const(1), BROKEN)) == 1
    assert run(op("cond", OK, BROKEN, const(2)), {"n": 0}) == 2
    assert code(op("cond", const(1), const(1), const(2))) == "no_such_overload"
    assert code(op("cond", BROKEN, const(1), const(2))) == "divide_by_zero"


def test_a_deciding_element_wins_over_errors_of_others() -> None:
    one_over = call("_>_", call("_/_", 1, local(0)), 0)
    assert run(loop("exists", [0, 1], one_over)) is True
    assert code(loop("exists", [0, -1], one_over)) == "divide_by_zero"
    assert run(loop("all", [0, -1], one_over)) is False
    assert code(loop("all", [0, 1], one_over)) == "divide_by_zero"
    assert code(loop("exists_one", [1, 0], one_over)) == "divide_by_zero"
    assert code(loop("filter", [1, 0], one_over)) == "divide_by_zero"
    assert run(loop("all", [], BROKEN)) is True
    assert run(loop("exists", [], BROKEN)) is False
    assert run(loop("exists_one", [1, 2, 3], call("_==_", local(0), 2))) is True


def test_loops_run_over_lists_and_keys_with_one_variable_or_two() -> None:
    data = {"m": {"a": 1, "b": 2}, "xs": [5, 6], "k": 10}
    assert run(loop("map_list", name("m"), local(0)), data) == ["a", "b"]
    assert run(loop("map_list", name("xs"), call("_*_", local(0), local(1)), slots=(0, 1)), data) == [0, 6]
    assert run(loop("exists", name("m"), call("_==_", local(1), 2), slots=(0, 1)), data) is True
    assert run(loop("map_values", name("m"), call("_+_", local(1), name("k")), slots=(0, 1)), data) == {
        "a": 11,
        "b": 12,
    }
    swapped = loop("map_entries", name("m"), op("map", local(1), local(0)), slots=(0, 1))
    assert list(run(swapped, data).items()) == [(1, "a"), (2, "b")]
    assert code(loop("map_entries", name("xs"), op("map", "same", local(1)), slots=(0, 1)), data) == "repeated_key"
    assert run(loop("map_list", name("xs"), call("_>_", local(0), 5), local(0)), data) == [6]
    assert run(loop("filter", name("xs"), call("_>_", call("_+_", local(0), name("k")), 15)), data) == [6]
    assert run(loop("sort_by", name("xs"), call("-_", local(0))), data) == [6, 5]
    assert run(loop("sort_by", name("xs"), call("-_", call("_+_", local(0), name("k")))), data) == [6, 5]
    assert code(loop("sort_by", name("m"), local(0)), data) == "no_such_overload"
    for kind in ("all", "exists", "map_list", "filter"):
        assert code(loop(kind, name("k"), const(True)), data) == "no_such_overload"


def test_inner_loops_see_outer_variables() -> None:
    pairs = loop("map_list", name("xs"), loop("map_list", name("ys"), call("_*_", local(0), local(1)), slots=(1,)))
    assert run(pairs, {"xs": [1, 2], "ys": [3, 4]}) == [[3, 4], [6, 8]]
    same = loop(
        "exists", name("xs"), loop("exists", local(0, "tags"), call("_==_", local(1), local(0, "id")), slots=(1,))
    )
    assert run(same, {"xs": [{"id": "a", "tags": ["b"]}, {"id": "c", "tags": ["c"]}]}) is True


def test_a_bound_variable_is_evaluated_once_and_fails_only_where_it_is_read() -> None:
    assert run(loop("bind", 5, call("_+_", local(0), local(0)))) == 10
    assert run(loop("bind", BROKEN, const(True))) is True
    assert code(loop("bind", BROKEN, local(0))) == "divide_by_zero"


def test_optionals_chain_and_stay_lazy() -> None:
    data = {"m": {"a": {"b": 1}, "n": None}}
    chained = op("select", op("opt_select", name("m"), value="a"), value="b")
    assert run(chained, data) == Optional(1)
    assert run(op("select", op("opt_select", name("m"), value="x"), value="b"), data) is NONE
    assert code(op("select", op("opt_select", name("m"), value="n"), value="b"), data) == "no_such_overload"
    assert run(call("orValue", chained, BROKEN), data) == 1
    assert run(call("or", chained, BROKEN), data) == Optional(1)
    assert code(call("or", call("optional.none"), 1)) == "no_such_overload"
    assert run(loop("opt_map", chained, call("_+_", local(0), 1)), data) == Optional(2)
    assert run(loop("opt_map", call("optional.none"), BROKEN)) is NONE
    assert code(loop("opt_flat_map", chained, local(0)), data) == "no_such_overload"
    assert run(op("list", chained, call("optional.none"), 3, value=[0, 1]), data) == [1, 3]
    assert run(op("map", "a", chained, "b", call("optional.none"), value=[0, 1]), data) == {"a": 1}
    assert code(op("list", 1, value=[0])) == "no_such_overload"
    assert run(op("opt_index", const([1]), 3)) is NONE
    assert run(op("index", call("optional.of", const([1])), 0)) == Optional(1)
    assert run(op("has", op("opt_select", name("m"), value="a"), value="b"), data) is True
    assert code(op("has", const(1), value="b")) == "no_such_overload"


def test_presence_is_of_the_key_not_of_the_value() -> None:
    assert run(op("has", name("m"), value="a"), {"m": {"a": None}}) is True
    assert run(op("has", name("m"), value="b"), {"m": {"a": None}}) is False
    assert code(op("has", name("m.x"), value="b"), {"m": {}}) == "no_such_key"


def test_a_map_literal_keeps_its_keys_apart() -> None:
    made = run(op("map", 1, "int", const(UInt(1)), "uint", True, "bool"))
    assert isinstance(made, Map)
    assert [made[1], made[UInt(1)], made[True]] == ["int", "uint", "bool"]
    assert code(op("map", 1.5, "x")) == "unsupported_key_type"
    assert code(op("map", "a", 1, "a", 2)) == "repeated_key"


def test_nested_loops_have_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rulewright_runtime.interpreter.evaluator.MAX_STEPS", 20_000)  # where frames are made
    tree: Any = const(True)
    for slot in range(4):
        tree = loop("all", name("xs"), tree, slots=(slot,))
    assert code(tree, {"xs": list(range(300))}) == "limit"
    assert run(tree, {"xs": list(range(5))}) is True


@pytest.mark.parametrize("inner", ["all", "exists_one", "map_list", "filter"])
def test_a_loop_that_ignores_the_one_around_it_counts_its_steps_again_for_each(
    monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    monkeypatch.setattr("rulewright_runtime.interpreter.evaluator.MAX_STEPS", 20_000)
    outer = loop("map_list", name("xs"), loop(inner, name("xs"), call("_>=_", local(1), const(0)), slots=(1,)))
    assert code(outer, {"xs": list(range(300))}) == "limit"
    assert len(run(outer, {"xs": list(range(100))})) == 100


def test_doubling_a_list_or_a_text_again_and_again_is_a_limit() -> None:
    for seed in ([1], "a"):
        tree: Any = local(39)
        for slot in range(39, -1, -1):
            tree = loop("bind", call("_+_", local(slot - 1), local(slot - 1)) if slot else seed, tree, slots=(slot,))
        assert code(tree) == "limit"


def test_one_evaluator_serves_many_threads() -> None:
    body = call("_==_", call("_+_", local(0), name("n")), name("wanted"))
    tree = op("and", loop("exists", name("xs"), body), loop("bind", name("n"), call("_==_", local(0), name("n"))))
    evaluate = prepare(program(tree))
    rows = [{"xs": list(range(50)), "n": n, "wanted": n + 49 + n % 2} for n in range(300)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(evaluate, rows)) == [n % 2 == 0 for n in range(300)]
