"""A check as a policy: the scenarios it applies to, the verdicts of its conditions, and how it is verified; and two of
them on the transcripts of a finished run."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from rulewright.documents.check import CheckDocument
from rulewright.expression.compose import all_of, any_of
from rulewright.lower.expressions import scenario_environment
from rulewright.lower.lowering import LoweringContext
from rulewright.lower.scan_plan import PlanParts, seal_parts
from rulewright.policies.policy_model import (
    Policy,
    PolicyDecision,
    PolicyOutcome,
    PolicyStep,
    difference,
    flat,
    guarding,
    permitting,
)
from rulewright.proving.domains import Domains
from rulewright.proving.verdicts import CallVariable, domains_of_check, verdict_conditions
from rulewright.reporting.stored_run import StoredRun, conversations
from rulewright.witnesses.conversation_records import PLAIN
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verify.decisions import Decider, bindings_of

_NO_RECORD: Final = PolicyOutcome("suppressed", "no record")
_APPLIES: Final = PolicyOutcome("eligible", "applies")
_DOES_NOT_APPLY: Final = PolicyOutcome("not eligible", "does not apply")
_VERDICTS: Final = {name: PolicyOutcome(name, name) for name in ("FAIL", "UNCLEAR", "PASS")}
# Keys that are compared as decisions, and names of a check.
_COMPARED_ELSEWHERE: Final = (
    "id", "name", "suppressed", "eligible", "applies", "hash", "verifier.fails", "verifier.unclear", "verifier.passes",
)  # fmt: skip
_FILLED: Final = frozenset({("messages",)})  # calls of tools without a text are not turns
LOOKED_AT: Final = ", which a person must decide"
UNDECIDED_VERDICT: Final = f"UNCLEAR{LOOKED_AT}"
_UNDECIDED: Final = PolicyOutcome("undecided", UNDECIDED_VERDICT)


def policy_of_check(
    check: CheckDocument, node: Check, around: LoweringContext, calls: dict[str, CallVariable]
) -> Policy:
    """The policy of a check lowered in its project (`around`), without its lexicons. `calls` holds the variables that
    stand for calls; both compared checks share them, so that their domains are added once both are known."""
    silenced = node.suppressed or any_of(())
    applies = node.eligible or all_of(())
    eligibility = PolicyDecision(
        "eligibility", (permitting(silenced, _NO_RECORD), guarding(applies, _APPLIES)), _DOES_NOT_APPLY
    )
    decisions = {"eligibility": eligibility}
    domains = Domains(scenario_environment(check.vocabulary).variables)
    if isinstance(node.verifier, ExpressionVerifier):
        decisions["verdict"] = _verdict(check, calls)
        found = domains_of_check(check)
        domains = replace(found, types={**domains.types, **found.types}, filled=_FILLED)
    settings = (
        flat("check", node, _COMPARED_ELSEWHERE)
        | flat("state machine", around.machines)
        | flat("corpus", around.corpora)
    )
    settings = {place: value for place, value in settings.items() if not place.endswith(".prompt_hash")}
    return Policy(decisions, settings, domains)


def _verdict(check: CheckDocument, calls: dict[str, CallVariable]) -> PolicyDecision:
    """FAIL, else UNCLEAR, else PASS; an undecidable condition gives UNCLEAR with confidence 0."""
    conditions = verdict_conditions(check, calls, _FILLED)
    steps = [PolicyStep(program, _VERDICTS[word], None, _UNDECIDED) for word, program in conditions.items()]
    rest = "PASS" if check.passes is None else "FAIL" if check.fails is None else "UNCLEAR"
    return PolicyDecision("verdict", tuple(steps), _VERDICTS[rest])


class LoweredCheck(NamedTuple):
    """A check as a document and in lowered form, with the collected parts of its plan."""

    document: CheckDocument
    node: Check
    around: LoweringContext


def occasion(check: LoweredCheck) -> LoweredCheck:
    """A check that passes the conversations to which this one applies and fails all others."""
    parameters = getattr(check.node.verifier, "parameters", {})
    return LoweredCheck(
        replace(check.document, each=None, fails=None, unclears=None, passes=check.document.applies),
        replace(
            check.node, applies=None, verifier=ExpressionVerifier(passes=check.node.applies, parameters=parameters)
        ),
        check.around,
    )


OCCASIONS: Final = {
    "PASS": _APPLIES.text,
    "FAIL": _DOES_NOT_APPLY.text,
    UNDECIDED_VERDICT: f"can't be decided{LOOKED_AT}",
}


def flips_of_checks(run: StoredRun, checks: Sequence[LoweredCheck]) -> JsonObject:
    """`flips` are the transcripts on which the two checks differ: in their verdicts if both decide
    without a judge and without other checks, else in whether they apply. `gone` counts the conversations that are
    missing or changed, whose verdicts are not compared."""
    engines = [] if most_votes(checks) else engines_of(checks, redact=run.plan.redact)
    is_conditional = any(check.node.applies for check in checks)
    conditions = [occasion(check) for check in checks] if is_conditional else []
    occasions = engines_of(conditions, redact=run.plan.redact)
    transcripts = conversations(run) if engines or occasions else {}
    flips, gone = [], 0
    for name, row in run.rows.items():
        scenario = str(row.get("scenario_id") or "")
        if scenario and scenario not in run.plan.scenarios:
            continue
        words = applying([each.node for each in checks], bindings_of(run.plan, scenario))
        if occasions and name in transcripts:
            given = [_verdict_on(each, transcripts[name], "") for each in occasions]
            words = [
                _DOES_NOT_APPLY.text if verdict == "FAIL" else word for verdict, word in zip(given, words, strict=True)
            ]
        if engines and name in transcripts:
            words = [_verdict_on(engine, transcripts[name], word) for engine, word in zip(engines, words, strict=True)]
        gone += bool(engines or occasions) and name not in transcripts and _APPLIES.text in words
        if words[0] != words[1]:
            flips.append({"transcript_id": name, "before": words[0], "after": words[1]})
    return {"run": str(run.folder), "flips": flips, "gone": gone}


def most_votes(checks: Iterable[LoweredCheck]) -> int:
    """The most votes that one of the checks asks of a judge for a window."""
    return max((each.repetitions for check in checks for each in check.node.verifier.judgings()), default=0)


def engines_of(checks: Sequence[LoweredCheck], **changes: object) -> list[Engine]:
    """An engine for each check, whose plan has `changes`; empty if one reads other verdicts or needs a missing
    package."""
    if any(each.node.verifier.reads() for each in checks):
        return []
    try:
        plans = [seal_parts(PlanParts((e.document,), (e.node,), (), None, (), e.around)) for e in checks]
        return [Engine(replace(plan, **changes)) for plan in plans]
    except RuntimeFailure:
        return []


def applying(checks: Sequence[Check], bindings: JsonMapping) -> list[str]:
    """Whether each of the checks applies, where `bindings` is the context of expressions."""
    return [
        (_NO_RECORD if each.suppressed else _APPLIES if each.eligible else _DOES_NOT_APPLY).text
        for each in Decider(checks).decide(bindings)
    ]


def without_scenario(checks: Sequence[Check]) -> list[JsonObject]:
    """The region of conversations without a scenario, where only one of two checks applies to them."""
    before, after = applying(checks, {})
    if before == after:
        return []
    where, witness = ["the conversation has no scenario"], {"messages": list(PLAIN)}
    return [difference("eligibility", before, after, where, witness)]


def _verdict_on(engine: Engine, transcript: Transcript, applies: str) -> str:
    """The verdict on a transcript, or whether the check applies if it gives none."""
    (result,) = results(engine, [transcript], None)
    given = next((each for each in result.verdicts if each.eligible), None)
    return applies if given is None else given.verdict
