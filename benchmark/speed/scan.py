"""How fast a scan is beside a plain `lower()`-and-`in` loop: both as whole processes, from JSONL to verdict JSONL.

Both judge the 126 published transcripts by the smoke profile and write the same verdict lines, which is checked. They
run in turns, and the medians of the wall times are compared. Printed too: the same loop lowering every turn only once
for all checks, and what is paid before the first transcript (a bare interpreter, and the start of the runtime). Then
the same with the transcripts ten times over, where starting up weighs less, and one process beside two over a file of
100 MB. All run from compiled bytecode, as
installed packages do.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.timing import keep_bytecode
from msgspec.structs import replace

from rulewright import compile_project
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.verifiers import LexiconVerifier, ScenarioRule

if TYPE_CHECKING:
    from rulewright_runtime.plan.scan import Check, Plan

ROOT = Path(__file__).resolve().parents[2]
TARGET = 3.0
ROUNDS = 15
COPIES = 10
BATCHES = 50


def rules_of(plan: Plan) -> dict[str, Any]:
    """What somebody who writes the loop by hand would hold in a file: patterns lower-cased, tags, names."""
    return {
        "scenarios": {key: list(scenario.tags) for key, scenario in plan.scenarios.items()},
        "checks": [rule_of(plan, check) for check in plan.checks],
    }


def rule_of(plan: Plan, check: Check) -> dict[str, Any]:
    """One check for the plain loop."""
    rule: dict[str, Any] = {
        "id": check.id,
        "severity": check.severity,
        "primary_bucket": check.primary_bucket,
        "secondary_tags": check.secondary_tags,
        "scorer_type": check.scorer_type,
        "scorer_version": f"{check.scorer_type}/1",
        "adjudicate": check.adjudicate,
        "suppressed_by": suppressing_tags(check),
    }
    verifier = check.verifier
    if isinstance(verifier, LexiconVerifier):
        patterns = plan.lexicons[verifier.lexicon].patterns
        lowered = [(p.mode, p.pattern if p.mode == "regex" else p.pattern.lower()) for p in patterns]
        return {**rule, "patterns": lowered, "detected": verifier.detected, "absent": verifier.absent}
    if not isinstance(verifier, ScenarioRule):
        raise SystemExit(f"the smoke profile selects `{check.id}`, which a plain loop can't judge")
    markers = {name: getattr(verifier, name) for name in ("question", "disclosure", "false_claim")}
    rule |= {role: [p.pattern.lower() for p in plan.lexicons[name].patterns] for role, name in markers.items()}
    names = ("no_question", "no_answer", "disclosed", "claimed", "undisclosed")
    return rule | {name: getattr(verifier, name) for name in names}


def suppressing_tags(check: Check) -> list[str]:
    """The tags in the check's suppressing condition."""
    if check.suppressed is None:
        return []
    lists = [node.value[1] for node in check.suppressed.nodes if node.op == "const" and node.value[0] == "list"]
    words = [node.value[1] for node in check.suppressed.nodes if node.op == "const" and node.value[0] == "string"]
    return [word for _, word in lists[0]] if lists else words


def seconds(command: list[str]) -> float:
    """The wall time of a process."""
    start = time.perf_counter()
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    taken = time.perf_counter() - start
    if done.returncode not in (0, 1, 2):  # whatever it finds; 3 would be an error
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return taken


def lines(path: Path) -> list[Any]:
    """The verdict lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> int:
    """Measure, print, and answer 0 when the target is met."""
    shared = Path(os.environ.setdefault("RULEWRIGHT_SHARED", str(ROOT.parent / "shared")))
    transcripts = shared / "invisiblebench" / "transcripts" / "real"
    if not transcripts.is_dir():
        print("skipped: set RULEWRIGHT_SHARED to the folder that holds `invisiblebench`")
        return 0
    plan = seal(
        replace(compile_project(ROOT / "benchmark" / "invisiblebench", profile="smoke"), scorecard=None, models={})
    )
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        keep_bytecode(place)
        (place / "plan.json").write_bytes(encode(plan))
        (place / "rules.json").write_text(json.dumps(rules_of(plan)), encoding="utf-8")
        print("126 transcripts")
        ratio = compare(place, transcripts, ROUNDS)
        print(f"{COPIES * 126} transcripts")
        compare(place, copies(transcripts, place / "many"), ROUNDS // 3)
        print(f"{BATCHES * 126} transcripts in one file")
        compare_jobs(place, batch(transcripts, place / "batch.jsonl"))
    return 0 if ratio >= TARGET else 1


def copies(transcripts: Path, folder: Path) -> Path:
    """A folder with every transcript several times, under the names of as many models."""
    folder.mkdir()
    for file in transcripts.iterdir():
        for copy in range(COPIES):
            shutil.copy(file, folder / f"{copy}-{file.name}")
    return folder


def batch(transcripts: Path, path: Path, copies: int = BATCHES) -> Path:
    """A file with every transcript several times, a conversation a line."""
    with path.open("w", encoding="utf-8") as stream:
        for copy in range(copies):
            for file in sorted(transcripts.iterdir()):
                model, _, scenario = file.stem.partition("__")
                record = {"transcript_id": f"{copy}-{file.stem}", "scenario_id": scenario, "model": model}
                stream.write(json.dumps({**record, "turns": lines(file)}, ensure_ascii=False) + "\n")
    return path


def compare_jobs(place: Path, path: Path) -> None:
    """Print how long one process and two take over a large file; both must write the same."""
    run = [sys.executable, "-m", "rulewright_runtime", "run", str(place / "plan.json"), str(path), "--overwrite"]
    commands = {jobs: [*run, "--out", str(place / f"jobs{jobs}"), "--jobs", str(jobs)] for jobs in (1, 2)}
    times: dict[int, list[float]] = {jobs: [] for jobs in commands}
    for command in commands.values():
        seconds(command)
    for _ in range(5):
        for jobs, command in commands.items():
            times[jobs].append(seconds(command))
    if (place / "jobs1" / "verdicts.jsonl").read_bytes() != (place / "jobs2" / "verdicts.jsonl").read_bytes():
        raise SystemExit("one process and two do not give the same verdicts")
    one, two = (statistics.median(taken) for taken in times.values())
    size = path.stat().st_size / 1e6
    print(f"  one process {one:.2f} s ({size / one:.0f} MB/s), two {two:.2f} s; {one / two:.2f} times as fast")


def compare(place: Path, transcripts: Path, rounds: int) -> float:
    """Run both by turns over `transcripts`, print the times, and give the median ratio."""
    loop = [sys.executable, "-m", "benchmark.speed._plain_scan"]
    plain = [*loop, str(place / "rules.json"), str(transcripts), str(place / "plain.jsonl")]
    run = [sys.executable, "-m", "rulewright_runtime", "run", str(place / "plan.json"), str(transcripts)]
    commands = {
        "rulewright": [*run, "--overwrite", "--out", str(place / "run")],
        "plain loop": plain,
        "plain loop, every turn lowered once": [*plain, "once"],
        "bare interpreter": [sys.executable, "-c", "pass"],
        "start of the runtime": [sys.executable, "-c", "import rulewright_runtime.runs.store, re2"],
    }
    for command in commands.values():
        seconds(command)
    if lines(place / "plain.jsonl") != lines(place / "run" / "verdicts.jsonl"):
        raise SystemExit("the two do not give the same verdicts")
    times: dict[str, list[float]] = {what: [] for what in commands}
    for _ in range(rounds):
        for what, command in commands.items():
            times[what].append(seconds(command))
    return report(times)


def report(times: dict[str, list[float]]) -> float:
    """Print medians and ratios; give the ratio that the target is about."""
    medians = {what: statistics.median(taken) for what, taken in times.items()}
    for what, median in medians.items():
        print(f"  {what:38} {1000 * median:7.1f} ms   (fastest {1000 * min(times[what]):.1f})")
    ratio = statistics.median(
        plain / ours for plain, ours in zip(times["plain loop"], times["rulewright"], strict=True)
    )
    once = medians["plain loop, every turn lowered once"] / medians["rulewright"]
    print(f"  median ratio: {ratio:.2f} (target {TARGET}); beside the loop that lowers once: {once:.2f}")
    return ratio


if __name__ == "__main__":
    sys.exit(main())
