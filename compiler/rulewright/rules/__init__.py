"""The lint rules, in the order they run. A rule is one file: a function whose docstring is its manual page.

A rule says by the annotation of its one parameter what it looks at: a document model (`Check`, `Scenario`, ...) is
given each document of that kind, `Project` is given the whole. It yields `error(...)`, `warning(...)` or
`advice(...)` of `rulewright.diagnostics`; the engine writes the rule's name, with dashes, into `code`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from rulewright.diagnostics import Diagnostic

Rule: TypeAlias = Callable[[Any], Iterable[Diagnostic]]

RULES: tuple[Rule, ...] = ()


def code_of(rule: Rule) -> str:
    """The rule's code: its name with dashes."""
    return rule.__name__.replace("_", "-")


def subject_of(rule: Rule) -> str:
    """The name of the model the rule looks at, read from its parameter's annotation."""
    return str(next(iter(rule.__annotations__.values())))
