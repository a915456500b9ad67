"""For every key of every document: is it consumed and by what, is it documentation, or is it unknown?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from rulewright.load import Mapping, Node, Scalar
from rulewright.load import Sequence as List
from rulewright.vocabulary import Vocabulary, invisiblebench, schema_in
from rulewright_grammar import schema

Use = Literal["consumed", "documentation", "unknown"]
EACH: Final = "*"  # stands for every item of a list and every key that the author names himself


@dataclass(frozen=True, slots=True)
class Key:
    """What becomes of a key: `read_by` names the stage that reads it, `routes` the routes that do (empty: all)."""

    use: Use
    read_by: str = ""
    routes: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class WrittenKey:
    """A key as it stands in a document: its path from the root, its place and its use."""

    path: tuple[str, ...]
    scalar: Scalar
    key: Key


@cache
def keys_of(kind: str) -> dict[tuple[str, ...], Key]:
    """Every key the schema `kind` knows, by its path (`("routing", "route")`; `*` stands for items and free names)."""
    whole = schema(kind)
    return dict(_known(whole, whole, ()))


def key(kind: str, path: tuple[str, ...]) -> Key:
    """What becomes of the key at `path` in a document of that kind; what lies below free-form text shares its use."""
    known = keys_of(kind)
    for length in range(len(path), 0, -1):
        found = known.get(path[:length])
        if found is not None and (length == len(path) or _is_free(kind, path[:length])):
            return found
    return Key("unknown")


def allowed(kind: str, path: Sequence[str | int], vocabulary: Vocabulary | None = None) -> list[dict[str, Any]]:
    """What the schema `kind` allows at a place of a document, with the words of a vocabulary: every alternative, with
    its references resolved."""
    whole = schema_in(kind, vocabulary or invisiblebench())
    parts = list(_alternatives(whole, whole))
    for step in path:
        below = [inner for part in parts if (inner := _step(part, step)) is not None]
        parts = [each for inner in below for each in _alternatives(inner, whole)]
    return parts


def _alternatives(below: dict[str, Any], whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    below = _resolved(below, whole)
    yield below
    for option in below.get("anyOf", ()):
        yield from _alternatives(option, whole)


def _step(part: dict[str, Any], step: str | int) -> dict[str, Any] | None:
    found = part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step)
    found = part.get("additionalProperties") if found is None and isinstance(step, str) else found
    return found if isinstance(found, dict) else None


def written_keys(kind: str, root: Node) -> Iterator[WrittenKey]:
    """Every key of a document, in the order of the file, with what becomes of it."""
    yield from _written(kind, root, ())


def _written(kind: str, node: Node, path: tuple[str, ...]) -> Iterator[WrittenKey]:
    if isinstance(node, Mapping):
        for entry in node.entries:
            here = (*path, entry.name) if (*path, entry.name) in keys_of(kind) else (*path, EACH)
            here = here if here in keys_of(kind) else (*path, entry.name)
            yield WrittenKey((*path, entry.name), entry.key, key(kind, here))
            yield from _written(kind, entry.value, here)
    elif isinstance(node, List):
        for item in node:
            yield from _written(kind, item, (*path, EACH))


def _known(
    below: dict[str, Any], whole: dict[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Key]]:
    below = _resolved(below, whole)
    if "x-use" in below and path:
        routes = tuple(below.get("x-routes", ()))
        yield path, Key(below["x-use"], below.get("x-read-by", ""), routes, below.get("description", ""))
    for name, inner in below.get("properties", {}).items():
        yield from _known(inner, whole, (*path, name))
    extra = below.get("additionalProperties")
    if isinstance(extra, dict):
        use = below.get("x-use", "consumed")
        yield (*path, EACH), Key(use, below.get("x-read-by", ""), (), "a name of the author's own")
        yield from _known(extra, whole, (*path, EACH))
    if "items" in below:
        yield from _known(below["items"], whole, (*path, EACH))
    for option in below.get("anyOf", ()):
        yield from _known(option, whole, path)


def _resolved(below: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in below:
        return below
    target: dict[str, Any] = whole["$defs"][below["$ref"].removeprefix("#/$defs/")]
    return {**target, **{name: value for name, value in below.items() if name != "$ref"}}


def _is_free(kind: str, path: tuple[str, ...]) -> bool:
    """Whether anything may stand below `path`: it is documentation whose keys the schema does not list."""
    known = keys_of(kind)
    return known[path].use == "documentation" and not any(
        other[: len(path)] == path and len(other) > len(path) and other[len(path)] != EACH for other in known
    )
