"""Which findings are shown by default or when selected, and how findings with one cause are grouped."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.compiler.linting.published import reported
from tests.compiler.small_project import check, write

from rulewright import rules
from rulewright.categories import CATEGORIES, ELSEWHERE, LEVELS, PEDANTIC, PREVIEW, SINCE, category_of, is_default
from rulewright.causes.related_codes import ACROSS, FOLLOWED_BY, GROUPED, REPORTED_WITH
from rulewright.diagnostics import Severity
from rulewright.errors import UsageError
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint
from rulewright.linting.lint_settings import RuleSelection
from rulewright.manual import pages
from rulewright.render.output_formats import render

RULES = Path(rules.__file__).parent
MOST = 221  # findings of the published corpus that somebody has to read
WRONG = f"{check()}wrong: 1\n"
KEY, UNIT = "unknown-key", "unit-of-analysis-missing"
TOLD = {KEY, UNIT, "unknown-rule"}  # what the settings below are about


def codes(report: Report) -> set[str]:
    return {found.code for found in report.diagnostics}


def found_in(folder: Path, settings: str = "", **selection: Any) -> Report:
    """What is found in a check with an unknown key and without a unit of analysis."""
    write(folder, {"rulewright.yaml": f"project: p\n{settings}", "checks/W-1.yaml": WRONG})
    report = lint([folder], RuleSelection(**selection))
    return replace(report, diagnostics=tuple(found for found in report.diagnostics if found.code in TOLD))


def test_every_code_has_one_category() -> None:
    rules = Counter(path.stem.replace("_", "-") for each in CATEGORIES for path in (RULES / each).glob("[!_]*.py"))
    assert {*rules.values(), *(Counter([*rules, *ELSEWHERE]).values())} == {1}
    assert {*rules, *ELSEWHERE, *GROUPED, *ACROSS, *REPORTED_WITH, *PREVIEW, *SINCE} <= pages().keys()
    assert {*ELSEWHERE.values()} <= {*CATEGORIES}
    assert all(category_of(code) in CATEGORIES for code in pages())
    assert {path.name for path in RULES.iterdir() if path.is_dir()} - {"__pycache__"} == {*CATEGORIES} == {*LEVELS}


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({}, {KEY}),
        ({"extend": ("pedantic",)}, {KEY, UNIT}),
        ({"extend": ("unit-*",)}, {KEY, UNIT}),
        ({"select": ("pedantic",)}, {UNIT}),
        ({"select": ("*",)}, {KEY, UNIT}),
        ({"select": ("*",), "ignore": ("correctness",)}, {UNIT}),
        ({"extend": ("pedantic",), "ignore": ("unit-*",)}, {KEY}),
    ],
)
def test_a_selection_names_codes_and_categories(selection: Any, expected: set[str], tmp_path: Path) -> None:
    assert codes(found_in(tmp_path, **selection)) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("lint: {extend_select: [pedantic]}", {KEY, UNIT}),
        ("lint: {select: [pedantic]}", {UNIT}),
        ("lint: {ignore: [correctness]}", set()),
        ("lint: {per_path: [{path: checks/**, extend_select: [pedantic]}]}", {KEY, UNIT}),
        ("lint: {per_path: [{path: scenarios/**, extend_select: [pedantic]}]}", {KEY}),
        ("lint: {extend_select: [pedantc]}", {KEY, UNIT, "unknown-rule"}),
    ],
)
def test_a_project_names_codes_and_categories(settings: str, expected: set[str], tmp_path: Path) -> None:
    assert codes(found_in(tmp_path, settings)) == expected


def test_a_project_gives_a_code_another_severity(tmp_path: Path) -> None:
    settings = "lint: {severity: {unknown-key: advice}, per_path: [{path: other/**, severity: {unknown-key: warning}}]}"
    (found,) = found_in(tmp_path, settings).diagnostics
    assert found.severity is Severity.ADVICE


@pytest.mark.parametrize("word", ["{unknown-kye: error}", "{unknown-key: fatal}", "[unknown-key]"])
def test_an_unknown_severity_is_a_finding(word: str, tmp_path: Path) -> None:
    write(tmp_path, {"rulewright.yaml": f"project: p\nlint: {{severity: {word}}}\n", "checks/W-1.yaml": WRONG})
    assert codes(lint([tmp_path])) & {"unknown-rule", "unknown-value", "wrong-type"}


def test_a_selection_of_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean `suspicious`"):
        RuleSelection(select=("suspicous",)).check()


def test_pedantic_and_preview_rules_are_off_by_default() -> None:
    assert not any(is_default(code) for code in pages() if category_of(code) == PEDANTIC or code in PREVIEW)
    assert all(is_default(code, preview=True) for code in PREVIEW)


def test_findings_of_the_published_corpus_are_grouped_without_losing_any() -> None:
    each = reported()
    told = each.grouped()
    assert len(told.diagnostics) <= MOST
    told_by = {
        code: {code, *(each for each, others in REPORTED_WITH.items() if code in others)} for code in codes(told)
    }
    places = {
        (code, span)
        for found in told.diagnostics
        for span in (found.span, *(note.span for note in found.notes))
        for code in told_by[found.code]
    }
    assert {(found.code, found.span) for found in each.diagnostics} <= places
    consequences = {code for cause in codes(each) for code in FOLLOWED_BY.get(cause, ())}
    beyond = codes(reported("*")) - codes(each) - consequences
    assert {category_of(code) for code in beyond} == {PEDANTIC}


def test_a_group_is_one_finding_with_its_further_places() -> None:
    found = [each for each in reported().diagnostics if each.code == "anchor-names-ineligible-check"]
    report = replace(reported(), diagnostics=tuple(found))
    told = report.grouped()
    assert len(told.diagnostics) < len(report.diagnostics)
    first = max(told.diagnostics, key=lambda found: len(found.notes))
    assert "more places in this document)" in first.message
    assert len({found.span.path for found in told.diagnostics}) == len(told.diagnostics)


def test_sarif_gives_the_page_the_level_and_the_category_of_a_rule(tmp_path: Path) -> None:
    report = found_in(tmp_path, extend=("pedantic",))
    rules = json.loads(render("sarif", report.diagnostics, report.sources))["runs"][0]["tool"]["driver"]["rules"]
    assert [(rule["id"], rule["defaultConfiguration"], rule["properties"]["category"]) for rule in rules] == [
        ("unit-of-analysis-missing", {"level": "note", "enabled": False}, "pedantic"),
        ("unknown-key", {"level": "error", "enabled": True}, "correctness"),
    ]
    assert [rule["helpUri"] for rule in rules] == [f"urn:rulewright:rule:{rule['id']}" for rule in rules]
