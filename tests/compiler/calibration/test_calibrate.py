"""Labels of people: drawn by a seed, read strictly, and carried through to the gates."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests import folders
from tests.compiler.calibration.labelled_runs import (
    SCORECARD,
    Named,
    calibrated,
    item,
    labelled,
    refused,
    scanned,
    truth,
)
from tests.compiler.small_project import check, write
from tests.folders import turns_of, write_lines

from rulewright.calibration.gold import GoldLabel, read_gold, texts_of, to_csv
from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.commands.calibrate import _share_agreeing
from rulewright.errors import UsageError
from rulewright.linting.baseline import read_baseline
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.plan.file import seal
from rulewright_runtime.report.text import csv_cell, text_of_cell
from rulewright_runtime.runs.store import run

SIZE = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over 40 transcripts of which the first ten fail by the word list, and the last two say the same."""
    root = tmp_path_factory.mktemp("calibrate")
    rule = check(
        bucket="F", severity="S3", scope="universal", route="lexicon_only", routing="deterministic_precheck: words"
    )
    files = {
        "checks/W-1.yaml": rule.replace("eligibility:\n  scenario_tags_any: [crisis]\n", ""),
        "lexicons/words.yaml": "patterns:\n  - you must\n",
        "configs/scorecards/quality.yaml": SCORECARD,
        "rulewright.yaml": "project: p\nscorecard: quality\nscorecards: configs/scorecards\n",
    }
    plan = compile_project(write(root / "p", files))
    for number in range(SIZE):
        answer = "you must" if number < 10 else "as you like"
        answer = "AS  you\nlike\u200b" if number == SIZE - 1 else answer
        said = turns_of("Hello", f"{answer}, {min(number, SIZE - 2)}")
        lines = ({**turn, "harness": "llm/raw"} for turn in said)
        write_lines(root / "said" / f"m{number}__night.jsonl", lines)
    run(plan, [root / "said"], root / "run")
    return root / "run"


def test_items_are_drawn_by_a_seed_from_every_verdict_without_showing_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = []
    for seed in ("1", "1", "2"):
        assert main(["gold", str(folder), "--draw", "12", "--seed", seed, "--split", "tune", "--split", "test"]) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1] != drawn[2]
    rows = [line.split(",") for line in drawn[0].splitlines()[1:]]
    numbers = [int(row[0].partition("__")[0][1:]) for row in rows]
    assert sum(number < 10 for number in numbers) == 6
    assert {tuple(row[1:]) for row in rows} == {("", "", "tune"), ("", "", "test")}
    out = tmp_path / "gold.csv"
    assert main(["gold", str(folder), "--draw", "5", "--out", str(out)]) == 0
    assert refused("gold", str(folder), "--draw", "5", "--out", str(out))
    capsys.readouterr()
    assert main(["gold", str(folder), "--draw", "99", "--known", str(out)]) == 0
    known = {each.item for each in read_gold(out)}
    assert len(known) == 5
    assert not known & {tuple(line.split(",")[0].split("/")) for line in capsys.readouterr().out.splitlines()[1:]}


def test_items_of_a_rare_verdict_do_not_come_last(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places: list[int] = []
    for seed in range(20):
        assert main(["gold", str(folder), "--draw", "20", "--seed", str(seed)]) == 0
        drawn = [row.split(",")[0] for row in capsys.readouterr().out.splitlines()[1:]]
        places += [drawn.index(item(number)) for number in range(10)]
    assert 8.5 < sum(places) / len(places) < 10.5


def test_items_are_of_checks_that_a_judge_decides_or_a_gate_contains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders.write(
        tmp_path,
        {
            "rulewright.yaml": "{project: p, checks: checks, scorecards: cards, scorecard: quality}",
            "cards/quality.yaml": SCORECARD,
            "checks/asked.yaml": "{id: asked, primary_bucket: C, prompt: 'FAIL: it is rude. PASS: it is not.'}",
            "checks/gated.yaml": "{id: gated, primary_bucket: F, each: reply, fail: size(turn.content) > 9}",
            "checks/plain.yaml": "{id: plain, primary_bucket: C, each: reply, fail: size(turn.content) > 9}",
            "a.jsonl": '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]}\n',
            "none.json": "{}",
        },
    )
    monkeypatch.chdir(tmp_path)
    assert main(["scan", "a.jsonl", "--judge", "replay:none.json", "--out", "r"]) == 2
    capsys.readouterr()
    assert main(["gold", "r"]) == 0
    shown = capsys.readouterr()
    assert sorted(line.split(",")[0] for line in shown.out.splitlines()[1:]) == ["a:1/asked", "a:1/gated"]
    assert "a gate contains: asked, gated; `--check` names others" in shown.err
    assert main(["gold", "r", "--check", "plain"]) == 0
    shown = capsys.readouterr()
    assert (shown.out.splitlines()[1:], shown.err) == (["a:1/plain,,,report"], "")


@given(st.text(st.sampled_from("'=+-@\t\rab\u00e9"), max_size=5))
def test_no_cell_is_a_formula_and_every_text_comes_back(text: str) -> None:
    assert text_of_cell(csv_cell(text)) == text
    assert csv_cell(text)[:1] not in set("=+-@\t\r")


def test_labels_in_another_encoding_say_so(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_bytes("id,target,annotator,split\nt/c,PASS,J\u00fcrgen,tune\n".encode("latin-1"))
    with pytest.raises(UsageError, match=r"gold\.csv`: it is not UTF-8; save it as UTF-8$"):
        read_gold(tmp_path / "gold.csv")


def test_columns_may_have_blanks_after_their_commas_and_other_columns_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text('id, target, annotator, split\nt/A-1, FAIL, "Ruiz, Ana", tune\n', encoding="utf-8")
    assert read_gold(path) == [GoldLabel(("t", "A-1"), "FAIL", "Ruiz, Ana", "tune")]
    path.write_text("id,target,annotator\nt/A-1,FAIL,ana\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"g\.csv:1: expected the columns .*; found `id,target,annotator`$"):
        read_gold(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"g\.csv:1: expected the columns .*; found none$"):
        read_gold(path)


def test_the_id_of_a_transcript_is_not_a_formula_in_a_file_of_labels(tmp_path: Path) -> None:
    labels = [GoldLabel(('=HYPERLINK("http://x")', "A-1"), "FAIL", "@ana", "tune")]
    (tmp_path / "g.csv").write_text(to_csv(labels), encoding="utf-8")
    assert to_csv(labels).splitlines()[1] == '"\'=HYPERLINK(""http://x"")/A-1",FAIL,\'@ana,tune'
    assert read_gold(tmp_path / "g.csv") == labels


def test_labels_may_be_saved_by_a_spreadsheet_that_writes_semicolons(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("id;target;annotator;split\nt/A-1;FAIL;ana;tune\n", encoding="utf-8")
    assert read_gold(tmp_path / "g.csv") == [GoldLabel(("t", "A-1"), "FAIL", "ana", "tune")]


@pytest.mark.parametrize(("written", "read"), [("pass", "PASS"), ("Not_Applicable", "NOT_APPLICABLE")])
def test_labels_are_read_in_any_case(tmp_path: Path, written: str, read: str) -> None:
    (tmp_path / "g.csv").write_text(f"id,target,annotator,split\nt/A-1,{written},ana,tune\n", encoding="utf-8")
    assert [each.target for each in read_gold(tmp_path / "g.csv")] == [read]


def test_the_errors_of_a_judge_are_measured_and_propagated_to_the_gate(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = calibrated(folder, labelled(tmp_path / "g.csv", range(20)), capsys)
    (measured,) = found["checks"]
    assert code == 0
    assert measured["confusion"] == {"hits": 8, "false_alarms": 2, "misses": 0, "clear": 10}
    assert (measured["precision"]["value"], measured["judged"]["failed"]) == (0.8, 10)
    assert measured["corrected"]["method"] == "prediction-powered"
    assert measured["corrected"]["value"] == pytest.approx(0.2)
    (gate,) = found["gates"]
    true_share = sum(truth(number) == "FAIL" for number in range(SIZE)) / SIZE
    assert gate["recorded"] == 0.25
    assert gate["corrected"]["low"] <= true_share <= gate["corrected"]["high"]
    assert gate["next"].startswith("m")
    _, whole = calibrated(folder, labelled(tmp_path / "all.csv", range(SIZE)), capsys)
    assert whole["gates"][0]["corrected"] == {"value": true_share, "low": true_share, "high": true_share}
    assert whole["gates"][0]["next"] is None


@pytest.mark.parametrize(
    ("most", "code", "status"), [("0.9", 0, "met"), ("0.01", 1, "failed"), ("0.22", 2, "inconclusive")]
)
def test_a_gate_that_straddles_what_is_allowed_is_inconclusive(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], most: str, code: int, status: str
) -> None:
    path = labelled(tmp_path / "g.csv", range(20))
    got, found = calibrated(folder, path, capsys, "--require", f"held={most}")
    assert (got, found["gates"][0]["status"]) == (code, status)


def test_inputs_that_a_scan_refused_may_all_fail_a_gate(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.jsonl").write_text('{"messages": 5}\n' * 60, encoding="utf-8")
    plan = compile_project(folder.parent / "p")
    run(plan, [folder.parent / "said", tmp_path / "broken.jsonl"], tmp_path / "run")
    path = labelled(tmp_path / "g.csv", range(SIZE))
    code, found = calibrated(tmp_path / "run", path, capsys, "--require", "held=0.5")
    (gate,) = found["gates"]
    assert (code, gate["status"], gate["refused"]) == (2, "inconclusive", 60)
    assert gate["corrected"] == {"value": 0.69, "low": 0.09, "high": 0.69}
    main(["calibrate", str(tmp_path / "run"), "--gold", str(path)])
    assert (
        "gate held: 10 of 40 transcripts that it judged (25%) recorded as failed, and 60 inputs refused\n"
        in capsys.readouterr().out
    )


def test_several_people_decide_by_majority_and_models_are_never_people(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [f"{item(0)},PASS,bob,report", *(f"{item(at)},{truth(at)},bob,report" for at in range(1, 12))]
    more += [f"{item(at)},PASS,model:small,report" for at in range(SIZE)]
    _, found = calibrated(folder, labelled(tmp_path / "g.csv", range(20), *more), capsys)
    labels = found["labels"]
    assert (labels["annotators"], labels["items"], labels["tied"]) == (["ann", "bob"], 19, [item(0)])
    assert (labels["models"], labels["of_models"]) == (["model:small"], SIZE)
    assert 0 < labels["alpha"] < 1
    only = tmp_path / "only.csv"
    only.write_text(f"id,target,annotator,split\n{item(0)},FAIL,model:small,report\n", encoding="utf-8")
    code, found = calibrated(folder, only, capsys)
    assert (code, found["checks"], found["labels"]["items"]) == (2, [], 0)
    assert main(["calibrate", str(folder), "--gold", str(only)]) == 2
    said = capsys.readouterr()
    assert "not by people: 1 label of model:small; not counted" in said.out
    assert said.err.startswith(f"help: in `{only}`, write PASS, FAIL or NOT_APPLICABLE under `target`")
    rows = [f"{item(0)},FAIL,ann,report", f"{item(0)},PASS,bob,report"]
    only.write_text("\n".join(["id,target,annotator,split", *rows]), encoding="utf-8")
    assert main(["calibrate", str(folder), "--gold", str(only)]) == 2
    said = capsys.readouterr()
    assert f"no majority: 1 item ({item(0)})" in said.out
    assert said.err == "help: labels by more people decide items without a majority\n"


def test_a_threshold_is_never_reported_where_it_was_chosen(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{item(number)},{truth(number)},ann,tune" for number in range(1, SIZE - 1, 2)]
    path = labelled(tmp_path / "g.csv", range(0, SIZE, 2), *rows)
    for wrong in (["--choose-on", "tune"], ["--choose-on", "tune", "--split", "tune"]):
        assert refused("calibrate", str(folder), "--gold", str(path), *wrong)
        assert "can't be reported on it" in capsys.readouterr().err
    assert refused(
        "calibrate", str(folder), "--gold", str(path), "--choose-on", "tune", "--split", "report", "--require", "held=1"
    )
    assert "a chosen threshold has no effect on gates" in capsys.readouterr().err
    code, found = calibrated(folder, path, capsys, "--choose-on", "tune", "--split", "report")
    assert (code, found["thresholds"]["chosen_on"], found["labels"]["items"]) == (0, "tune", 20)


def test_no_conversation_is_in_two_splits_under_two_ids(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twins = item(SIZE - 2), item(SIZE - 1)
    path = labelled(tmp_path / "g.csv", range(20), f"{twins[0]},PASS,ann,report", f"{twins[1]},PASS,ann,tune")
    assert calibrated(folder, path, capsys)[0] == 0
    assert refused("calibrate", str(folder), "--gold", str(path), "--choose-on", "tune", "--split", "report")
    told = f"`{twins[0]}` in `report` and `{twins[1]}` in `tune` say the same"
    assert told in capsys.readouterr().err
    known = tmp_path / "known.csv"
    known.write_text(f"id,target,annotator,split\n{twins[0]},PASS,ann,other\n", encoding="utf-8")
    for seed in map(str, range(8)):
        words = ["gold", str(folder), "--draw", "40", "--seed", seed, "--split", "tune", "--split", "report"]
        for more in ([], ["--known", str(known)]):
            main([*words, *more])
            rows = dict(line.split(",,,") for line in capsys.readouterr().out.splitlines()[1:])
            assert rows[twins[1]] == rows.get(twins[0], "other")


def test_conversations_that_are_redacted_to_the_same_are_one(tmp_path: Path) -> None:
    settings = "project: p\nredact: [{pattern: '[a-z]+@x[.]de', replacement: '[mail]'}]\n"
    folders.write(tmp_path, {"rulewright.yaml": settings, "checks/brief.yaml": "id: brief\nfail: size(answer) > 9\n"})
    said = [
        [{"role": "user", "content": f"I am {name}@x.de"}, {"role": "assistant", "content": "Hi."}] for name in "ab"
    ]
    chats = write_lines(tmp_path / "chats.jsonl", [{"messages": each} for each in said])
    assert main(["scan", str(chats), "--project", str(tmp_path), "--out", str(tmp_path / "run")]) == 0
    assert len({*texts_of(read_run(tmp_path / "run")).values()}) == 1


def test_labels_of_one_class_say_so_and_labels_of_another_run_correct_rates(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = labelled(tmp_path / "g.csv", range(3, 10))
    _, found = calibrated(folder, path, capsys)
    assert (found["checks"][0]["kappa"], found["checks"][0]["kappa_why"]) == (None, "the labels are of one class")
    path = labelled(tmp_path / "h.csv", range(SIZE))
    _, found = calibrated(folder, path, capsys, "--measured-on", str(folder))
    assert found["checks"][0]["corrected"]["method"] == "rogan-gladen"


@pytest.mark.parametrize("only", [range(10), range(10, SIZE)])
def test_where_one_of_the_verdicts_has_no_label_recall_and_specificity_are_not_known(
    only: range, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = calibrated(folder, labelled(tmp_path / "g.csv", only), capsys)
    (about,) = found["checks"]
    for name in ("recall", "specificity", "balanced_accuracy"):
        assert about[name] == {"value": None, "low": None, "high": None}
    assert (about["kappa"], about["kappa_why"]) == (None, "the labelled verdicts are of one class")
    _, found = calibrated(folder, labelled(tmp_path / "h.csv", only), capsys, "--measured-on", str(folder))
    assert found["checks"][0]["corrected"]["value"] is None


def test_verdicts_without_labels_leave_a_gate_undecided(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = labelled(tmp_path / "g.csv", range(10))  # every FAIL, and no PASS
    code, found = calibrated(folder, path, capsys, "--require", "held=0.9")
    (gate,) = found["gates"]
    assert (code, gate["status"], gate["unmeasured"]) == (2, "inconclusive", ["W-1"])
    assert gate["corrected"] == {"value": 0.2, "low": 0.2, "high": 0.95}
    assert int(gate["next"].partition("__")[0][1:]) >= 10
    assert main(["calibrate", str(folder), "--gold", str(path)]) == 0
    assert "without labels, so the interval covers every answer: W-1" in capsys.readouterr().out


def test_items_that_nobody_has_labelled_are_counted(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.csv"
    rows = [f"{item(at)},{truth(at) if at % 2 else ''},ana,report" for at in range(20)]
    path.write_text("\n".join(["id,target,annotator,split", *rows]) + "\n", encoding="utf-8")
    _, found = calibrated(folder, path, capsys)
    assert (found["labels"]["items"], found["labels"]["unlabelled"]) == (10, 10)
    assert main(["calibrate", str(folder), "--gold", str(path)]) == 0
    assert (
        "without a label: 10 items; the figures are valid only if these were left out at random"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("name", ["Model:x", "MODEL:x", "model :x", "\u200bmodel:x", "model\uff1ax"])
def test_a_model_is_not_a_person_in_any_spelling(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / "g.csv"
    rows = [f"{item(at)},{truth(at)},{name},report" for at in range(20)]
    path.write_text("\n".join(["id,target,annotator,split", *rows]) + "\n", encoding="utf-8")
    code, found = calibrated(folder, path, capsys)
    assert (code, found["checks"], found["labels"]["of_models"]) == (2, [], 20)


@pytest.mark.parametrize("name", ["m7", "M7 ", "m\u200b7", "m\u31647", "vendor/M7", "vendor: m-7", "m7:latest"])
def test_a_model_of_the_run_labels_nothing_under_a_persons_name(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = labelled(tmp_path / "g.csv", range(20), f"{item(30)},PASS,{name},report")
    assert refused("calibrate", str(folder), "--gold", str(path))
    assert "a model of this run; a person decides" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--split", "report"], ["--choose-on", "tune", "--split", "report"]])
@pytest.mark.parametrize(
    "row", ["nowhere/W-1,FAIL,ann,tune", "nowhere/W-1,FAIL,model:x,report", "m0__night/w-1,PASS,bob,report"]
)
def test_every_label_is_of_an_item_of_the_run(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str, more: list[str]
) -> None:
    path = labelled(tmp_path / "g.csv", range(20), f"{item(30)},PASS,ann,tune", row)
    assert refused("calibrate", str(folder), "--gold", str(path), *more)
    assert "has no verdict" in capsys.readouterr().err


def test_an_impossible_threshold_is_reported(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--choose-on", "tune", "--split", "report"]
    path = labelled(tmp_path / "g.csv", range(20), *(f"{item(at)},{truth(at)},model:x,tune" for at in range(20, 30)))
    assert refused("calibrate", str(folder), "--gold", str(path), *words)
    assert "no label by a person is in the split `tune`" in capsys.readouterr().err
    path = labelled(tmp_path / "h.csv", range(20), f"{item(30)},PASS,ann,tune")
    code, found = calibrated(folder, path, capsys, *words)
    assert (code, found["thresholds"]) == (2, {"chosen_on": "tune", "of": {}, "none_for": ["W-1"]})


def test_an_item_that_the_check_is_not_about_is_none_that_fails(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{item(at)},{'FAIL' if at < 5 else 'NOT_APPLICABLE'},ann,report" for at in range(SIZE)]
    path = tmp_path / "g.csv"
    path.write_text("\n".join(["id,target,annotator,split", *rows]) + "\n", encoding="utf-8")
    _, found = calibrated(folder, path, capsys)
    (measured,), (gate,) = found["checks"], found["gates"]
    assert measured["confusion"] == {"hits": 5, "false_alarms": 5, "misses": 0, "clear": 30}
    assert measured["corrected"]["value"] == gate["corrected"]["value"] == 5 / SIZE


def test_an_outage_is_not_an_answer_and_its_labels_are_counted_separately(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Silent(Named):
        def ask(self, request: Any) -> str:
            return super().ask(request) if int(request.transcript_id[1:].partition("__")[0]) > 9 else ""

    here = scanned(tmp_path / "here", "you", 10, Silent("same"))
    path = tmp_path / "g.csv"
    rows = [f"{item(at)},{'FAIL' if at < 4 else 'PASS'},ann,report" for at in range(20)]
    path.write_text("\n".join(["id,target,annotator,split", *rows]) + "\n", encoding="utf-8")
    _, found = calibrated(here, path, capsys)
    (measured,) = found["checks"]
    assert measured["judged"] == {"failed": 0, "of": 10, "unclear": 10}
    assert (measured["labelled"], measured["not_comparable"], measured["not_comparable_failures"]) == (10, 10, 4)
    main(["calibrate", str(here), "--gold", str(path)])
    told = "W-1: 10 labels compared; 10 labels of verdicts other than PASS and FAIL (4 labelled FAIL)"
    assert told in capsys.readouterr().out


def test_no_label_is_compared_with_what_a_person_has_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Silent(Named):
        def ask(self, request: Any) -> str:
            return ""

    here = scanned(tmp_path / "here", "you", 10, Silent("same"))
    path = labelled(tmp_path / "g.csv", range(1))
    decision = [*item(0).split("/"), truth(0), "--by", "Ana", "--why", "read it"]
    main(["adjudicate", str(here), "--decide", *decision])
    decided = str(here / "adjudicated")
    gold = ["--gold", str(path)]
    for words in (
        ["calibrate", decided, *gold],
        ["calibrate", str(here), "--measured-on", decided, *gold],
        ["gold", decided],
    ):
        capsys.readouterr()
        assert refused(*words)
        assert (
            f"`{decided}` contains people's decisions, which are not verdicts of its checks" in capsys.readouterr().err
        )


def test_labels_of_which_none_can_be_compared_show_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Silent(Named):
        def ask(self, request: Any) -> str:
            return ""

    path = labelled(tmp_path / "g.csv", range(4))
    code, found = calibrated(scanned(tmp_path / "here", "you", 10, Silent("same")), path, capsys)
    assert (code, [check["labelled"] for check in found["checks"]]) == (2, [0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--require", "held=half"], "`--require held=half`: expected GATE=SHARE with a share from 0 to 1"),
        (["--require", "held=nan"], "`--require held=nan`: expected GATE=SHARE"),
        (["--require", "help=0.1"], "no gate `help` has a verdict in the run; expected `held`"),
        (["--require", "held=0.1", "--require", "held=0.9"], "names a gate twice"),
        (["--split", "reports"], "no label is in the split `reports`, only in `report`"),
    ],
)
def test_a_limit_that_no_gate_can_be_held_to_and_a_split_without_labels_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    path = labelled(tmp_path / "g.csv", range(SIZE))
    assert refused("calibrate", str(folder), "--gold", str(path), *words)
    assert said in capsys.readouterr().err


def test_a_run_without_a_scorecard_answers_no_limit_and_its_checks_are_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = {f"checks/{name}.yaml": f"{{id: {name}, primary_bucket: F, fail: size(answer) > 9}}" for name in "ab"}
    said = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]}\n'
    gold = "id,target,annotator,split\na:1/b,PASS,ann,report\na:1/a,PASS,ann,report\n"
    files = {"rulewright.yaml": "{project: p, checks: checks}", "a.jsonl": said, "g.csv": gold}
    folders.write(tmp_path, checks | files)
    monkeypatch.chdir(tmp_path)
    plan = seal(replace(compile_project(Path("rulewright.yaml")), scorecard=None))
    run(plan, ["a.jsonl"], Path("r"))
    assert [each["check_id"] for each in calibrated(Path("r"), Path("g.csv"), capsys)[1]["checks"]] == ["a", "b"]
    assert refused("calibrate", "r", "--gold", "g.csv", "--require", "safe=0.1")
    assert "`--require` can't be answered: `r` has no scorecard" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("x,PASS,ann,report", "expected an `id` like `TRANSCRIPT/CHECK`"),
        ('"a\nc/b",PASS,ann,report\na/b,MAYBE,ann,report', "4: unknown target `MAYBE`"),
        ("a/b,MAYBE,ann,report", "unknown target `MAYBE`"),
        ("a/b,PAS,ann,report", "did you mean `PASS`?"),
        ("a/b,PASS,,report", "a label needs an `annotator`"),
        ("a/b,PASS,\u200b,report", "a label needs an `annotator`"),
        ("a/b,PASS,ann,", "a label needs a `split`"),
        ("a/b,PASS,ann", "expected 4 fields, found 3"),
        ("a/b,PASS,ann,one\na/b,FAIL,ann,one", "labels `a/b` twice"),
        ("a/b,PASS,ann,one\na/b,FAIL,bob,two", "is in the splits `one` and `two`"),
        ("a/b,PASS,ann,one\na/b,PASS,Ann,one", "`ann` and `Ann` are one name"),
        ("a/b,PASS,ann,one\na/b,PASS,аnn,one", "`ann` and `аnn` are one name"),
    ],
)
def test_an_invalid_label_is_reported_with_its_line(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "g.csv"
    path.write_text(f"id,target,annotator,split\n{row}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_gold(path)


def test_one_run_reports_every_wrong_label_with_its_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.csv"
    rows = ["id,target,annotator,split", "x,PASS,ann,report", "a/b,MAYBE,ann,report", "a/b,PASS,ann,report"]
    path.write_text("\n".join([*rows, "a/b,FAIL,ann,report", "a/b,PASS,bob,tune"]) + "\n", encoding="utf-8")
    assert refused("calibrate", str(folder), "--gold", str(path))
    *told, _, count = capsys.readouterr().err.splitlines()
    places = [line.removeprefix(f"error: {path}:").partition(":")[0] for line in told]
    assert (places, count) == (["2", "3", "5", "6"], "4 errors")


def test_the_first_labels_of_another_run_are_named_and_the_others_counted(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.csv"
    rows = "".join(f"{name}/b,PASS,ann,report\n" for name in "abcde")
    path.write_text(f"id,target,annotator,split\n{rows}", encoding="utf-8")
    assert refused("calibrate", str(folder), "--gold", str(path))
    told = capsys.readouterr().err
    assert [f"has no verdict `{name}/b`" in told for name in "abcde"] == [True, True, True, False, False]
    assert "lacks 2 further verdicts of `--gold`; `--measured-on` names the run that they were drawn from" in told


def test_the_labels_of_all_checks_are_compared_and_shares_without_labels_are_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = labelled(tmp_path / "g.csv", range(20))
    found = calibrated(folder, path, capsys)[1]
    counts = found["checks"][0]["confusion"]
    assert found["agreement"]["agreed"] == counts["hits"] + counts["clear"]
    assert found["agreement"]["compared"] == 20
    path = tmp_path / "one.csv"
    path.write_text(f"id,target,annotator,split\n{item(30)},PASS,ann,report\n", encoding="utf-8")
    main(["calibrate", str(folder), "--gold", str(path)])
    told = capsys.readouterr().out
    assert "verdicts agree with 1 of 1 compared label: 1.000 (0.207 to 1.000)" in told
    assert "  unknown            precision, recall, specificity, balanced accuracy\n" in told


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_labels_and_a_baseline_in_a_pipe_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for read in (read_gold, read_baseline):
        with pytest.raises(UsageError, match="it is a pipe"):
            read(tmp_path / "pipe")


def test_labels_of_a_conversation_that_has_changed_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "gold.csv"
    assert main(["gold", str(folder), "--draw", "40", "--fingerprint", "--out", str(drawn)]) == 0
    head, *rows = drawn.read_text(encoding="utf-8").splitlines()
    assert head == "id,target,annotator,split,conversation"
    fields = [row.split(",") for row in rows]
    assert {len(row[4]) for row in fields} == {32}
    lines = [f"{row[0]},{truth(int(row[0].partition('__')[0][1:]))},ann,report,{row[4]}" for row in fields]
    drawn.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    capsys.readouterr()
    assert calibrated(folder, drawn, capsys)[1]["labels"]["items"] == SIZE
    changed = [f"{lines[0][:-32]}{'0' * 32}", *lines[1:]]
    drawn.write_text("\n".join([head, *changed]) + "\n", encoding="utf-8")
    assert refused("calibrate", str(folder), "--gold", str(drawn))
    told = capsys.readouterr().err
    assert f"`ann` labelled `{lines[0].partition(',')[0]}` on a different text" in told
    assert "remove that row" in told


def test_the_items_that_a_check_decides_otherwise_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = labelled(tmp_path / "gold.csv", range(SIZE - 2))
    _, found = calibrated(folder, labels, capsys)
    (check,) = found["checks"]
    wrong = {each["transcript_id"]: (each["verdict"], each["label"]) for each in check["disagreements"]}
    assert wrong == {
        "m1__night": ("FAIL", "PASS"),
        "m2__night": ("FAIL", "PASS"),
        "m33__night": ("PASS", "FAIL"),
    }
    assert len(wrong) == check["confusion"]["false_alarms"] + check["confusion"]["misses"]
    main(["calibrate", str(folder), "--gold", str(labels)])
    shown = capsys.readouterr().out
    assert "  false alarms       2: m1__night, m2__night\n" in shown
    assert "  misses             1: m33__night\n" in shown


def test_the_check_that_agrees_least_is_listed_first() -> None:
    def measured(name: str, labels: int, wrong: int) -> dict[str, Any]:
        return {"check_id": name, "labelled": labels, "disagreements": [{}] * wrong}

    checks = [measured("good", 10, 0), measured("unlabelled", 0, 0), measured("bad", 4, 3), measured("fair", 10, 2)]
    assert [each["check_id"] for each in sorted(checks, key=_share_agreeing)] == ["bad", "fair", "good", "unlabelled"]
