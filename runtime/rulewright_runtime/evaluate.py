"""Rows: a program becomes one Python callable that evaluates it on a plain dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import BINDING, Program, validate
from rulewright_runtime.rows.building import ROOT, Building, Closure, Closures
from rulewright_runtime.rows.fuse import fuse
from rulewright_runtime.rows.loops import BINDERS
from rulewright_runtime.rows.operations import BUILDERS
from rulewright_runtime.rows.own import own

_GUARD_DEPTH: Final = 40  # below it no evaluation can run out of Python's stack by itself
Fallback: TypeAlias = Callable[[int, int], Closure]  # the general closure of a node in a mode


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
    root = _closures(building, _fallbacks(building))[len(program.nodes) - 1, ROOT]
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


def _fallbacks(building: Building) -> Fallback:
    """The general closures, made when a value first needs one. What they call is general too: a fast closure below one
    would fall back by itself, again at every level, and an error deep inside would take exponential time."""
    made: list[Closures] = []

    def fallback(number: int, mode: int) -> Closure:
        def general(argument: Any) -> Any:
            if not made:
                made.append(_closures(building, None))
            return made[0][number, mode](argument)

        return general

    return fallback


def _closures(building: Building, fallback: Fallback | None) -> Closures:
    """The closure of every node in each of its modes, the fast one where there is something to fall back on."""
    built: Closures = {}
    for number in range(len(building.program.nodes)):
        for mode in building.modes[number]:
            fast = fuse(building, number, mode, fallback(number, mode), built) if fallback else None
            built[number, mode] = own(fast or _general(building, number, mode, built))
    return built


def _general(building: Building, number: int, mode: int, built: Closures) -> Closure:
    """The closure that has the whole meaning of a node, given those of its operands."""
    node = building.program.nodes[number]
    if node.op not in BINDING:
        return BUILDERS[node.op](building, node, mode, [built[a, mode] for a in node.args])
    inner = building.bodies[number, mode]
    first, *bodies = node.args
    return BINDERS[node.op](building, node, mode, inner, [built[first, mode], *(built[b, inner] for b in bodies)])
