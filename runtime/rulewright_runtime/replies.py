"""Replies: the verdict object in a judge's raw answer, whatever fences, prose or wrapping stand around it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.errors import JudgeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright_runtime.plan import Judging

VERDICTS: Final = frozenset(["PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"])
_TYPES: Final[dict[str, type]] = {"string": str, "integer": int, "boolean": bool}
MAX_LENGTH: Final = 200_000  # code points; a longer answer is not what was asked for
MAX_STEPS: Final = 2_000_000  # code points that are looked at in search of balanced objects
_CLOSED_FENCE: Final = re.compile(r"```(?:[A-Za-z0-9_-]*)\s*\n?(.*?)```", re.DOTALL)
_OPEN_FENCE: Final = re.compile(r"\A\s*```(?:[A-Za-z0-9_-]*)\s*\n?(.*)\Z", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(r",\s*([}\]])")


def parse(raw: str) -> dict[str, Any]:
    """The first object in `raw` that holds a verdict. Raises JudgeError where there is none.

    Tried are the content of the first fence, then the whole text; of each the text itself, then every balanced
    object from left to right. Commas before a closing bracket are removed.
    """
    if len(raw) > MAX_LENGTH:
        raise JudgeError(f"the reply has {len(raw)} characters; at most {MAX_LENGTH} are read")
    for text in _texts(raw):
        for candidate in _candidates(text):
            found = _verdict_object(candidate)
            if found is not None:
                return found
    raise JudgeError("the reply holds no object with a verdict")


def checked(reply: dict[str, Any], judging: Judging) -> dict[str, Any]:
    """The reply, if it holds the fields that `judging` asks for and they agree with its verdict; else JudgeError."""
    if not judging.fields:
        return reply
    for field in judging.fields:
        value = reply.get(field.name)
        fits = value in field.words if field.type == "words" else type(value) is _TYPES[field.type]
        if not fits:
            raise JudgeError(f"the reply's field `{field.name}` is no {field.type}")
    if judging.violates is not None:
        from rulewright_runtime.polarity import Place, boolean

        violates = boolean(judging.violates, Place.GUARDING)({"reply": reply})
        if violates != (reply["verdict"] == "FAIL"):
            raise JudgeError("the reply's fields contradict its verdict")
    return reply


def _texts(raw: str) -> Iterator[str]:
    fence = _CLOSED_FENCE.search(raw) or _OPEN_FENCE.match(raw)
    if fence:
        yield fence.group(1)
    yield raw


def _candidates(text: str) -> Iterator[str]:
    yield text
    start, steps = text.find("{"), 0
    while start >= 0 and steps < MAX_STEPS:
        end = _closing(text, start)
        if end is not None:
            yield text[start:end]
        steps += (end or len(text)) - start
        start = text.find("{", start + 1)


def _closing(text: str, start: int) -> int | None:
    """The end of the object that opens at `start`; brackets inside strings don't count."""
    depth, in_string, escaped = 0, False, False
    for place in range(start, len(text)):
        char = text[place]
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return place + 1
    return None


def _verdict_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(_TRAILING_COMMA.sub(r"\1", text.strip()))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    verdict = value.get("verdict")
    return _storable(value) if isinstance(verdict, str) and verdict in VERDICTS else None


def _storable(value: Any) -> Any:
    """The value with what no file of ours can hold replaced: half surrogate pairs, integers of more than 64 bits."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)[:40]
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value
