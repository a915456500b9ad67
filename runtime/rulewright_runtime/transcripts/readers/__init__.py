"""Readers: each turns the records of one format into conversations; a format is a file here and a line in `FORMATS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulewright_runtime.transcripts.readers import (
    agents,
    atif,
    braintrust,
    deepeval,
    inspect_logs,
    langsmith,
    native,
    openai,
    promptfoo,
    sharegpt,
    spans,
)

if TYPE_CHECKING:
    from rulewright_runtime.transcripts.readers.shapes import Format, Record

# In the order in which a record is tried: those with the clearest marks first.
FORMATS: Final = (
    native.FORMAT,
    atif.FORMAT,
    inspect_logs.FORMAT,
    promptfoo.FORMAT,
    deepeval.FORMAT,
    langsmith.FORMAT,
    braintrust.FORMAT,
    agents.FORMAT,
    spans.FORMAT,
    sharegpt.FORMAT,
    openai.FORMAT,
    openai.LINES,
)


def format_of(record: Record) -> Format | None:
    """The format of a record, of those of the product or else of plug-ins; None where no reader knows it."""
    return next((each for each in FORMATS if each.recognises(record)), None) or _brought(record)


def _brought(record: Record) -> Format | None:
    """The format of a plug-in. A chat of the native form, and the rows of a table, are none."""
    if is_turns(record) or not any(isinstance(value, dict | list) for value in record.values()):
        return None
    from rulewright_runtime.plugins import readers

    return next((each for each in readers() if _recognises(each, record)), None)


def _recognises(format: Format, record: Record) -> bool:
    try:
        return format.recognises(record) is True
    except Exception:  # of a plug-in: what it does not understand is not of its format
        return False


def is_turns(record: Record) -> bool:
    """Whether it is a line of the native form: a turn, or a conversation with `turns`."""
    return has_turns(record) or ("turn" in record and ("role" in record or "content" in record))


def has_turns(record: Record) -> bool:
    """Whether it is a conversation of the native form; those of DeepEval have `turns` too."""
    return "turns" in record and not deepeval.is_talk(record)


def unknown(record: Record) -> str:
    """What to say of a record that no reader knows."""
    keys = ", ".join(f"`{key[:30]}`" for key in list(record)[:6])
    more = f" and {len(record) - 6} more" if len(record) > 6 else ""
    seen = f"an object with the keys {keys}{more}" if record else "an empty object"
    return f"unknown shape: {seen}; expected {EXPECTED}"


EXPECTED: Final = (
    "`messages` with `role` and `content`, `conversations` with `from` and `value`, `turns`, or a format of "
    "`rulewright inspect-data --help`"
)
