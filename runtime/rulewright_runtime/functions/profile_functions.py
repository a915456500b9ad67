"""Operators and functions that the profile adds to strict CEL: promotion of mixed numbers, exact scores, and
case-insensitive search."""

from __future__ import annotations

from typing import Final

from rulewright_runtime import score as exact
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import operators
from rulewright_runtime.functions.operators import as_int
from rulewright_runtime.functions.table import Function, Table, not_nan, typed
from rulewright_runtime.matching.folding import fold_case
from rulewright_runtime.score import Score
from rulewright_runtime.values import Value, is_number


def _is_mixed(left: object, right: object) -> bool:
    return left.__class__ is not right.__class__ and is_number(left) and is_number(right)


def _arithmetic(of_one_type: Function, of_scores: Function) -> Function:
    """An operator on two numbers: mixed ones promote, scores stay exact, two ints are computed as in CEL, and NaN is an
    error."""

    def compute(left: Value, right: Value) -> Value:
        if left.__class__ is Score or right.__class__ is Score:
            return of_scores(left, right)
        return not_nan(of_one_type(*_promote(left, right) if _is_mixed(left, right) else (left, right)))

    return compute


def divide(left: Value, right: Value) -> Value:
    """`left / right`; zero is not a divisor of doubles either. Raises EvaluationError."""
    if right.__class__ is float and right == 0.0:
        raise EvaluationError("divide by zero", "divide_by_zero")
    return operators.divide(left, right)


def modulo(left: object, right: object) -> object:
    """`left % right` of integers; mixed ones promote."""
    if _is_mixed(left, right) and not isinstance(left, (float, Score)) and not isinstance(right, (float, Score)):
        return operators.modulo(*_promote(left, right))
    return operators.modulo(left, right)


def negate(value: object) -> object:
    """`-value` of an int, double or score."""
    return -value if value.__class__ is Score else operators.negate(value)


def _promote(left: Value, right: Value) -> tuple[object, object]:
    """Convert two numbers to one type: double if one is a double, else int."""
    if left.__class__ is float or right.__class__ is float:
        try:
            return float(left), float(right)
        except OverflowError:
            raise EvaluationError("an int is out of the range of a double", "overflow") from None
    return as_int(int(left)), as_int(int(right))


TABLE: Final[Table] = {
    "_+_": (_arithmetic(operators.add, exact.add), 2, 2),
    "_-_": (_arithmetic(operators.subtract, exact.subtract), 2, 2),
    "_*_": (_arithmetic(operators.multiply, exact.multiply), 2, 2),
    "_/_": (_arithmetic(divide, exact.divide), 2, 2),
    "_%_": (modulo, 2, 2),
    "-_": (negate, 1, 1),
    "score": (exact.score_of, 1, 1),
    **typed(
        {
            # by Python's rules (SAFE, markers, branches)
            "contains_ci": (lambda text, part: part.lower() in text.lower(), str, str),
            # by simple case folding, as in a lexicon with `fold: none`
            "substring_ci": (lambda text, part: fold_case(part) in fold_case(text), str, str),
        }
    ),
}
