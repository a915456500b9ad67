"""Rows: a program becomes one Python callable that evaluates it on a plain dict.

Every node becomes a closure of one argument. What the argument is depends on where the node stands (its mode): the
bindings themselves; the element of the loop around it, when the loop's body reads nothing else; or else a frame, a list
that holds the bindings, the steps left, and the slots of bound variables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from rulewright_runtime import access
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import lookup
from rulewright_runtime.functions.limits import MAX_STEPS, check_list
from rulewright_runtime.functions.lists import sort_by_keys
from rulewright_runtime.fuse import fuse
from rulewright_runtime.ir import BINDING, Node, Program, free_locals, literal_value, validate
from rulewright_runtime.own import own
from rulewright_runtime.values import NONE, Optional, make_map, no_overload

Closure: TypeAlias = Callable[[Any], Any]

ROOT: Final = -1
FRAME: Final = -2  # any other mode is the slot whose value is the argument
FIRST_SLOT: Final = 2
_GUARD_DEPTH: Final = 40  # below it no evaluation can run out of Python's stack by itself
_LOOPS: Final = BINDING - {"bind", "opt_map", "opt_flat_map"}


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
    root = building.build()
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

    def build(self) -> Closure:
        """The closure of the last node, made from the first to the last."""
        built: dict[tuple[int, int], Closure] = {}
        for number, node in enumerate(self.program.nodes):
            for mode in self.modes[number]:
                if node.op in BINDING:
                    inner = self.bodies[number, mode]
                    first, *rest = node.args
                    args = [built[first, mode], *(built[b, inner] for b in rest)]
                    general = _BINDERS[node.op](self, node, mode, inner, args)
                else:
                    args = [built[a, mode] for a in node.args]
                    general = _BUILDERS[node.op](self, node, mode, args)
                built[number, mode] = own(fuse(self, number, mode, own(general), built))
        return built[len(self.program.nodes) - 1, ROOT]

    def framer(self, mode: int) -> Closure:
        """A function from the argument of `mode` to a frame."""
        if mode == FRAME:
            return _same
        size = self.frame_size
        place = 0 if mode == ROOT else FIRST_SLOT + mode

        def frame(argument: Any) -> list[Any]:
            made: list[Any] = [None] * size
            made[1] = MAX_STEPS
            made[place] = argument
            return made

        return frame


def _same(argument: Any) -> Any:
    return argument


def _const(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    value = literal_value(node.value)
    return lambda _: value


def _name(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    candidates = [(sys.intern(name), tuple(fields)) for name, fields in node.value]
    name, fields = candidates[-1]
    if len(candidates) == 1 and not fields:
        return _plain_name(name, mode)

    def resolve(argument: Any) -> Any:
        bindings = argument[0] if mode == FRAME else argument
        for candidate, rest in candidates:
            if candidate in bindings:
                value = bindings[candidate]
                for field in rest:
                    value = access.select(value, field)
                return value
        raise access.no_such_name(candidates[-1][0])

    return resolve


def _plain_name(name: str, mode: int) -> Closure:
    def from_bindings(bindings: Any) -> Any:
        try:
            return bindings[name]
        except KeyError:
            raise access.no_such_name(name) from None

    def from_frame(frame: Any) -> Any:
        try:
            return frame[0][name]
        except KeyError:
            raise access.no_such_name(name) from None

    return from_frame if mode == FRAME else from_bindings


def _local(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    if mode != FRAME:
        return _same
    place = FIRST_SLOT + node.value
    if node.value not in building.bind_slots:
        return lambda frame: frame[place]

    def bound(frame: Any) -> Any:
        value = frame[place]
        if value.__class__ is _Failed:
            raise value.error
        return value

    return bound


@dataclass(frozen=True, slots=True)
class _Failed:
    """A bound variable without a value: the error shows only where the variable is read."""

    error: EvaluationError


def _select(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,), field = args, sys.intern(node.value)

    def select(argument: Any) -> Any:
        value = operand(argument)
        if value.__class__ is dict and field in value:
            return value[field]
        return access.select(value, field)

    return select


def _opt_select(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,), field = args, node.value
    return lambda argument: access.optional_select(operand(argument), field)


def _has(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,), field = args, node.value
    return lambda argument: access.has(operand(argument), field)


def _index(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    operand, key = args
    return lambda argument: access.index(operand(argument), key(argument))


def _opt_index(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    operand, key = args
    return lambda argument: access.optional_index(operand(argument), key(argument))


def _list(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    items, optional = tuple(args), frozenset(node.value or ())
    if not optional:
        return lambda argument: [item(argument) for item in items]

    def collect(argument: Any) -> list[Any]:
        made = []
        for number, item in enumerate(items):
            value = item(argument)
            if number not in optional:
                made.append(value)
            elif not isinstance(value, Optional):
                raise no_overload("[?]", value)
            elif value.present:
                made.append(value.value)
        return made

    return collect


def _map(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    entries, optional = tuple(zip(args[::2], args[1::2], strict=True)), frozenset(node.value or ())

    def collect(argument: Any) -> Any:
        made = []
        for number, (key, item) in enumerate(entries):
            name, value = key(argument), item(argument)
            if number in optional:
                if not isinstance(value, Optional):
                    raise no_overload("{?}", value)
                if not value.present:
                    continue
                value = value.value
            made.append((name, value))
        return make_map(made)

    return collect


def _absorbed(why: EvaluationError) -> EvaluationError:
    """The error, to be kept while others are tried; a limit ends everything, or a loop would run against it again."""
    if why.code == "limit":
        raise why
    return why


def _absorbing(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    """`and` and `or`: a deciding operand wins over errors on either side (CEL spec, logical operators)."""
    parts = tuple(args)
    decides = node.op == "or"

    def decide(argument: Any) -> bool:
        error: EvaluationError | None = None
        for part in parts:
            try:
                value = part(argument)
            except EvaluationError as why:
                kept = _absorbed(why)
                error = error or kept
                continue
            if value is decides:
                return bool(decides)
            if value.__class__ is not bool:
                error = error or no_overload("_||_" if decides else "_&&_", value)
        if error is not None:
            raise error
        return not decides

    return decide


def _not(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,) = args

    def negate(argument: Any) -> bool:
        value = operand(argument)
        if value is True:
            return False
        if value is False:
            return True
        raise no_overload("!_", value)

    return negate


def _cond(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    condition, then, otherwise = args

    def choose(argument: Any) -> Any:
        value = condition(argument)
        if value is True:
            return then(argument)
        if value is False:
            return otherwise(argument)
        raise no_overload("_?_:_", value)

    return choose


def _call(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    if node.value in ("or", "orValue") and len(args) == 2:
        return _optional_or(args[0], args[1], node.value)
    function = lookup(node.value, len(args), building.program.strict)
    if len(args) == 1:
        (only,) = args
        return lambda argument: function(only(argument))
    if len(args) == 2:
        left, right = args
        return lambda argument: function(left(argument), right(argument))
    parts = tuple(args)
    return lambda argument: function(*[part(argument) for part in parts])


def _optional_or(operand: Closure, other: Closure, name: str) -> Closure:
    unwraps = name == "orValue"

    def choose(argument: Any) -> Any:
        value = operand(argument)
        if not isinstance(value, Optional):
            raise no_overload(name, value)
        if value.present:
            return value.value if unwraps else value
        instead = other(argument)
        if not unwraps and not isinstance(instead, Optional):
            raise no_overload(name, value, instead)
        return instead

    return choose


def _items(value: Any) -> Iterable[Any]:
    """What one variable runs over: the elements of a list, the keys of a map."""
    if isinstance(value, (list, tuple, Mapping)):
        return value
    raise no_overload("a loop", value)


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    """What two variables run over: index and element of a list, key and value of a map."""
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    if isinstance(value, Mapping):
        return value.items()
    raise no_overload("a loop", value)


def _each(building: Building, node: Node, mode: int, inner: int, over: Closure) -> Closure:
    """A function from the argument to the arguments of the body, one for each step."""
    if inner != FRAME:
        return lambda argument: _items(over(argument))
    framer = building.framer(mode)
    places = [FIRST_SLOT + slot for slot in node.value]

    def start(argument: Any) -> tuple[list[Any], Any]:
        value = over(argument)
        frame = framer(argument)
        frame[1] -= len(value) if isinstance(value, (list, tuple, Mapping)) else 0
        if frame[1] < 0:
            raise EvaluationError(f"more than {MAX_STEPS} steps in loops", "limit")
        return frame, value

    def one(argument: Any) -> Iterable[Any]:
        frame, value = start(argument)
        (place,) = places
        for item in _items(value):
            frame[place] = item
            yield frame

    def two(argument: Any) -> Iterable[Any]:
        frame, value = start(argument)
        first, second = places
        for key, item in _pairs(value):
            frame[first] = key
            frame[second] = item
            yield frame

    return one if len(places) == 1 else two


def _quantifier(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    """`all` and `exists`: a deciding element wins over errors of others."""
    each, body = _each(building, node, mode, inner, args[0]), args[1]
    decides = node.op == "exists"

    def decide(argument: Any) -> bool:
        error: EvaluationError | None = None
        for step in each(argument):
            try:
                value = body(step)
            except EvaluationError as why:
                kept = _absorbed(why)
                error = error or kept
                continue
            if value is decides:
                return bool(decides)
            if value.__class__ is not bool:
                error = error or no_overload(node.op, value)
        if error is not None:
            raise error
        return not decides

    return decide


def _test(body: Closure, name: str) -> Closure:
    def test(step: Any) -> bool:
        value = body(step)
        if value is True or value is False:
            return bool(value)
        raise no_overload(name, value)

    return test


def _exists_one(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    each, test = _each(building, node, mode, inner, args[0]), _test(args[1], "exists_one")
    return lambda argument: sum([test(step) for step in each(argument)]) == 1


def _filter(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    each, test = _each(building, node, mode, inner, args[0]), _test(args[1], "filter")
    if inner != FRAME:
        return lambda argument: [item for item in each(argument) if test(item)]
    place = FIRST_SLOT + node.value[-1]
    return lambda argument: [frame[place] for frame in each(argument) if test(frame)]


def _split(args: list[Closure], name: str) -> tuple[Closure | None, Closure]:
    """The filter of a comprehension, if it has one, and what it makes of a step."""
    return (_test(args[1], name), args[2]) if len(args) == 3 else (None, args[1])


def _map_list(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    each = _each(building, node, mode, inner, args[0])
    test, body = _split(args, "map")
    if test is None:
        return lambda argument: [body(step) for step in each(argument)]
    return lambda argument: [body(step) for step in each(argument) if test(step)]


def _map_values(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    each = _each(building, node, mode, inner, args[0])
    test, body = _split(args, "transformMap")
    if len(node.value) != 2:
        return _only_two(node.op)
    place = FIRST_SLOT + node.value[0]

    def collect(argument: Any) -> Any:
        return make_map([(step[place], body(step)) for step in each(argument) if test is None or test(step)])

    return collect


def _map_entries(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    each = _each(building, node, mode, inner, args[0])
    test, body = _split(args, "transformMapEntry")

    def collect(argument: Any) -> Any:
        pairs: list[tuple[Any, Any]] = []
        for step in each(argument):
            if test is None or test(step):
                made = body(step)
                if not isinstance(made, Mapping):
                    raise no_overload("transformMapEntry", made)
                pairs.extend(made.items())
                check_list(len(pairs))
        return make_map(pairs)

    return collect


def _only_two(name: str) -> Closure:
    def refuse(_: Any) -> Any:
        raise EvaluationError(f"`{name}` binds two variables", "no_such_overload")

    return refuse


def _sort_by(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    each, key = _each(building, node, mode, inner, args[0]), args[1]
    place = FIRST_SLOT + node.value[0]

    def sort(argument: Any) -> list[Any]:
        items, keys = [], []
        for step in each(argument):
            keys.append(key(step))
            items.append(step if inner != FRAME else step[place])
        return sort_by_keys(items, keys)

    return sort


def _bind(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    bound, body = args
    framer, place = building.framer(mode), FIRST_SLOT + node.value[0]

    def bind(argument: Any) -> Any:
        frame = framer(argument)
        try:
            frame[place] = bound(argument)
        except EvaluationError as why:
            frame[place] = _Failed(_absorbed(why))
        return body(frame)

    return bind


def _opt_map(building: Building, node: Node, mode: int, inner: int, args: list[Closure]) -> Closure:
    operand, body = args
    framer, place, flat = building.framer(mode), FIRST_SLOT + node.value[0], node.op == "opt_flat_map"

    def apply(argument: Any) -> Any:
        value = operand(argument)
        if not isinstance(value, Optional):
            raise no_overload(node.op, value)
        if not value.present:
            return NONE
        step = value.value
        if inner == FRAME:
            step = framer(argument)
            step[place] = value.value
        made = body(step)
        if not flat:
            return Optional(made)
        if not isinstance(made, Optional):
            raise no_overload("optFlatMap", made)
        return made

    return apply


_BUILDERS: Final[Mapping[str, Callable[[Building, Node, int, list[Closure]], Closure]]] = {
    "const": _const,
    "name": _name,
    "local": _local,
    "select": _select,
    "opt_select": _opt_select,
    "has": _has,
    "index": _index,
    "opt_index": _opt_index,
    "list": _list,
    "map": _map,
    "and": _absorbing,
    "or": _absorbing,
    "not": _not,
    "cond": _cond,
    "call": _call,
}
_BINDERS: Final[Mapping[str, Callable[[Building, Node, int, int, list[Closure]], Closure]]] = {
    "all": _quantifier,
    "exists": _quantifier,
    "exists_one": _exists_one,
    "filter": _filter,
    "map_list": _map_list,
    "map_values": _map_values,
    "map_entries": _map_entries,
    "bind": _bind,
    "opt_map": _opt_map,
    "opt_flat_map": _opt_map,
    "sort_by": _sort_by,
}
