"""The manual: one page for every code a finding can have.

Rules carry their pages as docstrings; every other module that finds mistakes has a table `PAGES` of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

from rulewright.rules import code_of, every_rule

PACKAGE = Path(__file__).parent


@cache
def pages() -> dict[str, str]:
    """Every manual page by its code, sorted."""
    found = {code_of(rule): rule.__doc__ or "" for rule in every_rule()}
    for name in finders():
        found.update(import_module(name).PAGES)
    return {code: cleandoc(found[code]) for code in sorted(found)}


def finders() -> Iterator[str]:
    """The modules that have a table of pages, told by their text: importing all of them would take far longer."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if b"\nPAGES: " in path.read_bytes():
            yield ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))


def explain(code: str) -> str | None:
    """The manual page of a code, or None when there is no such code."""
    return pages().get(code)
