"""Rule: an anchor's cue text that nobody says in its turn."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, advice
from rulewright.documents.base import scalar
from rulewright.documents.scenario import ScenarioDocument
from rulewright_runtime.matching.folding import fold


def cue_text_not_in_turn(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """An anchor's `cue_text_match` does not occur in the user's message of its turn, nor in one of its branches.

    Why it matters: it describes the cue instead of quoting it, so nothing can find the cue by it, and nobody notices
    when the turn is rewritten or the turns are renumbered.
    Instead: quote words of the turn, and keep the description in `cue_label`.
    """
    turns = {turn.number: turn for turn in scenario.turns if turn.number is not None}
    for anchor in scenario.cue_anchors:
        words = scalar(anchor.node, "cue_text_match")
        turn = turns.get(anchor.cue_turn) if anchor.cue_turn is not None else None
        wanted = "" if words is None else fold(str(words.value)).text.strip()
        if words is None or turn is None or not wanted:
            continue
        said = [turn.user_message, *(branch.user_message for branch in turn.branches)]
        if not any(wanted in fold(message).text for message in said):
            elsewhere = next((n for n, t in turns.items() if wanted in fold(t.user_message).text), None)
            yield advice(
                words,
                f"these words do not occur in turn {anchor.cue_turn}",
                notes=[(turn.place("user_message"), "what the user says there")],
                help=f"they occur in turn {elsewhere}" if elsewhere is not None else "quote what the user says",
            )
