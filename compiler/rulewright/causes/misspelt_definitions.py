"""Moves findings about several references to one unknown name to the definition that is misspelt."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from rulewright.causes.repeated import NAMING
from rulewright.diagnostics import Diagnostic, Guess, Note, Span
from rulewright.load import Loaded, Node, Scalar, walk
from rulewright.load import Mapping as MappingNode

SEVERAL: Final = 2  # references that agree


def at_definitions(found: Sequence[Diagnostic], files: Iterable[Loaded]) -> list[Diagnostic]:
    """Return the findings; several references to one unknown name are one finding at the definition that they are
    guessed to mean, if nothing refers to this by its own name."""
    roots = {each.source.path: each.root for each in files}
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for each in found:
        if isinstance(each.help, Guess) and each.code.startswith("unknown-") and each.code != "unknown-key":
            name = _named(each, roots.get(each.span.path))
            groups.setdefault((name, each.help.meant), []).append(each)
    moved: dict[Diagnostic, Diagnostic | None] = {}
    for (name, meant), group in groups.items():
        places = list(dict.fromkeys(each.span for each in group))
        definition = _only_place_of(meant, roots.values()) if name and len(places) >= SEVERAL else None
        if definition is not None:
            message = f"nothing refers to `{meant}`, but {len(places)} places to `{name}`"
            notes = tuple(Note(place, "one of them" if at else "for instance") for at, place in enumerate(places))
            first = replace(group[0], span=definition, message=message, notes=notes, help=Guess(name), fix=None)
            moved |= {group[0]: first} | dict.fromkeys(group[1:])
    return [each for each in (moved.get(one, one) for one in found) if each is not None]


def _named(found: Diagnostic, root: Node | None) -> str:
    """The name at the place of a finding, without quotes."""
    return "" if root is None else root.source.between(found.span).strip("\"'")


def _only_place_of(name: str, roots: Collection[Node | None]) -> Span | None:
    """The only key or text of the documents that is a name; None if there are several. Where a document has this name,
    only a key may define something else."""
    own = {id(root.get(key)) for root in roots if isinstance(root, MappingNode) for key in NAMING}
    keys, texts = list[Scalar](), list[Scalar]()
    for node in (each for root in roots for each in walk(root)):
        if isinstance(node, MappingNode):
            keys += (entry.key for entry in node.entries if entry.name == name)
        elif isinstance(node, Scalar) and node.value == name:
            texts.append(node)
    referring = [each for each in texts if id(each) not in own]
    written = keys or (referring if referring == texts else [])
    return written[0].span if len(written) == 1 and len(keys) + len(referring) == 1 else None
