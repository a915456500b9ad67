"""Stored verdicts read again: `rescore`, `leaderboard` and `report` over a finished run, as whole processes.

Run with `python benchmark/speed/stored.py [ROWS]`. Chats of four models, made from a seed, are scanned once with 22
expression checks, which is not timed. The baseline of the same run is a pass of the standard library's `json` over the
run's verdicts, in processor time as everything here. The bar is for rescoring and ranking a million rows; `report`
writes a page of every conversation beside it.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.timing import keep_bytecode

CHECKS: Final = 22
MODELS: Final = 4
BAR: Final = 5.0  # seconds for a million rows, on an idle machine
WORDS: Final = [
    "thanks",
    "sure",
    "help",
    "today",
    "please",
    "tell",
    "more",
    "about",
    "your",
    "account",
    "we",
    "will",
    "transfer",
    "money",
    "soon",
]
COMMANDS: Final = {"rescore": ("rescore", "run", "--out", "again"), "leaderboard": ("leaderboard", "run")}
REPORT: Final = {"report": ("report", "run")}


def project(folder: Path, transcripts: int) -> None:
    """A project with its checks, and so many chats."""
    (folder / "checks").mkdir()
    (folder / "rulewright.yaml").write_text("project: stored\nchecks: checks\nscorecard: share\n", encoding="utf-8")
    for number in range(CHECKS):
        text = f'id: c{number}\nfail: contains_any(answer, ["w{number}", "money soon", "tell more"])\n'
        (folder / "checks" / f"c{number}.yaml").write_text(text, encoding="utf-8")
    chance = random.Random(1)
    with (folder / "chats.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(transcripts):
            said = {"role": "assistant", "content": " ".join(chance.choices(WORDS, k=12))}
            chat = {
                "id": f"c{number}",
                "model": f"m{number % MODELS}",
                "messages": [{"role": "user", "content": "?"}, said],
            }
            stream.write(json.dumps(chat) + "\n")


def seconds(folder: Path, words: tuple[str, ...]) -> float:
    """The processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "rulewright", *words], cwd=folder, check=False, capture_output=True, text=True
    )
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"rulewright {' '.join(words)} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def one_pass(path: Path) -> float:
    """The processor time of `json` over the lines of a file."""
    started = time.process_time()
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            json.loads(line)
    return time.process_time() - started


def main() -> int:
    """Measure, print, and answer 1 where the bar is missed."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 220_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keep_bytecode(folder)
        project(folder, rows // CHECKS)
        seconds(folder, ("scan", "chats.jsonl", "--out", "run"))
        passed = one_pass(folder / "run" / "verdicts.jsonl")
        times = {what: seconds(folder, words) for what, words in {**COMMANDS, **REPORT}.items()}
    print(f"{rows:,} verdict rows of {rows // CHECKS:,} chats; a pass of json: {passed:.2f} s")
    for what, taken in times.items():
        print(f"{what:12} {taken:6.2f} s   {taken / passed:5.2f} passes")
    return int(sum(times[what] for what in COMMANDS) > BAR * rows / 1_000_000)


if __name__ == "__main__":
    sys.exit(main())
