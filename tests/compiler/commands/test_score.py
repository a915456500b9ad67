"""`rulewright score`: batches in, reports and an exit status out."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.compiler.commands.score_in_place import batch, elsewhere, report, score
from tests.folders import write_lines
from tests.safe_cases import case, write
from tests.shared_data import ROOT

from rulewright.cli import main
from rulewright.scoring.case_scorecards import SCORECARDS, SHIPPED
from rulewright.scoring.score_settings import SUFFIXES
from rulewright.shipped import shipped_root
from rulewright_grammar import schema
from rulewright_runtime.__main__ import main as runtime
from rulewright_runtime.cells import width

__all__ = ["elsewhere"]

GOLDEN = Path(__file__).parent / "score"


def test_a_batch_that_can_not_be_opened_is_not_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    batch("good", case("T1"))
    Path("cases", "gone.json").symlink_to("moved.json")
    assert score("--batch", "*") == 3
    assert "cases/gone.json: no such file or directory" in capsys.readouterr().err


def test_a_compressed_batch_is_refused_and_other_files_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    batch("good", case("T1"))
    Path("cases", "old.jsonl.gz").write_bytes(gzip.compress(json.dumps(case("T2")).encode()))
    for name in ("table.xlsx", "README.md", "notes.md", ".hidden"):
        Path("cases", name).write_text("")
    assert score("--batch", "*") == 3
    told = capsys.readouterr().err
    assert "error: cases/old.jsonl.gz: compressed cases and outputs are not read; expand the file\n" in told
    assert "note: 3 files not read as cases: 2 `.md`, 1 `.xlsx`\n" in told
    assert score("--batch", "good") == 0


def test_a_folder_behind_a_link_is_scored_and_none_is_scored_twice() -> None:
    batch("good", case("T1"))
    write(Path("elsewhere", "bad.json"), [case("T2", summary="nothing")])
    Path("cases", "linked").symlink_to(Path("elsewhere").resolve())
    Path("cases", "again").symlink_to(Path("elsewhere").resolve())
    Path("elsewhere", "up").symlink_to(Path("cases").resolve())
    found = report("--batch", "*")
    assert found["label_distribution"] == {"Pass": 1, "Review": 0, "Fail": 1}
    assert [each["batch_id"] for each in found["batches"]] == ["bad", "good"]


def test_a_folder_that_can_not_be_read_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("good", case("T1"))
    Path("cases", "locked").mkdir()
    scandir = os.scandir

    def refusing(path: str) -> Any:
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert score("--batch", "*") == 3
    assert "cases/locked: permission denied" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cases", "status"),
    [
        ([case("T1")], 0),
        ([case("T1"), case("T2", summary="nothing")], 1),
        ([case("T1"), case("T2", questions=["Whose fault?"], forbidden=["fault", "x"])], 2),
        ([case("T1"), case("T2") | {"error": "no"}], 3),
        ([case("T2") | {"error": "no"}], 3),
        ([], 3),
    ],
)
def test_the_exit_status_is_that_of_the_most_severe_label(cases: list[Any], status: int) -> None:
    batch("b", *cases)
    assert score("--batch", "b") == status


def test_switches_change_the_exit_status() -> None:
    batch("b", case("T1"), case("T2", summary="nothing"))
    batch("e", case("T1"), case("T2") | {"error": "no"})
    assert score("--batch", "b", "--exit-zero") == 0
    assert score("--batch", "e", "--exit-zero") == 3
    assert score("--batch", "e", "--allow-errors") == 0
    assert score("--batch", "*", "--allow-errors") == 1
    batch("r", case("T1"), "just words")
    assert score("--batch", "r", "--allow-errors") == 3


def test_json_on_the_standard_output_is_pure(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2") | {"error": "no"})
    score("--batch", "b", "--format", "json")
    captured = capsys.readouterr()
    assert json.loads(captured.out)["summary"]["overall_pass_rate"] == 0.5
    assert "error: cases/b.json:1: $[1]: `T2`: the engine failed: no" in captured.err


def test_a_glob_gives_one_report_with_its_batches_in_natural_order() -> None:
    for number in (10, 2, 1):
        batch(f"b_{number}", case(f"T{number}"))
    result = report("--batch", "b_*")
    assert result["batch_id"] == "b_*"
    assert [each["batch_id"] for each in result["batches"]] == ["b_1", "b_2", "b_10"]
    assert [each["test_id"] for each in result["results"]] == ["T1", "T2", "T10"]


def test_the_report_fits_its_published_schema() -> None:
    batch("b", case("T1"), case("T2", summary="nothing", must=["", "x"]), case("T3") | {"error": "no"}, "words")
    Path("base.json").write_text(json.dumps(report("--batch", "b")))
    for words in ([], ["--verbose"], ["--baseline", "base.json"]):
        result = report("--batch", "b", *words)
        jsonschema.Draft202012Validator(schema("case_report")).validate(result)
    first = ["report_type", "generated_at", "batch_id", "concern_id", "total_cases", "summary", "mean_scores"]
    assert list(result)[:7] == first
    assert result["generated_at"] == "2025-01-15T10:30:00Z"


@pytest.mark.parametrize("name", ["batches", "wide", "empty"])
def test_the_console_is_as_agreed(name: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    if name == "batches":
        shutil.copytree(ROOT / "benchmark" / "safe", "shipped")
        score("--batch", "I25_batch_*", "--cases", "shipped/cases")
    else:
        wide = case("患者-0001-とても長い識別子", "過程監査員", summary="nothing", phrases=["手術の遅れ" * 12])
        batch("b", *([wide, case("a\x1b[31m|b\n")] if name == "wide" else []))
        score("--batch", "b")
    shown = capsysbinary.readouterr().out.decode()
    assert max(map(width, shown.splitlines())) <= 80
    assert shown == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_pages_go_to_the_folder_of_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    batch("b", case("T|1<b>"), case("T2", summary="nothing"), case("T3") | {"error": "<&>"})
    monkeypatch.setenv("SAFE_V0_REPORT_DIR", "here")
    score("--batch", "b", "--format", "all")
    names = sorted(path.name for path in Path("here").iterdir())
    suffixes = (".github.txt", ".html", ".json", ".md", ".sarif", ".xml")
    assert names == [f"SAFE_v0_I25_b_20250115T103000Z{suffix}" for suffix in suffixes]
    page = Path("here", names[1]).read_text("utf-8")
    assert "T|1&lt;b&gt;" in page
    assert page.count("<script") == 1  # that of every page
    head = re.sub("<[^>]+>", " ", page[page.index("<h1") : page.index("<h2")]).split()
    assert " ".join(head).startswith("Not all scored 3 cases: 1 Pass, 0 Review, 1 Fail, 1 could not be scored. SAFE v0")
    text = Path("here", names[3]).read_text("utf-8")
    assert "T\\|1\\<b\\>" in text
    assert "**Not all scored**: 3 cases: 1 Pass, 0 Review, 1 Fail, 1 could not be scored." in text
    suite = ET.parse(Path("here", names[5])).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [[child.tag for child in each] for each in suite] == [[], ["failure"], ["error"]]


def test_a_pass_threshold_below_the_review_threshold_is_refused_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("b", case("T1"))
    monkeypatch.setenv("SAFE_V0_CR_PASS", "0.3")
    assert score("--batch", "b") == 3
    said = "error: `CR_pass` is 0.3 (environment SAFE_V0_CR_PASS) and `CR_review` is 0.5 (default): a score between"
    assert said in capsys.readouterr().err
    assert main(["score", "--show-config"]) == 3
    assert "0.3" in capsys.readouterr().out
    assert score("--batch", "b", "--semantics", "reference") == 0  # the published rows have such a set
    monkeypatch.delenv("SAFE_V0_CR_PASS")
    Path("safe.config.json").write_text('{"archetypes": {"A": {"thresholds": {"AC": {"review": 0.9}}}}}')
    assert score("--batch", "b") == 3
    said = "error: archetype `A`: `AC_pass` is 0.8 (default) and `AC_review` is 0.9 (safe.config.json: archetypes.A."
    assert said in capsys.readouterr().err


def test_the_settings_of_the_specification_print_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    Path("safe.config.json").write_text(
        '{"thresholds": {"CR": {"pass": 0.8, "review": 0.5}, "AH": {"pass": 1.0, "review": 0.5},'
        ' "AC": {"pass": 0.8, "review": 0.5}}, "weights": {"CR": 1.0, "AH": 1.5, "AC": 1.0},'
        ' "strictAH": true, "reportFormats": ["json", "console", "markdown"]}'
    )
    assert score("--batch", "b") == 0
    assert [line for line in capsys.readouterr().err.splitlines() if "report:" not in line] == []


def test_no_report_is_overwritten() -> None:
    batch("one", case("T1"))
    batch("two", case("T2"))
    for name in ("one", "two", "two"):
        score("--batch", name, "--format", "markdown")
    score("--batch", "*", "--format", "markdown")
    stem = "SAFE_v0_I25_{}_20250115T103000Z{}.md"
    names = [stem.format("all", ""), stem.format("one", ""), stem.format("two", ""), stem.format("two", "_2")]
    assert sorted(path.name for path in Path("reports").iterdir()) == names


def test_runs_at_the_same_moment_write_reports_of_their_own() -> None:
    batch("b", case("T1"))
    words = [sys.executable, "-m", "rulewright", "score", "--concern", "I25", "--batch", "b", "--format", "all"]
    runs = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    errors = [run.communicate()[1] for run in runs]
    assert [run.returncode for run in runs] == [0] * 2, errors
    assert len(list(Path("reports").iterdir())) == 2 * 6


@pytest.mark.parametrize("output", ["deep/folder", "deep/folder/"])
def test_every_form_goes_into_a_folder(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    for _ in range(2):
        assert score("--batch", "b", "--output", output, "--format", "all") == 0
    names = {path.name for path in Path(output).iterdir()}
    stem = "SAFE_v0_I25_b_20250115T103000Z"
    assert names == {f"{stem}{n}{suffix}" for n in ("", "_2") for suffix in SUFFIXES.values()}
    assert capsys.readouterr().out == ""
    assert score("--batch", "b", "--output", output, "--format", "markdown") == 0
    assert Path(output, f"{stem}_3.md").read_text("utf-8").startswith("# SAFE")


def test_a_score_below_a_threshold_is_not_shown_as_the_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    must = [f"sign {number}x" for number in range(64)]
    batch("b", case("T1", must=must, signals=must[:51]))  # 51 of 64 are 0.796875
    for form in ("console", "markdown", "html"):
        assert score("--batch", "b", "--format", form, "--output", "-") == 2
        page = capsys.readouterr().out
        assert "0.79" in page
        assert "0.80" not in page.partition("Per-Case")[2]
        row = next(line for line in page.splitlines() if "T1" in line)
        assert "0.80" not in row
    others = [word for name in ("CR", "AC") for word in ("--set", f"{name}_pass=0.75")]
    assert score("--batch", "b", "--format", "console", "--output", "-", *others) == 0
    assert "0.80" in capsys.readouterr().out
    text = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text("utf-8")
    Path("card.yaml").write_text(text.replace("CR >= CR_pass", "CR >= 0.8").replace("CR < CR_pass", "CR < 0.8"))
    assert score("--batch", "b", "--scorecard", "card.yaml", "--format", "console", "--output", "-", *others) == 2
    assert "0.79" in capsys.readouterr().out


def test_matches_by_meaning_are_shown_with_their_similarity(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1", must=["fever"], signals=["temperature"]))
    Path("v.txt").write_text("fever 1 0\ntemperature 0.95 0.05\n")
    score("--batch", "b", "--semantic", "v.txt")
    assert '\nMatches by meaning:\n  T1  CR  fever: "temperature" in signals[0]: 1.00\n' in capsys.readouterr().out
    score("--batch", "b", "--semantic", "v.txt", "--output", "r.md")
    assert '| T1 | CR | fever | "temperature" in signals\\[0\\] | 1.00 |' in Path("r.md").read_text("utf-8")


def test_details_are_cut_in_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    phrase = "a phrase that goes on and on " * 8
    batch("b", case("T1", must=[phrase]))
    score("--batch", "b", "--verbose")
    assert f'    CR missing: "{phrase}"' in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "90")
    score("--batch", "b", "--verbose")
    line = next(line for line in capsys.readouterr().out.splitlines() if "CR missing" in line)
    assert width(line) == 90


def test_the_form_follows_the_suffix_of_the_output() -> None:
    batch("b", case("T1"))
    score("--batch", "b", "--output", "deep/r.md")
    assert Path("deep/r.md").read_text("utf-8").startswith("# SAFE v0 Scorecard - I25\n")


def test_without_a_batch_all_are_scored(capsys: pytest.CaptureFixture[str]) -> None:
    batch("one", case("T1"))
    batch("two", case("T2"))
    assert main(["score", "--concern", "I25"]) == 0
    assert "Total Cases: 2" in capsys.readouterr().out


def test_without_a_concern_the_only_folder_of_the_cases_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    batch("I25/b", case("T1"))
    write(Path("cases/outputs/b.json"), [])
    assert main(["score"]) == 0
    told = capsys.readouterr()
    assert ("Scorecard - I25" in told.out, "note: the concern is `I25`" in told.err) == (True, True)
    for beside, named in (("c", "`I25`"), ("I26/b", "`I25`, `I26`")):
        batch(beside, case("T2"))
        assert main(["score"]) == 3
        assert f"with `--concern ID`; here are {named}\n" in capsys.readouterr().err


WRONG_WORDS = {
    "no concern": (["--batch", "b"], "`--concern ID`; if they have none, use any name for the report"),
    "a batch that is not there": (["--concern", "I25", "--batch", "batch1"], "did you mean `batch_1`?"),
    "a folder that is not there": (["--concern", "I25", "--batch", "b", "--cases", "no"], "folder not found: `no`"),
    "an unknown setting": (["--concern", "I25", "--batch", "b", "--set", "CR_pas=1"], "did you mean `CR_pass`?"),
    "a setting without a value": (["--set", "CR_pass"], "`--set` takes NAME=VALUE, found `CR_pass`"),
    "a bad value": (["--concern", "I25", "--batch", "b", "--set", "CR_pass=nan"], "must be a score from 0 to 1"),
    "an unknown scorecard": (["--scorecard", "x"], "unknown scorecard `x`"),
    "an unknown form": (
        ["--format", "pdf"],
        "unknown value `pdf`; expected `json`, `console`, `markdown`, `html`, `junit`, `sarif`, `github` or `all`",
    ),
}


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS.values(), ids=WRONG_WORDS)
def test_wrong_words_are_refused_with_status_3(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("batch_1", case("T1"))
    assert main(["score", *words]) == 3
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_report_that_can_not_be_written_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    Path("taken").write_text("")
    assert score("--batch", "b", "--output", "taken/r.json") == 3
    assert "can't write `taken/r.json`: " in capsys.readouterr().err


def test_the_batch_and_the_cases_may_be_files() -> None:
    path = write(Path("deep/one.json"), [case("T1")])
    assert score("--batch", str(path)) == 0
    assert score("--batch", "o*", "--cases", str(path)) == 0
    assert score("--batch", "deep/o*", "--cases", ".") == 0


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SAFE_V0_AH_STRICT", "maybe")
    assert main(["score", "--show-config"]) == 3
    assert (
        "the environment variable `SAFE_V0_AH_STRICT` must be true or false, found `maybe`" in capsys.readouterr().err
    )


def test_an_unknown_concern_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    assert main(["score", "--concern", "X9", "--batch", "b"]) == 3
    said = "note: 1 case of other concerns left out\nerror: no case has the concern `X9`\n"
    assert capsys.readouterr().err == said


def test_cases_of_other_concerns_are_counted_and_the_concern_ignores_case(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1") | {"concern_id": "i25"}, case("T2", summary="nothing") | {"concern_id": "I26"})
    result = report("--batch", "b")
    assert (result["total_cases"], result["other_concerns"]) == (1, 1)
    assert "note: 1 case of other concerns left out\n" in capsys.readouterr().err
    jsonschema.Draft202012Validator(schema("case_report")).validate(result)


def test_the_semantics_can_be_chosen_everywhere_and_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("b", case("T1") | {"engine_output": {"summary": "Seen late.", "signals": ["fever"]}, "remark": 1})
    assert score("--batch", "b") == 3
    assert "error: cases/b.json:1: $[0]: `T1`: `followup_questions` is missing in" in capsys.readouterr().err
    assert score("--batch", "b", "--semantics", "reference") == 0
    assert "Reference semantics: unknown keys are ignored" in capsys.readouterr().out
    monkeypatch.setenv("SAFE_V0_SEMANTICS", "reference")
    assert report("--batch", "b")["configuration"]["semantics"]["source"] == "environment SAFE_V0_SEMANTICS"
    for form in ("md", "html"):
        score("--batch", "b", "--output", f"r.{form}")
        assert "Reference semantics:" in Path(f"r.{form}").read_text("utf-8")
    monkeypatch.delenv("SAFE_V0_SEMANTICS")
    Path("safe.config.json").write_text('{"semantics": "reference"}')
    assert score("--batch", "b") == 0
    assert main(["compile", "safe-v0", "-o", "safe.plan.json"]) == 0
    assert runtime(["score", "safe.plan.json", "cases", "--out", "r.json"]) == 0
    assert score("--batch", "b", "--semantics", "referenc") == 3
    said = "the semantics must be `seed` or `reference`, found `referenc` (--semantics)"
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expectation": {}}, "unknown key `expectation`; did you mean `expectations`?"),
        ({"expectations": {"signals": []}}, "`signals` in `expectations`; did you mean `engine_output.signals`?"),
        ({"wanted": []}, "the scorecard reads `engine_output.signals`, "),
        (
            {"expectations": {"wanted": []}},
            "reads `expectations.signal_generation.must_find_signals`, `expectations.ev",
        ),
        ({"forbidden_terms": ["x"]}, "did you mean `expectations.followup_questions.forbidden_terms`?"),
        ({"signals": ["x"]}, "the case has two outputs, in `engine_output` and in `signals`"),
        ({"output": {"summary": "", "signals": [], "followup_questions": []}}, "the case has two outputs, in"),
        (
            {"engine_output": {"summary": "", "signals": []}},
            "`followup_questions` is missing in `engine_output`; write",
        ),
        ({"expectations": None}, "`expectations` must be an object, not null"),
    ],
)
def test_a_key_that_nobody_knows_and_a_list_that_is_missing_are_refused(
    change: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("b", case("T1"), case("T2") | change)
    assert score("--batch", "b") == 3
    assert message in capsys.readouterr().err


def test_a_mistake_in_a_case_is_not_tolerated_like_an_engine_that_failed() -> None:
    batch("b", case("T1"), case("T2") | {"engine_output": {"summary": "", "signals": []}})
    batch("c", case("T1"), case("T2") | {"remark": 1})
    assert score("--batch", "b", "--allow-errors") == 0
    assert score("--batch", "c", "--allow-errors") == 3
    assert report("--batch", "c")["summary"]["errors"] == 1


def test_a_second_case_with_the_id_of_another_counts_in_the_total_and_is_not_tolerated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch("b", case("T1"), case("T1", summary="other"), case("T2"))
    found = report("--batch", "b")["summary"]
    assert (found["total_cases"], found["errors"], found["overall_pass_rate"]) == (3, 1, 2 / 3)
    assert score("--batch", "b", "--allow-errors") == 3
    told = capsys.readouterr().err
    assert "`T1`: the test id `T1` already exists with different content" in told
    assert "both cases count" not in told


def test_a_scorecard_with_a_gap_in_its_labels_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    text = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text("utf-8")
    Path("card.yaml").write_text(text.replace("AC >= AC_pass}", "AC > AC_pass}"))
    assert score("--batch", "b", "--scorecard", "card.yaml") == 3
    assert "no row of the label table holds where" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["safe:score", "--concern", "I25", "--batch", "I25_batch_*"], 3),
        (["safe:score", "--concern", "I25", "--batch", "golden_set", "--output", "./reports/golden.json", "--format",
          "json"], 0),
        (["safe:score", "--concern", "I25", "--batch", "I25_batch_1", "--strict-ah", "--verbose"], 1),
    ],
)  # fmt: skip
def test_the_commands_of_the_seed_run_as_written(words: list[str], status: int) -> None:
    shutil.copytree(ROOT / "benchmark" / "safe", "benchmark/safe")
    assert main(words) == status
    assert "--output" not in words or json.loads(Path("reports/golden.json").read_text("utf-8"))["summary"]["pass"] == 4


@pytest.mark.skipif(not (shutil.which("jq") and shutil.which("bc")), reason="the gate needs jq and bc")
@pytest.mark.parametrize(("passing", "status"), [(9, 0), (6, 1)])
def test_the_gate_for_github_actions_works_as_written(passing: int, status: int) -> None:
    batch("b", *(case(f"T{n}", **({} if n < passing else {"summary": "nothing"})) for n in range(10)))
    steps = yaml.safe_load((ROOT / "benchmark" / "safe" / "github-actions.yaml").read_text("utf-8"))["jobs"]["safe"][
        "steps"
    ]
    runs = [step["run"] for step in steps if step.get("name")]
    assert len(runs) == 2
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    codes = [subprocess.run(["bash", "-e", "-c", run], env=environment, check=False).returncode for run in runs]
    assert codes == [0, status]


def test_progress_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rulewright.commands import score as command

    monkeypatch.setattr(command, "_TICK", 0.0)
    batch("b", case("T1"), case("T2"))
    score("--batch", "b")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    score("--batch", "b")
    assert capsys.readouterr().err == "\r1 case\r2 cases\r\x1b[K"


def test_a_closed_pipe_changes_neither_the_status_nor_the_other_reports() -> None:
    batch("b", *(case(f"T{n}", summary="nothing", signals=[]) for n in range(2000)))
    Path("safe.config.json").write_text('{"reportFormats": ["console", "markdown"]}')
    words = [sys.executable, "-m", "rulewright", "score", "--concern", "I25", "--batch", "b"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(60)
    assert process.returncode == 1
    assert len(list(Path("reports").glob("*.md"))) == 1


def _strict(folder: Path, project: str) -> None:
    """A project in `folder` whose own scorecard has another name than the shipped one."""
    card = (shipped_root() / SCORECARDS / f"{SHIPPED}.yaml").read_text(encoding="utf-8")
    (folder / "scorecards").mkdir(parents=True)
    (folder / "scorecards" / "own.yaml").write_text(card.replace("scorecard: safe-v0", "scorecard: strict"), "utf-8")
    Path("rulewright.yaml").write_text(project, encoding="utf-8")
    batch("b", case("T1"))


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        (".", "project: shop\nscorecard: strict\n"),
        ("below", "project: shop\nroot: below\nscorecard: strict\n"),
    ],
)
def test_the_scorecard_that_the_project_names_is_used(folder: str, project: str) -> None:
    _strict(Path(folder), project)
    assert report("--batch", "b")["configuration"]["scorecard"] == "strict"


def test_the_only_scorecard_of_a_project_is_used_and_one_of_several_has_to_be_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _strict(Path(), "project: shop\n")
    assert report("--batch", "b")["configuration"]["scorecard"] == "strict"
    card = Path("scorecards/own.yaml").read_text(encoding="utf-8")
    Path("scorecards/lax.yaml").write_text(card.replace("scorecard: strict", "scorecard: lax"), encoding="utf-8")
    assert score("--batch", "b") == 3
    assert "name a scorecard with `--scorecard`: the project has `lax`, `own`" in capsys.readouterr().err
    Path("scorecards/lax.yaml").rename("scorecards/own.yml")  # of the same name, but another one
    assert score("--batch", "b") == 3
    assert "the project has `scorecards/own.yaml`, `scorecards/own.yml`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("project", "card"),
    [
        ("project: shop\nscorecard: strict\nchecks: [\n", None),
        ("project: shop\nscorecard: strcit\n", None),
        ("project: shop\nscorcard: strict\n", None),
        ("project: shop\nscorecard: strict\n", "scorecard: strict\nover: [\n"),
        ("", None),
    ],
)
def test_where_the_scorecard_of_the_project_can_not_be_read_no_other_scores(project: str, card: str | None) -> None:
    _strict(Path(), project)
    if card is not None:
        Path("scorecards", "own.yaml").write_text(card, encoding="utf-8")
    assert score("--batch", "b") == 3


def test_cases_are_annotated_at_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(Path("cases/b.jsonl"), [case("T1"), case("T2", must=["a", "b"], signals=[]), case("T3", summary="")])
    with Path("cases/b.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")
    assert score("--batch", "b", "--format", "github") == 3
    printed = capsys.readouterr()
    first, *others = printed.out.splitlines()
    assert first.startswith("::warning file=cases/b.jsonl,line=2,")
    assert first.endswith("title=case-review::`T2`: Review: CR 0.50; AH 1.00; AC 1.00; CR missing: b")
    assert others[-1].startswith("::error file=cases/b.jsonl,line=4,")
    assert "title=refused-input::the JSON ends too early" in others[-1]
    assert score("--batch", "b", "--format", "sarif", "--output", "out.sarif") == 3
    results = json.loads(Path("out.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert [each["message"]["text"] for each in results] == [
        line.rpartition("::")[2] for line in printed.out.splitlines()
    ]
    assert score("--batch", "b", "--output", "other.sarif") == 3
    assert Path("other.sarif").read_bytes() == Path("out.sarif").read_bytes()


def test_cases_of_a_document_are_annotated_where_they_begin(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case("T1"), case("T2", must=["a", "b"], signals=[]), {"x": 1}]
    for written in (cases, {"batch_id": "b", "test_cases": cases}):
        text = json.dumps(written, indent=1)
        Path("cases").mkdir(exist_ok=True)
        Path("cases/b.json").write_text(text, encoding="utf-8")
        lines = [text[: text.rindex("{", 0, text.index(mark))].count("\n") + 1 for mark in ('"test_id": "T2"', '"x"')]
        assert score("--batch", "b", "--format", "github") == 3
        review, refused = [line for line in capsys.readouterr().out.splitlines() if "T1" not in line]
        assert review.startswith(f"::warning file=cases/b.json,line={lines[0]},")
        assert refused.startswith(f"::error file=cases/b.json,line={lines[1]},")


def test_batches_have_the_shortest_names_that_tell_them_apart() -> None:
    batch("one", case("T1"))
    batch("a/one", case("T2"))
    batch("b/two", case("T3"))
    found = {each["batch_id"] for each in report()["batches"]}
    assert found == {"one.json", "a/one.json", "two"}
