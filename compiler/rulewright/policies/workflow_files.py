"""Files on which two versions of a task say something else: of inputs, outputs, evidence and metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.artifacts import breaches
from rulewright_runtime.workflow.collectors import CollectionError, measure
from rulewright_runtime.workflow.gate import collect
from rulewright_runtime.workflow.workflow_plan import Artifact, ProcessMetric, TaskPlan

MOST_FOLDERS: Final = 200
_REQUIREMENT: Final = "REQ-1"
_LIST: Final = f"- {_REQUIREMENT}"
_JUNIT: Final = '<testsuite tests="1" failures="0"><testcase name="so"/></testsuite>'
_SARIF: Final = json.dumps(
    {"version": "2.1.0", "runs": [{"artifacts": [{"location": {"uri": "so.py"}}], "results": []}]}
)
_COVERAGE: Final = json.dumps({"totals": {"covered_lines": 1, "num_statements": 1}})
_CHECKLIST: Final = "- [x] so\n"
_GOOD: Final = {  # by kinds of evidence and by metrics
    "acceptance": _JUNIT, "lint": _SARIF, "security": _SARIF, "lint_score": _SARIF, "security_score": _SARIF,
    "readiness": _CHECKLIST, "checklist_completion": _CHECKLIST, "test_coverage": _COVERAGE,
    "requirements": _LIST, "implemented": _REQUIREMENT, "requirement_coverage": _REQUIREMENT,
}  # fmt: skip
Files = Mapping[str, str]


def differing_files(name: str, tasks: Sequence[TaskPlan]) -> Iterator[JsonObject]:
    """A region for each way in which two tasks judge the same files differently, with the files that both have read."""
    if len({repr(_reads(task)) for task in tasks}) == 1:
        return
    found: dict[tuple[str, str, str], JsonObject] = {}
    for files in islice(_folders(_whole(tasks)), MOST_FOLDERS):
        with TemporaryDirectory() as folder, suppress(OSError, ValueError):  # of a name that no file can have here
            for path, text in files.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(text, encoding="utf-8")
            one, two = (dict(_said(task, Path(folder))) for task in tasks)
            for place in (each for each in one if each in two and one[each] != two[each]):
                about = {"place": f"task {name}.{place}", "before": one[place], "after": two[place]}
                region = {**about, "where": ["the files below are there"], "witness": dict(files)}
                found.setdefault((place, one[place], two[place]), region)
    yield from found.values()


def _reads(task: TaskPlan) -> object:
    """What a task reads from files."""
    gate, metrics = task.gate, () if task.confidence is None else task.confidence.metrics
    evidence = gate and (gate.sources, gate.required, gate.looked_at, gate.coverage_threshold)
    return task.inputs, task.outputs, evidence, [(each.type, each.sources, each.requirements) for each in metrics]


def _whole(tasks: Sequence[TaskPlan]) -> dict[str, str]:
    """Files with which everything is well in both tasks; a folder has a file."""
    found: dict[str, str] = {}
    for task in tasks:
        for path, text in (*_sources(task), *map(_written, (*task.inputs, *task.outputs))):
            file = PurePosixPath(path if PurePosixPath(path).suffix else f"{path}/so.txt")
            if not file.is_absolute() and ".." not in file.parts:
                found.setdefault(str(file), text)
    return found


def _sources(task: TaskPlan) -> Iterator[tuple[str, str]]:
    """The files of evidence and metrics, with what is good in each."""
    for kind, paths in ({} if task.gate is None else task.gate.sources).items():
        yield from ((path, _GOOD[kind]) for path in paths)
    for metric in () if task.confidence is None else task.confidence.metrics:
        yield from ((path, _LIST) for path in metric.requirements)
        yield from ((path, _GOOD.get(metric.type, "")) for path in metric.sources)


def _written(artifact: Artifact) -> tuple[str, str]:
    """An artifact that keeps its contract."""
    contract = artifact.contract
    if contract is None:
        return artifact.path, _REQUIREMENT
    if artifact.path.endswith(".json"):
        return artifact.path, json.dumps(dict.fromkeys(contract.required_fields, "so"))
    lines = [f"{name}: so\n" for name in contract.required_fields]
    return artifact.path, "".join((*lines, *(f"# {each}\n" for each in contract.required_sections)))


def _folders(whole: Files) -> Iterator[Files]:
    """The files, then all but one of them or of its lines, then one of those with the same text."""
    yield whole
    for path, text in whole.items():
        yield {name: each for name, each in whole.items() if name != path}
        for line in text.splitlines(keepends=True):
            yield {**whole, path: text.replace(line, "", 1)}
        yield {name: each for name, each in whole.items() if name == path or each != text}


def _said(task: TaskPlan, root: Path) -> Iterator[tuple[str, str]]:
    """What a task says of the files in a folder."""
    yield "inputs", "does not start" if any(breaches(task.inputs, root)) else "starts"
    yield "outputs", "refuses the outputs" if any(breaches(task.outputs, root)) else "accepts the outputs"
    if task.gate is not None:
        checks, _ = collect(task, task.gate, root)
        yield from ((f"policy_gate.{name}", check.status) for name, check in checks.items())
    metrics = () if task.confidence is None else task.confidence.metrics
    yield from ((f"metric {each.type}", _measured(task, each, root)) for each in metrics if each.type != "llm_judge")


def _measured(task: TaskPlan, metric: ProcessMetric, root: Path) -> str:
    outputs = [each.path for each in task.outputs]
    try:
        found = measure(metric.type, root, metric.sources, requirements=metric.requirements, outputs=outputs)
    except CollectionError:
        return "0"
    return str(found.exact)
