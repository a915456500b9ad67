import math
import re
from collections import Counter
from collections.abc import Set
from typing import Final

from rulewright.diagnostics import Findings, Guess, error, warning
from rulewright.documents.scorecard import RateDocument, ScorecardDocument
from rulewright.expression.direction import meaning
from rulewright.expression.syntax_tree import (
    Binary,
    Conditional,
    Expr,
    ListLiteral,
    Literal,
    Name,
    Select,
    chain,
    children,
)
from rulewright.lower.expressions_of import expressions_of, parts_of
from rulewright_runtime.plan.part import VERDICTS

OF_FAILURES: Final = re.compile(
    "fail|error|violat|miss|bad|unsafe|wrong|harm|incident|risk|breach|defect|reject|flag|leak"
)

_WORDS: Final = {"FAIL": "fail failed failing failures", "PASS": "pass passed passing", "UNCLEAR": "unclear undecided"}
COUNTED: Final = ("hit", "miss", "exclude")
CLASSES: Final = frozenset({"check_id", "eligible", "primary_bucket", "secondary_tags", "severity"})  # not the verdict
VERDICT: Final = {word: verdict for verdict, words in _WORDS.items() for word in words.split()}


def failure_counts_as_success(scorecard: ScorecardDocument) -> Findings:
    """A dimension, rate, count or headline counts FAIL as PASS, or UNCLEAR unlike the others, or FAIL raises no flag.

    Why it matters: the worse a model does, the better its score looks, and reports show no blindspot.
    Instead: put FAIL into `miss` and PASS into `hit` of every dimension, and FAIL into `raised` of the flags.
    """
    for rate in scorecard.dimensions:
        wrong = [("FAIL", "miss")] if "FAIL" in (*rate.hit, *rate.exclude) and "FAIL" not in rate.miss else []
        wrong += [("PASS", "hit")] if "PASS" in (*rate.miss, *rate.exclude) and "PASS" not in rate.hit else []
        if wrong:
            miscounted = " and ".join(f"{verdict} as a {key}" for verdict, key in wrong)
            place = scorecard.key_place("dimensions", rate.name, rate.kind, wrong[0][1])
            yield error(place, f"the dimension `{rate.name}` does not count {miscounted}")
    yield from _undecided(scorecard)
    headline = next((each.text for name, each in scorecard.output if scorecard.shows(name)), "")
    usual = [each for each in scorecard.rates if "PASS" in each.hit and "FAIL" in each.miss]
    for rate in scorecard.rates:
        place = scorecard.key_place("rates", rate.name, rate.kind, "hit")
        is_turned = "FAIL" in rate.hit and "PASS" in rate.miss
        if is_turned and headline == f"rates.{rate.name}":
            yield error(place, f"the headline `{rate.name}` counts FAIL as a hit and PASS as a miss")
        elif "FAIL" in rate.exclude and "PASS" in rate.hit:
            place = scorecard.key_place("rates", rate.name, rate.kind, "exclude")
            yield error(place, f"the rate `{rate.name}` counts PASS and leaves out FAIL")
        elif is_turned and _is_wanted(scorecard, f"rates.{rate.name}"):
            yield error(place, f"a high `{rate.name}` has a good outcome, but counts FAIL as a hit")
        elif is_turned and len(usual) == len(scorecard.rates) - 1 > _few(rate, scorecard):
            yield warning(place, f"only the rate `{rate.name}` counts FAIL as a hit and PASS as a miss")
    yield from _one_sided(scorecard)
    yield from _misnamed(scorecard)
    if "FAIL" in (*scorecard.clear, *scorecard.unknown):
        yield error(scorecard.key_place("flags", "raised"), "a FAIL raises no flag")


def _undecided(scorecard: ScorecardDocument) -> Findings:
    """The only dimension of several that counts UNCLEAR as PASS, where all others do otherwise alike."""
    counted = [(rate, key) for rate in scorecard.dimensions for key in COUNTED if "UNCLEAR" in getattr(rate, key)]
    usual = Counter(key for _, key in counted).most_common(1)
    odd = [(rate, key) for rate, key in counted if key != usual[0][0]]
    if len(odd) == 1 and odd[0][1] == "hit" and len(counted) == len(scorecard.dimensions) > len(COUNTED) - 1:
        rate, key = odd[0]
        message = f"the dimension `{rate.name}` lists UNCLEAR under `{key}`, but all others under `{usual[0][0]}`"
        yield warning(scorecard.place("dimensions", rate.name, rate.kind, key), message)


def _one_sided(scorecard: ScorecardDocument) -> Findings:
    """The verdicts that a dimension or rate selects, if none of them is a hit, or none a miss: it is always 0 or 1."""
    rates = {id(rate.of): rate for rate in (*scorecard.dimensions, *scorecard.rates)}
    for written in (each for each in expressions_of(scorecard) if id(each.scalar) in rates):
        rate = rates[id(written.scalar)]
        for part in chain(written.checked.expr, "&&"):
            counted = {"hit": rate.hit, "miss": rate.miss}
            key = next((each for each in counted if counted[each] and _selected(part).isdisjoint(counted[each])), None)
            if key is not None:
                message = f"`{written.text(part)}` leaves no verdict that counts as a {key}"
                yield warning(written.span(part), message, help="select checks here; `exclude` leaves out verdicts")


def _selected(part: Expr) -> Set[str]:
    """The verdicts for which a comparison of the verdict holds; all for any other condition."""
    match part:
        case Binary(operator="==" | "in", left=Select(field="verdict"), right=Name() | ListLiteral() as right):
            return {str(getattr(each, "name", getattr(each, "value", ""))) for each in (right, *children(right))}
        case Binary(operator="!=", left=Select(field="verdict"), right=Name(name=name)):
            return {*VERDICTS} - {name}
    return {*VERDICTS}


def _misnamed(scorecard: ScorecardDocument) -> Findings:
    """The counts and lists that are named after another verdict than they select, or that select any verdict."""
    selecting = {id(of): name for name, of in scorecard.counts} | {id(each.of): each.name for each in scorecard.lists}
    for written in expressions_of(scorecard):
        words = selecting.get(id(written.scalar), "")
        meant = {VERDICT[word] for word in words.split("_") if word in VERDICT}
        is_bad = not meant and meaning(words) < 0
        read = {part.field for part in written.parts if isinstance(part, Select)}
        if len(meant) == 1 and read and read <= CLASSES:
            yield warning(written.scalar, f"`{words}` selects every verdict")
        for part in chain(written.checked.expr, "&&") if len(meant) == 1 or is_bad else ():
            match part:
                case Binary(operator="==", left=Select(field="verdict"), right=Name(name=verdict)):
                    if verdict == "PASS" if is_bad else verdict in VERDICT.values() and verdict not in meant:
                        message = f"`{words}` selects the verdict {verdict}"
                        yield warning(written.span(part), message, help=Guess(min(meant, default="FAIL")))


def _few(rate: RateDocument, scorecard: ScorecardDocument) -> float:
    """How many rates that count alike are too few to show a habit: any number where the name says failures, none for
    the name of a bucket."""
    if OF_FAILURES.search(rate.name):
        return math.inf
    return 0 if rate.name in scorecard.vocabulary.buckets else 1


def _is_wanted(scorecard: ScorecardDocument, rate: str) -> bool:
    """Whether a choice has a good outcome where a rate is high."""
    for written, part in parts_of(scorecard):
        match part:
            case Conditional(condition=Binary(operator=">" | ">=", left=left), then=Literal(value=str(outcome))):
                if meaning(outcome) > 0 and re.match(re.escape(rate) + r"\b", written.text(left)):
                    return True
    return False
