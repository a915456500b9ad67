"""Moves findings about several references to one unknown name to the definition that is misspelt."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rulewright.causes.repeated import NAMING
from rulewright.diagnostics import Diagnostic, Guess, Note, Span
from rulewright.load import Loaded, Node, Scalar, walk
from rulewright.load import Mapping as MappingNode
from rulewright.load import Sequence as SequenceNode

SEVERAL: Final = 2  # references that agree
DEFINED_UNDER: Final = {  # the keys of the names that documents define; others are those of files, or built in
    "unknown-agent": "agents",
    "unknown-artifact-type": "contracts",
    "unknown-dependency": "tasks",
    "unknown-source": "sources",
    "unknown-state": "states",
}


def at_definitions(found: Sequence[Diagnostic], files: Iterable[Loaded]) -> list[Diagnostic]:
    """Return the findings; several references to one unknown name are one finding at the definition that they are
    guessed to mean, if nothing refers to this by its own name."""
    roots = {each.source.path: each.root for each in files}
    groups: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for each in found:
        if isinstance(each.help, Guess) and each.code in DEFINED_UNDER:
            name = _named(each, roots.get(each.span.path))
            groups.setdefault((each.code, name, each.help.meant), []).append(each)
    moved: dict[Diagnostic, Diagnostic | None] = {}
    for (code, name, meant), group in groups.items():
        places = list(dict.fromkeys(each.span for each in group))
        several = name and len(places) >= SEVERAL
        definition = _unused_definition(meant, DEFINED_UNDER[code], [*roots.values()]) if several else None
        if definition is not None:
            message = f"nothing refers to `{meant}`, but {len(places)} places refer to `{name}`"
            notes = tuple(Note(place, "one of them" if at else "for instance") for at, place in enumerate(places))
            first = replace(group[0], span=definition, message=message, notes=notes, help=Guess(name), fix=None)
            moved |= {group[0]: first} | dict.fromkeys(group[1:])
    return [each for each in (moved.get(one, one) for one in found) if each is not None]


def _named(found: Diagnostic, root: Node | None) -> str:
    """The name at the place of a finding, without quotes."""
    return "" if root is None else root.source.between(found.span).strip("\"'")


def _unused_definition(name: str, key: str, roots: Sequence[Node | None]) -> Span | None:
    """The only definition of a name under a key of the documents; None if there are several, or if it is written
    elsewhere, but for the name of a document."""
    nodes = [each for root in roots for each in walk(root)]
    mappings = [each for each in nodes if isinstance(each, MappingNode)]
    defined = [each for node in mappings for each in _names(node.get(key), name)]
    own = {id(root.get(each)) for root in roots if isinstance(root, MappingNode) for each in NAMING}
    used = [each for each in nodes if isinstance(each, Scalar) and each.value == name and id(each) not in own]
    used += [entry.key for node in mappings for entry in node.entries if entry.name == name]
    return defined[0].span if len(defined) == 1 and used == defined else None


def _names(node: Node | None, name: str) -> Iterator[Scalar]:
    """The keys or items of a node that are this name."""
    if isinstance(node, MappingNode):
        yield from (entry.key for entry in node.entries if entry.name == name)
    elif isinstance(node, SequenceNode):
        yield from (each for each in node.items if isinstance(each, Scalar) and each.value == name)
