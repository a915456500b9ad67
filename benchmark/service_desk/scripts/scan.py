"""The agent of the release: scans the recorded chats of one model, and lints the project that judges them."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
RECORDED = PROJECT / "chats" / "recorded.jsonl"
ANSWERED = (0, 1, 2)  # yes, no and open are answers; what was refused leaves no evidence


def chats_of(model: str) -> str:
    """The lines of the model's chats."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if json.loads(line)["model"] == model)


def rulewright(*words: str) -> bytes:
    """What the command prints."""
    done = subprocess.run([sys.executable, "-m", "rulewright", *words], stdout=subprocess.PIPE, check=False)
    if done.returncode not in ANSWERED:
        raise SystemExit(f"`rulewright {words[0]}` ended with exit code {done.returncode}")
    return done.stdout


def main() -> None:
    """Read the brief, write the evidence, answer. Whether it suffices is for the gate."""
    if find_spec("rulewright") is None:
        sys.exit(f"{sys.executable} has no rulewright: `pip install 'rulewright[workflow]'`")
    json.load(sys.stdin)
    model = sys.argv[1]
    reports = Path("reports")
    reports.mkdir(exist_ok=True)
    for stale in reports.glob("*.*"):
        stale.unlink()
    chats = reports / "chats.jsonl"
    chats.write_text(chats_of(model), encoding="utf-8")
    project = ["--project", str(PROJECT)]
    scanned = rulewright("scan", str(chats), *project, "--out", "run", "--overwrite", "--format", "junit")
    (reports / "junit.xml").write_bytes(scanned)
    (reports / "lint.sarif").write_bytes(rulewright("lint", "--no-cache", "--format", "sarif", str(PROJECT)))
    print(json.dumps({"summary": f"scanned the chats of {model}"}))


if __name__ == "__main__":
    main()
