from collections.abc import Mapping
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import (
    NOWHERE,
    Binary,
    Call,
    Conditional,
    Expr,
    Macro,
    Name,
    Select,
    chain,
    field_of,
    number_in,
    selections,
)
from rulewright.lower.expressions_of import DocumentWithExpressions, expressions_of, parts_of

SHARE: Final = Name("share", NOWHERE)
CONVERSIONS: Final = frozenset({"double", "int", "score"})


def part_exceeds_whole(document: DocumentWithExpressions) -> Findings:
    """A part and its whole are swapped in a difference, a share or a comparison.

    Why it matters: a part is never larger than its whole, so `part - whole` is never above 0, `whole / part` is never
    below 1, and a part never exceeds a multiple of its whole.
    Instead: swap the two, or write the share as a number between 0 and 1.
    """
    counts = _counts(document)
    for written, part in parts_of(document):
        if isinstance(part, Conditional) and (never := _none_of_none(part, counts)) is not None:
            few, many = map(written.text, never)
            message = f"where this does not hold, `{few}` is 0 as well: it is a part of `{many}`"
            yield warning(
                written.span(part.condition), message, notes=[(written.span(never[0]), "this test never holds")]
            )
        if not isinstance(part, Binary):
            continue
        left, right = _factors(part.left), _factors(part.right)
        if part.operator == "-" and part.left == SHARE and _number(part.right, document) == 1:
            yield warning(written.span(part), "a share is at most 1: the difference is never above 0")
            continue
        if part.operator == "-" and _is_part(left[-1], right[-1], counts):
            result = "the difference is never above 0"
        elif part.operator == "/" and _is_part(right[-1], left[-1], counts):
            result = "the share is never below 1"
        elif part.operator in (">", ">=") and len(left) == 1 and _is_part(left[0], right[-1], counts):
            if not any((_number(each, document) or 0) > 1 for each in right[:-1]):
                continue
            result = "this holds at most where both counts are 0"
        else:
            continue
        small, large = (right, left) if part.operator == "/" else (left, right)
        message = f"`{written.text(small[-1])}` is a part of `{written.text(large[-1])}`: {result}"
        yield warning(written.span(part), message)


def _none_of_none(part: Conditional, counts: Mapping[str, list[Expr]]) -> tuple[Expr, Expr] | None:
    """A part and its whole where the test after one for more than none of the whole is one for more than none of the
    part: `eligible > 0 ? 'invalid' : unclear > 0 ? ...`."""
    other = part.otherwise
    many, few = _more_than_none(part.condition), isinstance(other, Conditional) and _more_than_none(other.condition)
    return (few, many) if many and few and _is_part(few, many, counts) else None


def _more_than_none(test: Expr) -> Expr | None:
    is_above = isinstance(test, Binary) and test.operator == ">" and number_in(test.right) == 0
    return test.left if is_above and isinstance(test, Binary) else None


def _counts(document: DocumentWithExpressions) -> Mapping[str, list[Expr]]:
    """The conditions joined by `and` of each count of a scorecard."""
    counts = getattr(document, "counts", ())
    if not counts:
        return {}
    conditions = {id(written.scalar): chain(written.checked.expr, "&&") for written in expressions_of(document)}
    return {name: conditions[id(of)] for name, of in counts if id(of) in conditions}


def _factors(part: Expr) -> list[Expr]:
    """The factors of a product without their conversions."""
    while isinstance(part, Call) and part.function in CONVERSIONS and len(part.args) == 1:
        part = part.args[0]
    is_product = isinstance(part, Binary) and part.operator == "*"
    return [*_factors(part.left), *_factors(part.right)] if is_product and isinstance(part, Binary) else [part]


def _is_part(part: Expr, whole: Expr, counts: Mapping[str, list[Expr]]) -> bool:
    """Whether one number counts what the other counts, under a further condition, or is the points of its maximum."""
    match part, whole:
        case Call(function="size", args=(Macro(kind="filter", target=listed),)), Call(function="size", args=(other,)):
            return listed == other
        case Select(operand=Select(field="extra") as extra, field="points"), Select(operand=other, field="of"):
            return extra == other
    few, many = (_named(each, counts) for each in (part, whole))
    return few is not None and many is not None and len(few) > len(many) and all(each in few for each in many)


def _named(part: Expr, counts: Mapping[str, list[Expr]]) -> list[Expr] | None:
    root, fields = selections(part)
    return counts.get(fields[0]) if isinstance(root, Name) and root.name == "counts" and fields else None


def _number(part: Expr, document: DocumentWithExpressions) -> float | None:
    """The value of a literal or of a parameter of a check."""
    name = field_of(part, "params")
    value = number_in(part) if name is None else getattr(document, "params", {}).get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
