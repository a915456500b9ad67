"""Keys that belong at another level of their document, and stand among names of the author's choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import descend
from rulewright.documents.departures import Departure, Steps
from rulewright.documents.keys import EACH, keys_of, written_path
from rulewright.load import Mapping, Node, Sequence


def misplaced(kind: str, found: Iterable[Departure], root: Node) -> Iterator[tuple[Steps, Diagnostic]]:
    """The keys that are refused as a name, and that a mapping around or below does not have, each with its finding."""
    places = {each.steps[:end] for each in found for end in range(1, len(each.steps) + 1)}
    for place in sorted(places, key=lambda each: (len(each), str(each))):
        holder, name = descend(root, *place[:-1]), place[-1]
        if isinstance(holder, Mapping) and isinstance(name, str) and (home := _home(kind, root, place)) is not None:
            where = f"under `{written_path(kind, home)}`" if home else "at the top level"
            message = f"unknown key `{name}` in `{written_path(kind, tuple(map(str, place[:-1])))}`"
            told = error(holder.key_span(name), message, code="unknown-key", help=f"`{name}` belongs {where}")
            yield place, replace(told, about=".".join((*home, name)))


def _home(kind: str, root: Node, place: Steps) -> tuple[str, ...] | None:
    """The path of the key's own mapping, which lacks it; None if the key may stand where it does."""
    known = keys_of(kind)
    if any(_fits(place, path) for path in known if path[-1] != EACH):
        return None
    homes = [path[:-1] for path in known if path[-1] == place[-1] and _is_around(path[:-1], place[:-1])]
    return next(
        (each for each in homes if any(str(place[-1]) not in one for one in _mappings(root, each, place))), None
    )


def _fits(steps: Steps, path: tuple[str, ...]) -> bool:
    return len(steps) == len(path) and _is_around(path, steps)


def _is_around(path: tuple[str, ...], steps: Steps) -> bool:
    """Whether a path contains the place, or the place the path."""
    return all(part in (EACH, step) for part, step in zip(path, steps, strict=False))


def _mappings(node: Node | None, path: tuple[str, ...], place: Steps) -> Iterator[Mapping]:
    """The mappings at a path, of those around a place only these."""
    if not path:
        yield from [node] if isinstance(node, Mapping) else []
    elif isinstance(node, Mapping):
        around = place[:1] if len(place) > 1 else node.keys if path[0] == EACH else path[:1]
        for step in around:
            yield from _mappings(node.get(str(step)), path[1:], place[1:])
    elif isinstance(node, Sequence) and path[0] == EACH:
        for item in [descend(node, place[0])] if len(place) > 1 else node.items:
            yield from _mappings(item, path[1:], place[1:])
