"""Tables of functions (name to function and argument counts), and the limits on their results and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from rulewright_runtime.errors import EvaluationError

Function: TypeAlias = Callable[..., object]
Table: TypeAlias = Mapping[str, tuple[Function, int, int]]  # function, minimum and maximum number of arguments
PLUGIN_FUNCTIONS: Final[dict[str, tuple[Function, int, int]]] = {}  # filled when a plan that calls them is opened

MAX_TEXT: Final = 10_000_000  # code points or bytes
MAX_LIST: Final = 1_000_000
MAX_STEPS: Final = 3_000_000  # of nested loops, and of functions that compare all pairs of elements


def check_text(length: int) -> None:
    """Raise EvaluationError for a string or bytes longer than `MAX_TEXT`, before it is created."""
    if length > MAX_TEXT:
        raise EvaluationError(f"a text would be longer than {MAX_TEXT}", "limit")


def check_list(length: int) -> None:
    """Raise EvaluationError for a list longer than `MAX_LIST`, before it is created."""
    if length > MAX_LIST:
        raise EvaluationError(f"a list would be longer than {MAX_LIST}", "limit")


def check_steps(steps: int) -> None:
    """Raise EvaluationError for more than `MAX_STEPS` steps."""
    if steps > MAX_STEPS:
        raise EvaluationError(f"more than {MAX_STEPS} steps", "limit")
