"""Every key of every document: whether and by what it is consumed, or whether it is documentation."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from rulewright.documents.vocabulary import Vocabulary, invisiblebench, schema_in
from rulewright_grammar import schema, schema_names
from rulewright_runtime.english import ticked
from rulewright_runtime.strict_json import JsonObject

Use = Literal["consumed", "documentation", "unknown"]
EACH: Final = "*"  # stands for every item of a list and every key with a name of the author's choice
DOCUMENTS: Final = {
    "check": "checks",
    "lexicon": "lexicons",
    "markers": "marker sets",
    "state_machine": "state machines",
    "corpus": "reference corpora",
    "scenario": "scenarios",
    "profile": "scan profiles",
    "scorecard": "scorecards",
    "case_scorecard": "scorecards over cases",
    "scoring": "the scoring file",
    "project": "the project file",
    "workflow": "workflows",
    "agent": "agents",
    "contracts": "contract registries",
}


class Key(Struct, frozen=True):
    """The use of a key: `read_by` names the stage that reads it, `routes` the routes that do (empty: all), `words` the
    values that it takes (empty: any), unless the project's vocabulary has others under the key `vocabulary`."""

    use: Use
    read_by: str = ""
    routes: tuple[str, ...] = ()
    description: str = ""
    words: tuple[str, ...] = ()
    vocabulary: str = ""

    def about(self) -> str:
        """The description, with the allowed words that it does not mention itself."""
        if set(re.findall(r"\w+", self.description)).issuperset(self.words):
            return self.description
        others = f", or those of `vocabulary.{self.vocabulary}`" if self.vocabulary else ""
        return f"{self.description}; allowed: {ticked(self.words)}{others}"


@cache
def keys_of(kind: str) -> dict[tuple[str, ...], Key]:
    """Every key in the schema `kind`, by its path (`("routing", "route")`; `*` stands for items and free names); none
    of a kind without a schema, such as test cases."""
    whole = schema(kind) if kind in schema_names() else {}
    return dict(_known(whole, whole, ()))


def key(kind: str, path: tuple[str, ...]) -> Key:
    """The use of the key at `path` in a document of that kind; keys below a free-form key share its use."""
    known = keys_of(kind)
    for length in range(len(path), 0, -1):
        found = known.get(path[:length])
        if found is not None and (length == len(path) or _is_free(kind, path[:length])):
            return found
    return Key("unknown")


def keys_named(name: str) -> Iterator[tuple[str, str, Key]]:
    """The keys of documents whose paths end in `name`, which may begin with a kind of document (`check.routing`), or
    that are of this kind: the documents, the path, its use."""
    wanted = [part for part in name.replace("[]", "").split(".") if part != "NAME"]
    for kind, title in DOCUMENTS.items():
        for path, found in keys_of(kind).items():
            named = [kind, *(part for part in path if part != EACH)]
            if kind == name or (path[-1] != EACH and named[-len(wanted) :] == wanted):
                yield title, written_path(kind, path), found


def keys_below(name: str) -> Iterator[tuple[str, str, Key]]:
    """The keys directly below those that `keys_named` gives; those that several have in common only once."""
    seen: set[tuple[str, str]] = set()
    for title, above, _ in [*keys_named(name)]:
        kind = next(each for each, its in DOCUMENTS.items() if its == title)
        for path, found in keys_of(kind).items():
            parent = written_path(kind, path[:-1]).removesuffix("[]").removesuffix(".NAME")
            if path[-1] == EACH or parent != above or (path[-1], found.description) in seen:
                continue
            seen.add((path[-1], found.description))
            yield title, written_path(kind, path), found


def key_names() -> frozenset[str]:
    """The names of all keys of documents."""
    return frozenset(path[-1] for kind in DOCUMENTS for path in keys_of(kind) if path[-1] != EACH)


def written_path(kind: str, path: tuple[str, ...]) -> str:
    """A path as documentation shows it: `[]` for the items of a list, `NAME` for a key that the author names."""
    written = ""
    for number, part in enumerate(path, 1):
        if part == EACH and path[:number] not in keys_of(kind):
            written += "[]"
        else:
            written += ("." if written else "") + ("NAME" if part == EACH else part)
    return written


def allowed(kind: str, path: Sequence[str | int], vocabulary: Vocabulary | None = None) -> list[JsonObject]:
    """What the schema `kind` allows at a path of a document, with the words of a vocabulary: every alternative, with
    its references resolved."""
    whole = schema_in(kind, vocabulary or invisiblebench())
    parts = list(_alternatives(whole, whole))
    for step in path:
        below = [inner for part in parts if (inner := _step(part, step)) is not None]
        parts = [each for inner in below for each in _alternatives(inner, whole)]
    return parts


def _alternatives(below: JsonObject, whole: JsonObject) -> Iterator[JsonObject]:
    below = _resolved(below, whole)
    yield below
    for option in below.get("anyOf", ()):
        yield from _alternatives(option, whole)


def _step(part: JsonObject, step: str | int) -> JsonObject | None:
    found = part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step)
    found = part.get("additionalProperties") if found is None and isinstance(step, str) else found
    return found if isinstance(found, dict) else None


def _known(below: JsonObject, whole: JsonObject, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Key]]:
    below = _resolved(below, whole)
    if "x-use" in below and path:
        routes, parts = tuple(below.get("x-routes", ())), list(_with_items(below, whole))
        words = tuple(str(word) for part in parts for word in part.get("enum", ()) if word is not None)
        own = next((part["x-vocabulary"] for part in parts if "x-vocabulary" in part), "") if words else ""
        yield path, Key(below["x-use"], below.get("x-read-by", ""), routes, below.get("description", ""), words, own)
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


def _with_items(below: JsonObject, whole: JsonObject) -> Iterator[JsonObject]:
    """What a key takes, and the items of its list."""
    for part in _alternatives(below, whole):
        yield part
        if "items" in part:
            yield from _with_items(part["items"], whole)


def _resolved(below: JsonObject, whole: JsonObject) -> JsonObject:
    if "$ref" not in below:
        return below
    home, _, name = below["$ref"].partition("#/$defs/")
    document = schema(home.removesuffix(".schema.json")) if home else whole
    target: JsonObject = document["$defs"][name] if name else document
    return {**target, **{name: value for name, value in below.items() if name != "$ref"}}


def _is_free(kind: str, path: tuple[str, ...]) -> bool:
    """Whether any key is allowed below `path`: it is documentation whose keys the schema does not list."""
    known = keys_of(kind)
    return known[path].use == "documentation" and not any(
        other[: len(path)] == path and len(other) > len(path) and other[len(path)] != EACH for other in known
    )
