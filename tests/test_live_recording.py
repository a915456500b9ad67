"""A run of a real model that was recorded: its replies, replayed, give its verdicts and scores again."""

from pathlib import Path
from typing import Any, Final

from tests.folders import read_lines
from tests.shared_data import ROOT

from rulewright.check.project_check import compile_project
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.runs.store import run
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

LIVE: Final = ROOT / "benchmark" / "live"
RECORDED: Final = LIVE / "recorded"


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, without the hash of the prompt, which a better prompt changes."""
    found = read_lines(path)
    return [{key: value for key, value in row.items() if key != "prompt_hash"} for row in found]


def test_the_recorded_run_gives_its_verdicts_and_scores_again(tmp_path: Path) -> None:
    judge = open_judge(f"replay:{RECORDED / 'replies.json'}")
    run(compile_project(LIVE), [RECORDED / "transcripts"], tmp_path / "run", judge=judge)
    for name in ("verdicts.jsonl", "scores.jsonl"):
        assert rows(tmp_path / "run" / name) == rows(RECORDED / name)
    assert len(rows(RECORDED / "verdicts.jsonl")) == 3


def test_a_recorded_transcript_says_who_spoke_and_how_it_was_asked() -> None:
    found = list(Reader().read([RECORDED / "transcripts"]))
    assert all(isinstance(each, Transcript) and each.harness == "llm/raw" for each in found)
    said = [row for path in (RECORDED / "transcripts").iterdir() for row in rows(path) if row["role"] == "assistant"]
    assert {row["model"] for row in said} == {"SmolLM2-135M-Instruct.Q4_1.gguf"}
    assert all(row["output_tokens"] and row["parameters"]["temperature"] == 0 for row in said)
