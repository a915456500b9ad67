"""The edge: a judge is asked about what a deterministic verifier found but should not decide alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from rulewright_runtime.transcripts.windows import WindowTurns
from rulewright_runtime.verify.judge import Asked, ask, ask_about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright_runtime.matching.match import MatchSpan
    from rulewright_runtime.plan.question import Judging
    from rulewright_runtime.plan.scan import Check
    from rulewright_runtime.verdicts import Finding
    from rulewright_runtime.verify.asking import Asking
    from rulewright_runtime.verify.evaluation_context import EvaluationContext


def confirm(
    check: Check,
    judging: Judging,
    context: EvaluationContext,
    first: Finding,
    why: str,
    hits: Sequence[tuple[int, MatchSpan]] = (),
) -> Asking[Finding]:
    """The judge's verdict on `first`; the exact hits stay in front of a confirmed FAIL, and `extra.edge` says why.

    With `hits` (the turn's index and the span) only windows that hold one are asked about, each with its own hits. A
    hit that no window holds is asked about in the exchange that it stands in.
    """
    if judging.repetitions == 0:
        return first
    if hits:
        asked = yield from ask_about(check, judging, context, _places(check, judging, context, hits), purpose="edge")
    else:
        asked = yield from ask(check, judging, context, purpose="edge")
    extra = {**first.extra, **asked.extra, "edge": {"asked_on": why, "verdict_before": first.verdict}}
    return replace(asked, extra=extra)


def _places(
    check: Check, judging: Judging, context: EvaluationContext, hits: Sequence[tuple[int, MatchSpan]]
) -> list[Asked]:
    """The windows that hold a hit, then one for each hit that none of them holds."""
    windows = context.windows(judging.window, check)
    held = {index for window in windows for index in window.indices}
    lone = [exchange(context, index) for index, _ in hits if index not in held]
    return [
        Asked(number, window, tuple(context.quoted_hit(*hit) for hit in inside))
        for number, window in enumerate((*windows, *lone))
        if (inside := [hit for hit in hits if hit[0] in window.indices])
    ]


def place_of_hit(windows: Sequence[WindowTurns], context: EvaluationContext, index: int) -> WindowTurns:
    """The first window that holds the turn at `index`, else the exchange that it stands in."""
    return next((window for window in windows if index in window.indices), None) or exchange(context, index)


def exchange(context: EvaluationContext, index: int) -> WindowTurns:
    """A turn with the one before it (an answer) or the answer after it (a question)."""
    roles = [turn.role for turn in context.turns]
    other = index - 1 if roles[index] == "assistant" else index + 1
    inside = {index, other} if 0 <= other < len(roles) and roles[other] != roles[index] else {index}
    return WindowTurns(tuple(sorted(inside)), {"unit": "hit", "turn": context.turns[index].turn})
