"""The manual: one page for every code a finding can have.

Rules carry their pages as docstrings; every other module that finds mistakes has a table `PAGES` of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

from rulewright.rules import Rule, code_of, rule_page

PACKAGE = Path(__file__).parent


@cache
def pages() -> dict[str, str]:
    """Every manual page by its code, sorted."""
    found = {code_of(rule): rule.__doc__ or "" for rule in every_rule()}
    for name in finders():
        found.update(import_module(name).PAGES)
    return {code: cleandoc(found[code]) for code in sorted(found)}


def every_rule() -> tuple[Rule[object], ...]:
    """All rules, each once."""
    names = sorted(path.stem for path in (PACKAGE / "rules").glob("of_*.py"))
    modules = [import_module(f"{PACKAGE.name}.rules.{name}") for name in names]
    lists = [value for module in modules for value in vars(module).values() if isinstance(value, tuple)]
    return tuple(dict.fromkeys(rule for rules in lists for rule in rules))


def finders() -> Iterator[str]:
    """The modules that have a table of pages, told by their text: importing all of them would take far longer."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if b"\nPAGES: " in path.read_bytes():
            yield ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))


def instead(code: str) -> str | None:
    """What to do about a finding of this code: the end of its page. Looks only where it may come from without loading
    more: at the rules, and at the modules that are loaded already."""
    page = rule_page(code) or next((table[code] for table in _tables_at_hand() if code in table), "")
    return " ".join(page.partition("Instead: ")[2].split()).removesuffix(".") or None


def _tables_at_hand() -> list[dict[str, str]]:
    names = sorted(name for name in sys.modules if name.startswith(f"{PACKAGE.name}."))
    return [getattr(sys.modules[name], "PAGES", {}) for name in names]


def explain(code: str) -> str | None:
    """The manual page of a code, or None when there is no such code."""
    return pages().get(code)
