"""A queue item as text: the question, the history of the loops, the gate's report and the outputs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from rulewright_runtime.processes.ancestry import Origin
from rulewright_runtime.report.text import moment
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import one_line
from rulewright_runtime.workflow.deciders import SignedDecision
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.run_records import OutputVersion


def describe(
    item: QueueItem, versions: Sequence[OutputVersion] = (), decisions: Sequence[tuple[SignedDecision, Origin]] = ()
) -> str:
    """Describe an item for a reviewer. `versions` are the task's outputs, `decisions` the ones taken so far."""
    return "\n".join(map(one_line, (*_lines(item, decisions), *_outputs(versions)))) + "\n"


def _outputs(versions: Sequence[OutputVersion]) -> Iterator[str]:
    for change in changes(versions):
        yield ""
        yield f"output {change.path}, iteration {change.iteration}"
        if change.text is None:
            yield "  not shown: too large, or not text"
        else:
            yield from (f"  {line}" for line in change.lines or change.text.splitlines()[:MAX_LINES])


def _lines(item: QueueItem, decisions: Sequence[tuple[SignedDecision, Origin]]) -> Iterator[str]:
    yield f"{item.id}: {item.status}"
    yield f"task {item.task_id} of {item.workflow}, {item.run_id}, asked at {moment(item.created_at)}"
    yield f"why: {item.trigger}: {item.reason}"
    if item.acked_by:
        yield f"acknowledged by {item.acked_by} at {moment(item.acked_at)}"
    if item.resolved_by:
        why = item.resolution_notes or "no reason given"
        yield f"decided by {item.resolved_by} at {moment(item.resolved_at)}: {why}"
    for decision, origin in decisions:
        signed = "signed" if decision.signature else "not signed"
        yield f"on record: {decision.move} by {decision.by} at {moment(decision.at)}, {signed}, {origin.describe()}"
    description = item.context["task_definition"].get("description")
    if description:
        yield ""
        yield from (f"  {line}" for line in description.splitlines())
    history = item.context["loop_history"]
    if history:
        yield ""
        yield "history"
        for entry in history:
            yield f"  {entry['iteration']}. {history_line(entry)}"
    for report in item.context["gate_reports"][-1:]:
        yield ""
        yield from report_lines(report)
        yield from limits_of_approval(item)


def limits_of_approval(item: QueueItem) -> Iterator[str]:
    """Yield what an approval does not change: a gate that has not passed."""
    if item.context["gate_reports"] and item.context["gate_reports"][-1]["verdict"] != "PASS":
        yield "An approval does not overrule the gate: its evidence is read again, and decides."


def objections(report: JsonMapping) -> list[str]:
    """Return why the gate fails beyond its evidence, such as a locked output that was changed."""
    shown = {f"{name}: {check['details']}" for name, check in report["evidence_checks"].items()}
    return [reason for reason in report.get("reasons", ()) if reason not in shown]


def report_lines(report: JsonMapping) -> Iterator[str]:
    yield f"gate {report['risk_tier']}: {report['verdict']}"
    for name, check in report["evidence_checks"].items():
        yield f"  {name:<24} {check['status']:<8} {check['details']}"
    yield from (f"  objection: {objection}" for objection in objections(report))
    yield from (f"  warning: {warning}" for warning in report.get("warnings", ()))
    score = report["confidence_score"]
    if score is not None or report["metrics"]:
        value, advice = "–" if score is None else format(score, "g"), report["confidence_advisory"] or ""
        yield f"  {'confidence (advisory)':<24} {value:<8} {advice}".rstrip()
    for metric in report["metrics"]:
        value = f"{metric['value']:g} (weight {metric['weight']:g})"
        yield f"    {metric['type']:<22} {value} {metric['details']}".rstrip()


def history_line(entry: JsonMapping) -> str:
    """Describe one step of a task's history."""
    step = entry["step"]
    if step == "work":
        return f"{entry['agent']} worked: {entry['summary'] or 'no summary'}"
    if step == "score":
        why = {name: f": {failure}" for name, failure in entry.get("failures", {}).items()}
        metrics = ", ".join(f"{name} {value:g}{why.get(name, '')}" for name, value in entry["metrics"].items())
        score = entry["confidence_score"]
        return f"confidence {'' if score is None else format(score, 'g')} ({metrics})".replace("  ", " ")
    if step == "challenge":
        verb = "approves" if entry["challenger_approved"] else "objects"
        return f"{entry['challenger_agent']} {verb}: {entry['challenger_critique']}".rstrip(": ")
    if step == "review":
        return f"review: {entry['decision']} {entry['feedback']}".rstrip()
    if step == "gate":
        return f"gate: {entry['verdict']} {'; '.join(entry['reasons'])}".rstrip()
    if step == "escalate":
        return f"a person is asked: {entry['reason']}"
    if step == "human":
        return f"{entry['status']} by {entry['by']} ({entry['trigger']}) {entry['notes']}".rstrip()
    return f"{entry['overlay_type']}: {entry['outcome']}"


MAX_LINES: Final = 4000  # of one output


class OutputChange(Struct, frozen=True):
    """An output: its text (None when it is too large or not UTF-8), the iteration of its last version, and the lines of
    a unified diff with an earlier version, empty when there is none."""

    path: str
    text: str | None
    iteration: int
    lines: tuple[str, ...]


def changes(versions: Sequence[OutputVersion]) -> Iterator[OutputChange]:
    """Yield a change for every output path: the last version, compared with the latest one that differs."""
    by_path: dict[str, list[OutputVersion]] = {}
    for version in versions:
        by_path.setdefault(version.path, []).append(version)
    for path, history in sorted(by_path.items()):
        last = history[-1]
        before = next((version for version in reversed(history[:-1]) if version.sha256 != last.sha256), None)
        yield OutputChange(path, _text(last), last.iteration, () if before is None else tuple(_diff(before, last)))


def _diff(before: OutputVersion, last: OutputVersion) -> Iterator[str]:
    old, new = _text(before), _text(last)
    if old is not None and new is not None:
        names = (f"iteration {before.iteration}", f"iteration {last.iteration}")
        lines = (old.splitlines()[:MAX_LINES], new.splitlines()[:MAX_LINES])
        yield from difflib.unified_diff(*lines, *names, lineterm="")


def _text(version: OutputVersion) -> str | None:
    if version.content is None or b"\0" in version.content:
        return None
    try:
        return version.content.decode("utf-8")
    except UnicodeDecodeError:
        return None
