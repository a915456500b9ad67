"""1,008 stored transcripts rescored, beside a pass of `json.loads` over their verdicts.

Both readings of the language judge the published transcripts eight times over, with the replies recorded for them. The
bar is one second of an idle machine with two cores, for the run read from its files and every transcript scored again
under another value of a parameter.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.judged import PROJECTS, publish_plan, published, replies_of
from benchmark.speed.scan import batch

from rulewright.reporting.stored_run import read_run
from rulewright.whatif.rescoring import policy_of, rescored
from rulewright_runtime.runs.store import run

COPIES: Final = 8
ROUNDS: Final = 3
BAR: Final = 1.0  # seconds


def again(folder: Path) -> tuple[int, int, float]:
    """The transcripts of a run, how many of them have unknown verdicts, and the seconds of processor to rescore it."""
    started = time.process_time()
    stored = read_run(folder)
    rows = rescored(stored, policy_of(stored, None, {}).prepared())
    seconds = time.process_time() - started
    return len(rows), sum("bounds" in row["engine"] for row in rows.values()), seconds  # type: ignore[operator]


def loaded(folder: Path) -> float:
    """Seconds of processor for one pass of `json.loads` over the run's verdicts."""
    lines = (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    started = time.process_time()
    for line in lines:
        json.loads(line)
    return time.process_time() - started


def main() -> int:
    """Measure, print, and answer 0 when the bar is met by both."""
    if (shared := published()) is None:
        return 0
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        input_file = batch(shared / "transcripts" / "real", folder / "chats.jsonl", COPIES)
        replies_of(shared / "judge_replies" / "real.answers.json.gz", folder / "replies.json", COPIES)
        for semantics, (project, _) in PROJECTS.items():
            plan = publish_plan(project)
            run(plan, [input_file], folder / semantics, judge=f"replay:{folder / 'replies.json'}")
            found = [again(folder / semantics) for _ in range(ROUNDS)]
            number, unknown, _ = found[0]
            best, one = min(seconds for _, _, seconds in found), min(loaded(folder / semantics) for _ in range(ROUNDS))
            print(
                f"{semantics:9} {number} transcripts, {unknown} of them with unknown verdicts: {best:.2f} s "
                f"(bar {BAR:.0f} s), {best / one:.1f} passes of json"
            )
            met = met and best <= BAR
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
