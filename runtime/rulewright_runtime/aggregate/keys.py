"""Keys: what of a verdict decides what it adds to a row, so that equal verdicts are worked out once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.ir import Node, Program

if TYPE_CHECKING:
    from rulewright_runtime.verdicts import VerdictRecord

EMPTY: Final[Mapping[str, Any]] = {"evidence": (), "secondary_tags": (), "extra": {}}
UNHASHABLE: Final = frozenset(EMPTY)
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_FIELD_READERS: Final = frozenset({"select", "opt_select", "has"})


class VerdictKey:
    """Equal for verdicts of which programs read the same; None where that can't be told."""

    def __init__(self, read: Iterable[str], programs: Iterable[Program]) -> None:
        """`read` names the fields of a verdict that the `programs` may read."""
        self._fields = attrgetter(*sorted(frozenset(read) - UNHASHABLE))
        self._extra = fields_of_extra(programs)
        bulky = UNHASHABLE.intersection(read)
        self._bulky = sorted(bulky if self._extra is None else bulky - {"extra"})

    def __call__(self, verdict: VerdictRecord) -> tuple[Any, ...] | None:
        """The key of a verdict."""
        for name in self._bulky:
            if getattr(verdict, name, None) != EMPTY[name]:
                return None
        found: tuple[Any, ...] = self._fields(verdict)
        extra = getattr(verdict, "extra", None)
        if not self._extra or not extra:
            return found
        for name in self._extra:
            if name in extra:
                value = extra[name]
                if type(value) not in _SCALARS:
                    return None
                found = (*found, name, type(value), value)
        return found


def fields_of_extra(programs: Iterable[Program]) -> list[str] | None:
    """The fields of `v.extra` that the programs read; None where they may read it, or `v`, in another way."""
    found: set[str] = set()
    for program in programs:
        fields = _fields_of_extra(program.nodes)
        if fields is None:
            return None
        found |= fields
    return sorted(found)


def _fields_of_extra(nodes: Sequence[Node]) -> set[str] | None:
    # `v` and `v.extra` may stand only under a field that is read. As an argument of anything else, or as the result,
    # all of them may matter; so they may where a name could mean `v` or something else.
    verdicts = {at for at, node in enumerate(nodes) if node.op == "name" and _may_be_verdict(node)}
    extras = {at for at, node in enumerate(nodes) if node.op == "select" and node.value == "extra"}
    whole = {at for node in nodes if node.op not in _FIELD_READERS for at in node.args} | {len(nodes) - 1}
    if whole & (verdicts | extras) or any(nodes[at].value != [["v", []]] for at in verdicts):
        return None
    return {node.value for node in nodes if node.op in _FIELD_READERS and extras.intersection(node.args)}


def _may_be_verdict(node: Node) -> bool:
    return any(name.partition(".")[0] == "v" for name, _ in node.value)
