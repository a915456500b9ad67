"""The functions that `call` in the instruction set may name. Operators alone, which conditions of most checks call, are
found without loading the others."""

from __future__ import annotations

from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import operators, profile
from rulewright_runtime.functions.table import BROUGHT, Function, Table

_OPERATORS: Final[Table] = {**operators.TABLE, **profile.TABLE}


def lookup(name: str, arguments: int, strict: bool) -> Function:
    """The function `name` for that many arguments; one that raises EvaluationError when there is none such."""
    entry = (operators.TABLE if strict else _OPERATORS).get(name) or _function(name, strict)
    if entry is None:
        return _refuse(f"unknown function `{name}`", "unknown_function")
    function, least, most = entry
    if not least <= arguments <= most:
        return _refuse(f"found no matching overload for `{name}` with {arguments} arguments", "no_such_overload")
    return function


def _function(name: str, strict: bool) -> tuple[Function, int, int] | None:
    from rulewright_runtime.functions.language import PROFILE, STRICT

    return STRICT.get(name) if strict else PROFILE.get(name) or BROUGHT.get(name)


def _refuse(message: str, code: str) -> Function:
    def refuse(*_: object) -> object:
        raise EvaluationError(message, code)

    return refuse
