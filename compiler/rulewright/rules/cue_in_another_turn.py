from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scenario import ScenarioDocument
from rulewright.rules.cue_text_not_in_turn import misplaced_cues


def cue_in_another_turn(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """The user says an anchor's `cue_text_match` in another turn than its `cue_turn`.

    Why it matters: the judge gets the window of the wrong turn.
    Instead: correct `cue_turn`.
    """
    for anchor, words, elsewhere in misplaced_cues(scenario):
        if elsewhere is not None:
            message = f"`{words.value}` is in turn {elsewhere.number}, not in turn {anchor.cue_turn}"
            notes = [(elsewhere.place("user_message"), "the user's message")]
            yield warning(anchor.place("cue_turn"), message, notes=notes)
