"""The SARIF of every example finding of the manual is valid under the standard's schema."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.compiler.test_rules import BAD, findings, name_of
from tests.rounds import every

from rulewright.diagnostics import Diagnostic, Severity, Span
from rulewright.manual import explain
from rulewright.render.output_formats import render

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parent / "sarif" / "sarif-2.1.0-rtm.5.schema.json").read_text(encoding="utf-8")
)
FIRST = {path.parent: path for path in reversed(BAD)}  # one example of each code
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


@pytest.mark.parametrize("path", every(12, list(FIRST.values())), ids=name_of)
def test_the_findings_of_an_example_are_valid_sarif(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = findings(path, tmp_path)
    document = json.loads(render("sarif", report.diagnostics, report.sources, page_of=explain))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    assert len(document["runs"][0]["results"]) == len(report.diagnostics)


def test_no_findings_are_valid_sarif() -> None:
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(render("sarif", (), {})))] == []


def test_the_schema_refuses_invalid_sarif() -> None:
    document = json.loads(render("sarif", (), {}))
    document["runs"][0]["result"] = []
    assert not VALIDATOR.is_valid(document)


def test_a_file_name_that_is_not_utf8_is_written_as_its_bytes() -> None:
    name = os.fsdecode(b"checks/W\xff 1.yaml")
    found = Diagnostic("x", Severity.ERROR, f"the file is called `{name}`", Span(name, 1, 1, 1, 3))
    document = json.loads(render("sarif", [found], {}).encode())
    (result,) = document["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "checks/W%FF%201.yaml"
    assert result["message"]["text"] == "the file is called `checks/W? 1.yaml`"
