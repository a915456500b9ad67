"""Draws workflows: the tasks with their dependencies, or one task's state machine, as Mermaid, DOT or SVG."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Final

from msgspec import Struct

from rulewright.errors import UsageError
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


class _Box(Struct, frozen=True):
    """A node: its name in the drawing, its lines of text, and its colour (empty: none)."""

    name: str
    lines: tuple[str, ...]
    colour: str = ""
    current: bool = False  # the current state of a run


class _Arrow(Struct, frozen=True):
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
    """Draw the workflow's tasks, or the state machine of one task, as `mermaid`, `dot` or `svg`.

    `at` is the progress of a run: the status and the state of each task. Raises `UsageError` for another format or a
    task that the workflow does not have.
    """
    writers: dict[str, Callable[[str, list[_Box], list[_Arrow]], str]] = {"mermaid": _mermaid, "dot": _dot, "svg": _svg}
    if form not in writers:
        raise UsageError(f"unknown format `{form}`; expected `mermaid`, `dot` or `svg`")
    if task is None:
        return writers[form](plan.name, *_tasks(plan.tasks, at or {}))
    found = next((each for each in plan.tasks if each.id == task), None)
    if found is None:
        raise UsageError(f"the workflow has no task `{task}`")
    return writers[form](task, *_places(found.machine, (at or {}).get(task, ("", ""))[1]))


def _tasks(tasks: Iterable[TaskPlan], at: Mapping[str, tuple[str, str]]) -> tuple[list[_Box], list[_Arrow]]:
    tasks = list(tasks)
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


def _svg(title: str, boxes: list[_Box], arrows: list[_Arrow]) -> str:
    """Boxes in layers from top to bottom; arrows that lead back each have a lane at the right."""
    rows, arrows = _layers(boxes, arrows), _joined(arrows)
    wide = max((len(line) for box in boxes for line in box.lines), default=8) * 7 + 24
    high = max((len(box.lines) for box in boxes), default=1) * 16 + 16
    across = max(wide, *map(_label_width, arrows), 0) + 40
    down = high + 60 + 20 * max((len(arrow.lines) for arrow in arrows), default=0)
    at = {box.name: (20 + x * across, 60 + y * down) for y, row in enumerate(rows) for x, box in enumerate(row)}
    edge = across * max(map(len, rows), default=1)
    paths: list[str] = []
    labels: list[str] = []
    for number, arrow in enumerate(sorted(arrows, key=lambda each: at[each.source][1] - at[each.target][1])):
        (x1, y1), (x2, y2) = at[arrow.source], at[arrow.target]
        if y2 <= y1:
            aside = 4 * (number % 5)  # so that lines that leave or enter one row don't hide each other
            leave, enter = y1 + high + 6 + aside, y2 - 6 - aside
            paths.append(f"M{x1 + wide - 10 - aside} {y1 + high}V{leave}H{edge}V{enter}H{x2 + wide - 10 - aside}V{y2}")
            labels += _svg_lines(arrow.lines, edge + 4, leave - 14 * len(arrow.lines), size=10)
            edge += _label_width(arrow) + 16
        else:
            paths.append(f"M{x1 + wide / 2} {y1 + high}L{x2 + wide / 2} {y2}")
            top = y1 + high + 30 if x1 == x2 else y2 - 20 - 14 * len(arrow.lines)
            labels += _svg_lines(arrow.lines, x1 + 0.7 * (x2 - x1) + wide / 2 + 6, top, size=10)
    width, height = max(edge, len(title) * 8) + 40, 100 + high + down * (len(rows) - 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" style="background: #fff"><defs><marker id="a" viewBox="0 0 8 8" '
        'refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
        f'<title>{escape(title)}</title><text x="20" y="24" font-size="15">{escape(title)}</text>',
        *(f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#a)"/>' for path in paths),
        '<g stroke="#fff" stroke-width="4" paint-order="stroke">',  # a label stays readable on a line
        *labels,
        "</g>",
    ]
    for box in boxes:
        x, y = at[box.name]
        stroke = 'stroke="#1d4ed8" stroke-width="4"' if box.current else 'stroke="#555"'
        fill = box.colour or "#ffffff"
        parts.append(f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="6" fill="{fill}" {stroke}/>')
        parts += _svg_lines(box.lines, x + 12, y + 20, size=12)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _joined(arrows: Iterable[_Arrow]) -> list[_Arrow]:
    """One arrow for all that lead from one box to another, with the lines of each."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for arrow in arrows:
        others = found.get((arrow.source, arrow.target), ())
        found[arrow.source, arrow.target] = (*others, "or", *arrow.lines) if others else arrow.lines
    return [_Arrow(*ends, lines) for ends, lines in found.items()]


def _label_width(arrow: _Arrow) -> int:
    return max(map(len, arrow.lines), default=0) * 6


def _svg_lines(lines: Iterable[str], x: float, y: float, *, size: int) -> Iterable[str]:
    for number, line in enumerate(lines):
        yield f'<text x="{x:g}" y="{y + number * (size + 4):g}" font-size="{size}">{escape(line)}</text>'


def _layers(boxes: list[_Box], arrows: list[_Arrow]) -> list[list[_Box]]:
    """The boxes by their distance from those without incoming arrows (else from the first)."""
    reached = {arrow.target for arrow in arrows if arrow.source != arrow.target}
    layer = {box.name: 0 for box in boxes if box.name not in reached} or {box.name: 0 for box in boxes[:1]}
    waiting = list(layer)
    for name in waiting:
        for arrow in arrows:
            if arrow.source == name and arrow.target not in layer:
                layer[arrow.target] = layer[name] + 1
                waiting.append(arrow.target)
    rows: list[list[_Box]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for box in boxes:
        rows[layer.get(box.name, 0)].append(box)
    return rows


def _mermaid_text(text: str) -> str:
    """Text escaped for Mermaid: special characters are written as numbers."""
    return "".join(char if char.isalnum() or char in " _.,-/():+" else f"#{ord(char)};" for char in text)


def _quoted(lines: Iterable[str]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
