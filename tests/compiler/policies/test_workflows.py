"""Workflows with other limits of loops are shown by rounds, gates that ask for another coverage by coverages."""

import shutil
from pathlib import Path

import pytest
from tests.compiler.policies.test_policy_diff import WORKFLOW
from tests.folders import write

from rulewright.check.workflow_check import lowered
from rulewright.cli import main
from rulewright.policies.compare import policy_diff
from rulewright.workflow import load_workflow
from rulewright_runtime.workflow.artifacts import breaches
from rulewright_runtime.workflow.collectors import CollectionError, measure
from rulewright_runtime.workflow.gate import collect
from rulewright_runtime.workflow.machine import EVENTS, Machine, activity, start, step

AT_MOST, COVERED = "        max_iterations: 4\n", "coverage_threshold: 1.0"


def changed(folder: Path, *pairs: tuple[str, str]) -> Path:
    shutil.copytree(WORKFLOW, folder / "w")
    path = folder / "w/workflow.yaml"
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def machine_of(path: Path) -> Machine:
    (machine,) = (each.task.machine for each in lowered(load_workflow(path)).tasks if each.task.id == "implement")
    return machine


def transition_from(machine: Machine, place: str, score: float, rounds: int) -> str:
    """Where the machine goes from a place when it has come there so many times with a score."""
    state, context = start(machine), {"confidence_score": score, "policy_gate": {"verdict": "PASS"}}
    while True:
        here = state.place
        state = step(machine, state, EVENTS[activity(machine, state)][0], context).state
        rounds -= here == place
        if not rounds:
            return state.place


@pytest.mark.parametrize("most", [1, 6])
def test_a_loop_with_another_limit_continues_differently_after_the_rounds_that_are_shown(
    tmp_path: Path, most: int
) -> None:
    two = changed(tmp_path, (AT_MOST, AT_MOST.replace("4", str(most))))
    found = policy_diff(WORKFLOW / "workflow.yaml", two)
    assert found["verdict"] == "different"
    region = next(each for each in found["regions"] if each["place"].endswith("decide at decide:confidence_loop"))
    rounds = min(most, 4)
    gone = f"{rounds} times (work, score)" if rounds > 1 else "work, score"
    assert region["where"] == [f"the task has gone through start, {gone}"]
    for path, words in ((WORKFLOW / "workflow.yaml", region["before"]), (two, region["after"])):
        score = float(region["witness"]["confidence_score"])
        target = transition_from(machine_of(path), "decide:confidence_loop", score, rounds)
        assert words.startswith(f"goes to {target}")


def test_a_threshold_of_coverage_is_compared_like_a_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = changed(tmp_path, (COVERED, "coverage_threshold: 0.9"))
    assert main(["policy-diff", str(WORKFLOW / "workflow.yaml"), str(two)]) == 1
    said = capsys.readouterr().out
    assert "task implement, policy_gate: FAIL -> PASS\n  where coverage >= 0.9 && coverage < 1.0 && " in said
    assert ", coverage = 0.9, path = start, work, score, gate\n" in said


LOOP = """\
tasks:
  build:
    agent: dev
    loop: {{max_iterations: 3, exit_conditions: ["{condition}"]}}
    overlays:
      hil: {{enabled: true}}
      agentic_review:
        {{enabled: true, reviewer_agent: reviewer, max_iterations: 3, exit_conditions: ["{within}"]}}
      policy_gate: {{enabled: true, evidence: {{acceptance: junit.xml, lint: ruff.json}}}}
      confidence_loop:
        {{enabled: true, threshold: 0.5, max_iterations: 2, metrics: [{{type: lint_score, source: ruff.json}}]}}
"""


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ({}, {"condition": "hil.resolved || !hil.resolved"}, "different"),  # nobody was asked yet
        ({}, {"condition": "confidence_score >= 0.0"}, "equal"),
        ({"condition": "hil.resolved"}, {"condition": "!(!hil.resolved)"}, "equal"),
        ({"within": "true"}, {"within": "review.iteration >= 1"}, "different"),  # what was reviewed was changed
    ],
)
def test_a_result_that_no_activity_has_given_yet_is_absent(
    tmp_path: Path, one: dict[str, str], two: dict[str, str], expected: str
) -> None:
    paths = [tmp_path / name / "workflow.yaml" for name in ("one", "two")]
    for path, changes in zip(paths, (one, two), strict=True):
        path.parent.mkdir()
        path.write_text(
            LOOP.format(**{"condition": "true", "within": "review.decision == GO", **changes}), encoding="utf-8"
        )
    assert policy_diff(*paths)["verdict"] == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (COVERED, "coverage_threshold: 0.9"),
        (AT_MOST, AT_MOST.replace("4", "2")),
        ("threshold: 0.90", "threshold: 0.85"),
        ("test_coverage, weight: 0.4", "test_coverage, weight: 0.9"),
        ("risk_tier: T1", "risk_tier: T2"),
    ],
)
def test_every_input_of_a_workflow_is_on_a_path_that_both_machines_take(tmp_path: Path, old: str, new: str) -> None:
    paths = WORKFLOW / "workflow.yaml", changed(tmp_path, (old, new))
    found = policy_diff(*paths)
    assert found["verdict"] == "different"
    regions = [each for each in found["regions"] if each["where"] != ["the files below exist"]]
    shown = [each for each in regions if each["witness"] is not None]
    assert len(shown) == len(regions) or "T2" in new  # whose gate has no file to pass with
    for region in shown:
        gone = region["witness"].get("path") or region["where"][0].removeprefix("the task has gone through ")
        assert gone.startswith("start, ")


def test_an_input_that_no_path_leads_to_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last = ("loop.iteration >= 9", "loop.iteration >= 8")
    exits = [f"        exit_conditions: [confidence_score >= 0.95, {each}]\n" for each in last]
    two = changed(tmp_path / "two", (AT_MOST, AT_MOST + exits[1]))
    one = changed(tmp_path / "one", (AT_MOST, AT_MOST + exits[0]))
    found = policy_diff(one, two)
    assert found["verdict"] == "undecided"
    assert {each["witness"] for each in found["regions"]} == {None}
    assert main(["policy-diff", str(one), str(two)]) == 2
    assert "not shown: no path from the start of the task was found" in capsys.readouterr().out


def judged(path: Path, place: str, root: Path) -> str:
    """What a task says of the files in a folder."""
    name, _, part = place.partition(".")
    (task,) = (each.task for each in lowered(load_workflow(path)).tasks if each.task.id == name)
    assert task.gate is not None
    if part == "inputs":
        return "does not start" if list(breaches(task.inputs, root)) else "starts"
    if part == "outputs":
        return f"{'refuses' if list(breaches(task.outputs, root)) else 'accepts'} the outputs"
    if part.startswith("policy_gate"):
        return {str(kind): check.status for kind, check in collect(task, task.gate, root)[0].items()}[
            part.partition(".")[2]
        ]
    assert task.confidence is not None
    (metric,) = (each for each in task.confidence.metrics if each.type == part.removeprefix("metric "))
    try:
        return str(measure(metric.type, root, metric.sources, requirements=metric.requirements).exact)
    except CollectionError:
        return "0"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (", {path: tests/test_prices.py}", "", "implement.outputs"),
        ("What is new, How to", "How to", "release.outputs"),
        ("    inputs: [src/prices.py]\n", "", "release.inputs"),
        ("implemented: [src, tests]", "implemented: [src]", "implement.policy_gate.requirement_coverage"),
        ("          lint: reports/ruff.json\n", "", "implement.policy_gate.verification"),
        ("source: [src, tests]", "source: [src]", "implement.metric requirement_coverage"),
        ("source: reports/coverage.json", "source: reports/cov.json", "implement.metric test_coverage"),
    ],
)
def test_files_of_which_two_tasks_say_something_else_are_shown(tmp_path: Path, old: str, new: str, place: str) -> None:
    one, two = WORKFLOW / "workflow.yaml", changed(tmp_path, (old, new))
    found = policy_diff(one, two)
    assert found["verdict"] == "different"
    regions = [each for each in found["regions"] if each["place"] == f"task {place}"]
    assert regions
    for at, region in enumerate(regions):
        root = tmp_path / str(at)
        write(root, region["witness"])
        assert region["before"] != region["after"]
        assert [judged(path, place, root) for path in (one, two)] == [region["before"], region["after"]]


def test_a_task_that_waits_for_another_one_only_once_is_shown(tmp_path: Path) -> None:
    found = policy_diff(WORKFLOW / "workflow.yaml", changed(tmp_path, ("    dependencies: [implement]\n", "")))
    region = next(each for each in found["regions"] if each["place"] == "task release.dependencies")
    assert (region["before"], region["after"]) == ("waits for implement", "starts")
    assert region["witness"] == {"status of implement": "RUNNING"}


def test_a_workflow_outside_of_projects_belongs_to_that_of_the_other(tmp_path: Path) -> None:
    project, earlier = changed(tmp_path), tmp_path / "earlier.yaml"
    file = tmp_path / "w/rulewright.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("max_retries: 0", "max_retries: 5"), encoding="utf-8")
    shutil.copy(project, earlier)
    assert policy_diff(earlier, project)["verdict"] == policy_diff(project, earlier)["verdict"] == "equal"


def test_what_only_a_run_of_a_workflow_shows_is_reported_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tier = "        risk_tier: T1\n"
    edits = {"kept": tier, "stale": f"{tier}        stale_evidence: fail\n", "other tier": "        risk_tier: T0\n"}
    paths = {name: str(changed(tmp_path / name, (tier, given))) for name, given in edits.items()}
    assert main(["policy-diff", paths["kept"], paths["stale"]]) == 2
    assert "every gate and transition decides the same; only a run" in capsys.readouterr().out
    assert main(["policy-diff", paths["kept"], paths["other tier"]]) == 1
    assert "only a run" not in capsys.readouterr().out


NAMES = """version: "1"
tasks:
  t:
    agent: dev
    description: x
    outputs: [{{path: {long}.md}}, {{path: a.md}}, {{path: a.md/b.md}}, {{path: {name}.md}}]
"""


@pytest.mark.parametrize("long", ["x" * 300, "short"])
def test_outputs_whose_names_no_folder_can_have_are_reported_without_an_example(tmp_path: Path, long: str) -> None:
    for name in ("one", "two"):
        write(tmp_path / name, {"workflow.yaml": NAMES.format(long=long, name=name)})
    found = policy_diff(tmp_path / "one/workflow.yaml", tmp_path / "two/workflow.yaml")
    assert found["settings"]
    assert not any(region["witness"] for region in found["regions"])
