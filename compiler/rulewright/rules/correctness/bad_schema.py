import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from jsonschema import Draft202012Validator
from msgspec.structs import replace

from rulewright.diagnostics import Findings, Guess, error
from rulewright.documents.base import entries, flag, numeric, optional_text, text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.documents.lexicon import invalid_regex
from rulewright.documents.validation import violations
from rulewright.expression.syntax_tree import Call, Expr, Index, field_of
from rulewright.load import Entry, Mapping, Node, Scalar, Sequence, is_text, walk
from rulewright.lower.expressions_of import parts_of
from rulewright.spelling import suggest

# JSON Schema 2020-12: the vocabularies of core, applicators, validation, content and annotations.
KEYWORDS: Final = frozenset(Draft202012Validator.VALIDATORS) | {
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$schema", "$vocabulary", "contentEncoding",
    "contentMediaType", "contentSchema", "default", "definitions", "deprecated", "description", "else", "examples",
    "maxContains", "minContains", "readOnly", "then", "title", "writeOnly",
}  # fmt: skip
MAPS: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
EXCLUSIVE: Final = "exclusive"
BOUNDS: Final = (
    *((f"min{what}", f"max{what}") for what in ("imum", "Length", "Items", "Properties", "Contains")),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)
# The keywords that limit the values of one type, in the order of the types' own names for the same limits.
LIMITS: Final = {
    "array": ("minItems", "maxItems", "uniqueItems", "items", "prefixItems", "contains"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "object": ("minProperties", "maxProperties", "properties", "required", "additionalProperties", "propertyNames"),
    "string": ("minLength", "maxLength", "pattern", "format"),
}
DATA: Final = frozenset({"const", "default", "enum", "examples"})  # their values are data, not schemas


def bad_schema(check: CheckDocument) -> Findings:
    """A schema of `valid_against` is invalid, misspells a word, limits another type or has an empty range.

    Why it matters: with an invalid schema or regular expression nothing can be decided. JSON Schema ignores an unknown
    keyword and one of another type, so values that the schema was meant to refuse pass.
    Instead: correct the keyword, its value or the range.
    """
    for is_literal, schema in schemas_of(check):
        mistakes = (
            *violations(Draft202012Validator.META_SCHEMA, schema),
            *_wrong_keywords(schema),
            *(found for node in walk(schema) for found in _empty_ranges(node)),
        )
        # The quotes of a text in an expression depend on those around the expression.
        yield from (replace(each, fix=None) for each in mistakes) if is_literal else mistakes


def schemas_of(check: CheckDocument) -> Iterator[tuple[bool, Mapping]]:
    """The schemas that a `valid_against` uses, each once, and whether it is written in the expression; all those of a
    parameter of which it selects one, as `params.tools[tool_call.name]` does."""
    named: dict[tuple[str, bool], None] = {}
    for written, part in parts_of(check):
        if isinstance(part, Call) and part.function == "valid_against":
            schema = part.args[-1]
            parameter = schema.operand if isinstance(schema, Index) else schema
            name = field_of(parameter, "params")
            literal = written.node(schema, partial(_parameter, check)) if name is None else None
            named |= {} if name is None else {(name, parameter is not schema): None}
            yield from [(True, literal)] if isinstance(literal, Mapping) else ()
    for name, is_selected in named:
        value = check.get("params", name)
        schemas = [each.value for each in entries(value)] if is_selected else [value]
        yield from ((False, schema) for schema in schemas if isinstance(schema, Mapping))


def _parameter(check: CheckDocument, part: Expr) -> Node | None:
    """The value of a parameter."""
    name = field_of(part, "params")
    return None if name is None else check.get("params", name)


def _wrong_keywords(schema: Node) -> Findings:
    own = LIMITS.get("number" if (of := optional_text(schema, "type")) == "integer" else of or "", ())
    for entry in entries(schema):
        yield from _refused(entry)
        if own and entry.name not in own and any(entry.name in words for words in LIMITS.values()):
            meant = next((each for each in own if each[:3] == entry.name[:3] in ("min", "max")), None)
            message = f"`{entry.name}` limits nothing here: the type is `{of}`"
            yield error(entry.key, message, help=Guess(meant) if meant else None)
        if entry.name not in KEYWORDS and (meant := suggest(entry.name, KEYWORDS)):
            yield error(entry.key, f"unknown JSON Schema keyword `{entry.name}`", help=Guess(meant))
        elif entry.name not in KEYWORDS and isinstance(entry.value, Mapping) and KEYWORDS & set(entry.value.keys):
            message = f"unknown JSON Schema keyword `{entry.name}`"
            yield error(entry.key, message, help=f"if it is a property, write `{entry.name}` under `properties`")
        for below in () if entry.name in DATA else _below(entry.name, entry.value):
            yield from _wrong_keywords(below)
    if isinstance(schema, Mapping) and isinstance(properties := schema.get("properties"), Mapping):
        yield from _not_required(properties, {each.text: each for each in text_scalars(schema, "required")})
        yield from _forbidden(schema, properties) if flag(schema, "additionalProperties") is False else ()


def _refused(entry: Entry) -> Findings:
    """What is valid JSON Schema and refused when the check runs."""
    pattern = entry.value
    if entry.name == "patternProperties":
        yield error(entry.key, "`patternProperties` is not supported", help="describe each property under `properties`")
    elif entry.name == "pattern" and is_text(pattern):
        found = invalid_regex(pattern)
        yield from [] if found is None else [found]


def _empty_ranges(schema: Node) -> Findings:
    """The lower bounds above the upper bound next to them, and lists of no allowed value."""
    listed = schema.get("enum") if isinstance(schema, Mapping) else None
    if isinstance(listed, Sequence) and not listed.items:
        yield error(listed, "an empty `enum` allows no value", help="list the allowed values, or remove the key")
    for low, high in BOUNDS:
        least, most = numeric(schema, low), numeric(schema, high)
        is_strict = low.startswith(EXCLUSIVE) or high.startswith(EXCLUSIVE)
        if least is not None and most is not None and _is_empty(least, most, is_strict=is_strict):
            yield error(least, f"no value meets `{low}: {least.raw}` and `{high}: {most.raw}`")


def _is_empty(least: Scalar, most: Scalar, *, is_strict: bool) -> bool:
    low, high = least.as_float, most.as_float
    return low > high or (is_strict and low == high)


def _below(word: str, value: Node) -> tuple[Node, ...]:
    """The subschemas under a keyword."""
    if isinstance(value, Sequence):
        return value.items
    if word in MAPS and isinstance(value, Mapping):
        return tuple(entry.value for entry in value.entries)
    return (value,)


def _forbidden(schema: Mapping, properties: Mapping) -> Findings:
    """The first required property that no other than the described ones may be."""
    for each in text_scalars(schema, "required"):
        if each.text not in properties and not suggest(each.text, properties.keys):
            message = f"`{each.value}` is required, but `additionalProperties: false` forbids it"
            yield error(each, message, help="describe it under `properties`")
            return


def _not_required(properties: Mapping, required: dict[str, Scalar]) -> Findings:
    """The properties whose names are almost those of required properties without a description."""
    unknown = [name for name in required if name not in properties]
    for entry in properties.entries:
        if entry.name not in required and (meant := suggest(entry.name, unknown)):
            message = f"`properties` describes `{entry.name}`, but `required` lists `{meant}`"
            text = properties.source.text
            listed = required[meant]
            is_listed_wrong = _times(entry.name, text) > _times(meant, text)
            wrong, right = (listed, entry.name) if is_listed_wrong else (entry.key, meant)
            notes = [(entry.key, "described here") if is_listed_wrong else (listed, "required here")]
            yield error(wrong, message, help=Guess(right), notes=notes)


def _times(name: str, text: str) -> int:
    """How often a text contains a word, also as a part of a name."""
    return len(re.findall(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text))
