"""COMPLETED is reachable, or is not, and why; what the proof shows the machine does."""

import pytest
from tests.compiler.workflow.workflows_in_place import workflow

from rulewright.claims.workflow import prove_workflow
from rulewright.errors import DocumentError
from rulewright.proving.results import Proved, Refuted, Unknown

EVIDENCE = "evidence: {acceptance: junit.xml, lint: ruff.json}"


def last(overlays: str, more: str = "") -> Proved | Refuted | Unknown:
    lines = "".join(f"      {line}\n" for line in overlays.split("\n") if line)
    return prove_workflow(workflow(f"tasks:\n  build:\n    agent: dev\n{more}    overlays:\n{lines}"))[-1].result


def way(overlays: str, more: str = "") -> str:
    found = last(overlays, more)
    assert isinstance(found, Proved), found
    (told,) = found.remarks
    return told.removeprefix("`build`: ")


def why_not(overlays: str, more: str = "") -> str:
    found = last(overlays, more)
    assert isinstance(found, Refuted), found
    return found.reason.removeprefix("task `build`: ")


def loop(metrics: str, more: str = "threshold: 0.8") -> str:
    return f"confidence_loop: {{enabled: true, max_iterations: 3, {more}, metrics: [{metrics}]}}\n"


GATE = f"policy_gate: {{enabled: true, {EVIDENCE}}}\n"
OFF = "hil: {enabled: false}\n"
LINT = "{type: lint_score, source: ruff.json}"


def test_a_task_without_overlays_is_work_and_done() -> None:
    assert way("hil: {enabled: true}") == "start, work, done"


def test_a_path_needs_people_where_they_are_asked() -> None:
    assert way(
        GATE.replace("enabled: true,", "enabled: true, risk_tier: T2,").replace("lint", "readiness: r.md, lint")
    ) == ("start, work, gate, sign_off, done with 1 decision of a person")
    assert way("hil: {enabled: true}", "    requires_human: true\n") == (
        "start, before, work, done with 1 decision of a person"
    )


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        ("{enabled: true}", "names no file for `acceptance`, nor for `lint` or `security`"),
        ("{enabled: true, risk_tier: T0}", "names no file for `acceptance`"),
        (f"{{enabled: true, risk_tier: T2, {EVIDENCE}}}", "names no file for `readiness`"),
        (f"{{enabled: true, require_coverage: true, {EVIDENCE}}}", "names no file for `requirements`"),
        (
            f'{{enabled: true, {EVIDENCE}, conditions: ["evidence.acceptance_evidence == FAIL"]}}',
            "conditions can't hold",
        ),
        (f'{{enabled: true, {EVIDENCE}, conditions: ["coverage >= 0.5"]}}', "conditions can't hold"),
        (f'{{enabled: true, {EVIDENCE}, conditions: ["hil.resolved == false"]}}', "conditions can't hold"),
    ],
)
def test_a_gate_that_never_passes_is_refuted_with_the_reason(gate: str, why: str) -> None:
    assert why in why_not(f"policy_gate: {gate}\n")


@pytest.mark.parametrize(
    "gate",
    [
        f"{{enabled: true, {EVIDENCE}}}",
        "{enabled: true, evidence: {acceptance: junit.xml, security: scan.sarif}}",
        "{enabled: true, require_coverage: true, coverage_threshold: 0.5, "
        "evidence: {acceptance: a.xml, lint: b.json, requirements: r.md}, conditions: ['coverage < 0.75']}",
        f'{{enabled: true, {EVIDENCE}, conditions: ["evidence.operational_readiness == SKIPPED"]}}',
    ],
)
def test_a_gate_that_can_pass_is_a_way(gate: str) -> None:
    assert way(f"policy_gate: {gate}\n") == "start, work, gate, done"


REVIEW = "agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 3}\n"


@pytest.mark.parametrize(
    "condition",
    [
        "review.quality_checks.tests and not review.quality_checks.style",
        "size(review.quality_checks) == 1",
        "'tests' in review.quality_checks and not review.quality_checks.tests and size(review.quality_checks) == 3",
        "has(review.quality_checks.style) and not has(review.quality_checks.tests)",
        "not review.quality_checks.all(name, review.quality_checks[name])",
    ],
)
def test_a_gate_that_some_quality_checks_let_pass_is_a_way(condition: str) -> None:
    gate = GATE.replace("true,", f'true, conditions: ["{condition}"],')
    assert way(REVIEW + gate) == "start, work, review, gate, done"


def test_a_gate_is_refuted_only_where_no_reply_lets_it_pass() -> None:
    names = " and ".join(f"review.quality_checks.c{n} == {str(n % 2 > 0).lower()}" for n in range(5))
    gate = GATE.replace("true,", f'true, conditions: ["{names}"],')
    assert isinstance(last(REVIEW + gate), Unknown)
    assert "conditions can't hold" in why_not(REVIEW + gate.replace(names, f"{names} and review.quality_checks.c0"))


@pytest.mark.parametrize(
    "condition",
    [
        "metrics.lint_score > metrics.test_coverage and metrics.test_coverage > 0.0 and metrics.lint_score < 0.5",
        "review.iteration > loop.iteration",
    ],
)
def test_a_loop_whose_condition_compares_two_values_is_not_refuted(condition: str) -> None:
    metrics = f"{LINT}, {{type: test_coverage, source: coverage.json}}"
    leaving = f'exit_when: all, exit_conditions: ["{condition}"]'
    assert not isinstance(last(OFF + REVIEW + GATE + loop(metrics, leaving)), Refuted)


@pytest.mark.parametrize(
    ("metrics", "best"),
    [
        (LINT, "1"),
        (f"{LINT}, {{type: test_coverage}}", "0.5"),
        (f"{{type: test_coverage, weight: 0}}, {LINT}", "1"),
        ("{type: requirement_coverage, requirements: r.md}, {type: lint_score, source: x, weight: 3}", "0.75"),
    ],
)
def test_the_best_confidence_counts_what_nobody_measures_as_nothing(metrics: str, best: str) -> None:
    assert way(GATE + loop(metrics)).startswith(f"confidence at most {best} (threshold 0.8); ")


def test_requirements_are_looked_for_in_outputs_where_no_source_is_named() -> None:
    metrics = "{type: requirement_coverage, requirements: r.md}"
    assert why_not(OFF + GATE + loop(metrics)) == "confidence is at most 0, below the threshold 0.8"
    assert way(OFF + GATE + loop(metrics), "    outputs: [a.py]\n").startswith("confidence at most 1")


@pytest.mark.parametrize("threshold", ["0.5", "0.50"])
def test_a_threshold_that_the_best_just_meets_is_met(threshold: str) -> None:
    assert way(OFF + GATE + loop(f"{LINT}, {{type: test_coverage}}", f"threshold: {threshold}")).endswith(
        "start, work, score, gate, done"
    )


def test_raw_metrics_have_to_be_met_one_by_one() -> None:
    raw = "mode: raw, threshold: 0.8"
    assert way(OFF + GATE + loop(LINT, raw)) == "start, work, score, gate, done"
    assert why_not(OFF + GATE + loop(f"{LINT}, {{type: test_coverage}}", raw)) == (
        "the metric `test_coverage` is always 0, below the threshold 0.8"
    )


def test_a_person_is_a_way_around_a_threshold_and_not_around_a_gate() -> None:
    hopeless = loop("{type: test_coverage}")
    assert "exhausted:confidence_loop" in way(GATE + hopeless)
    assert "never says PASS" in why_not("policy_gate: {enabled: true}\n" + hopeless)


@pytest.mark.parametrize(
    ("condition", "reachable"),
    [
        ("loop.iteration >= 2", True),
        ("loop.iteration >= 4", False),
        ("review.decision == GO and review.decision == NO_GO", False),
        ("review.feedback == 'fine' and review.quality_checks['tests']", True),
        ("review.decision == NO_GO", True),
    ],
)
def test_a_loop_that_can_not_be_left_does_not_bypass_people(condition: str, reachable: bool) -> None:
    settings = f'enabled: true, reviewer_agent: reviewer, max_iterations: 3, exit_conditions: ["{condition}"]'
    found = last(f"{OFF}agentic_review: {{{settings}}}\n")
    assert isinstance(found, Proved if reachable else Refuted), found


def test_the_first_task_that_can_not_be_completed_is_named_and_the_others_are_counted() -> None:
    text = "tasks:\n  a: {agent: dev}\n"
    text += "".join(f"  t{n}: {{agent: dev, overlays: {{policy_gate: {{enabled: true}}}}}}\n" for n in range(3))
    found = prove_workflow(workflow(text))[-1]
    assert isinstance(found.result, Refuted)
    assert found.result.reason.startswith("task `t0`: ")
    assert found.result.reason.endswith("(and 2 more tasks)")
    assert found.span is not None
    assert found.span.line == 3


@pytest.mark.parametrize("text", ["tasks: {}\n", "tasks:\n", "tasks: []\n", "name: empty\n"])
def test_nothing_is_proved_of_a_workflow_without_tasks(text: str) -> None:
    with pytest.raises(DocumentError):
        prove_workflow(workflow(text))


NO_LOOP = {0: "no task has a loop", 2: "no task has a confidence loop"}
NO_SIGN_OFF = {3: "no gate requires a sign-off"}


@pytest.mark.parametrize(
    ("overlays", "remarks"),
    [
        ("hil: {enabled: true}\n", NO_LOOP | NO_SIGN_OFF),
        (loop(LINT) + GATE, NO_SIGN_OFF),
        (GATE.replace("true,", "true, risk_tier: T2,"), NO_LOOP),
    ],
)
def test_a_proved_claim_about_no_task_says_so(overlays: str, remarks: dict[int, str]) -> None:
    lines = "".join(f"      {line}\n" for line in overlays.splitlines())
    found = prove_workflow(workflow(f"tasks:\n  build:\n    agent: dev\n    overlays:\n{lines}"))
    said = {at: each.result.remarks for at, each in enumerate(found[:5]) if isinstance(each.result, Proved)}
    assert said == {at: (remarks[at],) if at in remarks else () for at in range(5)}


def test_of_many_ways_the_first_are_reported() -> None:
    text = "tasks:\n" + "".join(f"  t{n}: {{agent: dev}}\n" for n in range(30))
    result = prove_workflow(workflow(text))[-1].result
    assert isinstance(result, Proved)
    assert len(result.remarks) == 21
    assert result.remarks[-1] == "and 10 more tasks"


@pytest.mark.parametrize(
    ("overlays", "more", "told"),
    [
        (
            "hil: {enabled: true}",
            "    loop: {max_iterations: 2, exit_conditions: [hil.resolved]}\n",
            "start, 2 times (work), exhausted:loop, done",
        ),
        (
            GATE.replace("true,", "true, conditions: [hil.resolved],"),
            "",
            "start, work, gate, exhausted:gate, gate_again, done",
        ),
    ],
)
def test_nobody_has_decided_before_a_person_is_asked(overlays: str, more: str, told: str) -> None:
    assert way(overlays, more) == f"{told} with 1 decision of a person"


def test_equal_tasks_have_equal_proofs_and_another_its_own() -> None:
    equal = "    agent: dev\n    overlays: {policy_gate: {enabled: true, " + EVIDENCE + "}}\n"
    other = equal.replace(EVIDENCE, "evidence: {lint: ruff.json}")
    two = prove_workflow(workflow(f"tasks:\n  one:\n{equal}  two:\n{equal}"))[-1].result
    assert isinstance(two, Proved)
    assert two.remarks == ("`one`: start, work, gate, done", "`two`: start, work, gate, done")
    three = prove_workflow(workflow(f"tasks:\n  one:\n{equal}  two:\n{other}  three:\n{equal}"))[-1].result
    assert isinstance(three, Refuted)
    assert three.reason.startswith("task `two`: the T1 gate never says PASS")
    assert "more task" not in three.reason
