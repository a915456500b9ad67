"""Windows: selects the turns of a transcript that a check judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from rulewright_runtime.plan import question
from rulewright_runtime.plan.scan import CueAnchor, Scenario
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Turn


class WindowTurns(msgspec.Struct, frozen=True):
    """The indices of a window's turns, in order; `about` says how they were selected (empty: whole transcript)."""

    indices: tuple[int, ...]
    about: JsonObject = {}


def select(
    window: question.Window,
    turns: Sequence[Turn],
    check_id: str,
    scenario: Scenario,
    find_cues: Callable[[str], Sequence[int]] = lambda _: (),
) -> tuple[WindowTurns, ...]:
    """The windows of a check on a transcript, in order; each is judged separately. Empty only if nothing can be judged.

    `find_cues` returns the indices of the turns in which a lexicon hits; it is called only for a window with a `cue`.
    """
    if isinstance(window, question.AnchoredWindow):
        return _anchored(window, turns, check_id, scenario, find_cues)
    if isinstance(window, question.LastPairWindow):
        return (_last_pair(turns),)
    if isinstance(window, question.NearbyWindow):
        return (_nearby(turns, window.radius),)
    if isinstance(window, question.EachReplyWindow):
        return _each_reply(turns)
    if isinstance(window, question.ExchangeWindow):
        return _exchanges(window, turns, scenario)
    return (_whole(turns),)


def _whole(turns: Sequence[Turn], **about: object) -> WindowTurns:
    return WindowTurns(tuple(range(len(turns))), about)


def _anchored(
    window: question.AnchoredWindow,
    turns: Sequence[Turn],
    check_id: str,
    scenario: Scenario,
    find_cues: Callable[[str], Sequence[int]],
) -> tuple[WindowTurns, ...]:
    own = [(each, _between(each, turns)) for each in scenario.cue_anchors if not each.modes or check_id in each.modes]
    anchored = [(anchor, indices) for anchor, indices in own if indices]
    missed = [[anchor.from_turn, anchor.to_turn] for anchor, indices in own if not indices and _has_ends(anchor)]
    missing: JsonObject = {"anchors_without_turns": missed} if missed and window.anchors == "all" else {}
    if anchored:
        anchor, indices = anchored[0]
        about: dict[str, object] = {"unit": "event_window", "from_turn": anchor.from_turn, "to_turn": anchor.to_turn}
        about |= {"cue_turn": anchor.cue_turn}
        if window.anchors == "all" and len(anchored) > 1:
            indices = sorted({index for _, several in anchored for index in several})
            about = {"unit": "event_window", "anchors": [[a.from_turn, a.to_turn] for a, _ in anchored]}
        return _parts(window, indices, turns, scenario, about | missing)
    if window.cue is not None and (cues := find_cues(window.cue)):
        indices = sorted({index for cue in cues for index in (cue, _next_reply(turns, cue)) if index is not None})
        about = {"unit": "event_window", "cue_turns": [turns[cue].turn for cue in cues]}
        return _parts(window, indices, turns, scenario, about | missing)
    return (_whole(turns, unit="event_window", unbounded=True, **missing),)


def _parts(
    window: question.AnchoredWindow, indices: list[int], turns: Sequence[Turn], scenario: Scenario, about: JsonObject
) -> tuple[WindowTurns, ...]:
    """The turns around cues as one window or, if the plan limits its size, as several, each with its first and last
    turn in `shown`."""
    if window.turns is None:
        return (WindowTurns(tuple(indices), about),)
    parts = [part for run in _by_session(indices, turns, scenario) for part in _bounded(run, turns, window.turns)]
    if len(parts) == 1:
        return (WindowTurns(parts[0], about),)
    return tuple(WindowTurns(part, {**about, "shown": [turns[part[0]].turn, turns[part[-1]].turn]}) for part in parts)


def _has_ends(anchor: CueAnchor) -> bool:
    return anchor.from_turn is not None and anchor.to_turn is not None


def _between(anchor: CueAnchor, turns: Sequence[Turn]) -> list[int]:
    start, end = anchor.from_turn, anchor.to_turn
    if start is None or end is None:
        return []
    return [index for index, turn in enumerate(turns) if start <= turn.turn <= end]


def _next_reply(turns: Sequence[Turn], index: int) -> int | None:
    return next((i for i in range(index + 1, len(turns)) if turns[i].role == "assistant"), None)


def _last_pair(turns: Sequence[Turn]) -> WindowTurns:
    asked = next((i for i in range(len(turns) - 1, -1, -1) if turns[i].role == "user"), None)
    if asked is None:
        return _whole(turns)
    number = turns[asked].turn
    reply = next((i for i, turn in enumerate(turns) if turn.role == "assistant" and turn.turn >= number), None)
    indices = (asked,) if reply is None else tuple(sorted((asked, reply)))
    return WindowTurns(indices, {"unit": "turn_level", "user_turn": number})


def _nearby(turns: Sequence[Turn], radius: int) -> WindowTurns:
    pivot = next((turn.turn for turn in reversed(turns) if turn.role == "assistant"), None)
    if pivot is None:
        return _whole(turns)
    indices = tuple(i for i, turn in enumerate(turns) if abs(turn.turn - pivot) <= radius)
    return WindowTurns(indices, {"unit": "local_exchange", "pivot_turn": pivot})


def _each_reply(turns: Sequence[Turn]) -> tuple[WindowTurns, ...]:
    return tuple(
        WindowTurns((index,), {"unit": "turn_level", "turn": turn.turn})
        for index, turn in enumerate(turns)
        if turn.role == "assistant"
    )


def _exchanges(window: question.ExchangeWindow, turns: Sequence[Turn], scenario: Scenario) -> tuple[WindowTurns, ...]:
    """Runs of turns without a gap in their numbers, split at sessions; windows without a reply are dropped."""
    runs = [
        run
        for session in _by_session(range(len(turns)), turns, scenario)
        for run in _cut(session, lambda before, index: turns[index].turn > turns[before].turn + 1)
    ]
    return tuple(
        WindowTurns(part, {"unit": "local_exchange", "from_turn": turns[part[0]].turn, "to_turn": turns[part[-1]].turn})
        for run in runs
        for part in _bounded(run, turns, window.turns)
        if any(turns[index].role == "assistant" for index in part)
    )


def _by_session(indices: Iterable[int], turns: Sequence[Turn], scenario: Scenario) -> list[list[int]]:
    """The turns at `indices`, split where a session starts."""
    starts = [session.first_turn for session in scenario.sessions]
    return _cut(indices, lambda before, index: any(turns[before].turn < start <= turns[index].turn for start in starts))


def _bounded(indices: Sequence[int], turns: Sequence[Turn], most: int) -> list[tuple[int, ...]]:
    """Windows of at most `most` turns; each starts with the exchange that ends the previous one.

    An exchange that would fill more than half a window is split.
    """
    if len(indices) <= most:
        return [tuple(indices)]
    exchanges = _cut(indices, lambda before, index: (turns[before].role, turns[index].role) == ("assistant", "user"))
    half = most // 2
    pieces = [piece[at : at + half] for piece in exchanges for at in range(0, len(piece), half)]
    windows: list[tuple[int, ...]] = []
    start = 0
    while True:
        end, shown = start, list[int]()
        while end < len(pieces) and len(shown) + len(pieces[end]) <= most:
            shown += pieces[end]
            end += 1
        windows.append(tuple(shown))
        if end == len(pieces):
            return windows
        start = end - 1  # two pieces always fit, so `start` always advances


def _cut(indices: Iterable[int], opens: Callable[[int, int], bool]) -> list[list[int]]:
    """Split `indices` into runs; `opens` says whether a run starts at the second of two neighbours."""
    runs: list[list[int]] = []
    for index in indices:
        if not runs or opens(runs[-1][-1], index):
            runs.append([])
        runs[-1].append(index)
    return runs
