"""The lint rules. A rule is one file: a function whose docstring is its manual page.

A rule looks at the one parameter that it takes: a document model (`Check`, `Scenario`, ...), one of several
(`Check | Profile`), or the whole `Project`. It yields `error(...)`, `warning(...)` or `advice(...)` of
`rulewright.diagnostics`; the engine writes the rule's name, with dashes, into `code`.

The modules `of_*` list the rules of each kind of document, so that a lone document imports no more than it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TypeAlias, TypeVar

from rulewright.diagnostics import Diagnostic

Model = TypeVar("Model")
Rule: TypeAlias = Callable[[Model], Iterable[Diagnostic]]


def code_of(rule: Rule[Model]) -> str:
    """The rule's code: its name with dashes."""
    return rule.__name__.replace("_", "-")


def findings(rules: Iterable[Rule[Model]], models: Iterable[Model]) -> Iterator[Diagnostic]:
    """What the rules find in the models, each finding under its rule's code."""
    models = tuple(models)
    for rule in rules:
        for model in models:
            for found in rule(model):
                yield replace(found, code=code_of(rule))


def rule_page(code: str) -> str | None:
    """The manual page of the rule that has this code; None when there is no such rule."""
    name = code.replace("-", "_")
    if code.startswith("of-") or not (Path(__file__).parent / f"{name}.py").is_file():
        return None
    page: str | None = getattr(import_module(f"{__name__}.{name}"), name).__doc__
    return page
