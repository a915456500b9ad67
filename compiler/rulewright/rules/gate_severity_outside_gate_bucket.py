"""Rule: a gate's severity in a bucket that no gate looks at."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument


def gate_severity_outside_gate_bucket(check: CheckDocument) -> Iterator[Diagnostic]:
    """A check has the severity of a gate in a bucket that has no gate.

    Why it matters: gates look at the buckets that the vocabulary gives them, so this failure merely lowers a rate,
    however grave its severity sounds.
    Instead: move the check to a bucket with a gate, or give it a milder severity.
    """
    words = check.vocabulary
    if (
        check.severity in words.gate_severities
        and check.primary_bucket
        and check.primary_bucket not in words.gate_buckets
    ):
        yield warning(
            check.place("severity"),
            f"severity `{check.severity}` stops no gate in bucket `{check.primary_bucket}`",
            notes=[(check.place("primary_bucket"), "the bucket is set here")],
            help=f"gates look at {', '.join(f'`{bucket}`' for bucket in sorted(words.gate_buckets))}",
        )
