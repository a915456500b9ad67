"""Draws workflows: the tasks with their dependencies, or one task's state machine, as Mermaid or DOT."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rulewright_runtime.workflow.machine import Guard, LoopName, Machine, MachineTransition
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan

_COLOURS: Final[Mapping[str, str]] = {
    "PENDING": "#eeeeee",
    "RUNNING": "#dbeafe",
    "NEEDS_REWORK": "#fef3c7",
    "HIL_PENDING": "#ede9fe",
    "COMPLETED": "#dcfce7",
    "FAILED": "#fee2e2",
}


@dataclass(frozen=True, slots=True)
class _Box:
    """A node: its name in the drawing, its lines of text, and its colour (empty: none)."""

    name: str
    lines: tuple[str, ...]
    colour: str = ""
    current: bool = False  # the current state of a run


@dataclass(frozen=True, slots=True)
class _Arrow:
    """An edge between two boxes, and its lines of text."""

    source: str
    target: str
    lines: tuple[str, ...] = ()


def draw(
    plan: WorkflowPlan,
    *,
    form: str = "mermaid",
    task: str | None = None,
    at: Mapping[str, tuple[str, str]] | None = None,
) -> str:
    """Draw the workflow's tasks, or the state machine of one task, as `mermaid` or `dot`.

    `at` is the progress of a run: the status and the state of each task.
    """
    write = _dot if form == "dot" else _mermaid
    at = at or {}
    if task is None:
        return write(plan.name, *_tasks(plan.tasks, at))
    return write(task, *_places(plan.task(task).machine, at.get(task, ("", ""))[1]))


def _tasks(tasks: Sequence[TaskPlan], at: Mapping[str, tuple[str, str]]) -> tuple[list[_Box], list[_Arrow]]:
    names = {task.id: f"t{number}" for number, task in enumerate(tasks)}
    boxes = []
    for task in tasks:
        status, place = at.get(task.id, ("", ""))
        stands = (f"{status}, at {place}",) if status else ()
        current = status not in ("", "PENDING", "COMPLETED", "FAILED")
        lines = (task.id, task.agent, *_overlays(task), *stands)
        boxes.append(_Box(names[task.id], lines, _COLOURS.get(status, ""), current))
    arrows = [_Arrow(names[needed], names[task.id]) for task in tasks for needed in task.dependencies]
    return boxes, arrows


def _overlays(task: TaskPlan) -> Iterable[str]:
    """The overlays of the task, outermost first; `hil` is on by default and mentioned only if it is off."""
    if "hil" not in task.overlays:
        yield "hil off"
    for name in task.overlays:
        if name == "policy_gate" and task.gate is not None:
            yield f"{name} {task.gate.risk_tier}{' (implicit)' if task.gate.implicit else ''}"
        elif name != "hil":
            yield name


def _places(machine: Machine, at: str) -> tuple[list[_Box], list[_Arrow]]:
    names = {place.name: f"p{number}" for number, place in enumerate(machine.places)}
    limits = {loop.name: loop.max_iterations for loop in machine.loops}
    boxes = [
        _Box(names[place.name], (place.name, place.status), _COLOURS[place.status], place.name == at)
        for place in machine.places
    ]
    arrows = [
        _Arrow(names[each.source], names[each.target], tuple(_label(each, limits))) for each in machine.transitions
    ]
    return boxes, arrows


def _label(transition: MachineTransition, limits: Mapping[LoopName, int]) -> Iterable[str]:
    if transition.event != "decide":
        yield transition.event
    if transition.guard is not None:
        yield f"[{_guard(transition.guard)}]"
    for name in transition.counts:
        yield f"{name} + 1, at most {limits[name]}"
    for effect in transition.effects:
        yield f"/ {' '.join(part for part in (effect.kind, effect.subject) if part)}"


def _guard(guard: Guard) -> str:
    joined = (" or " if guard.mode == "any" else " and ").join(program.source for program in guard.conditions)
    return joined or ("never" if guard.mode == "any" else "always")


def _mermaid(title: str, boxes: list[_Box], arrows: list[_Arrow]) -> str:
    lines = ["---", f"title: {_quoted((title,))}", "---", "flowchart TD"]
    for box in boxes:
        lines.append(f'    {box.name}["{"<br/>".join(map(_mermaid_text, box.lines))}"]')
        if box.colour:
            lines.append(f"    style {box.name} fill:{box.colour}{',stroke-width:4px' if box.current else ''}")
    for arrow in arrows:
        label = "<br/>".join(map(_mermaid_text, arrow.lines))
        shown = f'|"{label}"|' if label else ""
        lines.append(f"    {arrow.source} -->{shown} {arrow.target}")
    return "\n".join(lines) + "\n"


def _dot(title: str, boxes: list[_Box], arrows: list[_Arrow]) -> str:
    lines = [f"digraph {_quoted((title,))} {{", "    node [shape=box, style=filled, fillcolor=white];"]
    for box in boxes:
        colour = f", fillcolor={_quoted((box.colour,))}" if box.colour else ""
        width = ", penwidth=4" if box.current else ""
        lines.append(f"    {box.name} [label={_quoted(box.lines)}{colour}{width}];")
    for arrow in arrows:
        label = f" [label={_quoted(arrow.lines)}]" if arrow.lines else ""
        lines.append(f"    {arrow.source} -> {arrow.target}{label};")
    return "\n".join([*lines, "}"]) + "\n"


def _mermaid_text(text: str) -> str:
    """Text escaped for Mermaid: special characters are written as numbers."""
    return "".join(char if char.isalnum() or char in " _.,-/():+" else f"#{ord(char)};" for char in text)


def _quoted(lines: Iterable[str]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
