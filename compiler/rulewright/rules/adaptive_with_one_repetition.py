"""Rule: an early stop with only one repetition."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile


def adaptive_with_one_repetition(subject: CheckDocument | Profile) -> Iterator[Diagnostic]:
    """`adaptive_repetitions` is on, but there is only one repetition.

    Why it matters: an early stop after the first vote saves nothing when one vote is all there is.
    Instead: turn it off, or set at least three repetitions.
    """
    steps: tuple[str, ...]
    if isinstance(subject, CheckDocument):
        adaptive, votes = subject.routing.adaptive_repetitions, subject.routing.repetitions
        steps, key = ("routing",), "repetitions"
    else:
        adaptive, votes, steps, key = subject.adaptive, subject.repetitions, (), "llm_repetitions"
    if adaptive and votes == 1:
        yield warning(
            subject.key_place(*steps, "adaptive_repetitions"),
            "`adaptive_repetitions` has no effect: there is only one repetition",
            notes=[(subject.place(*steps, key), "the number is set here")],
        )
