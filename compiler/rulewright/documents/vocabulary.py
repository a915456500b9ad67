"""The vocabulary of a project: buckets, severities, categories, scopes, tags, gate kinds and statuses.

InvisibleBench's is the default. A project declares its own under `vocabulary:`; schemas, the types of expressions,
completions, lint and reports then use it.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Findings, error
from rulewright.load import Mapping, Node, Scalar, Sequence, is_text
from rulewright.spelling import did_you_mean
from rulewright_grammar import schema as schema_of
from rulewright_runtime.english import ticked

if TYPE_CHECKING:
    from rulewright_runtime.plan.scan import PlugInFunction

Scope = Literal["universal", "trigger"]
SCOPES: Final[tuple[tuple[str, Scope], ...]] = (("trigger", "trigger"), ("universal", "universal"))
DEFAULT_NAME: Final = "invisiblebench"
ANY: Final = "any"  # the tag that matches every scenario


class GateKind(Struct, frozen=True):
    """A kind of gate check: the checks in its buckets with one of its severities."""

    name: str
    buckets: tuple[str, ...]
    severities: tuple[str, ...]


class Vocabulary(Struct, frozen=True):
    """The words a project may use, and its functions; `severities` has the mildest first. Empty `tags` or
    `statuses` allow any word."""

    name: str
    buckets: tuple[str, ...]
    severities: tuple[str, ...]
    categories: tuple[str, ...]
    scopes: tuple[tuple[str, Scope], ...] = SCOPES
    tags: tuple[str, ...] = ()
    gates: tuple[GateKind, ...] = ()
    statuses: tuple[str, ...] = ()
    functions: tuple[tuple[str, PlugInFunction], ...] = ()  # of the plug-ins that the project names

    @property
    def gate_buckets(self) -> frozenset[str]:
        return frozenset(bucket for kind in self.gates for bucket in kind.buckets)

    @property
    def gate_severities(self) -> frozenset[str]:
        return frozenset(severity for kind in self.gates for severity in kind.severities)

    def is_gate(self, bucket: str, severity: str) -> bool:
        """Whether a check of that bucket and severity is a gate check."""
        return any(bucket in kind.buckets and severity in kind.severities for kind in self.gates)

    def is_universal(self, scope: str) -> bool:
        """Whether a check of that scope applies everywhere."""
        return dict(self.scopes).get(scope) == "universal"

    def with_words_of(self, other: Vocabulary) -> Vocabulary:
        """The vocabulary with the buckets, severities, categories, tags and statuses of another one as well."""
        words = {
            part: tuple(dict.fromkeys((*own, *more))) if own and more else ()  # an empty part allows any word
            for part in ("buckets", "severities", "categories", "tags", "statuses")
            for own, more in [(self.words(part), other.words(part))]
        }
        return replace(self, **words)

    def words(self, part: str) -> tuple[str, ...]:
        """The words of a part of the vocabulary, by the name used in schemas."""
        if part == "scopes":
            return tuple(word for word, _ in self.scopes)
        found: tuple[str, ...] = getattr(self, part)
        return found


def _enum(*path: str) -> tuple[str, ...]:
    below: Any = schema_of(path[0])
    for step in path[1:]:
        below = below["properties"][step]
    return tuple(below["enum"])


@cache
def invisiblebench() -> Vocabulary:
    """The shipped default, as in the schemas."""
    grave = ("S5", "S4_GATE")
    return Vocabulary(
        DEFAULT_NAME,
        buckets=_enum("check", "primary_bucket"),
        severities=_enum("check", "severity"),
        categories=_enum("scenario", "category"),
        gates=(GateKind("safety", ("A",), grave), GateKind("compliance", ("B",), grave)),
    )


def read_vocabulary(node: Node | None, name: str) -> Vocabulary:
    """The vocabulary that a project file declares. Parts that it leaves out are InvisibleBench's, except the kinds of
    gate: with its own buckets or severities, there are none."""
    default = invisiblebench()
    if not isinstance(node, Mapping):
        return default
    own = bool({"buckets", "severities"} & set(node.index))
    gates = _gates(node.get("gates")) if "gates" in node.index else () if own else default.gates
    return Vocabulary(
        f"own of {name}",
        buckets=_words(node.get("buckets")) or default.buckets,
        severities=_words(node.get("severities")) or default.severities,
        categories=_words(node.get("categories")) or default.categories,
        scopes=tuple(dict([*default.scopes, *_scopes(node.get("scopes"))]).items()),
        tags=_words(node.get("tags")),
        gates=gates,
        statuses=_words(node.get("statuses")),
    )


def vocabulary_findings(node: Node | None, vocabulary: Vocabulary) -> Findings:
    """Findings for kinds of gate that name an undeclared bucket or severity."""
    gates = node.get("gates") if isinstance(node, Mapping) else None
    for kind in gates.entries if isinstance(gates, Mapping) else ():
        for part in ("buckets", "severities"):
            listed = kind.value.get(part) if isinstance(kind.value, Mapping) else None
            known = vocabulary.words(part)
            is_refused = isinstance(node, Mapping) and part in node and not _words(node.get(part))
            for item in listed.items if isinstance(listed, Sequence) and not is_refused else ():
                if is_text(item) and item.value not in known:
                    message = f"unknown `{item.value}` in the vocabulary's {part}; expected {ticked(known)}"
                    yield error(item, message, code="unknown-value", help=did_you_mean(item.text, known))


@cache
def schema_in(kind: str, vocabulary: Vocabulary) -> dict[str, Any]:
    """The schema `kind` with the vocabulary's words at its `x-vocabulary` keys."""
    if vocabulary == invisiblebench():
        return schema_of(kind)
    document = deepcopy(schema_of(kind))
    _reword(document, vocabulary)
    return document


def _reword(part: object, vocabulary: Vocabulary) -> None:
    if isinstance(part, list):
        for each in part:
            _reword(each, vocabulary)
    elif isinstance(part, dict):
        name = part.get("x-vocabulary")
        if isinstance(name, str) and (words := vocabulary.words(name)):
            own = [*words, ANY] if name == "tags" else list(words)
            if part.get("enum") != own:
                part.pop("x-meanings", None)  # of the shipped words
            part["enum"] = own
        for each in part.values():
            _reword(each, vocabulary)


def _words(node: Node | None) -> tuple[str, ...]:
    found = node.items if isinstance(node, Sequence) else ()
    return tuple(item.text for item in found if isinstance(item, Scalar))


def _scopes(node: Node | None) -> list[tuple[str, Scope]]:
    entries = node.entries if isinstance(node, Mapping) else ()
    values = [(entry.name, entry.value.value) for entry in entries if isinstance(entry.value, Scalar)]
    return [(word, "universal" if value == "universal" else "trigger") for word, value in values]


def _gates(node: Node | None) -> tuple[GateKind, ...]:
    entries = node.entries if isinstance(node, Mapping) else ()
    kinds = [
        GateKind(entry.name, _words(entry.value.get("buckets")), _words(entry.value.get("severities")))
        for entry in entries
        if isinstance(entry.value, Mapping)
    ]
    return tuple(kind for kind in kinds if kind.buckets and kind.severities)
