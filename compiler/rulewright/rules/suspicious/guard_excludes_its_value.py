from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Conditional,
    Expr,
    Has,
    Index,
    Literal,
    Select,
    Unary,
    below,
    children,
)
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, parts_of

PARSING: Final = frozenset({"json", "valid_against"})  # functions whose argument is JSON


def guard_excludes_its_value(document: DocumentWithExpressions) -> Findings:
    """A condition reads an item, key or value only where it is absent, or the arguments of all tools but the named one.

    Why it matters: `size(xs) == 0 and xs[0]` reads an item of an empty list, `has(x.y) or x.y` a missing key,
    `x.hasValue() or x.value()` an absent value, and `is_json(x) or valid_against(x, schema)` what is not JSON, so the
    condition can't be decided where the guard should decide it.
    Instead: join a test for absence with `or`, and a test for presence with `and`.
    """
    for written, part in parts_of(document):
        if isinstance(part, Conditional):
            yield from _branches(written, part)
        if not isinstance(part, Binary) or part.operator not in ("&&", "||"):
            continue
        words = ("and", "or") if part.operator == "&&" else ("or", "and")
        for guard, other in ((part.left, part.right), (part.right, part.left)):
            value = _guarded(guard, absent=part.operator == "&&")
            read = None if value is None else _reading(other, value)
            if read is not None:
                message = f"`{written.text(read)}` is only read where it is absent, because of `{written.text(guard)}`"
                yield warning(written.span(part), message, help=f"did you mean `{words[1]}` instead of `{words[0]}`?")
                break
            call = None if _names_tools(other) else _other_tools(guard, part.operator)
            read = None if call is None else next((each for each in below(other) if _is_argument(each, call)), None)
            if read is not None:
                message = f"`{written.text(read)}` is only read for other tools, because of `{written.text(guard)}`"
                meant = {"==": "!=", "!=": "=="}[guard.operator] if isinstance(guard, Binary) else ""
                yield warning(written.span(guard), message, help=f"did you mean `{meant}`?")
                break


def _other_tools(guard: Expr, operator: str) -> Expr | None:
    """The call of a tool, where a guard with its name lets only the calls of other tools through."""
    is_guard = isinstance(guard, Binary) and guard.operator == ("!=" if operator == "&&" else "==")
    if not is_guard or not isinstance(guard, Binary) or not isinstance(guard.right, Literal):
        return None
    return guard.left.operand if isinstance(guard.left, Select) and guard.left.field == "name" else None


def _names_tools(part: Expr) -> bool:
    """Whether a part has a guard of its own."""
    return any(isinstance(each, Select) and each.field == "name" for each in below(part))


def _is_argument(part: Expr, call: Expr) -> bool:
    return isinstance(part, Select) and part.field == "arguments" and part.operand == call


def _branches(written: WrittenExpression, part: Conditional) -> Findings:
    """The findings of a choice whose branch reads what its test says to be absent."""
    for branch, absent in ((part.then, True), (part.otherwise, False)):
        value = _guarded(part.condition, absent=absent)
        read = None if value is None else _reading(branch, value)
        if read is not None:
            guard = written.text(part.condition)
            message = f"`{written.text(read)}` is only read where it is absent, because of `{guard}`"
            yield warning(written.span(part.condition), message, help="did you mean to swap the branches?")


def _guarded(guard: Expr, *, absent: bool) -> Expr | None:
    """What a guard tests for absence, or for presence: a list or text by its size, or a key by `has`."""
    if isinstance(guard, Unary) and guard.operator == "!":
        return _guarded(guard.operand, absent=not absent)
    if isinstance(guard, Has) or (isinstance(guard, Call) and guard.function in ("hasValue", "is_json")):
        return None if absent else guard
    if not isinstance(guard, Binary) or guard.right != Literal(0, guard.span):
        return None
    counted = guard.left
    if guard.operator not in (("==",) if absent else (">", "!=")) or not isinstance(counted, Call):
        return None
    return next(iter((*counted.args, counted.target)), None) if counted.function == "size" else None


def _reading(part: Expr, value: Expr) -> Expr | None:
    """The part of an expression that reads an item of a list, or a key that is tested by `has`."""
    if isinstance(part, Index) and part.operand == value and not part.optional:
        return part
    if isinstance(part, Select) and not part.optional and Has(part.operand, part.field, part.span) == value:
        return part
    if isinstance(part, Call) and part.function == "value" and replace(part, function="hasValue") == value:
        return part
    if (
        isinstance(part, Call)
        and part.function in PARSING
        and replace(part, function="is_json", args=part.args[:1]) == value
    ):
        return part
    found = (_reading(child, value) for child in children(part))
    return next((each for each in found if each is not None), None)
