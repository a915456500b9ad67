"""The scenario model: who speaks, what they say, what is expected of the answers, which checks apply.

One typed model for everything that reads scenarios: `Scenario`, `Session`, `Turn`, `Persona`, `ScenarioCategory` and
`ScoringDimension` (seed 004, scenario structure).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rulewright.documents.base import Document, descend, items, number, optional_text, scalar, text, texts, value
from rulewright.load import Mapping, Node, Scalar

TAG_KEYS: Final = ("failure_mode_tags", "risk_triggers", "tags")
NAMING_KEYS: Final = ("name", "type", "trigger", "id")  # an object is named by the first of these that holds a text
NUMBER_KEYS: Final = ("turn_number", "t", "turn")


class ScenarioCategory(StrEnum):
    """The families of scenarios."""

    SAFETY = "safety"
    EMPATHY = "empathy"
    CONTEXT = "context"
    CONTINUITY = "continuity"
    CONFIDENTIAL = "confidential"


class ScoringDimension(StrEnum):
    """What the points of a scenario speak of."""

    ACTIONABLE_SUPPORT = "actionable_support"
    BELONGING_CULTURAL_FITNESS = "belonging_cultural_fitness"
    CRISIS_SAFETY = "crisis_safety"
    LONGITUDINAL_CONSISTENCY = "longitudinal_consistency"
    MEMORY_HYGIENE = "memory_hygiene"
    REGULATORY_FITNESS = "regulatory_fitness"
    RELATIONAL_QUALITY = "relational_quality"
    TRAUMA_INFORMED_FLOW = "trauma_informed_flow"


@dataclass(frozen=True, slots=True, eq=False)
class Persona(Document):
    """Who the user is. `visible` names the keys that the model under evaluation is told; all others it is not."""

    name: str
    role: str
    care_recipient: str
    visible: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Criterion(Document):
    """One criterion of a rubric: `kind` is binary, ordinal (with `levels`) or autofail."""

    id: str
    question: str
    kind: str
    levels: tuple[tuple[str, str], ...]
    dimension: str
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Probe(Document):
    """What the answer to a turn has to hold or to leave alone; `turn` is None where the author gave none."""

    turn: int | None
    kind: str
    expected: tuple[str, ...]
    from_sessions: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch(Document):
    """An alternative user message; `type` is contains_any, contains_all, not_contains, regex or expression."""

    branch_id: str
    type: str
    values: tuple[str, ...]
    pattern: str | None
    user_message: str
    when: Scalar | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Turn(Document):
    """A user's turn; `number` is None where the author gave none. Its prose and its rubric speak of the answer."""

    number: int | None
    user_message: str
    branches: tuple[Branch, ...]
    expected_behaviors: tuple[str, ...] = ()
    autofail_triggers: tuple[str, ...] = ()
    rubric: tuple[Criterion, ...] = ()
    probes: tuple[Probe, ...] = ()


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
    """A scenario file. `tags` are sorted and come once; `turns` are those of all sessions, in order; `probes` are those
    of the scenario and of its turns. Scenarios of one `contrast_group` differ in `contrast_variable` alone."""

    id: str
    title: str
    category: str
    jurisdiction: str | None
    tags: tuple[str, ...]
    eligible_modes: tuple[str, ...]
    cue_anchors: tuple[CueAnchor, ...]
    turns: tuple[Turn, ...]
    sessions: tuple[Session, ...]
    persona: Persona | None = None
    scoring_dimensions: tuple[tuple[str, int], ...] = ()
    probes: tuple[Probe, ...] = ()
    contrast_group: str | None = None
    contrast_variable: str | None = None


def read_scenario(node: Mapping) -> Scenario:
    """The model of a scenario's mapping; what is missing or of a wrong type reads as absent."""
    sessions = tuple(_session(item) for item in items(node, "sessions") if isinstance(item, Mapping))
    turns = tuple(_turn(item) for item in items(node, "turns") if isinstance(item, Mapping))
    turns = turns or tuple(turn for session in sessions for turn in session.turns)
    return Scenario(
        node=node,
        id=text(node, "scenario_id"),
        title=text(node, "title"),
        category=text(node, "category"),
        jurisdiction=optional_text(node, "jurisdiction"),
        tags=scenario_tags(node),
        eligible_modes=texts(node, "eligible_modes"),
        cue_anchors=tuple(_anchor(item) for item in items(node, "cue_anchors") if isinstance(item, Mapping)),
        turns=turns,
        sessions=sessions,
        persona=_persona(node.get("persona")),
        scoring_dimensions=tuple(_points(node.get("scoring_dimensions"))),
        probes=(*_probes(node), *(probe for turn in turns for probe in turn.probes)),
        contrast_group=optional_text(node, "contrast_group"),
        contrast_variable=optional_text(node, "contrast_variable"),
    )


@dataclass(frozen=True, slots=True)
class NumberedTurn:
    """A turn with the number that it bears or, without one, has by its place; `session` is its session's place."""

    number: int
    turn: Turn
    session: int = 0


def numbered_turns(scenario: Scenario) -> list[NumberedTurn]:
    """The user's turns in the order in which they are played; places count on across sessions."""
    sittings = [session.turns for session in scenario.sessions] or [scenario.turns]
    played = [(place, turn) for place, turns in enumerate(sittings) for turn in turns]
    return [
        NumberedTurn(number if turn.number is None else turn.number, turn, place)
        for number, (place, turn) in enumerate(played, 1)
    ]


def rubric_of(node: Mapping) -> tuple[Criterion, ...]:
    """The criteria of a turn or a branch."""
    return tuple(_criterion(item) for item in items(node, "rubric") if isinstance(item, Mapping))


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
    return Turn(
        node,
        given,
        text(node, "user_message"),
        branches,
        texts(node, "expected_behaviors"),
        texts(node, "autofail_triggers"),
        rubric=rubric_of(node),
        probes=tuple(_probes(node)),
    )


def _branch(node: Mapping) -> Branch:
    condition = descend(node, "condition")
    return Branch(
        node,
        text(node, "branch_id"),
        text(condition, "type"),
        texts(condition, "values"),
        optional_text(condition, "pattern"),
        text(node, "user_message"),
        scalar(condition, "when"),
    )


def _persona(node: Node | None) -> Persona | None:
    if not isinstance(node, Mapping):
        return None
    return Persona(node, text(node, "name"), text(node, "role"), text(node, "care_recipient"), texts(node, "visible"))


def _points(node: Node | None) -> Iterator[tuple[str, int]]:
    for entry in node.entries if isinstance(node, Mapping) else ():
        points = number(entry.value)
        if points is not None:
            yield entry.name, points


def _criterion(node: Mapping) -> Criterion:
    levels = node.get("levels")
    weight = value(node, "weight")
    return Criterion(
        node,
        text(node, "id"),
        text(node, "question"),
        text(node, "kind"),
        tuple((entry.name, text(entry.value)) for entry in levels.entries) if isinstance(levels, Mapping) else (),
        text(node, "dimension"),
        float(weight) if isinstance(weight, (int, float)) and not isinstance(weight, bool) else 1.0,
    )


def _probes(node: Mapping) -> Iterator[Probe]:
    for item in items(node, "probes"):
        if isinstance(item, Mapping):
            sessions = (number(each) for each in items(item, "from_sessions"))
            yield Probe(
                item,
                number(item, "t"),
                text(item, "kind"),
                texts(item, "expected"),
                tuple(each for each in sessions if each is not None),
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
