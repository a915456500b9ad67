"""Replies that are JSON: their value, and whether it is valid against a JSON Schema (draft 2020-12).

What validates is imported when an expression first needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Table
from rulewright_runtime.values import Value, from_host, no_overload, to_host


def json_value(text: object) -> object:
    """The value of a JSON text. EvaluationError `invalid_argument` where it is none, or holds a key twice."""
    if text.__class__ is not str:
        raise no_overload("json", text)
    return from_host(_decoded(text))


def _decoded(text: str) -> Value:
    try:
        return strict_json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as why:
        raise EvaluationError(f"the text is not JSON: {str(why)[:200]}", "invalid_argument") from None


def is_json(text: object) -> bool:
    """Whether a text is JSON, and nothing else."""
    if text.__class__ is not str:
        raise no_overload("is_json", text)
    try:
        json_value(text)
    except EvaluationError:
        return False
    return True


def valid_against(value: Value, schema: Value) -> bool:
    """Whether a value is valid against a JSON Schema; a text counts as the JSON that it holds.

    A text that is not JSON is not valid. EvaluationError `invalid_argument` where the schema itself is not valid.
    """
    if not isinstance(schema, Mapping):
        raise no_overload("valid_against", value, schema)
    try:
        validator = _validator(msgspec.json.encode(to_host(schema)))
    except (TypeError, ValueError, RecursionError) as why:
        raise EvaluationError(f"the schema is not JSON: {str(why)[:200]}", "invalid_argument") from None
    if value.__class__ is str and not is_json(value):
        return False
    try:
        return bool(validator.is_valid(_decoded(value) if value.__class__ is str else to_host(value)))
    except EvaluationError:
        raise
    except RecursionError:
        raise EvaluationError("the schema or the value is nested too deeply", "limit") from None
    except Exception as why:  # a reference that leads nowhere, and whatever else a schema may hold
        raise EvaluationError(f"the schema can't be used: {str(why)[:200]}", "invalid_argument") from None


def _validator(encoded: bytes) -> Value:
    """A validator of the schema; EvaluationError where it is not valid, and where jsonschema is missing."""
    try:
        from rulewright_runtime.functions.json_schemas import validator  # with jsonschema: few plans need it
    except ModuleNotFoundError:
        why = "`valid_against` needs jsonschema: `pip install 'rulewright-runtime[schema]'`"
        raise EvaluationError(why, "unavailable") from None
    return validator(encoded)


TABLE: Final[Table] = {"json": (json_value, 1, 1), "is_json": (is_json, 1, 1), "valid_against": (valid_against, 2, 2)}
