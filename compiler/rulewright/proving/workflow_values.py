"""The contexts of a task's state machine: a finite set that covers every combination of results of its guards.

A number is represented by the constants it is compared with and by a value between neighbouring ones, an enum by its
members, and every variable also by its absence. A condition that isn't a plain comparison is opaque: it may be true or
false in any context, so that a proof covers more than can happen, never less.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final

from rulewright.documents.base import fraction
from rulewright.documents.workflow import Overlay, TaskDocument
from rulewright.load import Scalar
from rulewright.lower.workflow_guards import Guards, features_of
from rulewright.proving.domains import Path
from rulewright.proving.program_parts import constants_of, extract, numbers_of, paths_of, reading, with_paths
from rulewright_runtime.ir import Node, Program, decode, encode
from rulewright_runtime.polarity import Polarity, boolean
from rulewright_runtime.values import Value
from rulewright_runtime.workflow.machine import Guard

World = Mapping[str, Value]

ABSENT: Final = object()
MAX_CONTEXTS: Final = 4096
OPAQUE: Final = "coin"  # the key of a context with the results of the opaque conditions
WORDS: Final[Mapping[Path, tuple[object, ...]]] = {
    ("review", "decision"): ("GO", "NO_GO", ABSENT),
    ("policy_gate", "verdict"): ("PASS", "FAIL", ABSENT),
    ("pair", "challenger_approved"): (True, False, ABSENT),
    ("hil", "resolved"): (True, False, ABSENT),
}
COUNTERS: Final = frozenset({("loop", "iteration"), ("pair", "iteration"), ("review", "iteration")})
_COMPARING: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "score", "size"})
_PLAIN: Final = frozenset(
    {"const", "name", "local", "select", "index", "and", "or", "not", "cond", "all", "exists", "map_values"}
)


class TooManyContextsError(Exception):
    """The results of the conditions have too many combinations, so nothing is proved."""


@dataclass(slots=True)
class Truths:
    """Evaluates conditions in contexts, as the machine does; caches the prepared programs."""

    prepared: dict[int, tuple[Program, Callable[[World], bool] | None]] = field(default_factory=dict)

    def is_opaque(self, program: Program) -> bool:
        """Whether contexts don't determine the condition's result."""
        entry = self.prepared.get(id(program))
        return entry[1] is None if entry is not None else not _is_plain(program)

    def holds(self, program: Program, world: World) -> bool:
        """Whether the condition holds in a context; an undecided one doesn't."""
        decide = self._prepare(program)
        return bool(world.get(OPAQUE, {}).get(program.source)) if decide is None else decide(world)

    def met(self, guard: Guard | None, world: World) -> bool:
        """Whether a guard holds in a context; no guard holds always."""
        if guard is None:
            return True
        return (any if guard.mode == "any" else all)(self.holds(program, world) for program in guard.conditions)

    def _prepare(self, program: Program) -> Callable[[World], bool] | None:
        entry = self.prepared.get(id(program))
        if entry is None:
            decide = boolean(program, Polarity.PERMITTING) if _is_plain(program) else None
            entry = self.prepared[id(program)] = (program, decide)
        return entry[1]


def _is_plain(program: Program) -> bool:
    paths = paths_of(program) or ()
    known = all(path in WORDS or path in COUNTERS or path[0] in ("confidence_score", "metrics") for path in paths)
    return known and all(
        node.op in _PLAIN or (node.op == "call" and node.value in _COMPARING and _is_of_one(program, node))
        for node in program.nodes
    )


def _is_of_one(program: Program, call: Node) -> bool:
    """Whether a call compares one value with a constant: the contexts hold one number of each interval, so they do not
    tell how two values between the same constants compare."""
    return len(call.args) == 1 or any(not paths_of(extract(program, arg)) for arg in call.args)


def worlds(programs: Iterable[Program], truths: Truths) -> list[World]:
    """The contexts that cover every combination of the conditions' results. Raises TooManyContextsError."""
    distinct = list({id(program): program for program in programs}.values())
    opaque = sorted({program.source for program in distinct if truths.is_opaque(program)})
    plain = [program for program in distinct if not truths.is_opaque(program)]
    axes: list[tuple[Path, tuple[object, ...]]] = [((OPAQUE, source), (True, False)) for source in opaque]
    points = points_of(plain)
    for path in sorted({path for program in plain for path in paths_of(program) or ()}):
        axes.append((path, _values(path, points, plain)))
    if math.prod(len(values) for _, values in axes) > MAX_CONTEXTS:
        return _all_opaque(distinct, truths)
    return [_world([path for path, _ in axes], values) for values in itertools.product(*(v for _, v in axes))]


def _all_opaque(programs: list[Program], truths: Truths) -> list[World]:
    """The contexts in which every condition is opaque, independently of the others. Raises
    TooManyContextsError for too many conditions."""
    sources = sorted({program.source for program in programs})
    if 2 ** len(sources) > MAX_CONTEXTS:
        raise TooManyContextsError(f"{len(sources)} conditions at one place")
    for program in programs:
        truths.prepared[id(program)] = (program, None)
    return [
        {OPAQUE: dict(zip(sources, results, strict=True))}
        for results in itertools.product((True, False), repeat=len(sources))
    ]


def _values(path: Path, points: list[float], programs: list[Program]) -> tuple[Value, ...]:
    if path in WORDS:
        return WORDS[path]
    if path in COUNTERS:
        wholes = map(int, numbers_of(constants_of(programs)))
        numbers = sorted({near for whole in wholes for near in (whole - 1, whole, whole + 1)})
        return tuple(dict.fromkeys([1, *(number for number in numbers if number >= 1)]))
    if path == ("metrics",):
        return (
            ABSENT,
            {},
            *({"some metric": p} for p in points),
            *({"a": p, "b": q} for p, q in itertools.pairwise(points)),
        )
    return (*points, ABSENT)


def texts_of(program: Program) -> Iterator[str]:
    """Yield the string constants of a condition."""
    return (each for each in constants_of([program]) if isinstance(each, str))


def points_of(programs: list[Program]) -> list[float]:
    """0, 1, every constant between them, and a number between each pair of neighbours."""
    cuts = sorted({Fraction(0), Fraction(1), *(cut for cut in numbers_of(constants_of(programs)) if 0 <= cut <= 1)})
    between = [(low + high) / 2 for low, high in itertools.pairwise(cuts)]
    return sorted({float(cut) for cut in (*cuts, *between)})


def _world(paths: list[Path], values: tuple[object, ...]) -> World:
    world: dict[str, object] = {}
    for path, value in zip(paths, values, strict=True):
        if value is ABSENT:
            continue
        parent = world
        for key in path[:-1]:
            child = parent.get(key)
            parent[key] = parent = dict(child) if isinstance(child, dict) else {}
        old = parent.get(path[-1])
        parent[path[-1]] = {**value, **old} if isinstance(value, dict) and isinstance(old, dict) else value
    return world


def spoken(world: World) -> str:
    """A context as text: `confidence_score = 0.8, review.decision = GO`."""
    parts = []
    for name, value in world.items():
        if name == OPAQUE:
            parts += [f"{'' if holds else 'not '}({source})" for source, holds in value.items()]
        elif isinstance(value, dict):
            parts += [f"{name}.{key} = {_shown(item)}" for key, item in value.items()]
        else:
            parts.append(f"{name} = {_shown(value)}")
    return ", ".join(parts)


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=64)  # several rules ask about the same loop in turn
def _required(task: TaskDocument, loop: Overlay) -> tuple[Program | None, tuple[tuple[int, Scalar, Program], ...]]:
    """The threshold of a task, and the valid conditions of a loop with their indices; others are left to the
    compiler."""
    features, guards = features_of(task), Guards([])
    threshold = guards.threshold(task, features)
    built = [guards.author_condition(task, "", each, features) for each in loop.conditions]
    known = {} if features.mode != "composite" else _of_one_metric(task)
    programs = [None if each is None else with_paths(each.program, known) for each in built]
    found = tuple([(at, loop.conditions[at], each) for at, each in enumerate(programs) if each is not None])
    return None if threshold is None else threshold.program, found


def _of_one_metric(task: TaskDocument) -> dict[Path, Program]:
    """The score, in place of the only metric of a task: it is the value of that metric."""
    if len(task.metrics) != 1 or fraction(task.metrics[0].node, "weight") == 0:
        return {}
    return {("metrics", task.metrics[0].type): reading(("confidence_score",))}


def excluding(task: TaskDocument, loop: Overlay) -> tuple[int, Scalar] | None:
    """Return the first of the conditions that a loop requires together which can't hold together with those before it
    and the threshold, with its index; None without one, or where they are too many to combine. Conditions that never
    hold are reported elsewhere."""
    (threshold, conditions), truths = _required(task, loop), Truths()
    required = [threshold] if threshold is not None and loop.name == "confidence_loop" else []
    for number, scalar, program in conditions if loop.mode == "all" else ():
        contexts = _in_loop(loop, [*required, program], truths)
        holding = [each for each in contexts if truths.holds(program, each)]
        if holding and not any(all(truths.holds(each, world) for each in required) for world in holding):
            return number, scalar
        required += [program] if holding else []
    return None


def _in_loop(loop: Overlay, programs: Sequence[Program], truths: Truths) -> list[World]:
    """The contexts of conditions that are one of a loop's iterations; none of too many conditions."""
    try:
        found = worlds(programs, truths)
    except TooManyContextsError:
        return []
    most = math.inf if loop.max_iterations is None else loop.max_iterations
    return [each for each in found if each.get("loop", {}).get("iteration", 0) <= most]


def undercutting(task: TaskDocument, loop: Overlay) -> Iterator[tuple[int, Scalar]]:
    """Yield the conditions that can hold below the threshold, with their indices; none without a threshold."""
    threshold, conditions = _required(task, loop)
    if threshold is None:
        return
    for number, scalar, program in conditions:
        if _undercuts(encode(threshold), encode(program)):
            yield number, scalar


@lru_cache(maxsize=1024)
def _undercuts(threshold: bytes, condition: bytes) -> bool:
    """Whether a condition can hold below a threshold, both encoded: many tasks have the same two."""
    truths, low, program = Truths(), decode(threshold), decode(condition)
    contexts = worlds((low, program), truths)
    return any(not truths.holds(low, world) and truths.holds(program, world) for world in contexts)


def implied(task: TaskDocument, loop: Overlay) -> Iterator[tuple[int, Scalar]]:
    """Yield the conditions of a loop that requires all that hold wherever the threshold is met and the others hold,
    and not everywhere, with their indices."""
    (threshold, conditions), truths = _required(task, loop), Truths()
    if threshold is None or loop.mode != "all":
        return
    required = {at: program for at, _, program in conditions if not truths.is_opaque(program)}
    for at, program in [*required.items()][::-1]:
        others = [threshold, *(each for other, each in required.items() if other != at)]
        contexts = _in_loop(loop, [*others, program], truths)
        met = [truths.holds(program, each) for each in contexts if all(truths.holds(other, each) for other in others)]
        if met and all(met) and not all(truths.holds(program, each) for each in contexts):
            del required[at]
            yield at, loop.conditions[at]
