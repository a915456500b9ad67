"""Transitions of a state machine that are never taken, because earlier ones are taken whenever they are possible.

A turn takes each transition at most once, and always the first possible one in the file. So an earlier transition hides
a later one of the same state and cue only if no other transition leads back to that state within the turn.
"""

from collections.abc import Iterator, Sequence

from rulewright.documents.state_machine import Cue, StateMachineDocument, TransitionDocument
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.compose import all_of
from rulewright.expression.types import BOOL
from rulewright.lower.machines import FACTS
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.search import Search


def hidden_transitions(machine: StateMachineDocument) -> Iterator[tuple[TransitionDocument, list[TransitionDocument]]]:
    """Yield the transitions that are never taken, each with those that hide it in every state that it leaves."""
    for number, later in enumerate(machine.transitions):
        hiding: dict[int, TransitionDocument] = {}
        for state in later.before:
            earlier = [each for each in machine.transitions[:number] if _comes_first(machine, each, later, state)]
            if not earlier or not _is_covered(later, earlier):
                break
            hiding |= {id(each): each for each in earlier}
        else:
            if hiding:
                yield later, list(hiding.values())


def _comes_first(
    machine: StateMachineDocument, earlier: TransitionDocument, later: TransitionDocument, state: str
) -> bool:
    """Whether the earlier transition leaves the state on the same cue, for the rest of the turn."""
    return (
        state in earlier.before
        and earlier.cue == later.cue
        and later.cue in machine.cues
        and state not in _reached_in_turn(machine, earlier)
    )


def _reached_in_turn(machine: StateMachineDocument, taken: TransitionDocument) -> set[str]:
    """The states that may be reached after a transition in the same turn."""
    role = _role(machine.cues[taken.cue])
    roles = {name: _role(cue) for name, cue in machine.cues.items()}
    candidates = [
        each for each in machine.transitions if role == "both" or roles.get(each.cue, "both") in (role, "both")
    ]
    reached, pending = {taken.to}, [taken.to]
    while pending:
        state = pending.pop()
        new = {each.to for each in candidates if state in each.before} - reached
        reached |= new
        pending += new
    return reached


def _role(cue: Cue) -> str:
    """The role whose turns a cue is searched in; `both` for a lexicon, whose role is not known here."""
    return "both" if cue.lexicon is not None else cue.role or "assistant"


def _is_covered(later: TransitionDocument, earlier: Sequence[TransitionDocument]) -> bool:
    """Whether one of the earlier conditions holds whenever the later one does; an undecided one doesn't hold."""
    try:
        programs = [
            all_of(()) if each.when is None else build(str(each.when.value), FACTS, expect=BOOL).program
            for each in (*earlier, later)
        ]
    except ExpressionError:
        return False
    search = Search(programs, Domains(FACTS.variables))
    possible = not search.excludes([(len(earlier), TRUE)])  # else its condition is reported
    goal = [*((at, FALSE | ERROR) for at in range(len(earlier))), (len(earlier), TRUE)]
    return possible and search.excludes(goal)
