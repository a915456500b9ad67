"""The store: the folder of a run, and that a killed run can be resumed to the same bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.plans import Scripted, asked, check, plan, reply, write_turns

from rulewright_runtime import store
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan import Plan
from rulewright_runtime.plan_file import decode

PLAN = plan(check(), asked(name="X2"))
FILES = ["plan.json", "scores.jsonl", "summary.json", "summary.md", "verdicts.jsonl"]


class Killed(BaseException):
    """Somebody pulls the plug."""


class Mortal(Scripted):
    """A judge in whose hands the process is killed at the nth question."""

    def __init__(self, questions: int) -> None:
        super().__init__(reply("PASS"))
        self.left = questions

    def ask(self, request: Any) -> str | None:
        if self.left == 0:
            raise Killed
        self.left -= 1
        return super().ask(request)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in "abcde":
        write_turns(folder / f"{name}__s.jsonl", f"hello {name}", "I promise" if name in "bd" else "Good.")
    (folder / "bc__s.jsonl").write_text("{broken\n")
    return folder


def run(data: Path, out: Path, judge: Any = None, compiled: Plan = PLAN, **settings: Any) -> dict[str, Any]:
    return store.run(compiled, [data], out, judge=judge or Scripted(reply("PASS")), **settings)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_run_leaves_its_five_files_and_nothing_else(data: Path, tmp_path: Path) -> None:
    summary = run(data, tmp_path / "run")
    assert sorted(content(tmp_path / "run")) == FILES
    assert json.loads((tmp_path / "run" / "summary.json").read_bytes()) == json.loads(json.dumps(summary))
    assert decode((tmp_path / "run" / "plan.json").read_bytes()) == PLAN
    assert summary["judge_calls"] == 5


def test_a_verdict_line_names_its_transcript_first_and_has_the_promised_fields(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    rows = [json.loads(line) for line in (tmp_path / "run" / "verdicts.jsonl").read_bytes().splitlines()]
    assert [(row["transcript_id"], row["mode_id"]) for row in rows[:3]] == [
        ("a__s", "X1"),
        ("a__s", "X2"),
        ("b__s", "X1"),
    ]
    assert list(rows[0])[:14] == [
        *("transcript_id", "mode_id", "eligible", "verdict", "severity", "primary_bucket", "confidence", "evidence"),
        *("scorer_version", "prompt_hash", "rationale_code", "adjudication_required", "secondary_tags", "extra"),
    ]


def test_what_was_refused_is_counted_with_its_place(data: Path, tmp_path: Path) -> None:
    refused = run(data, tmp_path / "run")["refused"]
    assert refused["count"] == 1
    assert refused["inputs"][0]["path"] == str(data / "bc__s.jsonl")
    assert refused["inputs"][0]["line"] == 1


@pytest.mark.parametrize("questions", range(5))
def test_a_killed_run_is_resumed_to_the_same_bytes(data: Path, tmp_path: Path, questions: int) -> None:
    run(data, tmp_path / "whole")
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(questions))
    assert not (tmp_path / "run" / "summary.json").exists()
    judge = Scripted(reply("PASS"))
    run(data, tmp_path / "run", judge, resume=True)
    assert content(tmp_path / "run") == content(tmp_path / "whole")
    assert len(judge.requests) == 5 - questions


def test_lines_that_were_half_written_when_the_run_was_killed_are_written_again(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "whole")
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(2))
    for name in ("verdicts.jsonl.part", "scores.jsonl.part", "progress.jsonl"):
        with (tmp_path / "run" / name).open("ab") as stream:
            stream.write(b'{"transcript_id": "c__')
    run(data, tmp_path / "run", resume=True)
    assert content(tmp_path / "run") == content(tmp_path / "whole")


@pytest.mark.parametrize("lost", [1, 2, 3, 200])
def test_what_a_run_without_a_judge_left_when_its_process_vanished_is_resumed(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    compiled = plan(check())
    monkeypatch.setattr(store, "LOST_INPUTS", lost)
    run(data, tmp_path / "whole", compiled=compiled)

    def vanish(done: int) -> None:
        if done == 5:
            shutil.copytree(tmp_path / "run", tmp_path / "left")

    run(data, tmp_path / "run", compiled=compiled, progress=vanish)
    known = (tmp_path / "left" / "progress.jsonl").read_bytes().splitlines()[1:]
    assert len(known) == 5 - 5 % lost
    told: list[int] = []
    run(data, tmp_path / "left", compiled=compiled, resume=True, progress=told.append)
    assert told == list(range(len(known) + 1, 7))
    assert content(tmp_path / "left") == content(tmp_path / "whole")


def test_resuming_a_finished_run_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    before = content(tmp_path / "run")
    run(data, tmp_path / "run", resume=True)
    assert content(tmp_path / "run") == before


def test_without_resume_a_killed_run_starts_anew(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "whole")
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(3))
    run(data, tmp_path / "run")
    assert content(tmp_path / "run") == content(tmp_path / "whole")


def another_plan(data: Path, out: Path) -> dict[str, Any]:
    return {"compiled": plan(check(severity="S5"), asked(name="X2"))}


def another_budget(data: Path, out: Path) -> dict[str, Any]:
    return {"max_calls": 3}


def another_text(data: Path, out: Path) -> dict[str, Any]:
    write_turns(data / "a__s.jsonl", "another", "talk")
    return {}


def one_more_file(data: Path, out: Path) -> dict[str, Any]:
    write_turns(data / "A__s.jsonl", "one", "more")
    return {}


def lost_verdicts(data: Path, out: Path) -> dict[str, Any]:
    (out / "verdicts.jsonl.part").write_bytes(b"")
    return {}


def damaged_progress(data: Path, out: Path) -> dict[str, Any]:
    (out / "progress.jsonl").write_bytes(b"{}\n")
    return {}


CHANGES = [another_plan, another_budget, another_text, one_more_file, lost_verdicts, damaged_progress]


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_is_not_resumed_over_anything_else(data: Path, tmp_path: Path, change: Any) -> None:
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(2))
    settings = change(data, tmp_path / "run")
    with pytest.raises(PlanError, match="run without `--resume`"):
        run(data, tmp_path / "run", resume=True, **settings)


def test_a_budget_of_calls_counts_over_the_whole_run(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "whole", max_calls=4)
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(2), max_calls=4)
    judge = Scripted(reply("PASS"))
    run(data, tmp_path / "run", judge, resume=True, max_calls=4)
    assert len(judge.requests) == 2
    assert content(tmp_path / "run") == content(tmp_path / "whole")


def test_progress_is_told(data: Path, tmp_path: Path) -> None:
    told: list[int] = []
    run(data, tmp_path / "run", progress=told.append)
    assert told == [1, 2, 3, 4, 5, 6]
