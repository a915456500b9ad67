"""A scenario: who speaks, what they say, which checks apply and where the cues stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rulewright.documents.base import Document, descend, items, number, optional_text, text, texts
from rulewright.load import Mapping, Node, Scalar

TAG_KEYS: Final = ("failure_mode_tags", "risk_triggers", "tags")
NAMING_KEYS: Final = ("name", "type", "trigger", "id")  # an object is named by the first of these that holds a text
NUMBER_KEYS: Final = ("turn_number", "t", "turn")


@dataclass(frozen=True, slots=True, eq=False)
class Branch(Document):
    """An alternative user message; `type` is contains_any, contains_all, not_contains or regex."""

    branch_id: str
    type: str
    values: tuple[str, ...]
    pattern: str | None
    user_message: str


@dataclass(frozen=True, slots=True, eq=False)
class Turn(Document):
    """A user's turn; `number` is None where the author gave none."""

    number: int | None
    user_message: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Session(Document):
    """One sitting of a scenario."""

    number: int | None
    elapsed: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CueAnchor(Document):
    """Where a cue stands and which turns answer it; `modes` empty: for every check."""

    cue_turn: int | None
    label: str
    from_turn: int | None
    to_turn: int | None
    modes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scenario(Document):
    """A scenario file. `tags` are sorted and come once; `turns` are those of all sessions, in order."""

    id: str
    title: str
    category: str
    jurisdiction: str | None
    tags: tuple[str, ...]
    eligible_modes: tuple[str, ...]
    cue_anchors: tuple[CueAnchor, ...]
    turns: tuple[Turn, ...]
    sessions: tuple[Session, ...]


def read_scenario(node: Mapping) -> Scenario:
    """The model of a scenario's mapping; what is missing or of a wrong type reads as absent."""
    sessions = tuple(_session(item) for item in items(node, "sessions") if isinstance(item, Mapping))
    turns = tuple(_turn(item) for item in items(node, "turns") if isinstance(item, Mapping))
    return Scenario(
        node=node,
        id=text(node, "scenario_id"),
        title=text(node, "title"),
        category=text(node, "category"),
        jurisdiction=optional_text(node, "jurisdiction"),
        tags=scenario_tags(node),
        eligible_modes=texts(node, "eligible_modes"),
        cue_anchors=tuple(_anchor(item) for item in items(node, "cue_anchors") if isinstance(item, Mapping)),
        turns=turns or tuple(turn for session in sessions for turn in session.turns),
        sessions=sessions,
    )


def scenario_tags(node: Node) -> tuple[str, ...]:
    """The texts in `failure_mode_tags`, `risk_triggers` and `tags`; of an object the first text among its names."""
    found = {_tag(item) for key in TAG_KEYS for item in items(node, key)}
    return tuple(sorted(found - {""}))


def _tag(node: Node) -> str:
    if isinstance(node, Scalar):
        return text(node)
    return next(filter(None, (text(node, key) for key in NAMING_KEYS)), "")


def _session(node: Mapping) -> Session:
    turns = tuple(_turn(item) for item in items(node, "turns") if isinstance(item, Mapping))
    return Session(node, number(node, "session_number"), text(node, "time_elapsed"), turns)


def _turn(node: Mapping) -> Turn:
    numbers = (number(node, key) for key in NUMBER_KEYS)
    given = next((found for found in numbers if found is not None), None)
    branches = tuple(_branch(item) for item in items(node, "branches") if isinstance(item, Mapping))
    return Turn(node, given, text(node, "user_message"), branches)


def _branch(node: Mapping) -> Branch:
    condition = descend(node, "condition")
    return Branch(
        node,
        text(node, "branch_id"),
        text(condition, "type"),
        texts(condition, "values"),
        optional_text(condition, "pattern"),
        text(node, "user_message"),
    )


def _anchor(node: Mapping) -> CueAnchor:
    return CueAnchor(
        node,
        number(node, "cue_turn"),
        text(node, "cue_label"),
        number(node, "response_window", "from_turn"),
        number(node, "response_window", "to_turn"),
        texts(node, "modes"),
    )
