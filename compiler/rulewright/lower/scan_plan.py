"""Lowers a project under one profile and one scorecard to a scan plan."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile
from rulewright.documents.scenario import NumberedTurn, ScenarioDocument, hours_between, numbered_turns
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.types import BOOL
from rulewright.load import plain
from rulewright.lower.expression_checks import lower_applies, verdict_cycles
from rulewright.lower.expressions import SCENARIO_FACTS, build_in, scenario_environment
from rulewright.lower.lowering import LoweringContext
from rulewright.lower.rubrics import fields_of_criterion, lower_rubrics
from rulewright.lower.scorecard import lower_scorecard
from rulewright.lower.selection import eligible, repetitions, select, suppressed
from rulewright.lower.semantics import policies
from rulewright.lower.verifiers import lower_verifier, probes_of, scorer_type
from rulewright.project import Project, accepted
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.guard import calls
from rulewright_runtime.plan.scan import Check, CueAnchor, LeftOut, Plan, Scenario, ScriptedTurn, Session
from rulewright_runtime.plan.scorecard import ScorecardPlan, mentioned
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import message_digest
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction
from rulewright_runtime.verify.decisions import facts as bindings

LANGUAGE: Final = "1"  # the version of the rule language, apart from the package's
DEFAULTS: Final[JsonObject] = {"hard_fail": False, "scope": "trigger", "secondary_tags": []}


class PlanParts(Struct, frozen=True):
    """The parts of a plan: the `chosen` checks as nodes, criteria of rubrics, the scorecard, and in `lowering` the
    lexicons, state machines and corpora that they use."""

    chosen: tuple[CheckDocument, ...]
    checks: tuple[Check, ...]
    criteria: tuple[Check, ...]
    scorecard: ScorecardPlan | None
    left_out: tuple[LeftOut, ...]
    lowering: LoweringContext


def lower_parts(
    project: Project,
    profile: Profile,
    scorecard: ScorecardDocument | None,
    scoring: dict[str, object],
    findings: list[Diagnostic],
) -> PlanParts:
    """Return the parts of the plan under a profile and a scorecard; mistakes are added to `findings`. A check that
    can't be lowered is omitted. `scoring` is the value of that variable in the scorecard."""
    chosen = tuple(select(profile, project.checks, findings))
    lowering = LoweringContext(project, profile, policies(project.semantics), findings)
    checks = tuple(node for check in chosen if (node := lower_check(check, lowering)) is not None)
    findings.extend(verdict_cycles(chosen, checks))
    criteria: tuple[Check, ...] = ()
    if profile.include_rubrics:
        criteria = lower_rubrics(project.scenarios.values(), lowering)
    card = None
    left_out: tuple[LeftOut, ...] = ()
    if scorecard is not None:
        card, mistakes = lower_scorecard(scorecard, scoring, fields_of_checks(project, criteria), project.blindspots)
        findings.extend(mistakes)
    if card is not None:
        left_out = tuple(lower_left_out(chosen, lowering, card))
        ids = {check.id for check in chosen} | {each.id for each in criteria} | {part.id for part in left_out}
        fields = {key: values for key, values in card.checks.items() if key in ids}
        card = replace(card, checks=fields, unproven=lowering.policies.unproven)
    return PlanParts(chosen, checks, criteria, card, left_out, lowering)


def seal_parts(parts: PlanParts) -> Plan:
    """Return the parts as one sealed plan."""
    lowering, project = parts.lowering, parts.lowering.project
    redaction = Redaction(project.redact)
    called = set().union(*map(calls, parts.checks))
    plan = Plan(
        language=LANGUAGE,
        semantics=project.semantics,
        profile=lowering.profile.name,
        lexicons=lowering.lexicons,
        scenarios={
            key: facts(
                scenario,
                lowering.scenario_reads,
                refused=_refused(scenario, project),
                scripted=lowering.policies.is_seed,
                redaction=redaction,
            )
            for key, scenario in project.scenarios.items()
        },
        checks=(*parts.checks, *parts.criteria),
        scorecard=parts.scorecard,
        left_out=parts.left_out,
        machines=lowering.machines,
        corpora=lowering.corpora,
        models=project.models,
        redact=redaction.rules,
        plugins={name: each for name, each in project.vocabulary.functions if name in called},
        severities=project.vocabulary.severities,
        empty_reply="error" if lowering.policies.is_seed else "reply",
    )
    return seal(plan)


def fields_of_checks(project: Project, criteria: Iterable[Check]) -> dict[str, dict[str, object]]:
    """Return the fields of every check and criterion that a scorecard may read, by id."""
    fields = {check.id: {**DEFAULTS, **check.fields} for check in project.checks}
    return fields | {each.id: fields_of_criterion(each) for each in criteria}


def lower_left_out(
    chosen: Iterable[CheckDocument], lowering: LoweringContext, card: ScorecardPlan
) -> Iterator[LeftOut]:
    """The checks that do not run but that a gate of the scorecard reads: those that the profile does not select, and
    those whose judge has no votes under it."""
    try:
        gates = Scorecard(card)
    except PlanError:  # a duplicate name: reported for the document, and nothing is compiled
        return
    adjustable = mentioned(gate.of for gate in card.gates) & {parameter.name for parameter in card.parameters}
    run = {check.id for check in chosen}
    for check in lowering.project.checks:
        if check.id in run and not (check.is_judged and repetitions(check, lowering.profile) == 0):
            continue
        if not (adjustable or gates.waiting_for(check.id)):
            continue
        applies, silenced = eligible(check, lowering.project.exempt, [], lowering.policies.semantics), suppressed(check)
        reads = {path for built in (applies, silenced) if built is not None for path in built.reads}
        lowering.scenario_reads |= {path for path in reads if path[0] == "scenario"}
        yield LeftOut(
            id=check.id,
            why="votes" if check.id in run else "profile",
            suppressed=None if silenced is None else silenced.program,
            eligible=None if applies is None else applies.program,
            fields=_read_of({**DEFAULTS, **check.fields}, "check", reads),
        )


def lower_check(check: CheckDocument, lowering: LoweringContext) -> Check | None:
    """Return the check's node in the plan, or None with a finding."""
    rules = lowering.policies
    lowering.reads.clear()
    applies = eligible(check, lowering.project.exempt, lowering.findings, lowering.policies.semantics)
    silenced, occasion = suppressed(check), lower_applies(check, lowering.findings)
    verifier = lower_verifier(check, lowering)
    if check.routing.deterministic_precheck is not None:
        lowering.knows_lexicon(check, check.routing.deterministic_precheck)  # also on routes that read no lexicon
    for built in (applies, silenced, occasion):
        lowering.reads |= frozenset() if built is None else built.reads
    lowering.scenario_reads |= {path for path in lowering.reads if path[0] == "scenario"}
    if verifier is None:
        return None
    return Check(
        id=check.id,
        name=check.name,
        primary_bucket=check.primary_bucket,
        severity=check.severity,
        hard_fail=check.hard_fail,
        scope="universal" if check.is_universal else "trigger",
        route=check.routing.route,
        scorer_type=scorer_type(check),
        verifier=verifier,
        secondary_tags=check.secondary_tags,
        is_gate=check.is_gate,
        suppressed=None if silenced is None else silenced.program,
        eligible=None if applies is None else applies.program,
        applies=None if occasion is None else occasion.program,
        adjudicate=rules.adjudicate(check, deterministic=scorer_type(check) == "regex"),
        unclear="fail" if rules.is_seed and check.scorer.unclear_policy == "fail_closed" else "keep",
        description=check.meaning,
        fields=_read_of({**DEFAULTS, **check.fields}, "check", lowering.reads),
    )


def condition_of(check: CheckDocument) -> Callable[[ScenarioDocument], bool] | None:
    """Whether the check's `when` holds or is undecidable in a scenario, as a predicate; None without a valid `when`."""
    if check.when is None:
        return None
    built = build_in(check.when, scenario_environment(check.vocabulary), [], expect=BOOL)
    if built is None:
        return None
    decide, reads = condition(built.program, Polarity.GUARDING), built.reads
    return lambda scenario: decide({"scenario": bindings(scenario.id, facts(scenario, reads))}).holds


def _read_of(written: JsonObject, root: str, reads: Iterable[tuple[str, ...]]) -> JsonObject:
    """The keys of a document that programs read; all of them when a program reads the whole document."""
    paths = [path for path in reads if path[0] == root]
    if any(len(path) == 1 for path in paths):
        return written
    return {key: written[key] for key in sorted({path[1] for path in paths}) if key in written}


def _refused(scenario: ScenarioDocument, project: Project) -> str:
    """Why no transcript of the scenario is judged: it lists an unknown check, and that finding is not accepted."""
    ids = {check.id for check in project.checks}
    for index, name in enumerate(scenario.eligible_modes):
        if name in ids:
            continue
        finding = error(scenario.place("eligible_modes", index), f"unknown check `{name}`", code="unknown-check")
        if not accepted(project, finding):
            location = f"{PurePath(finding.span.path).name}:{finding.span.line}"
            return f"its scenario lists the unknown check `{name}` in `eligible_modes` ({location})"
    return ""


def facts(
    scenario: ScenarioDocument,
    reads: Iterable[tuple[str, ...]],
    *,
    refused: str = "",
    scripted: bool = True,
    redaction: Redaction = NOTHING,
) -> Scenario:
    """Return the scenario's facts for a run, with only those other keys that some program reads. Without `scripted`
    transcripts are not compared with the script, and the plan omits it."""
    written = _read_of(plain(scenario.node), "scenario", reads)
    return Scenario(
        tags=scenario.tags,
        eligible_modes=scenario.eligible_modes,
        category=scenario.category,
        title=scenario.title,
        probes=tuple(probes_of(scenario)),
        refused=refused,
        cue_anchors=tuple(
            CueAnchor(anchor.from_turn, anchor.to_turn, anchor.modes, anchor.cue_turn, anchor.label)
            for anchor in scenario.cue_anchors
        ),
        sessions=tuple(
            session
            for index, hours in enumerate(hours_between(each.elapsed for each in scenario.sessions))
            if (session := _session(scenario, index, hours)) is not None
        ),
        jurisdiction=scenario.jurisdiction or "",
        contrast_group=scenario.contrast_group or "",
        contrast_variable=scenario.contrast_variable or "",
        turns=tuple(_scripted_turn(turn, redaction) for turn in numbered_turns(scenario)) if scripted else (),
        fields={key: written[key] for key in written if key not in SCENARIO_FACTS},
    )


def _session(scenario: ScenarioDocument, index: int, hours: float | None) -> Session | None:
    session = scenario.sessions[index]
    numbers = [each.number for each in numbered_turns(scenario) if each.session == index]
    if not numbers:
        return None
    return Session(session.number or index + 1, min(numbers), max(numbers), session.elapsed, hours)


def _scripted_turn(numbered: NumberedTurn, redaction: Redaction) -> ScriptedTurn:
    """Return the digests of the user messages that a turn allows, with the branches of each.

    Redaction applies to the script as to transcripts. A harness redacts what it writes, and a scan redacts again.
    """
    turn = numbered.turn
    messages: dict[str, tuple[str, ...]] = {}
    for branch, message in (("", turn.user_message), *((each.branch_id, each.user_message) for each in turn.branches)):
        once = redaction.text(message)
        for digest in dict.fromkeys(map(message_digest, (message, once, redaction.text(once)))):
            messages[digest] = (*messages.get(digest, ()), branch)
    return ScriptedTurn(numbered.number, messages)
