"""Workflow documents: defaults that a task overrides, agents, contracts, order, and where mistakes are shown."""

import json
import os
from pathlib import Path

import pytest
from tests.compiler.workflow.workflows_in_place import errors, files, plan_of, task_of, warnings, workflow

from rulewright.check.workflow_check import check, compile_workflow
from rulewright.claims.workflow import prove_workflow
from rulewright.diagnostics import Severity
from rulewright.errors import DocumentError
from rulewright.fixes import fixed_texts
from rulewright.linting.lint_run import lint
from rulewright.load import load_text
from rulewright.lower.workflow import ancestors, cycles, limits_of, order, waves
from rulewright.proving.results import Proved
from rulewright.workflow import load_workflow, workflow_of
from rulewright_runtime.polarity import Polarity, condition


def test_everything_but_a_person_is_off_unless_somebody_enables_it() -> None:
    task = task_of("tasks:\n  a: {agent: dev}\n")
    assert task.overlays == ("hil",)
    assert (task.gate, task.confidence, task.pair, task.review) == (None, None, None, None)


def test_a_workflow_sets_defaults_that_a_task_overrides() -> None:
    plan = plan_of("""
        overlays:
          hil: {enabled: false}
          policy_gate: {enabled: true, risk_tier: T2}
        tasks:
          a: {agent: dev}
          b: {agent: dev, overlays: {policy_gate: {risk_tier: T0}, hil: {enabled: true}}}
          c: {agent: dev, overlays: {policy_gate: {enabled: false}}}
    """)
    a, b, c = plan.tasks
    assert (a.overlays, a.gate and a.gate.risk_tier) == (("policy_gate",), "T2")
    assert (b.overlays, b.gate and b.gate.risk_tier) == (("hil", "policy_gate"), "T0")
    assert (c.overlays, c.gate) == ((), None)


def test_a_project_sets_defaults_below_those_of_the_workflow(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        rulewright="""
            project: p
            workflow:
              file: w.yaml
              overlays: {policy_gate: {enabled: true, default_risk_tier: T2, coverage_threshold: 0.5}}
              engine: {max_concurrent_tasks: 7.0, cost_enforcement: stop, retry_backoff_seconds: 0}
        """,
        w="""
            overlays: {policy_gate: {require_coverage: true}}
            tasks: {a: {agent: dev}, b: {agent: dev, overlays: {policy_gate: {risk_tier: T0}}}}
        """,
    )
    plan = compile_workflow(found)
    gates = [task.gate for task in plan.tasks]
    assert [gate and (gate.risk_tier, gate.coverage_threshold, gate.sign_off) for gate in gates] == [
        ("T2", 0.5, True), ("T0", 0.5, False),
    ]  # fmt: skip
    limits = plan.limits
    assert (limits.max_concurrent_tasks, limits.cost_enforcement, limits.retry_backoff_seconds) == (7, "stop", 0.0)


def test_a_mistake_in_one_limit_leaves_the_others_as_they_are_written() -> None:
    limits = limits_of(
        load_text("{cost_budget_per_run_usd: 2, max_retries: 1000, timeout_seconds: soon}", "l.yaml").root
    )
    assert (limits.cost_budget_per_run_usd, limits.max_retries) == (2, 1000)


@pytest.mark.parametrize(
    ("tier", "more", "required", "looked_at"),
    [
        ("T0", "", ["acceptance_evidence"], ["acceptance_evidence"]),
        ("T1", "", ["acceptance_evidence", "verification"], ["acceptance_evidence", "verification"]),
        (
            "T1", ", evidence: {readiness: r.md}", ["acceptance_evidence", "verification"],
            ["acceptance_evidence", "verification", "operational_readiness"],
        ),
        (
            "T2", ", require_coverage: true",
            ["acceptance_evidence", "verification", "operational_readiness", "requirement_coverage"],
            ["acceptance_evidence", "verification", "operational_readiness", "requirement_coverage"],
        ),
    ],
)  # fmt: skip
def test_a_tier_says_which_evidence_is_required(
    tier: str, more: str, required: list[str], looked_at: list[str]
) -> None:
    gate = task_of(f"""
        tasks:
          a: {{agent: dev, overlays: {{policy_gate: {{enabled: true, risk_tier: {tier}{more}}}}}}}
    """).gate
    assert gate is not None
    assert (list(gate.required), list(gate.looked_at)) == (required, looked_at)
    assert gate.verdict.source.startswith("evidence.acceptance_evidence == PASS")


def test_the_conditions_of_a_gate_are_part_of_its_verdict() -> None:
    gate = task_of("""
        tasks:
          a:
            agent: dev
            overlays:
              policy_gate: {enabled: true, risk_tier: T0, conditions: ["coverage >= 0.5 or review.decision == GO"]}
              agentic_review: {enabled: true, reviewer_agent: reviewer, max_iterations: 2}
    """).gate
    assert gate is not None
    assert gate.verdict.source == ("evidence.acceptance_evidence == PASS && (coverage >= 0.5 or review.decision == GO)")


@pytest.mark.parametrize("read", ["confidence_score > 0.5", "metrics.lint_score == 1", "size(metrics) > 0"])
def test_nothing_that_decides_the_gate_reads_confidence(read: str) -> None:
    text = f"tasks:\n  a: {{agent: dev, overlays: {{policy_gate: {{enabled: true, conditions: ['{read}']}}}}}}\n"
    assert [message.partition(": ")[2] for message in errors(text)] == [
        f"the gate's verdict can't depend on `{read.split('.')[0].split(' ')[0].removeprefix('size(').rstrip(')')}`: "
        "confidence is advisory"
    ]


def test_agents_of_a_folder_are_known_and_a_workflow_may_override_them(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        rulewright="project: p\nworkflow: {file: w.yaml, agents: {directory: people, use_defaults: false}}\n",
        w="agents: {writer: {llm: {model: m2}}}\ntasks: {a: {agent: writer}}\n",
        people__writer="name: writer\nrole: {description: Writes.}\nllm: {provider: p, model: m1}\n",
    )
    agent = compile_workflow(found).agents["writer"]
    assert (agent.description, agent.llm) == ("Writes.", {"provider": "p", "model": "m2"})
    assert found.agents.names == ("writer",)


def test_an_agent_that_extends_what_is_broken_is_not_reported_again() -> None:
    text = "agents: {a: {display_name: A}, b: {extends: a}}\ntasks: {t: {agent: b}}\n"
    assert errors(text) == ["agent `a`: `role.description` is missing"]
    assert errors("agents: {a: {}}\ntasks: {t: {agent: a}}\n") == ["agent `a`: `role.description` is missing"]


def test_an_agent_overrides_a_usual_one_without_extending_it() -> None:
    agent = plan_of("agents: {dev: {llm: {model: m}}}\ntasks: {t: {agent: dev}}\n").agents["dev"]
    assert (agent.llm, agent.display_name) == ({"model": "m"}, "Developer")


def test_a_plan_holds_only_the_agents_that_its_tasks_name() -> None:
    assert list(plan_of("tasks: {t: {agent: dev}}\n").agents) == ["dev"]


def test_a_path_that_the_project_names_wrongly_is_an_error(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        rulewright="project: p\nworkflow: {file: w.yaml, agents: {directory: nobody}, contracts: none.yaml}\n",
        w="tasks: {a: {agent: dev}}\n",
    )
    assert [each.code for each in check(found)] == ["missing-path", "missing-path"]


def test_a_workflow_in_a_file_whose_name_is_not_utf_8_has_a_plan(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/w\xff.yaml"))
    try:
        path.write_text("tasks: {a: {agent: dev}}\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system has only names in UTF-8")
    assert compile_workflow(load_workflow(path)).name == "w?"


def test_a_project_above_the_workflow_is_found(tmp_path: Path) -> None:
    (tmp_path / "flows" / "deep").mkdir(parents=True)
    (tmp_path / "rulewright.yaml").write_text("project: p\nworkflow: {file: x.yaml}\n", encoding="utf-8")
    path = tmp_path / "flows" / "deep" / "w.yaml"
    path.write_text("tasks: {a: {agent: dev}}\n", encoding="utf-8")
    found = load_workflow(path)
    assert found.project is not None
    assert found.root.resolve() == tmp_path.resolve()
    assert found.settings is not None


def test_a_workflow_may_be_json(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"tasks": {"a": {"agent": "dev"}}}), encoding="utf-8")
    assert [task.id for task in compile_workflow(path).tasks] == ["a"]


@pytest.mark.parametrize("version", ['"1"', "1"])
def test_version_one_may_be_text_or_a_number(version: str) -> None:
    assert errors(f"version: {version}\ntasks: {{a: {{agent: dev}}}}\n") == []


@pytest.mark.parametrize("version", ['"2"', "2", "1.5"])
def test_another_version_is_refused(version: str) -> None:
    (message,) = errors(f"version: {version}\ntasks: {{a: {{agent: dev}}}}\n")
    assert message.startswith("unsupported workflow version")


def test_the_name_of_a_workflow_is_its_files_unless_it_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "delivery.yaml"
    path.write_text("tasks: {a: {agent: dev}}\n", encoding="utf-8")
    assert compile_workflow(path).name == "delivery"
    assert plan_of("name: n\ntasks: {a: {agent: dev}}\n").name == "n"


def test_the_seeds_defaults_of_a_loop() -> None:
    task = task_of("""
        tasks:
          a:
            agent: dev
            overlays:
              policy_gate: {enabled: true}
              confidence_loop: {enabled: true, threshold: 1, max_iterations: 2, metrics: [{type: lint_score}]}
    """)
    assert task.confidence is not None
    assert (task.confidence.mode, task.confidence.threshold) == ("composite", 1.0)
    assert task.confidence.met is not None
    assert task.confidence.met.source == "confidence_score >= 1"
    assert task.confidence.metrics[0].weight == 1.0


@pytest.mark.parametrize(
    ("written", "source"),
    [("0.80", "confidence_score >= 0.8"), ("8e-1", "confidence_score >= 0.8"), ("0", "confidence_score >= 0")],
)
def test_a_threshold_is_the_number_it_is_however_it_is_written(written: str, source: str) -> None:
    loop = f"{{enabled: true, threshold: {written}, max_iterations: 2, metrics: [{{type: lint_score}}]}}"
    confidence = task_of(f"tasks: {{a: {{agent: dev, overlays: {{confidence_loop: {loop}}}}}}}\n").confidence
    assert confidence is not None
    assert confidence.met is not None
    assert confidence.met.source == source


def test_a_pair_and_a_review_end_by_default_when_the_other_agrees() -> None:
    for overlay, source in (
        (
            "paired_workflow: {enabled: true, challenger_agent: le, max_iterations: 2}",
            "pair.challenger_approved == true",
        ),
        ("agentic_review: {enabled: true, reviewer_agent: le, max_iterations: 2}", "review.decision == GO"),
    ):
        task = task_of(f"tasks: {{a: {{agent: dev, overlays: {{{overlay}}}}}}}\n")
        guards = [each.guard for each in task.machine.transitions if each.guard is not None]
        assert [program.source for guard in guards for program in guard.conditions] == [source]


def test_exit_when_all_asks_for_the_threshold_and_every_condition() -> None:
    task = task_of("""
        tasks:
          a:
            agent: dev
            overlays:
              policy_gate: {enabled: true}
              confidence_loop:
                enabled: true
                threshold: 0.5
                max_iterations: 3
                metrics: [{type: lint_score}]
                exit_when: all
                exit_conditions: ["loop.iteration >= 2"]
    """)
    (guard,) = [
        each.guard for each in task.machine.transitions if each.source == "decide:confidence_loop" and each.guard
    ]
    assert (guard.mode, [program.source for program in guard.conditions]) == (
        "all", ["confidence_score >= 0.5", "loop.iteration >= 2"],
    )  # fmt: skip


def test_a_loop_is_decided_where_its_conditions_can_be_known() -> None:
    def chain(condition: str) -> list[str]:
        task = task_of(f"""
            tasks:
              a:
                agent: dev
                loop: {{max_iterations: 3, exit_conditions: ["{condition}"]}}
                overlays:
                  policy_gate: {{enabled: true, risk_tier: T2}}
                  agentic_review: {{enabled: true, reviewer_agent: reviewer, max_iterations: 3}}
        """)
        found: list[str] = []
        here = "work"
        while here != "done":
            found.append(here)
            ways = [each.target for each in task.machine.transitions if each.source == here]
            here = next(each for each in ways if each != "failed")
        return found

    review = ["work", "review", "decide:agentic_review"]
    assert chain("loop.iteration >= 2") == [*review, "decide:loop", "gate", "sign_off", "signed"]
    assert chain("policy_gate.verdict == PASS") == [*review, "gate", "decide:loop", "sign_off", "signed"]
    assert chain("hil.resolved") == [*review, "gate", "sign_off", "signed", "decide:loop"]


def test_two_metrics_of_one_type_are_refused() -> None:
    text = """
        tasks:
          a:
            agent: dev
            overlays:
              policy_gate: {enabled: true}
              confidence_loop: {enabled: true, threshold: 0.5, max_iterations: 2,
                metrics: [{type: lint_score}, {type: lint_score}]}
    """
    assert any("duplicate metric `lint_score`" in message for message in errors(text))


def test_weights_that_are_all_zero_are_a_warning() -> None:
    text = """
        tasks:
          a:
            agent: dev
            overlays:
              policy_gate: {enabled: true}
              confidence_loop: {enabled: true, threshold: 0.5, max_iterations: 2,
                metrics: [{type: lint_score, weight: 0}]}
    """
    assert any("every weight is 0" in message for message in warnings(text))


def test_the_fix_of_a_missing_bound_can_be_applied(tmp_path: Path) -> None:
    texts = {
        "a.yaml": "tasks:\n  t:\n    agent: dev\n    loop:\n      exit_when: any\n",
        "b.yaml": "tasks: {t: {agent: dev, loop: {exit_when: any}}}\n",
        "c.json": '{"tasks": {"t": {"agent": "dev", "loop": {"exit_when": "any"}}}}',
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        report = lint([path])
        assert [each.code for each in report.diagnostics if each.severity is Severity.ERROR] == ["loop-without-bound"]
        (mended,) = fixed_texts(report.diagnostics, report.sources, unsafe=True)[0].values()
        assert [each.code for each in check(workflow_of(load_text(mended, name)))] == []


def test_the_fix_of_a_missing_gate_can_be_applied() -> None:
    text = (
        "tasks:\n  t:\n    agent: dev\n    overlays:\n      confidence_loop:\n        enabled: true\n"
        "        threshold: 0.5\n        max_iterations: 2\n        metrics: [{type: lint_score, source: r.json}]\n"
    )
    found = workflow_of(load_text(text, "workflow.yaml"))
    (mended,) = fixed_texts(check(found), {found.path: found.loaded[0].source}, unsafe=True)[0].values()
    assert "evidence: {acceptance: reports/junit.xml, lint: r.json}" in mended
    assert check(workflow_of(load_text(mended, "workflow.yaml"))) == ()


@pytest.mark.parametrize("tier", ["T0", "T1", "T2"])
def test_the_fix_of_missing_evidence_can_be_applied(tier: str) -> None:
    gate = f"enabled: true\n        risk_tier: {tier}\n        require_coverage: true"
    text = f"tasks:\n  t:\n    agent: dev\n    overlays:\n      policy_gate:\n        {gate}\n"
    found = workflow_of(load_text(text, "workflow.yaml"))
    assert [each.code for each in check(found)] == ["gate-without-evidence"]
    (mended,) = fixed_texts(check(found), {found.path: found.loaded[0].source}, unsafe=True)[0].values()
    workflow = workflow_of(load_text(mended, "workflow.yaml"))
    assert check(workflow) == ()
    assert all(isinstance(each.result, Proved) for each in prove_workflow(workflow))


def test_suppressions_hide_findings_from_people_but_never_let_a_plan_pass(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(
        "tasks:\n  t:\n    agent: ghost  # rulewright: allow unknown-agent because it is hired next week\n",
        encoding="utf-8",
    )
    with pytest.raises(DocumentError, match="agent 'ghost' not found"):
        compile_workflow(path)


def test_order_and_waves_survive_circles_and_unknown_names() -> None:
    document = workflow("""
        tasks:
          a: {agent: dev, dependencies: [c, nowhere]}
          b: {agent: dev, dependencies: [a]}
          c: {agent: dev, dependencies: [b]}
          d: {agent: dev}
          e: {agent: dev, dependencies: [d, d]}
    """).document
    assert cycles(document) == [("a", "c", "b")]
    assert waves(document) == [("d",), ("e",)]
    assert order(document) == ("d", "e", "a", "b", "c")
    assert ancestors(document)["e"] == {"d"}


def test_a_long_chain_is_checked() -> None:
    lines = "\n".join(f"  t{n}: {{agent: dev, dependencies: [{f't{n - 1}' if n else ''}]}}" for n in range(3000))
    document = workflow(f"tasks:\n{lines}\n").document
    assert cycles(document) == []
    assert len(waves(document)) == 3000


@pytest.mark.parametrize(
    "text",
    [
        "tasks: 3\n", "tasks: {a: 3}\n", "tasks: {a: {agent: [x]}}\n", "tasks: {a: {agent: dev, overlays: 3}}\n",
        "tasks: {a: {agent: dev, loop: 3}}\n", "tasks: {a: {agent: dev, dependencies: {b: c}}}\n",
        "tasks: {a: {agent: dev, overlays: {confidence_loop: {enabled: 'yes', metrics: 7, threshold: x}}}}\n",
        "tasks: {a: {agent: dev, overlays: {confidence_loop: {enabled: true, metrics: [7, {type: 9}], threshold: 7,"
        " max_iterations: x, exit_conditions: [3, {}]}}}}\n",
        "tasks: {a: {agent: dev, outputs: [3, {path: 4, contract: 5}]}}\n", "agents: {x: 3}\ntasks: {a: {agent: x}}\n",
        "overlays: []\ntasks: {a: {agent: dev}}\n", "config: 3\ntasks: {a: {agent: dev}}\n",
        "agents: {x: {role: 3, extends: [y]}}\ntasks: {a: {agent: x}}\n",
        "agents: {x: {role: {description: d, expertise: 3}, llm: [1]}}\ntasks: {a: {agent: x}}\n",
        "contracts: {a@1: 3}\ntasks: {}\nname: 4\n",
        "tasks: {a: {agent: dev, overlays: {policy_gate: {enabled: true, conditions: 'x', risk_tier: T7,"
        " evidence: []}}}}\n",
    ],
)  # fmt: skip
def test_a_value_of_a_wrong_type_is_a_finding_and_never_an_exception(text: str) -> None:
    assert errors(text)


GATE = """
    tasks:
      a:
        agent: dev
        overlays: {{policy_gate: {{enabled: true, risk_tier: T1, conditions: {conditions}}}}}
"""


def verdict(*conditions: str, **evidence: str) -> bool:
    gate = task_of(GATE.format(conditions=json.dumps(conditions))).gate
    assert gate is not None
    usual = {"acceptance_evidence": "PASS", "operational_readiness": "PASS", "requirement_coverage": "PASS"}
    bindings = {"evidence": {**usual, **evidence}, "coverage": 0.5}
    return condition(gate.verdict, Polarity.PERMITTING)(bindings).holds


def test_a_condition_of_a_gate_may_hold_comments() -> None:
    commented = ("evidence.verification == PASS // must hold", "// half\ncoverage >= 0.5 || coverage == 0 // (")
    assert verdict(*commented, verification="PASS")
    assert not verdict(*commented, verification="FAIL")
    assert not verdict("evidence.verification == PASS || evidence.acceptance_evidence == PASS", verification="FAIL")


def test_a_gate_says_its_conditions_as_their_author_wrote_them() -> None:
    written = ("coverage > 0.4 || coverage == 0 // enough", "evidence.verification == PASS // must hold")
    gate = task_of(GATE.format(conditions=json.dumps(written))).gate
    assert gate is not None
    assert gate.verdict.source.endswith("&& (coverage > 0.4 || coverage == 0) && evidence.verification == PASS")


def test_conditions_that_are_too_large_together_are_a_finding() -> None:
    one = " || ".join(f"coverage == 0.{number:05d}" for number in range(400))
    (found,) = errors(GATE.format(conditions=json.dumps([one] * 15)))
    assert "too large together" in found
