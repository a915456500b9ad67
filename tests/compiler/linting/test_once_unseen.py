"""Documents found by random edits: lint once crashed on them, or accepted what the compiler refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.linting.usage import errors_of
from tests.compiler.small_project import SCENARIO, check, write
from tests.compiler.test_phases import CHECK as PHASED

from rulewright.check.project_check import compile_project
from rulewright.claims.documents import prove
from rulewright.commands.workflow_settings import settings_of
from rulewright.diagnostics import Severity
from rulewright.errors import DocumentError, UsageError
from rulewright.linting.lint_run import lint, lint_text
from rulewright.shipped import shipped_root
from rulewright.workflow import load_workflow

CASES = shipped_root() / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml"
CARD = "scorecard: c\nparameters: {limit: PARAMETER}\noutput: {status: \"limit == limit ? 'valid' : 'invalid'\"}\n"
SCORING = "gates: {A_safety: {mode_buckets: [A], hard_fail_on_severity: [S5]}}\n"
ENGINE = "project: p\nworkflow: {engine: {KEY: VALUE}}\n"
WORKFLOW = "version: '1'\nname: flow\ntasks: {a: {agent: dev}}\n"


def codes(found: Any) -> list[str]:
    return sorted({each.code for each in found.diagnostics if each.severity is Severity.ERROR})


def scenario(**parts: Any) -> str:
    return json.dumps({**json.loads(SCENARIO), **parts})


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("s.json", scenario(scenario_id="a night"), ["out-of-range"]),
        ("s.json", scenario(scenario_id="n" * 101), ["out-of-range"]),
        ("s.json", scenario(sessions=[{"turns": [[], {"branches": [{}]}, 3]}, 3], turns=[[[]], 1]), None),
        ("c.yaml", check(route="llm_primary", routing=f"recalled_share: {'9' * 300}"), ["number-out-of-range"]),
        ("c.yaml", check(scope="universal", tags="x]\nwhen: scenario.nothing  # ["), ["bad-expression"]),
        ("c.yaml", CARD.replace("PARAMETER", "{type: string, default: x, min: 1}"), ["bad-parameter"]),
        ("c.yaml", CARD.replace("PARAMETER", "{type: bool, default: true, max: 1}"), ["bad-parameter"]),
        ("c.yaml", CARD.replace("PARAMETER", "{type: text, default: x}"), ["unknown-value"]),
        ("c.yaml", CARD.replace("PARAMETER", "{type: number, default: 1, min: x}"), ["wrong-type"]),
        ("c.yaml", CASES.read_text(encoding="utf-8").replace("type: bool", "type: 3"), None),
        ("c.yaml", CASES.read_text(encoding="utf-8").replace("type: score", "type: scores"), ["unknown-value"]),
        ("c.yaml", CASES.read_text(encoding="utf-8").replace("min: 0", "min: none"), ["wrong-type"]),
        ("c.yaml", PHASED.replace("kind: [none, secrecy]", "kind: []"), None),
        ("c.yaml", PHASED.replace("kind: [none, secrecy]", "kind: 1.0"), None),
    ],
)
def test_a_document_that_once_crashed_the_linter_has_findings(name: str, text: str, expected: list[str] | None) -> None:
    found = codes(lint_text(text, name))
    assert found == (expected or found) != []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"configs/profiles.yaml": "publish: {include_routes: [nowhere]}\n"}, ["unknown-value"]),
        ({"checks/W-1.yaml": PHASED.replace("kind: [none, secrecy]", "kind: []")}, None),
        ({"configs/scoring.yaml": SCORING}, ["bad-expression"]),
        ({"rulewright.yaml": f"project: p\nchecks: {'a' * 5000}\n"}, ["missing-path"]),
        ({"rulewright.yaml": f"project: p\nmarkers: {{human: {'a' * 5000}}}\n"}, ["missing-path"]),
        ({"rulewright.yaml": f"project: p\nscorecard: share\nworkflow: {{file: {'a' * 5000}}}\n"}, ["missing-path"]),
        ({"rulewright.yaml": "project: p\nscorecard: share\nprofile: other\n"}, ["unknown-profile"]),
        ({"rulewright.yaml": "project: p\nscorecard: other\n"}, ["unknown-scorecard"]),
        ({"rulewright.yaml": ENGINE.replace("KEY: VALUE", "max_concurrent_tasks: 1001")}, ["out-of-range"]),
        ({"rulewright.yaml": ENGINE.replace("KEY: VALUE", "max_retries: 101")}, ["out-of-range"]),
        ({"rulewright.yaml": ENGINE.replace("KEY: VALUE", "timeout_seconds: 1.0e+300")}, ["out-of-range"]),
        ({"rulewright.yaml": ENGINE.replace("KEY: VALUE", "retry_backoff_seconds: 1.0e+300")}, ["out-of-range"]),
    ],
)
def test_a_project_that_cannot_be_used_has_errors(
    files: dict[str, str], expected: list[str] | None, tmp_path: Path
) -> None:
    found = codes(lint([write(tmp_path, {"configs/profiles.yaml": "publish: {include_all: true}\n", **files})]))
    assert found == (expected or found) != []


def test_what_the_shipped_scorecard_cannot_read_is_reported_at_the_scoring_file(tmp_path: Path) -> None:
    folder = write(tmp_path, {"configs/scoring.yaml": SCORING})
    with pytest.raises(DocumentError) as refused:
        compile_project(folder, profile="publish")
    assert {found.span.path for found in refused.value.diagnostics} == {str(folder / "configs" / "scoring.yaml")}
    assert set(refused.value.diagnostics) <= set(lint([folder]).diagnostics)


def test_a_project_without_checks_has_nothing_to_compile(tmp_path: Path) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    assert errors_of(lint([tmp_path])) == []
    with pytest.raises(UsageError, match="no checks"):
        compile_project(tmp_path)


def test_an_unread_condition_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "W-1.yaml"
    path.write_text(check(scope="universal", tags="x]\nwhen: scenario.nothing  # ["), encoding="utf-8")
    with pytest.raises(DocumentError) as refused:
        prove(path)
    assert [(found.code, found.span.line) for found in refused.value.diagnostics] == [("bad-expression", 8)]


def test_three_tries_may_be_written_with_a_point(tmp_path: Path) -> None:
    adapters = "workflow: {adapters: {default: {type: mock, script: script.json, max_retries: 3.0}}}"
    (tmp_path / "rulewright.yaml").write_text(f"project: p\n{adapters}\n", encoding="utf-8")
    (tmp_path / "workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
    assert errors_of(lint([tmp_path])) == []
    assert settings_of(load_workflow(tmp_path / "workflow.yaml")).adapters["default"].max_retries == 3
