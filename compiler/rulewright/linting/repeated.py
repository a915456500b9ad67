"""Findings that need not be told: those that another one says better, those that one cause gives many times, and those
that depend on a document which can't be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, Note, Span, is_within

if TYPE_CHECKING:
    from rulewright.project import Project

# A code, and those that say the same of a place with more help.
SAID_BETTER: Final[dict[str, frozenset[str]]] = {
    "ascii-only-apostrophe": frozenset({"yaml-trap"}),
    "condition-never-holds": frozenset({"gate-cannot-stop", "gate-check-never-applies", "part-without-checks"}),
    "branch-never-taken": frozenset({"branch-condition-incomplete"}),
    "detector-is-not-routed": frozenset({"detector-without-definition"}),
    "id-differs-from-file-name": frozenset({"duplicate-id"}),
    "missing-path": frozenset({"unset-variable"}),
    "part-without-checks": frozenset({"gate-cannot-stop"}),
    "project-without-checks": frozenset({"missing-path", "unset-variable"}),
    "unknown-key": frozenset({"key-is-not-text"}),
    "unsupported-route": frozenset({"unknown-value"}),
    "yaml-trap": frozenset({"unknown-value", "wrong-type"}),
}


def without_echoes(found: Sequence[Diagnostic], allowed: Sequence[Diagnostic] = ()) -> list[Diagnostic]:
    """The findings without those that another one at the same place says better, be it `allowed` or not. A key that
    is missing is told beside an unknown one that is allowed: who allows it means another key."""
    own = _codes_by_place(found)
    codes = _codes_by_place((*found, *allowed))
    return [each for each in found if not _is_echo(each, own if each.code == "missing-key" else codes)]


def _codes_by_place(found: Iterable[Diagnostic]) -> dict[Span, set[str]]:
    codes: dict[Span, set[str]] = {}
    for each in found:
        codes.setdefault(each.span, set()).add(each.code)
    return codes


def _is_echo(found: Diagnostic, codes: Mapping[Span, set[str]]) -> bool:
    if found.code == "missing-key":  # the key is there, misspelt
        return any("unknown-key" in codes.get(note.span, ()) for note in found.notes)
    if found.code == "yaml-trap" and any(
        "bad-expression" in codes[span] for span in codes if is_within(span, found.span)
    ):
        return True
    return bool(codes[found.span] & SAID_BETTER.get(found.code, frozenset()))


# What is said of a project because of the documents that it has not, by the kind of document.
_DEPENDENT: Final[dict[str, str]] = {
    "blindspots": "gate-without-blindspot",
    "checks": """bucket-without-checks comment-contradicts-files count-contradicts-files empty-profile
        gate-without-blindspot part-without-checks project-without-checks prompt-names-another-check
        tag-no-check-looks-for unknown-check unused-lexicon unused-rule-set""",
    "corpora": "unknown-corpus",
    "lexicons": "detector-without-definition unknown-cue unknown-lexicon",
    "markers": "detector-without-definition unknown-marker-set",
    "profiles": "dev-repetitions-nobody-uses unknown-profile",
    "rules": "rule-nobody-has unknown-jurisdiction",
    "scenarios": """check-no-scenario-reaches comment-contradicts-files contrast-without-counterpart
        count-contradicts-files tag-no-scenario-carries unknown-scenario""",
    "scorecards": "unknown-scorecard",
    "scoring": "bucket-without-policy event-window-without-anchor unit-of-analysis-missing",
    "state_machines": "detector-without-definition state-machine-without-definition unknown-state-machine",
}
_OF_SCORECARDS: Final = frozenset({"bad-expression", "wrong-output"})  # where the scoring file can't be read


def without_dependent(found: Iterable[Diagnostic], project: Project) -> list[Diagnostic]:
    """The findings without those that a document of the project which can't be read might refute."""
    if not project.unreadable:
        return list(found)
    codes = {code for kind in project.unreadable for code in _DEPENDENT.get(kind, "").split()}
    cards = {card.path for card in project.scorecards.values()} if "scoring" in project.unreadable else set()
    return [
        each
        for each in found
        if each.code not in codes
        and not (each.code in _OF_SCORECARDS and each.span.path in cards)
        and not ("vocabulary" in project.unreadable and _is_of_vocabulary(each, project))
    ]


def _is_of_vocabulary(found: Diagnostic, project: Project) -> bool:
    """Whether a word outside of the project file is refused."""
    refused = found.code == "unknown-value" or found.message.startswith("unknown value `")
    return refused and found.span.path != str(project.path)


# Codes whose findings in one document have one cause: an anchor that was copied, a scheme of tags, a shared habit.
_CROWDED: Final = """
    anchor-names-ineligible-check anchor-without-event-window ascii-only-apostrophe comment-contradicts-files
    cue-text-not-in-turn dead-key event-window-without-anchor lexicon-misses-own-example pattern-shared-by-gates
    probe-expects-an-untold-name reference-to-missing-file retired-rubric-dialect several-anchors-for-check
    short-word-hits-inside-others subsumed-pattern tag-no-check-looks-for tag-no-scenario-carries unread-expectation
"""
CROWDS: Final = frozenset(_CROWDED.split())


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
