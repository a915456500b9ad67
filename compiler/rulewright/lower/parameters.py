"""Lowers the declared parameters of both kinds of scorecard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.scorecard import ParameterDocument
from rulewright.expression.types import BOOL, DOUBLE, INT, SCORE, STRING, Type
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.parameters import Parameter, parameter_value

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
