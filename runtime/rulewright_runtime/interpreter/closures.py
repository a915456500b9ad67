"""What every closure of the interpreter knows: what its argument is, and where things stand in it.

Each node of a program becomes a closure of one argument. In a program that binds no variables that is the bindings
themselves; in others a frame, a list of the bindings, the steps that loops have left, and the slots of the variables.
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
Builder: TypeAlias = Callable[["Layout", Node, list[Closure]], Closure]  # of a node, given those of its operands
FIRST_SLOT: Final = 2  # of a frame: before it stand the bindings and the steps left
UNUSED: Final = -1  # the place in a frame for what nobody reads


class Layout(msgspec.Struct, frozen=True):
    """Where a program's closures find things: whether their argument is a frame, and with how many slots. `lazy` are
    those that `bind` fills, whose values may have failed; `depth` is how deeply closures call each other; `function`
    finds what a call names."""

    program: Program
    framed: bool
    slots: int
    lazy: frozenset[int]
    depth: int
    function: Lookup = lookup

    @classmethod
    def of(cls, program: Program, function: Lookup = lookup) -> Layout:
        """The layout of a valid program."""
        binding = [node for node in program.nodes if node.op in BINDING]
        top = max((slot for node in binding for slot in node.value), default=-1)
        depths: list[int] = []
        for node in program.nodes:
            depths.append(1 + max((depths[a] for a in node.args), default=0))
        lazy = frozenset(node.value[0] for node in binding if node.op == "bind")
        return cls(program, bool(binding), top + 2, lazy, depths[-1], function)


class Failed(NamedTuple):
    """A bound variable without a value: the error shows only where the variable is read."""

    error: EvaluationError


def absorbed(why: EvaluationError) -> EvaluationError:
    """The error, to be kept while others are tried; a limit ends everything, or a loop would run against it again."""
    if why.code == "limit":
        raise why
    return why


def deciding(
    name: str, decides: bool, ask: Callable[[Value, Value], Value]
) -> Callable[[Value, Iterable[Value]], bool]:
    """`and`, `or`, `all` and `exists`: an answer that `decides` wins over errors of others (CEL spec, logical
    operators). `ask` gives the answer of a step, given the closure's argument."""

    def decide(argument: Value, steps: Iterable[Value]) -> bool:
        error: EvaluationError | None = None
        for step in steps:
            try:
                value = ask(argument, step)
            except EvaluationError as why:
                kept = absorbed(why)
                error = error or kept
                continue
            if value is decides:
                return bool(decides)
            if value.__class__ is not bool:
                error = error or no_overload(name, value)
        if error is not None:
            raise error
        return not decides

    return decide
