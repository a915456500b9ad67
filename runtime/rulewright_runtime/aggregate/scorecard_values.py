"""Input and output of a scorecard: numbers and names of the plan, and values of the language as plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import Evaluator
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score, leave, parse_score
from rulewright_runtime.values import Optional, Value

Bindings = Mapping[str, object]


def value_or_none(
    value: Evaluator, bindings: Bindings, place: str, check_id: str, undecided: list[dict[str, str]]
) -> object:
    """The evaluator's result as plain JSON data; if it raises, None, with the reason added to `undecided`."""
    try:
        return export(value(bindings))
    except EvaluationError as error:
        undecided.append({"place": place, "check_id": check_id, "reason": str(error)})
        return None


def export(value: Value) -> Value:
    """A value of the language as plain JSON data: scores are rounded once, absent values become null.

    Raises EvaluationError for a score outside [0, 1] and for a value that JSON can't represent.
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
            raise EvaluationError(f"`{value}` is not a number of JSON", "not_a_number")
        return value
    if isinstance(value, Mapping):
        return {str(key): export(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [export(item) for item in value]
    raise EvaluationError("a value of this type can't be written as JSON", "no_such_conversion")


_PLAIN: Final = frozenset({str, bool, int, type(None)})


def plain_path(program: Program, own: set[str]) -> tuple[str, ...] | None:
    """The path of an output that only names a part of the row, such as `counts.eligible`, and so needs no evaluation;
    None for any other program."""
    first, *rest = program.nodes
    if first.op != "name" or len(first.value) != 1 or any(node.op != "select" for node in rest):
        return None
    (root, fields), *_ = first.value
    path = (root, *fields, *(node.value for node in rest))
    return path if root in _READY and root not in own and len(path) == _READY[root] else None


# The length of a path to values that are ready for JSON: `gates` has one name, `counts.eligible` two.
_READY: Final[Mapping[str, int]] = {"gates": 1, "dimensions": 1, "flags": 1, "rates": 2, "counts": 2, "lists": 2}


def number_of(text: str) -> Score:
    """A number of the plan as an exact score. Raises PlanError for a text that is not a number >= 0."""
    try:
        number = parse_score(text)
    except EvaluationError:
        raise PlanError(f"the scorecard contains `{text}` where a number is expected") from None
    if number < 0:
        raise PlanError(f"the scorecard contains `{text}` where a negative number is not allowed")
    return number


def refuse_duplicates(names: list[str]) -> None:
    """Raise PlanError for a repeated name: the second part would silently replace the first."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise PlanError(f"the scorecard contains `{repeated}` twice")
