"""The fast closures answer as the general ones do, whatever the data are."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.runtime.programs import Tree, call, const, local, loop, name, op, program

from rulewright_runtime import evaluate
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score
from rulewright_runtime.values import NONE, Map, Optional, UInt

EXAMPLES = 10_000 if os.environ.get("RULEWRIGHT_TORTURE") else 300
ORDERS = ["_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"]
CONSTANTS: list[Any] = [
    0.5,
    0.8,
    1.0,
    0.0,
    -1.5,
    3,
    0,
    UInt(2),
    "GO",
    "",
    True,
    False,
    None,
    Score(4, 5),
    Score(1),
    math.nan,
]
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
        st.builds(lambda p: loop("all", p, call("_>_", local(9), 0.5), slots=(9,)), path),
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


def _outcome(given_program: Program, bindings: dict[str, Any]) -> object:
    try:
        value = evaluate.prepare(given_program)(bindings)
    except EvaluationError as why:
        return f"error {why.code}: {why}"
    return repr(value)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=DECISIONS, bindings=ROOTS, strict=st.booleans())
def test_fast_and_general_closures_agree(tree: Tree, bindings: dict[str, Any], strict: bool) -> None:
    given_program = program(tree, strict)
    fast = _outcome(given_program, bindings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "fuse", lambda building, number, mode, general, built: general)
        assert fast == _outcome(given_program, bindings)


LABEL_LEAF = st.builds(
    lambda p, o, c, s: call(o, call("score", name(p)) if s else name(p), Score(int(c * 10), 10) if s else c),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["_<_", "_<=_", "_>_", "_>=_"]),
    st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]),
    st.just(True),
)
TABLES = st.recursive(
    st.sampled_from(["Fail", "Review", "Pass"]).map(const),
    lambda inner: st.builds(
        lambda leaves, kind, t, e: op("cond", leaves[0] if len(leaves) == 1 else op(kind, *leaves), t, e),
        st.lists(LABEL_LEAF, min_size=1, max_size=3),
        st.sampled_from(["and", "or"]),
        inner,
        inner,
    ),
    max_leaves=5,
)
SCORES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([0.0, 0.19, 0.2, 0.5, 0.8, 0.81, 1.0]), st.sampled_from([None, True, 1, 0, math.nan, 1.5, "x"])
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(tree=TABLES, bindings=st.fixed_dictionaries({}, optional={"a": SCORES, "b": SCORES, "c": SCORES}))
def test_tables_of_scores_agree_with_the_general_closures(tree: Tree, bindings: dict[str, Any]) -> None:
    given_program = program(tree)
    fast = _outcome(given_program, bindings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "fuse", lambda building, number, mode, general, built: general)
        assert fast == _outcome(given_program, bindings)
