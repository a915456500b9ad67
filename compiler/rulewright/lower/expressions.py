"""Builds the expressions and the declared parameters of documents; every mistake becomes a diagnostic at its column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rulewright.diagnostics import Diagnostic, Located, error
from rulewright.documents.scorecard import ParameterDocument
from rulewright.errors import ExpressionError, Reason
from rulewright.expression.build import Built, build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, DYN, INT, SCORE, STRING, Type
from rulewright.load import Scalar, place
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.plan.scorecard import Parameter, parameter_value

NO_PROGRAM: Final = Program(())
TOO_LARGE: Final = "the expression is too large, together with what it is joined with"


def build_in(
    scalar: Scalar, environment: Environment, findings: list[Diagnostic], expect: Type | None = None
) -> Built | None:
    """Build the expression of `scalar`, or return None with its mistakes added to `findings`."""
    try:
        return build(str(scalar.value), environment, expect=expect)
    except ExpressionError as failure:
        findings.extend(mistakes_of(failure, scalar))
        return None


@dataclass(slots=True, kw_only=True)
class ExpressionCollector:
    """Builds the expressions of one document, and collects them and their mistakes."""

    findings: list[Diagnostic] = field(default_factory=list)
    expressions: list[tuple[Scalar, Environment]] = field(default_factory=list)

    def expression(self, scalar: Scalar, environment: Environment, expect: Type | None = None) -> tuple[Program, Type]:
        """Return the program of `scalar` and its type; the program is `NO_PROGRAM` where it has mistakes."""
        self.expressions.append((scalar, environment))
        built = build_in(scalar, environment, self.findings, expect)
        return (NO_PROGRAM, DYN) if built is None else (built.program, built.type)


def composed(program: Program, place: Located, findings: list[Diagnostic]) -> Program | None:
    """Return the program, or None with a finding at `place` where it exceeds the size limit of plans."""
    try:
        validate(program)
    except PlanError:
        findings.append(error(place, TOO_LARGE, code="bad-expression"))
        return None
    return program


def mistakes_of(failure: ExpressionError, scalar: Scalar) -> list[Diagnostic]:
    """Return the mistakes of an expression as diagnostics at their spans inside `scalar`."""
    return [
        replace(
            error(place(scalar, mistake.start, mistake.end), mistake.message, code="bad-expression", help=mistake.help),
            about="unknown-value" if mistake.reason is Reason.UNKNOWN_VALUE else mistake.subject,
        )
        for mistake in failure.errors
    ]


PARAMETER_TYPES: Final[Mapping[str, Type]] = {
    "score": SCORE,
    "number": DOUBLE,
    "integer": INT,
    "bool": BOOL,
    "string": STRING,
}


def lower_parameter(declared: ParameterDocument, findings: list[Diagnostic]) -> Parameter:
    """Return the parameter as the plan declares it; add a finding if its default is not a value of it."""
    bounds: list[Any] = [each.value if each else None for each in (declared.minimum, declared.maximum)]
    kind: Any = declared.type
    default: Any = declared.default.value
    if kind == "score" and not isinstance(default, bool):
        default = str(default)
    parameter = Parameter(declared.name, kind, default, *bounds)
    try:
        if kind in PARAMETER_TYPES:  # else schema validation reports it
            parameter_value(parameter)
    except PlanError as failure:
        findings.append(error(declared.default, str(failure), code="bad-parameter"))
    return parameter
