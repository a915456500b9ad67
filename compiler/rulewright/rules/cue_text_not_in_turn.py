"""Rule: an anchor's cue text that does not occur in its turn."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, advice
from rulewright.documents.base import scalar
from rulewright.documents.scenario import ScenarioDocument
from rulewright_runtime.matching.folding import fold


def cue_text_not_in_turn(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """An anchor's `cue_text_match` does not occur in the user's message of its turn or of the turn's branches.

    Why it matters: a description instead of a quotation can't locate the cue, and nobody notices when the turn is
    rewritten or renumbered.
    Instead: quote words of the turn, and put the description into `cue_label`.
    """
    turns = {turn.number: turn for turn in scenario.turns if turn.number is not None}
    for anchor in scenario.cue_anchors:
        words = scalar(anchor.node, "cue_text_match")
        turn = turns.get(anchor.cue_turn) if anchor.cue_turn is not None else None
        wanted = "" if words is None else fold(str(words.value)).text.strip()
        if words is None or turn is None or not wanted:
            continue
        messages = [turn.user_message, *(branch.user_message for branch in turn.branches)]
        if not any(wanted in fold(message).text for message in messages):
            elsewhere = next((n for n, t in turns.items() if wanted in fold(t.user_message).text), None)
            yield advice(
                words,
                f"these words do not occur in turn {anchor.cue_turn}",
                notes=[(turn.place("user_message"), "the user's message")],
                help=f"they occur in turn {elsewhere}" if elsewhere is not None else "quote what the user says",
            )
