"""Replies: the one JSON object in a judge's raw answer, and the verdict it gives.

The strict reading is the language's: a reply is one JSON object, alone, in one fence, or with prose around it. The
lenient reading takes the first object that holds a verdict, as the published engine does; a plan names the reading it
wants (`Judging.reading`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Final, NoReturn

import msgspec

from rulewright_runtime.errors import JudgeError
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.polarity import Polarity, boolean
from rulewright_runtime.strict_json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright_runtime.plan.question import Judging

_TYPES: Final[dict[str, type]] = {"string": str, "integer": int, "boolean": bool}
MAX_LENGTH: Final = 200_000  # code points; a longer answer is not what was asked for
MAX_STEPS: Final = 2_000_000  # code points that the lenient reading looks at in search of balanced objects


def read(raw: str, judging: Judging) -> JsonObject:
    """The reply in `raw`, with the fields that `judging` asks for. Raises JudgeError where it is not usable."""
    return checked(strict(raw) if judging.reading == "strict" else lenient(raw), judging)


def checked(reply: dict[str, object], judging: Judging) -> dict[str, object]:
    """The reply, if it holds the fields that `judging` asks for and they agree with its verdict; else JudgeError."""
    if not judging.fields:
        return reply
    for field in judging.fields:
        value = reply.get(field.name)
        fits = value in field.words if field.type == "words" else type(value) is _TYPES[field.type]
        if not fits:
            raise JudgeError(f"the reply's field `{field.name}` is no {field.type}")
    if judging.violates is not None:
        violates = boolean(judging.violates, Polarity.GUARDING)({"reply": reply})
        if violates != (reply["verdict"] == "FAIL"):
            raise JudgeError("the reply's fields contradict its verdict")
    return reply


# --- the strict reading ---

_BRACES: Final = frozenset("{}")
_MARK: Final = re.compile(r"`{3,}|~{3,}")
_OPENING_FENCE: Final = re.compile(
    r"(?<![`~])(`{3,}+|~{3,}+)[ \t]*+(?:json5?|jsonc|js|javascript|text|plaintext)?\s*\Z", re.IGNORECASE
)
_CLOSING_FENCE: Final = re.compile(r"\s*(`{3,}+|~{3,}+)[ \t]*+(?:\n|\Z)")
# What encloses an object as something quoted, an item of a list or the value of a key.
_ENCLOSED_BEFORE: Final = re.compile(r"""(?:["'`“”„‘’«»‹›「『(\[\],|]|["']\s*:|^[ \t]*>[> \t]*)\s*\Z""", re.MULTILINE)
_ENCLOSED_AFTER: Final = re.compile(r"""\s*["'`“”‘’«»‹›」』)\[\],|]""")
_TAG: Final = re.compile(r"<(/?)((?!br\b|hr\b)[a-z][a-z0-9_-]*)(?:\s[^<>]*)?>", re.IGNORECASE)
# Verdicts as words in capitals; an underscore beside one may be emphasis.
_VERDICT_WORD: Final = re.compile(
    r"(?<![^\W_])(?:(PASS)(?:ED|ES)?|(FAIL)(?:ED|S|URE)?|(UNCLEAR)|(NOT[_ ]APPLICABLE))(?![^\W_])"
)


_WITHOUT_VERDICT: Final = frozenset({"role", "turn", "quote", "rationale"})  # the keys of most objects in replies


class _Pairs:
    """What JSON objects are made of: no key twice. It keeps every value whose key names a verdict, or may look so."""

    def __init__(self) -> None:
        self.verdicts: list[object] = []

    def __call__(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise JudgeError("the reply holds a key twice")
        if not made.keys() <= _WITHOUT_VERDICT:
            self.verdicts += [value for key, value in pairs if "verdict" in key.lower() or not key.isascii()]
        return made


def strict(raw: str) -> JsonObject:
    """The verdict object of a reply that is exactly one JSON object. Raises JudgeError for any other reply.

    The object may stand in one fence and have prose around it that holds no brace; `verdict` is one of its own keys,
    spelt in capitals. What stands inside its strings is data. A reply is not usable where the prose holds another
    verdict in capitals, or where another key of the reply gives another verdict.
    """
    pairs = _Pairs()
    found, before, after = _one_object(raw, pairs)
    verdict = found.get("verdict")
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise JudgeError("the reply's object holds no `verdict`, or none of the four")
    if pairs.verdicts != [verdict] and any(_verdicts_in(text) - {verdict} for text in _texts_of(pairs.verdicts)):
        raise JudgeError("the reply gives two verdicts")
    if (_verdicts_in(before) | _verdicts_in(after)) - {verdict}:
        raise JudgeError("the reply's prose names another verdict than its object")
    return _storable(found, raw)


def _texts_of(values: list[Json]) -> Iterator[str]:
    """The texts in JSON values, at any depth."""
    left = list(values)
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value


def _verdicts_in(text: str) -> set[str]:
    """The verdicts that a text names in capitals; of a text that is nothing but one also in small letters."""
    if not text:
        return set()
    alone = text.strip(" \t\r\n.!*_`").upper()
    named = {found.group(found.lastindex or 0) for found in _VERDICT_WORD.finditer(text)}
    return {word.replace(" ", "_") for word in named} | {alone}.intersection(VERDICTS)


def only_object(raw: str) -> JsonObject:
    """The object of a reply that is exactly one JSON object, in one fence or not, with prose around it or not.

    Raises JudgeError for any other reply: no object, two, a key twice, NaN, a brace in the prose, an object that is
    quoted or part of a list.
    """
    return _one_object(raw, _Pairs())[0]


def _one_object(raw: str, pairs: _Pairs) -> tuple[dict[str, object], str, str]:
    """The object, and the prose before and after it: plain, and without the fence."""
    if len(raw) > MAX_LENGTH:
        raise JudgeError(f"the reply has {len(raw)} characters; at most {MAX_LENGTH} are read")
    start = raw.find("{")
    if start < 0:
        raise JudgeError("the reply holds no JSON object")
    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_not_a_number, parse_int=_integer)
    try:
        found, end = decoder.raw_decode(raw, start)
    except (ValueError, RecursionError):
        raise JudgeError("the reply holds no JSON object that can be read") from None
    if len(raw) == end - start:
        return found, "", ""
    before, after = _unfenced(_plain(raw[:start]), _plain(raw[end:]))
    if _BRACES & {*before, *after}:
        raise JudgeError("the reply holds more than one JSON object")
    if _MARK.search(before) or _MARK.search(after):
        raise JudgeError("the reply holds a fence that is not closed, or more than one")
    if _ENCLOSED_BEFORE.search(before) or _ENCLOSED_AFTER.match(after) or _inside_element(before):
        raise JudgeError("the reply's object is quoted or part of something else")
    return found, before, after


def _unfenced(before: str, after: str) -> tuple[str, str]:
    """Both sides without the fence around the object; one that is never closed is a fence where nothing else stands."""
    opening, closing = _OPENING_FENCE.search(before), _CLOSING_FENCE.match(after)
    if opening and closing and opening.group(1) == closing.group(1):
        return before[: opening.start()], after[closing.end() :]
    if opening and not before[: opening.start()].strip() and not after.strip():
        return "", ""
    return before, after


def _inside_element(before: str) -> bool:
    """Whether an element such as `<think>` is still open where the object begins."""
    tags = Counter((slash, name.lower()) for slash, name in _TAG.findall(before))
    return any(number > tags["/", name] for (slash, name), number in tags.items() if not slash)


def _plain(text: str) -> str:
    """The text without compatibility forms and invisible characters."""
    if text.isascii():
        return text
    return "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")


def _integer(digits: str) -> int | str:
    """The number; the first digits of one of more than 64 bits, which no file of ours can hold."""
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else digits[:40]


def _not_a_number(word: str) -> NoReturn:
    raise JudgeError(f"the reply holds `{word}`, which JSON does not have")


# --- the lenient reading ---

_CLOSED_FENCE: Final = re.compile(r"```(?:[A-Za-z0-9_-]*)\s*\n?(.*?)```", re.DOTALL)
_OPEN_FENCE: Final = re.compile(r"\A\s*```(?:[A-Za-z0-9_-]*)\s*\n?(.*)\Z", re.DOTALL)
_DECODER: Final = json.JSONDecoder(parse_int=_integer)
_TRAILING_COMMA: Final = re.compile(r",\s*([}\]])")


def lenient(raw: str) -> dict[str, object]:
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


def _verdict_object(text: str) -> dict[str, object] | None:
    try:
        value = _DECODER.decode(_TRAILING_COMMA.sub(r"\1", text.strip()))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    verdict = value.get("verdict")
    return _storable(value, text) if isinstance(verdict, str) and verdict in VERDICTS else None


def _storable(value: JsonObject, text: str) -> JsonObject:
    """The value of a JSON text with half surrogate pairs replaced, which no file of ours can hold."""
    if text.isascii() and "\\u" not in text:
        return value
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return {_replaced(key): _replaced(item) for key, item in value.items()}
    return value


def _replaced(value: Json) -> Json:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    if isinstance(value, dict):
        return {_replaced(key): _replaced(item) for key, item in value.items()}
    return value
