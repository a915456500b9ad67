"""Rule: a gate that one judge's vote decides."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument


def gate_judged_once(check: CheckDocument) -> Iterator[Diagnostic]:
    """A gate check is decided by a single vote of a judge, or a single vote takes back what its lexicon found.

    Why it matters: one whim of a model fails a transcript or lets it pass; nothing outvotes it.
    Instead: ask for at least three repetitions.
    """
    if check.is_gate and (check.is_judged or check.has_edge) and check.routing.repetitions == 1:
        yield warning(
            check.place("routing", "repetitions"),
            "a single vote of a judge decides this gate"
            if check.is_judged
            else "a single vote of a judge takes back what the lexicon of this gate finds",
            notes=[(check.place("severity"), "the severity makes it a gate check")],
            help="ask for at least 3 repetitions",
        )
