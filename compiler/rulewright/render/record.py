"""What a verdict records of how it came about, told line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from rulewright_runtime.strict_json import Json, JsonMapping

Line = tuple[str, str]
TOGETHER: Final = frozenset(
    {"votes_for", "votes_cast", "planned", "adaptive_stopped", "configured", "unasked", "all_verdicts"}
)


def told(extra: JsonMapping) -> Iterator[Line]:
    """Pairs of a label and what it says, for everything in a verdict's `extra`; an empty label continues the last."""
    if "planned" in extra:
        yield "votes", _votes(extra)
    for key, value in sorted(extra.items()):
        if key in TOGETHER and "planned" in extra:
            continue
        label = key.replace("_", " ")
        for line in _TELLERS.get(key, _as_it_is)(value):
            yield label, line
            label = ""


def _votes(extra: JsonMapping) -> str:
    cast = ", ".join(extra.get("all_verdicts", ())) or "none usable"
    stopped = f"; stopped after the first of {extra['configured']}" if extra.get("adaptive_stopped") else ""
    stopped += f"; {extra['unasked']} not asked" if extra.get("unasked") else ""
    return f"{extra['votes_for']} of {extra['planned']} planned for the verdict; cast: {cast}{stopped}"


def _as_it_is(value: object) -> Iterator[str]:
    yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unverified(_: Json) -> Iterator[str]:
    yield "no quote of the judge's FAIL occurs in the conversation, so it counts as UNCLEAR"


def _window(value: Json) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "the whole conversation, because no cue was found" if value == "unbounded" else str(value)
        return
    about = [f"{key.replace('_', ' ')} {json.dumps(found)}" for key, found in value.items() if key != "unit"]
    yield ", ".join([str(value.get("unit", "window")), *about])


def _windows(value: Json) -> Iterator[str]:
    for window in value:
        where = next(_window(window["window"])) if "window" in window else "the whole conversation"
        votes = f" ({_votes(window)})" if "planned" in window else ""
        yield f"{window['verdict']}: {where}{votes}"


def _places(value: Json) -> Iterator[str]:
    if not value:
        yield "nothing found"
    for found in value:
        yield _place(found) if isinstance(found, dict) else json.dumps(found, ensure_ascii=False)


def _place(found: JsonMapping) -> str:
    who = f", {found['role']}" if "role" in found else ""
    pattern = f" ({found['pattern']})" if found.get("pattern") else ""
    return f"turn {found.get('turn')}{who}: “{found.get('quote')}”{pattern}"


def _edge(value: Json) -> Iterator[str]:
    yield f"a judge was asked on {value['asked_on']}; without one: {value['verdict_before']}"


def _rule(value: Json) -> Iterator[str]:
    yield f"{value['jurisdiction']}: {value['origin']}"


def _missing(value: Json) -> Iterator[str]:
    yield ", ".join(value)


def _trace(value: Json) -> Iterator[str]:
    yield f"{value['machine']} ends in {value['end']}: {value['verdict']} ({value['code']})"
    for step in value["steps"]:
        where = f"session {step['session']}, turn {step['turn']}, {step['role']}"
        yield f"{step['before']} -> {step['to']} at {where}: “{step['quote']}”"
    if value.get("open"):
        yield f"not decided: {value['open']}"


def _claims(value: Json) -> Iterator[str]:
    for claim in value:
        yield f"turn {claim['turn']} {claim['answer']} {claim['outcome']}: {claim['about']}, {claim['because']}"


def _phases(value: Json) -> Iterator[str]:
    for found in value["candidates"]:
        votes = f" ({_votes(found)})" if "planned" in found else ""
        yield f"candidate at turn {found['turn']}, “{found['quote']}”: {found['verdict']}{votes}"
    if not value["candidates"]:
        yield "no candidate"
    sweep = value["sweep"]
    if isinstance(sweep, dict):
        votes = f" ({_votes(sweep)})" if "planned" in sweep else ""
        yield f"sweep: {sweep['verdict']}{votes}"
    else:
        yield f"sweep: {sweep}"


def _adjudicated(value: Json) -> Iterator[str]:
    was = value.get("before", {}).get("verdict", "")
    yield f"by {value.get('by')} at {value.get('at')}, was {was}: {value.get('why')}"


_TELLERS: Final[dict[str, Callable[[Json], Iterator[str]]]] = {
    "adjudicated": _adjudicated,
    "window": _window,
    "windows": _windows,
    "precheck": _places,
    "unverified_evidence": _places,
    "unverified_fail": _unverified,
    "edge": _edge,
    "rule": _rule,
    "trace": _trace,
    "claims": _claims,
    "phases": _phases,
    "incomplete": iter,
    "missing": _missing,
}
