"""The table of what the architecture page promises names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "decisions" / "architecture-tests.md"
NAMED = sorted(set(re.findall(r"`(tests/\S+\.py)::(test_\w+)`", PAGE.read_text(encoding="utf-8"))))
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| (?!what|-)", line)]


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_test_that_the_table_names_exists(path: str, name: str) -> None:
    assert name in names_in(path)


def test_every_row_names_a_test_or_says_that_it_is_open() -> None:
    assert len(ROWS) > 40
    assert [row for row in ROWS if "::test_" not in row and "| open: " not in row] == []
