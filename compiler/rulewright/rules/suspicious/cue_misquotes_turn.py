from __future__ import annotations

from operator import ne
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument
from rulewright.rules.pedantic.cue_text_not_in_turn import misplaced_cues

MOST: Final = 3  # words of a quotation for each that may differ
LONGEST: Final = 100  # words of a quotation that is searched for


def cue_misquotes_turn(scenario: ScenarioDocument) -> Findings:
    """An anchor's `cue_text_match` differs by a word from what the user says in its turn.

    Why it matters: the quotation or the message was changed, and the judge may look for a cue that nobody gives.
    Instead: quote the words as they are.
    """
    turns = {turn.number: turn for turn in scenario.turns}
    for anchor, words, elsewhere in misplaced_cues(scenario):
        spoken = None if elsewhere is not None else _nearly(str(words.value), turns[anchor.cue_turn].user_message)
        if spoken is not None:
            notes = [(turns[anchor.cue_turn].place("user_message"), "the user's message")]
            yield warning(words, f"turn {anchor.cue_turn} says `{spoken}`", notes=notes)


def _nearly(quoted: str, message: str) -> str | None:
    """The words of a message that differ from the quoted ones by few; None if there are none."""
    wanted, spoken = quoted.split(), message.split()
    if len(wanted) > LONGEST:
        return None
    bare, words = [*map(_bare, wanted)], [*map(_bare, spoken)]
    size, joined = len(bare), "".join(bare)
    for start in range(len(words)):
        for end in (start + size - 1, start + size + 1):  # `anymore` for `any more`
            if start < end <= len(words) and "".join(words[start:end]) == joined:
                return " ".join(spoken[start:end])
    for start in range(len(words) - size + 1):
        differing = sum(map(ne, bare, words[start : start + size]))
        if 0 < differing * MOST <= size:
            return " ".join(spoken[start : start + size])
    return None


def _bare(word: str) -> str:
    return word.lower().strip(".,;:!?\"'")
