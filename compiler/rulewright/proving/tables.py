"""Proofs about tables: whether a row always decides, each row can decide, and rows overlap.

Rows are tried in order; the first whose condition holds decides. An undecided condition ends the table with `error`,
which is a result and not a gap.

In a label table of a scorecard over cases, the possible values of a metric's score follow from its formula, which is
linear between the shares at which it changes. Settings are constants here, or, to prove a table for all settings,
variables within their bounds.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from typing import Final, TypeAlias

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, error, in_order, warning
from rulewright.documents.scorecard import CaseScorecardDocument, LabelDocument
from rulewright.documents.typed_reader import read
from rulewright.expression.compose import all_of
from rulewright.load import Mapping as MappingNode
from rulewright.lower.case_scorecard import lower_case_scorecard, requirements_of_defaults
from rulewright.lower.expressions_of import expressions_of
from rulewright.lower.table_syntax import TableRow
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.box_variables import TooMany
from rulewright.proving.comparisons import BeyondAtoms, Cuts
from rulewright.proving.domains import Domain, Domains, NumberRange, Path, domain_of_parameter, score
from rulewright.proving.intervals import Goal
from rulewright.proving.program_parts import inline, numbers_of, substitute
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown
from rulewright.proving.search import DEPTH_ERRORS, Search, first_of
from rulewright.scoring.case_scorecards import CaseScorecard
from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan
from rulewright_runtime.cases.case_settings import CaseSettings, defaults
from rulewright_runtime.cases.scoring import CaseScorer
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score, exact_pair

# A row of a table, or its condition alone; None is the condition that always holds.
RowLike: TypeAlias = "TableRow | Program | None"


def survey(rows: Sequence[RowLike], domains: Domains) -> tuple[Result, tuple[Result, ...]]:
    """Whether some row decides every input (the witness is decided by none), and for each row whether it can decide:
    Proved with an input for which it does, or Refuted."""
    run = _TableProof(Search(_conditions(rows), domains))
    return run.total(rows), tuple([run.reached(at) for at in range(len(rows))])


class _TableProof:
    """The possible ends of a table, computed once, each with an input that splitting found for it."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.count = len(search.programs)
        self.witnesses: dict[tuple[int, int], Counterexample] = {}
        self.open: set[tuple[int, int]] = set()  # ends that depend on opaque atoms
        self.complete = False
        with suppress(TooMany, *DEPTH_ERRORS):
            self._split()

    def _split(self) -> None:
        space = self.search.space
        if space is None:
            return
        for number, bits, box in space.falls(self.count):
            end = number, bits
            if end not in self.witnesses:
                shown = self.search.shown(self.goal(*end), box)
                if isinstance(shown, Counterexample):
                    self.witnesses[end] = shown
                else:
                    self.open.add(end)
        self.complete = True

    def goal(self, number: int, bits: int) -> Goal:
        """The goal that the table ends at a condition, or after the last one."""
        before = [(at, FALSE) for at in range(number)]
        return [*before, (number, bits)] if number < self.count else before

    def find(self, number: int, bits: int) -> Counterexample | Unknown | None:
        """As `Search.find`, for an end of the table."""
        end = number, bits
        if end in self.witnesses or (self.complete and end not in self.open):
            return self.witnesses.get(end)
        return self.search.find(self.goal(number, bits))

    def total(self, rows: Sequence[RowLike]) -> Result:
        """Whether the table never ends after the last row, nor at a row without output."""
        gaps = [(at, TRUE) for at, row in enumerate(rows) if isinstance(row, TableRow) and row.output is None]
        match first_of(self.find(*end) for end in (*gaps, (self.count, FALSE))):
            case Counterexample() as witness:
                return Refuted(witness)
            case Unknown() as unknown:
                return unknown
        return Proved(remarks=self.errors())

    def errors(self) -> tuple[str, ...]:
        """What is known of inputs for which the table ends with an error: an example, or that they are not excluded."""
        shown = next((self.witnesses[at, ERROR] for at in range(self.count) if (at, ERROR) in self.witnesses), None)
        if shown is not None:
            return (f"with {shown} the table ends with `error`",)
        is_open = not self.complete or any((at, ERROR) in self.open for at in range(self.count))
        return ("no proof excludes that the table ends with `error`",) if is_open else ()

    def reached(self, at: int) -> Result:
        """Whether the table can end at a row."""
        match self.find(at, TRUE):
            case Counterexample() as witness:
                return Proved(witness)
            case Unknown() as unknown:
                return unknown
        return Refuted(None, _why_dead(self.search, at))


def _why_dead(search: Search, at: int) -> str:
    if search.excludes([(at, TRUE)]):
        return "its condition never holds"
    for earlier in range(at):
        if search.excludes([(earlier, FALSE), (at, TRUE)]):
            return f"row {earlier + 1} always decides before it"
    return "the rows before it always decide"


def disjoint(rows: Sequence[RowLike], domains: Domains) -> Result:
    """Whether no two rows hold for the same input; the witness is an input for which two do."""
    search = Search(_conditions(rows), domains)
    unknown: Unknown | None = None
    for one, two in combinations(range(len(rows)), 2):
        match search.find([(one, TRUE), (two, TRUE)]):
            case Counterexample() as witness:
                return Refuted(witness, f"rows {one + 1} and {two + 1} both hold")
            case Unknown() as result:
                unknown = unknown or result
    return unknown or Proved()


def _conditions(rows: Sequence[RowLike]) -> list[Program]:
    conditions = [row.condition if isinstance(row, TableRow) else row for row in rows]
    return [all_of(()) if condition is None else condition for condition in conditions]


# Label tables of scorecards over cases.

_SHARE: Final = "share"
MOST_ROWS: Final = 20


class LabelTable(Struct, frozen=True):
    """The conditions of a label table over the scores of the metrics, and the domains of these scores."""

    conditions: tuple[Program, ...]
    domains: Domains


def scorers_of(settings: CaseSettings) -> Iterator[tuple[str, CaseScorer]]:
    """Yield a phrase and the scorer for each group of cases with its own settings; the phrase of the rest is empty."""
    for archetype, metric_id in itertools.product((None, *settings.archetypes), (None, *settings.metric_ids)):
        group = [f"archetype `{archetype}`"] * (archetype is not None)
        group += [f"metric `{metric_id}`"] * (metric_id is not None)
        yield f" ({' and '.join(group)})" if group else "", settings.scorer(archetype, metric_id)


class NotProved(Exception):  # noqa: N818  control flow, not an error
    """A formula is not supported by this proof."""


def label_table(plan: CaseScorecardPlan, parameters: Mapping[str, object]) -> LabelTable:
    """The label table under one set of parameters. Raises NotProved and EvaluationError."""
    domains: dict[Path, Domain] = {}
    for metric in plan.metrics:
        pieces = _image(metric, parameters)
        if metric.judge is not None and metric.judge.unclear is not None:
            pieces.append(NumberRange(Fraction(0), Fraction(0)))  # a judge's objection that counts as 0
        domains[metric.name,] = score(pieces=tuple(pieces))
    return LabelTable(conditions_of(plan, [row.when for row in plan.labels], parameters), Domains({}, domains))


def label_table_of_all_settings(plan: CaseScorecardPlan) -> LabelTable:
    """The label table with the settings as variables; a metric's score is any number from 0 to 1."""
    domains: dict[Path, Domain] = {(metric.name,): score() for metric in plan.metrics}
    for setting in plan.settings:
        domains[setting.parameter.name,] = domain_of_parameter(setting.parameter)
    return LabelTable(conditions_of(plan, [row.when for row in plan.labels], {}), Domains({}, domains))


def conditions_of(
    plan: CaseScorecardPlan, conditions: Sequence[Program], parameters: Mapping[str, object]
) -> tuple[Program, ...]:
    """Conditions of the scorecard with the parameters as constants and the composite inlined."""
    return tuple([substitute(inline(each, "composite", plan.composite), parameters) for each in conditions])


def _image(metric: CaseMetric, parameters: Mapping[str, object]) -> list[NumberRange]:
    """The scores of a metric for shares from 0 to 1."""
    formula = substitute(metric.score, parameters)
    lines = Cuts(formula, (_SHARE,), score())
    try:
        lines.lines(len(formula.nodes) - 1)
    except BeyondAtoms:
        reason = f"the score of `{metric.name}` is not linear between the shares that it compares with"
        raise NotProved(reason) from None
    cuts = [cut for cut in numbers_of({*lines.cuts, 0, 1}) if 0 <= cut <= 1]
    evaluate = prepare(formula)

    def at(share: Fraction) -> Fraction:
        return Fraction(*exact_pair(evaluate({_SHARE: Score(share.numerator, share.denominator)})))

    pieces = [NumberRange(value, value) for value in map(at, cuts)]
    for low, high in itertools.pairwise(cuts):
        one, two = at(low + (high - low) / 3), at(low + (high - low) * 2 / 3)
        step = two - one  # on an open piece the formula is linear: its ends follow from two points
        pieces.append(NumberRange.inside(*sorted((one - step, two + step))))
    return pieces


def case_findings(root: MappingNode) -> list[Diagnostic]:
    """The `scorecard_findings` of the scorecard over cases in a file."""
    return scorecard_findings(read(CaseScorecardDocument, root))


def scorecard_findings(document: CaseScorecardDocument) -> list[Diagnostic]:
    """The findings about a valid scorecard over cases; its labels are checked under its default settings."""
    plan, mistakes = lower_case_scorecard(document)
    if plan is None:
        return mistakes
    card = CaseScorecard(document, plan)
    try:
        found = table_findings(card, CaseSettings(plan).scorer(None, None))
        return [each for each in found if each.code != "label-row-is-dead" or not _has_switch_for(each, card)]
    except PlanError as failure:
        if not all(holds for _, holds in requirements_of_defaults(document)):
            return []  # the rule `defaults-break-a-requirement` reports them
        return [
            error(document.key_place("requires"), f"the defaults do not fulfil it: {failure}", code="bad-parameter")
        ]


def _has_switch_for(dead: Diagnostic, card: CaseScorecard) -> bool:
    """Whether a row that never decides does so once one of the switches differs from its default."""
    for name, usual in defaults(card.plan).items():
        with suppress(PlanError):  # a requirement may rule the other value out
            if isinstance(usual.value, bool):
                other = CaseSettings(card.plan, {name: not usual.value}).scorer(None, None)
                if (dead.code, dead.span) not in {(each.code, each.span) for each in table_findings(card, other)}:
                    return True
    return False


def check_labels(card: CaseScorecard, settings: CaseSettings) -> list[Diagnostic]:
    """The findings about the label table under the settings of a run: a gap is an error, a dead row a warning."""
    findings: list[Diagnostic] = []
    for _, scorer in scorers_of(settings):
        findings += table_findings(card, scorer)
    return list(in_order(findings))


def _incomplete(card: CaseScorecard) -> LabelDocument:
    """The row that probably lacks a case: the only one for cases that are not accepted whose parts are joined with
    `and`; else the last one."""
    rows = card.document.labels
    conditions = {id(each.scalar): each.checked.expr for each in expressions_of(card.document)}
    joined = [
        (row, getattr(conditions.get(id(row.when)), "operator", ""))
        for row in rows
        if row.label != card.document.accepted
    ]
    narrow = [row for row, operator in joined if operator == "&&"]
    return narrow[0] if len(narrow) == 1 else rows[-1]


def table_findings(card: CaseScorecard, scorer: CaseScorer) -> list[Diagnostic]:
    """The findings about the label table under one set of parameters, by exact splitting alone."""
    try:
        table = label_table(card.plan, scorer.parameters)
    except (NotProved, EvaluationError) as reason:
        return [_not_proved(card, str(reason))]
    total, reached = survey(table.conditions, table.domains)
    if isinstance(total, Unknown):
        return [_not_proved(card, total.reason)]
    findings, rows = [], card.document.labels
    if isinstance(total, Refuted) and total.witness is not None:
        scores = total.witness.bindings
        gap = " and ".join(f"`{m.name}` is {float(scores[m.name]):.6g}" for m in card.plan.metrics if m.name in scores)
        message = f"no row of the label table holds where {gap}"
        dead = [row for row, result in zip(rows, reached, strict=True) if isinstance(result, Refuted)]
        incomplete = dead[0] if len(dead) == 1 else _incomplete(card)  # what should decide, and never does
        findings.append(error(incomplete.when, message, code="label-table-has-a-gap"))
    dead_rows = [at for at, result in enumerate(reached) if isinstance(result, Refuted)]
    covering = {at: _covering_row(table, at) for at in dead_rows}
    last = covering[dead_rows[0]] if dead_rows else None
    if last is not None and len(dead_rows) > 1 and dead_rows == [*range(last + 1, len(rows))]:
        message = f"row {last + 1} of the label table (`{rows[last].label}`) holds for every case that reaches it"
        notes = [(rows[at].when, "this row never decides") for at in dead_rows]
        return [*findings, warning(rows[last].when, message, code="label-row-is-dead", notes=notes)]
    for at in dead_rows:
        message = f"row {at + 1} of the label table (`{rows[at].label}`) never decides: an earlier row always does"
        last = covering[at]
        notes = [] if last is None else [(rows[last].when, "the last of the rows that leave nothing to it")]
        findings.append(warning(rows[at].when, message, code="label-row-is-dead", notes=notes))
    return findings


def _covering_row(table: LabelTable, dead: int) -> int | None:
    """The row with which the rows before a dead one leave no case to it; None if it holds nowhere, or is far below."""
    for last in range(-1, min(dead, MOST_ROWS)):
        conditions = (*table.conditions[: last + 1], table.conditions[dead])
        if isinstance(survey(conditions, table.domains)[1][-1], Refuted):
            return last if last >= 0 else None
    return None


def _not_proved(card: CaseScorecard, why: str) -> Diagnostic:
    message = f"it can't be proved that the label table leaves no case out: {why}"
    return warning(card.document.key_place("labels"), message, code="label-table-not-proved")
