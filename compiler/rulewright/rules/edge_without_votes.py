"""Rule: a profile that enables the edge, but has no votes."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import flag
from rulewright.documents.profile import Profile


def edge_without_votes(profile: Profile) -> Iterator[Diagnostic]:
    """A profile sets `llm_edge: true`, but `llm_repetitions: 0`.

    Why it matters: without votes no judge is asked, so no match of a lexicon is confirmed.
    Instead: set `llm_edge: false`, or allow at least one vote.
    """
    if profile.repetitions == 0 and flag(profile.node, "llm_edge"):
        notes = [(profile.place("llm_repetitions"), "the number of votes")]
        help = "set it to false, or `llm_repetitions` to at least 1"
        yield warning(profile.place("llm_edge"), "with 0 votes, the edge asks no judge", help=help, notes=notes)
