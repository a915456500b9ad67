"""What can be claimed of a file, and what the proof says of each claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rulewright.documents.case_scorecard import CaseScorecardDocument
from rulewright.documents.check import read_check
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.errors import DocumentError, UsageError
from rulewright.expression.build import build
from rulewright.expression.types import BOOL
from rulewright.load import Mapping, load_file
from rulewright.lower.environments import scenario_environment
from rulewright.prove.atoms import FALSE, TRUE, paths_of, substitute
from rulewright.prove.conditions import holds_never
from rulewright.prove.domains import Domains
from rulewright.prove.label_table import (
    LabelTable,
    NotProved,
    conditions_of,
    label_table,
    label_table_of_all_settings,
)  # fmt: skip
from rulewright.prove.results import Property, Proved, Refuted, Result, Unknown
from rulewright.prove.search import Search, refuting
from rulewright.prove.tables import disjoint, survey
from rulewright.prove.witness import in_words
from rulewright_runtime.cases.plan import CaseScorecardPlan
from rulewright_runtime.cases.scoring import Scorer
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.parameters import parameter_values


def prove_file(path: Path, assignments: Sequence[str] = (), config: str | None = None) -> list[Property]:
    """Every claim about the document at `path`. Settings of scorecards are those that `rulewright score` would use.

    Raises DocumentError for a document with mistakes, UsageError for one about which nothing can be claimed.
    """
    loaded = load_file(path)
    if loaded.root is None or loaded.diagnostics:
        raise DocumentError(loaded.diagnostics) if loaded.diagnostics else UsageError(f"`{path}` is empty")
    kind = kind_of(loaded.root)
    if kind == CASE_SCORECARD:
        return _prove_cases(path, assignments, config)
    if assignments or config:
        raise UsageError(f"`{path}` has no settings; `--set` and `--config` are for scorecards over cases")
    if kind == "workflow":
        from rulewright.prove.workflow import prove_workflow

        return prove_workflow(path)
    if kind == "check" and isinstance(loaded.root, Mapping):
        return _prove_check(loaded.root)
    raise UsageError(
        f"nothing can be proved about `{path}`; a scorecard over cases, a workflow or a check was expected"
    )


def _prove_check(root: Mapping) -> list[Property]:
    check = read_check(root)
    if check.when is None:
        return []
    built = build(str(check.when.value), scenario_environment(), expect=BOOL)
    domains = Domains(scenario_environment().variables)
    result = _possible(holds_never(built.program, domains))
    return [Property("`when` can hold for some scenario", result, check.when.span)]


def _possible(never: Result) -> Result:
    """That something is possible, from the proof that it never is."""
    match never:
        case Proved():
            return Refuted(None, "it never holds")
        case Refuted(witness=witness):
            return Proved(witness)
    return never


def _prove_cases(path: Path, assignments: Sequence[str], config: str | None) -> list[Property]:
    from rulewright.score_batches import load_scorecard
    from rulewright.score_settings import environment_of_process, gather

    card = load_scorecard(str(path))
    settings = gather(
        card.plan, file=config, environment=environment_of_process(), flags={}, assignments=list(assignments)
    ).prepared(card.plan)
    found: list[Property] = []
    for archetype in (None, *settings.archetypes):
        for metric_id in (None, *settings.metric_ids):
            group = [f"archetype `{archetype}`"] * (archetype is not None)
            group += [f"metric `{metric_id}`"] * (metric_id is not None)
            cases = _Cases(card.document, card.plan, settings.scorer(archetype, metric_id), " and ".join(group))
            found += cases.properties()
    return [*found, _under_all_settings(card.document, card.plan)]


class _Cases:
    """The claims about a scorecard over cases under one set of parameters."""

    def __init__(self, document: CaseScorecardDocument, plan: CaseScorecardPlan, scorer: Scorer, group: str) -> None:
        self.document = document
        self.plan = plan
        self.parameters = scorer.parameters
        self.suffix = f" ({group})" if group else ""

    def properties(self) -> Iterator[Property]:
        """Every claim, in the order of the document."""
        place = self.document.key_place("labels")
        try:
            table = label_table(self.plan, self.parameters)
        except (NotProved, EvaluationError) as reason:
            yield Property(f"every case gets a label{self.suffix}", Unknown(str(reason)), place)
            return
        yield from self.metrics(table)
        total, reached = survey(table.conditions, table.domains)
        yield Property(f"every case gets a label{self.suffix}", total, place)
        for at, (row, result) in enumerate(zip(self.document.labels, reached, strict=True), start=1):
            yield Property(f"row {at} (`{row.label}`) decides some case{self.suffix}", result, row.when.span)
        yield from self.switched()
        overlap = disjoint(table.conditions, table.domains)
        yield Property(f"no two rows hold for the same case{self.suffix}", overlap, place, required=False)

    def switched(self) -> Iterator[Property]:
        """The rows that another value of a switch takes away."""
        formulas = [path for metric in self.plan.metrics for path in paths_of(metric.score) or ()]
        for name, value in self.parameters.items():
            if not isinstance(value, bool) or (name,) not in formulas:
                continue
            table = label_table(self.plan, {**self.parameters, name: not value})
            for at, result in enumerate(survey(table.conditions, table.domains)[1]):
                if isinstance(result, Refuted):
                    row = self.document.labels[at]
                    claim = f"with {name} = {in_words(not value)}, row {at + 1} (`{row.label}`) decides some case"
                    yield Property(f"{claim}{self.suffix}", result, row.when.span, required=False)

    def metrics(self, table: LabelTable) -> Iterator[Property]:
        for metric, written in zip(self.plan.metrics, self.document.metrics, strict=True):
            if metric.fails is None:
                continue
            conditions = conditions_of(self.plan, [metric.passes, metric.fails], self.parameters)
            both = refuting(Search(conditions, table.domains), [[(0, TRUE), (1, TRUE)]]) or Proved()
            yield Property(f"no case both passes and fails `{metric.name}`{self.suffix}", both, written.passes.span)


def _under_all_settings(document: CaseScorecardDocument, plan: CaseScorecardPlan) -> Property:
    """The table with every setting that it reads as a variable; the others keep their defaults."""
    table = label_table_of_all_settings(plan)
    read = {path[0] for each in table.conditions for path in paths_of(each) or ()}
    defaults = parameter_values([setting.parameter for setting in plan.settings], {})
    others = {name: value for name, value in defaults.items() if name not in read}
    required = conditions_of(plan, [each.that for each in plan.requires], others)
    conditions = [*required, *[substitute(each, others) for each in table.conditions]]
    goal = [(at, TRUE if at < len(required) else FALSE) for at in range(len(conditions))]
    result = refuting(Search(conditions, table.domains), [goal]) or Proved()
    place = document.key_place("labels")
    return Property("every case gets a label, whatever the settings", result, place, required=False)
