"""The language as data: the grammar of expressions and the schemas of documents."""

import json
import os
from typing import Any

__all__ = ["TABLES", "grammar_tables", "grammar_text", "schema", "schema_names"]

_HERE = os.path.dirname(__file__)
_SCHEMAS = os.path.join(_HERE, "schemas")
_SUFFIX = ".schema.json"

TABLES = os.path.join(_HERE, "expression.tables.json")


def grammar_text() -> str:
    """The Lark grammar of expressions."""
    with open(os.path.join(_HERE, "expression.lark"), encoding="utf-8") as file:
        return file.read()


def grammar_tables() -> Any:
    """The LALR(1) tables that Lark computes of `grammar_text()`, as `make expected` writes them."""
    with open(TABLES, "rb") as file:
        return json.loads(file.read())


def schema_names() -> tuple[str, ...]:
    """The names of the documents' JSON Schemas, sorted."""
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in os.listdir(_SCHEMAS) if name.endswith(_SUFFIX)))


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema called `name`; raises `KeyError` where there is none."""
    if name not in schema_names():
        raise KeyError(name)
    with open(os.path.join(_SCHEMAS, name + _SUFFIX), "rb") as file:
        document: dict[str, Any] = json.loads(file.read())
    return document
