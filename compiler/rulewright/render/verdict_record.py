"""Formats a verdict's record of how it was reached as lines."""

import json
from collections.abc import Callable, Iterator
from typing import Final

from rulewright_runtime.judging.evidence import tolerant
from rulewright_runtime.report.text import moment
from rulewright_runtime.strict_json import Json, JsonMapping

Line = tuple[str, str]
ITEM_KEYS: Final = frozenset({"parts", "failed", "unclear"})  # printed in one line
VOTE_KEYS: Final = frozenset(
    {"votes_for", "votes_cast", "planned", "adaptive_stopped", "configured", "unasked", "all_verdicts"}
)


def record_lines(extra: JsonMapping) -> Iterator[Line]:
    """Return pairs of label and text for a verdict's `extra`; an empty label continues the previous line."""
    if "planned" in extra:
        yield "votes", _votes(extra)
    if "parts" in extra:
        yield "items", f"{extra['failed']} of {extra['parts']} failed, {extra['unclear']} unclear"
    for key, value in sorted(extra.items()):
        if (key in VOTE_KEYS and "planned" in extra) or (key in ITEM_KEYS and "parts" in extra):
            continue
        label = "rejected quotes" if key == "unverified_evidence" else key.replace("_", " ")
        for line in _FORMATTERS.get(key, _as_text)(extra if key == "unverified_fail" else value):
            yield label, line
            label = ""


def _votes(extra: JsonMapping) -> str:
    cast = ", ".join(extra.get("all_verdicts", ())) or "none usable"
    stopped = f"; stopped after the first of {extra['configured']}" if extra.get("adaptive_stopped") else ""
    stopped += f"; {extra['unasked']} not asked" if extra.get("unasked") else ""
    verdict = "FAIL" if extra.get("unverified_fail") else "the verdict"
    won = f"{extra['votes_for']} of {extra['planned']} planned for {verdict}"
    counted = won if extra["votes_for"] else f"no majority of {extra['planned']} planned"
    return f"{counted}; cast: {cast}{stopped}"


def _as_text(value: object) -> Iterator[str]:
    yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unverified(extra: JsonMapping) -> Iterator[str]:
    items = list(_rejected(extra))
    why = "no quote of the judge's FAIL occurs in the judged turns in the role and turn that it names"
    if not items:
        why = "the judge's FAIL has no quote"
    elif all(tolerant({"evidence": [item]})[1] for item in items):
        why = "no item of the judge's evidence is an object with `role`, `turn` and `quote`"
    yield f"{why}, so it counts as UNCLEAR"


def _rejected(part: JsonMapping) -> Iterator[Json]:
    """The evidence that was rejected in the windows whose FAIL it should have shown."""
    parts = [part["phases"]["sweep"]] if "phases" in part else part.get("windows", ())
    if not parts:
        yield from part.get("unverified_evidence", ())
    for inner in parts:
        if "unverified_fail" in inner:
            yield from _rejected(inner)


def _window(value: Json) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "the whole conversation, because no cue was found" if value == "unbounded" else str(value)
        return
    about = [f"{key.replace('_', ' ')} {json.dumps(detail)}" for key, detail in value.items() if key != "unit"]
    yield ", ".join([str(value.get("unit", "window")), *about])


def _windows(value: Json) -> Iterator[str]:
    for window in value:
        window_text = next(_window(window["window"])) if "window" in window else "the whole conversation"
        votes = f" ({_votes(window)})" if "planned" in window else ""
        yield f"{window['verdict']}: {window_text}{votes}"


def _places(value: Json) -> Iterator[str]:
    if not value:
        yield "nothing found"
    for hit in value:
        yield _place(hit) if isinstance(hit, dict) else json.dumps(hit, ensure_ascii=False)


def _place(hit: JsonMapping) -> str:
    role = f", {hit['role']}" if "role" in hit else ""
    pattern = f" ({hit['pattern']})" if hit.get("pattern") else ""
    return f"turn {hit.get('turn')}{role}: “{hit.get('quote')}”{pattern}"


def _edge(value: Json) -> Iterator[str]:
    yield f"a judge was asked on {value['asked_on']}; without one: {value['verdict_before']}"


def _rule(value: Json) -> Iterator[str]:
    yield f"{value['jurisdiction']}: {value['origin']}"


def _missing(value: Json) -> Iterator[str]:
    yield ", ".join(value)


def _trace(value: Json) -> Iterator[str]:
    yield f"{value['machine']} ends in {value['end']}: {value['verdict']} ({value['code']})"
    for step in value["steps"]:
        location = f"session {step['session']}, turn {step['turn']}, {step['role']}"
        yield f"{step['before']} -> {step['to']} at {location}: “{step['quote']}”"
    if value.get("open"):
        yield f"not decided: {value['open']}"


def _claims(value: Json) -> Iterator[str]:
    for claim in value:
        yield f"turn {claim['turn']} {claim['answer']} {claim['outcome']}: {claim['about']}, {claim['because']}"


def _phases(value: Json) -> Iterator[str]:
    for candidate in value["candidates"]:
        votes = f" ({_votes(candidate)})" if "planned" in candidate else ""
        yield f"candidate at turn {candidate['turn']}, “{candidate['quote']}”: {candidate['verdict']}{votes}"
    if not value["candidates"]:
        yield "no candidate"
    sweep = value["sweep"]
    if isinstance(sweep, dict):
        votes = f" ({_votes(sweep)})" if "planned" in sweep else ""
        yield f"sweep: {sweep['verdict']}{votes}"
    else:
        yield f"sweep: {sweep}"


def _adjudicated(value: Json) -> Iterator[str]:
    verdict_before = value.get("before", {}).get("verdict", "")
    yield f"by {value.get('by')} at {moment(str(value.get('at')))}, was {verdict_before}: {value.get('why')}"


_FORMATTERS: Final[dict[str, Callable[[Json], Iterator[str]]]] = {
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
