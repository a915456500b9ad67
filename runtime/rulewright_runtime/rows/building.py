"""What is known about a program before its closures are made: where every node stands, and what its argument is.

Every node becomes a closure of one argument. What the argument is depends on where the node stands (its mode): the
bindings themselves; the element of the loop around it, when the loop's body reads nothing else; or else a frame, a list
that holds the bindings, the steps left, and the slots of bound variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.limits import MAX_STEPS
from rulewright_runtime.ir import BINDING, Program, free_locals

Closure: TypeAlias = Callable[[Any], Any]
Closures: TypeAlias = dict[tuple[int, int], Closure]  # by the node and the mode

ROOT: Final = -1
FRAME: Final = -2
FIRST_SLOT: Final = 2  # of a frame: before it stand the bindings and the steps left
_LOOPS: Final = BINDING - {"bind", "opt_map", "opt_flat_map"}


@dataclass(frozen=True, slots=True)
class Building:
    """What is known about a program while its closures are made."""

    program: Program
    modes: list[set[int]]
    bodies: dict[tuple[int, int], int]  # the mode of the bodies of a binding node, by the node and its own mode
    loops: list[bool]  # whether a node holds a loop
    bind_slots: frozenset[int]
    frame_size: int
    depth: int

    @classmethod
    def of(cls, program: Program) -> Building:
        """Find the mode of every node, from the last to the first."""
        nodes = program.nodes
        free = free_locals(program)
        loops: list[bool] = []
        named: list[bool] = []
        depths: list[int] = []
        for node in nodes:
            loops.append(node.op in _LOOPS or any(loops[a] for a in node.args))
            named.append(node.op == "name" or any(named[a] for a in node.args))
            depths.append(1 + max((depths[a] for a in node.args), default=0))
        modes: list[set[int]] = [set() for _ in nodes]
        modes[-1].add(ROOT)
        bodies: dict[tuple[int, int], int] = {}
        top = -1
        for number in range(len(nodes) - 1, -1, -1):
            node = nodes[number]
            if node.op not in BINDING:
                for argument in node.args:
                    modes[argument] |= modes[number]
                continue
            top = max(top, *node.value)
            first, *rest = node.args
            modes[first] |= modes[number]
            alone = (
                len(node.value) == 1
                and node.op != "bind"
                and all(not named[b] and not loops[b] and free[b] <= {node.value[0]} for b in rest)
            )
            mode = node.value[0] if alone else FRAME
            for outer in modes[number]:
                bodies[number, outer] = mode
            for body in rest:
                modes[body].add(mode)
        slots = frozenset(node.value[0] for node in nodes if node.op == "bind")
        return cls(program, modes, bodies, loops, slots, FIRST_SLOT + top + 1, depths[-1])

    def framer(self, mode: int) -> Closure:
        """A function from the argument of `mode` to a frame."""
        if mode == FRAME:
            return same
        size = self.frame_size
        place = 0 if mode == ROOT else FIRST_SLOT + mode

        def frame(argument: Any) -> list[Any]:
            made: list[Any] = [None] * size
            made[1] = MAX_STEPS
            made[place] = argument
            return made

        return frame


def counted(frame: list[Any], value: Any) -> Any:
    """What a loop runs over, after its steps were taken from those that the frame has left."""
    if isinstance(value, (list, tuple, Mapping)):
        frame[1] -= len(value)
        if frame[1] < 0:
            raise EvaluationError(f"more than {MAX_STEPS} steps in loops", "limit")
    return value


def counting(over: Closure) -> Closure:
    """What a loop inside another runs over: it needs no frame, but it runs again for every step of that one."""
    return lambda frame: counted(frame, over(frame))


def same(argument: Any) -> Any:
    """The argument itself."""
    return argument
