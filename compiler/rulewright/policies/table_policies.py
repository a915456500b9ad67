"""Tables as policies: CEL policies, and the metrics and labels of scorecards over cases."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rulewright.diagnostics import Span
from rulewright.lower.policy import read_policy
from rulewright.lower.table_syntax import TableRow
from rulewright.policies.policy_model import (
    ENDED,
    NOTHING,
    Policy,
    PolicyDecision,
    PolicyOutcome,
    PolicyStep,
    computed,
    flat,
    table,
)  # fmt: skip
from rulewright.proving.domains import Domains, score
from rulewright.proving.program_parts import constant, substitute, unabridged
from rulewright.proving.tables import (
    NotProved,
    conditions_of,
    label_table,
    label_table_of_all_settings,
    scorers_of,
)  # fmt: skip
from rulewright.scoring.case_scorecards import CaseScorecard
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import Program

_SHARE: Final = Domains({}, {("share",): score()})
_HOLDS: Final = PolicyOutcome("holds", "holds")
_FAILS: Final = PolicyOutcome("does not hold", "does not hold")


def policy_of_table(path: Path, config: str | None) -> Policy:
    """The policy of a CEL policy in a file, over the variables that its configuration in another file declares. Raises
    DocumentError."""
    compiled, environment = read_policy(path, config)
    decision = table("rule", compiled.rows) if compiled.rows else computed("rule", compiled.program)
    given = "a value" if compiled.total else "an optional"  # none where no row holds
    returned = PolicyDecision("rule.returns", (), PolicyOutcome(given, given))
    decisions = {each.place: each for each in (decision, returned)}
    return Policy(decisions, {}, Domains(environment.variables))


def policy_of_cases(card: CaseScorecard, settings: CaseSettings, other: CaseScorecardPlan) -> Policy:
    """The policy of a scorecard over cases with its settings: its metrics and labels. A label whose exit code or
    acceptance differs in the `other` scorecard is shown with both."""
    meaning, elsewhere = _meanings(card.plan), _meanings(other)
    meanings = {label: text for label, text in meaning.items() if elsewhere.get(label, text) != text}
    decisions: dict[str, PolicyDecision] = {}
    places: dict[str, Domains] = {}
    for suffix, scorer in scorers_of(settings):
        scores = _scores(card.plan, scorer.parameters)
        for decision, domains in _decisions(card.plan, scorer.parameters, scores, meanings):
            place = decision.place + suffix
            decisions[place] = PolicyDecision(place, decision.steps, decision.otherwise)
            places[place] = domains
    return Policy(decisions, _written(card.plan), Domains({}), places)


def policy_of_cases_under_any_settings(plan: CaseScorecardPlan) -> Policy:
    """As `policy_of_cases`, with every parameter as a variable within its bounds."""
    known = {("share",): score(), **label_table_of_all_settings(plan).domains.known}
    domains = Domains({}, known)
    decisions = {decision.place: decision for decision, _ in _decisions(plan, {}, domains)}
    return Policy(decisions, {}, domains)


def _written(plan: CaseScorecardPlan) -> dict[str, Any]:
    """The settings of a case's decision other than conditions: what is read and searched, and the parameters."""
    found = flat(
        "metrics", {m.name: {"share": m.share, "judge": m.judge, "semantic": m.semantic} for m in plan.metrics}
    )
    found |= {
        k: v for each in plan.settings for k, v in flat(f"parameters.{each.parameter.name}", each, ("help",)).items()
    }
    found |= flat("inputs", {each.name: each for each in plan.inputs}) | flat("texts", {t.name: t for t in plan.texts})
    return found | {
        "exit": [label for label, _ in plan.exits],
        "requires": [unabridged(each.that) for each in plan.requires],
        "metadata": sorted(plan.metadata),
    }


def _decisions(
    plan: CaseScorecardPlan, parameters: Mapping[str, object], scores: Domains, meanings: Mapping[str, str] = {}
) -> Sequence[tuple[PolicyDecision, Domains]]:
    rows = zip(conditions_of(plan, [row.when for row in plan.labels], parameters), plan.labels, strict=True)
    found = [(_labels([(condition, meanings.get(row.label, row.label)) for condition, row in rows]), scores)]
    found.append((computed("composite", substitute(plan.composite, parameters)), scores))
    for metric in plan.metrics:
        place = f"metrics.{metric.name}"
        found.append((computed(f"{place}.score", substitute(metric.score, parameters)), _SHARE))
        for key, condition in (("passes", metric.passes), ("fails", metric.fails), ("flagged", metric.flagged)):
            if condition is None:
                decision = PolicyDecision(f"{place}.{key}", (), NOTHING)
            else:
                ready = conditions_of(plan, [condition], parameters)[0]
                decision = PolicyDecision(f"{place}.{key}", (PolicyStep(ready, _HOLDS, None, ENDED),), _FAILS)
            found.append((decision, scores))
    return found


def _meanings(plan: CaseScorecardPlan) -> dict[str, str]:
    """Each label with what it leads to."""
    accepted = {plan.accepted: ", accepted"}
    return {label: f"{label}{accepted.get(label, '')}, exit code {code}" for label, code in plan.exits}


def _labels(rows: Sequence[tuple[Program, str]]) -> PolicyDecision:
    nowhere = Span("", 0, 0, 0, 0)
    return table("labels", [TableRow(condition, constant(label), None, nowhere) for condition, label in rows])


def _scores(plan: CaseScorecardPlan, parameters: Mapping[str, object]) -> Domains:
    """The domains of the metrics' scores; unrestricted if unknown."""
    try:
        return label_table(plan, parameters).domains
    except (NotProved, EvaluationError):
        return Domains({}, {(metric.name,): score() for metric in plan.metrics})
