"""A jurisdiction's rule set: a mapping that may extend that of another file."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import no_mapping, scalar
from rulewright.documents.layout import documents_in
from rulewright.load import Loaded, Mapping, Node, load_file, plain
from rulewright.spelling import did_you_mean
from rulewright_runtime.strict_json import JsonObject

EXTENDS: Final = "extends"


class RuleSets(Struct, frozen=True):
    """The merged rule sets by name, the span of each value, and the findings about their files."""

    merged: dict[str, JsonObject]
    origins: dict[str, dict[tuple[str, ...], Node]]
    loaded: tuple[Loaded, ...]
    diagnostics: tuple[Diagnostic, ...]


def load_rule_sets(folder: Path) -> RuleSets:
    """Every rule set of a folder by its file's stem, merged with those that it extends.

    Mappings merge deeply, lists and scalars are replaced, and `extends` itself is left out. A set with an invalid
    `extends` is left out and reported.
    """
    reader = _RuleSetReader()
    merged, origins = {}, {}
    for path in documents_in(folder):
        whole = reader.merged(path, ())
        if whole is not None:
            merged[path.stem], origins[path.stem] = whole
    found = tuple(sorted(reader.found, key=lambda found: found.sort_key))
    return RuleSets(merged, origins, tuple(loaded for loaded in reader.files.values()), found)


@dataclass(slots=True)
class _RuleSetReader:
    files: dict[str, Loaded] = field(default_factory=dict)
    found: list[Diagnostic] = field(default_factory=list)

    def merged(self, path: Path, below: tuple[str, ...]) -> tuple[JsonObject, dict[tuple[str, ...], Node]] | None:
        """The rule set of a file with everything it inherits, and the spans of its values; `below` are the files that
        extend it."""
        name = os.path.normpath(path)
        root = self._root(name)
        if not isinstance(root, Mapping):
            return None
        own: JsonObject = {key: value for key, value in plain(root).items() if key != EXTENDS}
        places = {path: node for path, node in _values(root, ()) if path != (EXTENDS,)}
        parent = scalar(root, EXTENDS)
        if parent is None:
            return own, places
        target = os.path.normpath(Path(name).parent / parent.text)
        if target in (*below, name):
            message = f"`{parent.value}` extends this file in turn"
            if not any(each.code == "extends-cycle" and each.span.path in (*below, name) for each in self.found):
                self._report(error(parent, message, code="extends-cycle"))
            return None
        if not dependencies.is_file(target):
            names = [each for each, _ in dependencies.names_in(Path(name).parent)]
            help = did_you_mean(parent.text, names)
            message = f"file to extend not found: `{parent.value}`"
            self._report(error(parent, message, code="extends-nothing", help=help))
            return None
        inherited = self.merged(Path(target), (*below, name))
        if inherited is None:
            return None
        kept = {path: node for path, node in inherited[1].items() if not _replaced(path, places)}
        return deep_merge(inherited[0], own), {**kept, **places}

    def _root(self, name: str) -> object:
        if name not in self.files:
            loaded = self.files[name] = load_file(name)
            self.found.extend(loaded.diagnostics)
            if not isinstance(loaded.root, Mapping) and not loaded.diagnostics:
                self.found.append(no_mapping(loaded, "a rule set"))
        return self.files[name].root

    def _report(self, found: Diagnostic) -> None:
        if found not in self.found:
            self.found.append(found)


def _values(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every value below a mapping that is not a mapping, with its path; lists are values."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield from _values(entry.value, (*path, entry.name))
    else:
        yield path, node


def _replaced(path: tuple[str, ...], places: dict[tuple[str, ...], Node]) -> bool:
    """Whether a value is replaced by one at its path, at a parent of its path, or by a mapping."""
    return any(path[: len(other)] == other or other[: len(path)] == path for other in places)


def deep_merge(base: dict[str, object], over: dict[str, object]) -> dict[str, object]:
    """`base` overridden by `over`: mappings merge key by key, other values are replaced."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = deep_merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
