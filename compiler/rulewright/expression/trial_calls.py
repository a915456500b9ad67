"""Calls functions on the constants of a call, to report arguments that they refuse whatever the others are."""

from collections.abc import Iterator, Sequence
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, literal
from rulewright_runtime.values import Timestamp, Value

SELECTORS: Final = (
    *("getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds"),
    *("getMinutes", "getMonth", "getSeconds"),
)
# For each function that may refuse a constant, valid operands: those of a call that are not constant are replaced.
OPERANDS: Final[dict[str, tuple[Value, ...]]] = {
    "base64.decode": ("",),
    "double": ("0",),
    "duration": ("0s",),
    "flatten": ([], 0),
    "int": ("0",),
    "matches": ("", ""),
    "math.bitShiftLeft": (1, 0),
    "math.bitShiftRight": (1, 0),
    "quantile": ([1.0], 0.5),
    "regex.extract": ("", ""),
    "regex.extractAll": ("", ""),
    "regex.replace": ("", "()" * 9, "", 0),  # any `\\1` to `\\9` of a replacement has its group
    "timestamp": ("1970-01-01T00:00:00Z",),
    "uint": ("0",),
    **dict.fromkeys(SELECTORS, (Timestamp(0), "UTC")),
}
UNKNOWN: Final = object()


def refused(name: str, operands: Sequence[object]) -> Iterator[tuple[int, str]]:
    """Yield the index of the first constant operand, the target of a method included, that the function `name` refuses
    whatever those that are `UNKNOWN` are, and why."""
    valid = OPERANDS.get(name, ())[: len(operands)]
    if len(operands) > len(valid):
        return
    tried = list[object](valid)
    for at, operand in enumerate(operands):
        if operand is not UNKNOWN:
            tried[at] = float(operand) if isinstance(operand, int) and isinstance(valid[at], float) else operand
            why = _failure(name, tried)
            if why is not None:
                yield at, why
                return


def _failure(name: str, values: Sequence[object]) -> str | None:
    constants = [Node("const", value=literal(each)) for each in values]
    try:
        prepare(Program((*constants, Node("call", tuple(range(len(values))), name))))({})
    except EvaluationError as why:
        return str(why) if why.code in ("invalid_argument", "range") else None
    return None
