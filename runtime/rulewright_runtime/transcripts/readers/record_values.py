"""Values of JSON records: what they are, and messages with their path for those that do not fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final, TypeGuard

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject

Record = JsonMapping
_MAX_SHOWN: Final = 60  # characters of a value in a message
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_IS_NUMBER: Final = re.compile(r"[0-9]{1,25}(?:\.[0-9]{0,25})?(?:[eE]\+?[0-9]{1,2})?")  # also as a double is shown
_FRACTION: Final = re.compile(r"[.,][0-9]{6}([0-9]+)")
# What a number of a recent time counts, by its size: nanoseconds, microseconds, milliseconds, else seconds.
_UNITS: Final = ((10**17, 1), (10**14, 10**3), (10**11, 10**6))


class ShapeError(Exception):
    """A value does not fit its format; the message names its path in the record."""

    record = 0  # which one of the records that were read together

    def at(self, record: int) -> ShapeError:
        """This error about the record with that index, counted from 0."""
        self.record = record
        return self


def shown(value: object) -> str:
    """A value as quoted in an error message."""
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=repr).decode()
    return f"`{text[:_MAX_SHOWN]}`"


def is_record(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


def is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def object_in(value: object) -> JsonObject:
    """The value if it is an object, else an empty object."""
    return value if is_record(value) else {}


def record_at(value: object, where: str) -> JsonObject:
    """The value, which must be an object. Raises ShapeError, which names the path `where`."""
    if not is_record(value):
        raise ShapeError(f"{where} is {shown(value)}; expected an object")
    return value


def list_at(value: object, where: str) -> list[Json]:
    """The value, which must be a list. Raises ShapeError."""
    if not is_list(value):
        raise ShapeError(f"{where} is {shown(value)}; expected a list")
    return value


def items_at(value: object, where: str) -> list[tuple[Json, str]]:
    """The items of a list, which may be missing, each with its path. Raises ShapeError."""
    return [(item, f"{where}[{index}]") for index, item in enumerate(list_at(value or [], where))]


def records_at(value: object, where: str) -> list[JsonObject]:
    """The objects in a list, which may be missing. Raises ShapeError."""
    return [record_at(item, path) for item, path in items_at(value, where)]


def text_at(value: object, where: str) -> str:
    """The value, which must be a text; a missing value is an empty text. Raises ShapeError."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ShapeError(f"{where} is {shown(value)}; expected text")
    return value


def word(value: object) -> str:
    """An id, a name or a model as text: a text or a number; empty for any other value."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def optional(value: object) -> str | None:
    """A text or a number as text; None for any other value."""
    return word(value) or None


def instant(value: object) -> int:
    """A time in nanoseconds: a number (of seconds or of parts of them) or a date, also with a time, which is of UTC if
    it has no offset; 0 if it is missing or unknown."""
    text = word(value).strip()
    if _IS_NUMBER.fullmatch(text):
        number = Decimal(text)
        unit = next((unit for least, unit in _UNITS if number >= least), 10**9)
        return int(number * unit)
    try:
        return _nanoseconds(datetime.fromisoformat(text.removesuffix(" UTC")), text)
    except ValueError:
        return 0


def duration(start: int, end: int) -> JsonObject:
    """The usage of a call from one instant to another; empty if one of them is unknown or they are the same."""
    return {"duration_seconds": (end - start) / 10**9} if 0 < start < end else {}


def _nanoseconds(time: datetime, text: str) -> int:
    """The time in nanoseconds, of which a datetime has only those that are thousands."""
    known = time if time.tzinfo else time.replace(tzinfo=UTC)
    digits = _FRACTION.search(text)
    more = int(digits[1][:3].ljust(3, "0")) if digits else 0
    return (known - _EPOCH) // timedelta(microseconds=1) * 1000 + more


def name_of(value: object) -> str:
    """The name of a conversation: a text or a number, or any other value as JSON; empty for none."""
    return word(value) or ("" if value in (None, "") else msgspec.json.encode(value, enc_hook=repr).decode())


def rest(record: Record, *known: str) -> JsonObject:
    """The other keys of a record, without nulls."""
    return {key: value for key, value in record.items() if key not in known and value is not None}


def first_of(record: Record, keys: Sequence[str]) -> Json:
    """The first value under one of the keys that is not null; None if there is none."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


def parsed(text: str) -> Json:
    """The JSON value in a text; None if it is not JSON."""
    try:
        return strict_json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
