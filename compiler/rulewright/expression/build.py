"""From the text of an expression to an executable program, in one call: the door the rest of the compiler uses."""

from __future__ import annotations

from dataclasses import dataclass

from rulewright.expression.environment import Environment
from rulewright.expression.nodes import Expr
from rulewright.expression.types import Type
from rulewright_runtime.ir import Program


@dataclass(frozen=True, slots=True)
class Built:
    """An expression that parses and checks: its program, its type, its syntax and the paths it reads, such as
    `("review", "decision")`."""

    program: Program
    type: Type
    expr: Expr
    reads: frozenset[tuple[str, ...]]


def build(text: str, environment: Environment, *, expect: Type | None = None) -> Built:
    """Parse, check and lower `text`.

    With `expect` the expression must have that type: `expect=BOOL` refuses a condition that is only `dyn`, and an
    enum or a record admits literals that belong to it. Raises ExpressionError with every mistake.
    """
    raise NotImplementedError
