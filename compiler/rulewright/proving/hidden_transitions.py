"""Transitions of a state machine that are never taken, because earlier ones are taken whenever they are possible.

A turn takes each transition at most once, and always the first possible one in the file. So an earlier transition hides
a later one of the same state and cue only if no other transition leads back to that state within the turn.
"""

from collections.abc import Iterator, Sequence
from functools import cache, partial

from rulewright.documents.state_machine import Cue, StateMachineDocument, TransitionDocument
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.compose import all_of
from rulewright.expression.types import BOOL
from rulewright.load import Scalar
from rulewright.lower.machines import FACTS, leading_to, reached_from
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.search import Search
from rulewright_runtime.ir import Program


def hidden_transitions(machine: StateMachineDocument) -> Iterator[tuple[TransitionDocument, list[TransitionDocument]]]:
    """Yield the transitions that are never taken, each with those that hide it in every state that it leaves."""
    reached = cache(partial(_reached_in_turn, machine))
    program = cache(_condition)
    before: dict[tuple[str, str], list[tuple[TransitionDocument, Scalar | None]]] = {}
    for later in machine.transitions:
        hiding: dict[int, TransitionDocument] = {}
        for state in later.before:
            earlier = before.get((state, later.cue), [])
            if not earlier or not _is_covered([program(when) for when in (*(when for _, when in earlier), later.when)]):
                break
            hiding |= {id(each): each for each, _ in earlier}
        else:
            if hiding:
                yield later, list(hiding.values())
        if later.cue in machine.cues:
            for state in set(later.before) - reached(_role(machine.cues[later.cue]), later.to):
                before.setdefault((state, later.cue), []).append((later, later.when))


def _reached_in_turn(machine: StateMachineDocument, role: str, state: str) -> set[str]:
    """The states that may be reached in the rest of a turn of a role, after a transition to this state."""
    roles = {name: _role(cue) for name, cue in machine.cues.items()}
    possible = (each for each in machine.transitions if role == "both" or roles.get(each.cue, "both") in (role, "both"))
    return {state, *reached_from(leading_to(possible), state)}


def _role(cue: Cue) -> str:
    """The role whose turns a cue is searched in; `both` for a lexicon, whose role is not known here."""
    return "both" if cue.lexicon is not None else cue.role or "assistant"


def _condition(when: Scalar | None) -> Program | None:
    """The program of a condition; None if it has mistakes."""
    try:
        return all_of(()) if when is None else build(when.text, FACTS, expect=BOOL).program
    except ExpressionError:
        return None


def _is_covered(conditions: Sequence[Program | None]) -> bool:
    """Whether one of the earlier conditions holds whenever the last one does; an undecided one doesn't hold."""
    programs = [each for each in conditions if each is not None]
    if len(programs) < len(conditions):
        return False
    search, last = Search(programs, Domains(FACTS.variables)), len(programs) - 1
    possible = not search.excludes([(last, TRUE)])  # else its condition is reported
    goal = [*((at, FALSE | ERROR) for at in range(last)), (last, TRUE)]
    return possible and search.excludes(goal)
