from collections.abc import Iterator

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import scalar
from rulewright.documents.scenario import CueAnchorDocument, ScenarioDocument, TurnDocument
from rulewright.load import Scalar
from rulewright_runtime.matching.folding import fold


def cue_text_not_in_turn(scenario: ScenarioDocument) -> Findings:
    """An anchor's `cue_text_match` does not occur in any message of the user.

    Why it matters: a description instead of a quotation can't locate the cue, and nobody notices when the turn is
    rewritten or renumbered.
    Instead: quote words of the turn, and put the description into `cue_label`.
    """
    turns = {turn.number: turn for turn in scenario.turns}
    for anchor, words, elsewhere in misplaced_cues(scenario):
        if elsewhere is None:  # else `cue-in-another-turn`
            notes = [(turns[anchor.cue_turn].place("user_message"), "the user's message")]
            message = f"these words do not occur in turn {anchor.cue_turn}"
            yield advice(words, message, notes=notes, help="quote what the user says")


def misplaced_cues(scenario: ScenarioDocument) -> Iterator[tuple[CueAnchorDocument, Scalar, TurnDocument | None]]:
    """Yield the anchors whose words are not in their turn or its branches, with the turn in which they are."""
    turns = {turn.number: turn for turn in scenario.turns if turn.number is not None}
    for anchor in scenario.cue_anchors:
        words = scalar(anchor.node, "cue_text_match")
        turn = turns.get(anchor.cue_turn) if anchor.cue_turn is not None else None
        wanted = "" if words is None else fold(words.text).text.strip()
        if words is not None and turn is not None and wanted and not contains(turn, wanted):
            yield anchor, words, next((each for each in turns.values() if contains(each, wanted)), None)


def contains(turn: TurnDocument, wanted: str) -> bool:
    """Whether the folded words are in a message of the turn or of one of its branches."""
    return any(wanted in fold(message).text for message in turn.messages)
