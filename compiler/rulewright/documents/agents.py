"""The registry of agents: six built-in ones, a folder of files, and the entries of a workflow."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import Document, items, text
from rulewright.documents.rule_set import deep_merge
from rulewright.documents.typed_reader import Key, entries_of, read, read_each
from rulewright.load import Mapping, Node, plain
from rulewright.spelling import did_you_mean
from rulewright_runtime.strict_json import JsonObject

# The six built-in roles.
USUAL: Final[dict[str, tuple[str, str]]] = {
    "ba": ("Business Analyst", "Turns needs into requirements that can be checked."),
    "architect": ("Architect", "Shapes the system and decides what its parts promise each other."),
    "pe": ("Principal Engineer", "Breaks the architecture down into components and interfaces."),
    "le": ("Lead Engineer", "Plans the work and keeps the code in one piece."),
    "dev": ("Developer", "Writes code and its tests."),
    "reviewer": ("Reviewer", "Judges the work of others against what was asked for."),
}


class AgentDocument(Document, frozen=True, eq=False):
    """An agent as described by one file or one entry of a workflow, without inherited fields."""

    name: Key
    extends: str


class Registry(Struct, frozen=True):
    """The known agents by name: their merged fields as plain data. `broken` names agents that exist but
    can't be resolved, so that they are reported once."""

    agents: dict[str, JsonObject] = {}
    broken: frozenset[str] = frozenset()

    def __contains__(self, name: str) -> bool:
        return name in self.agents or name in self.broken

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, sorted."""
        return tuple(sorted({*self.agents, *self.broken}))


def read_agent(node: Mapping, name: str) -> AgentDocument:
    """The model of an agent's mapping; `name` is the file's stem or the mapping's key."""
    return read(AgentDocument, node, name=text(node, "name") or name)


def _declared_wrongly(node: Node | None) -> Iterator[str]:
    """The names of agents that a workflow declares in a wrong form: a list, a text, or a name without a mapping."""
    if isinstance(node, Mapping):
        yield from (name for name, each in entries_of(node) if not isinstance(plain(each), dict | None))
    for each in (node, *items(node)):
        yield from filter(None, (text(each), text(each, "name") if isinstance(each, Mapping) else ""))


def registry(
    files: Iterable[AgentDocument], declared: Node | None, found: list[Diagnostic], *, usual: bool = True
) -> Registry:
    """The built-in agents, overridden by those in `files`, overridden by those that a workflow has `declared`.

    `extends` merges field by field: fields of the extending agent win. An entry with the name of a known agent
    that extends nothing replaces that agent. Findings about agents that can't be resolved are added to `found`.
    """
    entries = tuple(read_each(AgentDocument, declared))
    known = _Merge(_usual() if usual else {}, tuple(files), entries, found).registry()
    return replace(known, broken=known.broken.union(_declared_wrongly(declared)))


@cache
def _usual() -> dict[str, dict[str, object]]:
    return {
        name: {"name": name, "display_name": shown, "role": {"description": words}}
        for name, (shown, words) in USUAL.items()
    }


@dataclass(slots=True)
class _Merge:
    usual: dict[str, JsonObject]
    files: tuple[AgentDocument, ...]
    entries: tuple[AgentDocument, ...]
    found: list[Diagnostic]
    known: dict[str, list[AgentDocument]] = field(default_factory=dict)  # the nearest description is last
    merged: dict[str, JsonObject | None] = field(default_factory=dict)

    def registry(self) -> Registry:
        for document in (*self.files, *self.entries):
            self.known.setdefault(document.name, []).append(document)
        for name in self.known:
            self.resolve(name, ())
        agents = {**self.usual, **{name: fields for name, fields in self.merged.items() if fields is not None}}
        broken = frozenset(name for name, fields in self.merged.items() if fields is None)
        return Registry(agents, broken)

    def resolve(self, name: str, heirs: tuple[str, ...]) -> dict[str, object] | None:
        """The merged fields of an agent, or None if it can't be resolved; each finding is reported once."""
        if name not in self.known:
            return self.usual.get(name)
        if name not in self.merged:
            self.merged[name] = self.resolved(name, heirs)
        return self.merged[name]

    def resolved(self, name: str, heirs: tuple[str, ...]) -> dict[str, object] | None:
        fields = self.usual.get(name, {})
        for document in self.known[name]:
            if document.extends == name and not fields:
                message = f"agent `{name}`: `extends` names the agent itself"
                self.found.append(error(document.place("extends"), message, code="extends-cycle"))
                return None
            if document.extends and document.extends != name:
                parent = self.parent(document, (*heirs, name))
                if parent is None:
                    return None
                fields = parent
            own: JsonObject = plain(document.node)
            own.pop("extends", None)
            fields = {**deep_merge(fields, own), "name": name}
        last = self.known[name][-1]
        role = fields.get("role")
        if not isinstance(role, dict) or not isinstance(role.get("description"), str) or not role["description"]:
            key = "role" if "role" in last.node else next(iter(last.node.keys), "")  # an empty agent has no key
            message = f"agent `{name}`: `role.description` is missing"
            self.found.append(error(last.node.key_span(key), message, code="agent-without-description"))
            return None
        return fields

    def parent(self, document: AgentDocument, heirs: tuple[str, ...]) -> JsonObject | None:
        wanted = document.extends
        place = document.place("extends")
        if wanted in heirs:
            line = " -> ".join((*heirs[heirs.index(wanted) :], wanted))
            message = f"agent `{document.name}`: `extends` leads back to itself: {line}"
            self.found.append(error(place, message, code="extends-cycle"))
            return None
        fields = self.resolve(wanted, heirs)
        if fields is None and wanted not in self.known:
            message = f"agent `{document.name}`: `extends` names `{wanted}`, which does not exist"
            hint = did_you_mean(wanted, {*self.known, *self.usual})
            self.found.append(error(place, message, code="agent-extends-nothing", help=hint))
        return fields
