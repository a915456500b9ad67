"""Functions on JSON replies and on tool calls: decoding, validation against a JSON Schema (draft 2020-12), and the
names, counts, order and arguments of calls.

The validator is imported on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import LIST, Table, typed
from rulewright_runtime.values import Value, equal, from_host, no_overload, to_host


def json_value(text: str) -> object:
    """Decode a JSON text. Raises EvaluationError `invalid_argument` for invalid JSON and duplicate keys."""
    return from_host(_decode(text))


def _decode(text: str) -> Value:
    try:
        return strict_json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise EvaluationError(f"the text is not JSON: {str(error)[:200]}", "invalid_argument") from None


def is_json(text: str) -> bool:
    """Whether a text is valid JSON."""
    try:
        json_value(text)
    except EvaluationError:
        return False
    return True


def valid_against(value: Value, schema: Mapping[Value, Value]) -> bool:
    """Whether a value is valid against a JSON Schema; a string is decoded as JSON first.

    A string that is not JSON is invalid. Raises EvaluationError `invalid_argument` for an invalid schema.
    """
    try:
        validator = _validator(msgspec.json.encode(to_host(schema)))
    except (TypeError, ValueError, RecursionError) as error:
        raise EvaluationError(f"the schema is not JSON: {str(error)[:200]}", "invalid_argument") from None
    if value.__class__ is str and not is_json(value):
        return False
    try:
        return bool(validator.is_valid(_decode(value) if value.__class__ is str else to_host(value)))
    except EvaluationError:
        raise
    except RecursionError:
        raise EvaluationError("the schema or the value is nested too deeply", "limit") from None
    except Exception as error:  # an unresolvable reference or another defect of the schema
        raise EvaluationError(f"the schema can't be used: {str(error)[:200]}", "invalid_argument") from None


def _validator(encoded: bytes) -> Value:
    """Return a validator of the schema. Raises EvaluationError for an invalid schema, and without jsonschema."""
    try:
        from rulewright_runtime.functions.json_schemas import validator  # imports jsonschema, which few plans need
    except ModuleNotFoundError:
        message = "`valid_against` needs jsonschema: `pip install 'rulewright-runtime[schema]'`"
        raise EvaluationError(message, "unavailable") from None
    return validator(encoded)


def _names(function: str, calls: list[Value], other: object) -> list[str]:
    names: list[Value] = [call.get("name") if isinstance(call, Mapping) else None for call in calls]
    if any(name.__class__ is not str for name in names):
        raise no_overload(function, calls, other)
    return names


def called(calls: list[Value], name: str, arguments: Mapping[Value, Value] | None = None) -> bool:
    """Whether one of the calls is of the tool `name` and, if `arguments` are given, includes them."""
    names = _names("called", calls, name)
    of_tool = (call for call, tool in zip(calls, names, strict=True) if tool == name)
    return any(arguments is None or _includes(call.get("arguments"), arguments) for call in of_tool)


def _includes(actual: object, expected: Mapping[Value, Value]) -> bool:
    return isinstance(actual, Mapping) and all(
        key in actual and equal(actual[key], value) for key, value in expected.items()
    )


def call_count(calls: list[Value], name: str) -> int:
    """Return how often the tool was called."""
    return _names("call_count", calls, name).count(name)


def called_in_order(calls: list[Value], names: list[Value]) -> bool:
    """Whether the tools were called in this order, possibly with other calls in between."""
    remaining = iter(_names("called_in_order", calls, names))
    if not names or any(name.__class__ is not str for name in names):
        raise no_overload("called_in_order", calls, names)
    return all(name in remaining for name in names)


TABLE: Final[Table] = typed(
    {
        "json": (json_value, str),
        "is_json": (is_json, str),
        "valid_against": (valid_against, object, Mapping),
        "called": (called, LIST, str, (Mapping, type(None))),
        "call_count": (call_count, LIST, str),
        "called_in_order": (called_in_order, LIST, LIST),
    }
)
