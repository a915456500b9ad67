"""Transitions of a state machine that are never made, because earlier ones are made whenever they could be.

A turn makes each transition at most once, and the first in the file that is possible. So an earlier transition hides a
later one of the same state and cue only where nothing leads back to that state within the turn.
"""

from __future__ import annotations

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
    """The transitions that are never made, each with those that hide it from every state that it leaves."""
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
    """Whether the earlier transition leaves the state on the same cue, for as long as the turn lasts."""
    return (
        state in earlier.before
        and earlier.cue == later.cue
        and later.cue in machine.cues
        and state not in _reached_in_turn(machine, earlier)
    )


def _reached_in_turn(machine: StateMachineDocument, made: TransitionDocument) -> set[str]:
    """The states to which a transition may lead in the turn that makes it."""
    role = _role(machine.cues[made.cue])
    roles = {name: _role(cue) for name, cue in machine.cues.items()}
    beside = [each for each in machine.transitions if role == "both" or roles.get(each.cue, "both") in (role, "both")]
    found, pending = {made.to}, [made.to]
    while pending:
        here = pending.pop()
        new = {each.to for each in beside if here in each.before} - found
        found |= new
        pending += new
    return found


def _role(cue: Cue) -> str:
    """Whose turns a cue is looked for in; a lexicon's role is not known here."""
    return "both" if cue.lexicon is not None else cue.role or "assistant"


def _is_covered(later: TransitionDocument, earlier: Sequence[TransitionDocument]) -> bool:
    """Whether one of the earlier conditions is met wherever the later one is; what can't be decided is not met."""
    try:
        programs = [
            all_of(()) if each.when is None else build(str(each.when.value), FACTS, expect=BOOL).program
            for each in (*earlier, later)
        ]
    except ExpressionError:
        return False
    search = Search(programs, Domains(FACTS.variables), solver=False)
    possible = search.find([(len(earlier), TRUE)]) is not None  # else that is told of its condition
    goal = [*((at, FALSE | ERROR) for at in range(len(earlier))), (len(earlier), TRUE)]
    return possible and search.find(goal) is None
