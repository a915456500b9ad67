import re
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import MISSING
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.direction import OPPOSITE, comparisons, denies
from rulewright.expression.subjects import searches
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Expr,
    Has,
    Literal,
    Macro,
    Name,
    Select,
    Unary,
    chain,
    number_in,
)
from rulewright.lower.expressions_of import expressions_of

SIMILARITIES: Final = frozenset({"edit_similarity", "rouge_l", "token_f1", "word_overlap"})
# What a failed check is named after: something that is not in a list, that nobody does, that is there, that is alike.
UNLISTED: Final = re.compile(
    r"(?:^|-)(?:alien|foreign|undeclared|undocumented|unexpected|unknown|unlisted|unregistered)-"
)
UNDONE: Final = re.compile(
    r"-(?:concealed|dropped|forgotten|hidden|ignored|lost|neglected|omitted|overlooked|skipped|withheld)$"
)
THERE: Final = re.compile(
    r"-(?:disclosed|exposed|given|included|leaked|made|mentioned|named|present|promised|quoted|revealed|said|sent|shared|"
    r"shown|told|used)$"
)
DENYING: Final = re.compile(r"^(?:does-not|never)-")
ALIKE: Final = re.compile(
    r"(?:^|-)(?:copied|copies|copy|duplicated?|echo|echoed|leak|leaked|leaks|parroted|repeated|repetition)(?:-|$)"
)
LETTERS: Final = 2  # of words such as `A` and `S4`, which a name may have by chance
DENIED: Final = re.compile(r"(?:^|-)(?:no|not|never|un\w+|without|dis\w+|in\w+able|too)-")


def name_contradicts_condition(document: CheckDocument | ScorecardDocument) -> Findings:
    """A check that is named after what is wrong fails where the opposite holds, or a part of a scorecard is misnamed.

    Why it matters: reports show the name. `unknown-tool-called` with `fail: call.name in params.tools` fails the calls
    of known tools, `warning-hidden` needs a test that nobody says it, and `address-shown` one that somebody does. A
    count `warnings` that selects another severity than `warning` is read as the number of warnings.
    Instead: reverse the condition, or rename the check or the part.
    """
    yield from _of_check(document) if isinstance(document, CheckDocument) else _of_scorecard(document)


def _of_scorecard(scorecard: ScorecardDocument) -> Findings:
    """The parts that are named after another declared word than the one that they select."""
    named = {id(of): name for name, of in scorecard.counts} | {id(each.of): each.name for each in scorecard.lists}
    named |= {id(gate.of): gate.name for gate in scorecard.gates}
    named |= {id(rate.of): rate.name for rate in (*scorecard.dimensions, *scorecard.rates)}
    declared = {"severity": scorecard.vocabulary.severities, "primary_bucket": scorecard.vocabulary.buckets}
    for written in (each for each in expressions_of(scorecard) if id(each.scalar) in named):
        name = named[id(written.scalar)]
        own = {name, name.removesuffix("s")}  # among further words, one may deny it: `non_critical`
        for part in chain(written.checked.expr, "&&"):
            match part:
                case Binary(operator="==", left=Select(field=field), right=right) if field in declared:
                    meant = [word for word in declared[field] if word in own and len(word) > LETTERS]
                    selected = right.name if isinstance(right, Name) else getattr(right, "value", None)
                    if len(meant) == 1 and selected in declared[field] and selected != meant[0]:
                        message = f"`{name}` selects the {field} `{selected}`"
                        yield warning(written.span(right), message, help=Guess(meant[0]))


def _of_check(check: CheckDocument) -> Findings:
    for written in expressions_of(check):
        for key, name in (("id", check.id), ("name", check.name)):
            dashed = name.replace("_", "-")
            found = _against(dashed, written.checked.expr) if written.scalar is check.fails else None
            if found is None and key == "name" and written.scalar is check.fails:
                found = _denied(dashed, check.id.replace("_", "-"), written.checked.expr)
            if found is not None and not check.get("use"):
                part, message = found
                yield warning(written.span(part), f"`{name}` {message}", notes=[(check.place(key), "its name")])
                break


def _against(name: str, whole: Expr) -> tuple[Expr, str] | None:
    """The part of a condition that contradicts a name, and how."""
    sides = chain(whole, "&&")
    if MISSING.search(name) and (there := _not_missing(chain(whole, "||"))) is not None:
        return there, "says that something is missing, but this side of `or` tests for its presence"
    if UNLISTED.search(name) and (member := _is_in(whole)) is not None:
        return member, "says that something is unknown, but `fail` holds where it is in the list"
    if UNDONE.search(name) and len(sides) > 1 and not denies(whole) and all(map(_is_search, sides)):
        return sides[-1], "says that something is not done, but `fail` does not test for an absence"
    if THERE.search(name) and not DENIED.search(name) and len(sides) == 1 and _is_absence(whole):
        return whole, "says that something is there, but `fail` tests for its absence"
    if ALIKE.search(name) and not DENIED.search(name):
        return next(
            ((part, "says that texts are alike, but `fail` holds where they differ") for part in _unlike(whole)), None
        )
    return None


def _denied(name: str, id: str, whole: Expr) -> tuple[Expr, str] | None:
    """The condition that holds where something is there that the name says is not, but the id says is:
    `never-asks-for-photos` of the check `asks-for-photos`."""
    is_there = not denies(whole) and all(map(searches, chain(whole, "&&")))
    if is_there and name != id and DENYING.sub("", name) == id:
        return whole, "says that something is not done, but `fail` does not test for an absence"
    return None


def _not_missing(sides: list[Expr]) -> Expr | None:
    """The only side of an `or` that does not test for an absence, nor for an order."""
    present = [each for each in sides if isinstance(each, Binary) and each.operator == "==" and _is_text(each.right)]
    others = [each for each in sides if each is not present[0]] if len(present) == 1 else []
    return present[0] if others and all(map(denies, others)) else None


def _is_text(part: Expr) -> bool:
    return isinstance(part, Literal) and isinstance(part.value, str) and bool(part.value)


def _is_in(whole: Expr) -> Expr | None:
    """The only test of a condition, if it says that a value is in a list."""
    part = whole.bodies[-1] if isinstance(whole, Macro) and whole.kind == "exists" else whole
    return part if isinstance(part, Binary) and part.operator == "in" else None


def _is_search(side: Expr) -> bool:
    return isinstance(side, Call | Macro | Has)


def _is_absence(whole: Expr) -> bool:
    """Whether a condition says of one thing only that it is not there: `size(xs) == 0`, `not xs.exists(...)`."""
    if isinstance(whole, Unary):
        return isinstance(whole.operand, Macro | Call)
    if isinstance(whole, Binary) and whole.operator == "==":
        return number_in(whole.right) == 0 and isinstance(whole.left, Call) and whole.left.function == "size"
    return isinstance(whole, Call) and whole.function == "contains_none"


def _unlike(whole: Expr) -> list[Expr]:
    """The comparisons by which what is less similar than a limit fails."""
    found: list[Expr] = []
    for sign, part in comparisons(whole, 1):
        for side, operator in ((part.left, part.operator), (part.right, OPPOSITE[part.operator])):
            if isinstance(side, Call) and side.function in SIMILARITIES and (operator[0] == "<") == (sign > 0):
                found.append(part)
    return found
