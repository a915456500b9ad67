"""Functions on JSON replies: decoding, and validation against a JSON Schema (draft 2020-12).

The validator is imported on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Table, typed
from rulewright_runtime.values import Value, from_host, to_host


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


TABLE: Final[Table] = typed(
    {"json": (json_value, str), "is_json": (is_json, str), "valid_against": (valid_against, object, Mapping)}
)
