import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import claims_of
from rulewright.expression.direction import ORDERED, denies
from rulewright.expression.subjects import stems, stems_in
from rulewright.expression.syntax_tree import Binary, Expr, chain, number_in
from rulewright.lower.expressions_of import expressions_of

# A sentence without another negation or condition, which may be what one of the parts tests.
UNLESS: Final = re.compile(r"^(?P<rule>[^.;:]*?),? (?:unless|except (?:if|when|where)) (?P<exception>[^.;:]*)\.?$")
NEGATION: Final = re.compile(r"\b(?:cannot|neither|never|no|nobody|none|nor|not|nothing|without)\b|n't ", re.IGNORECASE)
LONGEST: Final = 1000  # letters of a sentence
SAYS: Final = re.compile(r"\b(?:admits?|answers?|explains?|says?|states?|tells?|writes?) .*")


def exception_fails(check: CheckDocument) -> Findings:
    """A `fail` holds in the case that its description excepts, or does not hold where it should.

    Why it matters: a `fail` that is joined by `and` has to test that the exception is not there. `contains_any(answer,
    params.abstains)` under `unless it abstains` fails only what is excepted.
    Instead: test the exception for its absence, with `not` or `contains_none`.
    """
    note = claims_of(check).place
    words = "" if note is None else note.text.strip()
    sentence = UNLESS.match(words) if len(words) < LONGEST else None
    if note is None or sentence is None or NEGATION.search(SAYS.sub("", sentence["exception"])):
        return
    excepted = stems_in(sentence["exception"])
    wanted = 1 if NEGATION.search(sentence["rule"]) else 2  # a rule that wants something fails where that is absent
    for written in expressions_of(check):
        sides = chain(written.checked.expr, "&&") if written.scalar is check.fails else []
        denied = [each for each in sides if denies(each)]
        is_excluded = any(stems(each) & excepted for each in denied)
        if len(sides) > 1 and not any(map(_is_limit, sides)) and len(denied) < wanted and not is_excluded:
            present = [each for each in sides if not denies(each)]
            message = "the description makes an exception, but this part of `fail` does not exclude it"
            yield warning(written.span(present[-1]), message, notes=[(note, "said here")])


def _is_limit(side: Expr) -> bool:
    """Whether a side compares with a limit that is not 0."""
    return isinstance(side, Binary) and side.operator in ORDERED and number_in(side.right) != 0
