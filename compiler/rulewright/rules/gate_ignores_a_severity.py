"""Rule: a gate that does not stop on a gate severity of its checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import descend, text_scalars, texts
from rulewright.load import Mapping

if TYPE_CHECKING:
    from rulewright.project import Project


def gate_ignores_a_severity(project: Project) -> Iterator[Diagnostic]:
    """A gate of the scoring file does not list a gate severity that a check of its buckets has.

    Why it matters: the check's severity promises a gate, but its FAIL does not stop this one.
    Instead: add the severity to `hard_fail_on_severity`, or give the check a milder one.
    """
    gates = None if project.scoring is None else descend(project.scoring.node, "gates")
    for entry in gates.entries if isinstance(gates, Mapping) else ():
        buckets, listed = texts(entry.value, "mode_buckets"), text_scalars(entry.value, "hard_fail_on_severity")
        stopping = {str(each.value) for each in listed}
        missed = [
            check
            for check in project.checks
            if check.primary_bucket in buckets
            and check.severity in project.vocabulary.gate_severities
            and check.severity not in stopping
        ]
        used = {check.severity for check in project.checks if check.primary_bucket in buckets}
        if missed and listed:
            where = next((each for each in listed if each.value not in used), listed[0])
            message = f"`{entry.name}` does not stop on the severity `{missed[0].severity}` of `{missed[0].id}`"
            notes = [(check.place("severity"), "its severity") for check in missed]
            yield warning(where, message, notes=notes, help=f"add `{missed[0].severity}`")
