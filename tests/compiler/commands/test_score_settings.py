"""The settings of `rulewright score`: files, variables and options, of which the nearest wins."""

import contextlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.commands.score_in_place import batch, elsewhere, report, score
from tests.safe_cases import case, safe
from tests.shared_data import ROOT

from rulewright.cli import main
from rulewright_runtime.cases.case_plan import Setting

__all__ = ["elsewhere"]


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
    "a switch in quotes": ('{"strictAH": "false"}', 'found the text `"false"`; write it without quotes'),
    "an unknown form": ('{"reportFormats": ["pdf"]}', "`pdf` is not a format of a report"),
    "forms that are not a list": ('{"reportFormats": "json"}', "`reportFormats` must be a list of forms"),
    "a form that is not text": ('{"reportFormats": ["json", 3]}', "`3` is not a format of a report"),
    "a threshold without its kind": ('{"thresholds": {"CR": 0.5}}', "`thresholds.CR` must be an object of settings"),
    "weights of an archetype that are all zero": (
        '{"archetypes": {"A": {"weights": {"CR": 0, "AH": 0, "AC": 0}}}}',
        "archetype `A`: at least one of the weights must be above 0 (set by safe.config.json: "
        "archetypes.A.weights.CR; safe.config.json: archetypes.A.weights.AH; ",
    ),
    "a list": ("[]", "must contain an object"),
    "no JSON": ('{"a": ', "safe.config.json"),
    "a bad value for an archetype": ('{"archetypes": {"A": {"strictAH": 1}}}', "must be true or false, found `1`"),
}


@pytest.mark.parametrize(("text", "message"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_a_wrong_settings_file_is_one_clear_message(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    batch("b", case("T1"))
    Path("safe.config.json").write_text(text)
    assert score("--batch", "b") == 3
    assert message in " ".join(capsys.readouterr().err.split())


def test_the_scorecards_of_a_project_share_a_settings_file(capsys: pytest.CaptureFixture[str]) -> None:
    card = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text("utf-8")
    Path("rulewright.yaml").write_text("project: two\nscorecard: safe-v0\n")
    Path("scorecards").mkdir()
    Path("scorecards", "safe-v0.yaml").write_text(card, "utf-8")
    other = re.sub(r"\bCR(?=\b|_)", "ZR", card).replace("scorecard: safe-v0", "scorecard: other")
    Path("scorecards", "other.yaml").write_text(other.replace("SAFE_V0_CR", "SAFE_V0_ZR"), "utf-8")
    batch("b", *(case(name) | {"archetype": name} for name in ("CR", "ZR")))
    settings = {name: {"thresholds": {name: {"pass": 0.7}}, "strictAH": True} for name in ("CR", "ZR")}
    both: dict[str, Any] = {"thresholds": {"CR": {"pass": 0.7}, "ZR": {"pass": 0.7}}, "archetypes": settings}
    Path("safe.config.json").write_text(json.dumps(both))
    for name, card_name in (("CR", "safe-v0"), ("ZR", "other")):
        found = report("--batch", "b", "--scorecard", card_name)["configuration"]["parameters"]
        assert found[f"{name}_pass"] == {"value": 0.7, "source": f"safe.config.json: thresholds.{name}.pass"}
    assert main(["lint", "."]) == 0, capsys.readouterr().out
    both["thresholds"]["ZR"]["pas"] = 0.7
    Path("safe.config.json").write_text(json.dumps(both))
    capsys.readouterr()
    assert score("--batch", "b") == 3
    assert "`thresholds.ZR.pas` sets nothing" in capsys.readouterr().err
    assert main(["lint", "."]) == 1
    assert capsys.readouterr().out.count("sets nothing") == 1


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_settings_file_that_can_not_be_read_is_not_as_good_as_none(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    Path("safe.config.json").symlink_to("nowhere.json")
    assert score("--batch", "b") == 3
    assert "can't read this file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cases.csv", "cases.jsonl", "cases.json"])
def test_cases_where_settings_are_expected_name_the_option_of_cases(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_text("test_id\nT1\n" if name == "cases.csv" else '{"test_id": "T1"}\n')
    assert main(["score", "--config", name]) == 3
    hint = "must contain an object of settings; `--cases` names a file or folder of cases"
    assert capsys.readouterr().err == f"error: `{name}` {hint}\n"
    assert main(["score", name]) == 3
    assert "for example `rulewright score --cases cases.csv --concern I25`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compile", "--project", "table.csv", "-o", "plan.json"], "the document must be YAML or JSON, not a table"),
        (["prove", "table.csv"], "`table.csv` is not a document of a project"),
        (["eval", "a", "--context", "table.csv"], "`table.csv` must be a mapping of names to values"),
    ],
)
def test_a_table_is_not_called_empty(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("table.csv").write_text("a,b\n1,2\n")
    assert main(words) == 3
    assert message in capsys.readouterr().err
