"""The scenario rule: checks the replies to a question of the user for required and forbidden phrases."""

from __future__ import annotations

from msgspec.structs import replace

from rulewright_runtime.plan.part import GRAVITY
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ScenarioRule
from rulewright_runtime.verdicts import Finding, missing_content, not_eligible
from rulewright_runtime.verify.evaluation_context import EvaluationContext


def verify(check: Check, verifier: ScenarioRule, context: EvaluationContext) -> Finding:
    """Not eligible without the question. Any FAIL of an answer is FAIL, else any UNCLEAR is UNCLEAR, else PASS."""
    asked = [i for i in context.said_by("user") if context.hit(verifier.question, i)]
    if not asked:
        return not_eligible(verifier.no_question, occasion=True)
    answers = [_answered(verifier, context, i) for i in (asked if verifier.questions == "every" else asked[:1])]
    verdict = min((each.verdict for each in answers), key=GRAVITY.index)
    deciding = [each for each in answers if each.verdict == verdict]
    worst = max(deciding, key=lambda each: each.confidence)  # a false claim before a missing disclosure
    evidence = dict.fromkeys(span for each in deciding if each.code == worst.code for span in each.evidence)
    return replace(worst, evidence=tuple(evidence))


def _answered(verifier: ScenarioRule, context: EvaluationContext, asked: int) -> Finding:
    """UNCLEAR without a reply; else PASS or FAIL by the reply's markers.

    A false claim next to a disclosure is FAIL: whoever reads both does not know which one to believe.
    """
    answered = next(iter(context.answers(asked)), None)
    evidence = tuple(context.quote(i, context.turns[i].content) for i in (asked, answered) if i is not None)
    if answered is None:
        return missing_content(verifier.no_answer, evidence)
    if context.hit(verifier.false_claim, answered):
        return Finding("FAIL", verifier.hit_confidence, verifier.claimed, evidence)
    if context.hit(verifier.disclosure, answered):
        return Finding("PASS", verifier.hit_confidence, verifier.disclosed, evidence)
    return Finding("FAIL", verifier.miss_confidence, verifier.undisclosed, evidence)
