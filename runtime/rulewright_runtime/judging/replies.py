"""Replies: extracts the JSON object and its verdict from a judge's raw reply.

The strict reading is the language's: a reply is one JSON object, alone, in one fence, or with prose around it. The
lenient reading takes the first object with a verdict, as the published engine does; the plan selects the reading
(`Judging.reading`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Annotated, Final, NoReturn

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.english import either
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.models.call import WHOLE, ending
from rulewright_runtime.plan.part import VERDICTS, Verdict
from rulewright_runtime.plan.question import Judging
from rulewright_runtime.polarity import Polarity, boolean
from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.verdicts import EvidenceSpan

_TYPES: Final[dict[str, type]] = {"string": str, "integer": int, "boolean": bool}
MAX_LENGTH: Final = 200_000  # code points; a longer reply is not usable
SHOWN_REST: Final = 20  # characters from the place at which a reply stops being JSON
SHOWN: Final = 80  # characters of a reply in a message about it
MAX_STEPS: Final = 2_000_000  # code points that the lenient reading scans for objects, and 100 for each brace


def read(raw: str, judging: Judging) -> JsonObject:
    """The reply in `raw`, with the fields that `judging` declares. Its evidence is a tuple of EvidenceSpan if the reply
    has the usual keys and types. Raises JudgeError if it is not usable."""
    if not judging.fields and (reply := _usual(raw, is_strict=judging.reading == "strict")) is not None:
        return reply
    if judging.reading != "strict":
        return checked(lenient(raw), judging)
    return checked(strict(raw, frozenset(field.name for field in judging.fields)), judging)


def reader(judging: Judging) -> Callable[[str], JsonObject]:
    return partial(read, judging=judging)


def why_unusable(raw: str, finish: str, readings: Iterable[Callable[[str], object]]) -> str:
    """Why a reply can't be read for any of the questions that it may answer; empty if it can."""
    if finish not in ("", WHOLE):
        return f"it is incomplete: {ending(finish)}"
    reason = ""
    for reading in readings:
        try:
            reading(raw)
        except JudgeError as error:
            reason = reason or str(error)
        else:
            return ""
    return reason


def beginning(raw: str) -> str:
    """How a reply begins, for a message about it."""
    text = " ".join(raw[: 10 * SHOWN].split())
    return f"it begins: `{text[:SHOWN]}`" if text else "it is empty"


def checked(reply: dict[str, object], judging: Judging) -> dict[str, object]:
    """The reply, in which a level may be a number. Raises JudgeError if it lacks a field that `judging` declares, or if
    they contradict its verdict."""
    fields = [field for field in judging.fields if field.type != "level" or reply["verdict"] in ("PASS", "FAIL")]
    if not fields:
        return reply
    for field in fields:
        value = reply.get(field.name)
        if field.type == "level" and type(value) is int:
            value = str(value)
            reply = {**reply, field.name: value}
        fits = type(value) is _TYPES[field.type] if field.type in _TYPES else value in field.words
        if not fits:
            wanted = either([f"`{word}`" for word in field.words]) if field.words else f"of the type `{field.type}`"
            raise JudgeError(f"the reply's field `{field.name}` is not {wanted}")
    if judging.violates is not None:
        violates = boolean(judging.violates, Polarity.GUARDING)({"reply": reply})
        if violates != (reply["verdict"] == "FAIL"):
            raise JudgeError("the reply's fields contradict its verdict")
    return reply


# --- the reading of usual replies ---

_Unset = msgspec.UnsetType


class _Quote(msgspec.Struct, frozen=True):
    role: str
    turn: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
    quote: str
    rationale: str | _Unset | None = msgspec.UNSET


class _UsualReply(msgspec.Struct, frozen=True):
    """A reply with the keys and types that a request asks for; the published engine asks for the last two."""

    verdict: Verdict
    evidence: tuple[_Quote, ...]
    rationale: str | _Unset = msgspec.UNSET
    rationale_code: str | _Unset | None = msgspec.UNSET
    eligible: bool | _Unset = msgspec.UNSET
    confidence: float | _Unset = msgspec.UNSET


_DECODE_USUAL: Final = msgspec.json.Decoder(_UsualReply).decode


def _usual(raw: str, *, is_strict: bool) -> JsonObject | None:
    """A reply that is one object with the usual keys, each once, and nothing else. None for any other reply, and for
    one that the reading might refuse or change."""
    if len(raw) > MAX_LENGTH or "\\u003" in raw or not (is_strict or _TRAILING_COMMA.search(raw) is None):
        return None
    try:
        reply = _DECODE_USUAL(raw)
        if raw.count(":") != strict_json.colons_in(reply):  # it holds another key, or one twice
            return None
    except _UNUSUAL:
        return None
    code = _given(reply.rationale_code)
    if is_strict and (_verdicts_alone(reply.rationale) | _verdicts_alone(code)) - {reply.verdict}:
        return None
    spans = tuple([EvidenceSpan(each.role, each.turn, each.quote, _given(each.rationale)) for each in reply.evidence])
    return {"verdict": reply.verdict, "evidence": spans, "rationale_code": code}


def _given(text: str | _Unset | None) -> str | None:
    return None if text is msgspec.UNSET else text


# --- the strict reading ---

_BRACES: Final = frozenset("{}")
_REASONING: Final = re.compile(r"\s*<think>")
_MARK: Final = re.compile(r"`{3,}|~{3,}")
_OPENING_FENCE: Final = re.compile(
    r"(?<![`~])(`{3,}+|~{3,}+)[ \t]*+(?:json5?|jsonc|js|javascript|text|plaintext)?\s*\Z", re.IGNORECASE
)
_CLOSING_FENCE: Final = re.compile(r"\s*(`{3,}+|~{3,}+)[ \t]*+(?:\n|\Z)")
# Characters before or after an object that make it a quotation, a list item or the value of a key.
_ENCLOSED_BEFORE: Final = re.compile(r"""(?:["'`“”„‘’«»‹›「『(\[\],|]|["']\s*:|^[ \t]*>[> \t]*)\s*\Z""", re.MULTILINE)
_ENCLOSED_AFTER: Final = re.compile(r"""\s*["'`“”‘’«»‹›」』)\[\],|]""")
_TAG: Final = re.compile(r"<(/?)((?!br\b|hr\b)[a-z][a-z0-9_-]*)(?:\s[^<>]*)?>", re.IGNORECASE)
# Verdicts as words in capitals; an adjacent underscore may be emphasis.
_VERDICT_WORD: Final = re.compile(
    r"(?<![^\W_])(?:(PASS)(?:ED|ES)?|(FAIL)(?:ED|S|URE)?|(UNCLEAR)|(NOT[_ ]APPLICABLE))(?![^\W_])"
)


# "Verdict: fail" in prose.
_LABELLED: Final = re.compile(
    r"\b(?:verdict|decision|judge?ment|conclusion|ruling)\b\W{0,8}(?:is\W{1,4})?"
    r"(?:(pass)(?:ed|es)?|(fail)(?:ed|s|ure)?|(unclear)|(not[_ ]applicable))\b",
    re.IGNORECASE,
)
_LONGEST: Final = max(map(len, VERDICTS))
_WITHOUT_VERDICT: Final = frozenset({"role", "turn", "quote", "rationale"})  # the keys of most objects in replies
_NESTED: Final = frozenset({dict, list})
_USUAL: Final = frozenset({"rationale", "verdict", "evidence", "rationale_code"})  # the keys that a request asks for
# Keys under which models repeat their verdict.
_CONCLUDES: Final = re.compile(
    r"decision|label|outcome|result|judge?ment|conclusion|final|overall|grade|rating|assessment|determination|ruling"
    r"|^votes?$"
)
_PASSED: Final = {
    **dict.fromkeys(("pass", "passed", "passes"), "PASS"),
    **dict.fromkeys(("fail", "failed", "fails"), "FAIL"),
}


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object of these pairs. Raises JudgeError for a repeated key."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise JudgeError("the reply contains a key twice")
    return record


def _named_verdicts(reply: JsonObject) -> list[Json]:
    """The values in a reply, at any depth, whose key contains `verdict` or is not ASCII."""
    named: list[Json] = []
    pending: list[Json] = [reply]
    for value in pending:
        if isinstance(value, dict):
            if not value.keys() <= _WITHOUT_VERDICT:
                named += [each for key, each in value.items() if "verdict" in key.lower() or not key.isascii()]
            value = value.values()
        pending += [each for each in value if type(each) in _NESTED]
    return named


def strict(raw: str, declared: frozenset[str] = frozenset()) -> JsonObject:
    """The verdict object of a reply that is exactly one JSON object. Raises JudgeError for any other reply.

    The object may be in one fence and have prose around it without braces; `verdict` is one of its own keys, with its
    value in capitals. Strings inside it are data. A reply is not usable if the prose holds a different verdict in
    capitals or after a word such as `verdict`, or if another key of the reply than the `declared` ones gives a
    different verdict.
    """
    reply, before, after = _one_object(raw)
    verdict = reply.get("verdict")
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise JudgeError(f"the reply's object has no `verdict` that is {either(VERDICTS)}, in capitals")
    named = _named_verdicts(reply)
    if named != [verdict] and any(_verdicts_in(text) - {verdict} for text in _texts_of(named)):
        raise JudgeError("the reply gives two verdicts")
    if _contradicts(reply, verdict, declared):
        raise JudgeError("the reply's keys give two verdicts")
    if (_verdicts_in(before) | _verdicts_in(after)) - {verdict}:
        raise JudgeError("the reply's prose names another verdict than its object")
    return _storable(reply)


def _contradicts(reply: JsonObject, verdict: str, declared: frozenset[str]) -> bool:
    """Whether a key such as `decision` or `passed` gives another verdict, or the whole value of another key is one."""
    verdicts = {text for key in reply.keys() - (declared - _USUAL) for text in _verdicts_alone(reply[key])}
    pending = [{key: reply[key] for key in reply.keys() - _USUAL - declared}]
    while pending:
        for key, value in pending.pop().items():
            name = key.lower()
            if isinstance(value, bool) and name in _PASSED and verdict in ("PASS", "FAIL"):
                if (_PASSED[name] == verdict) != value:
                    return True
            elif name in _PASSED and not isinstance(value, dict):
                verdicts.update(*map(_verdicts_alone, _texts_of([value])))
            elif _CONCLUDES.search(name):
                verdicts.update(*map(_verdicts_in, _texts_of([value])))
            elif isinstance(value, dict):
                pending.append(value)
    return bool(verdicts - {verdict})


def _texts_of(values: list[Json]) -> Iterator[str]:
    """Yield the texts in JSON values, at any depth."""
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _verdicts_in(text: str) -> set[str]:
    """The verdicts that a text names in capitals, or in lower case after a label or as the whole text."""
    found = (*_VERDICT_WORD.finditer(text), *_LABELLED.finditer(text))
    named = {match.group(match.lastindex or 0).upper() for match in found}
    return {word.replace(" ", "_") for word in named} | _verdicts_alone(text)


def _verdicts_alone(text: Json) -> set[str]:
    """The verdict that is the whole text, in any case."""
    word = text.strip(" \t\r\n.!*_`") if isinstance(text, str) else ""
    match = _VERDICT_WORD.fullmatch(word.upper()) if len(word) <= _LONGEST else None
    return {match.group(match.lastindex or 0).replace(" ", "_")} if match else set()


def only_object(raw: str) -> tuple[JsonObject, str]:
    """The object of a reply that is exactly one JSON object, optionally in one fence, and the prose around it.

    Raises JudgeError for any other reply: no object, two, a repeated key, NaN, a brace in the prose, or an object that
    is quoted or part of a list.
    """
    found, before, after = _one_object(raw)
    return _storable(found), f"{before}\n{after}"


def _one_object(raw: str) -> tuple[dict[str, object], str, str]:
    """The object, and the prose before and after it, normalised and without the fence."""
    if len(raw) > MAX_LENGTH:
        raise JudgeError(f"the reply has {len(raw)} characters; at most {MAX_LENGTH} are read")
    raw = _without_reasoning(raw)
    if raw.startswith("{") and raw.endswith("}"):
        with suppress(*_UNUSUAL):
            return strict_json.decode(raw.encode()), "", ""
    start = raw.find("{")
    if start < 0:
        raise JudgeError("the reply contains no JSON object")
    try:
        value, end = _STRICT.raw_decode(raw, start)
    except (ValueError, RecursionError) as error:
        raise JudgeError(f"the reply contains no JSON object that can be read: {_why_not_json(error)}") from None
    if len(raw) == end - start:
        return value, "", ""
    before, after = _unfenced(_plain(raw[:start]), _plain(raw[end:]))
    if _BRACES & {*before, *after}:
        raise JudgeError("the reply contains more than one JSON object")
    if _MARK.search(before) or _MARK.search(after):
        raise JudgeError("the reply contains a fence that is not closed, or more than one")
    if _ENCLOSED_BEFORE.search(before) or _ENCLOSED_AFTER.match(after) or _inside_element(before):
        raise JudgeError("the reply's object is quoted or part of something else")
    return value, before, after


def _why_not_json(error: ValueError | RecursionError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "it is nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
    rest = error.doc[error.pos :]
    if not rest.strip() or error.msg.startswith("Unterminated string"):
        return "it ends inside the object"
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in rest[:SHOWN_REST])
    return f"it stops being JSON at `{shown}{'…' if len(rest) > SHOWN_REST else ''}`"


def _without_reasoning(raw: str) -> str:
    """The reply without the `<think>` element at its start, in which a reasoning model drafts verdicts. A reply with a
    second such tag is returned as it is: the element may end in a quotation of the conversation."""
    opening, reasoning, rest = _REASONING.match(raw), *raw.partition("</think>")[::2]
    is_one = opening is not None and "<think>" not in reasoning[opening.end() :] and "think>" not in rest
    return rest.strip() if is_one else raw


def _unfenced(before: str, after: str) -> tuple[str, str]:
    """Both sides without the fence around the object. An unclosed fence is accepted without other text."""
    opening, closing = _OPENING_FENCE.search(before), _CLOSING_FENCE.match(after)
    if opening and closing and opening.group(1) == closing.group(1):
        return before[: opening.start()], after[closing.end() :]
    if opening and not before[: opening.start()].strip() and not after.strip():
        return "", ""
    return before, after


_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")


def _inside_element(before: str) -> bool:
    """Whether an element such as `<think>`, a comment or struck-through text is still open before the object. Only
    struck-through text ends with its paragraph."""
    paragraph = _BLANK_LINE.split(before)[-1]
    if before.count("<!--") > before.count("-->") or paragraph.count("~~") % 2:
        return True
    tags = Counter((slash, name.lower()) for slash, name in _TAG.findall(before))
    return any(number > tags["/", name] for (slash, name), number in tags.items() if not slash)


def _plain(text: str) -> str:
    """The text without compatibility forms and invisible characters."""
    if text.isascii():
        return text
    return "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")


def _not_a_number(word: str) -> NoReturn:
    raise JudgeError(f"the reply contains `{word}`, which JSON does not have")


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_without_doubles, parse_constant=_not_a_number)
# What `json` also reads, msgspec refuses: NaN, large numbers, unpaired surrogates.
_UNUSUAL: Final = (ValueError, RecursionError)


# --- the lenient reading ---

_CLOSED_FENCE: Final = re.compile(r"```(?:[A-Za-z0-9_-]*)\s*\n?(.*?)```", re.DOTALL)
_OPEN_FENCE: Final = re.compile(r"\A\s*```(?:[A-Za-z0-9_-]*)\s*\n?(.*)\Z", re.DOTALL)
_DECODER: Final = json.JSONDecoder()
_TRAILING_COMMA: Final = re.compile(r",\s*(?=[}\]])")


def lenient(raw: str) -> dict[str, object]:
    """The first object in `raw` with a verdict. Raises JudgeError if there is none.

    It tries the content of the first fence, then the whole text; in each every object from left to right. Commas before
    a closing bracket are removed.
    """
    if len(raw) > MAX_LENGTH:
        raise JudgeError(f"the reply has {len(raw)} characters; at most {MAX_LENGTH} are read")
    for text in _texts(raw):
        for value in _objects(_TRAILING_COMMA.sub("", text)):
            if isinstance(verdict := value.get("verdict"), str) and verdict in VERDICTS:
                return _storable(value)
    raise JudgeError("the reply contains no object with a verdict")


def _texts(raw: str) -> Iterator[str]:
    fence = _CLOSED_FENCE.search(raw) or _OPEN_FENCE.match(raw)
    if fence:
        yield fence.group(1)
    yield raw


def _objects(text: str) -> Iterator[JsonObject]:
    """Yield the objects of a text, also those inside others."""
    start, steps = text.find("{"), 0
    while start >= 0 and steps < MAX_STEPS:
        try:
            value, end = _DECODER.raw_decode(text, start)
            yield value
        except json.JSONDecodeError as error:
            end = error.pos
        except (ValueError, RecursionError):
            end = len(text)
        steps += 100 + end - start
        start = text.find("{", start + 1)


def _storable(value: JsonObject) -> JsonObject:
    """The value with what our files can't hold replaced: unpaired surrogates, and numbers of more than 64 bits by their
    first digits."""
    try:
        with suppress(UnicodeEncodeError, OverflowError):
            msgspec.msgpack.encode(value)
            return value
        replaced: JsonObject = _replaced(value)
    except RecursionError:
        raise JudgeError("the reply is nested too deeply") from None
    return replaced


def _replaced(value: Json) -> Json:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)[:40]
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    if isinstance(value, dict):
        return {_replaced(key): _replaced(item) for key, item in value.items()}
    return value
