"""100,000 verdicts aggregated by the scorecard and written as a run, beside passes of `json.dumps` over their records.

Prints how many such passes the run takes; the bar is 20. The records are those of the shipped benchmark, drawn by
chance for each of the transcripts, so that no two rows are alike.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from rulewright.check.project_check import compile_project
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.folder import RunFolder
from rulewright_runtime.runs.log import Header, Log
from rulewright_runtime.runs.run_rows import Row, RowWriter, summary_of
from rulewright_runtime.runs.store import _Writer
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verdicts import VerdictResult

BENCHMARK: Final = Path(__file__).resolve().parents[1]
VERDICTS: Final = 100_000
PASSES: Final = 3  # of which the fastest counts

Verdicts = tuple[VerdictResult, ...]


def drawn(plan: Plan) -> list[Verdicts]:
    """The verdicts of so many transcripts that there are 100,000."""
    judge = f"replay:{BENCHMARK}/judge_replies/replies.json"
    known: dict[str, list[VerdictResult]] = {}
    for result in execute(plan, [BENCHMARK / "transcripts"], judge):
        for verdict in result.verdicts:
            known.setdefault(verdict.check_id, []).append(verdict)
    chance = random.Random(1)
    return [tuple(map(chance.choice, known.values())) for _ in range(VERDICTS // len(known))]


def dumped(records: list[object]) -> float:
    """Seconds of processor for one pass of `json.dumps`."""
    started = time.process_time()
    for record in records:
        json.dumps(record)
    return time.process_time() - started


def written(plan: Plan, rows: list[Verdicts], folder: Path) -> float:
    """Seconds of processor for the scorecard, the summary and the files of a run."""
    assert plan.scorecard is not None
    started = time.process_time()
    scorecard, summary = Scorecard(plan.scorecard), summary_of(plan)
    made, run = RowWriter(summary), RunFolder(folder)

    def lines() -> Iterator[Row]:
        transcripts = made.noted(_transcripts(len(rows)))
        for number, verdicts in enumerate(rows):
            next(transcripts)
            scores = {"transcript_id": f"t{number}", "scenario_id": "", "model": "m", **scorecard.score(verdicts)}
            yield made.row(TranscriptResult(f"t{number}", "", "m", verdicts, scores))

    with run.locked():
        writer = _Writer(run, Log(Header(plan.hash, "", "")), None, summary, None)
        writer.write(plan, lines(), lambda _: None, dict)
    return time.process_time() - started


def _transcripts(number: int) -> Iterator[Transcript]:
    return (Transcript(f"t{each}", "", "m", ()) for each in range(number))


def main() -> None:
    plan = compile_project(BENCHMARK / "rulewright.yaml", profile="publish")
    rows = drawn(plan)
    records = [msgspec.to_builtins(verdict) for verdicts in rows for verdict in verdicts]
    one = min(dumped(records) for _ in range(PASSES))
    with tempfile.TemporaryDirectory() as folder:
        ours = min(written(plan, rows, Path(folder, str(each))) for each in range(PASSES))
    print(f"one pass of json.dumps     {one:6.2f} s for {len(records)} records")
    print(f"aggregated and written     {ours:6.2f} s for {len(rows)} transcripts")
    print(f"that is {ours / one:.1f} passes; the bar is 20")


if __name__ == "__main__":
    main()
