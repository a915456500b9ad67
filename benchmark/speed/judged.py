"""The publish profile over recorded replies: transcripts a second, beside passes of the standard library's `json`.

Both readings of the language judge the published transcripts four times over, with the replies recorded for them, and
write a run. A pass of `json` loads every turn and every recorded reply and dumps every verdict that the run wrote: it
says how fast the machine is just now. The bars are transcripts a second of an idle machine with two cores.
"""

import gzip
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.scan import batch

from rulewright import compile_project
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.store import run

ROOT: Final = Path(__file__).resolve().parents[2]
COPIES: Final = 4
ROUNDS: Final = 3
PROJECTS: Final = {"reference": ("rulewright.yaml", 1000), "seed": ("seed.yaml", 600)}


def published() -> Path | None:
    """The folder of the published data; None, after saying so, where there is none."""
    shared = Path(os.environ.setdefault("RULEWRIGHT_SHARED", str(ROOT.parent / "shared"))) / "invisiblebench"
    if shared.is_dir():
        return shared
    print("skipped: set RULEWRIGHT_SHARED to the folder that holds `invisiblebench`")
    return None


def publish_plan(project: str) -> Plan:
    """The plan of the publish profile under one reading of the language."""
    return compile_project(ROOT / "benchmark" / "invisiblebench" / project, profile="publish")


def replies_of(recorded: Path, path: Path, copies: int = COPIES) -> list[str]:
    """Write the recorded replies for every copy of a transcript; gives the replies of one."""
    replies = json.loads(gzip.decompress(recorded.read_bytes()))
    copied = {f"{copy}-{name}": about for copy in range(copies) for name, about in replies.items()}
    path.write_text(json.dumps(copied), encoding="utf-8")
    return [reply for about in replies.values() for each in about.values() for tries in each for reply in tries]


def one_pass(turns: list[str], replies: list[str], verdicts: list[Any]) -> float:
    """Seconds of processor for a transcript's turns and replies loaded and its verdicts dumped, on average."""
    started = time.process_time()
    for text in (*turns, *replies):
        try:
            json.loads(text)
        except ValueError:  # a reply with words around it
            continue
    for verdict in verdicts:
        json.dumps(verdict)
    return time.process_time() - started


def main() -> int:
    """Measure, print, and answer 0 when both bars are met."""
    if (shared := published()) is None:
        return 0
    chats = shared / "transcripts" / "real"
    turns = [line for file in chats.iterdir() for line in file.read_text(encoding="utf-8").splitlines()]
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        input_file, recorded = batch(chats, folder / "chats.jsonl", COPIES), folder / "replies.json"
        replies = replies_of(shared / "judge_replies" / "real.answers.json.gz", recorded)
        for semantics, (project, bar) in PROJECTS.items():
            plan = publish_plan(project)
            ours, passes = [], []
            for _ in range(ROUNDS):
                started = time.process_time()
                run(plan, [input_file], folder / semantics, judge=f"replay:{recorded}", overwrite=True)
                ours.append((time.process_time() - started) / COPIES)
                lines = (folder / semantics / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
                passes.append(one_pass(turns, replies, [json.loads(line) for line in lines[: len(lines) // COPIES]]))
            best, number = min(ours), sum(1 for _ in chats.iterdir())
            rate, beside = number / best, best / min(passes)
            print(f"{semantics:9} {rate:5.0f} transcripts a second (bar {bar}), {beside:.1f} passes of json")
            met = met and rate >= bar
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
