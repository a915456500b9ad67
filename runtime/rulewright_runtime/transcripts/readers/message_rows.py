"""Rows with a message each: refused where they may be several conversations, or are not in their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby, pairwise
from shlex import quote
from typing import Any, Final

from rulewright_runtime.transcripts.readers.record_values import Record, ShapeError, first_of, is_record, shown, word

_DIGIT: Final = re.compile(r"[0-9]")
_ISO: Final = re.compile(r"1111-11-11")
_DATED: Final = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[T, ]+\d{1,2}:\d{2}")
_LONGEST: Final = 40  # characters of a time
_DATES: Final = (
    "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%B %d, %Y",
    "%b %d, %Y", "%d %B %Y", "%d %b %Y",
)  # fmt: skip
_CLOCKS: Final = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
_FORMS: Final = (
    *_CLOCKS,
    *_DATES,
    *(f"{day}{gap}{clock}" for day in _DATES for gap in (" ", ", ") for clock in _CLOCKS),
)
_PARENTS: Final = ("parent_id", "parent_message_id", "parentId", "parentMessageId")
_NUMBERS: Final = ("turn", "turn_index", "turn_number", "message_index", "position", "sequence", "seq")
_NAMES_TALKS: Final = re.compile(  # at the beginning of a word of a column's name
    r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
    r"(?i:session|ticket|thread|dialog|chat|conv|call(?!back)|case|room|customer|visitor|contact)"
)
_COUNTS_TURNS: Final = re.compile(r"(?i)turn|round|step|position|seq|index")


_NO: Final = ("false", "no", "0")
_YES: Final = ("true", "yes", "1")
# By the key of a message, the values of one that the other side did not see.
_HIDDEN: Final = {
    **dict.fromkeys(("public", "ispublic"), _NO),
    **dict.fromkeys(("private", "isprivate", "internal", "isinternal", "isnote", "isinternalnote"), _YES),
}


def internal_of(rows: Sequence[object]) -> frozenset[int]:
    """The positions of messages that say that the other side did not see them; none where all do."""
    notes = frozenset(at for at, row in enumerate(rows) if is_record(row) and len(row) > 2 and _is_internal(row))
    return notes if len(notes) < len(rows) else frozenset()


def _is_internal(row: Record) -> bool:
    flags = ((_HIDDEN.get(key.lower().replace("_", "").replace(" ", "")), value) for key, value in row.items())
    return any(hidden and str(value).strip().lower() in hidden for hidden, value in flags)


def differing(rows: Iterable[Record]) -> set[str]:
    """The keys under which rows of one conversation hold different values: they are about messages, not the whole."""
    first: dict[str, object] = {}
    filled = ((key, value) for row in rows for key, value in row.items() if value not in (None, ""))
    return {key for key, value in filled if first.setdefault(key, value) != value}


def refuse_unnamed(names: Iterable[str], name: str) -> None:
    """Raise ShapeError for messages without the name of a conversation, next to others that have one."""
    if not name and any(names):
        raise ShapeError("some messages name no conversation and others do; name the conversation of each message")


def refuse_disorder(times: Iterable[object], messages: Sequence[object] = ()) -> None:
    """Raise ShapeError if messages that were stored one by one are not in the order of their times. Times that can't be
    compared say nothing about the order. Without times, the dates with a time of day that all messages have under a
    key must not run backwards, unless those under another run forwards."""
    known = [*times]
    if late := _late(known):
        raise ShapeError(f"the messages are not in the order of their times: {late} comes too late; sort them")
    if not any(known):
        _refuse_backwards(messages)


def _refuse_backwards(messages: Sequence[object]) -> None:
    first = messages[0] if messages and is_record(messages[0]) else {}
    keys = [key for key, value in first.items() if _DATED.match(word(value))]
    times = {key: [each.get(key) if is_record(each) else None for each in messages] for key in keys}
    back = [key for key in keys if _runs_back(times[key]) and all(_DATED.match(word(time)) for time in times[key])]
    # If others run forwards, they are the times of the messages, and these may be about the speakers.
    if back and not any(_runs_back(each[::-1]) for each in times.values()):
        raise ShapeError(f"the messages are not in the order of `{back[0][:40]}`: the newest is the first; sort them")


def _runs_back(times: Sequence[object]) -> bool:
    return bool(_late((times[0], times[-1]))) and not _late(reversed(times))  # the ends first: others need no more


def _late(values: Iterable[object]) -> str:
    """The first value that is below the one before it, for a message; empty if there is none or they can't be
    compared."""
    known = [each for each in values if each is not None and each != ""]
    forms = _forms_of(_DIGIT.sub("1", word(known[0])[:_LONGEST])) if len(known) > 1 else ()
    late = [each for form in forms if (each := _late_in(known, form)) is not None]
    return late[0] if late and all(late) else ""


def _late_in(values: Sequence[object], form: str) -> str | None:
    """The first of the values that is below the one before it; empty if there is none, None if one is not written in
    this form."""
    try:
        pairs = zip(pairwise([_instant(each, form) for each in values]), values[1:], strict=True)
        return next((shown(later) for (before, after), later in pairs if _is_late(before, after, form)), "")
    except (TypeError, ValueError):
        return None


def _is_late(before: Any, after: Any, form: str) -> bool:
    """Whether a time is below the one before it: a mere time of day also begins again at midnight."""
    return bool(after < before) and not (form in _CLOCKS and before - after > timedelta(hours=12))


def _instant(time: object, form: str) -> Any:
    """A number, or a date and time in this form, by default that of ISO 8601."""
    text = word(time)
    if form:
        return datetime.strptime(text, form)
    return float(text) if text.replace(".", "", 1).isdigit() else datetime.fromisoformat(text)


@lru_cache(256)
def _forms_of(shape: str) -> tuple[str, ...]:
    """The forms of times that a text may have whose digits are all 1: days and months may be either way round."""
    if not shape or shape.replace(".", "", 1).isdigit() or _ISO.match(shape):
        return ("",)
    return tuple(form for form in _FORMS if _is_written(shape, form)) or ("",)


def _is_written(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def refuse_confusion(rows: Sequence[Record], roles: Sequence[str], read: Iterable[str], *, certain: bool) -> None:
    """Raise ShapeError if rows of one conversation are not in the order of their numbers, if they are branches, and,
    unless it is `certain` that they are one, if they may be several conversations."""
    _refuse_misnumbered(rows)
    _refuse_branches(rows, roles)
    if not certain:
        _refuse_several(rows, roles, read)


def _refuse_misnumbered(rows: Sequence[Record]) -> None:
    """Raise ShapeError if the rows number their messages or turns, and are not in this order."""
    for name in _NUMBERS:
        if late := _late(row.get(name) for row in rows):
            again = "sort them, or name each conversation if the numbers begin again in it"
            raise ShapeError(f"the messages are not in the order of `{name}`: {late} comes too late; {again}")


def _refuse_branches(rows: Sequence[Record], roles: Sequence[str]) -> None:
    """Raise ShapeError if rows are replies to the same one: the rows are a tree, and not one conversation. Results of
    tools that were called at once are not branches, nor are the messages of both sides below the first of a thread."""
    replies: dict[str, list[str]] = {}
    for row, role in zip(rows, roles, strict=True):
        replies.setdefault(word(first_of(row, _PARENTS)), []).append(role)
    replies.pop("", None)
    for parent, found in replies.items():
        is_thread = len(replies) == 1 and len({*found}) > 1
        if len(found) > 1 and not is_thread and {*found} != {"tool"}:
            raise ShapeError(f"two messages reply to {shown(parent)}; keep one branch of each conversation")


def _refuse_several(rows: Sequence[Record], roles: Sequence[str], read: Iterable[str]) -> None:
    """Raise ShapeError if rows that name no conversation are divided by a column that may name one.

    Such a column has the same value in the rows of each part and in no others, and each part begins with another role
    than the assistant; of parts that are mixed, one side speaks twice in a row only between them, or the column's name
    says that it names them. `roles` are those of the rows, `read` the columns whose meaning is known.
    """
    known = frozenset(read)
    name = next((key for key in _columns(rows) if key not in known and _divides(key, rows, roles)), None)
    if name is not None:
        raise ShapeError(
            f"no row names its conversation, and `{name}` may be its name: say so with "
            f"`--columns {quote(f'conversation={name}')}`, or with `--columns conversation=` that all rows are one"
        )


def _columns(rows: Sequence[Record]) -> Iterator[str]:
    """The columns that have a value in every row and that do not count turns."""
    first: Mapping[str, object] = rows[0] if rows else {}
    return (key for key in first if not _COUNTS_TURNS.search(key) and all(word(row.get(key)) for row in rows))


def _divides(key: str, rows: Sequence[Record], roles: Sequence[str]) -> bool:
    """Whether a column divides the rows into parts that look like conversations, one after the other, or at once."""
    values = [word(row[key]) for row in rows]
    parts = [[role for _, role in part] for _, part in groupby(zip(values, roles, strict=True), lambda each: each[0])]
    by_value: dict[str, list[str]] = {}
    for value, role in zip(values, roles, strict=True):
        by_value.setdefault(value, []).append(role)
    if len(by_value) == len(parts):
        return _are_conversations(parts)
    talks = [*by_value.values()]
    is_tidier = all("assistant" in talk for talk in talks) and _repeats(roles) and not any(map(_repeats, talks))
    return (is_tidier or _NAMES_TALKS.search(key) is not None) and _are_conversations(talks)


def _are_conversations(parts: Sequence[Sequence[str]]) -> bool:
    begin = all(part[0] not in ("assistant", "tool") for part in parts)
    return len(parts) > 1 and begin and any("assistant" in part for part in parts)


def _repeats(roles: Sequence[str]) -> bool:
    """Whether one side speaks twice in a row."""
    return any(one == other and one in ("user", "assistant") for one, other in pairwise(roles))
