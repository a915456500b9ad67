"""Fixes of workflows: adds missing keys in the style of their neighbours."""

import re
from collections.abc import Sequence
from typing import Final

from rulewright.diagnostics import Edit, Fix
from rulewright.documents.base import descend
from rulewright.documents.workflow import TaskDocument, names
from rulewright.load import Mapping

_PLAIN: Final = re.compile(r"[\w./-]*[A-Za-z_./-][\w./-]*")  # a path that needs no quotes in YAML
# For each check: the key of `evidence`, the metric that may read the same file, and a common file name.
_USUAL_EVIDENCE: Final = {
    "acceptance_evidence": ("acceptance", "", "reports/junit.xml"),
    "verification": ("lint", "lint_score", "reports/lint.json"),
    "operational_readiness": ("readiness", "checklist_completion", "checklist.md"),
    "requirement_coverage": ("requirements", "requirement_coverage", "requirements.md"),
}
_LISTED_IN: Final = {"requirement_coverage": "requirements"}


def add_key(node: Mapping, key: str, value: str) -> Fix | None:
    """The fix that adds `key: value` before the mapping's first key; None if the mapping is empty."""
    if not node.entries:
        return None
    first = node.entries[0].key
    source = node.source
    span = source.span(first.start, first.start)
    if first.style == "j":
        text = f'"{key}": {value}, '
    elif source.text[node.start] == "{":
        text = f"{key}: {value}, "
    else:
        text = f"{key}: {value}\n{' ' * (span.column - 1)}"
    return Fix(f"write `{key}: {value}`", (Edit(span, text),), safe=False)


def add_overlay(task: TaskDocument, name: str, settings: str) -> Fix | None:
    """The fix that enables an overlay in the task; None if the task has no overlays of its own, or already sets this
    one."""
    overlays = descend(task.node, "overlays")
    if not isinstance(overlays, Mapping) or name in overlays or (overlays.entries and overlays.entries[0].key.style):
        return None
    return add_key(overlays, name, f"{{enabled: true, {settings}}}")


def evidence_for(task: TaskDocument, checks: Sequence[str]) -> str:
    """Files for these checks, to be written under `evidence`: those that the task's metrics already read,
    else common names that the author must verify."""
    read = {metric.type: names(metric.node, _LISTED_IN.get(metric.type, "source")) for metric in task.metrics}
    named = []
    for kind, metric, usual in (_USUAL_EVIDENCE[check] for check in checks):
        known = read.get(metric, ())
        named.append(f"{kind}: {known[0] if known and _PLAIN.fullmatch(known[0]) else usual}")
    return f"{{{', '.join(named)}}}"


def gate_evidence(task: TaskDocument, checks: Sequence[str]) -> Fix | None:
    """The fix that names files for these checks in the task's own gate; None if the gate is not the task's own, or
    names other evidence already."""
    gate = descend(task.node, "overlays", "policy_gate")
    if not isinstance(gate, Mapping) or not gate.entries or "evidence" in gate or gate.entries[0].key.style:
        return None
    return add_key(gate, "evidence", evidence_for(task, checks))
