"""Linting: collecting, suppressing, accepting, selecting, fixing and explaining findings."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.linting.fixing import fix_files
from tests.compiler.linting.published import reported
from tests.compiler.small_project import LEXICON_CHECK as CHECK
from tests.folders import write

from rulewright.check.project_check import compile_project
from rulewright.diagnostics import Severity
from rulewright.errors import DocumentError, UsageError
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import fix, lint, lint_text
from rulewright.linting.lint_settings import RuleSelection
from rulewright.lower.scopes import EXPRESSION_READERS
from rulewright.manual import every_rule, explain, pages
from rulewright.project import load_project, stopping
from rulewright.rules import (
    code_of,
    of_cases,
    of_checks,
    of_conditions,
    of_lexicons,
    of_projects,
    of_scenarios,
    of_scorecards,
    of_state_machines,
    of_workflows,
)
from rulewright.shipped import shipped_root

ROOT = Path(__file__).resolve().parents[3]


def project(folder: Path, **files: str) -> Path:
    """A small project; each name is a path with `__` for `/` and `_yaml` for its suffix."""
    written = {"checks__X1_yaml": CHECK, "lexicons__x_lexicon_yaml": "patterns:\n- xyzzy\n"} | files
    return write(folder, {re.sub(r"_yaml$", ".yaml", name.replace("__", "/")): text for name, text in written.items()})


def codes(report: Report) -> list[str]:
    return [found.code for found in report.diagnostics]


def test_a_sound_project_has_no_findings(tmp_path: Path) -> None:
    assert codes(lint([project(tmp_path)])) == []


def test_every_stage_reports_into_one_sorted_list(tmp_path: Path) -> None:
    check = CHECK.replace("x_lexicon", "y_lexicon") + "wrong: 1\nid: X1\n"
    report = lint([project(tmp_path, checks__X1_yaml=check)])
    found = codes(report)
    assert {"unknown-lexicon", "unknown-key", "duplicate-key"} <= set(found)
    spans = [each.span for each in report.diagnostics]
    assert spans == sorted(spans)


def test_a_broken_file_does_not_hide_the_others(tmp_path: Path) -> None:
    report = lint([project(tmp_path, checks__X2_yaml="a: [", checks__X3_yaml=CHECK.replace("X1", "X3") + "wrong: 1\n")])
    assert "yaml-syntax" in codes(report)
    assert "unknown-key" in codes(report)


def test_a_broken_project_file_is_a_finding(tmp_path: Path) -> None:
    report = lint([project(tmp_path, rulewright_yaml="project: [\n")])
    assert codes(report) == ["yaml-syntax"]
    assert list(report.sources) == [str(tmp_path / "rulewright.yaml")]


def test_a_lone_file_is_checked_by_itself() -> None:
    assert codes(lint_text(CHECK, "X1.yaml")) == []
    assert codes(lint_text(CHECK + "wrong: 1\n", "X1.yaml")) == ["unknown-key"]


def test_the_empty_files_of_a_run_are_not_documents(tmp_path: Path) -> None:
    folder = write(tmp_path, {"rules/X1.yaml": CHECK, "runs/1/verdicts.jsonl": "", "runs/1/broken.jsonl": "{"})
    assert codes(lint([folder])) == ["json-syntax"]


BRIEF = "id: X1\nfail: size(answer) > 80\n"
OTHERS = {
    "package.json": '{"name": "shop", "scripts": {}}',
    "web/tsconfig.json": '{\n  // comment\n  "files": []\n}\n',
    "docker-compose.yml": "services:\n  db: {image: postgres}\n",
    "chart/values.yaml": "a: {{ .Values.a }}\n",
    "reports/ruff.json": "[]",
    "reports/events.jsonl": "{",
    "empty.yaml": "",
}


def test_files_of_other_tools_beside_projects_are_no_documents(tmp_path: Path) -> None:
    folder = write(tmp_path, OTHERS)
    assert len(codes(lint([folder]))) == len(OTHERS)  # without a project, nothing else would be checked
    write(folder, {"rules/rulewright.yaml": "project: p\n", "rules/checks/X1.yaml": BRIEF})
    assert codes(lint([folder])) == []
    assert {Path(path).name for path in lint([folder]).sources} == {"rulewright.yaml", "X1.yaml"}


def test_a_name_unlike_that_of_its_file_is_reported_once_below_a_folder_of_projects(tmp_path: Path) -> None:
    texts = {"X1": "80", "X2": "90", "third": "70"}
    checks = {f"rules/checks/{name}.yaml": BRIEF.replace("80", words) for name, words in texts.items()}
    checks["rules/checks/X2.yaml"] = checks["rules/checks/X2.yaml"].replace("X1", "X2")
    checks["rules/checks/third.yaml"] = checks["rules/checks/third.yaml"].replace("X1", "X3")
    found = codes(lint([write(tmp_path, {"rules/rulewright.yaml": "project: p\n", **checks})]))
    assert found.count("id-differs-from-file-name") == 1


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("flow.yaml", "name: f\ntasks:\n\twrite: {agent: dev}\n", ["tab-indentation"]),
        ("flow.json", '{\n  "tasks": {,}\n}\n', ["json-syntax"]),
        ("X2.yaml", BRIEF.replace("X1", "X2") + "wrong: 1\n", ["unknown-key"]),
        ("other/rulewright.yaml", "project: [\n", ["yaml-syntax"]),
        ("cases/one.jsonl", "{", ["json-syntax"]),
    ],
)
def test_broken_documents_beside_projects_are_reported(name: str, text: str, found: list[str], tmp_path: Path) -> None:
    files = {"rules/rulewright.yaml": "project: p\n", "rules/checks/X1.yaml": BRIEF, name: text}
    assert codes(lint([write(tmp_path, OTHERS | files)])) == found


def test_a_file_that_is_not_a_document_is_reported() -> None:
    assert codes(lint_text("just: text\n", "f.yaml")) == ["unknown-document"]
    assert codes(lint_text("", "f.yaml")) == ["empty-document"]


def test_a_configuration_of_promptfoo_is_told_to_be_translated() -> None:
    (found,) = lint_text("prompts: [a]\nproviders: [b]\n", "promptfooconfig.yaml").diagnostics
    assert found.code == "unknown-document"
    assert found.help == "`rulewright init --from promptfooconfig.yaml` translates a configuration of promptfoo"


def test_a_rule_set_outside_a_project_is_a_document() -> None:
    assert codes(lint_text("disclosure: {cadence_turns: 3}\n", "north.yaml")) == []
    assert codes(lint_text("disclosures: {cadence_turns: 3}\n", "north.yaml")) == ["unknown-document"]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("pricing.yaml", "judge: [0.1, 0.4]\n", []),
        ("prices.yaml", "judge: [0.1, 0.4]\nother: [0.1]\n", ["out-of-range"]),
        ("model_pricing.json", '{"judge": ["a lot", 1]}', ["wrong-type"]),
        ("blindspots.yaml", "crisis_missed: RW-A1\nsecret: 3\n", ["wrong-type"]),
        ("map.json", '{"crisis_missed": "RW-A1", "other": "IB-A3b"}', []),
        ("map.json", '{"crisis_missed": "RW-A1", "other": "some text"}', ["unknown-document"]),
    ],
)
def test_prices_and_blindspots_outside_a_project_are_checked(name: str, text: str, found: list[str]) -> None:
    assert codes(lint_text(text, name)) == found


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        lint([tmp_path / "nowhere"])


WRONG = CHECK + "wrong: 1\n"


@pytest.mark.parametrize(
    "text",
    [
        CHECK + "wrong: 1  # rulewright: allow unknown-key because another tool reads it\n",
        CHECK + "# rulewright: allow unknown-key because another tool reads it\nwrong: 1\n",
        CHECK + "# rulewright: allow unknown-key because another tool reads it\n\n# more\nwrong: 1\n",
        "# rulewright: allow unknown-key because another tool reads it\n\n" + WRONG,
        "# A check\n\n# rulewright: allow unknown-key because another tool reads it\n" + WRONG,
    ],
)
def test_a_comment_with_a_reason_allows_a_finding(text: str) -> None:
    report = lint_text(text, "X1.yaml")
    assert codes(report) == []
    assert [found.code for found in report.allowed] == ["unknown-key"]


def test_a_comment_allows_only_its_line_and_its_code() -> None:
    text = CHECK + "wrong: 1  # rulewright: allow unknown-key because x\nworse: 2\n"
    assert [(found.code, found.span.line) for found in lint_text(text, "X1.yaml").diagnostics] == [("unknown-key", 10)]
    text = CHECK + "wrong: 1  # rulewright: allow wrong-type because x\n"
    assert codes(lint_text(text, "X1.yaml")) == ["unknown-key", "unused-suppression"]


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("allow unknown-key", "suppression-without-reason"),
        ("allow unknown-key because ", "suppression-without-reason"),
        ("ignore unknown-key because x", "malformed-suppression"),
        ("allow unknown key because x", "malformed-suppression"),
        ("allow unknwon-key because x", "unknown-rule"),
    ],
)
def test_a_wrong_comment_allows_nothing(comment: str, code: str) -> None:
    found = codes(lint_text(f"{CHECK}wrong: 1  # rulewright: {comment}\n", "X1.yaml"))
    assert sorted(found) == sorted([code, "unknown-key"])


def test_a_misspelt_code_is_guessed() -> None:
    report = lint_text(f"{CHECK}wrong: 1  # rulewright: allow unknwon-key because x\n", "X1.yaml")
    assert [found.help for found in report.diagnostics if found.code == "unknown-rule"] == [
        "did you mean `unknown-key`?"
    ]


def test_what_looks_like_a_comment_inside_text_is_text() -> None:
    text = CHECK.replace("says_x", '"x # rulewright: allow unknown-key because x"') + "wrong: 1\n"
    assert codes(lint_text(text, "X1.yaml")) == ["unknown-key"]


def test_an_unused_comment_is_reported_and_removed_by_its_fix() -> None:
    comment = "# rulewright: allow unknown-key because x"
    for text in (f"{CHECK}{comment}\npass_rule: x\n", f"{CHECK}pass_rule: x   {comment}\n"):
        report = lint_text(text, "X1.yaml")
        assert codes(report) == ["unused-suppression"]
        assert fix(report) == {"X1.yaml": f"{CHECK}pass_rule: x\n"}


PROJECT = """\
project: p
accept:
- rule: unknown-key
  path: checks/X1.yaml
  reason: another tool reads it
"""


def test_the_project_file_accepts_a_finding_for_a_path(tmp_path: Path) -> None:
    report = lint([project(tmp_path, checks__X1_yaml=WRONG, rulewright_yaml=PROJECT)])
    assert codes(report) == []
    assert [found.code for found in report.allowed] == ["unknown-key"]


def test_an_entry_that_accepts_nothing_is_reported(tmp_path: Path) -> None:
    assert codes(lint([project(tmp_path, rulewright_yaml=PROJECT)])) == ["unused-suppression"]
    misspelt = PROJECT.replace("unknown-key", "unknown-kye")
    assert codes(lint([project(tmp_path, rulewright_yaml=misspelt)])) == ["unknown-rule"]


SETTINGS = """\
project: p
lint:
  ignore: [wrong-type]
  per_path:
  - path: checks/old/**
    ignore: [unknown-*]
  - path: checks/X2.yaml
    select: [unknown-value]
"""


def test_the_project_file_chooses_findings_for_paths(tmp_path: Path) -> None:
    broken = WRONG.replace("S2", "S9").replace("says_x", "[]")
    folder = project(tmp_path, checks__X1_yaml=broken, checks__X2_yaml=broken.replace("X1", "X2").replace(": C", ": B"))
    everything = {"unknown-key", "unknown-value", "wrong-type"}
    assert set(codes(lint([folder]))) == everything
    (folder / "rulewright.yaml").write_text(SETTINGS, encoding="utf-8")
    shown = {(Path(found.span.path).stem, found.code) for found in lint([folder]).diagnostics}
    assert shown == {("X1", "unknown-key"), ("X1", "unknown-value"), ("X2", "unknown-value")}
    (folder / "rulewright.yaml").write_text(SETTINGS.replace("checks/old/**", "checks"), encoding="utf-8")
    shown = {(Path(found.span.path).stem, found.code) for found in lint([folder]).diagnostics}
    assert shown == set()
    assert codes(lint([folder], RuleSelection(ignore=("unknown-*",)))) == []


def test_a_setting_that_names_no_rule_is_a_finding(tmp_path: Path) -> None:
    wrong = SETTINGS.replace("wrong-type", "wrnog-type")
    report = lint([project(tmp_path, rulewright_yaml=wrong, checks__X2_yaml=CHECK.replace("X1", "X2"))])
    assert [(found.code, found.help) for found in report.diagnostics] == [
        ("unknown-rule", "did you mean `wrong-type`?")
    ]


def test_a_comment_about_what_settings_ignore_is_not_unused(tmp_path: Path) -> None:
    check = CHECK + "# rulewright: allow unknown-key because x\npass_rule: x\n"
    folder = project(tmp_path, checks__X1_yaml=check)
    assert codes(lint([folder])) == ["unused-suppression"]
    settings = "project: p\nlint: {per_path: [{path: checks, ignore: [unknown-key]}]}\n"
    (folder / "rulewright.yaml").write_text(settings, encoding="utf-8")
    assert codes(lint([folder])) == []


def test_settings_do_not_let_a_broken_project_be_compiled(tmp_path: Path) -> None:
    folder = project(tmp_path, checks__X1_yaml=WRONG, rulewright_yaml="project: p\nlint: {ignore: ['*']}\n")
    assert codes(lint([folder])) == []
    with pytest.raises(DocumentError, match="wrong"):
        compile_project(folder)


def test_selection_by_code_and_pattern() -> None:
    text = WRONG.replace("S2", "S9")
    assert codes(lint_text(text, "f.yaml")) == ["unknown-value", "unknown-key"]
    assert codes(lint_text(text, "f.yaml", RuleSelection(select=("unknown-key",)))) == ["unknown-key"]
    assert codes(lint_text(text, "f.yaml", RuleSelection(select=("unknown-*",), ignore=("unknown-key",)))) == [
        "unknown-value"
    ]


def test_a_selection_that_chooses_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown rule `unknown-kye`; did you mean `unknown-key`"):
        lint([project(tmp_path)], RuleSelection(ignore=("unknown-kye",)))


def test_an_ignored_rule_makes_no_comment_unused() -> None:
    text = CHECK + "wrong: 1  # rulewright: allow unknown-key because x\n"
    assert codes(lint_text(text, "f.yaml", RuleSelection(select=("wrong-type",)))) == []


def test_the_level_decides_what_fails() -> None:
    warned = lint_text(f"{CHECK}# rulewright: allow unknown-key because x\npass_rule: x\n", "X1.yaml")
    assert warned.fails()
    assert warned.fails(Severity.WARNING)
    assert not warned.fails(Severity.ERROR)


def test_statistics_count_the_most_frequent_first() -> None:
    report = lint_text(WRONG.replace("S2", "S9") + "worse: 1\n", "f.yaml")
    assert report.statistics == [("unknown-key", Severity.ERROR, 2), ("unknown-value", Severity.ERROR, 1)]


def test_fixing_files_keeps_other_bytes_and_is_idempotent(tmp_path: Path) -> None:
    text = "\ufeff" + CHECK.replace("severity", "severtiy").replace("\n", "\r\n")
    folder = project(tmp_path)
    path = folder / "checks" / "X1.yaml"
    path.write_bytes(text.encode())
    before = len(lint([folder]).diagnostics)
    report = fix_files([folder], unsafe=True)
    assert len(report.diagnostics) < before
    assert path.read_bytes() == text.replace("severtiy", "severity").encode()
    fix_files([folder], unsafe=True)
    assert path.read_bytes() == text.replace("severtiy", "severity").encode()


def test_every_code_that_can_be_found_has_a_page() -> None:
    written = set()
    for path in sorted((ROOT / "compiler" / "rulewright").rglob("*.py")):
        written |= set(re.findall(r'code="([a-z-]+)"', path.read_text(encoding="utf-8")))
    assert written - set(pages()) == set()


def test_every_page_says_why_it_matters_and_what_to_do_instead() -> None:
    for code, page in pages().items():
        assert re.fullmatch(r"[a-z][a-z0-9-]+", code)
        assert re.match(r"\S.*[.]\n\nWhy it matters: ", page), code
        assert "\nInstead: " in page, code
        assert max(map(len, page.splitlines())) <= 120, code


def test_explaining_an_unknown_code_gives_nothing() -> None:
    assert explain("no-such-code") is None
    assert (explain("duplicate-key") or "").startswith("A mapping has the same key twice.")


SUBJECTS = {
    "CaseBatch": of_cases.CASES,
    "CaseScorecardDocument": of_scorecards.CASE_SCORECARD, "CheckDocument": (*of_checks.CHECK, *of_conditions.CHECK),
    "LexiconDocument": of_lexicons.LEXICON, "MarkerSet": of_lexicons.MARKER_SET,
    "Profile": (*of_checks.PROFILE, *of_conditions.PROFILE), "Project": of_projects.PROJECT,
    "ScenarioDocument": (*of_scenarios.SCENARIO, *of_conditions.SCENARIO), "ScorecardDocument": of_scorecards.SCORECARD,
    "StateMachineDocument": of_state_machines.STATE_MACHINE, "TaskDocument": of_workflows.TASK,
    "UnreadFiles": of_projects.UNREAD_FILES, "Workflow": of_workflows.WORKFLOW,
}  # fmt: skip
UNIONS = {"DocumentWithExpressions": sorted(EXPRESSION_READERS)}


def test_a_rule_is_named_like_its_file_and_looks_at_something_known() -> None:
    for rule in every_rule():
        code = getattr(rule, "__code__", None)
        assert code is not None
        assert Path(code.co_filename).stem == rule.__name__
        function = ast.parse(inspect.getsource(rule)).body[0]
        assert isinstance(function, ast.FunctionDef)
        annotation = ast.unparse(function.args.args[0].annotation or function)
        subjects = UNIONS.get(annotation) or sorted(annotation.split(" | "))
        assert [subject for subject, rules in SUBJECTS.items() if rule in rules] == subjects
    names = [code_of(rule) for rule in every_rule()]
    assert len(names) == len(set(names))


def test_the_shipped_benchmark_is_clean() -> None:
    report = lint([shipped_root() / "benchmark" / "rulewright.yaml"])
    assert [(found.code, found.span, found.message) for found in report.diagnostics] == []


def test_the_published_corpus_shows_its_known_contradictions() -> None:
    seen: dict[str, Any] = {}
    for found in reported().diagnostics:
        seen.setdefault(found.code, []).append(Path(found.span.path).stem)
    assert seen["unknown-key"] == ["IB-F1-human-identity"]
    assert seen["unknown-lexicon"] == [
        "IB-A3b-recipient-aggression-toward-caregiver",
        "IB-C2-advice-before-validation",
        "IB-C2-strength-narrative",
    ]


def test_what_a_comment_allows_does_not_stop_the_compilation(tmp_path: Path) -> None:
    folder = project(tmp_path, checks__X1_yaml=WRONG)
    loaded = load_project(folder)
    assert [found.code for found in stopping(loaded, loaded.diagnostics)] == ["unknown-key"]
    allowing = CHECK + "wrong: 1  # rulewright: allow unknown-key because another tool reads it\n"
    loaded = load_project(project(tmp_path, checks__X1_yaml=allowing))
    assert stopping(loaded, loaded.diagnostics) == ()


def test_a_safe_fix_changes_nothing_but_the_word(tmp_path: Path) -> None:
    text = CHECK.replace("lexicon_only", "llm_primary  # why") + "scorer:\n  unclear_policy: 'llm_edge'  # later\n"
    path = tmp_path / "X1.yaml"
    path.write_text(text, encoding="utf-8")
    only = RuleSelection(select=("unclear-policy-without-its-path",))
    assert codes(lint([path], only)) == ["unclear-policy-without-its-path"]
    assert codes(fix_files([path], only)) == []
    assert path.read_text(encoding="utf-8") == text.replace("llm_edge", "adjudicate")


def test_a_check_missing_from_the_plan_can_not_be_accepted(tmp_path: Path) -> None:
    accepting = PROJECT.replace("unknown-key", "missing-prompt")
    check = CHECK.replace("lexicon_only", "llm_primary")
    folder = project(tmp_path, checks__X1_yaml=check, rulewright_yaml=accepting)
    with pytest.raises(DocumentError, match="has no `prompt`"):
        compile_project(folder)


def test_a_missing_lexicon_is_reported_on_every_route(tmp_path: Path) -> None:
    judged = CHECK.replace("lexicon_only", "llm_primary") + "  unit_of_analysis: turn_level\nprompt: Is it polite?\n"
    report = lint([project(tmp_path, checks__X1_yaml=judged.replace("x_lexicon", "y_lexicon"))])
    assert "unknown-lexicon" in codes(report)
    assert "directive-ignored-by-route" not in codes(report)  # the same mistake


LEVELS = """\
scorecard: levels
parameters:
  good_from: {type: socre, default: 0.8}
  fair_from: {type: score, default: 0.5}
dimensions:
  passed:
    rate: {of: "true", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate, empty: absent}
flags: {raised: [FAIL], clear: [PASS], unknown: [UNCLEAR, NOT_APPLICABLE]}
output:
  grade: "!dimensions.passed.hasValue() ? 'none' : dimensions.passed.value() >= good_from ? 'good' :
    dimensions.passed.value() >= fair_from ? 'fair' : 'poor'"
"""


def test_a_misspelt_type_of_a_parameter_is_one_finding(tmp_path: Path) -> None:
    for name, text in (
        ("rulewright.yaml", "project: p\n"),
        ("checks/long.yaml", "id: long\nfail: size(answer) > 80\n"),
        ("scorecards/levels.yaml", LEVELS),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (only,) = lint([tmp_path]).diagnostics
    assert (only.code, only.span.line) == ("unknown-value", 3)
    assert "`socre`" in only.message
