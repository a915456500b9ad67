"""The scenario model: the user's persona and messages, the expectations of the answers, and the checks that apply.

One typed model for everything that reads scenarios: the Scenario, Session, Turn, Persona, ScenarioCategory and
ScoringDimension of seed 004 (scenario structure). Names that plans or transcripts also have end in `Document`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Struct

from rulewright.documents.base import Document, fraction, items, number, text, text_scalars, texts
from rulewright.documents.typed_reader import At, entries_of, read, read_each
from rulewright.load import Mapping, Node, Scalar

TAG_KEYS: Final = ("failure_mode_tags", "risk_triggers", "tags")
NAMING_KEYS: Final = (
    "name",
    "type",
    "trigger",
    "id",
)  # the name of an object is the first of these keys that holds a text
EXPECTATIONS: Final = {"should_recall": "recall", "should_not_mention_unprompted": "abstention"}  # kinds of probes
NUMBER_KEYS: Final = ("turn_number", "t", "turn")


class ScenarioCategory(StrEnum):
    """The families of scenarios."""

    SAFETY = "safety"
    EMPATHY = "empathy"
    CONTEXT = "context"
    CONTINUITY = "continuity"
    CONFIDENTIAL = "confidential"


class ScoringDimension(StrEnum):
    """What the points of a scenario are about."""

    ACTIONABLE_SUPPORT = "actionable_support"
    BELONGING_CULTURAL_FITNESS = "belonging_cultural_fitness"
    CRISIS_SAFETY = "crisis_safety"
    LONGITUDINAL_CONSISTENCY = "longitudinal_consistency"
    MEMORY_HYGIENE = "memory_hygiene"
    REGULATORY_FITNESS = "regulatory_fitness"
    RELATIONAL_QUALITY = "relational_quality"
    TRAUMA_INFORMED_FLOW = "trauma_informed_flow"


class Persona(Document, frozen=True, eq=False):
    """The user. `visible` names the keys that the model under evaluation sees; all others are hidden from it."""

    name: str
    role: str
    care_recipient: str
    visible: tuple[str, ...]


class Criterion(Document, frozen=True, eq=False):
    """One criterion of a rubric: `kind` is binary, ordinal (with `levels`) or autofail."""

    id: str
    question: str
    kind: str
    levels: tuple[tuple[str, str], ...]
    dimension: str
    weight: Annotated[float, At(by=fraction, usual=1.0)]
    primary_bucket: str = ""
    severity: str = ""


class ProbeDocument(Document, frozen=True, eq=False):
    """What the answer to a turn must or must not contain; `turn` is None if absent. A turn's `memory_expectations` are
    probes as well."""

    turn: Annotated[int | None, At("t")]
    kind: str
    expected: tuple[str, ...]
    written: Annotated[tuple[Scalar, ...], At("expected")]
    from_sessions: tuple[int, ...]


class BranchDocument(Document, frozen=True, eq=False):
    """An alternative user message; `type` is contains_any, contains_all, not_contains, regex or expression."""

    branch_id: str
    type: Annotated[str, At("condition", "type")]
    values: Annotated[tuple[str, ...], At("condition", "values")]
    pattern: Annotated[str | None, At("condition", "pattern")]
    user_message: str
    when: Annotated[Scalar | None, At("condition", "when")]


class TurnDocument(Document, frozen=True, eq=False):
    """A user's turn; `number` is None if absent. Its prose and its rubric are about the answer."""

    number: int | None
    user_message: str
    branches: tuple[BranchDocument, ...]
    expected_behaviors: tuple[str, ...]
    autofail_triggers: tuple[str, ...]
    rubric: tuple[Criterion, ...]
    probes: tuple[ProbeDocument, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """What the user may say: the message of the turn, and those of its branches."""
        return self.user_message, *(branch.user_message for branch in self.branches)

    @property
    def nodes(self) -> tuple[Mapping, ...]:
        """The mappings of the turn and of its branches; each may have expectations and a rubric."""
        return self.node, *(branch.node for branch in self.branches)


class SessionDocument(Document, frozen=True, eq=False):
    """One session of a scenario."""

    number: Annotated[int | None, At("session_number")]
    elapsed: Annotated[str, At("time_elapsed")]
    turns: tuple[TurnDocument, ...]


class CueAnchorDocument(Document, frozen=True, eq=False):
    """The turns of a cue and of its answers; an empty `modes` means every check."""

    cue_turn: int | None
    label: Annotated[str, At("cue_label")]
    from_turn: Annotated[int | None, At("response_window", "from_turn")]
    to_turn: Annotated[int | None, At("response_window", "to_turn")]
    modes: tuple[str, ...]

    def is_for(self, check: str) -> bool:
        """Whether the anchor is for the check with this id."""
        return not self.modes or check in self.modes


class ScenarioDocument(Document, frozen=True, eq=False):
    """A scenario file. `tags` are sorted and unique; `turns` are those of all sessions, in order; `probes` are those
    of the scenario and of its turns, with what these expect of the memory. Scenarios of one `contrast_group` differ
    only in `contrast_variable`."""

    id: Annotated[str, At("scenario_id")]
    title: str
    category: str
    jurisdiction: str | None
    system: str
    tags: tuple[str, ...]
    eligible_modes: tuple[str, ...]
    cue_anchors: tuple[CueAnchorDocument, ...]
    turns: tuple[TurnDocument, ...]
    sessions: tuple[SessionDocument, ...]
    persona: Persona | None
    scoring_dimensions: Annotated[tuple[tuple[str, int], ...], At(by=_points)]
    probes: tuple[ProbeDocument, ...]
    contrast_group: str | None
    contrast_variable: str | None

    @property
    def holds_expressions(self) -> bool:
        """Whether a turn has branches, or the persona is shown by a template."""
        return any(turn.branches for turn in self.turns) or (self.persona is not None and bool(self.persona.visible))


def read_scenario(node: Mapping) -> ScenarioDocument:
    """The model of a scenario's mapping; missing values and values of a wrong type read as absent."""
    sessions = tuple(
        read(SessionDocument, each, turns=_turns(each)) for each in items(node, "sessions") if isinstance(each, Mapping)
    )
    turns = _turns(node) or tuple(turn for session in sessions for turn in session.turns)
    probes = (
        *read_each(ProbeDocument, node.get("probes")),
        *(probe for turn in turns for probe in turn.probes),
        *(probe for turn in turns for probe in _expectations(turn)),
    )
    return read(ScenarioDocument, node, tags=scenario_tags(node), sessions=sessions, turns=turns, probes=probes)


def _expectations(turn: TurnDocument) -> Iterator[ProbeDocument]:
    node = turn.get("memory_expectations")
    for key, kind in EXPECTATIONS.items():
        if expected := texts(node, key):
            found = {"kind": kind, "expected": expected, "written": text_scalars(node, key), "from_sessions": ()}
            yield read(ProbeDocument, node, turn=turn.number, **found)


class NumberedTurn(Struct, frozen=True):
    """A turn with its number or, without one, its position; `session` is the position of its session."""

    number: int
    turn: TurnDocument
    session: int = 0


def numbered_turns(scenario: ScenarioDocument) -> list[NumberedTurn]:
    """The user's turns in the order of play; positions continue across sessions."""
    sittings = [session.turns for session in scenario.sessions] or [scenario.turns]
    played = [(place, turn) for place, turns in enumerate(sittings) for turn in turns]
    return [
        NumberedTurn(number if turn.number is None else turn.number, turn, place)
        for number, (place, turn) in enumerate(played, 1)
    ]


def rubric_of(node: Mapping) -> tuple[Criterion, ...]:
    """The criteria of a turn or a branch."""
    return tuple(read_each(Criterion, node.get("rubric")))


def scenario_tags(node: Node) -> tuple[str, ...]:
    """The texts in `failure_mode_tags`, `risk_triggers` and `tags`; for an object, the first text among its names."""
    found = {_tag(item) for key in TAG_KEYS for item in items(node, key)}
    return tuple(sorted(found - {""}))


def _tag(node: Node) -> str:
    if isinstance(node, Scalar):
        return text(node)
    return next(filter(None, (text(node, key) for key in NAMING_KEYS)), "")


def _turns(node: Mapping) -> tuple[TurnDocument, ...]:
    return tuple(
        read(TurnDocument, each, number=_number(each)) for each in items(node, "turns") if isinstance(each, Mapping)
    )


def _number(node: Mapping) -> int | None:
    numbers = (number(node, key) for key in NUMBER_KEYS)
    return next((found for found in numbers if found is not None), None)


def _points(node: Node | None) -> tuple[tuple[str, int], ...]:
    return tuple((name, points) for name, each in entries_of(node) if (points := number(each)) is not None)


HOURS: Final = {"minute": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0, "month": 730.0, "year": 8760.0}
WORDS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12,
}  # fmt: skip
_UNIT: Final = "(minute|hour|day|week|month|year)"
_WHOLE: Final = r"\d{1,9}"  # more digits are not a time between sessions
_RELATIVE: Final = re.compile(
    rf"^(?:about |some )?({_WHOLE}(?:\.\d+)?|[a-z]+) {_UNIT}s?(?: (?:later|after|since|on)\b.*)?$"
)
_NEXT: Final = re.compile(rf"^(?:the )?(?:next|following) {_UNIT}$")
_ABSOLUTE: Final = re.compile(rf"^{_UNIT} ({_WHOLE})$")


def hours_between(written: Iterable[str]) -> tuple[float | None, ...]:
    """The hours between each session and the previous one; None for the first, and if the text can't be parsed.

    A month counts 730 hours, a year 8760. `Day 3` is counted from `Day 0` and needs every time before it.
    """
    found: list[float | None] = []
    position: float | None = 0.0
    for at, words in enumerate(written):
        words = words.strip().lower()
        absolute = _ABSOLUTE.match(words)
        if absolute:
            now = int(absolute.group(2)) * HOURS[absolute.group(1)]
            since = None if position is None or now < position else now - position
            position = now
        else:
            since = _relative(words)
            position = None if position is None or since is None else position + since
        if at == 0:
            since, position = None, position if absolute else 0.0
        found.append(since)
    return tuple(found)


def _relative(words: str) -> float | None:
    following = _NEXT.match(words)
    if following:
        return HOURS[following.group(1)]
    counted = _RELATIVE.match(words)
    if counted is None:
        return None
    number = counted.group(1)
    amount = float(number) if number[0].isdecimal() else WORDS.get(number)
    return None if amount is None else amount * HOURS[counted.group(2)]
