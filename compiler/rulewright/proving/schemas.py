"""JSON Schemas in conditions: which decide about every value, and which accept what others accept."""

import json
from typing import Any, Final

from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.values import Value

_LEAST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_MOST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_KEYWORDS: Final = {"type", "required", "properties", "items", "enum", "const", "title", "description", *_LEAST, *_MOST}


def is_plain(schema: Value) -> bool:
    """Whether a JSON Schema has only keywords that say of every value whether it is valid."""
    if not isinstance(schema, dict) or not schema.keys() <= _KEYWORDS:
        return False
    return all(
        map(is_plain, [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])])
    )


def accepts_all_of(two: JsonMapping, one: JsonMapping) -> bool:
    """Whether the first plain schema certainly accepts what the other one accepts, as each keyword shows."""
    return all(_is_implied(key, value, one) for key, value in two.items())


def _is_implied(key: str, value: Any, schema: JsonMapping) -> bool:
    """Whether what a schema accepts meets one keyword."""
    if key in ("title", "description") or (key in schema and _written(schema[key]) == _written(value)):
        return True
    match key:
        case "required":
            return {*value} <= {*schema.get("required", ())}
        case "enum" | "const":
            mine = [schema["const"]] if "const" in schema else schema.get("enum")
            return mine is not None and {*map(_written, mine)} <= {*map(_written, value if key == "enum" else [value])}
        case "properties":
            mine = schema.get("properties", {})
            return all(accepts_all_of(each, mine.get(name, {})) for name, each in value.items())
        case "items":
            return accepts_all_of(value, schema.get("items", {}))
        case "type":
            kinds = [{each} if isinstance(each, str) else {*each} for each in (schema.get("type", ["any"]), value)]
            return kinds[0] <= kinds[1] | ({"integer"} if "number" in kinds[1] else set())
        case _ if key in _LEAST:
            return key in schema and bool(schema[key] >= value)
    return key in _MOST and key in schema and bool(schema[key] <= value)


def _written(value: Value) -> str:
    """JSON, in which 1 and true differ."""
    return json.dumps(value, sort_keys=True, default=repr)
