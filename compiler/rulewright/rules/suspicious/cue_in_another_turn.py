from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import items, number, place_of, text
from rulewright.documents.scenario import TAG_KEYS, ScenarioDocument
from rulewright.rules.pedantic.cue_text_not_in_turn import contains, misplaced_cues
from rulewright_runtime.matching.folding import fold


def cue_in_another_turn(scenario: ScenarioDocument) -> Findings:
    """The user says an anchor's `cue_text_match`, or the cue of a tag, in another turn than it names.

    Why it matters: the judge gets the window of the wrong turn.
    Instead: correct `cue_turn` or `t`.
    """
    for anchor, words, elsewhere in misplaced_cues(scenario):
        if elsewhere is not None:
            message = f"`{words.value}` is in turn {elsewhere.number}, not in turn {anchor.cue_turn}"
            notes = [(elsewhere.place("user_message"), "the user's message")]
            yield warning(anchor.place("cue_turn"), message, notes=notes)
    for cue in (each for key in TAG_KEYS for each in items(scenario.node, key)):
        wanted, turn = fold(text(cue, "cue")).text.strip(), number(cue, "t")
        spoken = [each for each in scenario.turns if wanted and contains(each, wanted)]
        if turn is not None and spoken and all(each.number != turn for each in spoken):
            message = f"`{text(cue, 'cue')}` is in turn {spoken[0].number}, not in turn {turn}"
            notes = [(spoken[0].place("user_message"), "the user's message")]
            yield warning(place_of(cue, "t"), message, notes=notes)
