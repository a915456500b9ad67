"""Rule: words beside a condition that say something else than the condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rulewright.diagnostics import Diagnostic, Located, Span, warning
from rulewright.documents.base import entries, numeric, optional_text, scalar
from rulewright.documents.check import CheckDocument
from rulewright.documents.prose_limits import Limit, limits_in, numbers_in, unit_of, units_agree
from rulewright.expression.direction import OPPOSITE, ORDERED, comparisons, denies
from rulewright.expression.syntax_tree import Binary, Call, Expr, Literal, chain, field_of, last_name, number_in
from rulewright.load import Scalar
from rulewright.lower.expressions_of import WrittenExpression, expressions_of
from rulewright.rules.units_differ import COUNTS, counts_characters

WORDS: Final = ("note", "description", "pass_rule")  # say what is wanted
ROUTED: Final = ("within_replies", "recalled_share", "likeness")
LACK: Final = re.compile(
    r"(?<!does-)(?<!do-)(?<!is-)(?<!-no)(?<=-)(?:not|missing|missed|without|omitted|absent|un\w+ed)(?=-|$)"
)
EXTREME: Final = {
    "too-(?:long|many|much|large|big|slow|late|dear|expensive|high|often)": ">",
    "too-(?:short|few|little|small|early|low|fast|seldom)": "<",
}
FORBIDS: Final = re.compile(r"^(?:Nobody|No|Nothing|Never|None)\b|\b(?:never|neither)\b")
ONLY: Final = re.compile(r"\b(?:only (?:after|if|when|once)|not until)\b")
# In a sentence with one of these, a limit may be what fails: `replies under 20 characters are too short`.
JUDGES: Final = re.compile(
    r"\b(?:bad|fail\w*|flag\w*|if|means?|missing|never|no|not|only|reject\w*|suspicious|too|unless|when|without|wrong)\b",
    re.IGNORECASE,
)
JOINS: Final = re.compile(r"\b(and|or|both|either|unless)\b")


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """A number of a check: its place, its unit, and the comparison it limits, turned so that it is on the right."""

    value: float
    place: Span
    unit: str
    sign: int = 0
    operator: str = ""
    comparison: Span | None = None


def words_contradict_condition(check: CheckDocument) -> Iterator[Diagnostic]:
    """The words beside a condition name another number, the other direction, or the other of `and` and `or`.

    Why it matters: one of the two is wrong, and a reader of the report believes the words: `at most three` is not
    `>= 2`, and a check for an answer that is missing must test for the absence of something.
    Instead: correct the condition, the number or the words.
    """
    words = " ".join(filter(None, (optional_text(check.node, key) for key in WORDS)))
    said = next((found for key in WORDS if (found := scalar(check.node, key)) is not None), None)
    roots = list(_roots(check))
    numbers = [*_numbers(check, roots), *_settings(check)]
    yield from _of_limits(words, said, numbers)
    for written, sign in roots:
        message = _against(check, words, written.checked.expr, sign)
        if message is not None:
            place = said if said is not None and "note" in message else check.place("id")
            yield warning(written.span(written.checked.expr), message, notes=[(place, "said here")])


def _roots(check: CheckDocument) -> Iterator[tuple[WrittenExpression, int]]:
    """The conditions `fail` and `pass`, the first with the sign -1."""
    for written in expressions_of(check):
        for condition, sign in ((check.fails, -1), (check.passes, 1)):
            if written.scalar is condition and check.verdict_conditions:
                yield written, sign


def _of_limits(words: str, said: Scalar | None, numbers: list[ComparedNumber]) -> Iterator[Diagnostic]:
    """A limit in the words that no number has, where one number is named by no words; a limit met the other way."""
    told = numbers_in(words)
    idle = [each for each in numbers if not any(units_agree(*one, each.value, each.unit) for one in told)]
    idle = [each for each in idle if each.value not in (0, 1) or not each.operator]
    for limit in limits_in(words):
        same = [each for each in numbers if units_agree(limit.number, limit.unit, each.value, each.unit)]
        other = [each for each in idle if each.unit.split()[:1] in ([], unit_of(limit.unit).split()[:1])]
        notes: list[tuple[Span | Located, str]] = [] if said is None else [(said, "said here")]
        counted = next((each for each in numbers if each.value == limit.number and each.unit), None)
        if not same and counted is not None and counted.comparison is not None and unit_of(limit.unit):
            message = f"the words say `{limit.text}`, but this counts {counted.unit.split()[0]}"
            yield warning(counted.comparison, message, notes=notes)
        elif not same and len(other) == 1 and limit.number not in (0, 1):
            yield warning(other[0].place, f"the words say `{limit.text}`, but this is {other[0].value:g}", notes=notes)
        elif len(same) == 1 and same[0].operator and limit.operator and not _keeps(limit, same[0], words):
            place = same[0].comparison or same[0].place
            yield warning(place, f"the words say `{limit.text}`, but this comparison does not", notes=notes)


def _keeps(limit: Limit, number: ComparedNumber, words: str) -> bool:
    """Whether a comparison keeps a limit: in a `fail` it must be the opposite, unless its sentence says what fails."""
    sentence = next((each for each in re.split(r"[.;:]\s", words) if limit.text in each), "")
    if JUDGES.search(sentence.replace(limit.text, "")):
        return True
    wanted = limit.operator if number.sign > 0 else {"<=": ">", ">=": "<", "<": ">="}[limit.operator]
    return number.operator == wanted or (limit.operator == "<" and number.operator[0] == wanted[0])


def _numbers(check: CheckDocument, roots: list[tuple[WrittenExpression, int]]) -> Iterator[ComparedNumber]:
    """The numbers that conditions compare with, and the parameters."""
    compared: set[str] = set()
    for written, sign in roots:
        for turned, part in comparisons(written.checked.expr, sign):
            for side, limit, operator in (
                (part.left, part.right, part.operator),
                (part.right, part.left, OPPOSITE[part.operator]),
            ):
                value, unit = _value(check, limit), unit_of(_last(limit)) or unit_of(_last(side))
                compared |= {_last(limit)}
                if value is not None and not _counts_pieces(side):
                    place = value.span if isinstance(value, Scalar) else written.span(limit)
                    yield ComparedNumber(float(str(value.value)), place, unit, turned, operator, written.span(part))
    for name, value in _parameters(check):
        if name not in compared:
            yield ComparedNumber(float(str(value.value)), value.span, unit_of(name))


def _counts_pieces(side: Expr) -> bool:
    """Whether a side is the number of pieces of a text, one more than what the words count."""
    pieces = (
        (side.target or next(iter(side.args), None)) if isinstance(side, Call) and side.function == "size" else None
    )
    return isinstance(pieces, Call) and pieces.function == "split"


def _settings(check: CheckDocument) -> Iterator[ComparedNumber]:
    for key in ROUTED:
        if (found := numeric(check.node, "routing", key)) is not None:
            yield ComparedNumber(float(str(found.value)), found.span, "")


def _parameters(check: CheckDocument) -> Iterator[tuple[str, Scalar]]:
    for key in ("params", "parameters"):
        for entry in entries(check.node, key):
            found = numeric(entry.value, *(() if key == "params" else ("default",)))
            if found is not None:
                yield entry.name, found


def _value(check: CheckDocument, part: Expr) -> Literal | Scalar | None:
    """The number that one side of a comparison is."""
    if isinstance(part, Literal):
        return None if number_in(part) is None else part
    return dict(_parameters(check)).get(field_of(part, "params") or "")


def _last(part: Expr) -> str:
    """The last name of an expression, also of what is converted: `int(call.arguments.in_days)`."""
    while isinstance(part, Call) and (part.target is not None or part.args):
        if part.function in COUNTS or counts_characters(part):
            return COUNTS.get(part.function, "characters")
        part = part.args[0] if part.args else part.target or part
    return last_name(part)


def _against(check: CheckDocument, words: str, part: Expr, sign: int) -> str | None:
    """What contradicts the id or the words, if they and the condition have a plain form."""
    if sign < 0 and LACK.search(check.id) and not denies(part) and check.get("use") is None:
        return f"`{check.id}` names a lack, but `fail` tests for no absence"
    if sign > 0 and FORBIDS.search(words) and not denies(part):
        return "the note forbids something, but `pass` tests for no absence"
    if sign < 0 and ONLY.search(words) and not denies(part):
        return "the note allows something only under a condition, but `fail` tests for no absence"
    for named, operator in EXTREME.items():
        found = {turned * -1 for turned, each in comparisons(part, sign) if each.operator[0] != operator}
        if re.search(named, check.id) and found == {1} and not _points(part, sign, operator):
            return f"`{check.id}` names the other direction"
    return _joined(words, part, sign) or _equated(words, part, sign)


def _points(part: Expr, sign: int, operator: str) -> bool:
    return any((each.operator[0] == operator) == (turned < 0) for turned, each in comparisons(part, sign))


def _joined(words: str, part: Expr, sign: int) -> str | None:
    """A contradiction between `and` and `or` of the words and of a condition with two parts of one form."""
    said = set(JOINS.findall(words.lower()))
    if not isinstance(part, Binary) or part.operator not in ("&&", "||") or not said:
        return None
    if sign < 0 and any(limits_in(words)):  # the words name limits that `fail` turns around
        return None
    sides = chain(part, part.operator)
    lacking = {denies(each) for each in sides}
    if "unless" in said and (part.operator == "||") == (sign < 0) and True in lacking:
        return f"the note says `unless`, but the condition joins the exception with `{_word(part.operator)}`"
    if len(sides) != 2 or len(lacking) > 1 or _form(sides[0]) != _form(sides[1]):
        return None
    wanted = (
        {"or"}
        if said <= {"or", "either"}
        else {"and"}
        if said <= {"and", "both"} and (sign > 0 or lacking == {True})
        else None
    )
    if wanted is None:
        return None
    turned = sign < 0 and lacking == {True}
    meant = ("&&" if "or" in wanted else "||") if turned else ("||" if "or" in wanted else "&&")
    if part.operator == meant:
        return None
    said_word = "or" if "or" in wanted else "and"
    return f"the note says `{said_word}`, so `{_word(meant)}` belongs here instead of `{_word(part.operator)}`"


def _word(operator: str) -> str:
    return "or" if operator == "||" else "and"


def _form(part: Expr) -> object:
    if isinstance(part, Binary):
        operator = "order" if part.operator in ORDERED else part.operator
        return operator, type(part.left).__name__, type(part.right).__name__
    return type(part).__name__


def _equated(words: str, part: Expr, sign: int) -> str | None:
    """A text that the words want and that a `fail` demands."""
    if (
        sign > 0
        or not isinstance(part, Binary)
        or part.operator != "=="
        or re.search(r"\b(?:not?|never|if|fails?)\b", words)
    ):
        return None
    text = str(part.right.value) if isinstance(part.right, Literal) else ""
    is_said = len(text) > 3 and re.search(rf"\b{re.escape(text)}\b", words)
    return f"the note wants `{text}`, but `fail` holds where it is `{text}`" if is_said else None
