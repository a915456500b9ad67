"""Windows: which turns a check is about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.runtime.plans import talk
from tests.shared_data import folder

from rulewright_runtime.plan import (
    AnchoredWindow,
    CueAnchor,
    EachReplyWindow,
    ExchangeWindow,
    LastPairWindow,
    NearbyWindow,
    Scenario,
    Session,
    WholeWindow,
    Window,
)
from rulewright_runtime.transcripts import Reader, Transcript, Turn
from rulewright_runtime.windows import select

FOUR = talk(*"uaUAuaUA").turns  # four exchanges
UNITS: dict[str, Window] = {
    "event_window": AnchoredWindow(),
    "turn_level": LastPairWindow(),
    "local_exchange": NearbyWindow(),
}


def chosen(window: Window, turns: Sequence[Turn] = FOUR, **facts: Any) -> list[tuple[int, ...]]:
    return [one.indices for one in select(window, turns, "X1", Scenario(**facts))]


def test_every_published_window_is_selected() -> None:
    data = folder("invisiblebench")
    read = {item.id: item for item in Reader().read([data / "transcripts"]) if isinstance(item, Transcript)}
    scenarios = {}
    for path in data.glob("scenarios/**/*.json"):
        raw = json.loads(path.read_text(encoding="utf-8"))
        scenarios[raw["scenario_id"]] = Scenario(cue_anchors=tuple(map(anchor, raw.get("cue_anchors", ()))))
    for row in json.loads((data / "expected" / "unit" / "windows.json").read_text(encoding="utf-8"))["rows"]:
        transcript = read[row["transcript_id"]]
        window = UNITS.get(row["unit"].strip(), WholeWindow())
        (found,) = select(window, transcript.turns, row["check"], scenarios[transcript.scenario_id])
        assert list(found.indices) == row["indices"]
        assert row["window"] is None or {**row["window"], **found.about} == {**found.about, **row["window"]}


def anchor(raw: dict[str, Any]) -> CueAnchor:
    window = raw.get("response_window") or {}
    return CueAnchor(window.get("from_turn"), window.get("to_turn"), tuple(raw.get("modes", ())), raw.get("cue_turn"))


def test_an_anchor_for_another_check_and_one_outside_the_transcript_are_passed_over() -> None:
    anchors = (CueAnchor(1, 1, ("X2",)), CueAnchor(9, 9), CueAnchor(None, 2), CueAnchor(2, 3, ("X1",)), CueAnchor(4, 4))
    assert chosen(AnchoredWindow(), cue_anchors=anchors) == [(2, 3, 4, 5)]
    assert chosen(AnchoredWindow(anchors="all"), cue_anchors=anchors) == [(2, 3, 4, 5, 6, 7)]


def test_without_an_anchor_the_found_cues_and_the_next_answers_are_judged() -> None:
    (found,) = select(AnchoredWindow(cue="words"), FOUR, "X1", Scenario(), lambda _: [0, 4])
    assert found.indices == (0, 1, 4, 5)


def test_without_any_cue_the_whole_transcript_is_judged_and_it_is_said() -> None:
    (found,) = select(AnchoredWindow(cue="words"), FOUR, "X1", Scenario(), lambda _: [])
    assert found.indices == tuple(range(8))
    assert found.about["unbounded"] is True


def test_every_reply_alone() -> None:
    assert chosen(EachReplyWindow()) == [(1,), (3,), (5,), (7,)]
    assert chosen(EachReplyWindow(), talk("only a question").turns) == []


def test_an_exchange_ends_where_a_session_starts_or_a_number_is_missing() -> None:
    assert chosen(ExchangeWindow()) == [tuple(range(8))]
    assert chosen(ExchangeWindow(), sessions=(Session(1, 1, 2), Session(2, 3, 4))) == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert chosen(ExchangeWindow(), [*FOUR[:2], *FOUR[4:]]) == [(0, 1), (2, 3, 4, 5)]


@pytest.mark.parametrize("window", [LastPairWindow(), NearbyWindow()])
def test_a_transcript_of_one_role_is_judged_whole(window: Window) -> None:
    role = "assistant" if isinstance(window, LastPairWindow) else "user"
    assert chosen(window, [Turn(1, role, "x"), Turn(2, role, "y")]) == [(0, 1)]
