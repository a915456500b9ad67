"""`rulewright score`: batches in, reports and an exit status out."""

from __future__ import annotations

import contextlib
import http.server
import io
import json
import os
import shutil
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
from tests.safe_cases import case, safe, write
from tests.shared_data import ROOT

from rulewright.cli import main
from rulewright_grammar import schema
from rulewright_runtime.cases import writing
from rulewright_runtime.cases.baseline import Baseline, compare
from rulewright_runtime.cases.hooks import CallSink, HttpSink
from rulewright_runtime.cases.plan import Setting
from rulewright_runtime.report.text import width

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

    writing.moment.cache_clear()
    return main(["score", "--concern", "I25", *words])


def report(*words: str) -> dict[str, Any]:
    score("--format", "json", "--output", "out.json", *words)
    result: dict[str, Any] = json.loads(Path("out.json").read_text())
    return result


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
    assert names == [f"SAFE_v0_I25_20250115T103000Z{suffix}" for suffix in (".html", ".json", ".md", ".xml")]
    page = Path("here", names[0]).read_text()
    assert "T|1&lt;b&gt;" in page
    assert "<script" not in page
    assert "T\\|1\\<b\\>" in Path("here", names[2]).read_text()
    suite = ET.parse(Path("here", names[3])).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [[child.tag for child in each] for each in suite] == [[], ["failure"], ["error"]]


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
    "score": [0.11, 0.22, 0.33],
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
    assert main(["safe:score", "--show-config", "--set", "AC_pass=0.25"]) == 0
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert ["AC_pass", "0.25", "--set AC_pass"] in lines
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
    "an unknown form": ('{"reportFormats": ["pdf"]}', "`pdf` is no format of a report"),
    "forms that are no list": ('{"reportFormats": "json"}', "`reportFormats` must be a list of forms"),
    "a form that is no text": ('{"reportFormats": ["json", 3]}', "`3` is no format of a report"),
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
    "a folder that is not there": (["--concern", "I25", "--batch", "b", "--cases", "no"], "there is no folder `no`"),
    "an unknown setting": (["--concern", "I25", "--batch", "b", "--set", "CR_pas=1"], "did you mean `CR_pass`?"),
    "a setting without a value": (["--set", "CR_pass"], "`--set` takes NAME=VALUE, found `CR_pass`"),
    "a bad value": (["--concern", "I25", "--batch", "b", "--set", "CR_pass=nan"], "must be a score from 0 to 1"),
    "an unknown scorecard": (["--scorecard", "x"], "there is no scorecard `x`"),
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
    assert "there is no case of the concern `X9`; 1 of other concerns were left out" in capsys.readouterr().err


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
    assert section["mean_changes"]["AH"] == pytest.approx(-7 / 16)
    assert section["regression"] is True
    assert section["same_settings"] is True
    assert report(*words, "--strict-ah")["comparison"]["same_settings"] is False
    assert score(*words) == 1
    shown = capsys.readouterr().out
    assert "Since the baseline: REGRESSION (7 worse, 0 better of 7 paired)" in shown
    assert "  AH: 7 fell, 0 rose (p = 0.0156)\n" in shown
    assert "  PASS -> REVIEW  T0\n" in shown
    assert score(*words, "--exit-zero") == 0
    batch("b", *(case(f"T{n}") for n in range(8)))
    assert report(*words)["comparison"]["regression"] is False
    assert score(*words) == 0


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "", '{"results": 7}', '{"results": [{"test_id": "T1"}]}', '{"results": [}', '{"results": []} x',
     '{"results": [], "mean_scores": []}'],
)  # fmt: skip
def test_a_baseline_that_is_no_report_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    Path("base.json").write_text(text)
    assert score("--batch", "b", "--baseline", "base.json") == 3
    assert "base.json: is no JSON report of this command" in capsys.readouterr().err


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
    section = compare(safe().plan, old, [good], {"CR": 1, "AH": 1, "AC": 1, "composite": 1})
    assert (section["better"], section["regression"]) == (1, False)


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


def test_an_endpoint_that_is_not_there_fails_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    assert score("--batch", "b", "--observe", "http://127.0.0.1:9/") == 0
    assert "1 messages to `http://127.0.0.1:9/` were lost" in capsys.readouterr().err


def test_a_sink_never_waits_and_never_raises() -> None:
    def angry(_: object) -> None:
        raise ValueError

    calls = CallSink(angry)
    calls.send({"a": 1})
    assert calls.lost == 1
    posts = HttpSink("http://127.0.0.1:9/", pause=0.001, patience=0.5)
    for _ in range(12_000):
        posts.send({"a": 1})
    assert posts.lost >= 1_000


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
