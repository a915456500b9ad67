"""Findings that need not be told: those that another one says better, those that one cause gives many times, and those
that depend on a document which can't be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, Note, Span, is_within
from rulewright.spelling import Guess

if TYPE_CHECKING:
    from rulewright.project import Project

# A code, and those that say the same of a place with more help.
SAID_BETTER: Final[dict[str, frozenset[str]]] = {
    "ascii-only-apostrophe": frozenset({"yaml-trap"}),
    "condition-always-holds": frozenset({"both-sides-equal"}),
    "condition-never-holds": frozenset(
        {"both-sides-equal", "gate-cannot-stop", "gate-check-never-applies", "part-without-checks"}
    ),
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
DEPENDENT: Final[dict[str, str]] = {
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
    codes = {code for kind in project.unreadable for code in DEPENDENT.get(kind, "").split()}
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
    return "unknown-value" in (found.code, found.about) and found.span.path != str(project.path)


# Codes whose findings in one document have one cause: an anchor that was copied, a scheme of tags, a shared habit.
_CROWDED: Final = """
    adaptive-with-one-repetition anchor-names-ineligible-check ascii-only-apostrophe
    comment-contradicts-files cue-text-not-in-turn event-window-without-anchor lexicon-misses-own-example
    pattern-shared-by-gates probe-expects-an-untold-name reference-to-missing-file retired-rubric-dialect
    several-anchors-for-check short-word-hits-inside-others subsumed-pattern tag-no-check-looks-for
    tag-no-scenario-carries unread-expectation
"""
CROWDS: Final = frozenset(_CROWDED.split())
# Codes whose findings in all documents have one cause where they say the same: a key that nobody reads, a dimension
# that nobody knows, a word that the vocabulary lacks, a check whose unit uses no anchor.
ALIKE: Final = frozenset(
    (
        "anchor-without-event-window",
        "dead-key",
        "event-window-without-anchor",
        "rubric-dimension-unknown",
        "unknown-value",
    )
)
# And those that are copied with their words: a tag of a family of checks, a probe of the variants of a scenario.
COPIED: Final = frozenset({"probe-expects-an-untold-name", "tag-no-scenario-carries"})
SAME: Final = frozenset({"bad-expression", "unknown-state"})  # as `ALIKE`, in one document
# And those that have it whatever they say: a line that the profiles lack, a habit of all prompts.
ACROSS: Final = ALIKE | {"dev-repetitions-nobody-uses", "prompt-names-another-check"}
# A code, and those that tell of the same mistake where one of its notes points, or at its own place.
TOLD_WITH: Final[dict[str, frozenset[str]]] = {
    "any-mixed-with-tags": frozenset({"tags-on-universal-check"}),
    "deprecated-spelling": frozenset({"retired-rubric-dialect"}),
    "detector-without-definition": frozenset({"state-machine-without-definition", "unknown-lexicon"}),
    "tag-no-scenario-carries": frozenset({"tags-on-universal-check"}),
}


def together(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings in their order; of those with one cause the first, with the others as notes."""
    leaders = {(each.code, each.span): each for each in found}
    crowds: dict[object, list[Diagnostic]] = {}
    joining: list[tuple[Diagnostic, Diagnostic]] = []
    for each in found:
        leader = _leader(each, leaders)
        if leader is None:
            crowds.setdefault(_cause(each), []).append(each)
        else:
            joining.append((leader, each))
    for leader, each in joining:
        crowds[_cause(leader)].append(each)
    return [_one_of(crowd) for crowd in _without_copies(crowds.values())]


def _without_copies(crowds: Iterable[list[Diagnostic]]) -> list[list[Diagnostic]]:
    """The crowds, those that only say again what an earlier one says as a part of that one."""
    kept: list[list[Diagnostic]] = []
    for crowd in crowds:
        said = {(each.code, each.message) for each in crowd}
        same = [other for other in kept if other[0].code == crowd[0].code in COPIED]
        earlier = next((other for other in same if said <= {(each.code, each.message) for each in other}), None)
        if earlier is None:
            kept.append(crowd)
        else:
            earlier += crowd
    return kept


def _leader(found: Diagnostic, leaders: Mapping[tuple[str, Span], Diagnostic]) -> Diagnostic | None:
    """The finding that tells of the same mistake first; None where a finding has a fix of its own."""
    if found.fix is not None:
        return None
    spans = (*(note.span for note in found.notes), found.span)
    codes = TOLD_WITH.get(found.code, frozenset())
    return next((leaders[code, span] for span in spans for code in codes if (code, span) in leaders), None)


def _cause(found: Diagnostic) -> object:
    """What all findings of one cause have in common."""
    if found.fix is None and found.code in ACROSS:
        return found.code, found.severity, found.message if found.code in ALIKE else None
    if found.fix is None and found.code in SAME:
        return found.span.path, found.code, found.message, found.help
    if found.fix is None and found.code in CROWDS:
        return found.span.path, found.code, found.help if isinstance(found.help, Guess) else None
    return found


def _one_of(crowd: list[Diagnostic]) -> Diagnostic:
    first = min((each for each in crowd if each.code == crowd[0].code), key=lambda each: each.severity.rank)
    others = [each for each in crowd if each is not first]
    further = len({each.span for each in others} - {first.span})
    where = "this document" if all(each.span.path == first.span.path for each in others) else "other documents"
    more = f" (and {further} more {'place' if further == 1 else 'places'} in {where})" if further else ""
    notes = [Note(each.span, "here as well" if each.message == first.message else each.message) for each in others]
    return replace(first, message=first.message + more, notes=(*first.notes, *notes))
