"""The claims about a file, each with the result of its proof."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from rulewright.claims.workflow import prove_workflow
from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import with_vocabulary
from rulewright.documents.check import CheckDocument, read_check
from rulewright.documents.examples import example_chats
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import project_file_in
from rulewright.documents.library import structure_findings
from rulewright.documents.profile import every_check
from rulewright.documents.scorecard import (
    CaseScorecardDocument,
    GateDocument,
    LabelDocument,
    ScorecardDocument,
    read_scorecard,
)
from rulewright.documents.validation import validate
from rulewright.errors import DocumentError, UsageError
from rulewright.expression.types import BOOL
from rulewright.load import Mapping, Scalar, load_file
from rulewright.lower.expressions import build_in, scenario_environment
from rulewright.lower.lowering import LoweringContext
from rulewright.lower.policy import read_policy
from rulewright.lower.rubrics import lower_rubrics
from rulewright.lower.scan_plan import fields_of_checks, lower_check
from rulewright.lower.scorecard import lower_scorecard, lower_without_project
from rulewright.lower.semantics import policies
from rulewright.project import Project, load_project, stopping
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.gates import GateClaim, GateProof, as_seen, prove_gates
from rulewright.proving.program_parts import paths_of, substitute
from rulewright.proving.results import Property, Proved, Refuted, Result, Unknown, in_words
from rulewright.proving.scorecard_conditions import conditions_of_plan, conditions_of_scorecard, scorecard_environment
from rulewright.proving.search import never, out_of_reach
from rulewright.proving.tables import (
    NotProved,
    conditions_of,
    disjoint,
    label_table,
    label_table_of_all_settings,
    scorers_of,
    survey,
)  # fmt: skip
from rulewright.proving.verdicts import never_given
from rulewright.scoring.case_scorecards import CaseScorecard, load_scorecard
from rulewright.scoring.settings_file import settings_of_run
from rulewright.witnesses.example_conversations import conversations_with
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.cases.records import CASE_SETTINGS_FILE
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.scorecard import ScorecardPlan, parameter_values
from rulewright_runtime.strict_json import JsonMapping, JsonObject

UNDECIDED: Final = "undecided"
PROVABLE: Final = frozenset({CASE_SCORECARD, "check", "scorecard", "workflow"})


def provable(paths: Iterable[Path]) -> list[Path]:
    """Those of some files about which something can be claimed. Raises DocumentError for a file that can't be read."""
    loaded = [(path, load_file(path, comments=path.name == CASE_SETTINGS_FILE)) for path in paths]
    if mistakes := [each for _, one in loaded for each in one.diagnostics]:
        raise DocumentError(mistakes)
    roots = [(path, one.root) for path, one in loaded if isinstance(one.root, Mapping)]
    return [path for path, root in roots if kind_of(root) in PROVABLE or "rule" in root.keys]


def prove(
    path: Path | str,
    assignments: Sequence[str] = (),
    config: str | None = None,
    projects: dict[Path, Project] | None = None,
) -> list[Property]:
    """Every claim about the document at `path`.

    Settings of scorecards are those that `rulewright score` would use; the `config` of a policy declares its variables.
    `projects`, by folder, are not loaded again; those that are loaded are added.
    Raises DocumentError for a document with mistakes, UsageError for one without claims.
    """
    path = Path(path)
    root = root_of(path)
    kind = kind_of(root)
    if kind == CASE_SCORECARD:
        return _prove_cases(path, assignments, config)
    if "rule" in root.keys:
        return _prove_policy(path, root, assignments, config)
    if assignments or config:
        raise UsageError(f"`{path}` has no settings; `--set` and `--config` are for scorecards over cases and policies")
    if kind == "workflow":
        return prove_workflow(path)
    projects = {} if projects is None else projects
    if kind == "check":
        return _prove_check(path, root, projects)
    if kind == "scorecard":
        return _prove_scorecard(root, project_around(path, projects))
    message = "a scorecard, a policy, a workflow or a check was expected"
    raise UsageError(f"nothing can be proved about `{path}`; {message}")


def root_of(path: Path) -> Mapping:
    """The mapping that a file holds. Raises DocumentError and UsageError."""
    loaded = load_file(path)
    if loaded.diagnostics:
        raise DocumentError(loaded.diagnostics)
    if not isinstance(loaded.root, Mapping):
        is_empty = loaded.root is None and not loaded.is_table
        raise UsageError(f"`{path}` is {'empty' if is_empty else 'not a document of a project'}")
    return loaded.root


def _prove_policy(path: Path, root: Mapping, assignments: Sequence[str], config: str | None) -> list[Property]:
    if assignments:
        raise UsageError(f"`{path}` has no settings")
    table, environment = read_policy(path, config)
    domains, span = Domains(environment.variables), root.key_span("rule")
    if not table.rows:  # it collects what all rows give
        return []
    total, reached = survey(table.rows, domains)
    found = [Property("every input gets an output", total, span, required=table.total)]
    for at, (row, result) in enumerate(zip(table.rows, reached, strict=True), start=1):
        if row.output is not None:
            found.append(Property(f"row {at} decides some input", result, row.span))
    overlap = disjoint(table.rows, domains)
    found.append(Property("no two rows hold for the same input", overlap, span, required=False))
    return found


def _prove_check(path: Path, root: Mapping, projects: dict[Path, Project]) -> list[Property]:
    project = project_around(path, projects)
    if project is None:
        if path.parent not in projects:
            projects[path.parent] = load_project(path.parent, any_folder=True)
        project = projects[path.parent]
    check = valid_check(root, project)
    found = _verdict_claims(check, project) if check.verdict_conditions else []
    if check.when is None:
        return found
    environment = scenario_environment(check.vocabulary)
    mistakes: list[Diagnostic] = []
    built = build_in(check.when, environment, mistakes, BOOL)
    if built is None:
        raise DocumentError(mistakes)
    return [*found, _can_hold("when", built.program, Domains(environment.variables), check.when, "scenario")]


def _verdict_claims(check: CheckDocument, project: Project) -> list[Property]:
    """That an `expression` check can give FAIL and PASS: a conversation shows it, on which the check was executed."""
    node, _ = lowered_check(check, project)
    never = {verdict: never_given(check, verdict) for verdict in ("FAIL", "PASS")}
    wanted = [(verdict,) for verdict, is_proved in never.items() if not is_proved]
    shown = conversations_with([node], check.vocabulary, wanted, UNDECIDED, example_chats(check), redact=project.redact)
    span = check.verdict_conditions[0].span
    return [
        Property(f"the check can give {verdict}", _given(is_proved, shown.get((verdict,))), span)
        for verdict, is_proved in never.items()
    ]


def _given(is_never: bool, conversation: JsonObject | None) -> Result:
    if is_never:
        return Refuted(None, "no conversation can get it")
    return Unknown("no conversation was found") if conversation is None else Proved(conversation=conversation)


def valid_check(root: Mapping, project: Project) -> CheckDocument:
    """A check of a project, which may lack keys. Raises DocumentError for wrong keys and values."""
    mistakes = stopping(project, structure_findings("check", root, project.vocabulary))
    if wrong := [each for each in mistakes if each.code != "missing-key"]:
        raise DocumentError(wrong)
    return read_check(root, project.vocabulary)


def lowered_check(check: CheckDocument, project: Project) -> tuple[Check, LoweringContext]:
    """A check lowered in a project, with what lowering collected. Raises DocumentError."""
    lowering = LoweringContext(project, every_check(), policies(project.semantics), [])
    node = lower_check(check, lowering)
    if node is None:
        raise DocumentError(lowering.findings)
    return node, lowering


def _prove_scorecard(root: Mapping, project: Project | None) -> list[Property]:
    """Every condition over a verdict can hold, no verdict both stops a gate and leaves it undecided, and every gate
    stops on each of its checks."""
    document, plan = lowered_alone_or_in(project, root)
    domains = Domains(as_seen(scorecard_environment(document).variables))
    scoring = {"scoring": plan.scoring} if plan.scoring else {}
    written = [scalar for _, scalar in conditions_of_scorecard(document)]
    programs = {keys: substitute(program, scoring) for keys, program in conditions_of_plan(plan)}
    found = [
        _can_hold(keys, program, domains, scalar)
        for (keys, program), scalar in zip(programs.items(), written, strict=True)
    ]
    for gate in document.gates:
        both = [programs[f"gates.{gate.name}.{key}"] for key in ("of", "stops", "undecided")]
        if all(paths_of(each) for each in both[1:]):
            result = out_of_reach(both, domains, [(0, TRUE), (1, TRUE), (2, TRUE)])
            found.append(
                Property(f"no verdict both stops `{gate.name}` and leaves it undecided", result, gate.stops.span)
            )
    for gate, proof in zip(document.gates, prove_gates(plan, document.vocabulary), strict=True):
        found += _of_gate(gate, proof)
    return found


def project_around(path: Path, projects: dict[Path, Project]) -> Project | None:
    """The project whose folder holds a file; one of the known `projects`, or else added to them."""
    folder = next((each for each in path.resolve().parents if project_file_in(each)), None)
    if folder is not None and folder not in projects:
        projects[folder] = load_project(folder)
    return None if folder is None else projects[folder]


def lowered_alone_or_in(project: Project | None, root: Mapping) -> tuple[ScorecardDocument, ScorecardPlan]:
    """A scorecard with its plan, in a project where there is one. Raises DocumentError."""
    document, mistakes = read_scorecard(root)
    mistakes = [*validate("scorecard", root), *mistakes]
    if document is None or mistakes:
        raise DocumentError(mistakes)
    document = document if project is None else with_vocabulary(document, project.vocabulary)
    plan, mistakes = lower_without_project(document) if project is None else _lowered_in(project, document)
    if plan is None:
        raise DocumentError(mistakes)
    return document, plan


def _lowered_in(project: Project, document: ScorecardDocument) -> tuple[ScorecardPlan | None, list[Diagnostic]]:
    """The scorecard lowered with the scoring file and every check of a project."""
    criteria = lower_rubrics(
        project.scenarios.values(), LoweringContext(project, every_check(), policies(project.semantics), [])
    )
    scoring = project.scoring.fields if project.scoring else {}
    return lower_scorecard(document, scoring, fields_of_checks(project, criteria), project.blindspots)


def _can_hold(keys: str, program: Program, domains: Domains, scalar: Scalar, subject: str = "verdict") -> Property:
    """That a condition can hold; one that holds for every subject is a remark, and is not required."""
    claim = f"`{keys}` can hold for some {subject}"
    if isinstance(never(program, domains, FALSE | ERROR), Proved):
        return Property(claim, Proved(remarks=(f"it holds for every {subject}",)), scalar.span, required=False)
    result = _possible(never(program, domains, TRUE))
    meant = isinstance(result, Refuted) and not paths_of(program) and keys.endswith(".undecided")
    return Property(claim, result, scalar.span, required=not meant)


def _of_gate(gate: GateDocument, proof: GateProof) -> Iterator[Property]:
    """That a gate stops on its checks. Without a project it is only asked whether it can stop on anything."""
    number = len(proof.holds)
    stops, stays_open = f"some FAIL stops `{gate.name}`", f"some UNCLEAR keeps `{gate.name}` from passing"
    if number:
        of = f"each of its {number} checks" if number > 1 else f"its check `{proof.holds[0]}`"
        stops, stays_open = f"every FAIL of {of} stops `{gate.name}`", f"no UNCLEAR of {of} passes `{gate.name}`"
    yield Property(stops, _result_of(proof.stops), gate.stops.span)
    yield Property(stays_open, _result_of(proof.stays_open), gate.undecided.span)


def _result_of(claim: GateClaim) -> Result:
    """The result, naming the check for which it is not so."""
    if not isinstance(claim.result, Refuted):
        return claim.result
    witness = claim.result.witness
    return Refuted(
        witness if witness is not None and witness.values else None, f"not for `{claim.check}`" if claim.check else ""
    )


def _possible(never: Result) -> Result:
    """That something is possible, from the proof that it never is."""
    match never:
        case Proved():
            return Refuted(None, "it never holds")
        case Refuted(witness=witness):
            return Proved(witness)
    return never


def _prove_cases(path: Path, assignments: Sequence[str], config: str | None) -> list[Property]:
    card, settings = card_of(path, assignments, config)
    found: list[Property] = []
    for suffix, scorer in scorers_of(settings):
        found += _of_cases(card.document, card.plan, scorer.parameters, suffix)
    return [*found, _under_all_settings(card.document, card.plan)]


def card_of(path: Path, assignments: Sequence[str], config: str | None) -> tuple[CaseScorecard, CaseSettings]:
    """A scorecard over cases with the settings that `rulewright score` would use."""
    card = load_scorecard(str(path))
    chosen = settings_of_run(card.plan, file=config, environment=os.environ, flags={}, assignments=list(assignments))
    return card.under(chosen.written), chosen.prepared(card.plan)


def _of_cases(
    document: CaseScorecardDocument, plan: CaseScorecardPlan, parameters: JsonMapping, suffix: str
) -> Iterator[Property]:
    """The claims about a scorecard over cases under one set of parameters, in the order of the document."""
    place = document.key_place("labels")
    try:
        table = label_table(plan, parameters)
    except (NotProved, EvaluationError) as reason:
        yield Property(f"every case gets a label{suffix}", Unknown(str(reason)), place)
        return
    for metric, written in zip(plan.metrics, document.metrics, strict=True):
        if metric.fails is not None:
            conditions = conditions_of(plan, [metric.passes, metric.fails], parameters)
            both = out_of_reach(conditions, table.domains, [(0, TRUE), (1, TRUE)])
            yield Property(f"no case both passes and fails `{metric.name}`{suffix}", both, written.passes.span)
    total, reached = survey(table.conditions, table.domains)
    yield Property(f"every case gets a label{suffix}", total, place)
    for at, (row, result) in enumerate(zip(document.labels, reached, strict=True), start=1):
        yield Property(f"row {at} (`{row.label}`) decides some case{suffix}", result, row.when.span)
    for claim, row, result in _switched(document, plan, parameters):
        yield Property(f"{claim}{suffix}", result, row.when.span, required=False)
    overlap = disjoint(table.conditions, table.domains)
    yield Property(f"no two rows hold for the same case{suffix}", overlap, place, required=False)


def _switched(
    document: CaseScorecardDocument, plan: CaseScorecardPlan, parameters: JsonMapping
) -> Iterator[tuple[str, LabelDocument, Refuted]]:
    """The rows that another value of a switch takes away."""
    formulas = [path for metric in plan.metrics for path in paths_of(metric.score) or ()]
    for name, value in parameters.items():
        if isinstance(value, bool) and (name,) in formulas:
            table = label_table(plan, {**parameters, name: not value})
            reached = survey(table.conditions, table.domains)[1]
            for at, (row, result) in enumerate(zip(document.labels, reached, strict=True), start=1):
                if isinstance(result, Refuted):
                    given = f"with {name} = {in_words(not value)}"
                    yield f"{given}, row {at} (`{row.label}`) decides some case", row, result


def _under_all_settings(document: CaseScorecardDocument, plan: CaseScorecardPlan) -> Property:
    """The table with every setting that it reads as a variable; the others keep their defaults."""
    table = label_table_of_all_settings(plan)
    read = {path[0] for each in table.conditions for path in paths_of(each) or ()}
    defaults = parameter_values([setting.parameter for setting in plan.settings], {})
    others = {name: value for name, value in defaults.items() if name not in read}
    required = conditions_of(plan, [each.that for each in plan.requires], others)
    conditions = [*required, *[substitute(each, others) for each in table.conditions]]
    goal = [(at, TRUE if at < len(required) else FALSE) for at in range(len(conditions))]
    result = out_of_reach(conditions, table.domains, goal)
    place = document.key_place("labels")
    return Property("every case gets a label, whatever the settings", result, place, required=False)
