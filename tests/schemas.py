"""The published schemas as validators of plain data, with what they refer to."""

from functools import cache

import jsonschema
from referencing import Registry, Resource

from rulewright_grammar import schema, schema_names


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    others = Registry().with_resources(
        (f"{kind}.schema.json", Resource.from_contents(schema(kind))) for kind in schema_names()
    )
    return jsonschema.Draft202012Validator(schema(kind), registry=others)
