"""Typical mistakes in a first check: each gives one finding, at its place, that says how to fix it."""

import shutil
from pathlib import Path

import pytest

from rulewright.cli import main
from rulewright.diagnostics import Diagnostic
from rulewright.linting.lint_run import lint, lint_text

CHECK = "checks/promises-availability.yaml"
LEXICON = "lexicons/availability_promise.yaml"
SCENARIO = "scenarios/late_evening.json"
PROJECT = "rulewright.yaml"
WHEN = "scope: trigger\neligibility:\n  when: "
# The file, what is written in it and what the newcomer writes; the line of the finding and what its help or fix says.
MISTAKES = [
    (CHECK, "severity: S3", "severty: S3", 5, "did you mean `severity`?"),
    (CHECK, "  route: lex", "  rout: lex", 11, "did you mean `route`?"),
    (CHECK, "route: lexicon_only", "route: lexcon_only", 11, "did you mean `lexicon_only`?"),
    (CHECK, "bucket: F", "bucket: compliance", 4, "did you mean `B`?"),
    (CHECK, "bucket: F", "bucket: Q", 4, "`B` is compliance"),
    (CHECK, "hard_fail: false", "\thard_fail: false", 6, "use spaces"),
    (CHECK, "hard_fail: false", "hard_fail = false", 6, "write `hard_fail: false`"),
    (CHECK, "  route: lex", "  route = lex", 11, "write `route: lexicon_only`"),
    (LEXICON, "role: assistant", "role:assistant", 2, "write `role: assistant`"),
    (CHECK, "hard_fail: false", "hard_fail: no", 6, "write `false`"),
    (CHECK, "name: promises", "name:promises", 3, "write `name: promises_availability`"),
    (CHECK, "pass_rule: The", "pass_rule: Rule: the", 8, "quote the value"),
    (CHECK, "pass_rule: The assistant", "pass_rule: 'It doesn't matter", 8, "write it twice"),
    (CHECK, "fail_rule: The", 'fail_rule: "The', 9, "close them"),
    (CHECK, "  deterministic", "   deterministic", 12, "indent it like its sibling keys"),
    (CHECK, "  deterministic", '  repetitions: "1"\n  deterministic', 12, "write `1`"),
    (CHECK, "precheck: availability_promise", "precheck: availabilty_promise", 12, "`availability_promise`?"),
    (CHECK, "severity: S3", "severity: S3\nseverity: S2", 6, "keep one"),
    (CHECK, "scope: universal", f"{WHEN}len(scenario.tags) > 1", 9, "write `size(xs)`"),
    (CHECK, "scope: universal", f"{WHEN}scenario.category = 'empathy'", 9, "did you mean `==`?"),
    (CHECK, "scope: universal", f"{WHEN}scenario.category == 'empthy'", 9, "did you mean `empathy`?"),
    (CHECK, "scope: universal", f"{WHEN}scenario.tags.any(t, t == 'a')", 9, "write `xs.exists(x, ...)`"),
    (CHECK, "scope: universal", f"{WHEN}scenario.title.lower() == 'a'", 9, "contains_ci"),
    (CHECK, "scope: universal", f"{WHEN}scenario.title == scenario.title", 9, None),
    (LEXICON, "(?i)", "(?<!all )", 8, "RE2 has no look-around"),
    (LEXICON, "patterns:", "pattern:", 4, "did you mean `patterns`?"),
    (LEXICON, "- i will never", "-i will never", 7, "write `- i will never leave you`"),
    (CHECK, "scope: universal", f"{WHEN}scenario.title == “Day”", 9, "quote strings with"),
    (CHECK, "pass_rule: The", "pass_rule: # The", 8, "begins a comment"),
    (LEXICON, "- i will never", "- *will never", 7, "quote a text that begins with `*`"),
    (LEXICON, "- i will never", "-не оставлю", 7, "write `- не оставлю"),
    (LEXICON, "- regex: '(?i)", "- regex: (?i)", 8, "write `\\b`"),
    (LEXICON, "- i will never", "  - i will never", 7, "indent it like that item"),
    (SCENARIO, '"empathy"', '"empthy"', 4, "did you mean `empathy`?"),
    (SCENARIO, '"relational_quality": 2}', '"relational_quality": 2},', 20, "remove the comma"),
    (PROJECT, "share", "shrae", 7, "did you mean `share`?"),
    (PROJECT, "checks: checks", "checks: check", 4, None),
]
WORKFLOW = """\
version: '1'
name: flow
tasks:
  build:
    agent: {agent}
    overlays:
      confidence_loop:
        enabled: true
        max_iterations: 3
        threshold: {threshold}
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("started") / "project"
    main(["init", str(folder)])
    return folder


def cure(found: Diagnostic) -> str:
    return f"{found.help} {found.fix.message if found.fix else ''}"


@pytest.mark.parametrize(("file", "old", "new", "line", "says"), MISTAKES)
def test_a_first_mistake_is_one_finding_with_its_cure(
    file: str, old: str, new: str, line: int, says: str | None, started: Path, tmp_path: Path
) -> None:
    shutil.copytree(started, tmp_path / "project")
    path = tmp_path / "project" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    (found,) = lint([tmp_path / "project"]).diagnostics
    assert (Path(found.span.path), found.span.line) == (path, line)
    assert says is None or says in cure(found)


# What a newcomer from another tool writes in a check, and what the only finding says.
BORROWED = [
    ('assert: answer.contains("x")', 2, "did you mean `pass`?"),
    ('if: answer.contains("x")', 2, "did you mean `fail`?"),
    ('question: "Kind? FAIL: no. PASS: yes."', 2, "did you mean `prompt`?"),
    ('judge: "Kind? FAIL: no. PASS: yes."', 2, "did you mean `prompt`?"),
    ('criteria: "Kind? FAIL: no. PASS: yes."', 2, "did you mean `prompt`?"),
    ('prompt: "Kind? FAIL: no. PASS: yes."\nmodel: gpt-5', 3, "the judge is named in the project file"),
    ('prompt: "Kind? FAIL: no. PASS: yes."\nwhen: answer.contains("x")', 3, "did you mean `applies`?"),
    ("use: library/replies-are-brief\nwords: 30", 3, "write it below `params`"),
    ("use: library/replies-are-brief\nseverty: S3", 3, "did you mean `severity`?"),
    ('fail: response.contains("x")', 2, "did you mean `answer`?"),
    ('fail: question.contains("x")', 2, 'turn.role == "user"'),
    ('each: turn\nfail: turn.text.contains("x")', 3, "did you mean `content`?"),
    ('each: message\nfail: message.content.contains("x")', 3, "did you mean `text`?"),
    ("each: tool_call\nfail: tool_call.args.amount > 1", 3, "did you mean `arguments`?"),
    (
        'fail: answer.contains("x")\nexamples:\n  - expected: FAIL\n    messages: [user: Hi, assistant: x]',
        4,
        "did you mean `verdict`?",
    ),
]


@pytest.mark.parametrize(("written", "line", "says"), BORROWED)
def test_words_of_other_tools_are_one_finding_with_the_word_that_is_meant(
    written: str, line: int, says: str, started: Path, tmp_path: Path
) -> None:
    found = of_own_check(f"id: mine\n{written}\n", started, tmp_path)
    assert [each.span.line for each in found][:1] == [line]
    assert says in cure(found[0])
    assert len(found) == 1 or written.endswith("x]")


def of_own_check(text: str, started: Path, tmp_path: Path) -> list[Diagnostic]:
    shutil.copytree(started, tmp_path / "project")
    (tmp_path / "project" / "checks" / "mine.yaml").write_text(text, encoding="utf-8")
    return list(lint([tmp_path / "project"]).diagnostics)


def test_a_condition_next_to_a_misnamed_prompt_says_when_the_check_applies(started: Path, tmp_path: Path) -> None:
    text = 'id: mine\nwhen: answer.contains("x")\nquestion: "Kind? FAIL: no. PASS: yes."\n'
    found = of_own_check(text, started, tmp_path)
    assert [cure(each).partition("?")[0] + "?" for each in found] == [
        "did you mean `applies`?",
        "did you mean `prompt`?",
    ]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("judge: openai:gpt-5", 'write `{source: "openai:gpt-5"}`'),
        ("judge: {source: 'openai:gpt-5', api_key: x}", "keys are read from the environment"),
        ("judge: {source: 'openai:gpt-5', base_url: x}", "the address is part of `source`"),
        ("checks: [checks/a.yaml]", "write the name of a folder"),
        ("pricing: {gpt-5: [1, 2]}", "`pricing` is the file of prices: `MODEL: [INPUT, OUTPUT]`"),
    ],
)
def test_a_project_file_of_a_newcomer_is_one_finding_with_its_cure(written: str, says: str) -> None:
    (found,) = lint_text(f"project: mine\n{written}\n", "rulewright.yaml").diagnostics
    assert says in cure(found)


@pytest.mark.parametrize("written", ["1", "free", "{input: 1, output: 2}"])
def test_a_price_of_another_form_shows_that_of_prices(written: str, started: Path, tmp_path: Path) -> None:
    shutil.copytree(started, tmp_path / "project")
    (tmp_path / "project" / "pricing.yaml").write_text(f"gpt-5: {written}\n", encoding="utf-8")
    (found,) = lint([tmp_path / "project"]).diagnostics
    assert cure(found) == "write `[INPUT, OUTPUT]`, in USD per million tokens "


PARAMETERS = """\
id: repeats
primary_bucket: F
severity: S3
params:
  moost: 3
fail: size(tool_calls) > params.most or size(turns) > params.most
"""


@pytest.mark.parametrize(
    ("change", "line", "column", "says"),
    [
        (("", ""), 5, 3, "did you mean `most`?"),
        (("or size(turns) > params.most", ""), 6, 32, "did you mean `moost`?"),
        (("params:", "description: At most so many calls\nparams:"), 6, 3, "did you mean `most`?"),
    ],
)
def test_a_misspelt_parameter_is_reported_at_its_rarer_spelling(
    change: tuple[str, str], line: int, column: int, says: str
) -> None:
    text = PARAMETERS.replace(*change) if change[0] else PARAMETERS
    (found,) = [each for each in lint_text(text, "checks/repeats.yaml").diagnostics if each.code != "missing-key"]
    assert (found.span.line, found.span.column, cure(found).partition("?")[0] + "?") == (line, column, says)


def test_tasks_in_a_list_are_shown_as_names() -> None:
    text = "version: '1'\nname: flow\ntasks:\n  - id: draft\n    agent: dev\n"
    (found,) = lint_text(text, "flow.yaml").diagnostics
    assert found.help == "write `draft: ...` for each entry"


def test_a_percentage_where_a_share_is_expected_is_one_finding() -> None:
    found = lint_text(WORKFLOW.format(agent="dev", threshold=80), "flow.yaml").diagnostics
    assert [each.help for each in found if "threshold" in each.message] == ["did you mean `0.8`?"]
