"""The edge: a judge confirms a finding that a deterministic verifier should not decide alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from rulewright_runtime.matching.match import MatchSpan
from rulewright_runtime.plan.question import Judging
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.transcripts.windows import WindowTurns
from rulewright_runtime.verdicts import Finding
from rulewright_runtime.verify.asking import Asking
from rulewright_runtime.verify.evaluation_context import EvaluationContext
from rulewright_runtime.verify.judge import JudgeWindow, ask, ask_about


def confirm(
    check: Check,
    judging: Judging,
    context: EvaluationContext,
    first: Finding,
    why: str,
    hits: Sequence[tuple[int, MatchSpan]] = (),
) -> Asking[Finding]:
    """The judge's verdict on `first`; the exact hits precede the evidence of a confirmed FAIL, `extra.edge` says why.

    With `hits` (turn index and span) only windows that contain one are judged, each with its own hits. A hit outside
    every window is judged in its exchange.
    """
    if judging.repetitions == 0:
        return first
    if hits:
        windows = _windows(check, judging, context, hits)
        judged = yield from ask_about(check, judging, context, windows, purpose="edge")
    else:
        judged = yield from ask(check, judging, context, purpose="edge")
    extra = {**first.extra, **judged.extra, "edge": {"asked_on": why, "verdict_before": first.verdict}}
    return replace(judged, extra=extra)


def _windows(
    check: Check, judging: Judging, context: EvaluationContext, hits: Sequence[tuple[int, MatchSpan]]
) -> list[JudgeWindow]:
    """The windows that contain a hit, then the exchange of each hit outside of them."""
    windows = context.windows(judging.window, check)
    covered = {index for window in windows for index in window.indices}
    exchanges = [exchange(context, index) for index, _ in hits if index not in covered]
    return [
        JudgeWindow(number, window, tuple(context.quoted_hit(*hit) for hit in inside))
        for number, window in enumerate((*windows, *exchanges))
        if (inside := [hit for hit in hits if hit[0] in window.indices])
    ]


def window_of_hit(windows: Sequence[WindowTurns], context: EvaluationContext, index: int) -> WindowTurns:
    """The first window that contains the turn at `index`, else the turn's exchange."""
    return next((window for window in windows if index in window.indices), None) or exchange(context, index)


def exchange(context: EvaluationContext, index: int) -> WindowTurns:
    """A turn with its counterpart: the turn before an assistant's turn, the turn after a user's."""
    roles = [turn.role for turn in context.turns]
    other = index - 1 if roles[index] == "assistant" else index + 1
    inside = {index, other} if 0 <= other < len(roles) and roles[other] != roles[index] else {index}
    return WindowTurns(tuple(sorted(inside)), {"unit": "hit", "turn": context.turns[index].turn})
