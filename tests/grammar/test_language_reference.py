"""Every example of the language reference is executed, and every function has one."""

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
from rulewright.expression.syntax_tree import Dialect
from rulewright.load import Mapping, Scalar, load_text
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare

REFERENCE = (Path(__file__).resolve().parents[2] / "grammar" / "LANGUAGE.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```cel(?: (?P<only>profile|strict))?(?P<context> .*)?\n(?P<lines>(?:.*\n)*?)```$", re.MULTILINE)
YAML = re.compile(r"^```yaml\n((?:.*\n)*?)```$", re.MULTILINE)


def examples() -> Iterator[tuple[Dialect, str, str, str]]:
    """Dialect, context, expression, expected value; what strict CEL says the profile says, too."""
    for block in BLOCK.finditer(REFERENCE):
        dialects = (Dialect(block["only"]),) if block["only"] else tuple(Dialect)
        for line in block["lines"].splitlines():
            expression, arrow, expected = line.rpartition("  // => ")
            assert arrow, line
            for dialect in dialects:
                yield dialect, block["context"] or "{}", expression, expected


def value(expression: str, dialect: Dialect, context: dict[str, Any]) -> Any:
    """What the expression gives."""
    built = build(expression, Environment(dialect=dialect, open=bool(context)))
    return prepare(built.program)(context)


def test_every_example_is_true() -> None:
    for dialect, context, expression, expected in examples():
        bindings = json.loads(context)
        if expected == "error":
            with pytest.raises((ExpressionError, EvaluationError)):
                value(expression, dialect, bindings)
            continue
        found, wanted = value(expression, dialect, bindings), value(expected, dialect, bindings)
        assert found == wanted, expression
        assert type(found) is type(wanted), expression


def test_every_function_has_an_example() -> None:
    written = " ".join(expression for _, _, expression, _ in examples())
    functions = {name for name in profile_functions() if re.fullmatch(r"[a-z][\w.]*", name, re.IGNORECASE)}
    missing = {name for name in functions if not re.search(rf"(?<!\w){re.escape(name)}\(", written)}
    assert missing == set()


def test_an_expression_in_yaml_is_written_as_in_the_reference() -> None:
    written = [scalar for block in YAML.findall(REFERENCE) for scalar in yaml_texts(block)]
    assert len(written) > 3
    for text in written:
        build(text, Environment(open=True))


def yaml_texts(block: str) -> Iterator[str]:
    """The values of a block that maps words to expressions."""
    root = load_text(block, "block.yaml").root
    assert isinstance(root, Mapping)
    for name in root.keys:
        node = root.get(name)
        assert isinstance(node, Scalar)
        assert isinstance(node.value, str)
        yield node.value
