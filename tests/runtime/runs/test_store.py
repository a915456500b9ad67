"""The store: the folder of a run, and that a killed run can be resumed to the same bytes."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.folders import read_lines, write_turns
from tests.runtime.plans import Scripted, asked, check, plan, reply

from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import PlanError
from rulewright_runtime.judging.judge import ReplayJudge
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs import folder, store
from rulewright_runtime.runs.folder import read_manifest
from rulewright_runtime.runs.log import checked

PLAN = plan(check(), asked(name="X2"))
FILES = ["inputs.jsonl", "manifest.json", "plan.json", "scores.jsonl", "summary.json", "summary.md", "verdicts.jsonl"]


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


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_of_a_plan_of_an_earlier_version_can_be_read(jobs: int, data: Path, tmp_path: Path) -> None:
    document = {**json.loads(encode(plan(check()))), "hash": ""}
    del document["severities"]  # as if this key had been added since
    document["hash"] = sha256(msgspec.json.encode(document)).hexdigest()
    earlier = decode(msgspec.json.encode(document))
    summary = store.run(earlier, [data], tmp_path / "run", jobs=jobs)
    assert summary["totals"]["transcripts"] == 5
    assert decode((tmp_path / "run" / "plan.json").read_bytes()).hash == summary["plan"]


def test_a_run_leaves_its_files_and_nothing_else(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "without", compiled=plan(check()))
    assert sorted(content(tmp_path / "without")) == FILES
    summary = run(data, tmp_path / "run")
    assert sorted(content(tmp_path / "run")) == sorted([*FILES, "replies.jsonl"])
    assert json.loads((tmp_path / "run" / "summary.json").read_bytes()) == json.loads(json.dumps(summary))
    assert decode((tmp_path / "run" / "plan.json").read_bytes()) == PLAN
    assert summary["judge_calls"] == 5


def test_the_manifest_counts_the_rows_of_each_file(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    made = read_manifest(tmp_path / "run")
    assert made is not None
    rows = {each.name: each.rows for each in made.files if each.name.endswith(".jsonl")}
    assert rows == {"verdicts.jsonl": 10, "scores.jsonl": 5, "inputs.jsonl": 7, "replies.jsonl": 5}
    assert [each.bytes for each in made.files] == [(tmp_path / "run" / each.name).stat().st_size for each in made.files]


def test_the_manifest_of_a_new_run_is_that_of_its_files_although_rows_are_not_read_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described, read = folder.described, list[str]()

    def noted(name: str, *others: Any) -> folder.RunFile:
        read.append(name)
        return described(name, *others)

    monkeypatch.setattr(folder, "described", noted)
    run(data, tmp_path / "run")
    assert read == ["plan.json", "replies.jsonl", "summary.md", "summary.json"]
    made = (tmp_path / "run" / "manifest.json").read_bytes()
    folder.write_manifest(tmp_path / "run", PLAN)
    assert (tmp_path / "run" / "manifest.json").read_bytes() == made


def test_a_verdict_line_reads_without_a_join_and_has_the_promised_fields(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    rows = read_lines(tmp_path / "run" / "verdicts.jsonl")
    assert [(row["transcript_id"], row["check_id"]) for row in rows[:3]] == [
        ("a__s", "X1"),
        ("a__s", "X2"),
        ("b__s", "X1"),
    ]
    assert list(rows[0])[:16] == [
        *(
            "transcript_id",
            "scenario_id",
            "model",
            "check_id",
            "eligible",
            "verdict",
            "severity",
            "primary_bucket",
            "confidence",
            "evidence",
        ),
        *("scorer_version", "prompt_hash", "rationale_code", "adjudication_required", "secondary_tags", "extra"),
    ]


def test_what_was_refused_is_counted_with_its_place(data: Path, tmp_path: Path) -> None:
    refused = run(data, tmp_path / "run")["refused"]
    assert refused["count"] == 1
    assert refused["inputs"][0]["path"] == str(data / "bc__s.jsonl")
    assert refused["inputs"][0]["line"] == 1


def test_a_run_in_which_everything_was_refused_is_replaced(data: Path, tmp_path: Path) -> None:
    assert run(data / "bc__s.jsonl", tmp_path / "run")["transcripts"] == 0
    assert run(data, tmp_path / "run")["transcripts"] > 0
    with pytest.raises(PlanError, match="contains a finished run"):
        run(data, tmp_path / "run")


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
    for name in ("verdicts.jsonl.part", "scores.jsonl.part", "inputs.jsonl.part", "replies.jsonl.part"):
        with (tmp_path / "run" / name).open("ab") as stream:
            stream.write(b'{"transcript_id": "c__')
    run(data, tmp_path / "run", resume=True)
    assert content(tmp_path / "run") == content(tmp_path / "whole")


@pytest.mark.parametrize("often", [True, False])
def test_what_a_run_without_a_judge_left_when_its_process_vanished_is_resumed(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, often: bool
) -> None:
    compiled = plan(check())
    monkeypatch.setattr(store, "LOST_SECONDS", -1.0 if often else 60.0)
    run(data, tmp_path / "whole", compiled=compiled)

    def vanish(done: int) -> None:
        if done == 5:
            shutil.copytree(tmp_path / "run", tmp_path / "left")

    run(data, tmp_path / "run", compiled=compiled, progress=vanish)
    known = (tmp_path / "left" / "inputs.jsonl.part").read_bytes().splitlines()[1:]
    assert len(known) == (5 if often else 0)
    told: list[int] = []
    run(data, tmp_path / "left", compiled=compiled, resume=True, progress=told.append)
    assert told == list(range(len(known) + 1, 7))
    assert content(tmp_path / "left") == content(tmp_path / "whole")


def test_resuming_a_finished_run_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    before = content(tmp_path / "run")
    run(data, tmp_path / "run", resume=True)
    assert content(tmp_path / "run") == before


def test_without_resume_a_killed_run_starts_again(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "whole")
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(3))
    run(data, tmp_path / "run", overwrite=True)
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


def no_files(data: Path, out: Path) -> dict[str, Any]:
    for path in sorted(data.iterdir())[1:]:
        path.unlink()
    return {}


def another_judge(data: Path, out: Path) -> dict[str, Any]:
    return {"judge": ReplayJudge({"a__s": {"X2": [[reply("FAIL")]]}})}


def lost_verdicts(data: Path, out: Path) -> dict[str, Any]:
    (out / "verdicts.jsonl.part").write_bytes(b"")
    return {}


def no_verdicts(data: Path, out: Path) -> dict[str, Any]:
    (out / "verdicts.jsonl.part").unlink()
    return {}


def changed_scores(data: Path, out: Path) -> dict[str, Any]:
    path = out / "scores.jsonl.part"
    path.write_bytes(path.read_bytes().replace(b"a__s", b"b__s"))
    return {}


def damaged_log(data: Path, out: Path) -> dict[str, Any]:
    (out / "inputs.jsonl.part").write_bytes(b"{}\n")
    return {}


def changed_log(data: Path, out: Path) -> dict[str, Any]:
    path = out / "inputs.jsonl.part"
    path.write_bytes(path.read_bytes().replace(b'"calls":1', b'"calls":0'))
    return {}


CHANGES: list[tuple[Any, str]] = [
    (another_plan, "has another plan"),
    (another_budget, "has other settings"),
    (another_text, "`a__s` is not what the run had read"),
    (one_more_file, "`A__s` is not what the run had read"),
    (no_files, "`b__s`, which the run had judged, is missing"),
    (another_judge, "has another judge or other recorded replies"),
    (lost_verdicts, r"`.*verdicts.jsonl.part` is not as the killed run left it"),
    (no_verdicts, r"`.*verdicts.jsonl.part` is not as the killed run left it"),
    (changed_scores, "is not as the killed run left it"),
    (damaged_log, r"line 1 of `.*inputs.jsonl.part` is damaged"),
    (changed_log, r"line 2 of `.*inputs.jsonl.part` is damaged"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
def test_a_run_is_not_resumed_over_anything_else(data: Path, tmp_path: Path, change: Any, said: str) -> None:
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(2))
    settings = change(data, tmp_path / "run")
    with pytest.raises(PlanError, match=f"{said}.*replace the run with `--overwrite`"):
        run(data, tmp_path / "run", resume=True, **settings)
    run(data, tmp_path / "run", overwrite=True, **settings)
    assert (tmp_path / "run" / "summary.json").exists()


def test_a_run_of_moved_chats_names_the_path_to_resume_it_with(data: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(2))
    moved = data.rename(tmp_path / "elsewhere")
    with pytest.raises(
        PlanError, match=r"had read `a__s` from `.*a__s.jsonl`, not from `.*elsewhere.*`; resume it with"
    ):
        run(moved, tmp_path / "run", resume=True)
    run(moved.rename(data), tmp_path / "run", resume=True)
    assert (tmp_path / "run" / "summary.json").exists()


def test_a_log_in_another_encoding_is_damaged(data: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(2))
    path = tmp_path / "run" / "inputs.jsonl.part"
    header, *_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + checked(b'{"input":"\xe4"}'))
    with pytest.raises(PlanError, match=r"inputs.jsonl.part` is damaged"):
        run(data, tmp_path / "run", resume=True)


@pytest.mark.parametrize("manifest", [True, False])
def test_resuming_refuses_a_finished_run_that_was_edited(data: Path, tmp_path: Path, *, manifest: bool) -> None:
    run(data, tmp_path / "run")
    assert run(data, tmp_path / "run", resume=True)["refused"]["count"] == 1
    path = tmp_path / "run" / "summary.json"
    path.write_bytes(path.read_bytes().replace(b'"refused": {\n    "count": 1', b'"refused": {\n    "count": 0'))
    if not manifest:
        (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(PlanError, match="scan again"):
        run(data, tmp_path / "run", resume=True)


def test_a_damaged_log_costs_no_answer_of_the_judge(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "whole")
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(3))
    (tmp_path / "run" / "inputs.jsonl.part").unlink()
    judge = Scripted(reply("PASS"))
    run(data, tmp_path / "run", judge, resume=True)
    assert (len(judge.requests), content(tmp_path / "run")) == (2, content(tmp_path / "whole"))


def test_a_damaged_answer_is_named_and_only_its_question_is_put_again(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "whole")
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(3))
    (tmp_path / "run" / "inputs.jsonl.part").unlink()
    path = tmp_path / "run" / "replies.jsonl.part"
    path.write_bytes(path.read_bytes().replace(b"PASS", b"FAIL", 1))
    judge = Scripted(reply("PASS"))
    with pytest.raises(PlanError, match=r"line 1 of `.*replies.jsonl.part` is damaged; remove that line"):
        run(data, tmp_path / "run", judge, resume=True)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    run(data, tmp_path / "run", judge, resume=True)
    assert len(judge.requests) == 3
    names = [
        name for name in content(tmp_path / "whole") if name not in ("replies.jsonl", "manifest.json")
    ]  # the order is another one
    assert all(content(tmp_path / "run")[name] == content(tmp_path / "whole")[name] for name in names)


def test_a_finished_run_that_is_resumed_asks_nothing_and_takes_in_what_is_new(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    silent = Scripted(RuntimeError("nobody may be asked"))
    first = run(data, tmp_path / "run", silent, resume=True)
    assert (silent.requests, first["transcripts"]) == ([], 5)
    write_turns(data / "f__s.jsonl", "hello f", "Good.")
    judge = Scripted(reply("PASS"))
    assert run(data, tmp_path / "run", judge, resume=True)["transcripts"] == 6
    assert [request.transcript_id for request in judge.requests] == ["f__s"]
    run(data, tmp_path / "whole")
    assert content(tmp_path / "run") == content(tmp_path / "whole")


def test_a_new_run_keeps_the_old_results_aside_until_it_is_finished(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    before = content(tmp_path / "run")
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(1), overwrite=True)
    left = tmp_path / "run"
    assert content(left / "previous") == before
    assert [path.name for path in left.iterdir() if path.is_file() and path.suffix != ".part"] == []
    run(data, tmp_path / "run", overwrite=True)
    assert content(tmp_path / "run") == before


def test_a_plan_that_cannot_run_leaves_the_old_results_where_they_are(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run")
    before = content(tmp_path / "run")
    with pytest.raises(PlanError, match="needs a judge"):
        store.run(PLAN, [data], tmp_path / "run", overwrite=True)
    assert content(tmp_path / "run") == before


def test_an_answer_is_written_down_before_it_counts_also_where_the_judge_failed(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "run", Scripted(TimeoutError("no answer"), "no \ud800 verdict", reply("PASS")))
    rows = [
        json.loads(line.decode("utf-8", "surrogatepass"))
        for line in (tmp_path / "run" / "replies.jsonl").read_bytes().splitlines()
    ]
    assert [(row["transcript_id"], row["check_id"], row["attempt"]) for row in rows[:3]] == [
        ("a__s", "X2", 0),
        ("a__s", "X2", 1),
        ("a__s", "X2", 2),
    ]
    assert [row["reply"] for row in rows[:3]] == [None, "no \ud800 verdict", reply("PASS")]
    assert rows[0]["error"] == "TimeoutError: no answer"


def test_a_budget_of_calls_counts_over_the_whole_run(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "whole", max_calls=4)
    with pytest.raises(Killed):
        run(data, tmp_path / "run", Mortal(2), max_calls=4)
    judge = Scripted(reply("PASS"))
    run(data, tmp_path / "run", judge, resume=True, max_calls=4)
    assert len(judge.requests) == 2
    assert content(tmp_path / "run") == content(tmp_path / "whole")


def test_progress_is_reported(data: Path, tmp_path: Path) -> None:
    told: list[int] = []
    run(data, tmp_path / "run", progress=told.append)
    assert told == [1, 2, 3, 4, 5, 6]


def test_files_whose_names_are_not_utf8_are_judged_and_refused_like_others(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in (b"m\xff__s.jsonl", b"m__other\xff.jsonl"):
        with open(os.path.join(os.fsencode(tmp_path / "data"), name), "wb") as stream:
            stream.write(write_turns(tmp_path / "turns.jsonl", "hello", "Good.").read_bytes())
    summary = run(tmp_path / "data", tmp_path / "run", compiled=plan(check()))
    assert json.loads((tmp_path / "run" / "scores.jsonl").read_bytes())["transcript_id"] == r"m\xff__s"
    assert summary["refused"]["inputs"][0]["reason"] == r"unknown scenario `other\xff`"
