"""The lint rules. A rule is one file: a function whose docstring is its manual page.

A rule looks at the one parameter that it takes: a document model (`Check`, `Scenario`, ...), one of several
(`Check | Profile`), or the whole `Project`. It yields `error(...)`, `warning(...)` or `advice(...)` of
`rulewright.diagnostics`; the engine writes the rule's name, with dashes, into `code`.

`of_documents` lists the names of the rules for each model. A rule is imported with the first model that it looks at, so
that linting a single document starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from rulewright.diagnostics import Diagnostic

Rule: TypeAlias = Callable[[Any], Iterable[Diagnostic]]


@cache
def rule_named(name: str) -> Rule:
    """Return a rule, imported on first use."""
    rule: Rule = getattr(import_module(f"{__name__}.{name}"), name)
    return rule


def code_of(name: str) -> str:
    """Return the code of the rule with this name: the name with dashes."""
    return name.replace("_", "-")


def findings(names: Iterable[str], models: Iterable[object]) -> Iterator[Diagnostic]:
    """Yield the findings of the rules with these names in the models, each with its rule's code."""
    models = tuple(models)
    for name in names if models else ():
        for model in models:
            for found in rule_named(name)(model):
                yield replace(found, code=code_of(name))


def rule_page(code: str) -> str | None:
    """Return the manual page of the rule with this code, or None."""
    name = code.replace("-", "_")
    if code.startswith("of-") or not (Path(__file__).parent / f"{name}.py").is_file():
        return None
    return rule_named(name).__doc__
