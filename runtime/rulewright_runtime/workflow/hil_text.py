"""A queue item as text: what was asked, what the gate found, how the loops went."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import one_line
from rulewright_runtime.workflow.deciders import SignedDecision
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.processes import Origin


def describe(
    item: QueueItem, versions: Sequence[Version] = (), decisions: Sequence[tuple[SignedDecision, Origin]] = ()
) -> str:
    """Everything a reviewer needs, in paragraphs; `versions` are what the task wrote, `decisions` were taken so far."""
    return "\n".join(map(one_line, (*_lines(item, decisions), *_outputs(versions)))) + "\n"


def _outputs(versions: Sequence[Version]) -> Iterator[str]:
    for change in changes(versions):
        yield ""
        yield f"output {change.path}, iteration {change.iteration}"
        if change.text is None:
            yield "  not shown: too large, or no text"
        else:
            yield from (f"  {line}" for line in change.lines or change.text.splitlines()[:MAX_LINES])


def _lines(item: QueueItem, decisions: Sequence[tuple[SignedDecision, Origin]]) -> Iterator[str]:
    yield f"{item.id}: {item.status}"
    yield f"task {item.task_id} of {item.workflow}, {item.run_id}, asked at {item.created_at}"
    yield f"why: {item.trigger}: {item.reason}"
    if item.acked_by:
        yield f"looked at by {item.acked_by} since {item.acked_at}"
    if item.resolved_by:
        yield f"decided by {item.resolved_by} at {item.resolved_at}: {item.resolution_notes or 'no notes'}"
    for decision, origin in decisions:
        signed = "signed" if decision.signature else "not signed"
        yield f"on record: {decision.move} by {decision.by} at {decision.at}, {signed}, {origin.in_words()}"
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


def report_lines(report: JsonMapping) -> Iterator[str]:
    """A gate report, line by line."""
    yield f"gate {report['risk_tier']}: {report['verdict']}"
    for name, check in report["evidence_checks"].items():
        yield f"  {name:<24} {check['status']:<8} {check['details']}"
    yield from (f"  warning: {warning}" for warning in report.get("warnings", ()))
    score = report["confidence_score"]
    if score is not None or report["metrics"]:
        yield f"  confidence (advice only)  {'-' if score is None else format(score, 'g')}" + (
            f"  {report['confidence_advisory']}" if report["confidence_advisory"] else ""
        )
    for metric in report["metrics"]:
        yield f"    {metric['type']:<22} {metric['value']:g} (weight {metric['weight']:g}) {metric['details']}"


def history_line(entry: JsonMapping) -> str:
    """One step of a task's history in words."""
    step = entry["step"]
    if step == "work":
        return f"{entry['agent']} worked: {entry['summary'] or 'no summary'}"
    if step == "score":
        metrics = ", ".join(f"{name} {value:g}" for name, value in entry["metrics"].items())
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


MAX_LINES: Final = 4000  # of one comparison
Version = tuple[int, str, str, bytes | None]  # iteration, path, sha256, content


@dataclass(frozen=True, slots=True)
class OutputChange:
    """An output: its text (None where it is too large or no text), the iterations compared, and the lines of the
    comparison, which are empty where there is nothing to compare with."""

    path: str
    text: str | None
    iteration: int
    lines: tuple[str, ...]


def changes(versions: Sequence[Version]) -> Iterator[OutputChange]:
    """Every output by its path: the last version, beside the last one that was different."""
    by_path: dict[str, list[Version]] = {}
    for version in versions:
        by_path.setdefault(version[1], []).append(version)
    for path, found in sorted(by_path.items()):
        last = found[-1]
        before = next((version for version in reversed(found[:-1]) if version[2] != last[2]), None)
        yield OutputChange(path, _readable(last), last[0], tuple(_compared(before, last)))


def _compared(before: Version | None, last: Version) -> Iterator[str]:
    old, new = None if before is None else _readable(before), _readable(last)
    if before is not None and old is not None and new is not None:
        names = (f"iteration {before[0]}", f"iteration {last[0]}")
        lines = (old.splitlines()[:MAX_LINES], new.splitlines()[:MAX_LINES])
        yield from difflib.unified_diff(*lines, *names, lineterm="")


def _readable(version: Version) -> str | None:
    content = version[3]
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
