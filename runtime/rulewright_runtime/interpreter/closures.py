"""The closures of the interpreter: their argument and its layout.

Each node of a program becomes a closure with one argument. In a program that binds no variables the argument is the
bindings; in others it is a frame: a list of the bindings, the remaining steps of loops, and the slots of the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

import msgspec

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import lookup
from rulewright_runtime.functions.table import Function
from rulewright_runtime.ir import BINDING, Node, Program
from rulewright_runtime.values import Value, no_overload

Closure: TypeAlias = Callable[[Value], Value]
Lookup: TypeAlias = Callable[[str, int, bool], Function]  # name, number of arguments, strict CEL
Builder: TypeAlias = Callable[["Layout", Node, list[Closure]], Closure]  # layout, node, closures of its operands
FIRST_SLOT: Final = 2  # of a frame, after the bindings and the remaining steps
UNUSED: Final = -1  # the frame index of values that are never read


class Layout(msgspec.Struct, frozen=True):
    """The layout of a program's closure argument: whether it is a frame, and with how many slots. `lazy` are the slots
    that `bind` fills, whose values may be a `Failed`; `depth` is the nesting of closure calls; `function` looks up the
    functions of calls."""

    program: Program
    framed: bool
    slots: int
    lazy: frozenset[int]
    depth: int
    function: Lookup = lookup

    @classmethod
    def of(cls, program: Program, function: Lookup = lookup) -> Layout:
        binding = [node for node in program.nodes if node.op in BINDING]
        top = max((slot for node in binding for slot in node.value), default=-1)
        depths: list[int] = []
        for node in program.nodes:
            depths.append(1 + max((depths[a] for a in node.args), default=0))
        lazy = frozenset(node.value[0] for node in binding if node.op == "bind")
        return cls(program, bool(binding), top + 2, lazy, depths[-1], function)


class Failed(NamedTuple):
    """A bound variable whose expression failed: the error is raised when the variable is read."""

    error: EvaluationError


def absorbed(why: EvaluationError) -> EvaluationError:
    """The error, so that other operands can be tried; raises it if it is a limit, which would only be hit again."""
    if why.code == "limit":
        raise why
    return why


def deciding(
    name: str, decides: bool, ask: Callable[[Value, Value], Value]
) -> Callable[[Value, Iterable[Value]], bool]:
    """`and`, `or`, `all` and `exists`: a value that `decides` overrides errors of other steps (CEL spec, logical
    operators). `ask` evaluates a step, given the closure's argument."""

    def decide(argument: Value, steps: Iterable[Value]) -> bool:
        error: EvaluationError | None = None
        for step in steps:
            try:
                value = ask(argument, step)
            except EvaluationError as why:
                error = error or absorbed(why)
                continue
            if value is decides:
                return bool(decides)
            if value.__class__ is not bool:
                error = error or no_overload(name, value)
        if error is not None:
            raise error
        return not decides

    return decide
