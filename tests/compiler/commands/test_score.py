"""`rulewright score`: batches in, reports and an exit status out."""

from __future__ import annotations

import contextlib
import http.server
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.model_server import chat, model_server
from tests.safe_cases import case, safe, write
from tests.shared_data import ROOT

from rulewright.cli import main
from rulewright.reporting.cases import SUFFIXES
from rulewright_grammar import schema
from rulewright_runtime.__main__ import main as runtime
from rulewright_runtime.cases import hooks, json_report
from rulewright_runtime.cases.baseline import Baseline, compare
from rulewright_runtime.cases.case_plan import Setting
from rulewright_runtime.terminal import width

GOLDEN = Path(__file__).parent / "score"
FAIL = {"summary": "nothing", "signals": []}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1736937000")
    for name in [name for name in os.environ if name.startswith("SAFE_V0_")]:
        monkeypatch.delenv(name)


def batch(name: str, *cases: Any) -> None:
    write(Path("cases", f"{name}.json"), list(cases))


def score(*words: str) -> int:

    json_report.generation_time.cache_clear()
    return main(["score", "--concern", "I25", *words])


def report(*words: str) -> dict[str, Any]:
    score("--format", "json", "--output", "out.json", *words)
    result: dict[str, Any] = json.loads(Path("out.json").read_text())
    return result


def test_a_batch_that_can_not_be_opened_is_not_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    batch("good", case("T1"))
    Path("cases", "gone.json").symlink_to("moved.json")
    assert score("--batch", "*") == 3
    assert "cases/gone.json: No such file or directory" in capsys.readouterr().err


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
    assert "cases/locked: Permission denied" in capsys.readouterr().err


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
def test_the_exit_status_is_that_of_the_gravest_label(cases: list[Any], status: int) -> None:
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
    assert "error: cases/b.json: $[1]: `T2`: the engine failed: no" in captured.err


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
    assert names == [f"SAFE_v0_I25_b_20250115T103000Z{suffix}" for suffix in (".html", ".json", ".md", ".xml")]
    page = Path("here", names[0]).read_text()
    assert "T|1&lt;b&gt;" in page
    assert "<script" not in page
    assert "T\\|1\\<b\\>" in Path("here", names[2]).read_text()
    suite = ET.parse(Path("here", names[3])).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [[child.tag for child in each] for each in suite] == [[], ["failure"], ["error"]]


def test_a_threshold_to_pass_below_the_one_to_review_is_refused_in_words(
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


def test_no_report_is_written_over() -> None:
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
    runs = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(4)]
    errors = [run.communicate()[1] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, errors
    assert len(list(Path("reports").iterdir())) == 4 * 4


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
    assert Path(output, f"{stem}_3.md").read_text().startswith("# SAFE")


JUDGED = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text()
JUDGED = JUDGED.replace("      of: questions\n", "      of: questions\n      count: true\n      unclear: Review\n")


def test_a_judge_that_makes_a_score_zero_says_why_in_every_report(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2"), case("T3"))
    Path("card.yaml").write_text(JUDGED)
    verdicts = {"T1": "FAIL", "T2": "PASS", "T3": "UNCLEAR"}
    reply = {name: {"verdict": verdict, "rationale": f"They |blame| {name}"} for name, verdict in verdicts.items()}
    replies = {name: {"AH": [[json.dumps(each)]]} for name, each in reply.items()}
    Path("replies.json").write_text(json.dumps(replies))
    words = ["--batch", "b", "--scorecard", "card.yaml", "--judge", "replay:replies.json"]
    assert score(*words) == 1
    shown = capsys.readouterr().out
    assert "\nJudged:\n  T1  AH 0.00  FAIL: They |blame| T1\n  T3  AH 1.00  UNCLEAR: They |blame| T3\n" in shown
    for form in ("md", "html", "xml"):
        score(*words, "--output", f"r.{form}")
    assert "| T1 | AH 0.00 | FAIL | They \\|blame\\| T1 |" in Path("r.md").read_text()
    assert "<tr><td>T1</td><td>AH 0.00</td><td>FAIL</td><td>They |blame| T1</td></tr>" in Path("r.html").read_text()
    assert "AH 0.00 judged FAIL: They |blame| T1" in Path("r.xml").read_text()
    assert score("--batch", "b", "--judge", "replay:replies.json") == 0
    assert "  T1  AH 1.00  FAIL (a hint): They |blame| T1\n" in capsys.readouterr().out


def test_a_judge_may_be_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2"))
    with model_server(lambda *_: chat('{"verdict": "FAIL", "rationale": "They blame"}')) as server:
        for _ in range(2):
            assert score("--batch", "b", "--judge", f"openai:a-model@{server.base}") == 0
            assert "  T1  AH 1.00  FAIL (a hint): They blame\n" in capsys.readouterr().out
        assert len(server.requests) == 1  # both cases ask the same, and the second run finds it in the ledger


def test_a_limit_below_what_the_cases_ask_refuses_before_anything_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1", questions=["Who?"]), case("T2", questions=["Why?"]))
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        judge = ["--batch", "b", "--judge", f"openai:a-model@{server.base}"]
        for limit, said in (
            ("--max-calls=1", "at least 2 calls are needed, and no more than 1"),
            ("--max-tokens=4000", "tokens are needed"),  # a reply may have as many
            ("--max-usd=5", "needs a price for `a-model`"),
        ):
            with pytest.raises(SystemExit, match="3"):
                score(*judge, limit)
            assert said in capsys.readouterr().err
        assert server.requests == []
        assert score(*judge, "--max-calls", "2", "--max-tokens", "9000") == 0
        assert len(server.requests) == 2
        assert score(*judge, "--max-calls", "0") == 0  # the ledger answers


def test_matches_by_meaning_are_shown_with_their_similarity(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1", must=["fever"], signals=["temperature"]))
    Path("v.txt").write_text("fever 1 0\ntemperature 0.95 0.05\n")
    score("--batch", "b", "--semantic", "v.txt")
    assert '\nMatches by meaning:\n  T1  CR  fever: "temperature" in signals[0]: 1.00\n' in capsys.readouterr().out
    score("--batch", "b", "--semantic", "v.txt", "--output", "r.md")
    assert '| T1 | CR | fever | "temperature" in signals\\[0\\] | 1.00 |' in Path("r.md").read_text()


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
    assert Path("deep/r.md").read_text().startswith("# SAFE v0 Scorecard - I25\n")


def test_the_settings_file_may_name_the_forms_and_hold_comments() -> None:
    batch("b", case("T1"))
    Path("safe.config.json").write_text('{\n  // several\n  "reportFormats": ["json", "markdown"]\n}')
    assert score("--batch", "b") == 0
    assert sorted(path.suffix for path in Path("reports").iterdir()) == [".json", ".md"]


def test_the_command_line_wins_over_the_environment_over_the_file_over_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch("b", case("T1"))

    def shown(*words: str) -> dict[str, Any]:
        found: dict[str, Any] = report("--batch", "b", *words)["configuration"]["parameters"]
        return found

    assert shown()["CR_pass"] == {"value": 0.8, "source": "default"}
    Path("safe.config.json").write_text('{"thresholds": {"CR": {"pass": 0.7}}, "strictAH": true}')
    assert shown()["CR_pass"] == {"value": 0.7, "source": "safe.config.json: thresholds.CR.pass"}
    assert shown()["strict_ah"] == {"value": True, "source": "safe.config.json: strictAH"}
    monkeypatch.setenv("SAFE_V0_CR_PASS", "0.6")
    monkeypatch.setenv("SAFE_V0_AH_STRICT", "false")
    assert shown()["CR_pass"] == {"value": 0.6, "source": "environment SAFE_V0_CR_PASS"}
    assert shown()["strict_ah"] == {"value": False, "source": "environment SAFE_V0_AH_STRICT"}
    again = shown("--set", "CR_pass=0.5", "--strict-ah")
    assert again["CR_pass"] == {"value": 0.5, "source": "--set CR_pass"}
    assert again["strict_ah"] == {"value": True, "source": "--strict-ah"}


OTHER_VALUES: dict[str, list[Any]] = {
    "score": [0.55, 0.66, 0.77],
    "number": [2.0, 3.0, 4.0],
    "bool": [True, False, True],
}


@pytest.mark.parametrize("setting", safe().plan.settings, ids=lambda setting: setting.parameter.name)
def test_every_setting_can_be_set_everywhere_and_the_nearest_wins(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, in_file, variable = setting.parameter.name, setting.file, setting.environment
    assert in_file is not None
    assert variable is not None
    values = OTHER_VALUES[setting.parameter.type]

    def shown(*words: str) -> dict[str, Any]:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(["score", "--show-config", "--format", "json", *words]) == 0
        found: dict[str, Any] = json.loads(out.getvalue())["parameters"][name]
        return found

    assert shown()["source"] == "default"
    document: Any = values[0]
    for key in reversed(in_file.split(".")):
        document = {key: document}
    Path("safe.config.json").write_text(json.dumps(document))
    assert shown() == {"value": values[0], "source": f"safe.config.json: {in_file}"}
    monkeypatch.setenv(variable, str(values[1]).lower())
    assert shown() == {"value": values[1], "source": f"environment {variable}"}
    assert shown("--set", f"{name}={str(values[2]).lower()}") == {"value": values[2], "source": f"--set {name}"}
    if setting.flag is not None:
        assert shown(setting.flag) == {"value": True, "source": setting.flag}


def test_show_config_says_where_each_value_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    Path("safe.config.json").write_text('{"archetypes": {"A": {"weights": {"AH": 2}}}}')
    assert main(["safe:score", "--show-config", "--set", "AC_pass=0.75"]) == 0
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert ["AC_pass", "0.75", "--set AC_pass"] in lines
    assert ["CR_pass", "0.8", "default"] in lines
    assert lines[-1][0:2] == ["AH_weight", "(archetype"]
    assert main(["score", "--show-config", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["archetypes"]["A"]["AH_weight"]["value"] == 2.0


def test_every_place_is_shown_with_its_source(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(*words: str) -> dict[str, tuple[str, str]]:
        assert main(["score", "--show-config", *words]) == 0
        rows = (line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines())
        return {name: (value, source) for name, value, source in rows}

    assert shown()["reportDir"] == ("./reports", "default")
    assert "cases" not in shown()
    keys = ("cases", "outputs", "reportDir", "semantic")
    Path("safe.config.json").write_text(json.dumps({key: f"file-{key}" for key in keys} | {"reportFormats": ["html"]}))
    for key in keys:
        assert shown()[key] == (f"file-{key}", f"safe.config.json: {key}")
    assert shown()["reportFormats"] == ("html", "safe.config.json: reportFormats")
    monkeypatch.setenv("SAFE_V0_REPORT_DIR", "there")
    found = shown("--cases", "c", "--outputs", "o", "--semantic", "s", "--format", "junit")
    assert found["reportDir"] == ("there", "environment SAFE_V0_REPORT_DIR")
    assert (found["cases"], found["outputs"]) == (("c", "--cases"), ("o", "--outputs"))
    assert (found["semantic"], found["reportFormats"]) == (("s", "--semantic"), ("junit", "--format"))


def test_a_suffix_that_the_settings_file_does_not_name_wins_over_it() -> None:
    batch("b", case("T1"))
    Path("safe.config.json").write_text('{"reportFormats": ["json", "html"]}')
    score("--batch", "b", "--output", "one/r.md")
    score("--batch", "b", "--output", "two/r.html")
    assert [path.name for path in Path("one").iterdir()] == ["r.md"]
    assert sorted(path.name for path in Path("two").iterdir()) == ["r.html", "r.json"]


def test_a_misspelt_variable_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SAFE_V0_CR_PAS", "0.9")
    assert main(["score", "--show-config"]) == 0
    said = "warning: the environment variable `SAFE_V0_CR_PAS` sets nothing; did you mean `SAFE_V0_CR_PASS`?\n"
    assert capsys.readouterr().err == said


WRONG_FILES = {
    "an unknown key": ('{"thresholds": {"CR": {"pas": 0.8}}}', "`thresholds.CR.pas` sets nothing"),
    "a threshold above 1": ('{"thresholds": {"CR": {"pass": 80}}}', "must be a score from 0 to 1, found `80`"),
    "a text for a number": ('{"weights": {"CR": "much"}}', "must be a number, found `much`"),
    "a number that is none": ('{"weights": {"CR": NaN}}', "NaN"),
    "a negative weight": ('{"weights": {"CR": -1}}', "must be at least 0"),
    "weights that are all zero": ('{"weights": {"CR": 0, "AH": 0, "AC": 0}}', "at least one of the weights"),
    "a word for a switch": ('{"strictAH": "yes"}', "must be true or false, found `yes`"),
    "an unknown form": ('{"reportFormats": ["pdf"]}', "`pdf` is not a format of a report"),
    "forms that are not a list": ('{"reportFormats": "json"}', "`reportFormats` must be a list of forms"),
    "a form that is not text": ('{"reportFormats": ["json", 3]}', "`3` is not a format of a report"),
    "a threshold without its kind": ('{"thresholds": {"CR": 0.5}}', "`thresholds.CR` must be an object of settings"),
    "weights of an archetype that are all zero": (
        '{"archetypes": {"A": {"weights": {"CR": 0, "AH": 0, "AC": 0}}}}',
        "archetype `A`: at least one of the weights must be above 0 (set by safe.config.json: "
        "archetypes.A.weights.CR; safe.config.json: archetypes.A.weights.AH; ",
    ),
    "a list": ("[]", "must hold an object"),
    "no JSON": ('{"a": ', "safe.config.json"),
    "a bad value for an archetype": ('{"archetypes": {"A": {"strictAH": 1}}}', "must be true or false, found `1`"),
}


@pytest.mark.parametrize(("text", "message"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_a_wrong_settings_file_is_one_clear_message(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("b", case("T1"))
    Path("safe.config.json").write_text(text)
    with pytest.raises(SystemExit) if text == "[]" else _nothing() as stopped:
        assert score("--batch", "b") == 3
    assert stopped is None or stopped.value.code == 3
    assert message in " ".join(capsys.readouterr().err.split())


class _nothing:  # noqa: N801 - reads as a word
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


WRONG_WORDS = {
    "no batch": (["--concern", "I25"], "both `--concern` and `--batch` are needed"),
    "a batch that is not there": (["--concern", "I25", "--batch", "batch1"], "did you mean `batch_1`?"),
    "a folder that is not there": (["--concern", "I25", "--batch", "b", "--cases", "no"], "folder not found: `no`"),
    "an unknown setting": (["--concern", "I25", "--batch", "b", "--set", "CR_pas=1"], "did you mean `CR_pass`?"),
    "a setting without a value": (["--set", "CR_pass"], "`--set` takes NAME=VALUE, found `CR_pass`"),
    "a bad value": (["--concern", "I25", "--batch", "b", "--set", "CR_pass=nan"], "must be a score from 0 to 1"),
    "an unknown scorecard": (["--scorecard", "x"], "unknown scorecard `x`"),
    "an unknown form": (["--format", "pdf"], "invalid choice"),
}


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS.values(), ids=WRONG_WORDS)
def test_wrong_words_are_refused_with_status_3(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("batch_1", case("T1"))
    with pytest.raises(SystemExit) as stopped:
        main(["score", *words])
    assert stopped.value.code == 3
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_report_that_can_not_be_written_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    Path("taken").write_text("")
    with pytest.raises(SystemExit) as stopped:
        score("--batch", "b", "--output", "taken/r.json")
    assert stopped.value.code == 3
    assert "the report `taken/r.json` can't be written" in capsys.readouterr().err


def test_the_batch_and_the_cases_may_be_files() -> None:
    path = write(Path("deep/one.json"), [case("T1")])
    assert score("--batch", str(path)) == 0
    assert score("--batch", "o*", "--cases", str(path)) == 0
    assert score("--batch", "deep/o*", "--cases", ".") == 0


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SAFE_V0_AH_STRICT", "maybe")
    with pytest.raises(SystemExit):
        main(["score", "--show-config"])
    assert (
        "the environment variable `SAFE_V0_AH_STRICT` must be true or false, found `maybe`" in capsys.readouterr().err
    )


def test_an_unknown_concern_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    assert main(["score", "--concern", "X9", "--batch", "b"]) == 3
    said = "note: 1 case of other concerns left out\nerror: there is no case of the concern `X9`\n"
    assert capsys.readouterr().err == said


def test_cases_of_other_concerns_are_counted_and_the_concern_ignores_case(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1") | {"concern_id": "i25"}, case("T2", summary="nothing") | {"concern_id": "I26"})
    result = report("--batch", "b")
    assert (result["total_cases"], result["other_concerns"]) == (1, 1)
    assert "note: 1 case of other concerns left out\n" in capsys.readouterr().err
    jsonschema.Draft202012Validator(schema("case_report")).validate(result)


def test_the_semantics_can_be_chosen_everywhere_and_are_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("b", case("T1") | {"engine_output": {"summary": "Seen late.", "signals": ["fever"]}, "remark": 1})
    assert score("--batch", "b") == 3
    assert "error: cases/b.json: $[0]: `T1`: there is no `followup_questions` in" in capsys.readouterr().err
    assert score("--batch", "b", "--semantics", "reference") == 0
    assert "Reference semantics: unknown keys are passed over" in capsys.readouterr().out
    monkeypatch.setenv("SAFE_V0_SEMANTICS", "reference")
    assert report("--batch", "b")["configuration"]["semantics"]["source"] == "environment SAFE_V0_SEMANTICS"
    for form in ("md", "html"):
        score("--batch", "b", "--output", f"r.{form}")
        assert "Reference semantics:" in Path(f"r.{form}").read_text()
    monkeypatch.delenv("SAFE_V0_SEMANTICS")
    Path("safe.config.json").write_text('{"semantics": "reference"}')
    assert score("--batch", "b") == 0
    assert main(["compile", "safe-v0", "-o", "safe.plan.json"]) == 0
    assert runtime(["score", "safe.plan.json", "cases", "--out", "r.json"]) == 0
    with pytest.raises(SystemExit):
        score("--batch", "b", "--semantics", "referenc")
    said = "the semantics must be `seed` or `reference`, found `referenc` (--semantics)"
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expectation": {}}, "unknown key `expectation`; did you mean `expectations`?"),
        ({"expectations": {"signals": []}}, "`signals` in `expectations`; did you mean `engine_output.signals`?"),
        ({"forbidden_terms": ["x"]}, "did you mean `expectations.followup_questions.forbidden_terms`?"),
        ({"signals": ["x"]}, "there are two outputs, in `engine_output` and in `signals`"),
        ({"output": {"summary": "", "signals": [], "followup_questions": []}}, "there are two outputs, in"),
        (
            {"engine_output": {"summary": "", "signals": []}},
            "there is no `followup_questions` in `engine_output`; write",
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


def test_a_scorecard_with_a_gap_in_its_labels_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    text = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text()
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
    assert "--output" not in words or json.loads(Path("reports/golden.json").read_text())["summary"]["pass"] == 4


@pytest.mark.skipif(not (shutil.which("jq") and shutil.which("bc")), reason="the gate needs jq and bc")
@pytest.mark.parametrize(("passing", "status"), [(9, 0), (6, 1)])
def test_the_gate_for_github_actions_works_as_written(passing: int, status: int) -> None:
    batch("b", *(case(f"T{n}", **({} if n < passing else {"summary": "nothing"})) for n in range(10)))
    steps = yaml.safe_load((ROOT / "benchmark" / "safe" / "github-actions.yaml").read_text())["jobs"]["safe"]["steps"]
    runs = [step["run"] for step in steps if step.get("name")]
    assert len(runs) == 2
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    codes = [subprocess.run(["bash", "-e", "-c", run], env=environment, check=False).returncode for run in runs]
    assert codes == [0, status]


def test_a_baseline_shows_flips_and_a_regression_sets_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", *(case(f"T{n}") for n in range(8)))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch(
        "b",
        *(case(f"T{n}", questions=["fault?"], forbidden=["fault", "x"]) if n < 7 else case(f"N{n}") for n in range(8)),
    )
    words = ["--batch", "b", "--baseline", "base.json"]
    section = report(*words)["comparison"]
    assert (section["paired"], section["added"], section["missing"], section["worse"]) == (7, 1, 1, 7)
    assert section["flips"][0] == {"test_id": "T0", "before": "Pass", "after": "Review"}
    assert section["tests"]["AH"] == {"falls": 7, "rises": 0, "p_value": 2 / 2**7, "worse": True}
    assert section["mean_changes"]["AH"] == pytest.approx(-0.5)  # over the pairs
    assert section["regression"] is True
    assert section["same_settings"] is True
    assert report(*words, "--strict-ah")["comparison"]["same_settings"] is False
    assert score(*words) == 1
    shown = capsys.readouterr().out
    assert "Since the baseline: REGRESSION (7 worse, 0 better of 7 paired; 1 added; 1 missing)" in shown
    assert "  AH: 7 fell, 0 rose (p = 0.0156)\n" in shown
    assert "  PASS -> REVIEW  T0\n" in shown
    assert score(*words, "--exit-zero") == 0
    batch("b", *(case(f"T{n}") for n in range(8)))
    assert report(*words)["comparison"]["regression"] is False
    assert score(*words) == 0


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "", '{"results": 7}', '{"results": [{"test_id": "T1"}]}', '{"results": [}', '{"results": []} x',
     '{"results": [], "batch_id": []}'],
)  # fmt: skip
def test_a_baseline_that_is_no_report_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    Path("base.json").write_text(text)
    assert score("--batch", "b", "--baseline", "base.json") == 3
    assert "base.json: is not a JSON report of this command" in capsys.readouterr().err


def test_a_baseline_without_batches_is_compared_by_test_id() -> None:
    batch("b", case("T1"), case("T2"))
    result = {"label": "Pass", "scores": {"CR": 1, "AH": 1, "AC": 0.5}}
    Path("base.json").write_text(json.dumps({"results": [{"test_id": name, **result} for name in ("T1", "T3")]}))
    section = report("--batch", "b", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["added"], section["missing"]) == (1, 1, 1)
    assert section["tests"]["AC"]["rises"] == 1


def test_a_few_changes_for_the_better_are_no_regression(tmp_path: Path) -> None:
    batch("b", case("T1", summary="nothing"))
    report("--batch", "b")
    old = Baseline("out.json")
    good = {
        "test_id": "T1",
        "batch_id": "b",
        "label": "Pass",
        "scores": dict.fromkeys(("CR", "AH", "AC", "composite"), 1),
    }
    section = compare(safe().plan, old, [good])
    assert (section["better"], section["regression"]) == (1, False)


def test_a_baseline_of_a_batch_with_another_name_is_compared_by_test_id() -> None:
    batch("monday", case("T1"), case("T2"))
    report("--batch", "monday")
    Path("out.json").rename("base.json")
    batch("tuesday", case("T2", summary="nothing"), case("T1"))
    section = report("--batch", "tuesday", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["worse"], section["added"], section["missing"]) == (2, 1, 0, 0)
    assert score("--batch", "tuesday", "--baseline", "base.json") == 1


def test_test_ids_that_several_batches_share_are_not_paired_by_guess() -> None:
    batch("a_1", case("T1"))
    batch("a_2", case("T1", summary="nothing"))
    report("--batch", "a_*")
    Path("out.json").rename("base.json")
    batch("b", case("T1"))
    section = report("--batch", "b", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["added"], section["missing"]) == (0, 1, 2)


def test_a_baseline_without_any_pair_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch("b", case("N1"))
    assert score("--batch", "b", "--baseline", "base.json") == 3
    assert score("--batch", "b", "--baseline", "base.json", "--exit-zero") == 3
    captured = capsys.readouterr()
    assert "error: `base.json` holds none of these cases, so there is nothing to compare\n" in captured.err
    assert "Since the baseline: NOT COMPARED (0 worse, 0 better of 0 paired; 1 added; 1 missing)" in captured.out


def test_a_missing_case_that_did_not_pass_is_a_regression_and_is_shown_everywhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    review: Any = {"questions": ["Whose fault?"], "forbidden": ["fault", "x"]}
    batch("b", case("T1"), case("T2", **review), case("T3", **review), case("T4"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch("b", case("T1"), case("N1"))
    words = ["--batch", "b", "--baseline", "base.json"]
    assert score(*words) == 1
    shown = capsys.readouterr().out
    assert "(0 worse, 0 better of 1 paired; 1 added; 3 missing, 2 of which did not pass)" in shown
    for line in ("missing REVIEW  T2", "missing PASS  T4", "added PASS  N1"):
        assert f"  {line}\n" in shown
    result = report(*words)
    jsonschema.Draft202012Validator(schema("case_report")).validate(result)
    section = result["comparison"]
    assert (section["missing_not_passed"], section["regression"]) == (2, True)
    assert section["missing_cases"][0] == {"test_id": "T2", "batch_id": "b", "label": "Review"}
    assert section["added_cases"] == [{"test_id": "N1", "batch_id": "b", "label": "Pass"}]
    for form in ("md", "html"):
        score(*words, "--output", f"r.{form}")
        page = Path(f"r.{form}").read_text()
        for said in ("Since the baseline", "Missing since the baseline", "Added since the baseline", "T4", "N1"):
            assert said in page
    batch("b", case("T1"), case("T2", **review), case("T3", **review))
    assert score(*words) == 2  # only one that passed is gone


def test_a_case_that_can_no_longer_be_scored_is_worse_and_not_missing() -> None:
    batch("b", case("T1"), case("T2"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    batch("b", case("T1"), case("T2") | {"error": "no"})
    words = ["--batch", "b", "--baseline", "base.json", "--allow-errors"]
    section = report(*words)["comparison"]
    assert (section["paired"], section["missing"], section["worse"]) == (2, 0, 1)
    assert section["flips"] == [{"test_id": "T2", "before": "Pass", "after": "Error"}]
    assert score(*words) == 1


def test_cases_that_stand_twice_are_paired_in_their_order() -> None:
    batch("b", case("T1"), case("T1"), case("T2"))
    report("--batch", "b")
    Path("out.json").rename("base.json")
    section = report("--batch", "b", "--baseline", "base.json")["comparison"]
    assert (section["paired"], section["added"], section["missing"]) == (3, 0, 0)


def test_a_baseline_with_a_doubled_key_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1", summary="nothing"))
    report("--batch", "b")
    text = Path("out.json").read_text()
    for old, new in (
        ('"label":"Fail"', '"label":"Fail","label":"Pass"'),
        ('"batch_id": "b",', '"batch_id": "b", "batch_id": "c",'),
    ):
        assert old in text
        Path("base.json").write_text(text.replace(old, new, 1))
        assert score("--batch", "b", "--baseline", "base.json") == 3
        assert "base.json: duplicate key" in capsys.readouterr().err


def test_observations_and_events_go_to_files() -> None:
    batch("b", case("T1"), case("T2", summary="nothing"))
    score("--batch", "b", "--observe", "seen.jsonl", "--events", "events.jsonl")
    seen = [json.loads(line) for line in Path("seen.jsonl").read_text().splitlines()]
    assert seen[1] == {
        "event": "recordSAFEv0Result",
        "test_id": "T2",
        "scores": {"CR": 1.0, "AH": 1.0, "AC": 0.0},
        "label": "Fail",
        "timestamp": "2025-01-15T10:30:00Z",
    }
    (event,) = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    assert (event["event"], event["concern_id"], event["batch_id"]) == ("safe:v0:result", "I25", "b")
    assert event["summary"]["overall_pass_rate"] == 0.5


class _Endpoint(http.server.BaseHTTPRequestHandler):
    received: list[Any] = []  # noqa: RUF012 - each test takes it anew
    refusals = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if _Endpoint.refusals:
            _Endpoint.refusals -= 1
            self.send_response(503)
        else:
            _Endpoint.received.append(json.loads(body))
            self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    _Endpoint.received, _Endpoint.refusals = [], 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_an_endpoint_that_refuses_twice_is_asked_again(endpoint: str) -> None:
    _Endpoint.refusals = 2
    batch("b", case("T1"))
    assert score("--batch", "b", "--events", endpoint) == 0
    assert [message["event"] for message in _Endpoint.received] == ["safe:v0:result"]


def test_a_collector_receives_evaluation_events(endpoint: str) -> None:
    batch("b", case("T1"), case("T2", summary="nothing"))
    assert score("--batch", "b", "--otlp", endpoint) == 1
    (request,) = _Endpoint.received
    records = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert {record["eventName"] for record in records} == {"gen_ai.evaluation.result"}
    last = {each["key"]: next(iter(each["value"].values())) for each in records[-1]["attributes"]}
    assert last["gen_ai.evaluation.name"] == "SAFE v0 composite"
    assert last["gen_ai.evaluation.score.label"] == "Fail"
    assert last["gen_ai.evaluation.score.value"] == pytest.approx(2 / 3)
    assert records[-1]["timeUnixNano"] == "1736937000000000000"


def kept() -> list[Any]:
    (path,) = Path("reports").glob("*.undelivered.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_an_endpoint_does_not_take_is_kept_and_fails_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2"))
    assert score("--batch", "b", "--observe", "http://127.0.0.1:9/", "--otlp", "http://127.0.0.1:9/logs") == 0
    place = "reports/SAFE_v0_I25_b_20250115T103000Z.undelivered.jsonl"
    said = capsys.readouterr().err
    assert f"warning: not delivered to `http://127.0.0.1:9/`: 2 messages, kept in `{place}`\n" in said
    assert f"warning: not delivered to `http://127.0.0.1:9/logs`: 8 messages, kept in `{place}`\n" in said
    lines = kept()
    assert [each["message"]["test_id"] for each in lines if each["target"] == "http://127.0.0.1:9/"] == ["T1", "T2"]
    assert score("--batch", "b", "--events", "http://127.0.0.1:9/") == 0
    assert len(list(Path("reports").iterdir())) == 2  # nothing is written over


def test_an_endpoint_that_never_answers_does_not_hold_up_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", *(case(f"T{n}") for n in range(5)))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert score("--batch", "b", "--observe", address) == 0
        assert f"not delivered to `{address}`: 5 messages" in capsys.readouterr().err
    assert [each["message"]["test_id"] for each in kept()] == [f"T{n}" for n in range(5)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names only there")
def test_a_pipe_that_nobody_reads_does_not_hold_up_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    os.mkfifo("pipe")
    assert score("--batch", "b", "--observe", "pipe", "--events", "pipe") == 0
    assert "not delivered to `pipe`: 2 messages" in capsys.readouterr().err
    assert [each["message"]["event"] for each in kept()] == ["recordSAFEv0Result", "safe:v0:result"]


def test_of_too_many_messages_those_that_do_not_fit_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "_MAX_QUEUE", 10)
    blocked, undelivered = threading.Event(), hooks.Undelivered(str(tmp_path / "x"))
    delivery = hooks.Delivery("t", lambda _: blocked.wait(60), 1, undelivered)
    for number in range(100):
        delivery.send({"n": number})
    delivery.close(0.0)
    (said,) = undelivered.close()
    assert said == f"not delivered to `t`: 100 messages, kept in `{tmp_path / 'x'}.undelivered.jsonl`"
    kept = [json.loads(line)["message"]["n"] for line in (tmp_path / "x.undelivered.jsonl").read_text().splitlines()]
    assert sorted(kept) == list(range(100))
    blocked.set()


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
    assert capsys.readouterr().err == "\r1 cases\r2 cases\r\x1b[K"


def test_a_reader_that_has_gone_changes_neither_the_status_nor_the_other_reports() -> None:
    batch("b", *(case(f"T{n}", summary="nothing", signals=[]) for n in range(2000)))
    Path("safe.config.json").write_text('{"reportFormats": ["console", "markdown"]}')
    words = [sys.executable, "-m", "rulewright", "score", "--concern", "I25", "--batch", "b"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(60)
    assert process.returncode == 1
    assert len(list(Path("reports").glob("*.md"))) == 1
