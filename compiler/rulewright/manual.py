"""The manual: one page for every code of a finding.

The page of a rule is its docstring; every other module that reports mistakes has a table `PAGES`.
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
    """Return every manual page by its code, sorted."""
    texts = {code_of(rule): rule.__doc__ or "" for rule in every_rule()}
    for name in modules_with_pages():
        texts.update(import_module(name).PAGES)
    return {code: cleandoc(texts[code]) for code in sorted(texts)}


def every_rule() -> tuple[Rule[object], ...]:
    """Return all rules without duplicates."""
    names = sorted(path.stem for path in (PACKAGE / "rules").glob("of_*.py"))
    modules = [import_module(f"{PACKAGE.name}.rules.{name}") for name in names]
    lists = [value for module in modules for value in vars(module).values() if isinstance(value, tuple)]
    return tuple(dict.fromkeys(rule for rules in lists for rule in rules))


def modules_with_pages() -> Iterator[str]:
    """Yield the modules with a table of pages, found in their source text: importing every module takes longer."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if b"\nPAGES: " in path.read_bytes():
            yield ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))


def advice_of(code: str) -> str | None:
    """Return the advice for findings of a code, the end of its page, or None. Searches only the rules and the modules
    that are loaded already."""
    page = rule_page(code) or next((table[code] for table in _loaded_tables() if code in table), "")
    return " ".join(page.partition("Instead: ")[2].split()).removesuffix(".") or None


def _loaded_tables() -> list[dict[str, str]]:
    names = sorted(name for name in sys.modules if name.startswith(f"{PACKAGE.name}."))
    return [getattr(sys.modules[name], "PAGES", {}) for name in names]


def explain(code: str) -> str | None:
    """Return the manual page of a code, or None for an unknown code."""
    return pages().get(code)
