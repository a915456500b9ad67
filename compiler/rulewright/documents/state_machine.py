"""A state machine: states, cues and transitions over the turns and sessions of a conversation, and forbidden paths."""

from __future__ import annotations

from dataclasses import dataclass

from rulewright.documents.base import Document, descend, items, optional_text, scalar, text, texts
from rulewright.documents.lexicon import PatternEntry, read_fold, read_patterns
from rulewright.load import Mapping, Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Cue(Document):
    """What is looked for in turns: a lexicon of the project, or patterns with a role of their own."""

    name: str
    lexicon: str | None
    role: str | None
    fold: str | tuple[str, ...] | None
    patterns: tuple[PatternEntry, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Transition(Document):
    """From one of `before` to `to` on a cue, where `when` holds."""

    before: tuple[str, ...]
    cue: str
    to: str
    when: Scalar | None


@dataclass(frozen=True, slots=True, eq=False)
class Forbidden(Document):
    """States that must not be entered in this order."""

    states: tuple[str, ...]
    code: str


@dataclass(frozen=True, slots=True, eq=False)
class Ending(Document):
    """What it means to end in a state."""

    state: str
    verdict: str
    code: str


@dataclass(frozen=True, slots=True, eq=False)
class StateMachine(Document):
    """A state machine file; `silent` says what a conversation without any transition means."""

    name: str
    states: tuple[str, ...]
    initial: str
    cues: dict[str, Cue]
    transitions: tuple[Transition, ...]
    forbidden: tuple[Forbidden, ...]
    endings: tuple[Ending, ...]
    silent: str


def read_state_machine(node: Mapping, name: str) -> StateMachine:
    """The model of a state machine's mapping; `name` is the file's stem."""
    cues = descend(node, "cues")
    below = [(entry.name, entry.value) for entry in cues.entries] if isinstance(cues, Mapping) else []
    return StateMachine(
        node=node,
        name=name,
        states=texts(node, "states"),
        initial=text(node, "initial"),
        cues={key: _cue(value, key) for key, value in below if isinstance(value, Mapping)},
        transitions=tuple(_transition(item) for item in items(node, "transitions") if isinstance(item, Mapping)),
        forbidden=tuple(
            Forbidden(item, texts(item, "path"), text(item, "code"))
            for item in items(node, "forbidden")
            if isinstance(item, Mapping)
        ),
        endings=tuple(
            Ending(item, text(item, "state"), text(item, "verdict"), text(item, "code"))
            for item in items(node, "endings")
            if isinstance(item, Mapping)
        ),
        silent=text(node, "silent") or "UNCLEAR",
    )


def _cue(node: Mapping, name: str) -> Cue:
    return Cue(
        node,
        name,
        optional_text(node, "lexicon"),
        optional_text(node, "role"),
        read_fold(node),
        read_patterns(node, "patterns"),
    )


def _transition(node: Mapping) -> Transition:
    one = optional_text(node, "from")
    before = texts(node, "from") if one is None else (one,)
    return Transition(node, before, text(node, "on"), text(node, "to"), scalar(node, "when"))
