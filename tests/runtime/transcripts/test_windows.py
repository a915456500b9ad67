"""Windows: which turns a check is about."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import rounds
from tests.runtime.plans import talk
from tests.shared_data import folder

from rulewright_runtime.plan.question import (
    AnchoredWindow,
    EachReplyWindow,
    ExchangeWindow,
    LastPairWindow,
    NearbyWindow,
    WholeWindow,
    Window,
)
from rulewright_runtime.plan.scan import CueAnchor, Scenario, Session
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.windows import select

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


def test_an_anchor_for_another_check_and_one_outside_the_transcript_are_skipped() -> None:
    anchors = (CueAnchor(1, 1, ("X2",)), CueAnchor(9, 9), CueAnchor(None, 2), CueAnchor(2, 3, ("X1",)), CueAnchor(4, 4))
    assert chosen(AnchoredWindow(), cue_anchors=anchors) == [(2, 3, 4, 5)]
    assert chosen(AnchoredWindow(anchors="all"), cue_anchors=anchors) == [(2, 3, 4, 5, 6, 7)]


def test_without_an_anchor_the_found_cues_and_the_next_answers_are_judged() -> None:
    (found,) = select(AnchoredWindow(cue="words"), FOUR, "X1", Scenario(), lambda _: [0, 4])
    assert found.indices == (0, 1, 4, 5)


def test_without_any_cue_the_whole_transcript_is_judged_and_it_is_reported() -> None:
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


def test_a_long_exchange_is_judged_in_windows_that_overlap_by_one_pair() -> None:
    ten = talk(*"uaUAuaUAuaUAuaUAuaUA").turns  # ten exchanges
    assert chosen(ExchangeWindow(), ten) == [tuple(range(8)), tuple(range(6, 14)), tuple(range(12, 20))]
    assert chosen(ExchangeWindow(4), ten[:8]) == [(0, 1, 2, 3), (2, 3, 4, 5), (4, 5, 6, 7)]
    assert chosen(ExchangeWindow(20), ten) == [tuple(range(20))]


def test_turns_around_cues_are_bounded_and_cut_where_a_session_starts() -> None:
    ten = talk(*"uaUAuaUAuaUAuaUAuaUA").turns
    anchors = (CueAnchor(1, 3), CueAnchor(7, 10))
    window = AnchoredWindow(anchors="all", turns=8)
    assert chosen(window, ten, cue_anchors=anchors) == [(0, 1, 2, 3, 4, 5, 12, 13), (12, 13, 14, 15, 16, 17, 18, 19)]
    sessions = (Session(1, 1, 6), Session(2, 7, 10))
    assert chosen(window, ten, cue_anchors=anchors, sessions=sessions) == [tuple(range(6)), tuple(range(12, 20))]
    first, second = select(AnchoredWindow(cue="words", turns=4), ten, "X1", Scenario(), lambda _: [0, 8, 12])
    assert (first.indices, second.indices) == ((0, 1, 8, 9), (8, 9, 12, 13))
    assert [one.about["shown"] for one in (first, second)] == [[1, 5], [5, 7]]
    assert first.about["cue_turns"] == second.about["cue_turns"] == [1, 5, 7]


def test_an_anchor_past_the_end_of_the_conversation_is_recorded() -> None:
    scenario = Scenario(cue_anchors=(CueAnchor(1, 2), CueAnchor(9, 10)))
    (window,) = select(AnchoredWindow(anchors="all"), FOUR, "X1", scenario)
    assert (window.indices, window.about["anchors_without_turns"]) == ((0, 1, 2, 3), [[9, 10]])
    (window,) = select(AnchoredWindow(anchors="all"), FOUR, "X1", Scenario(cue_anchors=(CueAnchor(9, 10),)))
    assert (window.about["unbounded"], window.about["anchors_without_turns"]) == (True, [[9, 10]])
    (window,) = select(AnchoredWindow(anchors="all"), FOUR, "X1", Scenario(cue_anchors=(CueAnchor(1, 2),)))
    assert "anchors_without_turns" not in window.about


@settings(max_examples=rounds(60, 3_000))
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["user", "assistant"])), max_size=40),
    st.integers(4, 12),
    st.sets(st.integers(1, 40), max_size=3),
)
def test_every_answer_is_judged_in_a_bounded_window_with_what_came_before(
    steps: list[tuple[int, str]], most: int, starts: set[int]
) -> None:
    number, turns = 1, []
    for step, role in steps:
        number += step
        turns.append(Turn(number, role, "x"))
    sessions = tuple(Session(n, start, start) for n, start in enumerate(sorted(starts), 1))
    windows = chosen(ExchangeWindow(most), turns, sessions=sessions)
    answers = {index for index, turn in enumerate(turns) if turn.role == "assistant"}
    assert answers <= {index for window in windows for index in window}
    for window in windows:
        assert len(window) <= most
        assert list(window) == list(range(window[0], window[-1] + 1))
        numbers = [turns[index].turn for index in window]
        assert all(after - before <= 1 for before, after in pairwise(numbers))
        assert not any(numbers[0] < start <= numbers[-1] for start in starts)
    for before, after in pairwise(windows):
        assert before[0] < after[0]
        shared = range(after[0], before[-1] + 1)  # empty where a session or a gap lies between
        assert len(shared) <= most // 2


@pytest.mark.parametrize("window", [LastPairWindow(), NearbyWindow()])
def test_a_transcript_of_one_role_is_judged_whole(window: Window) -> None:
    role = "assistant" if isinstance(window, LastPairWindow) else "user"
    assert chosen(window, [Turn(1, role, "x"), Turn(2, role, "y")]) == [(0, 1)]
