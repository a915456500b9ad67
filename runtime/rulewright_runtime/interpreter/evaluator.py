"""Compiles a program to its evaluator: a closure for each node, built from those of its operands; a fused one if
possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import lookup
from rulewright_runtime.functions.table import MAX_STEPS
from rulewright_runtime.interpreter.closures import Closure, Layout, Lookup
from rulewright_runtime.interpreter.fused import fuse
from rulewright_runtime.interpreter.loops import LOOPS
from rulewright_runtime.interpreter.operations import OPERATIONS
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.values import Value

_GENERAL: Final = {**OPERATIONS, **LOOPS}
_GUARD_DEPTH: Final = 40  # a shallower program can't overflow Python's stack by itself


# A prepared expression: from bindings (names to values, dotted names allowed) to its value. It raises only
# EvaluationError, and is thread-safe and reentrant.
Evaluator: TypeAlias = Callable[[Mapping[str, object]], Value]


def prepare(program: Program) -> Evaluator:
    """The evaluator of `program`. Raises PlanError if the program is not valid."""
    validate(program)
    return evaluator(program)


def evaluator(program: Program, *, fast: bool = True, function: Lookup = lookup) -> Evaluator:
    """The evaluator of a valid program; without `fast`, every node has its general closure. `function` looks up the
    functions of calls."""
    layout = Layout.of(program, function)
    root = _closures(layout, _fallbacks(layout) if fast else None)[-1]
    if not layout.framed and layout.depth < _GUARD_DEPTH:
        return root
    framed, slots = layout.framed, [None] * layout.slots

    def run(bindings: Mapping[str, Value]) -> Value:
        try:
            return root([bindings, MAX_STEPS, *slots] if framed else bindings)
        except RecursionError:
            raise EvaluationError("an expression or a value is nested too deeply", "limit") from None

    return run


def _closures(layout: Layout, fallback: Callable[[int], Closure] | None = None) -> list[Closure]:
    """The closure of every node; a fused one if there is one, and `fallback` gives its general closure."""
    built: list[Closure] = []
    for number, node in enumerate(layout.program.nodes):
        fast = fuse(layout, number, fallback(number), built) if fallback else None
        built.append(fast or _GENERAL[node.op](layout, node, [built[a] for a in node.args]))
    return built


def _fallbacks(layout: Layout) -> Callable[[int], Closure]:
    """The general closures, built when first needed. Their operands are general closures too: fused operands would fall
    back again at every level, and an error deep inside would take exponential time."""
    closures: list[Closure] = []

    def fallback(number: int) -> Closure:
        def general(argument: Value) -> Value:
            if not closures:
                closures.extend(_closures(layout))
            return closures[number](argument)

        return general

    return fallback
