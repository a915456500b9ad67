"""A small model on this machine plays three scenarios and judges them; what it said is recorded, replayed and compared.

    python benchmark/live/live.py MODEL.gguf FOLDER

exit codes: 0 the replay gave the same verdicts and scores, byte for byte; 1 it did not; 4 the model does not run here
"""

import sys
from pathlib import Path
from typing import Final

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.judges import independence_of
from rulewright.project import load_project
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.models.local import LocalModel
from rulewright_runtime.runs.live import JudgeSettings, LiveJudge
from rulewright_runtime.runs.store import run

HERE: Final = Path(__file__).resolve().parent
COMPARED: Final = ("verdicts.jsonl", "scores.jsonl")
SMALL: Final = Capabilities(structured=True, context=2048, reply=128, bounds=True)


def judged(model: str, folder: Path) -> None:
    """Play the scenarios and judge them."""
    said, ledger = folder / "played" / "transcripts", str(folder / "ledger.sqlite3")
    step(
        "harness", str(HERE / "scenarios"), "--model", f"local:{model}", "--out", str(folder / "played"),
        "--temperature", "0", "--max-reply-tokens", "16", "--ledger", ledger,
    )  # fmt: skip
    project = load_project(HERE)
    settings = JudgeSettings(ledger, independence=independence_of(project))
    run(compile_project(project), [said], folder / "judged", judge=LiveJudge(LocalModel(model, SMALL), settings))


def replayed(folder: Path) -> bool:
    """Record the replies and replay them; whether both runs are the same."""
    said, replay = str(folder / "played" / "transcripts"), f"replay:{folder / 'replies.json'}"
    step("record", str(folder / "judged"), "-o", str(folder / "replies.json"))
    step("scan", said, "--project", str(HERE), "--judge", replay, "--out", str(folder / "replayed"), most=2)
    return all(
        (folder / "judged" / name).read_bytes() == (folder / "replayed" / name).read_bytes() for name in COMPARED
    )


def step(*words: str, most: int = 0) -> None:
    """Execute a command. Raises SystemExit where it ends with a code above `most`."""
    code = main(words)
    if code > most:
        raise SystemExit(f"`rulewright {words[0]}` ended with {code}")


if __name__ == "__main__":
    try:
        judged(sys.argv[1], Path(sys.argv[2]))
    except (Exception, SystemExit) as why:
        print(f"live: NOT RUN: {why}")
        sys.exit(4)
    same = replayed(Path(sys.argv[2]))
    print("live: the replay gave the same verdicts" if same else "live: the replay gave other verdicts")
    sys.exit(0 if same else 1)
