"""How fast batches of cases are scored, and in how much memory: whole processes, from JSON lines to the full report.

100,000 made-up cases of the seed's shape are scored with every result in the report, by `rulewright score` and by a
loop written by hand, in turns; labels and means of both are compared. The memory is the largest resident set of the
process; it is measured again with four times as many cases, in one file with their outputs and in two apart.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.timing import keep_bytecode

HERE = Path(__file__).resolve().parent
CASES = 100_000
ROUNDS = 3
RATE = 30_000
MEGABYTES = 120
WORDS = [
    "admission",
    "allergy",
    "antibiotic",
    "anaesthetic",
    "bed",
    "bleeding",
    "cast",
    "cancelled",
    "chart",
    "clot",
    "consent",
    "delay",
    "drain",
    "echo",
    "fall",
    "fasting",
    "fever",
    "fluids",
    "fracture",
    "handover",
    "hip",
    "imaging",
    "infection",
    "list",
    "monitor",
    "night",
    "note",
    "nurse",
    "oxygen",
    "pain",
    "porter",
    "pressure",
    "pulse",
    "queue",
    "reversal",
    "scan",
    "sedation",
    "sore",
    "surgery",
    "theatre",
    "transfer",
    "ward",
    "weekend",
]
ARCHETYPES = ("Process_Auditor", "Delay_Driver_Profiler", "Documentation_Gap", "Safety_Signal", None)


def made_up(number: int, chance: random.Random) -> dict[str, Any]:
    """A case of the seed's shape, about 1.4 kB as JSON; its phrases are taken from the output or not."""

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    def phrases(text: str, count: int) -> list[str]:
        parts = text.split()
        starts = [chance.randrange(len(parts) - 1) for _ in range(count)]
        return [" ".join(parts[at : at + 2]) if chance.random() < 0.9 else words(2) for at in starts]

    signals, summary, questions = [words(6) for _ in range(4)], words(30), [words(8) for _ in range(3)]
    forbidden = [chance.choice(WORDS) if chance.random() < 0.1 else f"{chance.choice(WORDS)}!" for _ in range(3)]
    return {
        "test_id": f"I25-{number:07d}",
        "concern_id": "I25",
        "archetype": ARCHETYPES[number % len(ARCHETYPES)],
        "description": "made up",
        "patient_payload": words(25),
        "expectations": {
            "signal_generation": {"must_find_signals": phrases(signals[0], 3), "min_signal_count": 1},
            "event_summary": {"must_contain_phrases": phrases(summary, 3)},
            "followup_questions": {"required_themes": [], "forbidden_terms": forbidden},
        },
        "engine_output": {"summary": summary, "signals": signals, "followup_questions": questions},
    }


def write_cases(path: Path, count: int, outputs: Path | None = None) -> None:
    """`count` cases as JSON lines, the same every time; what the engine wrote goes to `outputs` where it is given."""
    chance = random.Random(25)
    with path.open("w", encoding="utf-8") as file, (outputs or Path(os.devnull)).open("w", encoding="utf-8") as other:
        for number in range(count):
            case = made_up(number, chance)
            if outputs is not None:
                other.write(json.dumps({"test_id": case["test_id"], **case.pop("engine_output")}) + "\n")
            file.write(json.dumps(case) + "\n")


@dataclass(frozen=True, slots=True)
class Run:
    """A process that has ended: seconds on the wall, seconds of the processor, megabytes at most."""

    wall: float
    processor: float
    megabytes: float


def run(words: list[str]) -> Run:
    """Run a command and measure it."""
    start = time.perf_counter()
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Run(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def ours(folder: Path, name: str, *more: str) -> list[str]:
    """The command that scores the batch `name` of `folder`."""
    words = ["--concern", "I25", "--batch", name, "--cases", str(folder), "--format", "json", *more]
    return [sys.executable, "-m", "rulewright", "score", *words, "--output", str(folder / f"{name}.report")]


def main() -> int:
    """Print rate, ratio and memory; 1 when a target is missed or the two disagree."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_cases(folder / "cases.jsonl", CASES)
        files = [str(folder / "cases.jsonl"), str(folder / "plain.report")]
        plain = [sys.executable, str(HERE / "_plain_score.py"), *files]
        keep_bytecode(folder)
        write_cases(folder / "few.jsonl", 1)
        run(ours(folder, "few"))
        fast, slow = [], []
        for _ in range(ROUNDS):
            fast.append(run(ours(folder, "cases")))
            slow.append(run(plain))
        best, other = min(fast, key=lambda r: r.wall), min(slow, key=lambda r: r.wall)
        write_cases(folder / "many.jsonl", 4 * CASES)
        (folder / "outputs").mkdir()  # where no batch is looked for
        apart_outputs = folder / "outputs" / "apart.jsonl"
        write_cases(folder / "apart.jsonl", 4 * CASES, apart_outputs)
        # before anything large is read here: a child starts as a copy of this process
        many = run(ours(folder, "many"))
        apart = run(ours(folder, "apart", "--outputs", str(apart_outputs)))
        report, expected = ((folder / name).read_bytes() for name in ("cases.report", "plain.report"))
    same = agree(json.loads(report), json.loads(expected))
    rate = CASES / best.wall
    print(f"{CASES:,} cases, one process on one core, start included (best of {ROUNDS})")
    print(f"  rulewright score   {best.wall:6.2f} s  {rate:8,.0f} cases/s  {best.megabytes:6.0f} MB")
    print(f"  a plain loop       {other.wall:6.2f} s  {CASES / other.wall:8,.0f} cases/s  {other.megabytes:6.0f} MB")
    print(f"  ratio              {other.wall / best.wall:6.2f}")
    for what, measured in (("cases", many), ("cases, outputs apart", apart)):
        pace = f"{4 * CASES / measured.wall:,.0f} cases/s"
        print(f"{4 * CASES:,} {what}: {measured.wall:.2f} s, {pace}, {measured.megabytes:.0f} MB")
    print(f"labels and means agree: {'yes' if same else 'NO'}")
    met = rate >= RATE and max(each.megabytes for each in (best, many, apart)) <= MEGABYTES and same
    print(f"target: at least {RATE:,} cases/s within {MEGABYTES} MB: {'met' if met else 'MISSED'}")
    return 0 if met else 1


def agree(report: dict[str, Any], plain: dict[str, Any]) -> bool:
    """Whether labels and means are the same."""
    labels = {label: count for label, count in report["label_distribution"].items() if count}
    means = report["mean_scores"]
    return labels == plain["summary"] and all(abs(means[name] - plain["mean_scores"][name]) < 1e-9 for name in means)


if __name__ == "__main__":
    sys.exit(main())
