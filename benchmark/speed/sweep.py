"""A million verdict rows swept over one parameter, against scoring each of their transcripts once.

Run with `python benchmark/speed/sweep.py [ROWS]`. The scorecard is the shipped `two-tier`, the parameter
`minimum_coverage`; verdicts are drawn by a fixed seed. The baseline of the same run is `Scorecard.aggregate` for every
transcript at one value of the parameter; a sweep that scored every transcript at every candidate would take some
thirty of it.
"""

import random
import sys
import time
from pathlib import Path

from rulewright.check.project_check import compile_project
from rulewright.project import load_project
from rulewright.reporting.stored_run import StoredRun
from rulewright.whatif.rescoring import ScoringPolicy
from rulewright.whatif.sweep import sweep
from rulewright_runtime.verdicts import VerdictResult

ROOT = Path(__file__).resolve().parent.parent
BAR = 2.0  # seconds for a million rows
WORDS = ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE")


def stored(rows: int) -> StoredRun:
    """A run of so many verdict rows in memory."""
    plan = compile_project(load_project(ROOT / "rulewright.yaml"), scorecard="two-tier")
    chance = random.Random(1)
    checks = [check for check in plan.checks if check.id.startswith("RW-")]
    verdicts: dict[str, dict[str, VerdictResult]] = {}
    for number in range(rows // len(checks)):
        drawn = chance.choices(WORDS, (80, 8, 6, 6), k=len(checks))
        verdicts[f"t{number}"] = {
            check.id: VerdictResult(
                check_id=check.id,
                primary_bucket=check.primary_bucket,
                severity=check.severity,
                eligible=True,
                verdict=word,
                confidence=chance.choice((1 / 3, 2 / 3, 1.0)),
                evidence=(),
                scorer_version="1",
                prompt_hash=None,
                rationale_code=None,
                adjudication_required=False,
                secondary_tags=(),
                extra={},
                scorer_type="llm",
            )
            for check, word in zip(checks, drawn, strict=True)
        }
    assert plan.scorecard is not None
    scorecard = ScoringPolicy(plan.scorecard, {}).prepared()
    found = {
        name: {"transcript_id": name, **scorecard.aggregate(list(each.values()))} for name, each in verdicts.items()
    }
    return StoredRun(Path("memory"), plan, {}, found, verdicts)


def main() -> int:
    """Time the sweep and its baseline; 1 where a million rows take longer than the bar."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    run = stored(rows)
    assert run.plan.scorecard is not None
    policy = ScoringPolicy(run.plan.scorecard, {})
    begun = time.process_time()
    breakpoints = sweep(run, policy, "minimum_coverage")
    swept = time.process_time() - begun
    scorecard = policy.prepared()
    begun = time.process_time()
    for verdicts in run.verdicts.values():
        scorecard.aggregate(list(verdicts.values()))
    once = time.process_time() - begun
    count = sum(map(len, run.verdicts.values()))
    print(f"{count:,} verdict rows of {len(run.rows):,} transcripts, {len(breakpoints)} breakpoints")
    print(f"sweep     {swept:6.2f} s   {swept / once:5.2f} of the baseline")
    print(f"baseline  {once:6.2f} s   every transcript scored once (both in processor time)")
    return int(swept > BAR * count / 1_000_000)


if __name__ == "__main__":
    sys.exit(main())
