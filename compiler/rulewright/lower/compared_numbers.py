"""The numbers of a check: those that its conditions compare with, its parameters, and those of its route."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rulewright.diagnostics import Span
from rulewright.documents.base import entries, numeric
from rulewright.documents.check import CheckDocument
from rulewright.documents.prose_limits import unit_of
from rulewright.expression.direction import OPPOSITE, comparisons, unwrapped
from rulewright.expression.subjects import counted, counts_pieces, names_values
from rulewright.expression.syntax_tree import Expr, Has, Literal, chain, field_of, number_in
from rulewright.load import Scalar
from rulewright.lower.expressions_of import WrittenExpression, expressions_of

ROUTED: Final = ("within_replies", "recalled_share", "likeness")


class ComparedNumber(Struct, frozen=True):
    """A number of a check: its place, its unit, and the comparison it limits, turned so that it is on the right."""

    value: float
    place: Span
    unit: str
    sign: int = 0
    operator: str = ""
    comparison: Span | None = None
    is_setting: bool = True  # not a number in a condition, where 0 and 1 often only ask whether there is something


def deciding_conditions(check: CheckDocument) -> list[tuple[WrittenExpression, int]]:
    """The conditions `fail` and `pass` of a check, the first with the sign -1."""
    signs = ((check.fails, -1), (check.passes, 1)) if check.verdict_conditions else ()
    return [(each, sign) for each in expressions_of(check) for own, sign in signs if each.scalar is own]


def compared_numbers(check: CheckDocument) -> Iterator[ComparedNumber]:
    """The numbers of a check in the order of its conditions, then those that no condition compares with."""
    parameters = list(_parameters(check))
    values = dict(parameters)
    compared: set[str] = set()
    for written, sign in deciding_conditions(check):
        decisive = {each for side in decisive_parts(written.checked.expr, sign) for _, each in comparisons(side, sign)}
        for turned, part in comparisons(written.checked.expr, sign):
            for side, limit, operator in (
                (part.left, part.right, part.operator),
                (part.right, part.left, OPPOSITE[part.operator]),
            ):
                compared.add(counted(limit))
                value = _value(values, limit)
                if value is not None and not counts_pieces(side):
                    is_setting = isinstance(value, Scalar)
                    yield ComparedNumber(
                        value.as_float if isinstance(value, Scalar) else float(number_in(value) or 0),
                        value.span if isinstance(value, Scalar) else written.span(limit),
                        unit_of(counted(limit)) or unit_of(counted(side)),
                        turned if part in decisive else 0,
                        operator,
                        written.span(part),
                        is_setting,
                    )
    settings = [(unit_of(name), value) for name, value in parameters if name not in compared]
    settings += [("", value) for key in ROUTED if (value := numeric(check.node, "routing", key)) is not None]
    yield from (ComparedNumber(value.as_float, value.span, unit) for unit, value in settings)


def decisive_parts(part: Expr, sign: int) -> Iterator[Expr]:
    """The parts that decide a condition, without those that say when it applies: `size(replies) < 3 or ...`."""
    outer, inner = ("||", "&&") if sign < 0 else ("&&", "||")
    for side in chain(part, outer):
        own = [each for each in chain(side, inner) if not isinstance(each, Has) and not names_values(each)]
        yield from own if len(own) == 1 else ()


def _value(parameters: dict[str, Scalar], part: Expr) -> Literal | Scalar | None:
    """The number that one side of a comparison is, also converted."""
    part = unwrapped(part)
    if isinstance(part, Literal):
        return None if number_in(part) is None else part
    return parameters.get(field_of(part, "params") or "")


def _parameters(check: CheckDocument) -> Iterator[tuple[str, Scalar]]:
    for key, steps in (("params", ()), ("parameters", ("default",))):
        for entry in entries(check.node, key):
            if (found := numeric(entry.value, *steps)) is not None:
                yield entry.name, found
