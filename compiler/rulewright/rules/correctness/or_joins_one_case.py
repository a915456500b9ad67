import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import claims_of
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.direction import ORDERED, denies
from rulewright.expression.syntax_tree import Binary, Expr, Has, Literal, Macro, Name, Unary, below, chain, number_in
from rulewright.lower.expressions_of import WrittenExpression, expressions_of

# `After an edit, the tests are run` has a comma, but names one case.
CLAUSE: Final = re.compile(r"^(?:After|Before|If|Once|When|Whenever|Where|Whoever|Who)\b[^,.;:]*,")
JOINED: Final = re.compile(
    r"\b(?:also|and|as well|both|but|either|neither|nor|or|unless|without)\b|[,;:()\u2013\u2014]| - |[.!?] "
)
ALSO: Final = re.compile(r"\b(?:and|both|each)\b")
MEASURED: Final = re.compile(
    r"\b(?:brief|briefly|character|crisp|few|fill|fit|fits|length|limit|little|long|longer|many|more|most|much|often|repeat\w*|"
    r"screen|sentence|short|shorter|size|small|terse|too|verbose|word)s?\b|\d",
    re.IGNORECASE,
)


def or_joins_one_case(document: CheckDocument | ScorecardDocument) -> Findings:
    """A `fail` joins by `or` what its description names as one case.

    Why it matters: each side of an `or` decides alone. `fail: edited or not tested` under `After an edit the tests are
    run` fails every chat without tests, also where nothing was edited. `not (n in a) or not (n in b)` fails what is in
    one of two lists. In a scorecard, `v.severity != stop or v.primary_bucket != tone` leaves out only what has both.
    Instead: write `and`, or describe both cases.
    """
    yield from _of_check(document) if isinstance(document, CheckDocument) else _of_parts(document)


def _of_parts(card: ScorecardDocument) -> Findings:
    """The dimensions and rates that leave out only the verdicts which several comparisons leave out together."""
    selecting = [each.of for each in (*card.dimensions, *card.rates)]
    for written in expressions_of(card):
        sides = chain(written.checked.expr, "||") if any(written.scalar is each for each in selecting) else []
        if len(sides) > 1 and all(isinstance(side, Binary) and side.operator == "!=" for side in sides):
            message = "this leaves out only what all of these comparisons leave out"
            yield warning(written.span(written.checked.expr), message, help="did you mean `and`?")


def _of_check(check: CheckDocument) -> Findings:
    note = claims_of(check).place
    words = "" if note is None else note.text.strip()
    is_one_case = bool(words) and not JOINED.search(CLAUSE.sub("", words))
    if note is None or ALSO.search(words):  # `every source is listed and cited` fails without one of them
        return
    for written in expressions_of(check):
        if written.scalar is not check.fails:
            continue
        yield from _lacking_in_one(written)
        sides = chain(written.checked.expr, "||") if is_one_case else []
        if len(sides) == 2 and not any(map(_is_guard, sides)) and _are_of_one_case(words, *sides):
            message = "the description names one case, but each side of this `or` fails on its own"
            yield warning(written.span(written.checked.expr), message, notes=[(note, "said here")])


def _lacking_in_one(written: WrittenExpression) -> Findings:
    """The parts that hold where a value lacks in one of several lists: nearly always."""
    inner = set[int]()
    for part in written.parts:
        if isinstance(part, Binary) and part.operator == "||" and id(part) not in inner:
            inner.update(map(id, below(part)))
            sought = {_sought(each) for each in chain(part, "||")}
            if len(sought) == 1 and sought != {frozenset()}:
                message = "what is in one of these lists, but not in the other, fails"
                yield warning(written.span(part), message, help="did you mean `and`?")


def _sought(side: Expr) -> frozenset[str]:
    """The names of the value of which a side says that it is not in a list; empty for any other side."""
    match side:
        case Unary(operator="!", operand=Binary(operator="in", left=value)):
            return frozenset(each.name for each in below(value) if isinstance(each, Name))
        case Unary(operator="!", operand=Macro(kind="exists", bodies=(Binary(operator="=="),)) as search):
            names = {each.name for each in below(search.bodies[0]) if isinstance(each, Name)}
            return frozenset(names - {*search.variables})
    return frozenset()


def _are_of_one_case(words: str, left: Expr, right: Expr) -> bool:
    """Whether one side is what has to follow the other, a size from which the other counts, or something that the
    words name with another word than the other."""
    measures = [_is_measure(left), _is_measure(right)]
    if any(measures):
        return measures.count(True) == 1 and not MEASURED.search(words)
    if denies(left) != denies(right):
        return True
    own, other = _stems(left), _stems(right)
    named = {word[:4] for word in re.findall(r"[^\W\d_]{4,}", words.lower())}
    return bool(named & (own - other)) and bool(named & (other - own))


def _is_guard(side: Expr) -> bool:
    """Whether a side only says that something is not there to be tested."""
    if isinstance(side, Unary):
        return isinstance(side.operand, Has)
    return isinstance(side, Has) or (isinstance(side, Binary) and side.operator == "==" and number_in(side.right) == 0)


def _is_measure(side: Expr) -> bool:
    """Whether a side compares a size with a limit, and not with nothing."""
    if not isinstance(side, Binary) or side.operator not in ORDERED:
        return False
    return number_in(side.left) != 0 and number_in(side.right) != 0


def _stems(side: Expr) -> set[str]:
    """The first letters of the words in the texts of a side."""
    texts = (str(each.value) for each in below(side) if isinstance(each, Literal) and isinstance(each.value, str))
    return {word[:4] for text in texts for word in re.findall(r"[^\W\d_]{4,}", text.lower())}
