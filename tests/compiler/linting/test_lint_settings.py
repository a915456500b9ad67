"""The lint settings of the nearest project file apply to a whole project and to a file that is linted alone."""

import os
from pathlib import Path

import pytest
from tests.compiler.small_project import check, write

from rulewright.documents.layout import project_file_above
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.lint_settings import DEFAULT, RuleSelection, settings_around

CHECK = "checks/W-1.yaml"
WRONG = f"{check()}wrong: 1\n"
WORKFLOW = "version: '1'\nname: flow\nwrong: 1\ntasks: {a: {agent: dev}}\n"


def codes(report: Report) -> list[str]:
    return [found.code for found in report.diagnostics]


def inside(folder: Path, project: str, name: str = CHECK, text: str = WRONG) -> Report:
    """What is found in one file of a project whose file says `project`."""
    write(folder, {"rulewright.yaml": f"project: p\n{project}", name: text})
    return lint([folder / name])


@pytest.mark.parametrize(
    ("project", "expected"),
    [
        ("", ["unknown-key"]),
        ("lint: {ignore: [unknown-key]}", []),
        ("lint: {select: ['lexicon-*']}", []),
        ("lint: {select: ['unknown-*']}", ["unknown-key"]),
        ("lint: {per_path: [{path: checks, ignore: [unknown-key]}]}", []),
        ("lint: {per_path: [{path: scenarios, ignore: [unknown-key]}]}", ["unknown-key"]),
        ("accept: [{rule: unknown-key, path: checks/**, reason: shared}]", []),
        ("accept: [{rule: unknown-key, path: scenarios/**, reason: shared}]", ["unknown-key"]),
        ("accept: [{rule: invalid-regex, reason: not about this file}]", ["unknown-key"]),
        ("root: checks\nlint: {per_path: [{path: W-1.yaml, ignore: [unknown-key]}]}", []),
        ("root: ${NOWHERE:-checks}\naccept: [{rule: unknown-key, path: W-1.yaml, reason: shared}]", []),
    ],
)
def test_a_lone_file_has_the_settings_of_its_project(project: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(inside(tmp_path, project)) == expected


def test_an_accepted_finding_is_still_listed_as_allowed(tmp_path: Path) -> None:
    report = inside(tmp_path, "accept: [{rule: unknown-key, path: checks/**, reason: shared}]")
    assert [found.code for found in report.allowed] == ["unknown-key"]


def test_options_of_the_caller_and_settings_of_the_project_both_apply(tmp_path: Path) -> None:
    inside(tmp_path, "lint: {ignore: [unknown-key]}")
    assert codes(lint([tmp_path / CHECK], RuleSelection(select=("unknown-key",)))) == []


def test_a_workflow_linted_alone_has_the_settings_of_its_project(tmp_path: Path) -> None:
    assert "unknown-key" in codes(inside(tmp_path / "a", "", "flow.yaml", WORKFLOW))
    assert "unknown-key" not in codes(inside(tmp_path / "b", "lint: {ignore: [unknown-key]}", "flow.yaml", WORKFLOW))


def test_a_folder_inside_a_project_has_its_settings(tmp_path: Path) -> None:
    inside(tmp_path, "lint: {ignore: [unknown-key]}")
    assert codes(lint([tmp_path / "checks"])) == []


def test_text_from_a_pipe_has_the_settings_of_the_path_it_is_named_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside(tmp_path, "lint: {per_path: [{path: checks, ignore: [unknown-key]}]}")
    monkeypatch.chdir(tmp_path / "scenarios")
    assert codes(lint_text(WRONG, "../checks/stdin.yaml")) == []
    assert codes(lint_text(WRONG, "stdin.yaml")) == ["unknown-key"]


def test_the_nearest_project_file_counts_alone(tmp_path: Path) -> None:
    inside(tmp_path, "lint: {ignore: [unknown-key]}")
    (tmp_path / "checks" / "rulewright.yml").write_text("project: inner\n", encoding="utf-8")
    assert codes(lint([tmp_path / CHECK])) == ["unknown-key"]


@pytest.mark.parametrize("project", ["lint: {select: [nothing-like-it]}", "lint: {ignore: ['*', nothing-like-it]}"])
def test_a_pattern_that_matches_no_code_is_never_hidden(project: str, tmp_path: Path) -> None:
    assert codes(inside(tmp_path, project)) == ["unknown-rule"]
    assert codes(lint([tmp_path])) == ["unknown-rule"]


def test_a_misspelt_pattern_ignores_what_was_meant(tmp_path: Path) -> None:
    (found,) = inside(tmp_path, "lint: {ignore: [unknown-kye]}").diagnostics
    assert (found.code, found.help) == ("unknown-rule", "did you mean `unknown-key`?")
    (found,) = inside(tmp_path, "lint: {ignore: [unknown-key], extend_select: [pedantics]}").diagnostics
    assert (found.code, found.help) == ("unknown-rule", "did you mean `pedantic`?")


def test_a_misspelt_path_of_settings_is_an_error_there(tmp_path: Path) -> None:
    row = "lint: {per_path: [{path: %s, ignore: [unknown-key]}]}"
    assert codes(inside(tmp_path, row % "check*/*.yaml")) == []
    (_, found) = inside(tmp_path, row % "check/*.yaml").diagnostics
    assert (found.code, found.span.line, found.help) == ("missing-path", 2, "did you mean `checks/*.yaml`?")
    assert codes(inside(tmp_path, row % "drafts/**")) == ["unknown-key"]  # a folder that is not there yet


def test_an_unreadable_project_file_is_reported_and_hides_nothing(tmp_path: Path) -> None:
    report = inside(tmp_path, "lint: {ignore: [unknown-key]\n")
    assert codes(report) == ["unknown-key", "yaml-syntax"]
    assert str(tmp_path / "rulewright.yaml") in report.sources


def test_a_project_file_of_another_name_is_linted_as_a_project(tmp_path: Path) -> None:
    write(tmp_path, {"other.yaml": "project: p\nscorecard: two-tier\n", CHECK: WRONG})
    assert "unknown-key" in codes(lint([tmp_path / "other.yaml"]))


def test_project_files_are_looked_for_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "rulewright.json").write_text("{}", encoding="utf-8")
    assert project_file_above(tmp_path / "a" / "b") == tmp_path / "rulewright.json"
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert project_file_above(Path()) == Path(os.pardir, os.pardir, "rulewright.json")
    assert settings_around(Path("nowhere")).wants("unknown-key", "x.yaml", DEFAULT)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("unknown-lexicon", False),  # it takes the project to see
        ("unused-lexicon", False),
        ("even-repetitions", True),
        ("unknown-key", True),
        ("duplicate-key", True),
    ],
)
def test_a_comment_is_unused_only_where_its_finding_would_be_shown(code: str, told: bool, tmp_path: Path) -> None:
    text = f"# rulewright: allow {code} because it was so once\n{check()}"
    assert codes(inside(tmp_path, "", text=text)) == ["unused-suppression"] * told
    assert "unused-suppression" in codes(lint([tmp_path]))
