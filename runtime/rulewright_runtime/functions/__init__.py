"""Lookup of the functions for `call` in the instruction set. Most checks only use operators, and most scorecards these
and statistics, which are found without importing the other functions."""

from __future__ import annotations

from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import operators, profile_functions, statistics
from rulewright_runtime.functions.table import PLUGIN_FUNCTIONS, Function, Table

_USUAL: Final[Table] = {**operators.TABLE, **profile_functions.TABLE, **statistics.TABLE}


def lookup(name: str, arguments: int, strict: bool) -> Function:
    """Return the function `name` for a number of arguments, or one that raises EvaluationError if there is none."""
    entry = (operators.TABLE if strict else _USUAL).get(name) or _function(name, strict)
    if entry is None:
        return _refuse(f"unknown function `{name}`", "unknown_function")
    function, minimum, maximum = entry
    if not minimum <= arguments <= maximum:
        return _refuse(f"found no matching overload for `{name}` with {arguments} arguments", "no_such_overload")
    return function


def _function(name: str, strict: bool) -> tuple[Function, int, int] | None:
    from rulewright_runtime.functions.language import PROFILE, STRICT

    return STRICT.get(name) if strict else PROFILE.get(name) or PLUGIN_FUNCTIONS.get(name)


def _refuse(message: str, code: str) -> Function:
    def refuse(*_: object) -> object:
        raise EvaluationError(message, code)

    return refuse
