"""Rows: a program becomes one Python callable that evaluates it on a plain dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import Program


class Evaluator(Protocol):
    """A prepared expression: call it with the bindings (names to values, dotted names allowed) to get its value.

    Raises EvaluationError and nothing else. Thread-safe and reentrant.
    """

    def __call__(self, bindings: Mapping[str, Any], /) -> Any:
        """The value of the expression for these bindings."""


def prepare(program: Program) -> Evaluator:
    """The evaluator of `program`, which is validated here once (PlanError)."""
    raise EvaluationError(f"not yet: {program.source}")
