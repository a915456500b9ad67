"""Checks literal arguments of calls: regular expressions, timestamps, durations and formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rulewright.expression.checking_context import CheckingContext
from rulewright.expression.nodes import Call, ListLiteral, Literal
from rulewright.expression.types import DYN, ERROR, EnumType, ListType, MapType, Type, TypeType
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, literal

_CLAUSES: Final = {
    "d": ("int", "uint", "double"),
    "f": ("int", "uint", "double"),
    "e": ("int", "uint", "double"),
    "b": ("int", "uint", "bool"),
    "o": ("int", "uint"),
    "x": ("int", "uint", "string", "bytes"),
    "X": ("int", "uint", "string", "bytes"),
}
_ANY_CLAUSE: Final = ("bool", "bytes", "double", "duration", "int", "null_type", "string", "timestamp", "uint", "score")


def validate(c: CheckingContext, e: Call, name: str, given: Sequence[Type]) -> None:
    """Report invalid literal arguments of a call that has a matching overload."""
    if name == "format":
        _format(c, e)
    elif c.environment.validate and name in ("timestamp", "duration", "matches") and e.args:
        argument = e.args[-1]
        if isinstance(argument, Literal) and isinstance(argument.value, str):
            _try(c, argument, name, argument.value)


def _try(c: CheckingContext, argument: Literal, name: str, text: str) -> None:
    """Run the call on its literal: if it fails now, it would fail every time."""
    values = ["", text] if name == "matches" else [text]
    nodes = [Node("const", value=literal(v)) for v in values]
    try:
        prepare(Program((*nodes, Node("call", tuple(range(len(values))), name))))({})
    except RuntimeFailure as why:
        c.report(argument, f"`{text}` is not a valid argument of `{name}`: {why}", whole=True)


def _format(c: CheckingContext, e: Call) -> None:
    """Check a literal format against a literal list of arguments (cel-go `ext`, `string.format`)."""
    target, (arguments, *_) = e.target, e.args
    if not (isinstance(target, Literal) and isinstance(target.value, str) and isinstance(arguments, ListLiteral)):
        return
    used = 0
    for verb in _clauses(target.value):
        if len(verb) != 1 or verb not in {*_CLAUSES, "s"}:
            c.report(e, f"`%{verb}` is not a clause of a format; expected one of %s %d %f %e %b %o %x %X")
            return
        if used >= len(arguments.items):
            c.report(e, f"the format needs an argument {used + 1}, but there are {len(arguments.items)}")
            return
        item = arguments.items[used]
        used += 1
        type_ = c.known.resolve(c.types[id(item)], final=True)
        if not _formats(verb, type_):
            c.report(item, f"`%{verb}` can't format `{type_}`; expected {_accepted(verb)}")
            return
    if used < len(arguments.items):
        c.report(e, f"the format uses {used} arguments, but there are {len(arguments.items)}")


def _clauses(text: str) -> Iterator[str]:
    """Yield the verbs of a format's clauses; of a malformed clause its whole text."""
    at = 0
    while (at := text.find("%", at)) >= 0:
        if text[at + 1 : at + 2] == "%":
            at += 2
            continue
        end = at + 1
        if text[end : end + 1] == ".":
            end += 1
            while text[end : end + 1].isdecimal():
                end += 1
        yield text[end : end + 1] or text[at + 1 :]
        at = end + 1


def _formats(verb: str, t: Type) -> bool:
    if t in (DYN, ERROR):
        return True
    if verb == "s":
        parts = t.params if isinstance(t, (ListType, MapType)) else ()
        plain = isinstance(t, (TypeType, EnumType)) or str(t) in _ANY_CLAUSE
        return plain or (bool(parts) and all(_formats("s", p) for p in parts))
    return str(t) in (*_CLAUSES[verb], *(("score",) if verb in "fe" else ()))


def _accepted(verb: str) -> str:
    return "a value that has a text" if verb == "s" else ", ".join(f"`{name}`" for name in _CLAUSES[verb])
