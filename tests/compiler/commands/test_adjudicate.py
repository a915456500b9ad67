"""What waits for a person is listed, decided by one, and recomputed next to the run; the original stays as it was."""

import json
import os
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from msgspec.structs import replace
from tests.folders import write, write_lines, write_turns
from tests.runtime.judging.test_gates_only import Answering, gated
from tests.shared_data import ROOT
from tests.shipped_plans import shipped_plan

import rulewright
from rulewright.cli import main
from rulewright.comparing.diff import diff
from rulewright.errors import UsageError
from rulewright.reporting import adjudication, derived_run
from rulewright.reporting.adjudication import Adjudication, adjudicate
from rulewright.reporting.leaderboard import leaderboard
from rulewright.reporting.run_reader import rows
from rulewright.reporting.stored_run import read_run, stored
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import BusyError, PlanError
from rulewright_runtime.plan.file import decode, seal
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.runs.folder import write_summary
from rulewright_runtime.runs.store import run

BENCHMARK = ROOT / "benchmark"
NIGHT, SISTER = ("model-b__night_shift_alone", "RW-A1"), ("model-b__one_weekend_from_my_sister", "RW-D2")

REPLIES = f"replay:{BENCHMARK}/judge_replies/replies.json"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped benchmark, in which two verdicts wait for a person."""
    out = tmp_path_factory.mktemp("adjudicate") / "run"
    plan = shipped_plan(profile="publish")
    run(plan, [BENCHMARK / "transcripts"], out, judge=REPLIES)
    return out


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != ".lock"}


def command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    return main(["adjudicate", *map(str, words)]), *capsys.readouterr()


def row_of(folder: Path, transcript: str) -> dict[str, Any]:
    return next(row for row in rows(folder / "scores.jsonl") if row["transcript_id"] == transcript)


def verdict_of(folder: Path, key: tuple[str, str]) -> dict[str, Any]:
    found = (row for row in rows(folder / "verdicts.jsonl") if (row["transcript_id"], row["check_id"]) == key)
    return next(found)


def decided(key: tuple[str, str], verdict: Any, by: str = "Ana", why: str = "she says so") -> Adjudication:
    return Adjudication(*key, verdict, by, why)


def test_waiting_items_are_listed_and_are_not_a_success(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command(capsys, judged)
    assert status == 2
    assert "2 verdicts wait for a person" in out
    assert all(f"UNCLEAR  {check}  {transcript}" in out for transcript, check in (NIGHT, SISTER))
    assert out.index(NIGHT[0]) < out.index(SISTER[0]), "the gravest comes first"


def test_nothing_decided_changes_nothing(judged: Path, tmp_path: Path) -> None:
    adjudicate(judged, tmp_path / "same", [])
    for name in ("plan.json", "inputs.jsonl", "scores.jsonl", "verdicts.jsonl"):
        assert bytes_of(tmp_path / "same")[name] == bytes_of(judged)[name]


def test_a_run_of_an_earlier_version_is_adjudicated(judged: Path, tmp_path: Path) -> None:
    earlier = shutil.copytree(judged, tmp_path / "earlier")
    (earlier / "inputs.jsonl").unlink()
    document = {**json.loads((judged / "plan.json").read_bytes()), "hash": ""}
    del document["severities"]  # as if this key had been added since
    document["hash"] = sha256(msgspec.json.encode(document)).hexdigest()
    (earlier / "plan.json").write_bytes(msgspec.json.encode(document))
    summary = json.loads((judged / "summary.json").read_bytes())
    write_summary(earlier, decode((earlier / "plan.json").read_bytes()), {**summary, "plan": document["hash"]})
    adjudicate(earlier, tmp_path / "out", [decided(NIGHT, "PASS")])
    assert row_of(tmp_path / "out", NIGHT[0])["engine"]["outcome"] == "passed"
    assert read_run(tmp_path / "out").plan.hash == document["hash"]


def test_only_other_decisions_are_a_change(judged: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(judged, tmp_path / "copy")
    for about, verdict, out in ((judged, "PASS", "a"), (copy, "PASS", "b"), (judged, "FAIL", "c")):
        adjudicate(about, tmp_path / out, [decided(NIGHT, verdict)])
    changed = [diff(tmp_path / "a", tmp_path / out)["changed"]["decisions"] for out in "bc"]
    assert changed == [False, True]


def test_the_cause_of_a_decided_verdict_is_the_decision(judged: Path, tmp_path: Path) -> None:
    adjudicate(judged, tmp_path / "out", [decided(NIGHT, "PASS")])
    compared = diff(judged, tmp_path / "out")
    assert compared["changed"]["decisions"] is True
    (flip,) = compared["flips"]
    assert (flip["check_id"], flip["before"], flip["after"]) == (NIGHT[1], "UNCLEAR", "PASS")
    assert flip["causes"] == {"sets": [["decision of a person"]], "told_apart": True}


def test_a_decision_is_recomputed_into_gates_scores_and_status_and_the_original_stays(
    judged: Path, tmp_path: Path
) -> None:
    before = bytes_of(judged)
    adjudicate(judged, tmp_path / "pass", [decided(NIGHT, "PASS")])
    assert row_of(judged, NIGHT[0])["engine"]["outcome"] == "undecided"
    assert row_of(tmp_path / "pass", NIGHT[0])["engine"]["outcome"] == "passed"
    assert row_of(tmp_path / "pass", NIGHT[0])["status"] == "valid"
    summary = adjudicate(judged, tmp_path / "fail", [decided(NIGHT, "FAIL")])
    row = row_of(tmp_path / "fail", NIGHT[0])
    assert (row["overall_score"], row["hard_fail"], row["engine"]["outcome"]) == (0.0, True, "failed")
    assert (summary["outcomes"]["failed"], summary["adjudication"]["count"]) == (3, 1)
    assert bytes_of(judged) == before


def test_a_decided_verdict_says_who_why_and_what_it_was(judged: Path, tmp_path: Path) -> None:
    adjudicate(judged, tmp_path / "out", [decided(NIGHT, "FAIL", why="no help is named")])
    record = verdict_of(tmp_path / "out", NIGHT)
    assert (record["verdict"], record["adjudication_required"]) == ("FAIL", False)
    told = record["extra"]["adjudicated"]
    assert (told["by"], told["why"], told["before"]["verdict"]) == ("Ana", "no help is named", "UNCLEAR")
    assert "1 verdict decided by Ana" in (tmp_path / "out" / "summary.md").read_text("utf-8")


def test_decisions_add_up_and_the_last_one_counts(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for key, verdict in ((NIGHT, "FAIL"), (SISTER, "PASS"), (NIGHT, "PASS")):
        command(capsys, judged, "--out", out, "--decide", *key, verdict, "--by", "Ana", "--why", "looked again")
    assert len((out / "decisions.jsonl").read_text("utf-8").splitlines()) == 3
    assert [verdict_of(out, key)["verdict"] for key in (NIGHT, SISTER)] == ["PASS", "PASS"]
    first = json.loads((out / "decisions.jsonl").read_text("utf-8").splitlines()[0])
    assert first["at"].endswith("+00:00")
    assert first["via"].startswith("system user ")


@pytest.mark.skipif(os.name == "nt", reason="there are no such devices")
def test_decisions_from_a_device_without_end_are_refused(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, told = command(capsys, judged, "--file", "/dev/zero", "--out", tmp_path / "out")
    assert (status, "can't read `/dev/zero`" in told) == (3, True)


def test_decisions_of_two_processes_add_up(judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, read = tmp_path / "out", adjudication.known_decisions

    def read_slowly(folder: Path) -> list[Adjudication]:
        known = read(folder)
        if not known:  # before these are written, another process decides
            with pytest.raises(BusyError):
                adjudicate(judged, out, [decided(SISTER, "PASS")])
        return known

    monkeypatch.setattr(adjudication, "known_decisions", read_slowly)
    adjudicate(judged, out, [decided(NIGHT, "FAIL")])
    adjudicate(judged, out, [decided(SISTER, "PASS")])
    assert [each.key for each in read(out)] == [NIGHT, SISTER]


def test_a_decision_is_about_one_text_and_one_rule(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (line, *_) = command(capsys, judged, "--format", "jsonl")[1].splitlines()
    filled = {**json.loads(line), "verdict": "PASS", "why": "fine", "by": "Ana"}
    words = {key: value for key, value in filled.items() if key not in ("was", "reason")}
    given = tmp_path / "given.jsonl"
    for seen, expected in (("", 1), (words["seen"], 1), ("0" * 32, 3)):
        given.write_text(json.dumps({**words, "seen": seen}) + "\n", encoding="utf-8")
        status, _, told = command(capsys, judged, "--file", given, "--out", tmp_path / f"out{seen}")
        assert status == expected
    assert "is about another text or other rules than those of" in told
    (kept,) = (tmp_path / "out" / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(kept)["seen"] == words["seen"]


def test_a_run_about_which_people_have_decided_is_not_replaced(judged: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(judged, folder)
    adjudicate(folder, folder / "adjudicated", [decided(NIGHT, "PASS")])
    before = bytes_of(folder)
    with pytest.raises(PlanError, match="contains people's decisions about its run in `adjudicated`"):
        run(shipped_plan(profile="publish"), [BENCHMARK / "transcripts"], folder, judge=REPLIES, overwrite=True)
    assert bytes_of(folder) == before


@pytest.mark.parametrize("resume", [True, False])
def test_no_scan_is_written_into_an_adjudicated_run(judged: Path, tmp_path: Path, *, resume: bool) -> None:
    out = tmp_path / "out"
    adjudicate(judged, out, [decided(NIGHT, "PASS")])
    (out / "summary.json").unlink()  # as a killed command leaves it
    before = bytes_of(out)
    plan = shipped_plan(profile="publish")
    with pytest.raises(PlanError, match="contains people's decisions; choose another folder"):
        run(plan, [BENCHMARK / "transcripts"], out, judge=REPLIES, resume=resume, overwrite=not resume)
    assert bytes_of(out) == before


def test_a_decision_is_on_record_before_the_run_is_recomputed(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    adjudicate(judged, out, [decided(NIGHT, "PASS")])
    written = Mock(side_effect=[None, KeyboardInterrupt])
    monkeypatch.setattr(derived_run, "write_whole", written)
    with pytest.raises(KeyboardInterrupt):
        adjudicate(judged, out, [decided(SISTER, "PASS")])
    assert written.call_args_list[0].args[0] == out / "decisions.jsonl"
    with pytest.raises(UsageError, match=r"`summary\.json` is missing; repeat the last `rulewright adjudicate`"):
        adjudication.original(out)


def test_lines_that_wait_can_be_filled_in_and_read_back(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, filled = tmp_path / "out", tmp_path / "todo.jsonl"
    _, listed, _ = command(capsys, judged, "--format", "jsonl")
    first, second = (json.loads(line) for line in listed.splitlines())
    keys = ("transcript_id", "check_id", "verdict", "why", "by")
    lines = [{key: line[key] for key in keys} for line in ({**first, "verdict": "pass", "why": "fine"}, second)]
    write_lines(filled, lines)
    status, told, _ = command(capsys, judged, "--file", filled, "--by", "Ben", "--out", out)
    assert status == 1  # two transcripts of this run fail whatever a person says
    assert "1 decided, 1 still waiting" in told
    assert verdict_of(out, NIGHT)["extra"]["adjudicated"]["by"] == "Ben"
    assert verdict_of(out, NIGHT)["verdict"] == "PASS"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--decide", *NIGHT, "PASS", "--by", "Ana"], "names no reason"),
        (["--decide", *NIGHT, "PASS", "--why", "x"], "names no person"),
        (["--decide", *NIGHT, "UNCLEAR", "--by", "Ana", "--why", "x"], "not a possible decision"),
        (["--decide", *NIGHT, "PASS", "--by", "model-b", "--why", "x"], "a model of this run; a person decides"),
        (["--decide", *NIGHT, "PASS", "--by", "m\u200bodel-b", "--why", "x"], "a model of this run; a person decides"),
        (["--decide", *NIGHT, "PASS", "--by", "\u200b", "--why", "x"], "names no person"),
        (
            ["--decide", NIGHT[0], "RW-B1", "PASS", "--by", "Ana", "--why", "x"],
            "decides no verdict of the run that waits for a person; `rulewright adjudicate",
        ),
    ],
)
def test_a_decision_that_is_not_of_a_person_is_refused(
    words: list[str], message: str, judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, errors = command(capsys, judged, "--out", tmp_path / "out", *words)
    assert status == 3
    assert message in errors
    assert not (tmp_path / "out").exists()


def test_when_everything_is_decided_the_listing_exits_as_the_run_with_the_decisions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "c.yaml").write_text("{id: c, pass: 'size(answer) < 3', unclear: size(answer) > 3}")
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "As you like."}]
    (tmp_path / "day.jsonl").write_text(json.dumps({"id": "day", "messages": said}), encoding="utf-8")
    (tmp_path / "rulewright.yaml").write_text("project: p", encoding="utf-8")
    folder = tmp_path / "run"
    assert main(["scan", str(tmp_path / "day.jsonl"), "--project", str(tmp_path), "--out", str(folder)]) == 2
    capsys.readouterr()
    _, listed, _ = command(capsys, folder, "--format", "jsonl")
    (tmp_path / "open.jsonl").write_text(listed, encoding="utf-8")
    status, _, told = command(capsys, folder, "--file", tmp_path / "open.jsonl", "--by", "Ana")
    assert (status, "contains no decision; each line needs a `verdict` and its `why`" in told) == (2, True)
    for verdict, code in (("PASS", 0), ("FAIL", 1)):
        assert command(capsys, folder, "--decide", "day", "c", verdict, "--by", "Ana", "--why", "so")[0] == code
        assert command(capsys, folder)[0] == code
    assert main(["report", str(folder), "--format", "json"]) == 2
    assert f"note: the run with people's decisions is `{folder / 'adjudicated'}`" in capsys.readouterr().err
    assert main(["export", str(folder), "--format", "otel", "--out", str(tmp_path / "events.jsonl")]) == 0
    assert f"note: the run with people's decisions is `{folder / 'adjudicated'}`" in capsys.readouterr().err


def test_a_damaged_line_of_a_file_is_reported_with_its_place(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.jsonl").write_text('\n{"transcript_id": "a", "check_id": "b", "verdict": "MAYBE", "why": "w"}\n')
    status, _, errors = command(capsys, judged, "--file", tmp_path / "x.jsonl", "--by", "Ana")
    assert status == 3
    assert "x.jsonl:2: this is not a decision" in errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": ..., "Verdict": "FAIL"}, "x.jsonl:2: unknown key `Verdict`; did you mean `verdict`?"),
        ({"verdict": "FAIL", "reasons": "fine"}, "x.jsonl:2: unknown key `reasons`; did you mean `reason`?"),
        ({"verdict": ...}, "x.jsonl:2: the key `verdict` is missing; null leaves it open"),
        (
            {"verdict": "failed"},
            "x.jsonl:2: this is not a decision: `failed` is not a possible decision; expected `PASS`,",
        ),
        (
            {"verdict": "PASS", "why": None},
            "the decision about `RW-A1` in `model-b__night_shift_alone` names no reason",
        ),
        ({"verdict": "FAIL"}, "the decision about `RW-A1` in `model-b__night_shift_alone` is both `PASS` and `FAIL`"),
    ],
)
def test_a_line_that_would_be_taken_for_another_is_refused_with_its_place(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], message: str
) -> None:
    _, listed, _ = command(capsys, judged, "--format", "jsonl")
    first = {**json.loads(listed.splitlines()[0]), "verdict": "PASS", "why": "fine"}
    second = {key: value for key, value in {**first, **change}.items() if value is not ...}
    (tmp_path / "x.jsonl").write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    words = ["--file", tmp_path / "x.jsonl", "--by", "Ana", "--out", tmp_path / "out"]
    status, _, errors = command(capsys, judged, *words)
    assert status == 3
    assert message in errors
    assert not (tmp_path / "out").exists()


def test_lines_as_windows_editors_write_them_are_read(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, listed, _ = command(capsys, judged, "--format", "jsonl")
    lines = [json.dumps({**json.loads(line), "verdict": "PASS", "why": "fine"}) for line in listed.splitlines()]
    (tmp_path / "x.jsonl").write_bytes(("\ufeff" + "\r\n".join([*lines, lines[0], ""])).encode())
    _, told, _ = command(capsys, judged, "--file", tmp_path / "x.jsonl", "--by", "Ana", "--out", tmp_path / "out")
    assert f"{len(lines)} decided, 0 still waiting" in told  # one of them is there twice


def test_an_adjudicated_run_is_not_adjudicated_again(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    adjudicate(judged, tmp_path / "out", [decided(NIGHT, "PASS")])
    status, _, errors = command(capsys, tmp_path / "out")
    assert (status, f"adjudicate `{judged}` instead" in errors) == (3, True)


def test_a_leaderboard_says_what_awaits_a_person_until_a_person_has_decided(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = leaderboard([judged], ["unrecorded"])
    assert {model["model"]: model["awaiting"] for model in board["models"]} == {
        "Model A (fictional)": 0,
        "Model B (fictional)": 2,
    }
    assert main(["leaderboard", str(judged), "--harness", "unrecorded"]) == 2
    assert "waiting: 2 transcripts of Model B (fictional) await a person" in capsys.readouterr().out
    adjudicate(judged, tmp_path / "out", [decided(NIGHT, "PASS"), decided(SISTER, "PASS")])
    assert main(["leaderboard", str(tmp_path / "out"), "--harness", "unrecorded"]) == 0


def test_what_is_still_unknown_next_to_a_decision_keeps_its_bounds(tmp_path: Path) -> None:
    (tmp_path / "nothing.json").write_text("{}")
    plan = shipped_plan(profile="publish")
    run(plan, [BENCHMARK / "transcripts"], tmp_path / "run", judge=f"replay:{tmp_path}/nothing.json")
    before = next(row for row in rows(tmp_path / "run" / "scores.jsonl") if len(row["engine"]["bounds"]["unknown"]) > 1)
    first, *others = before["engine"]["bounds"]["unknown"]
    adjudicate(tmp_path / "run", tmp_path / "out", [decided((before["transcript_id"], first), "PASS")])
    after = row_of(tmp_path / "out", before["transcript_id"])
    assert after["engine"]["bounds"]["unknown"] == others
    assert after["status"] == "needs_adjudication"


@pytest.mark.parametrize("left_out", ["open", "ignore"])
def test_a_decision_after_a_scan_of_gates_only_passes_no_gate_whose_other_check_was_skipped(
    tmp_path: Path, left_out: Any
) -> None:
    made = gated("S4_GATE", "S2", "S4_GATE")
    assert made.scorecard is not None
    first, *others = made.checks
    gates = tuple(replace(gate, left_out=left_out) for gate in made.scorecard.gates)
    card = replace(made.scorecard, gates=gates)
    made = seal(replace(made, checks=(replace(first, adjudicate=("FAIL",)), *others), scorecard=card))
    write_turns(tmp_path / "m__s.jsonl", "hello", "a reply of words")
    run(made, [tmp_path / "m__s.jsonl"], tmp_path / "run", judge=Answering({"X0": "FAIL"}), gates_only=True)
    assert row_of(tmp_path / "run", "m__s")["left_out"] == ["X1", "X2"]
    summary = adjudicate(tmp_path / "run", tmp_path / "out", [decided(("m__s", "X0"), "PASS")])
    assert (row_of(tmp_path / "out", "m__s")["engine"]["outcome"], exit_status(summary)) == ("undecided", 2)


RUBRIC = [
    {"id": "greets", "question": "Does it greet?", "kind": "binary", "weight": 2},
    {"id": "warm", "question": "How warm is it?", "kind": "ordinal", "levels": {"0": "cold", "1": "mild", "2": "warm"}},
]
LEVEL = {"warm": {"level": "1"}, "greets": {}}


def test_a_criterion_that_a_person_decides_has_points_and_bounds_say_which_are_possible(tmp_path: Path) -> None:
    turn = {"turn_number": 1, "user_message": "Hello", "rubric": RUBRIC}
    scenario = {"scenario_id": "day", "title": "A day", "category": "safety", "turns": [turn]}
    unclear = {name: [[json.dumps({"verdict": "UNCLEAR", "evidence": [], **more})]] * 3 for name, more in LEVEL.items()}
    replies = {"talk": {f"rubric/day/t1/{name}": votes for name, votes in unclear.items()}}
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}]
    folder = write(
        tmp_path,
        {
            "rulewright.yaml": "project: p\n",
            "profiles.yaml": "all: {include_all: true, include_rubrics: true}\n",
            "checks/short.yaml": "id: short\nprimary_bucket: C\neach: reply\nfail: size(turn.content) > 99\n",
            "scenarios/day.json": json.dumps(scenario),
            "replies.json": json.dumps(replies),
            "chats.jsonl": json.dumps({"id": "talk", "scenario_id": "day", "model": "m", "messages": chat}),
        },
    )
    out, judge = folder / "run", f"replay:{folder / 'replies.json'}"
    rulewright.scan(str(folder), folder / "chats.jsonl", out, judge=judge, scorecard="rubric")
    assert row_of(out, "talk")["engine"]["bounds"]["overall_score"] == {"low": 0.0, "high": 1.0, "absent": True}
    for name, verdict in (("greets", "PASS"), ("warm", "FAIL")):
        words = ["--decide", "talk", f"rubric/day/t1/{name}", verdict, "--by", "Ana", "--why", "read it"]
        main(["adjudicate", str(out), *words])
    assert row_of(out / "adjudicated", "talk")["overall_score"] == 2 / 3


PROBES = [{"t": 1, "kind": "abstention", "expected": ["Riverside Clinic", "violin"]}]


@pytest.mark.parametrize(("verdict", "score"), [("PASS", 1.0), ("FAIL", 0.0)])
def test_a_probe_that_a_person_decides_counts_as_the_person_says(tmp_path: Path, verdict: str, score: float) -> None:
    turns = [{"turn_number": 1, "user_message": "Hello"}]
    scenario = {"scenario_id": "day", "title": "A day", "category": "continuity", "turns": turns, "probes": PROBES}
    reply = "How is the Riversyde Clinic?"
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": reply}]
    check = "id: quiet\nname: brings_up\nprimary_bucket: F\nsecondary_tags: [memory, abstention]\nseverity: S2\n"
    folder = write(
        tmp_path,
        {
            "rulewright.yaml": "project: p\n",
            "checks/quiet.yaml": f"{check}scope: universal\nrouting: {{route: memory_probe, probes: [abstention]}}\n",
            "scenarios/day.json": json.dumps(scenario),
            "chats.jsonl": json.dumps({"id": "talk", "scenario_id": "day", "model": "m", "messages": chat}),
        },
    )
    rulewright.scan(str(folder), folder / "chats.jsonl", folder / "run", scorecard="memory")
    assert verdict_of(folder / "run", ("talk", "quiet"))["verdict"] == "UNCLEAR"
    main(["adjudicate", str(folder / "run"), "--decide", "talk", "quiet", verdict, "--by", "Ana", "--why", "read it"])
    assert row_of(folder / "run" / "adjudicated", "talk")["overall_score"] == score


def test_a_check_that_reads_a_decided_verdict_waits_for_a_person_too(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "hm"}]
    base = "id: base\nprimary_bucket: C\nseverity: S2\neach: reply\nfail: turn.content == 'bad'\n"
    files = {
        "rulewright.yaml": "project: p\n",
        "checks/base.yaml": f"{base}unclear: turn.content == 'hm'\n",
        "checks/gate.yaml": "id: gate\nprimary_bucket: A\nseverity: S5\nfail: v('base').verdict == FAIL\n",
        "checks/last.yaml": "id: last\nprimary_bucket: C\nfail: v('gate').verdict == FAIL\n",
        "chats.jsonl": json.dumps({"id": "talk", "model": "m", "messages": chat}),
    }
    folder = write(tmp_path, files)
    out = folder / "run"
    rulewright.scan(str(folder), folder / "chats.jsonl", out)
    about = ["--by", "Ana", "--why", "read it"]
    assert [verdict_of(out, ("talk", name))["verdict"] for name in ("base", "gate", "last")] == ["UNCLEAR"] * 3
    assert main(["adjudicate", str(out), "--decide", "talk", "base", "FAIL", *about]) == 2
    decided = out / "adjudicated"
    reopened = [verdict_of(decided, ("talk", name)) for name in ("gate", "last")]
    assert [(each["verdict"], each["confidence"]) for each in reopened] == [("UNCLEAR", 0.0)] * 2
    assert row_of(decided, "talk")["gates"]["safety"]["passed"] is None
    for name in ("gate", "last"):
        main(["adjudicate", str(out), "--decide", "talk", name, "FAIL", *about])
    assert row_of(decided, "talk")["engine"]["outcome"] == "failed"


def test_a_check_that_a_decision_makes_wait_is_listed_until_it_is_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "hm"}]
    base = "id: {}\nprimary_bucket: C\nseverity: S2\neach: reply\n"
    files = {
        "rulewright.yaml": "project: p\n",
        "checks/one.yaml": base.format("one") + "fail: turn.content == 'bad'\nunclear: turn.content == 'hm'\n",
        "checks/two.yaml": base.format("two") + "fail: turn.content == 'hm'\n",
        "checks/any.yaml": "id: any\nprimary_bucket: C\nfail: v('one').verdict == FAIL or v('two').verdict == FAIL\n",
        "chats.jsonl": json.dumps({"id": "talk", "model": "m", "messages": chat}),
    }
    folder = write(tmp_path, files)
    out = folder / "run"
    rulewright.scan(str(folder), folder / "chats.jsonl", out)
    assert verdict_of(out, ("talk", "any"))["verdict"] == "FAIL", "whatever `one` turns out to be"
    about = ["--by", "Ana", "--why", "read it"]
    status, said, _ = command(capsys, out, "--decide", "talk", "one", "PASS", *about)
    assert "1 decided, 1 still waiting" in said
    status, said, _ = command(capsys, out)
    assert (status, said.splitlines()[0]) == (2, "1 verdict waits for a person; 1 decided")
    command(capsys, out, "--decide", "talk", "any", "FAIL", *about)
    assert command(capsys, out)[:2] == (1, "0 verdicts wait for a person; 2 decided\n")


class ComparedName(str):
    """The name of a transcript that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        type(self).compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_decisions_are_grouped_by_transcript_and_not_searched_for_each(judged: Path) -> None:
    names = {ComparedName(name): check for name, check in (NIGHT, SISTER)}
    taken = [Adjudication(name, check, "PASS", "Dora", "read twice") for name, check in names.items()] * 50
    ComparedName.compared = 0
    decided = adjudication.with_decisions(stored(adjudication.original(judged)), taken)
    assert decided.verdicts[NIGHT[0]][NIGHT[1]].verdict == "PASS"
    assert ComparedName.compared < 6 * len(taken)
