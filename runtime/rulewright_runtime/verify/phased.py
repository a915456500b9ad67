"""The three-phase verifier: a lexicon's candidates, each confirmed by typed fields, then a sweep for what it missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from rulewright_runtime.verdicts import combine, not_eligible
from rulewright_runtime.verify.asking import together
from rulewright_runtime.verify.edge import place_of_hit
from rulewright_runtime.verify.judge import Asked, ask, ask_about

if TYPE_CHECKING:
    from rulewright_runtime.plan.scan import Check
    from rulewright_runtime.plan.verifiers import PhasedVerifier
    from rulewright_runtime.verdicts import Finding
    from rulewright_runtime.verify.asking import Asking
    from rulewright_runtime.verify.evaluation_context import EvaluationContext


def verify(check: Check, verifier: PhasedVerifier, context: EvaluationContext) -> Asking[Finding]:
    """FAIL where a candidate is confirmed; else what the sweep says, as far as no candidate stayed open.

    `extra.phases` holds what each phase found. Every candidate is a question of its own, so that nothing that happens
    later takes a confirmed one back.
    """
    if verifier.confirm.repetitions == 0 or verifier.sweep.repetitions == 0:
        return not_eligible("disabled_by_scan_profile", prompt_hash=verifier.sweep.prompt_hash)
    windows = context.windows(verifier.confirm.window, check)
    hits = context.hits(verifier.candidates)
    places = [
        Asked(number, place_of_hit(windows, context, index), (context.quoted_hit(index, span),))
        for number, (index, span) in enumerate(hits)
    ]
    confirmations = yield from together(
        [ask_about(check, verifier.confirm, context, [place], purpose="confirm") for place in places]
    )
    candidates: list[dict[str, object]] = [
        {"turn": context.turns[index].turn, "quote": span.text, "verdict": found.verdict, **found.extra}
        for (index, span), found in zip(hits, confirmations, strict=True)
    ]
    if any(found.verdict == "FAIL" for found in confirmations):
        return replace(combine(confirmations), extra={"phases": {"candidates": candidates, "sweep": "not needed"}})
    swept = yield from ask(check, verifier.sweep, context, purpose="sweep")
    phases = {"candidates": candidates, "sweep": {"verdict": swept.verdict, **swept.extra}}
    return replace(combine([*confirmations, swept]) if confirmations else swept, extra={"phases": phases})
