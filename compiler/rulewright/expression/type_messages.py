"""The messages of the checker: the actual type, the expected one, the nearest known name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Final

from rulewright.errors import ExpressionMistake, Reason
from rulewright.expression.declarations import Overload
from rulewright.expression.syntax_tree import Binary, Expr
from rulewright.expression.types import OptionalType, RecordType, Type
from rulewright.spelling import Guess
from rulewright_runtime.english import either, ticked

_OPERATORS: Final = {
    "_?_:_": "?:", "!_": "!", "-_": "-", "@in": "in", "_[_]": "[]", "_[?_]": "[?]",
    **{f"_{sign}_": sign for sign in ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")},
}  # fmt: skip
_SHOWN: Final = 4


def mistake(
    text: str, e: Expr, message: str, help: str | None = None, *, whole: bool = False, reason: Reason = Reason.OTHER
) -> ExpressionMistake:
    """The mistake `message` at the offset that an error about `e` points to, or with `whole` at the start of `e`."""
    start = e.span.start if whole else e.span.at
    end = start + len(e.operator) if isinstance(e, Binary) and not whole else max(e.span.end, start)
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return ExpressionMistake(" ".join(message.splitlines()), start, end, line, column, help, reason)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The help with the known name most similar to `name`, or None if none is similar."""
    by_lower = {k.lower(): k for k in sorted(known) if k.replace("_", "a").replace(".", "a").isalnum()}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.65)
    return Guess(by_lower[near[0]]) if near and by_lower[near[0]] != name else None


def one_of(names: Sequence[str]) -> str:
    """`A`, `B` or `C`."""
    return either([f"`{name}`" for name in names])


def operator(name: str) -> str:
    """The function `name` in backticks; an operator as its sign."""
    return f"`{_OPERATORS.get(name, name)}`"


def fields_help(actual: Sequence[Type]) -> str | None:
    """The fields of a record that was written where a value of one of its fields was meant."""
    record = next((each for each in actual if isinstance(each, RecordType) and each.fields), None)
    if record is None:
        return None
    return f"`{record.name}` is a record with the fields " + ticked(record.fields)


def no_overload(name: str, overloads: Sequence[Overload], actual: Sequence[Type], method: bool) -> str:
    """The message that no overload of `name` takes arguments of the types `actual`, with the existing overloads."""
    if name == "!_":
        return f"expected a `bool`, found `{actual[0]}`"
    shown = operator(name)
    if name in ("_==_", "_!=_") and not any(isinstance(t, OptionalType) for t in actual):
        return f"{shown} can't compare `{actual[0]}` with `{actual[1]}`"
    styled = [o for o in overloads if o.method == method]
    near = [o for o in styled if o.arguments[:1] == tuple(actual[:1])] or styled or list(overloads)
    own = name if near and near[0].method != method else ""
    expected = ", ".join(_arguments(o.arguments, o.method, own) for o in near[:_SHOWN]) + (
        " ..." if len(near) > _SHOWN else ""
    )
    found = _arguments(actual, method)
    return f"{shown} does not take {found}; expected {expected}" if expected else f"{shown} does not take {found}"


def _arguments(types: Sequence[Type], method: bool, name: str = "") -> str:
    written = [str(t) for t in types]
    target = f"{written.pop(0)}." if method and written else ""
    return f"{target}{name}({', '.join(written)})"
