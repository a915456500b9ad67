"""The same 1,000 chats and 20 assertions in promptfoo, Inspect and Rulewright: verdicts, processor time, memory.

Run by `make peers`, with the folder that holds the peers. Exits 1 where a verdict differs or a bar is missed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmark.peers.assertions import LITERALS, NAMES, PATTERNS, answers

HERE: Final = Path(__file__).resolve().parent
QUIET: Final = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_SHARING": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1", "PROMPTFOO_DISABLE_DEBUG_LOG": "1",
    "PROMPTFOO_DISABLE_ERROR_LOG": "1", "INSPECT_DISPLAY": "none", "NO_COLOR": "1",
}  # fmt: skip
ROUNDS: Final = 3
TIME, MEMORY, MOST = 1 / 6, 1 / 4, 60  # shares of promptfoo's, and megabytes
# A command, from a small process: its largest memory would else begin with that of the process it comes from.
MEASURE: Final = """
import os, sys
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
code = os.waitstatus_to_exitcode(status)
open(sys.argv[1], "w").write(f"[{code}, {usage.ru_utime + usage.ru_stime}, {usage.ru_maxrss}]")
"""
Verdicts = dict[str, tuple[bool, ...]]


class Spent(NamedTuple):
    """Processor seconds of a command with its children, and the megabytes of the largest of its processes."""

    seconds: float
    megabytes: float


def run(command: list[str], folder: Path, allowed: tuple[int, ...] = (0,)) -> Spent:
    """What a command spends; ends the benchmark where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {**QUIET, "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"), "PYTHONPATH": str(HERE.parents[1])}
    with (folder / "output.txt").open("wb") as output:
        small = [sys.executable, "-I", "-S", "-c", MEASURE, str(folder / "spent.json"), *command]
        subprocess.run(small, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, check=True)
    code, seconds, kibibytes = json.loads((folder / "spent.json").read_bytes())
    if code not in allowed:
        print((folder / "output.txt").read_text(errors="replace")[-3000:])
        raise SystemExit(f"`{command[0]}` ended with {code}")
    return Spent(seconds, kibibytes / 1024)


def write_chats(folder: Path, said: list[str]) -> None:
    """The chats as OpenAI messages, a chat a line."""
    lines = [
        {"id": f"chat-{number}", "messages": [_said("user", "?"), _said("assistant", answer)]}
        for number, answer in enumerate(said)
    ]
    (folder / "chats.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def rulewright(folder: Path, peers: Path, said: list[str]) -> tuple[Spent, Verdicts]:
    """A project with a check for each assertion; `scan` compiles it, runs it and writes the run."""
    (folder / "checks").mkdir()
    (folder / "rulewright.yaml").write_text("project: peers\n", encoding="utf-8")
    conditions = [f"answer.contains({json.dumps(word)})" for word in LITERALS]
    conditions += [f"answer.matches({json.dumps(pattern)})" for pattern in PATTERNS]
    for name, condition in zip(NAMES, conditions, strict=True):
        text = f"id: {name}\npass: {json.dumps(condition)}\n"
        (folder / "checks" / f"{name}.yaml").write_text(text, encoding="utf-8")
    spent = run(
        [str(Path(sys.executable).with_name("rulewright")), "scan", "chats.jsonl", "--out", "run"], folder, (1,)
    )
    from rulewright import load_run

    found: dict[str, dict[str, bool]] = {}
    for row in load_run(folder / "run").records():
        found.setdefault(row["transcript_id"], {})[row["check_id"]] = row["verdict"] == "PASS"
    return spent, {name: tuple(held[each] for each in NAMES) for name, held in found.items()}


def promptfoo(folder: Path, peers: Path, said: list[str]) -> tuple[Spent, Verdicts]:
    """The provider `echo` gives back each answer; twenty assertions are those of every test."""
    assertions = [{"type": "contains", "value": word} for word in LITERALS]
    assertions += [{"type": "regex", "value": pattern} for pattern in PATTERNS]
    config = {
        "prompts": ["{{answer}}"],
        "providers": ["echo"],
        "defaultTest": {"assert": assertions},
        "tests": [{"vars": {"answer": answer}, "metadata": {"number": at}} for at, answer in enumerate(said)],
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    words = ["eval", "-c", "config.json", "-o", "out.json", "--no-table", "--no-progress-bar", "--no-write"]
    spent = run([str(peers / "node_modules" / ".bin" / "promptfoo"), *words, "--no-cache"], folder, (0, 100))
    results = json.loads((folder / "out.json").read_bytes())["results"]["results"]
    return spent, {
        f"chat-{each['testCase']['metadata']['number']}": tuple(
            part["pass"] for part in each["gradingResult"]["componentResults"]
        )
        for each in results
    }


def inspect(folder: Path, peers: Path, said: list[str]) -> tuple[Spent, Verdicts]:
    """A task whose solver gives the recorded answer, and one scorer for the twenty assertions."""
    shutil.copy(HERE / "inspect_task.py", folder)
    words = ["eval", "inspect_task.py", "-T", "chats=chats.jsonl", "--model", "none", "--log-format", "json"]
    spent = run([str(peers / "python" / "bin" / "inspect"), *words, "--log-dir", "logs"], folder)
    (log,) = (folder / "logs").glob("*.json")
    samples = json.loads(log.read_bytes())["samples"]
    return spent, {each["id"]: _held(each["scores"]["assertions"]["value"]) for each in samples}


def _held(values: Mapping[str, Any]) -> tuple[bool, ...]:
    return tuple(values[name] == 1 for name in NAMES)


TOOLS: Final[dict[str, Callable[[Path, Path, list[str]], tuple[Spent, Verdicts]]]] = {
    "promptfoo": promptfoo,
    "Inspect": inspect,
    "Rulewright": rulewright,
}


def main(peers: Path) -> int:
    """Run all three, compare, and print a table."""
    said = answers()
    found: dict[str, tuple[Spent, Verdicts]] = {}
    for _ in range(ROUNDS):  # in turn, the cheapest of each: time that another process takes is not the tool's
        for name, tool in TOOLS.items():
            with tempfile.TemporaryDirectory() as scratch:
                write_chats(Path(scratch), said)
                spent, verdicts = tool(Path(scratch), peers, said)
            assert name not in found or found[name][1] == verdicts, f"{name} does not say the same twice"
            found[name] = (min(spent, found[name][0]) if name in found else spent, verdicts)
    ours, theirs = found["Rulewright"], found["promptfoo"]
    for name, (spent, _) in found.items():
        shares = (
            f"{spent.seconds / theirs[0].seconds:.2f} and {spent.megabytes / theirs[0].megabytes:.2f} of promptfoo's"
        )
        print(f"{name:<12} {spent.seconds:6.2f} s of processor time, {spent.megabytes:6.0f} MB; {shares}")
    same = all(verdicts == ours[1] for _, verdicts in found.values()) and len(ours[1]) == len(said)
    print(f"{len(said):,} chats, {len(NAMES)} assertions: the verdicts are {'the same' if same else 'NOT the same'}")
    bars = {
        f"processor time at most {TIME:.2f} of promptfoo's": ours[0].seconds <= theirs[0].seconds * TIME,
        f"memory at most {MEMORY} of promptfoo's": ours[0].megabytes <= theirs[0].megabytes * MEMORY,
        f"memory at most {MOST} MB": ours[0].megabytes <= MOST,
    }
    for bar, held in bars.items():
        print(f"{bar}: {'yes' if held else 'NO'}")
    return 0 if same and all(bars.values()) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
