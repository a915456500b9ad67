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
        spoken = None if elsewhere is not None else _nearly(words.text, turns[anchor.cue_turn].user_message)
        if spoken is not None:
            notes = [(turns[anchor.cue_turn].place("user_message"), "the user's message")]
            yield warning(words, f"this differs from the message of turn {anchor.cue_turn}: `{spoken}`", notes=notes)


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
    for start in range(len(words)):
        for end in (start + size, start + size - 1, start + size + 1):
            if not start < end <= len(words) or (end != start + size and words[start] != bare[0]):
                continue
            there = words[start:end]
            differing = sum(map(ne, bare, there)) if end == start + size else _differing(bare, there)
            if 0 < differing * MOST <= size:
                return " ".join(spoken[start:end])
    return None


def _differing(quoted: list[str], there: list[str]) -> int:
    """The number of words between the first and the last word that differ, where one of the two has a word more."""
    longer = max(len(quoted), len(there))
    before = next((at for at, (one, other) in enumerate(zip(quoted, there, strict=False)) if one != other), longer)
    pairs = zip(reversed(quoted[before:]), reversed(there[before:]), strict=False)
    after = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(quoted), len(there)) - before)
    return longer - before - after


def _bare(word: str) -> str:
    return word.lower().strip(".,;:!?\"'")
