"""Plan parameters: settings that a plan declares with a type, a default and bounds, and that a run may override."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Literal

import msgspec

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.score import score_of


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A declared setting. Scores are written as decimal text, so that they stay exact; `minimum` and
    `maximum` are inclusive."""

    name: str
    type: Literal["score", "number", "integer", "bool", "string"]
    default: str | bool | int | float
    minimum: int | float | None = None
    maximum: int | float | None = None


_KINDS: Final = {
    "score": "a score from 0 to 1",
    "number": "a number",
    "integer": "an integer",
    "bool": "true or false",
    "string": "a text",
}


def parameter_values(declared: Sequence[Parameter], overrides: Mapping[str, object]) -> dict[str, object]:
    """The value of every declared parameter: its override, else its default. PlanError for a bad name or value."""
    names = [parameter.name for parameter in declared]
    for name in overrides:
        if name not in names:
            declared_are = f"declared are {ticked(names)}" if names else "none is declared"
            raise PlanError(f"unknown parameter `{name}`; {declared_are}")
    return {parameter.name: parameter_value(parameter, overrides.get(parameter.name)) for parameter in declared}


def parameter_value(parameter: Parameter, override: Any = None) -> Any:
    """`override` (None: the default) as a value of the parameter's type. PlanError for an invalid value."""
    value = parameter.default if override is None else override
    if parameter.type not in _KINDS:
        raise PlanError(f"parameter `{parameter.name}` has the unknown type `{parameter.type}`")
    try:
        result = _as_type(parameter.type, value)
    except (EvaluationError, ValueError, TypeError):
        is_quoted = parameter.type == "bool" and value in ("true", "false")
        found = f'the text `"{value}"`; write it without quotes' if is_quoted else f"`{value}`"
        raise PlanError(f"parameter `{parameter.name}` must be {_KINDS[parameter.type]}, found {found}") from None
    bounds = (parameter.minimum, parameter.maximum)
    if parameter.type in ("bool", "string") and bounds != (None, None):
        raise PlanError(f"parameter `{parameter.name}` is {_KINDS[parameter.type]} and can't have `min` or `max`")
    if parameter.minimum is not None and result < parameter.minimum:
        raise PlanError(f"parameter `{parameter.name}` must be at least {parameter.minimum}, found `{value}`")
    if parameter.maximum is not None and result > parameter.maximum:
        raise PlanError(f"parameter `{parameter.name}` must be at most {parameter.maximum}, found `{value}`")
    return result


def _as_type(kind: str, value: Any) -> Any:
    if kind == "bool" or isinstance(value, bool):
        if kind == "bool" and isinstance(value, bool):
            return value
        raise TypeError
    if kind == "score":
        return score_of(Fraction(value) if isinstance(value, str) else value)
    if kind == "string":
        if isinstance(value, str):
            return value
        raise TypeError
    if kind == "integer":
        if isinstance(value, int):
            return value
        raise TypeError
    number = float(value)
    if number - number != 0:
        raise ValueError
    return number
