"""The fast closures answer as the general ones do, whatever the data are."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.rounds import rounds
from tests.runtime.programs import Tree, call, const, local, loop, name, op, program

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import evaluator
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score
from rulewright_runtime.values import NONE, Map, Optional, UInt

EXAMPLES = rounds(50, 10_000)
ORDERS = ["_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"]
CONSTANTS: list[Any] = [
    0.5, 0.8, 1.0, 0.0, -1.5, 3, 0, UInt(2), "GO", "", True, False, None, Score(4, 5), Score(1), math.nan,
]  # fmt: skip
PATHS = ["a", "b", "r.a", "r.b", "r.s.a", "q.a"]
TEXTS = ["GO", "NO", ""]


def _leaf(read: Callable[[str], Tree], paths: list[str]) -> st.SearchStrategy[Tree]:
    path = st.sampled_from(paths).map(read)
    scored = path.map(lambda tree: call("score", tree))
    constant = st.sampled_from(CONSTANTS).map(const)
    order = st.sampled_from(ORDERS)
    texts = st.lists(st.sampled_from(TEXTS), max_size=3).map(const)
    return st.one_of(
        st.builds(lambda o, p, c: call(o, p, c), order, st.one_of(path, scored), constant),
        st.builds(lambda o, p, c: call(o, c, p), order, st.one_of(path, scored), constant),
        path,
        path.map(lambda tree: op("not", tree)),
        st.builds(lambda p, c: call("@in", p, c), path, texts),
        st.builds(lambda t, p: call("@in", t, p), st.sampled_from(TEXTS), path),
        st.builds(lambda p, t: loop("exists", p, call("_==_", local(9), t), slots=(9,)), path, st.sampled_from(TEXTS)),
        st.builds(lambda p, t: loop("exists", p, call("@in", local(9), t), slots=(9,)), path, texts),
        st.builds(
            lambda kind, p, t, wanted: loop(
                kind, p, call("@in", local(9), t) if wanted else op("not", call("@in", local(9), t)), slots=(9,)
            ),
            st.sampled_from(["all", "exists"]),
            path,
            texts,
            st.booleans(),
        ),
        st.builds(
            lambda kind, p, o, c: loop(kind, p, call(o, local(9), c), slots=(9,)),
            st.sampled_from(["all", "exists"]),
            path,
            order,
            constant,
        ),
        st.builds(
            lambda kind, p: loop(kind, p, op("and", call("_>_", local(9), 0.5), call("_<_", local(9), 3)), slots=(9,)),
            st.sampled_from(["all", "exists"]),
            path,
        ),
        st.booleans().map(const),
    )


def _conditions(leaf: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        parts = st.lists(inner, min_size=2, max_size=4)
        return st.one_of(
            parts.map(lambda trees: op("and", *trees)),
            parts.map(lambda trees: op("or", *trees)),
            inner.map(lambda tree: op("not", tree)),
        )

    return st.recursive(leaf, grown, max_leaves=6)


def _element(path: str) -> Tree:
    return local(0) if path == "." else local(0, *path.split("."))


OVER_ROOTS = _conditions(_leaf(name, PATHS))
OVER_ELEMENTS = _conditions(_leaf(_element, ["a", "b", "s.a", "."]))
BOTH = _conditions(st.one_of(_leaf(_element, ["a", "b"]), _leaf(name, ["a"])))
OUTPUTS = st.sampled_from(["Fail", "Review", "Pass", 1, 1.0, True])
DECISIONS = st.one_of(
    OVER_ROOTS,
    st.builds(lambda c, t, e: op("cond", c, t, e), OVER_ROOTS, OUTPUTS, OUTPUTS),
    st.builds(
        lambda c, t, d, u, e: op("cond", c, t, op("cond", d, u, e)), OVER_ROOTS, OUTPUTS, OVER_ROOTS, OUTPUTS, OUTPUTS
    ),
    st.builds(
        lambda k, p, b: loop(k, name(p), b),
        st.sampled_from(["all", "exists", "exists_one", "filter"]),
        st.sampled_from(["xs", "r.xs"]),
        st.one_of(OVER_ELEMENTS, BOTH),
    ),
)

NUMBER = st.sampled_from(
    [0.5, 0.8, 0.79, 1.0, 0.0, -0.0, 2.5, math.nan, math.inf, 1, 0, 3, UInt(2), UInt(3), Score(4, 5)]
)
ATOM: st.SearchStrategy[Any] = st.one_of(
    NUMBER, st.booleans(), st.none(), st.sampled_from([*TEXTS, b"GO", NONE, Optional({"a": 1.0}), Optional(True)])
)
CELL: st.SearchStrategy[Any] = st.one_of(
    ATOM, st.lists(ATOM, max_size=3), st.dictionaries(st.sampled_from(TEXTS), ATOM)
)
RECORD = st.dictionaries(st.sampled_from(["a", "b"]), CELL)
NESTED = st.builds(lambda r, s: {**r, **s}, RECORD, st.fixed_dictionaries({}, optional={"s": st.one_of(RECORD, ATOM)}))
ITEMS = st.lists(st.one_of(NESTED, NESTED, ATOM), max_size=4)
ROOTS = st.fixed_dictionaries(
    {},
    optional={
        "a": CELL,
        "b": CELL,
        "r": st.one_of(
            st.builds(lambda n, x: {**n, "xs": x}, NESTED, ITEMS),
            ATOM,
            st.just(Map([("a", 0.8), (1, 2)])),
            st.just(Optional({"a": 0.9})),
        ),
        "q": st.just({"a": 0.8}),
        "xs": st.one_of(ITEMS, st.just({"GO": 1}), ATOM),
    },
)


def _outcome(given_program: Program, bindings: dict[str, Any]) -> str:
    try:
        value = evaluator.prepare(given_program)(bindings)
    except EvaluationError as why:
        return f"error {why.code}: {why}"
    return repr(value)


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(tree=DECISIONS, bindings=ROOTS, strict=st.booleans())
def test_fast_and_general_closures_agree(tree: Tree, bindings: dict[str, Any], strict: bool) -> None:
    given_program = program(tree, strict)
    fast = _outcome(given_program, bindings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "fuse", lambda *_: None)
        assert fast == _outcome(given_program, bindings)


BOUNDS = [-1.0, 0.0, 0.2, 0.5, 0.8, 1.0, 50.0]


def _tables(scored: bool, paths: list[str]) -> st.SearchStrategy[Tree]:
    """Decisions over numbers, each compared with a few bounds."""
    bounds = [bound for bound in BOUNDS if not scored or 0 <= bound <= 1]
    comparison = st.builds(
        lambda path, order, bound: call(
            order, call("score", name(path)) if scored else name(path), Score(int(bound * 10), 10) if scored else bound
        ),
        st.sampled_from(paths),
        st.sampled_from(["_<_", "_<=_", "_>_", "_>=_"]),
        st.sampled_from(bounds),
    )
    condition = st.builds(
        lambda parts, kind: parts[0] if len(parts) == 1 else op(kind, *parts),
        st.lists(comparison, min_size=1, max_size=3),
        st.sampled_from(["and", "or"]),
    )
    return condition | st.recursive(
        st.sampled_from(["Fail", "Review", "Pass"]).map(const),
        lambda inner: st.builds(lambda test, then, other: op("cond", test, then, other), condition, inner, inner),
        max_leaves=5,
    )


READ_TOGETHER = [["a"], ["a", "b", "c"], ["r.a", "r.b"], ["a", "r.a"]]
TABLES = st.one_of([_tables(scored, paths) for scored in (True, False) for paths in READ_TOGETHER])
NUMBERS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([0.0, 0.19, 0.2, 0.5, 0.8, 0.81, 1.0, 60.0, -2.0]),
    st.sampled_from([None, True, False, 1, 0, math.nan, 1.5, "x"]),
)
NUMBERED = st.fixed_dictionaries({}, optional={"a": NUMBERS, "b": NUMBERS, "c": NUMBERS})


@settings(max_examples=EXAMPLES)
@given(tree=TABLES, numbers=NUMBERED, record=NUMBERED | NUMBERS)
def test_tables_of_numbers_agree_with_the_general_closures(tree: Tree, numbers: dict[str, Any], record: Any) -> None:
    given_program, bindings = program(tree), {**numbers, "r": record}
    fast = _outcome(given_program, bindings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "fuse", lambda *_: None)
        assert fast == _outcome(given_program, bindings)


def test_a_number_that_is_read_as_a_record_too_decides_nothing() -> None:
    tree = op("cond", op("or", call("_<_", name("a"), 0.5), call("_<_", name("a.b"), 0.5)), "low", "high")
    assert evaluator.prepare(program(tree))({"a": 0.2}) == "low"
    assert _outcome(program(tree), {"a": {"b": 0.2}}) == "'low'"
    assert _outcome(program(tree), {"a": 0.7}).startswith("error no_such_overload")


def test_an_error_under_many_conditions_takes_no_exponential_time() -> None:
    tree = call("contains", name("r.absent"), "x")
    for level in range(100):
        tree = op("or" if level % 2 else "and", tree, call("contains", name("r.b"), "" if level % 2 == 0 else "x"))
    assert _outcome(program(tree), {"r": {"b": "GO"}}) == "error no_such_key: no such key: `absent`"


@pytest.mark.parametrize("operation", ["and", "or"])
def test_thousands_of_conditions_side_by_side_need_no_deep_stack(operation: str) -> None:
    same = [call("_==_", name(f"r.a{number}"), "x") for number in range(3000)]
    bindings = {"r": {f"a{number}": "x" if operation == "and" else "y" for number in range(3000)}}
    for tree in (op(operation, *same), op("cond", op(operation, *same), True, False)):
        assert evaluator.prepare(program(tree))(bindings) is (operation == "and")


def test_scores_without_a_reading_of_their_own_are_compared_with_doubles() -> None:
    for operator, expected in {"_<_": False, "_>=_": True, "_==_": False}.items():
        assert evaluator.prepare(program(call(operator, name("a"), 0.5)))({"a": Score(4, 5)}) is expected


def test_of_two_choices_the_first_is_decided_before_the_second() -> None:
    """Both give the same text, and are asked in one go; the second must not decide while the first can't be."""
    second = op("cond", call("_<_", name("a"), 0.8), "Review", "Pass")
    for first, bindings in (("b", {"a": 0.5}), ("r.b", {"a": 0.5, "r": {}}), ("r.b", {"a": 0.5, "r": {"b": "x"}})):
        tree = op("cond", op("or", call("_<_", name(first), 0.5), call("_<_", name("c"), 0.5)), "Review", second)
        assert _outcome(program(tree), {"c": 0.9, **bindings}).startswith("error")
        assert _outcome(program(tree), {"c": 0.1, **bindings}) == "'Review'"


@pytest.mark.parametrize("kind", ["exists", "all"])
def test_a_search_asks_for_the_text_first_and_still_sees_what_is_undecided(kind: str) -> None:
    decides = kind == "exists"
    body = op("and" if decides else "or", local(0, "seen"), call("_==_" if decides else "_!=_", local(0, "is"), "GO"))
    tree = loop(kind, name("xs"), body, slots=(0,))
    assert _outcome(program(tree), {"xs": [{"is": "NO"}, {"is": "NO", "seen": 1}]}) == repr(not decides)
    assert _outcome(program(tree), {"xs": [{"is": "GO", "seen": not decides}] * 3}) == repr(not decides)
    assert _outcome(program(tree), {"xs": [{"is": "GO"}, {"is": "GO", "seen": decides}]}) == repr(decides)
    assert _outcome(program(tree), {"xs": [{"is": "GO"}]}).startswith("error no_such_key")
