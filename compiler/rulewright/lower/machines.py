"""Lowers a state machine's document to the plan: resolves names, builds conditions, collects lexicons."""

from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache, partial
from typing import Any, Final

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, Note, Span, error
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.state_machine import Cue, StateMachineDocument, TransitionDocument
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, INT, OptionalType
from rulewright.load import Scalar
from rulewright.lower.expressions import build_in
from rulewright.lower.lexicons import Fold, lower_lexicon, lower_patterns
from rulewright.spelling import suggest, unknown_name
from rulewright_runtime.plan.scan import Lexicon
from rulewright_runtime.plan.verifiers import Ending, Forbidden, StateMachine, Transition

FACTS: Final = Environment(
    variables={
        "turn": INT,
        "session": INT,
        "elapsed_hours": OptionalType(DOUBLE),
        "turns_in_state": INT,
        "sessions_in_state": INT,
    }
)


def transition_expressions(document: StateMachineDocument) -> list[tuple[Scalar, Environment]]:
    """Return the conditions of the transitions, each with its environment."""
    return [(each.when, FACTS) for each in document.transitions if each.when is not None]


def condition_findings(document: StateMachineDocument) -> list[Diagnostic]:
    """Return the mistakes in the conditions of a machine's transitions."""
    findings: list[Diagnostic] = []
    for scalar, environment in transition_expressions(document):
        build_in(scalar, environment, findings, expect=BOOL)
    return findings


def lower_machine(
    document: StateMachineDocument,
    lexicon_documents: Mapping[str, LexiconDocument],
    default_fold: Fold,
    findings: list[Diagnostic],
) -> tuple[StateMachine, dict[str, Lexicon]]:
    """Return the machine and the lexicons of its cues; mistakes are added to `findings`. `default_fold` is the folding
    of literals in lexicons that set none."""
    findings.extend(mistakes(document, lexicon_documents))
    lexicons = {}
    names = {}
    for cue in document.cues.values():
        if cue.lexicon is not None and cue.lexicon in lexicon_documents:
            names[cue.name] = cue.lexicon
            lexicons[cue.lexicon] = lower_lexicon(lexicon_documents[cue.lexicon], default_fold)
        elif cue.patterns:
            names[cue.name] = f"state_machines/{document.name}/{cue.name}"
            lexicons[names[cue.name]] = lower_patterns(cue.patterns, default_fold, cue.role, cue.fold)
    transitions = []
    for part in document.transitions:
        built = None if part.when is None else build_in(part.when, FACTS, findings, expect=BOOL)
        if part.before and part.cue in names:
            when = None if built is None else built.program
            transitions.append(Transition(part.before, part.to, names[part.cue], when))
    return _machine(document, tuple(transitions)), lexicons


def _machine(document: StateMachineDocument, transitions: tuple[Transition, ...]) -> StateMachine:
    silent: Any = document.silent  # the schema allows no other words
    endings: Any = [(part.state, part.verdict, part.code) for part in document.endings]
    return StateMachine(
        initial=document.initial,
        states=document.states,
        transitions=transitions,
        forbidden=tuple(Forbidden(part.states, part.code) for part in document.forbidden),
        endings=tuple(Ending(*part) for part in endings),
        silent=silent,
    )


def mistakes(document: StateMachineDocument, lexicons: Mapping[str, LexiconDocument]) -> Findings:
    """Report mistakes of a state machine that no schema can: unknown names and states that no transition enters."""
    for name, place in _states_named(document) if document.states else ():  # else schema validation reports it
        if name not in document.states:
            found = unknown_name(place, "state", name, document.states, code="unknown-state")
            notes = () if found.help else (Note(document.key_place("states"), "the states"),)
            yield replace(found, notes=notes)
    for part in document.transitions:
        if part.cue and part.cue not in document.cues:  # else `missing-key`
            yield unknown_name(part.place("on"), "cue", part.cue, document.cues, code="unknown-cue")
    for cue in document.cues.values():
        yield from _cue_mistakes(cue, lexicons)
    to = [part.to for part in document.transitions if part.before != (part.to,)]
    # A misspelt target counts as the state that was probably meant.
    entered = {document.initial, *to, *(suggest(name, document.states) for name in to if name not in document.states)}
    for number, state in enumerate(document.states):
        if state not in entered:
            message = f"no transition enters the state `{state}` from another state"
            start = document.place("initial"), "the machine begins here"
            places = [(document.place("states", number), "declared here"), start]
            loops = [part for part in document.transitions if part.to == state]
            if len(loops) == 1:
                places.insert(0, (loops[0].place("from"), "leads from the state to itself"))
            elif number == 0 and document.initial in to:  # a machine begins with its first state
                places.reverse()
            yield error(places[0][0], message, code="unreachable-state", notes=places[1:])
    if entered.issuperset(document.states) and all(name in document.states for name, _ in _states_named(document)):
        yield from _island(document) or _impossible_paths(document)


def _island(document: StateMachineDocument) -> list[Diagnostic]:
    """The first state that is only entered from states that the initial one does not lead to."""
    reached = {document.initial, *reached_from(leading_to(document.transitions), document.initial)}
    for number, state in enumerate(document.states):
        if state not in reached:
            message = f"no transitions lead from the initial state `{document.initial}` to `{state}`"
            notes = [(document.place("initial"), "the machine begins here")]
            return [error(document.place("states", number), message, code="unreachable-state", notes=notes)]
    return []


def _impossible_paths(document: StateMachineDocument) -> Findings:
    """Report forbidden paths with a state that no transitions reach from the one before it."""
    leading = leading_to(document.transitions)
    after = cache(partial(reached_from, leading))
    for path in document.forbidden:
        before, reached = document.initial, {document.initial, *after(document.initial)}
        for number, state in enumerate(path.states):
            if state not in reached:
                message = f"no transitions lead from `{before}` to `{state}`"
                yield error(path.place("path", number), message, code="impossible-path")
                break
            before, reached = state, after(state)


def leading_to(transitions: Iterable[TransitionDocument]) -> dict[str, set[str]]:
    """The states to which transitions lead from each state."""
    found: dict[str, set[str]] = {}
    for part in transitions:
        for state in part.before:
            found.setdefault(state, set()).add(part.to)
    return found


def reached_from(leading: Mapping[str, Set[str]], state: str) -> set[str]:
    """The states that are reached from a state, directly or indirectly."""
    states: set[str] = set()
    pending = [state]
    while pending:
        new = leading.get(pending.pop(), set()) - states
        states |= new
        pending += new
    return states


def _states_named(document: StateMachineDocument) -> Iterator[tuple[str, Span]]:
    yield document.initial, document.place("initial")
    for part in document.transitions:
        yield from ((name, part.place("from")) for name in part.before)
        yield part.to, part.place("to")
    for path in document.forbidden:
        yield from ((name, path.place("path", number)) for number, name in enumerate(path.states))
    yield from ((ending.state, ending.place("state")) for ending in document.endings)


def _cue_mistakes(cue: Cue, lexicons: Mapping[str, LexiconDocument]) -> Findings:
    if cue.lexicon is not None and cue.lexicon not in lexicons:
        yield unknown_name(cue.place("lexicon"), "lexicon", cue.lexicon, lexicons, code="unknown-cue")
    elif (cue.lexicon is None) == (not cue.patterns):
        message = f"the cue `{cue.name}` needs either a `lexicon` or `patterns`"
        yield error(cue.span, message, code="unknown-cue")
