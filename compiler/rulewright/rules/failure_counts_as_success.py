"""Rule: a scorecard in which a FAIL raises a score or hides a blindspot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error, warning
from rulewright.documents.scorecard import ScorecardDocument

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
        elif is_turned and len(usual) == len(scorecard.rates) - 1 > 1 and not OF_FAILURES.search(rate.name):
            yield warning(place, f"only the rate `{rate.name}` counts FAIL as a hit and PASS as a miss")
    if "FAIL" in (*scorecard.clear, *scorecard.unknown):
        yield error(scorecard.key_place("flags", "raised"), "a FAIL raises no flag")
