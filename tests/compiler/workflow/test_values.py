"""The contexts of a proof cover every result of guards, and both results of an opaque condition."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulewright.commands.workflow_settings import settings_of, state_of
from rulewright.errors import DocumentError, UsageError
from rulewright.expression.build import build
from rulewright.expression.types import BOOL
from rulewright.lower.workflow_guards import TaskFeatures, loop_environment
from rulewright.proving.program_parts import paths_of
from rulewright.proving.workflow_values import (
    MAX_CONTEXTS,
    OPAQUE,
    TooManyContextsError,
    Truths,
    excluding,
    spoken,
    worlds,
)
from rulewright.workflow import Workflow, load_workflow
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.workflow.run_settings import AdapterSettings, Constitution, Notice, RunSettings, Security

KNOWN = TaskFeatures("composite", ("lint_score", "test_coverage"), pair=True, review=True, gate=True, hil=True)


def program(text: str) -> Program:
    return build(text, loop_environment(KNOWN), expect=BOOL).program


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("review.decision == GO", {("review", "decision")}),
        ("metrics['lint_score'] > 0.5", {("metrics", "lint_score")}),
        ("metrics.all(m, metrics[m] > 0.5)", {("metrics",)}),
        ("confidence_score > 0.5 or loop.iteration > 2", {("confidence_score",), ("loop", "iteration")}),
    ],
)
def test_a_condition_says_what_it_reads(text: str, paths: set[tuple[str, ...]]) -> None:
    assert set(paths_of(program(text)) or ()) == paths


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("confidence_score >= 0.8", {True, False}),
        ("confidence_score > 1", {False}),
        ("confidence_score >= 0", {True, False}),  # false where it is absent
        ("confidence_score > 0.5 and confidence_score < 0.50001", {True, False}),
        ("metrics.lint_score > 0.3 and metrics.lint_score < 0.2", {False}),
        ("loop.iteration == 17", {True, False}),
        ("review.decision == GO and review.decision == NO_GO", {False}),
        ("metrics.all(m, metrics[m] >= 0.9) and size(metrics) > 1", {True, False}),
        ("review.feedback.contains('x')", {True, False}),
    ],
)
def test_contexts_show_every_answer(text: str, answers: set[bool]) -> None:
    truths = Truths()
    found = program(text)
    assert {truths.holds(found, world) for world in worlds([found], truths)} == answers


def test_what_a_comparison_cannot_foresee_is_a_coin() -> None:
    truths = Truths()
    found = program("review.feedback.contains('x')")
    assert truths.is_opaque(found)
    assert [world[OPAQUE] for world in worlds([found], truths)] == [{found.source: True}, {found.source: False}]
    assert not truths.is_opaque(program("review.decision == GO"))


def test_too_many_combinations_become_coins() -> None:
    truths = Truths()
    parts = [f"confidence_score > 0.{n}" for n in range(10, 40)]
    parts += ["metrics.lint_score > 0.1", "metrics.test_coverage > 0.1", "review.decision == GO"]
    parts += ["pair.challenger_approved", "policy_gate.verdict == PASS", "hil.resolved", "loop.iteration > 3"]
    said = worlds([program(part) for part in parts[-12:]], truths)
    assert len(said) == MAX_CONTEXTS
    assert all(len(world[OPAQUE]) == 12 for world in said)
    with pytest.raises(TooManyContextsError):
        worlds([program(part) for part in parts], truths)


def test_a_context_can_be_read_aloud() -> None:
    world = {"confidence_score": 0.8, "review": {"decision": "GO"}, OPAQUE: {"a > b": False}}
    assert spoken(world) == "confidence_score = 0.8, review.decision = GO, not (a > b)"


@settings(max_examples=60)
@given(
    low=st.integers(0, 100), high=st.integers(0, 100), score=st.integers(0, 1000),
    word=st.sampled_from(["GO", "NO_GO", None]), joined=st.sampled_from(["and", "or"]),
)  # fmt: skip
def test_no_input_gives_an_answer_that_no_context_gives(
    low: int, high: int, score: int, word: str | None, joined: str
) -> None:
    texts = [
        f"confidence_score >= {low / 100} {joined} review.decision == GO",
        f"confidence_score < {high / 100}",
        "not (review.decision == NO_GO)",
    ]
    found = [program(text) for text in texts]
    truths = Truths()
    said = {tuple(truths.holds(each, world) for each in found) for world in worlds(found, truths)}
    context = {"confidence_score": score / 1000, "review": {} if word is None else {"decision": word}}
    assert tuple(condition(each, Polarity.PERMITTING)(context).holds for each in found) in said


FLOW = "version: '1'\nname: flow\ntasks: {build: {agent: dev}}\n"
PROJECT = """
project: p
workflow:
  file: flow.yaml
  folder: work
  state: state/runs.db
  overlays:
    hil:
      queue_path: queue
      poll_interval_seconds: 0.5
      notify:
        on_created: [{type: webhook, url: "https://${HOST:-localhost}/new"}]
        on_t2_gate: [{type: command, command: [notify, t2]}]
  adapters:
    dev: {type: command, command: [agent, --fast], environment: [TOKEN], timeout_seconds: 9, max_retries: 1}
    reviewer: {type: python, callable: "agents:review"}
    default: {type: mock, script: script.json}
"""


def workflow(folder: Path, project: str | None = PROJECT) -> Workflow:
    (folder / "flow.yaml").write_text(FLOW, encoding="utf-8")
    if project is not None:
        (folder / "rulewright.yaml").write_text(project, encoding="utf-8")
    return load_workflow(folder / "flow.yaml")


@pytest.fixture(autouse=True)
def _without_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOST", raising=False)


def test_every_setting_is_handed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "hooks.example")
    loaded = workflow(tmp_path)
    assert settings_of(loaded) == RunSettings(
        adapters={
            "dev": AdapterSettings(
                "command", command=("agent", "--fast"), environment=("TOKEN",), timeout_seconds=9, max_retries=1
            ),
            "reviewer": AdapterSettings("python", callable="agents:review"),
            "default": AdapterSettings("mock", script=str(tmp_path / "script.json")),
        },
        folder=str(tmp_path / "work"),
        queue_path=str(tmp_path / "queue"),
        poll_interval_seconds=0.5,
        on_created=(Notice("webhook", url="https://hooks.example/new"),),
        on_t2_gate=(Notice("command", command=("notify", "t2")),),
    )
    assert state_of(loaded) == tmp_path / "state" / "runs.db"


def test_addresses_have_defaults(tmp_path: Path) -> None:
    assert settings_of(workflow(tmp_path)).on_created[0].url == "https://localhost/new"


def test_an_address_that_needs_an_unset_variable_is_refused(tmp_path: Path) -> None:
    loaded = workflow(tmp_path, PROJECT.replace(":-localhost", ""))
    with pytest.raises(UsageError, match="`HOST`, which is not set"):
        settings_of(loaded)


KEY = "ssh-ed25519 " + "A" * 68


def test_signers_are_passed_on_and_never_empty(tmp_path: Path) -> None:
    signed = PROJECT.replace("      queue_path: queue\n", f"      signers: {{Ana (QA): {KEY}}}\n")
    assert settings_of(workflow(tmp_path, signed)).signers == {"Ana (QA)": KEY}
    with pytest.raises(UsageError, match=r"`hil\.signers` is empty"):
        settings_of(workflow(tmp_path, signed.replace(f"{{Ana (QA): {KEY}}}", "{}")))


@pytest.mark.parametrize(
    ("old", "new"), [("signers: ", "signer: "), ("workflow:", "workflo:"), ("signers: {", "signers: ["), (PROJECT, "")]
)
def test_signers_of_a_project_file_with_mistakes_are_not_empty(tmp_path: Path, old: str, new: str) -> None:
    signed = PROJECT.replace("      queue_path: queue\n", f"      signers: {{Ana (QA): {KEY}}}\n")
    written = "" if old == PROJECT else signed.replace(old, new)
    with pytest.raises(DocumentError):
        settings_of(workflow(tmp_path, written))


def test_constitution_and_security_are_handed_over(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Be kind.", encoding="utf-8")
    security = "{secret_patterns: ['x+'], injection_detection_level: quarantine}"
    more = f"  constitution: {{file: rules.md}}\n  security: {security}\n"
    found = settings_of(workflow(tmp_path, PROJECT + more))
    assert found.constitution == Constitution("rules.md", "Be kind.")
    assert found.security == Security(("x+",), "quarantine")
    with pytest.raises(UsageError, match=r"can't read the constitution `gone\.md`: no such file"):
        settings_of(workflow(tmp_path, PROJECT + more.replace("rules.md", "gone.md")))
    with pytest.raises(UsageError, match=r"regular expression `\(` is refused"):
        settings_of(workflow(tmp_path, PROJECT + more.replace("x+", "(")))


def test_a_lone_workflow_has_no_adapters(tmp_path: Path) -> None:
    loaded = workflow(tmp_path, None)
    assert settings_of(loaded).adapters == {}
    assert state_of(loaded) == tmp_path / ".rulewright" / "workflow.db"


def test_a_setting_that_can_not_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"invalid `workflow` in the project file: .*timeout_seconds"):
        settings_of(workflow(tmp_path, PROJECT.replace("timeout_seconds: 9", "timeout_seconds: 0")))


def test_of_more_conditions_than_a_proof_can_combine_none_is_reported(tmp_path: Path) -> None:
    conditions = [f"review.feedback.contains('part {number}')" for number in range(14)]
    review = {"enabled": True, "reviewer_agent": "b", "max_iterations": 2, "exit_when": "all"}
    task = {"agent": "a", "overlays": {"agentic_review": {**review, "exit_conditions": conditions}}}
    (tmp_path / "flow.json").write_text(json.dumps({"version": "1", "name": "flow", "tasks": {"build": task}}))
    loaded = load_workflow(tmp_path / "flow.json").document.task("build")
    assert loaded is not None
    (loop,) = loaded.loops
    assert len(loop.conditions) == len(conditions)
    assert excluding(loaded, loop) is None
