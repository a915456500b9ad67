"""One pass over a project: its findings, and the parts of its plan.

Linting prints the findings, compiling seals the parts, and an editor shows both. Each stage is computed when it
is requested, and only once: compiling runs no rules, and linting builds no plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as Texts
from functools import cached_property, partial
from pathlib import Path
from typing import TypeGuard

from msgspec import structs

from rulewright.causes.consequences import causes_of
from rulewright.diagnostics import Diagnostic, Findings, Severity
from rulewright.documents.examples import example_findings
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import has_workflow
from rulewright.documents.lexicon import pattern_findings
from rulewright.documents.profile import Profile, every_check
from rulewright.documents.scenario import ScenarioDocument
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.documents.typed_reader import read
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Loaded, Mapping, Node
from rulewright.load.file_reader import unsaved
from rulewright.load.suppressions import suppress
from rulewright.lower.corpora import lower_corpus
from rulewright.lower.harness import harness_findings
from rulewright.lower.jurisdictions import unknown_jurisdictions, unread_rule_findings
from rulewright.lower.lowering import LoweringContext
from rulewright.lower.machines import lower_machine
from rulewright.lower.routing_conflicts import routing_conflicts
from rulewright.lower.rubrics import lower_rubrics
from rulewright.lower.scan_plan import PlanParts, fields_of_checks, lower_check, lower_parts, seal_parts
from rulewright.lower.scorecard import lower_scorecard, with_facts
from rulewright.lower.selection import select
from rulewright.lower.semantics import policies
from rulewright.project import Project, accepted, load_project, stopping
from rulewright.project.choices import (
    choice_findings,
    choose_profile,
    choose_scorecard,
    relocate_scorecard_findings,
    scoring_of,
    usual_scorecard,
)
from rulewright.project.unread_files import UnreadFiles, read_unread_files
from rulewright.proving.extreme_rows import extreme_findings
from rulewright.proving.gate_findings import (
    checks_that_never_apply,
    empty_parts,
    gate_findings,
    lone_empty_dimension,
    unseen_checks,
    unselected_checks,
    waiting_gates,
)
from rulewright.proving.gates import held_by_parts, prove_gates
from rulewright.proving.tables import case_findings
from rulewright.rules import Rule, code_of
from rulewright.rules.completeness.bucket_without_checks import bucket_without_checks
from rulewright.rules.completeness.bucket_without_policy import unlisted_buckets
from rulewright.rules.correctness.turn_that_does_not_exist import turn_that_does_not_exist
from rulewright.rules.correctness.unknown_check import unknown_in
from rulewright.rules.style.retired_rubric_dialect import retired_rubric_dialect
from rulewright.rules.suspicious.duplicate_criterion_id import duplicate_criterion_id
from rulewright.rules.suspicious.gate_ignores_a_severity import gate_ignores_a_severity
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.scorecard import ScorecardPlan


def check(project: Project) -> Checked:
    """The project checked under its default profile and scorecard.

    A scorecard that can't be read is left out; its own findings are reported.
    """
    card = usual_scorecard(project)
    is_broken = card is not None and card.path in _broken(project)
    return Checked(project, _usual_profile(project), None if is_broken else card)


def _broken(project: Project) -> set[str]:
    """The files of a project with an error of their own."""
    return {found.span.path for found in project.diagnostics if found.severity is Severity.ERROR}


def compile_project(path: Path | str | Project, *, profile: str | None = None, scorecard: str | None = None) -> Plan:
    """The sealed plan of the project at `path` (a project file or folder) under a profile and a scorecard.

    Both default to those of the project file, else to `publish` and `two-tier`, else to the only one. Raises
    `DocumentError` with the findings that prevent compilation, but not those that follow from another, and `UsageError`
    for an unknown profile or scorecard.
    """
    project = path if isinstance(path, Project) else load_project(path)

    def refuse(found: Iterable[Diagnostic]) -> None:
        if stops := stopping(project, found):
            raise DocumentError(causes_of(stops, project.loaded, partial(_left, project, profile, scorecard)))

    try:
        checked = _chosen(project, profile, scorecard)
    except UsageError:
        refuse(project.diagnostics)  # a missing folder also causes missing profiles
        raise
    refuse(checked.preliminary)
    if not project.checks and not checked.profile.include_rubrics:
        raise UsageError(f"the project of `{project.folder}` has no checks to compile")
    refuse(checked.blocking)
    return checked.plan()


def _left(
    project: Project, profile: str | None, scorecard: str | None, texts: Texts[str, str]
) -> tuple[Diagnostic, ...]:
    """The findings that prevent compilation where files have these texts."""
    with unsaved(texts):
        other = load_project(project.path or project.folder, any_folder=True)
        try:
            checked = _chosen(other, profile, scorecard)
        except UsageError:
            return stopping(other, other.diagnostics)
        return stopping(other, (*checked.preliminary, *checked.blocking))


def _chosen(project: Project, profile: str | None, scorecard: str | None) -> Checked:
    """The project under a profile and a scorecard by name. Raises `UsageError` for an unknown one."""
    return Checked(project, choose_profile(project, profile), choose_scorecard(project, scorecard))


class Checked:
    """A project under one profile and one scorecard: its findings, and the parts of its plan."""

    def __init__(self, project: Project, profile: Profile, scorecard: ScorecardDocument | None) -> None:
        """Nothing is checked before it is requested."""
        self.project, self.profile, self.scorecard = project, profile, scorecard
        self._of_parts: list[Diagnostic] = []

    @cached_property
    def preliminary(self) -> tuple[Diagnostic, ...]:
        """The findings about the documents from which everything else is lowered."""
        scenarios = self.project.scenarios.values()
        return (
            *self.project.diagnostics,
            *routing_conflicts(self.project),
            *scenario_findings(scenarios),
            *unknown_jurisdictions(self.project),
        )

    @cached_property
    def parts(self) -> PlanParts:
        """The parts of the plan; parts with blocking findings are left out."""
        return lower_parts(self.project, self.profile, self.scorecard, scoring_of(self.project), self._of_parts)

    @cached_property
    def blocking(self) -> tuple[Diagnostic, ...]:
        """The findings about the parts of the plan."""
        parts = self.parts
        found = list(self._of_parts)
        if self.profile.include_rubrics:
            found += rubric_findings(self.project.scenarios.values())
        if self.scorecard is not None:
            found = relocate_scorecard_findings(self.project, self.scorecard, found)
        found += (*self._of_gates(), *self._unknown_checks())
        for name in parts.lowering.lexicons.keys() & self.project.lexicons.keys():
            found += pattern_findings(self.project.lexicons[name])
        return tuple(found)

    def _of_gates(self) -> Findings:
        """What keeps a gate of the selected scorecard from stopping: its conditions, a check that it can't select, or a
        check that never applies."""
        project, card, plan = self.project, self.scorecard, self.parts.scorecard
        held = {each.id for each in project.checks if each.is_gate}
        if project.scorecards and card is not None and plan is not None:
            plan = with_facts(plan, plan.scoring, fields_of_checks(project, self.parts.criteria))
            proofs = list(prove_gates(plan, project.vocabulary)) if card.gates else []
            held.update(name for proof in proofs for name in proof.holds)
            yield from gate_findings(card, proofs)
            yield from unseen_checks(card, plan, project.checks)
        yield from checks_that_never_apply(each for each in project.checks if each.id in held)

    def _unknown_checks(self) -> list[Diagnostic]:
        """The unknown checks that the profile or the project's scorecard names, and that nobody has accepted."""
        documents = [self.profile, *([self.scorecard] if self.scorecard and self.project.scorecards else [])]
        found = [each for document in documents for each in unknown_in(self.project, document)]
        allowed = suppress(found, self.project.loaded, {"unknown-check"})[1] if found else []
        return [each for each in found if each not in allowed and not accepted(self.project, each)]

    def plan(self) -> Plan:
        """The parts as one sealed plan."""
        return seal_parts(self.parts)

    @cached_property
    def findings(self) -> tuple[Diagnostic, ...]:
        """All findings about the project."""
        project = self.project
        return (
            *self.preliminary,
            *(self.blocking if project.checks else ()),
            *self._beyond_the_plan(),
            *self._of_examples(),
            *choice_findings(project),
            *_case_findings(project),
            *self._of_rules(),
            *self._workflow[0],
        )

    @property
    def loaded(self) -> tuple[Loaded, ...]:
        """The files that were read besides the project's own."""
        return (*self._unread.loaded, *self._workflow[1])

    @cached_property
    def _unread(self) -> UnreadFiles:
        return read_unread_files(self.project)

    @cached_property
    def _workflow(self) -> tuple[list[Diagnostic], tuple[Loaded, ...]]:
        """The findings about the project's workflow, and the files read for it."""
        project = self.project
        if not (project.file is not None and project.file.workflow) and not has_workflow(project.root):
            return [], ()
        from rulewright.check.workflow_check import findings_of

        return findings_of(project)

    def _of_examples(self) -> Findings:
        """The findings about examples of checks, if the project can be compiled."""
        holding = [each for each in self.parts.chosen if "examples" in each.node] if self.project.checks else []
        if holding and not stopping(self.project, (*self.preliminary, *self.blocking)):
            yield from example_findings(holding, self.plan())

    def _of_rules(self) -> Findings:
        """The findings of the rules. They are imported here, because compiling needs none of them."""
        from rulewright.rules.of_projects import rule_findings

        loaded = [each.root for each in self.project.loaded if _is_case_scorecard(each.root)]
        yield from rule_findings(self.project, [read(CaseScorecardDocument, root) for root in loaded], self._unread)

    def _beyond_the_plan(self) -> list[Diagnostic]:
        """The findings that prevent compilation under any other profile or scorecard."""
        found: list[Diagnostic] = []
        project, parts = self.project, self.parts
        lowering = LoweringContext(project, self.profile, policies(project.semantics), found)
        lowered = {each.id for each in parts.chosen}
        for each in project.checks:
            if each.id not in lowered:
                lower_check(each, lowering)
        for machine in project.state_machines.values():
            if machine.name not in {*parts.lowering.machines, *lowering.machines}:
                lower_machine(machine, project.lexicons, lowering.policies.fold, found)
        for corpus in project.corpora.values():
            if corpus.name not in {*parts.lowering.corpora, *lowering.corpora}:
                lower_corpus(corpus, found)
        found += unread_rule_findings(project)
        included = self.profile.include_rubrics
        criteria = parts.criteria if included else lower_rubrics(project.scenarios.values(), lowering)
        for profile in project.profiles.values() if project.checks else ():
            if profile is not self.profile:
                select(profile, project.checks, found)
        asked = included or any(each.include_rubrics for each in project.profiles.values())
        return [*found, *self._of_scorecards(fields_of_checks(project, criteria if asked else ()))]

    def _of_scorecards(self, fields: dict[str, dict[str, object]]) -> list[Diagnostic]:
        """The findings about the project's scorecards over verdicts; `fields` maps check ids to their fields."""
        project = self.project
        found: list[Diagnostic] = [*self._of_shipped_scorecard(fields)]
        scoring = project.scoring.fields if project.scoring else {}
        for card in project.scorecards.values():
            plan, mistakes = self._lowered(card, scoring, fields)
            found += mistakes
            if plan is None or card.path in _broken(project) or not (card.gates or card.dimensions or card.rates):
                continue
            if card is not self.scorecard or not project.checks:
                found += gate_findings(card, prove_gates(plan, project.vocabulary))
            if card is usual_scorecard(project) and fields:  # another one may be for another project
                found += extreme_findings(card, plan)
                scoring_is_reported = any(each.severity is Severity.ERROR for each in bucket_without_checks(project))
                held = dict(held_by_parts(plan, card.vocabulary))
                found += empty_parts(card, held, but_of_scoring=scoring_is_reported)
                known = {each.about for each in unseen_checks(card, plan, project.checks)}
                known |= {each.id for checks in unlisted_buckets(project).values() for each in checks}
                found += unselected_checks(card, plan, held, project.checks, known)
            elif fields and len(card.dimensions) > 1:
                held = dict(held_by_parts(plan, card.vocabulary))
                found += lone_empty_dimension(card, held, project.checks)
        return found

    def _of_shipped_scorecard(self, fields: dict[str, dict[str, object]]) -> Findings:
        """The gates of a shipped scorecard that leave every transcript undecided; none if a file can't be read, or the
        project's scoring file is reported for its gates."""
        project, plan, file = self.project, self.parts.scorecard, self.project.file
        if plan is None or file is None or not project.checks or project.scorecards or _broken(project):
            return
        of_buckets = any(each.severity is Severity.ERROR for each in bucket_without_checks(project))
        if not of_buckets and not any(gate_ignores_a_severity(project)):
            place = file.place("scorecard") if file.scorecard else file.place("project")
            plan = with_facts(plan, plan.scoring, fields)
            yield from waiting_gates(plan, project.vocabulary, place)
            if self.scorecard is not None and self.parts.criteria:
                held = dict(held_by_parts(plan, project.vocabulary))
                known = {each.id for each in project.checks}
                found = unselected_checks(self.scorecard, plan, held, project.checks, known)
                yield from (structs.replace(each, span=place) for each in found)

    def _lowered(
        self, card: ScorecardDocument, scoring: dict[str, object], fields: dict[str, dict[str, object]]
    ) -> tuple[ScorecardPlan | None, list[Diagnostic]]:
        """The scorecard over all checks; the selected one is a part of the plan and checked there."""
        if card is not self.scorecard or not self.project.checks:
            return lower_scorecard(card, scoring, fields, self.project.blindspots)
        made = self.parts.scorecard
        return None if made is None else with_facts(made, scoring, fields), []


def _usual_profile(project: Project) -> Profile:
    try:
        return choose_profile(project, None)
    except UsageError:
        return every_check()


def _case_findings(project: Project) -> list[Diagnostic]:
    """The findings about the project's scorecards over cases with a valid structure."""
    broken = {each.span.path for each in project.diagnostics}
    return [
        found
        for loaded in project.loaded
        if _is_case_scorecard(loaded.root) and loaded.source.path not in broken
        for found in case_findings(loaded.root)
    ]


def _is_case_scorecard(root: Node | None) -> TypeGuard[Mapping]:
    return kind_of(root) == CASE_SCORECARD


def scenario_findings(scenarios: Iterable[ScenarioDocument]) -> Findings:
    """Findings about branches, shown persona keys, references to missing turns, and criteria without a kind."""
    for scenario in scenarios:
        yield from harness_findings(scenario)
        for rule in (turn_that_does_not_exist, retired_rubric_dialect):
            yield from _found_by(rule, scenario)


def rubric_findings(scenarios: Iterable[ScenarioDocument]) -> Findings:
    """Findings for criteria of one rubric with the same id, which can't become checks."""
    for scenario in sorted(scenarios, key=lambda each: each.id):
        yield from (each for each in _found_by(duplicate_criterion_id, scenario) if each.severity is Severity.ERROR)


def _found_by(rule: Rule[ScenarioDocument], scenario: ScenarioDocument) -> Findings:
    for each in rule(scenario):
        yield structs.replace(each, code=code_of(rule))
