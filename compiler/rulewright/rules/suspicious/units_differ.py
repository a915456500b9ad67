from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import numeric, text
from rulewright.expression.direction import COMPARISONS
from rulewright.expression.subjects import COUNTS, counts_characters
from rulewright.expression.syntax_tree import NOWHERE, Call, Expr, Name, Select, field_of, last_name, number_in
from rulewright.load import Scalar
from rulewright.lower.expressions_of import DocumentWithExpressions, operations_in

# The words of names that say a unit.
_WORDS: Final = """
    milliseconds=milliseconds ms=milliseconds millis=milliseconds seconds=seconds secs=seconds latency=seconds
    minutes=minutes mins=minutes hours=hours days=days weeks=weeks
    dollars=dollars usd=dollars cost=dollars cents=cents euros=euros tokens=tokens
    words=words sentences=sentences characters=characters chars=characters letters=characters
"""
UNITS: Final = dict(word.split("=") for word in _WORDS.split())
QUANTITIES: Final = frozenset({"cost", "latency"})  # say a unit only as fields of `usage`
SECONDS: Final = {"minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800}
USAGE: Final = Name("usage", NOWHERE)
CONVERSIONS: Final = frozenset({"orValue", "value", "double", "int"})  # of an optional or a number
LISTS: Final = {"answer": "replies", "message": "messages", "reply": "replies"}  # of the texts with these names
LONG: Final = 5000  # seconds, more than any answer takes; whole hours are meant
FEW: Final = frozenset({2, 3, 4})  # numbers of items, smaller than those of a text's characters


def units_differ(document: DocumentWithExpressions) -> Findings:
    """A comparison mixes units, for instance dollars with seconds, or hours with 86400.

    Why it matters: both sides are numbers, so the compiler accepts it, but the result means nothing: 86400 hours are
    ten years, not a day, and 200 words are about 1,200 characters.
    Instead: compare with the parameter of the same unit, or convert the number.
    """
    for written, part in operations_in(document, COMPARISONS):
        for one, other in ((part.left, part.right), (part.right, part.left)):
            unit, number = measured_in(one), number_in(other)
            if unit in SECONDS and number and number >= max(SECONDS[unit], 3600) and number % 3600 == 0:
                message = f"`{written.text(one)}` is in {unit}, but `{written.text(other)}` looks like seconds"
                help = f"{int(number)} seconds are {number / SECONDS[unit]:g} {unit}"
                yield warning(written.span(other), message, help=help)
            if (limit := _in_milliseconds(document, one, other)) is not None:
                message = f"`{written.text(one)}` is in seconds, but {limit.raw} looks like milliseconds"
                yield warning(limit, message, help=Guess(f"{limit.as_float / 1000:g}"))
            if (share := _share(document, one, other)) is not None:
                message = f"`{written.text(one)}` is a whole number, but {share.raw} is a fraction"
                yield warning(share, message)
            if _is_count(one) and _is_share(document, other):
                message = f"`{written.text(one)}` is a whole number, but `{written.text(other)}` is a share"
                yield warning(written.span(other), message)
            is_few = number in FEW or (number == 1 and part.operator == "==")  # 0 and `< 1` are those of no text
            if is_few and (plural := _list_of(one)) is not None:
                message = f"`{written.text(one)}` counts characters"
                yield warning(written.span(one), message, help=Guess(f"size({plural})"))
        left, right = measured_in(part.left), measured_in(part.right)
        if left and right and left != right:
            message = f"`{written.text(part.left)}` is in {left}, but `{written.text(part.right)}` is in {right}"
            yield warning(written.span(part), message)


def _in_milliseconds(document: DocumentWithExpressions, one: Expr, other: Expr) -> Scalar | None:
    """The parameter with which a latency is compared, if its value is one of milliseconds."""
    name = field_of(other, "params")
    if name is None or not isinstance(one, Select) or one.operand != USAGE or measured_in(one) != "seconds":
        return None
    found = numeric(document.node, "params", name) or numeric(document.node, "parameters", name, "default")
    seconds = 0.0 if found is None else found.as_float
    return found if seconds >= LONG and seconds % 100 == 0 and seconds % 3600 else None


def _share(document: DocumentWithExpressions, one: Expr, other: Expr) -> Scalar | None:
    """The parameter with which a number of words or the like is compared, if it is a fraction."""
    name = field_of(other, "params")
    if name is None or not (isinstance(one, Call) and one.function in {"size", *COUNTS}):
        return None
    found = numeric(document.node, "params", name) or numeric(document.node, "parameters", name, "default")
    return found if found is not None and found.as_float % 1 else None


def _is_count(part: Expr) -> bool:
    """Whether a part is one of the `counts` of a scorecard."""
    return isinstance(part, Select) and isinstance(part.operand, Name) and part.operand.name == "counts"


def _is_share(document: DocumentWithExpressions, part: Expr) -> bool:
    """Whether a part is a parameter that is a score."""
    return isinstance(part, Name) and text(document.node, "parameters", part.name, "type") == "score"


def _list_of(part: Expr) -> str | None:
    """The list next to the text whose characters a part counts: `replies` next to `reply`."""
    sized = part.target or part.args[0] if isinstance(part, Call) and part.function == "size" else None
    return LISTS.get(sized.name) if isinstance(sized, Name) else None


def measured_in(part: Expr) -> str | None:
    """The unit that the last name of an expression says."""
    while isinstance(part, Call) and part.function in CONVERSIONS:
        part = part.target or part.args[0]
    if isinstance(part, Call):
        return "characters" if counts_characters(part) else COUNTS.get(part.function)
    words = [word for word in last_name(part).split("_") if word in UNITS]
    if not words or (words[-1] in QUANTITIES and not (isinstance(part, Select) and part.operand == USAGE)):
        return None
    return UNITS[words[-1]]
