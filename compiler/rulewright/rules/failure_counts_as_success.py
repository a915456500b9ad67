"""Rule: a scorecard in which a FAIL raises a score or hides a blindspot."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error, warning
from rulewright.documents.scorecard import RateDocument, ScorecardDocument
from rulewright.expression.direction import meaning
from rulewright.expression.syntax_tree import Binary, Conditional, Literal
from rulewright.lower.expressions_of import parts_of

OF_FAILURES: Final = re.compile(
    "fail|error|violat|miss|bad|unsafe|wrong|harm|incident|risk|breach|defect|reject|flag|leak"
)


def failure_counts_as_success(scorecard: ScorecardDocument) -> Iterator[Diagnostic]:
    """A dimension, the headline or a rate beside others counts FAIL and PASS the wrong way, or a FAIL raises no flag.

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
    headline = next((str(each.value) for name, each in scorecard.output if scorecard.shows(name)), "")
    usual = [each for each in scorecard.rates if "PASS" in each.hit and "FAIL" in each.miss]
    for rate in scorecard.rates:
        place = scorecard.key_place("rates", rate.name, rate.kind, "hit")
        is_turned = "FAIL" in rate.hit and "PASS" in rate.miss
        if is_turned and headline == f"rates.{rate.name}":
            yield error(place, f"the headline `{rate.name}` counts FAIL as a hit and PASS as a miss")
        elif is_turned and _is_wanted(scorecard, f"rates.{rate.name}"):
            yield error(place, f"a high `{rate.name}` has a good outcome, but counts FAIL as a hit")
        elif is_turned and len(usual) == len(scorecard.rates) - 1 > _few(rate, scorecard):
            yield warning(place, f"only the rate `{rate.name}` counts FAIL as a hit and PASS as a miss")
    if "FAIL" in (*scorecard.clear, *scorecard.unknown):
        yield error(scorecard.key_place("flags", "raised"), "a FAIL raises no flag")


def _few(rate: RateDocument, scorecard: ScorecardDocument) -> float:
    """How many other rates are no habit: none for a name of a bucket, all for a name of failures."""
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
