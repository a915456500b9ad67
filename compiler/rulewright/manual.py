"""The manual: one page for every code a finding can have."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import cleandoc

from rulewright.rules import RULES, code_of

# Modules whose `PAGES` hold the pages of what they find themselves; rules carry theirs as docstrings.
FINDERS = (
    "rulewright.documents.rule_set",
    "rulewright.documents.scorecard",
    "rulewright.documents.structure",
    "rulewright.linting",
    "rulewright.load.mistakes",
    "rulewright.lower.agreement",
    "rulewright.lower.case_scorecard",
    "rulewright.lower.expressions",
    "rulewright.lower.scorecard",
    "rulewright.lower.selection",
    "rulewright.lower.verifiers",
    "rulewright.project",
    "rulewright.prompts",
    "rulewright.score_batches",
    "rulewright.score_settings",
    "rulewright.suppressions",
    "rulewright.tables.build",
    "rulewright.tables.syntax",
)


@cache
def pages() -> dict[str, str]:
    """Every manual page by its code, sorted."""
    found = {code_of(rule): rule.__doc__ or "" for rule in RULES}
    for name in FINDERS:
        found.update(import_module(name).PAGES)
    return {code: cleandoc(found[code]) for code in sorted(found)}


def explain(code: str) -> str | None:
    """The manual page of a code, or None when there is no such code."""
    return pages().get(code)
