"""Every example of the language reference is executed, and every function has one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.declarations import profile_functions
from rulewright.expression.environment import Environment
from rulewright.expression.lexer import Dialect
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.evaluate import prepare

REFERENCE = (Path(__file__).resolve().parents[2] / "grammar" / "LANGUAGE.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```cel(?P<profile> profile)?(?P<context> .*)?\n(?P<lines>(?:.*\n)*?)```$", re.MULTILINE)


def examples() -> Iterator[tuple[Dialect, str, str, str]]:
    """Dialect, context, expression, expected value; what strict CEL says the profile says, too."""
    for block in BLOCK.finditer(REFERENCE):
        dialects = (Dialect.PROFILE,) if block["profile"] else tuple(Dialect)
        for line in block["lines"].splitlines():
            expression, arrow, expected = line.rpartition("  // => ")
            assert arrow, line
            for dialect in dialects:
                yield dialect, block["context"] or "{}", expression, expected


def value(expression: str, dialect: Dialect, context: dict[str, Any]) -> Any:
    """What the expression gives."""
    built = build(expression, Environment(dialect=dialect, open=bool(context)))
    return prepare(built.program)(context)


@pytest.mark.parametrize(("dialect", "context", "expression", "expected"), list(examples()))
def test_an_example_is_true(dialect: Dialect, context: str, expression: str, expected: str) -> None:
    bindings = json.loads(context)
    if expected == "error":
        with pytest.raises((ExpressionError, EvaluationError)):
            value(expression, dialect, bindings)
        return
    found, wanted = value(expression, dialect, bindings), value(expected, dialect, bindings)
    assert found == wanted
    assert type(found) is type(wanted)


def test_every_function_has_an_example() -> None:
    written = " ".join(expression for _, _, expression, _ in examples())
    functions = {name for name in profile_functions() if re.fullmatch(r"[a-z][\w.]*", name, re.IGNORECASE)}
    missing = {name for name in functions if not re.search(rf"(?<!\w){re.escape(name)}\(", written)}
    assert missing == set()
