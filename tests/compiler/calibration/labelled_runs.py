"""Scanned runs, and files of labels about them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.small_project import write
from tests.folders import write_turns

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright_runtime.judging.judge import JudgeRecord
from rulewright_runtime.runs.store import run

SCORECARD = """\
scorecard: quality
gates:
  held: {of: v.primary_bucket == F, stops: v.verdict == FAIL, undecided: v.verdict == UNCLEAR,
         empty: {not_eligible: passed, not_run: undecided}}
flags: {raised: [FAIL], clear: [PASS], unknown: [UNCLEAR, NOT_APPLICABLE]}
output: {gates: gates}
"""
WRONG = ("m1", "m2", "m33")  # where the word list errs


def item(number: int) -> str:
    return f"m{number}__night/W-1"


def truth(number: int) -> str:
    failed = number < 10
    return "FAIL" if failed != (f"m{number}" in WRONG) else "PASS"


def labelled(path: Path, numbers: range, *more: str, split: str = "report") -> Path:
    rows = [f"{item(number)},{truth(number)},ann,{split}" for number in numbers]
    path.write_text("\n".join(["id,target,annotator,split", *rows, *more]) + "\n", encoding="utf-8")
    return path


def refused(*words: str) -> bool:
    return main(words) == 3


def calibrated(folder: Path, path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, Any]:
    code = main(["calibrate", str(folder), "--gold", str(path), "--format", "json", *more])
    return code, json.loads(capsys.readouterr().out or "null")


def scanned(
    root: Path, words: str, failing: int, judge: Any = None, prompt: str = "Is it rude?", scorecard: str = SCORECARD
) -> Path:
    """A run over 20 transcripts of which so many fail by a word list, and by a judge where there is one."""
    check_ = "id: W-1\nname: rude\nprimary_bucket: F\nseverity: S3\nscope: universal\n"
    rule = f"routing: {{route: lexicon_only, deterministic_precheck: {words}}}\n"
    files = {
        "checks/W-1.yaml": check_ + (f"prompt: {prompt}\n" if judge else rule),
        f"lexicons/{words}.yaml": f"patterns:\n  - {words} must\n",
        "configs/scorecards/quality.yaml": scorecard,
        "rulewright.yaml": "project: p\nscorecard: quality\nscorecards: configs/scorecards\n",
    }
    plan = compile_project(write(root / "p", files))
    for number in range(20):
        answer = f"{words} must" if number < failing else "as you like"
        write_turns(root / "said" / f"m{number}__night.jsonl", "Hello", answer)
    run(plan, [root / "said"], root / "run", judge=judge)
    return root / "run"


class Named:
    """A judge that passes everything."""

    def __init__(self, name: str) -> None:
        self.record = JudgeRecord("python", name, prompts={"W-1": "one"})

    def ask(self, request: Any) -> str:
        return json.dumps({"verdict": "PASS", "rationale_code": "so", "evidence": []})
