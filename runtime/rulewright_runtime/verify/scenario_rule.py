"""The scenario rule: checks the reply to a question of the user for required and forbidden phrases."""

from __future__ import annotations

from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ScenarioRule
from rulewright_runtime.verdicts import Finding, missing_content, not_eligible
from rulewright_runtime.verify.evaluation_context import EvaluationContext


def verify(check: Check, verifier: ScenarioRule, context: EvaluationContext) -> Finding:
    """Not eligible without the question; UNCLEAR without a reply; else PASS or FAIL by the reply's markers.

    A false claim next to a disclosure is FAIL: whoever reads both does not know which one to believe.
    """
    asked = next((i for i in context.said_by("user") if context.hit(verifier.question, i)), None)
    if asked is None:
        return not_eligible(verifier.no_question, occasion=True)
    answered = next(iter(context.answers(asked)), None)
    evidence = tuple(context.quote(i, context.turns[i].content) for i in (asked, answered) if i is not None)
    if answered is None:
        return missing_content(verifier.no_answer, evidence)
    if context.hit(verifier.false_claim, answered):
        return Finding("FAIL", verifier.hit_confidence, verifier.claimed, evidence)
    if context.hit(verifier.disclosure, answered):
        return Finding("PASS", verifier.hit_confidence, verifier.disclosed, evidence)
    return Finding("FAIL", verifier.miss_confidence, verifier.undisclosed, evidence)
