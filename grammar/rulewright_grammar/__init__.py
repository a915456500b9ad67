"""The language as data: the grammar of expressions and the schemas of documents."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["grammar_tables", "grammar_text", "schema", "schema_names"]

_HERE = files(__name__)


def grammar_text() -> str:
    """The Lark grammar of expressions."""
    return (_HERE / "expression.lark").read_text(encoding="utf-8")


def grammar_tables() -> dict[str, Any]:
    """The LALR(1) tables of `grammar_text()` as `python -m rulewright.expression.tables` wrote them."""
    tables: dict[str, Any] = json.loads((_HERE / "expression.tables.json").read_bytes())
    return tables


def schema_names() -> tuple[str, ...]:
    """The names of the documents' JSON Schemas, sorted."""
    suffix = ".schema.json"
    names = (entry.name for entry in (_HERE / "schemas").iterdir())
    return tuple(sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix)))


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema called `name`; raises `KeyError` where there is none."""
    if name not in schema_names():
        raise KeyError(name)
    document: dict[str, Any] = json.loads((_HERE / "schemas" / f"{name}.schema.json").read_bytes())
    return document
