from collections import Counter

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument, TurnDocument
from rulewright.documents.spoken_words import all_known, forms, shown, words_of


def branch_hides_what_a_probe_expects(scenario: ScenarioDocument) -> Findings:
    """A probe expects what the user says only in a message that a branch replaces.

    Why it matters: in conversations that take the branch the user never says it, so every honest answer fails the
    probe, and scores of conversations with and without the branch can't be compared.
    Instead: say it in the message of the branch as well, or in a turn without branches.
    """
    turns = scenario.turns if all_known(scenario) else ()
    saying = _saying(scenario)
    kept = {turn: _kept(turn) for turn in turns if turn.branches}
    for probe in scenario.probes if kept else ():
        for item in probe.written if probe.kind == "recall" and probe.turn else ():
            words = words_of(phrase := item.text)
            for word in words:
                found = {turn for form in forms(word) for turn in saying.get(form, ())}
                turn = found.pop() if len(found) == 1 else None
                if turn in kept and (turn.number or 0) <= (probe.turn or 0) and kept[turn].isdisjoint(forms(word)):
                    named = word if " " in phrase else phrase
                    message = f"the user says `{named}` only in a message that a branch replaces"
                    yield warning(item, message, notes=[(turn.place("user_message"), "the message")])
                    break


def _saying(scenario: ScenarioDocument) -> dict[str, list[TurnDocument | None]]:
    """The first two turns whose own message contains a form of a word; None for what the assistant sees before."""
    saying: dict[str, list[TurnDocument | None]] = {}
    texts = [(None, each) for each in shown(scenario)] + [(turn, turn.user_message) for turn in scenario.turns]
    for turn, message in texts:
        for form in {form for word in words_of(message) for form in forms(word)}:
            if len(turns := saying.setdefault(form, [])) < 2:
                turns.append(turn)
    return saying


def _kept(turn: TurnDocument) -> set[str]:
    """The forms of words in the messages of all branches of a turn."""
    counted = Counter(
        form
        for branch in turn.branches
        for form in {form for word in words_of(branch.user_message) for form in forms(word)}
    )
    return {form for form, count in counted.items() if count == len(turn.branches)}
