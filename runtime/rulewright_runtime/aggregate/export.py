"""What leaves a scorecard: values of the language as plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import Evaluator
from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import Optional

Bindings = Mapping[str, Any]


def value_or_none(
    value: Evaluator, bindings: Bindings, place: str, check_id: str, undecided: list[dict[str, str]]
) -> Any:
    """What an evaluator gives, as plain JSON data; where it has no value, None and the reason among the `undecided`."""
    try:
        return export(value(bindings))
    except EvaluationError as error:
        undecided.append({"place": place, "check_id": check_id, "reason": str(error)})
        return None


def export(value: Any) -> Any:
    """A value of the language as plain JSON data: scores are rounded once, absent values become null.

    Raises EvaluationError for a score outside [0, 1] and for what JSON can't hold.
    """
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if kind is Score:
        return leave(value)
    if kind is Optional:
        return export(value.value) if value.present else None
    if kind is float:
        if value - value != 0:
            raise EvaluationError(f"`{value}` is not a number that can leave", "not_a_number")
        return value
    if isinstance(value, Mapping):
        return {str(key): export(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [export(item) for item in value]
    raise EvaluationError("a value of this type can't leave a scorecard", "no_such_conversion")


_PLAIN: Final = frozenset({str, bool, int, type(None)})
