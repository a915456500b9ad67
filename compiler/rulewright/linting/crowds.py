"""Findings that come in crowds: one cause in one document is told once, with a count and its further places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rulewright.diagnostics import Diagnostic, Note

# Codes whose findings in one document have one cause: an anchor that was copied, a scheme of tags, a shared habit.
_CODES: Final = """
    anchor-names-ineligible-check anchor-without-event-window ascii-only-apostrophe comment-contradicts-files
    cue-text-not-in-turn dead-key event-window-without-anchor lexicon-misses-own-example pattern-shared-by-gates
    probe-expects-an-untold-name reference-to-missing-file retired-rubric-dialect several-anchors-for-check
    short-word-hits-inside-others subsumed-pattern tag-no-check-looks-for tag-no-scenario-carries
"""
CROWDS: Final = frozenset(_CODES.split())


def together(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings in their order; of a crowd, its first finding with the others as notes."""
    crowds: dict[object, list[Diagnostic]] = {}
    for number, each in enumerate(found):
        alone = each.code not in CROWDS or each.fix is not None
        cause = (each.span.path, each.code, each.severity, each.help)
        crowds.setdefault(number if alone else cause, []).append(each)
    return [_one_of(crowd) for crowd in crowds.values()]


def _one_of(crowd: list[Diagnostic]) -> Diagnostic:
    first, *others = crowd
    if not others:
        return first
    more = f" (and {len(others)} more {'place' if len(others) == 1 else 'places'} in this document)"
    notes = [Note(each.span, "here as well" if each.message == first.message else each.message) for each in others]
    return replace(first, message=first.message + more, notes=(*first.notes, *notes))
