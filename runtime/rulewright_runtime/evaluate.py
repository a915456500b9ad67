"""Rows: a program becomes one Python callable that evaluates it on a plain dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import BINDING, Program, validate
from rulewright_runtime.rows.building import ROOT, Building, Closure
from rulewright_runtime.rows.fuse import fuse
from rulewright_runtime.rows.loops import BINDERS
from rulewright_runtime.rows.operations import BUILDERS
from rulewright_runtime.rows.own import own

_GUARD_DEPTH: Final = 40  # below it no evaluation can run out of Python's stack by itself


class Evaluator(Protocol):
    """A prepared expression: call it with the bindings (names to values, dotted names allowed) to get its value.

    Raises EvaluationError and nothing else. Thread-safe and reentrant.
    """

    def __call__(self, bindings: Mapping[str, Any], /) -> Any:
        """The value of the expression for these bindings."""


def prepare(program: Program) -> Evaluator:
    """The evaluator of `program`, which is validated here once (PlanError)."""
    validate(program)
    building = Building.of(program)
    root = _closure(building)
    if building.depth < _GUARD_DEPTH:
        return root
    return _guarded(root)


def _guarded(root: Closure) -> Closure:
    def run(bindings: Mapping[str, Any]) -> Any:
        try:
            return root(bindings)
        except RecursionError:
            raise EvaluationError("an expression or a value is nested too deeply", "limit") from None

    return run


def _closure(building: Building) -> Closure:
    """The closure of the last node, made from the first to the last."""
    built: dict[tuple[int, int], Closure] = {}
    for number, node in enumerate(building.program.nodes):
        for mode in building.modes[number]:
            if node.op in BINDING:
                inner = building.bodies[number, mode]
                first, *rest = node.args
                args = [built[first, mode], *(built[b, inner] for b in rest)]
                general = BINDERS[node.op](building, node, mode, inner, args)
            else:
                args = [built[a, mode] for a in node.args]
                general = BUILDERS[node.op](building, node, mode, args)
            built[number, mode] = own(fuse(building, number, mode, own(general), built))
    return built[len(building.program.nodes) - 1, ROOT]
