"""Findings that say again what another one says of the same place: an author is told of a mistake once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic, Span

# A code, and those that say the same of a place with more help.
SAID_BETTER: Final[dict[str, frozenset[str]]] = {
    "condition-never-holds": frozenset({"gate-cannot-stop", "gate-check-never-applies", "part-without-checks"}),
    "branch-never-taken": frozenset({"branch-condition-incomplete"}),
    "id-differs-from-file-name": frozenset({"duplicate-id"}),
    "missing-path": frozenset({"unset-variable"}),
    "part-without-checks": frozenset({"gate-cannot-stop"}),
    "project-without-checks": frozenset({"missing-path", "unset-variable"}),
    "unknown-key": frozenset({"key-is-not-text"}),
    "unsupported-route": frozenset({"unknown-value"}),
    "yaml-trap": frozenset({"unknown-value", "wrong-type"}),
}


def without_echoes(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings without those that another one at the same place says better."""
    codes: dict[Span, set[str]] = {}
    for each in found:
        codes.setdefault(each.span, set()).add(each.code)
    return [each for each in found if not _is_echo(each, codes)]


def _is_echo(found: Diagnostic, codes: Mapping[Span, set[str]]) -> bool:
    if found.code == "missing-key":  # the key is there, misspelt
        return any("unknown-key" in codes.get(note.span, ()) for note in found.notes)
    return bool(codes[found.span] & SAID_BETTER.get(found.code, frozenset()))
