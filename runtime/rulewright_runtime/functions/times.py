"""Timestamps and durations: parsing, formatting and their fields (CEL specification)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Function, Table
from rulewright_runtime.values import NANOS, Duration, Timestamp, no_overload

_TIMESTAMP: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_DURATION: Final = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+", re.ASCII)
_PART: Final = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_OFFSET: Final = re.compile(r"([+-]?)(\d\d?):(\d\d)", re.ASCII)
_UNITS: Final = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ms": 10**6,
    "s": NANOS,
    "m": 60 * NANOS,
    "h": 3600 * NANOS,
}
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()
_DAY: Final = 86400 * NANOS
_CYCLE: Final = 146_097  # days in 400 years


def parse_timestamp(text: str) -> Timestamp:
    """Parse a timestamp in RFC 3339. Raises EvaluationError."""
    match = _TIMESTAMP.fullmatch(text) if len(text) < 100 else None
    if match is None:
        raise EvaluationError(f"`{text[:60]}` is not a timestamp in RFC 3339", "invalid_argument")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, sign, off_hour, off_minute = match.groups()[6:]
    offset = (int(off_hour) * 3600 + int(off_minute) * 60) * (-1 if sign == "-" else 1) if sign else 0
    try:
        # The year 0 is well formed but out of Python's range; read it one cycle later.
        cycles = 1 if year == 0 else 0
        ordinal = dt.date(year + 400 * cycles, month, day).toordinal() - _CYCLE * cycles
        dt.time(hour, minute, second)
        if sign and (int(off_hour) > 23 or int(off_minute) > 59):
            raise ValueError
    except ValueError:
        raise EvaluationError(f"`{text[:60]}` is not a timestamp in RFC 3339", "invalid_argument") from None
    seconds = (ordinal - _EPOCH_DAY) * 86400 + hour * 3600 + minute * 60 + second - offset
    return Timestamp(seconds * NANOS + int((fraction or "").ljust(9, "0")[:9]))


def format_timestamp(moment: Timestamp, trim: bool = False) -> str:
    """Format a timestamp as RFC 3339 in UTC, with 3, 6 or 9 digits of a fraction, or with `trim` as few as needed."""
    days, rest = divmod(moment.nanos, _DAY)
    seconds, nanos = divmod(rest, NANOS)
    day = dt.date.fromordinal(days + _EPOCH_DAY)
    text = f"{day.isoformat()}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    fraction = _fraction(nanos)
    return text + (fraction.rstrip("0") if trim else fraction) + "Z"


def _fraction(nanos: int) -> str:
    if nanos == 0:
        return ""
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return "." + digits


def parse_duration(text: str) -> Duration:
    """Parse a duration such as `1h30m`, `1.5s` or `-200ms`; `0` needs no unit. Raises EvaluationError."""
    if text in ("0", "+0", "-0"):
        return Duration(0)
    if len(text) > 200 or _DURATION.fullmatch(text) is None:
        raise EvaluationError(f"`{text[:60]}` is not a duration", "invalid_argument")
    total = 0
    for whole, fraction, unit in _PART.findall(text.lstrip("+-")):
        scale = _UNITS[unit]
        total += int(whole or "0") * scale
        if fraction:
            total += int(fraction) * scale // 10 ** len(fraction)
    return Duration(-total if text.startswith("-") else total)


def format_duration(span: Duration) -> str:
    """Format a duration in seconds, with a fraction of 3, 6 or 9 digits: `1.500s`."""
    seconds, nanos = divmod(abs(span.nanos), NANOS)
    return f"{'-' if span.nanos < 0 else ''}{seconds}{_fraction(nanos)}s"


@lru_cache(maxsize=256)
def _zone(name: str) -> dt.tzinfo:
    from zoneinfo import ZoneInfo  # here, because importing it searches the zones of this machine

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise EvaluationError(f"unknown time zone `{name[:60]}`", "invalid_argument") from None


def _offset_seconds(moment: Timestamp, zone: object) -> int:
    if not isinstance(zone, str):
        raise no_overload("timestamp selector", moment, zone)
    if zone in ("", "UTC"):
        return 0
    fixed = _OFFSET.fullmatch(zone)
    if fixed is not None:
        sign, hours, minutes = fixed.groups()
        if int(hours) > 23 or int(minutes) > 59:
            raise EvaluationError(f"unknown time zone `{zone}`", "invalid_argument")
        return (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)
    # One day inside the ends of the calendar, so that no zone's offset leads outside.
    seconds = min(max(moment.nanos // NANOS, -62_135_510_400), 253_402_214_400)
    local = (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)).astimezone(_zone(zone))
    offset = local.utcoffset()
    assert offset is not None
    return offset.days * 86400 + offset.seconds


def _local(moment: Timestamp, zone: object) -> tuple[int, dt.date, int, int]:
    """Return the cycles of 400 years to add to the date, the date, the second of the day and the nanosecond."""
    days, rest = divmod(moment.nanos + _offset_seconds(moment, zone) * NANOS, _DAY)
    ordinal = days + _EPOCH_DAY
    cycles = -1 if ordinal < 1 else 1 if ordinal > dt.date.max.toordinal() else 0
    return cycles, dt.date.fromordinal(ordinal - cycles * _CYCLE), rest // NANOS, rest % NANOS


def _truncated(nanos: int, unit: int) -> int:
    return nanos // unit if nanos >= 0 else -(-nanos // unit)


def _milliseconds(nanos: int) -> int:
    total = _truncated(nanos, 10**6)
    return total % 1000 if total >= 0 else -(-total % 1000)


def _selector(
    name: str, part: Callable[[int, dt.date, int, int], int], of_duration: Callable[[int], int] | None = None
) -> tuple[Function, int, int]:
    """The function `name`: a part of a timestamp in a time zone (see `_local`), or of the nanoseconds of a duration."""

    def selected(value: object, *zone: object) -> int:
        if of_duration is not None and isinstance(value, Duration) and not zone:
            return of_duration(value.nanos)
        if not isinstance(value, Timestamp):
            raise no_overload(name, value)
        return part(*_local(value, *zone or ("",)))

    return selected, 1, 2


_SELECTORS: Final = (
    ("getFullYear", lambda cycles, day, second, nanos: day.year + 400 * cycles),
    ("getMonth", lambda cycles, day, second, nanos: day.month - 1),  # from 0 for January
    ("getDate", lambda cycles, day, second, nanos: day.day),  # of the month, from 1
    ("getDayOfMonth", lambda cycles, day, second, nanos: day.day - 1),  # from 0
    ("getDayOfWeek", lambda cycles, day, second, nanos: day.isoweekday() % 7),  # from 0 for Sunday
    ("getDayOfYear", lambda cycles, day, second, nanos: day.timetuple().tm_yday - 1),  # from 0
    ("getHours", lambda cycles, day, second, nanos: second // 3600, lambda nanos: _truncated(nanos, 3600 * NANOS)),
    ("getMinutes", lambda cycles, day, second, nanos: second // 60 % 60, lambda nanos: _truncated(nanos, 60 * NANOS)),
    ("getSeconds", lambda cycles, day, second, nanos: second % 60, lambda nanos: _truncated(nanos, NANOS)),
    ("getMilliseconds", lambda cycles, day, second, nanos: nanos // 10**6, _milliseconds),
)
TABLE: Final[Table] = {name: _selector(name, *parts) for name, *parts in _SELECTORS}
