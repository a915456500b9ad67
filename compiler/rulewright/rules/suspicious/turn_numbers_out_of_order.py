from rulewright.diagnostics import Findings, Span, error, warning
from rulewright.documents.scenario import NUMBER_KEYS, ScenarioDocument, TurnDocument


def turn_numbers_out_of_order(scenario: ScenarioDocument) -> Findings:
    """Turns are not numbered 1, 2, 3 and so on across all sessions.

    Why it matters: anchors, probes and branches refer to turns by number. A missing, repeated or misplaced number makes
    them refer to another turn or to none.
    Instead: number the turns from 1, and continue the count in the next session.
    """
    expected = 1
    seen: dict[int, TurnDocument] = {}
    numbers = [turn.number for turn in scenario.turns]
    for at, turn in enumerate(scenario.turns):
        number = turn.number
        if number is None and "turn_number" in turn.node:
            continue  # `wrong-type` reports it
        if number is None:
            yield error(turn, f"this turn has no number; {expected} comes next")
        elif number in seen:
            notes = [(_place(seen[number]), "first used here")]
            yield error(_place(turn), f"duplicate turn number {number}; {expected} comes next", notes=notes)
        elif number < expected:
            yield error(_place(turn), f"turn {number} comes after turn {expected - 1}")
        elif number > expected and number in numbers[at + 1 :]:
            other = scenario.turns[numbers.index(number, at + 1)]
            message = f"duplicate turn number {number}; {expected} comes next"
            yield error(_place(turn), message, notes=[(_place(other), "also here")])
            expected += 1
            continue
        elif number > expected:
            yield warning(_place(turn), f"turn {number} follows turn {expected - 1}; {expected} is missing")
        if number is not None:
            seen.setdefault(number, turn)
        expected = max(expected, (number or expected) + 1)


def _place(turn: TurnDocument) -> Span:
    key = next((key for key in NUMBER_KEYS if key in turn.node), NUMBER_KEYS[0])
    return turn.place(key)
