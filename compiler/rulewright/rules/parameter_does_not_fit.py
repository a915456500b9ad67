"""Rule: a parameter whose value its check can't work with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, error, replace
from rulewright.expression.types import DOUBLE, INT, STRING, ListType
from rulewright.load import Node, Scalar, Sequence
from rulewright.lower.expression_checks import mistakes_with

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.expression.types import Type

NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
LISTED: Final = re.compile(r"[\w.-]+(?: [\w.-]+)*(?:, *[\w.-]+(?: [\w.-]+)*)+")


def parameter_does_not_fit(check: CheckDocument) -> Iterator[Diagnostic]:
    """A value under `params` is of a type that the check's expression can't use.

    Why it matters: the check compiles, and the first conversation makes it fail: a text has no order beside a number,
    and a phrase is not a list of phrases.
    Instead: write the value without quotes, or as a list in brackets.
    """
    written = check.get("params")
    if not check.verdict_conditions or not check.params or written is None:
        return
    if mistakes_with(check, {}):
        return
    for name in check.params:
        value = check.get("params", name)
        refused = [mistakes_with(check, {name: each}) for each in _types(value)]
        if value is not None and refused and all(refused):
            first = refused[0][0]
            message, notes = f"the expression can't use `{name}` as it is: {first.message}", [(first.span, "used here")]
            fix = replace(value, meant, f"write `{meant}`", safe=False) if (meant := _meant(value)) else None
            yield error(value, message, notes=notes, fix=fix)


def _types(value: Node | None) -> list[Type]:
    """The types that the value may have in an expression."""
    if isinstance(value, Sequence):
        texts = value.items and all(isinstance(item, Scalar) and isinstance(item.value, str) for item in value.items)
        return [ListType(STRING)] if texts else []
    if not isinstance(value, Scalar) or isinstance(value.value, bool):
        return []
    return [STRING] if isinstance(value.value, str) else [INT, DOUBLE] if isinstance(value.value, int | float) else []


def _meant(value: Node) -> str | None:
    """The number or the list that a text spells."""
    word = value.value if isinstance(value, Scalar) else None
    if not isinstance(word, str):
        return None
    return word if NUMBER.fullmatch(word) else f"[{word}]" if LISTED.fullmatch(word) else None
