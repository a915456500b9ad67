"""Oracles of the rules for workflows: their conditions, computed from plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

Data = dict[str, Any]
AGENTS = {"ba", "architect", "pe", "le", "dev", "reviewer"}
LOOPS = ("agentic_review", "paired_workflow", "confidence_loop")  # outermost first
GATE = "policy_gate"


class Task:
    """A task with the overlays of the workflow below its own."""

    def __init__(self, flow: Data, name: str, data: Data) -> None:
        self.name, self.data = name, data
        layers = [layer.get("overlays", {}) for layer in (flow, data)]
        names = ("hil", GATE, *LOOPS)
        self.overlays = {each: {k: v for layer in layers for k, v in layer.get(each, {}).items()} for each in names}
        self.written = {each for each in names if each in layers[-1]}

    def on(self, name: str) -> Data | None:
        """The overlay if it is enabled; `hil` is enabled by default."""
        overlay = self.overlays[name]
        return overlay if overlay.get("enabled", name == "hil") else None

    @property
    def loops(self) -> Iterator[Data]:
        if "loop" in self.data:
            yield self.data["loop"]
        yield from (overlay for name in LOOPS if (overlay := self.on(name)) is not None)

    @property
    def metrics(self) -> list[Data]:
        metrics: list[Data] = (self.on("confidence_loop") or {}).get("metrics", [])
        return metrics

    @property
    def partners(self) -> Iterator[tuple[str | None, str | None]]:
        """The judges and authors of the enabled overlays."""
        for name, judge, writer in (
            ("paired_workflow", "challenger_agent", "driver_agent"),
            ("agentic_review", "reviewer_agent", "coder_agent"),
        ):
            overlay = self.on(name)
            if overlay is not None:
                yield overlay.get(judge), overlay.get(writer, self.data.get("agent"))

    @property
    def authors(self) -> set[str | None]:
        pair = self.on("paired_workflow") or {}
        switched = pair.get("role_switch") in ("subtask", "checkpoint")
        found = {self.data.get("agent"), *(writer for _, writer in self.partners)}
        return found | ({pair.get("challenger_agent")} if switched else set())

    @property
    def agents(self) -> set[str]:
        judges = {metric.get("evaluator_agent") for metric in self.metrics}
        named = {self.data.get("agent"), *(one for pair in self.partners for one in pair), *judges}
        return {one for one in named if one is not None}


def tasks(flow: Data) -> list[Task]:
    return [Task(flow, name, data) for name, data in flow.get("tasks", {}).items()]


def of_a_task(condition: Callable[[Task], bool]) -> Callable[[Data], bool]:
    """Whether some task meets the condition."""
    return lambda flow: any(condition(task) for task in tasks(flow))


def above(flow: Data) -> dict[str, set[str]]:
    """For each task the tasks that it depends on, directly or indirectly."""
    needs = {task.name: set(task.data.get("dependencies", [])) for task in tasks(flow)}
    for middle in needs:
        for name, needed in needs.items():
            if middle in needed:
                needs[name] = needed | needs[middle]
    return needs


def path_of(artifact: Any) -> str:
    return str(artifact["path"] if isinstance(artifact, dict) else artifact)


def type_of(artifact: Any) -> str | None:
    contract = artifact.get("contract") if isinstance(artifact, dict) else None
    return contract if isinstance(contract, str) else None


def written_twice(flow: Data) -> bool:
    waits = above(flow)
    outputs = [[path_of(each) for each in task.data.get("outputs", [])] for task in tasks(flow)]
    if any(len(set(paths)) < len(paths) for paths in outputs):
        return True
    for one, two in combinations(tasks(flow), 2):
        shared = {path_of(a) for a in one.data.get("outputs", [])} & {path_of(a) for a in two.data.get("outputs", [])}
        if shared and one.name not in waits[two.name] and two.name not in waits[one.name]:
            return True
    return False


def read_too_early(flow: Data) -> bool:
    waits = above(flow)
    return any(
        reader is not writer
        and writer.name not in waits[reader.name]
        and path_of(wanted) == path_of(made)
        and not any(path_of(a) == path_of(wanted) for a in reader.data.get("outputs", []))
        for reader in tasks(flow)
        for writer in tasks(flow)
        for wanted in reader.data.get("inputs", [])
        for made in writer.data.get("outputs", [])
    )


def contracts_differ(flow: Data) -> bool:
    made = [artifact for task in tasks(flow) for artifact in task.data.get("outputs", [])]
    for wanted in (artifact for task in tasks(flow) for artifact in task.data.get("inputs", [])):
        promised = {type_of(each) for each in made if path_of(each) == path_of(wanted)} - {None}
        if promised and type_of(wanted) and type_of(wanted) not in promised:
            return True
    return False


def outer_outlives_inner(task: Task) -> bool:
    bounds = [loop["max_iterations"] for loop in task.loops if "max_iterations" in loop]
    return any(outer > inner for outer, inner in combinations(bounds, 2))


def all_weights_zero(task: Task) -> bool:
    loop = task.on("confidence_loop")
    if loop is None:
        return False
    weighed = loop.get("mode") != "raw"
    return not task.metrics or (weighed and all(metric.get("weight") == 0 for metric in task.metrics))


def is_judge(metric: Data) -> bool:
    return bool(metric["type"] == "llm_judge")


def tier(task: Task) -> str | None:
    gate = task.on(GATE)
    if gate is None:
        return None
    return str(gate.get("risk_tier") or gate.get("default_risk_tier") or "T1")


ORACLES: dict[str, Callable[[Data], bool]] = {
    "workflow_version": lambda flow: str(flow.get("version", "1")) != "1",
    "no_tasks": lambda flow: flow.get("tasks") == {},
    "unknown_agent": lambda flow: any(
        agent not in AGENTS | set(flow.get("agents", {})) for task in tasks(flow) for agent in task.agents
    ),
    "unknown_dependency": lambda flow: any(
        set(task.data.get("dependencies", [])) - set(flow["tasks"]) for task in tasks(flow)
    ),
    "cyclic_dependency": lambda flow: any(name in needed for name, needed in above(flow).items()),
    "loop_without_bound": of_a_task(lambda task: any("max_iterations" not in loop for loop in task.loops)),
    "loop_nothing_ends": of_a_task(
        lambda task: (
            (loop := task.on("confidence_loop")) is not None
            and loop.get("threshold") is None
            and not loop.get("exit_conditions")
        )
    ),
    "bound_never_reached": of_a_task(outer_outlives_inner),
    "paired_with_review": of_a_task(
        lambda task: task.on("paired_workflow") is not None and task.on("agentic_review") is not None
    ),
    "partner_is_the_author": of_a_task(lambda task: any(judge and judge == writer for judge, writer in task.partners)),
    "partner_missing": of_a_task(lambda task: any(judge is None for judge, _ in task.partners)),
    "judge_without_evaluator": of_a_task(
        lambda task: any("evaluator_agent" not in each for each in task.metrics if is_judge(each))
    ),
    "judge_is_the_author": of_a_task(
        lambda task: any(
            each.get("evaluator_agent") in task.authors - {None} for each in task.metrics if is_judge(each)
        )
    ),
    "evaluator_without_judge": of_a_task(
        lambda task: any("evaluator_agent" in each for each in task.metrics if not is_judge(each))
    ),
    "duplicate_metric": of_a_task(lambda task: len({each["type"] for each in task.metrics}) < len(task.metrics)),
    "confidence_without_metrics": of_a_task(all_weights_zero),
    "confidence_without_gate": of_a_task(
        lambda task: (
            task.on("confidence_loop") is not None
            and task.on(GATE) is None
            and not (GATE in task.written and "enabled" not in task.overlays[GATE])
        )  # `overlay_not_enabled`
    ),
    "overlay_not_enabled": of_a_task(
        lambda task: any("enabled" not in task.overlays[name] for name in task.written - {"hil"})
    ),
    "human_gate_bypassed": of_a_task(lambda task: bool(task.data.get("requires_human")) and task.on("hil") is None),
    "sign_off_without_hil": of_a_task(lambda task: tier(task) == "T2" and task.on("hil") is None),
    "output_written_twice": written_twice,
    "input_not_awaited": read_too_early,
    "contract_mismatch": contracts_differ,
}
