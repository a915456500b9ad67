"""The functions of the language, by canonical name: what `call` in the instruction set may name."""

from __future__ import annotations

from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import (
    conversions,
    formatting,
    json_texts,
    lists,
    mathematics,
    operators,
    optionals,
    personal,
    profile,
    similarity,
    statistics,
    strings,
    texts,
    times,
    tool_use,
)
from rulewright_runtime.functions.table import BROUGHT, Function, Table

STRICT: Final[Table] = {
    **operators.TABLE,
    **conversions.TABLE,
    **strings.TABLE,
    **formatting.TABLE,
    **times.TABLE,
    **mathematics.TABLE,
    **lists.TABLE,
    **optionals.TABLE,
}
PROFILE: Final[Table] = {
    **STRICT,
    **profile.TABLE,
    **statistics.TABLE,
    **texts.TABLE,
    **similarity.TABLE,
    **personal.TABLE,
    **json_texts.TABLE,
    **tool_use.TABLE,
}


def lookup(name: str, arguments: int, strict: bool) -> Function:
    """The function `name` for that many arguments; one that raises EvaluationError when there is none such."""
    entry = STRICT.get(name) if strict else PROFILE.get(name) or BROUGHT.get(name)
    if entry is None:
        return _refuse(f"unknown function `{name}`", "unknown_function")
    function, least, most = entry
    if not least <= arguments <= most:
        return _refuse(f"found no matching overload for `{name}` with {arguments} arguments", "no_such_overload")
    return function


def _refuse(message: str, code: str) -> Function:
    def refuse(*_: object) -> object:
        raise EvaluationError(message, code)

    return refuse
