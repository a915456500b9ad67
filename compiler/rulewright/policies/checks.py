"""A check as a policy: the scenarios it applies to, the verdicts of its conditions, and how it is verified."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from rulewright.documents.check import CheckDocument
from rulewright.expression.compose import all_of, any_of
from rulewright.lower.expressions import scenario_environment
from rulewright.lower.lowering import LoweringContext
from rulewright.policies.policy_model import (
    Policy,
    PolicyDecision,
    PolicyOutcome,
    PolicyStep,
    flat,
    guarding,
    permitting,
)
from rulewright.proving.domains import Domains
from rulewright.proving.verdicts import CallVariable, domains_of, domains_of_check, verdict_conditions
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ExpressionVerifier

_NO_RECORD: Final = PolicyOutcome("suppressed", "no record")
_APPLIES: Final = PolicyOutcome("eligible", "applies")
_IDLE: Final = PolicyOutcome("not eligible", "does not apply")
_VERDICTS: Final = {name: PolicyOutcome(name, name) for name in ("FAIL", "UNCLEAR", "PASS")}
# Keys that are compared as decisions, and names of a check.
_TOLD: Final = (
    "id", "name", "suppressed", "eligible", "hash", "verifier.fails", "verifier.unclear", "verifier.passes",
)  # fmt: skip
_FILLED: Final = frozenset({("messages",)})  # calls of tools without a text are no turns
LOOKED_AT: Final = ", which a person has to look at"
UNDECIDED_VERDICT: Final = f"UNCLEAR{LOOKED_AT}"
_UNDECIDED: Final = PolicyOutcome("undecided", UNDECIDED_VERDICT)


def policy_of_check(
    check: CheckDocument, node: Check, around: LoweringContext, calls: dict[str, CallVariable]
) -> Policy:
    """The policy of a check lowered in its project (`around`), without its lexicons. `calls` holds the
    variables that stand for calls; both compared checks share them."""
    silenced = node.suppressed or any_of(())
    applies = node.eligible or all_of(())
    eligibility = PolicyDecision("eligibility", (permitting(silenced, _NO_RECORD), guarding(applies, _APPLIES)), _IDLE)
    decisions = {"eligibility": eligibility}
    domains = Domains(scenario_environment(check.vocabulary).variables)
    if isinstance(node.verifier, ExpressionVerifier):
        decisions["verdict"] = _verdict(check, calls)
        found = domains_of_check(check)
        domains = replace(found, types={**domains.types, **found.types}, filled=_FILLED)
    settings = flat("check", node, _TOLD) | flat("state machine", around.machines) | flat("corpus", around.corpora)
    settings = {place: value for place, value in settings.items() if not place.endswith(".prompt_hash")}
    return Policy(decisions, settings, domains_of(calls, domains))


def _verdict(check: CheckDocument, calls: dict[str, CallVariable]) -> PolicyDecision:
    """FAIL, else UNCLEAR, else PASS; an undecidable condition gives UNCLEAR with confidence 0."""
    conditions = verdict_conditions(check, calls, _FILLED)
    steps = [PolicyStep(program, _VERDICTS[word], None, _UNDECIDED) for word, program in conditions.items()]
    rest = "PASS" if check.passes is None else "FAIL" if check.fails is None else "UNCLEAR"
    return PolicyDecision("verdict", tuple(steps), _VERDICTS[rest])
