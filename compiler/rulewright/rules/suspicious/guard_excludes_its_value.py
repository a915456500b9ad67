from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.check import CheckDocument
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Conditional,
    Expr,
    Has,
    Index,
    Literal,
    Macro,
    Name,
    Select,
    Unary,
    below,
    chain,
    children,
    field_of,
)
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, expressions_of

MOST: Final = 8  # sides of a condition that are guards
USAGE: Final = "usage"
OTHER: Final = {"or": "and", "and": "or"}
PARSING: Final = frozenset({"json", "valid_against"})  # functions whose argument is JSON


def guard_excludes_its_value(document: DocumentWithExpressions) -> Findings:
    """A condition reads an item, key or value only where it is absent or null, or arguments only for other tools.

    Why it matters: `size(xs) == 0 and xs[0]` reads an item of an empty list, `has(x.y) or x.y` a missing key,
    `x.hasValue() or x.value()` an absent value, `xs.exists(x, p) or xs.filter(x, p)[0]` an item that is not there, and
    `is_json(x) or valid_against(x, schema)` what is not JSON, so the condition can't be decided where the guard should
    decide it.
    Instead: join a test for absence with `or`, and a test for presence with `and`.
    """
    yield from _of_another_value(document)
    for written in expressions_of(document):
        inner = set[int]()  # parts of a chain of the same operator
        for part in written.parts:
            if isinstance(part, Conditional):
                yield from _branches(written, part)
            elif isinstance(part, Binary) and part.operator in ("&&", "||"):
                if id(part) not in inner:
                    yield from _joined(written, part)
                below_it = (part.left, part.right)
                inner.update(id(each) for each in below_it if getattr(each, "operator", "") == part.operator)


def _of_another_value(document: DocumentWithExpressions) -> Findings:
    """The `has(usage.cost)` that is all of `applies`, where the conditions read another key of `usage` only."""
    applies = document.applies if isinstance(document, CheckDocument) else None
    read = [part for each in expressions_of(document) if each.scalar is not applies for part in each.parts]
    keys = {key for part in read if (key := field_of(part, USAGE))}
    for written in expressions_of(document) if applies is not None and len(keys) == 1 else ():
        match written.checked.expr:
            case Has(operand=Name(name=name), field=field) as guard if written.scalar is applies and name == USAGE:
                guarded = {part.field for part in read if isinstance(part, Has)}
                if field not in keys and not keys & guarded:
                    message = f"this guards `{USAGE}.{field}`, but the conditions read `{USAGE}.{min(keys)}`"
                    yield warning(written.span(guard), message, help=Guess(f"has({USAGE}.{min(keys)})"))


def _joined(written: WrittenExpression, part: Binary) -> Findings:
    """The finding of the first side of a chain that is read only where another one says that it is absent."""
    meant = "or" if part.operator == "&&" else "and"
    sides = chain(part, part.operator)
    for guard in sides[:MOST]:
        others = [each for each in sides if each is not guard]
        place = written.span(part if len(sides) == 2 else guard)
        value, call = _guarded(guard, absent=part.operator == "&&"), _other_tools(guard, part.operator)
        read = None if value is None else _first(_reading(each, value) for each in others)
        if read is not None:
            message = f"`{written.text(read)}` {_when(value)} `{written.text(guard)}`"
            yield warning(place, message, help=f"did you mean `{meant}` instead of `{OTHER[meant]}`?")
            return
        unnamed = [each for each in others if not _names_tools(each)] if call is not None else []
        read = _first(each for other in unnamed for each in below(other) if _is_argument(each, call))
        if read is not None and isinstance(guard, Binary):
            message = f"`{written.text(read)}` is only read for other tools, because of `{written.text(guard)}`"
            operator = {"==": "!=", "!=": "=="}[guard.operator]
            yield warning(written.span(guard), message, help=f"did you mean `{operator}`?")
            return


def _first(found: Iterable[Expr | None]) -> Expr | None:
    return next((each for each in found if each is not None), None)


def _when(value: Expr | None) -> str:
    """When a value is read, before the guard that says so."""
    return (
        "may be absent where it is read, after"
        if isinstance(value, Macro)
        else "is only read where it is absent, because of"
    )


def _other_tools(guard: Expr, operator: str) -> Expr | None:
    """The call of a tool, where a guard with its name lets only the calls of other tools through."""
    is_guard = isinstance(guard, Binary) and guard.operator == ("!=" if operator == "&&" else "==")
    if not is_guard or not isinstance(guard, Binary) or not isinstance(guard.right, Literal):
        return None
    return guard.left.operand if isinstance(guard.left, Select) and guard.left.field == "name" else None


def _names_tools(part: Expr) -> bool:
    """Whether a part has a guard of its own."""
    return any(isinstance(each, Select) and each.field == "name" for each in below(part))


def _is_argument(part: Expr, call: Expr | None) -> bool:
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
    """What a guard tests for absence, or for presence: a list or text by its size, or a key by `has`; the guard itself
    where it compares with null."""
    if isinstance(guard, Unary) and guard.operator == "!":
        return _guarded(guard.operand, absent=not absent)
    if isinstance(guard, Has) or (isinstance(guard, Call) and guard.function in ("hasValue", "is_json")):
        return None if absent else guard
    if isinstance(guard, Macro) and guard.kind == "exists":
        return None if absent else guard
    if isinstance(guard, Binary) and guard.right == Literal(None, guard.span):
        return guard if guard.operator == ("==" if absent else "!=") else None
    if not isinstance(guard, Binary) or guard.right != Literal(0, guard.span):
        return None
    counted = guard.left
    if guard.operator not in (("==",) if absent else (">", "!=")) or not isinstance(counted, Call):
        return None
    return next(iter((*counted.args, counted.target)), None) if counted.function == "size" else None


def _is_filtered(part: Expr, value: Expr) -> bool:
    """Whether a part filters a list for what a value, an `exists`, says of one of its items, or for that and more."""
    if (
        not isinstance(part, Macro)
        or not isinstance(value, Macro)
        or (part.kind, part.target) != ("filter", value.target)
    ):
        return False
    return any(value.bodies[-1] in chain(part.bodies[-1], each) for each in ("&&", "||"))


def _reading(part: Expr, value: Expr) -> Expr | None:
    """The part of an expression that reads an item of a list, a key that is tested by `has`, or what is null."""
    if isinstance(value, Binary) and part == value.left:
        return part
    if isinstance(part, Index) and not part.optional and (part.operand == value or _is_filtered(part.operand, value)):
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
