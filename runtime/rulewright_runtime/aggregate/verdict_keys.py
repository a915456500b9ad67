"""Cache keys of verdicts: the fields that decide a verdict's effect, so that each effect is computed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from rulewright_runtime.ir import Node, Program
from rulewright_runtime.verdicts import VerdictRecord

EMPTY: Final[Mapping[str, Any]] = {"evidence": (), "secondary_tags": (), "extra": {}}
UNHASHABLE: Final = frozenset(EMPTY)
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_FIELD_READERS: Final = frozenset({"select", "opt_select", "has"})


class VerdictKey:
    """Computes a key that is equal for verdicts with equal effects; None if the verdict can't be cached."""

    def __init__(self, read: Iterable[str], programs: Iterable[Program]) -> None:
        """`read` names the fields of a verdict that the `programs` may read."""
        self._fields = attrgetter(*sorted(frozenset(read) - UNHASHABLE))
        self._extra = fields_of_extra(programs)
        bulky = UNHASHABLE.intersection(read)
        self._bulky = sorted(bulky if self._extra is None else bulky - {"extra"})

    def __call__(self, verdict: VerdictRecord) -> tuple[Any, ...] | None:
        """The key of a verdict, or None."""
        for name in self._bulky:
            if getattr(verdict, name, None) != EMPTY[name]:
                return None
        key: tuple[Any, ...] = self._fields(verdict)
        if not self._extra:
            return key
        extra = getattr(verdict, "extra", None) or {}
        for name in self._extra:
            if name in extra:
                value = extra[name]
                if type(value) not in _SCALARS:
                    return None
                key = (*key, name, type(value), value)
        return key


def fields_of_extra(programs: Iterable[Program]) -> list[str] | None:
    """The fields of `v.extra` that the programs read, sorted; None if they may use it, or `v`, as a whole."""
    read: set[str] = set()
    for program in programs:
        fields = _fields_of_extra(program.nodes)
        if fields is None:
            return None
        read |= fields
    return sorted(read)


def _fields_of_extra(nodes: Sequence[Node]) -> set[str] | None:
    # `v` and `v.extra` may occur only as the operand of a field access. As any other argument, or as the result, every
    # field of them may matter; the same holds for a name that could mean `v` or something else.
    verdicts = {at for at, node in enumerate(nodes) if node.op == "name" and _may_be_verdict(node)}
    extras = {at for at, node in enumerate(nodes) if node.op == "select" and node.value == "extra"}
    whole = {at for node in nodes if node.op not in _FIELD_READERS for at in node.args} | {len(nodes) - 1}
    if whole & (verdicts | extras) or any(nodes[at].value != [["v", []]] for at in verdicts):
        return None
    return {node.value for node in nodes if node.op in _FIELD_READERS and extras.intersection(node.args)}


def _may_be_verdict(node: Node) -> bool:
    return any(name.partition(".")[0] == "v" for name, _ in node.value)
