from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scenario import ScenarioDocument
from rulewright.rules.cue_text_not_in_turn import misplaced_cues

MOST: Final = 3  # words of a quotation for each that may differ


def cue_misquotes_turn(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """An anchor's `cue_text_match` differs by a word from what the user says in its turn.

    Why it matters: the quotation or the message was changed, and the judge may look for a cue that nobody gives.
    Instead: quote the words as they are.
    """
    turns = {turn.number: turn for turn in scenario.turns}
    for anchor, words, elsewhere in misplaced_cues(scenario):
        said = None if elsewhere is not None else _nearly(str(words.value), turns[anchor.cue_turn].user_message)
        if said is not None:
            notes = [(turns[anchor.cue_turn].place("user_message"), "the user's message")]
            yield warning(words, f"turn {anchor.cue_turn} says `{said}`", notes=notes)


def _nearly(quoted: str, message: str) -> str | None:
    """The words of a message that differ from the quoted ones by few; None if there are none."""
    wanted, spoken = quoted.split(), message.split()
    joined = "".join(map(_bare, wanted))
    for start in range(len(spoken)):  # `anymore` for `any more`
        for said in (spoken[start : start + len(wanted) + more] for more in (-1, 1)):
            if said and "".join(map(_bare, said)) == joined:
                return " ".join(said)
    for start in range(len(spoken) - len(wanted) + 1):
        said = spoken[start : start + len(wanted)]
        differing = sum(_bare(one) != _bare(other) for one, other in zip(wanted, said, strict=True))
        if 0 < differing * MOST <= len(wanted):
            return " ".join(said)
    return None


def _bare(word: str) -> str:
    return word.lower().strip(".,;:!?\"'")
