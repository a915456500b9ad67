"""Replies that are JSON: their value, and whether it is valid against a JSON Schema (draft 2020-12).

`jsonschema` is imported when an expression first needs it. Patterns of a schema are RE2, and no schema is fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.strings import pattern
from rulewright_runtime.functions.table import Table
from rulewright_runtime.values import Value, from_host, no_overload, to_host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


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


@lru_cache(maxsize=256)
def _validator(encoded: bytes) -> Value:
    schema = msgspec.json.decode(encoded)
    validator, error = _library()
    try:
        validator.check_schema(schema)
    except error as why:
        raise EvaluationError(f"the schema is not valid: {getattr(why, 'message', why)}", "invalid_argument") from None
    from referencing import Registry

    return validator(schema, registry=Registry())


@cache
def _library() -> tuple[Value, type[Exception]]:
    """A validator whose patterns are RE2, and what it raises for a bad schema. EvaluationError where it is missing."""
    try:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import extend
    except ModuleNotFoundError:
        why = "`valid_against` needs jsonschema: `pip install 'rulewright-runtime[schema]'`"
        raise EvaluationError(why, "unavailable") from None

    build: Value = extend  # its stub is not typed
    return build(Draft202012Validator, {"pattern": _pattern, "patternProperties": _refused}), SchemaError


def _pattern(validator: Validator, source: str, value: object, schema: object) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not pattern(source).search(value):
        yield ValidationError(f"{value!r} does not match {source!r}")


def _refused(validator: Validator, patterns: object, value: object, schema: object) -> Iterator[ValidationError]:
    raise EvaluationError("a schema with `patternProperties` is not supported", "invalid_argument")


TABLE: Final[Table] = {"json": (json_value, 1, 1), "is_json": (is_json, 1, 1), "valid_against": (valid_against, 2, 2)}
