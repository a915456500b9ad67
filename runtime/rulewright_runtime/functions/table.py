"""What tables of functions hold: for each name the function and how many arguments it takes; and what functions may
make and take at most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from rulewright_runtime.errors import EvaluationError

Function: TypeAlias = Callable[..., object]
Table: TypeAlias = Mapping[str, tuple[Function, int, int]]  # the function; its arguments: least, most
BROUGHT: Final[dict[str, tuple[Function, int, int]]] = {}  # of plug-ins, once a plan that calls them is opened

MAX_TEXT: Final = 10_000_000  # code points or bytes
MAX_LIST: Final = 1_000_000
MAX_STEPS: Final = 3_000_000  # of nested loops, and of functions that compare every element with every other


def check_text(length: int) -> None:
    """Refuse a text or bytes of that length, before it is made."""
    if length > MAX_TEXT:
        raise EvaluationError(f"a text would be longer than {MAX_TEXT}", "limit")


def check_list(length: int) -> None:
    """Refuse a list of that length, before it is made."""
    if length > MAX_LIST:
        raise EvaluationError(f"a list would be longer than {MAX_LIST}", "limit")


def check_steps(steps: int) -> None:
    """Refuse work of that many steps."""
    if steps > MAX_STEPS:
        raise EvaluationError(f"more than {MAX_STEPS} steps", "limit")
