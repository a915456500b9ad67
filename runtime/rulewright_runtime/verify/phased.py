"""The three-phase verifier: candidates of a lexicon, each confirmed by a judge, then a sweep for missed ones."""

from __future__ import annotations

from msgspec.structs import replace

from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import PhasedVerifier
from rulewright_runtime.verdicts import Finding, combine, not_eligible, unverified
from rulewright_runtime.verify.asking import Asking, together
from rulewright_runtime.verify.edge import window_of_hit
from rulewright_runtime.verify.evaluation_context import EvaluationContext
from rulewright_runtime.verify.judge import JudgeWindow, ask, ask_about


def verify(check: Check, verifier: PhasedVerifier, context: EvaluationContext) -> Asking[Finding]:
    """FAIL if a candidate is confirmed, else the verdict of the sweep, which can't pass while a candidate is open.

    `extra.phases` holds the result of each phase. Every candidate is a separate request, so that nothing later
    overturns a confirmed one.
    """
    if verifier.confirm.repetitions == 0 or verifier.sweep.repetitions == 0:
        return not_eligible("disabled_by_scan_profile", prompt_hash=verifier.sweep.prompt_hash)
    windows = context.windows(verifier.confirm.window, check)
    hits = context.hits(verifier.candidates)
    judged_windows = [
        JudgeWindow(number, window_of_hit(windows, context, index), (context.quoted_hit(index, span),))
        for number, (index, span) in enumerate(hits)
    ]
    confirmations = yield from together(
        [ask_about(check, verifier.confirm, context, [window], purpose="confirm") for window in judged_windows]
    )
    candidates: list[dict[str, object]] = [
        {"turn": context.turns[index].turn, "quote": span.text, "verdict": finding.verdict, **finding.extra}
        for (index, span), finding in zip(hits, confirmations, strict=True)
    ]
    if any(finding.verdict == "FAIL" for finding in confirmations):
        return replace(combine(confirmations), extra={"phases": {"candidates": candidates, "sweep": "not needed"}})
    swept = yield from ask(check, verifier.sweep, context, purpose="sweep")
    phases = {"candidates": candidates, "sweep": {"verdict": swept.verdict, **swept.extra}}
    found = combine([*confirmations, swept]) if confirmations else swept
    return replace(found, extra={"phases": phases, **unverified([found])})
