"""Validators of JSON Schemas (draft 2020-12): patterns are RE2, and no schema is downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.strings import compile_pattern


@lru_cache(maxsize=256)
def validator(encoded: bytes) -> Validator:
    """Return a validator of a schema in JSON. Raises EvaluationError `invalid_argument` for an invalid schema."""
    schema = msgspec.json.decode(encoded)
    try:
        _VALIDATOR.check_schema(schema)
    except SchemaError as error:
        raise EvaluationError(f"the schema is not valid: {error.message}", "invalid_argument") from None
    result: Validator = _VALIDATOR(schema, registry=Registry())
    return result


def _pattern(validator: Validator, source: str, value: object, schema: object) -> Iterator[ValidationError]:
    if isinstance(value, str) and not compile_pattern(source).search(value):
        yield ValidationError(f"{value!r} does not match {source!r}")


def _refused(validator: Validator, patterns: object, value: object, schema: object) -> Iterator[ValidationError]:
    raise EvaluationError("a schema with `patternProperties` is not supported", "invalid_argument")


_EXTEND: Final[Any] = extend  # its stub is not typed
_VALIDATOR: Final[Any] = _EXTEND(Draft202012Validator, {"pattern": _pattern, "patternProperties": _refused})
