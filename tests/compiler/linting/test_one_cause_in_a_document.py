"""One slip in a document gives one finding, even if it shows in several places of it."""

from pathlib import Path

import pytest

from rulewright.causes import repeated
from rulewright.linting.lint_run import lint_text

CHECK = """\
id: brief
each: reply
params:
  words: 60
fail: word_count(turn.content) > params.words
primary_bucket: F
severity: S3
"""


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "cure"),
    [
        ("fail:", "when:", "unknown-key", 5, "did you mean `fail`?"),
        ("params:", "when: size(turns) > 1\nparams:", "unknown-key", 3, "did you mean `applies`?"),
        ("params:", "when: size(scenario.tags) > 1\nparams:", "unknown-key", 3, "`when` belongs under `eligibility`"),
        ("fail:", "passes:", "unknown-key", 5, "did you mean `pass`?"),
        (
            "params:",
            "parameters: {words: {type: integer, minimum: 80, maximum: 20, default: 60}}\nparams:",
            "out-of-range",
            3,
            None,
        ),
        ("params:\n  words", "words", "unknown-key", 3, "write it below `params`: `params.words` is read"),
        ("words: 60", "words: sixty", "parameter-does-not-fit", 4, None),
        ("words: 60", "words: -60", "parameter-does-not-fit", 4, None),
        ("word_count(turn", "word_count(turn.content) == 1; word_count(turn", "bad-expression", 5, None),
        ("word_count(turn.content)", "sentence_count(turn.content)", "units-differ", 5, None),
        (
            "params.words\n",
            "params.words and word_count(turn.content) < 60\n"
            "examples: [{verdict: FAIL, chat: [user: a, assistant: b]}]\n",
            "check-never-fails",
            5,
            None,
        ),
    ],
)
def test_a_slip_in_a_check_gives_one_finding(old: str, new: str, code: str, line: int, cure: str | None) -> None:
    (found,) = lint_text(CHECK.replace(old, new, 1), "checks/brief.yaml").grouped().diagnostics
    assert (found.code, found.span.line) == (code, line)
    assert cure is None or found.help == cure


def test_a_limit_that_contradicts_its_words_gives_one_finding() -> None:
    text = "id: too-slow\nnote: A chat takes at most 20 seconds.\npass: usage.latency > 20.0\n"
    (found,) = lint_text(text, "checks/too-slow.yaml").grouped().diagnostics
    assert (found.code, found.span.line) == ("words-contradict-condition", 3)


RATE = "{of: 'true', hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate, empty: absent}"
LINE = f"""\
scorecard: line
parameters: {{minimum: {{type: score, default: 0.8}}}}
rates:
  passed: {{rate: {RATE}}}
variables:
  - share: rates.passed
output:
  status: STATUS
  overall: share
headline: overall
"""


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("share.orValue(score(0)) > minimum ? 'invalid' : 'valid'", "bound-excluded"),
        ("share.hasValue() ? 'none' : share.value() >= minimum ? 'A' : 'B'", "guard-excludes-its-value"),
    ],
)
def test_a_slip_in_an_output_gives_one_finding(status: str, code: str) -> None:
    (found,) = lint_text(LINE.replace("STATUS", f'"{status}"'), "scorecards/line.yaml").grouped().diagnostics
    assert found.code == code


@pytest.mark.parametrize("word", ["ovre: cases\n", "over: caess\n", ""])
def test_a_scorecard_over_cases_is_known_where_the_word_is_missing(word: str) -> None:
    card = Path(__file__).parents[3] / "benchmark/configs/scorecards/safe-v0.yaml"
    (found,) = lint_text(card.read_text().replace("over: cases\n", word, 1), str(card)).grouped().diagnostics
    assert found.code == ("unknown-value" if word.startswith("over") else "unknown-key" if word else "missing-key")


def test_a_corpus_without_its_sources_is_one_finding() -> None:
    corpus = """\
claims: [gives]
promises: [you qualify]
hedges: [may]
verify_at: [the office]
programmes:
  leave: {names: [Leave], source: act, facts: {}}
"""
    (found,) = lint_text(corpus, "corpora/leave.yaml").grouped().diagnostics
    assert (found.code, found.span.line) == ("missing-key", 1)


def test_a_record_of_json_lines_that_is_not_closed_is_reported_at_its_line() -> None:
    (found,) = lint_text('{"test_id": "a", "tags": ["b"}\n{"test_id": "c"}\n', "cases/all.jsonl").diagnostics
    assert (found.code, found.span.line) == ("json-syntax", 1)
    (found,) = lint_text('{"test_id": "a", "expectations": {}\n{"test_id": "c"}\n', "cases/all.jsonl").diagnostics
    assert (found.code, found.span.line, found.span.column) == ("json-syntax", 1, 35)


@pytest.mark.parametrize(("key", "value"), [("review", 0.85), ("pass", 0.4)])
def test_a_threshold_of_a_group_is_compared_with_the_usual_one(key: str, value: float) -> None:
    thresholds = '{"thresholds": {"CR": {"pass": 0.8, "review": 0.5}},\n'
    thresholds += ' "archetypes": {"Safety": {"thresholds": {"CR": %s}}}}'
    (found,) = lint_text(thresholds % f'{{"{key}": {value}}}', "safe.config.json").diagnostics
    assert (found.code, found.span.line) == ("bad-setting", 2)
    assert lint_text(thresholds % f'{{"{key}": 0.6}}', "safe.config.json").diagnostics == ()


def test_an_exit_in_one_task_is_no_consequence_of_a_condition_in_another() -> None:
    loop = "{enabled: true, threshold: 0.8, max_iterations: 3, exit_conditions: [confidence_score >= 0.5],"
    text = f"""\
version: "1"
name: flow
tasks:
  find:
    agent: dev
    outputs: [{{path: list.md}}]
    overlays:
      policy_gate: {{enabled: true, risk_tier: T0, evidence: {{acceptance: junit.xml}}}}
      confidence_loop: {loop} metrics: [{{type: checklist_completion, source: list.md}}]}}
  fix:
    agent: dev
    dependencies: [find]
    overlays:
      agentic_review:
        enabled: true
        reviewer_agent: reviewer
        max_iterations: 4
        exit_when: all
        exit_conditions: [review.decision == GO, loop.iteration >= 1]
"""
    found = lint_text(text, "flow.yaml").grouped().diagnostics
    assert [(each.code, each.span.line) for each in found] == [
        ("exit-below-threshold", 9), ("condition-always-holds", 19),
    ]  # fmt: skip


def test_two_partners_of_one_task_are_one_finding() -> None:
    text = """\
version: "1"
name: flow
tasks:
  note:
    agent: dev
    outputs: [{path: note.md}]
    overlays:
      paired_workflow: {enabled: true, challenger_agent: reviewer, max_iterations: 2}
      agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 2}
"""
    (found,) = lint_text(text, "flow.yaml").grouped().diagnostics
    assert (found.code, found.span.line) == ("paired-with-review", 8)


def test_a_label_without_a_status_is_reported_there_and_not_where_it_is_used() -> None:
    text = Path("benchmark/configs/scorecards/safe-v0.yaml").read_text(encoding="utf-8")
    text = text.replace("      of: questions\n", "      of: questions\n      count: true\n      unclear: Review\n")
    (found,) = lint_text(text.replace("Review: 2, ", ""), "scorecards/safe-v0.yaml").grouped().diagnostics
    assert (found.code, found.message) == ("unknown-label", "`exit` does not know the label `Review`")


def test_a_gate_that_is_not_enabled_is_one_finding() -> None:
    flow = (
        'version: "1"\nname: flow\ntasks:\n  build:\n    agent: dev\n    description: It.\n'
        "    outputs: [{path: a.md}]\n    overlays:\n"
        "      policy_gate: {risk_tier: T1, evidence: {acceptance: junit.xml, lint: ruff.json}}\n"
        "      confidence_loop: {enabled: true, threshold: 0.9, max_iterations: 3, metrics: [{type: lint_score,"
        " weight: 1, source: ruff.json}]}\n"
    )
    assert [each.code for each in lint_text(flow, "workflow.yaml").diagnostics] == ["overlay-not-enabled"]


def test_a_wrong_value_below_a_misspelt_key_is_reported_with_it() -> None:
    text = f"{CHECK}eligibilty:\n  when: scenario.categori == 'safety'\nscope: trigger\n"
    found = lint_text(text, "checks/brief.yaml").diagnostics
    assert [(each.code, each.span.line) for each in found] == [("unknown-key", 8), ("bad-expression", 9)]


@pytest.mark.parametrize("value", ["red", "|-\n          red", ">-\n          red", '"re\\\n          d"'])
def test_a_value_of_several_lines_hides_no_finding_below_it(value: str) -> None:
    """Correcting it changes the number of lines."""
    text = (
        f"id: order\neach: tool_call\nparams:\n  order:\n    properties:\n      size:\n        enum: {value}\n"
        "    colour: {enum: [red]}\npass: valid_against(tool_call.arguments, params.order)\n"
    )
    found = lint_text(text, "order.yaml").diagnostics
    assert [each.message for each in found] == [
        "`properties.size.enum` must be a list, not the text `red`",
        "unknown JSON Schema keyword `colour`",
    ]


@pytest.mark.parametrize("value", ["", " null", " 3"])
def test_a_value_at_the_end_of_a_task_hides_nothing_in_the_next_one(value: str) -> None:
    text = (
        f"tasks:\n  draft:\n    agent: dev\n    overlays:{value}\n  facts:\n    agent: dev\n    overlays:\n"
        "      policy_gate: {enabled: true, risk_tier: T1, evidence: {acceptance: junit.xml, lint: ruff.json}}\n"
        "      confidence_loop: {enabled: true, threshold: 0.8, max_iterations: 3, metrics:"
        " [{type: llm_judge, evaluator_agent: le}]}\n"
    )
    found = lint_text(text, "flow.yaml").diagnostics
    assert [(each.code, each.span.line) for each in found] == [("wrong-type", 4), ("judge-without-output", 9)]


def test_thousands_of_findings_are_compared_only_with_their_possible_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(repeated, "_causes", lambda cause, found: asked.append(found.code))
    params = "".join(f"  p{number}: {number}\n" for number in range(300))
    text = CHECK.replace("params:\n", f"params:\n{params}")
    assert len(lint_text(text, "checks/brief.yaml").diagnostics) == 300
    assert asked == []


def test_a_number_of_milliseconds_is_not_compared_with_the_words_as_well() -> None:
    check = (
        "id: slow\ndescription: A conversation takes at most 30 seconds.\n"
        "params: {seconds: 30000.0}\nfail: usage.latency > params.seconds\n"
    )
    assert [each.code for each in lint_text(check.encode(), "slow.yaml").diagnostics] == ["units-differ"]
