"""Operations that bind variables: quantifiers and comprehensions, `bind`, maps of optionals, sorting by a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.limits import check_list
from rulewright_runtime.functions.lists import sort_by_keys
from rulewright_runtime.ir import Node
from rulewright_runtime.rows.building import FIRST_SLOT, FRAME, Building, Closure, counted, counting
from rulewright_runtime.values import NONE, Optional, make_map, no_overload


@dataclass(frozen=True, slots=True)
class Failed:
    """A bound variable without a value: the error shows only where the variable is read."""

    error: EvaluationError


def absorbed(why: EvaluationError) -> EvaluationError:
    """The error, to be kept while others are tried; a limit ends everything, or a loop would run against it again."""
    if why.code == "limit":
        raise why
    return why


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
        items = counting(over) if mode == FRAME else over
        return lambda argument: _items(items(argument))
    framer = building.framer(mode)
    places = [FIRST_SLOT + slot for slot in node.value]

    def start(argument: Any) -> tuple[list[Any], Any]:
        value = over(argument)
        frame = framer(argument)
        return frame, counted(frame, value)

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
                kept = absorbed(why)
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
    over, key = args
    place = FIRST_SLOT + node.value[0]

    def listed(argument: Any) -> Any:
        items = over(argument)
        if not isinstance(items, (list, tuple)):
            raise no_overload("sortBy", items)
        return items

    each = _each(building, node, mode, inner, listed)

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
            frame[place] = Failed(absorbed(why))
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


BINDERS: Final[Mapping[str, Callable[[Building, Node, int, int, list[Closure]], Closure]]] = {
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
