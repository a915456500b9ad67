"""Execution: runs a plan over transcripts and yields verdicts and scores in the order of transcripts and checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from rulewright_runtime.aggregate.outcome import NotRun, without_scores
from rulewright_runtime.errors import InputError, OutageError, PlanError
from rulewright_runtime.judging.judge import Judge, open_judge
from rulewright_runtime.matching.match import Matcher
from rulewright_runtime.plan.guard import reading_verdicts
from rulewright_runtime.plan.judge_needs import reads_script, refuse_without_judge, searched_lexicons
from rulewright_runtime.plan.question import WholeWindow
from rulewright_runtime.plan.scan import NO_SCENARIO, Check, Plan
from rulewright_runtime.plan.verifiers import ExpressionVerifier, LexiconVerifier, ScenarioRule
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcript_execution import CheckAsking, Execution, TranscriptResult
from rulewright_runtime.transcripts.completeness import Gap, ScriptedScenario, as_records
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.redaction import Redaction
from rulewright_runtime.transcripts.transcript_reader import Reader, from_record
from rulewright_runtime.transcripts.view import View
from rulewright_runtime.verdicts import Finding, VerdictResult, conclude, failed, incomplete, not_eligible
from rulewright_runtime.verify import lexicon, verifier_of
from rulewright_runtime.verify.applicable import applicability, inapplicable
from rulewright_runtime.verify.decisions import Decider, Eligibility, bindings_of
from rulewright_runtime.verify.evaluation_context import EvaluationContext

Item = Transcript | InputError | JsonMapping | str | os.PathLike[str]


@runtime_checkable
class BatchJudge(Protocol):
    """A judge that answers many requests concurrently and stores its requests and replies."""

    @property
    def identity(self) -> str:
        """The judge's fingerprint, which a resumed run compares."""

    def results(
        self,
        engine: Engine,
        items: Iterable[Any],
        run: str = "",
        watch: Callable[[Any], None] = lambda _: None,
        *,
        resumed: bool = False,
    ) -> Iterator[TranscriptResult]:
        """Yield one result for each transcript, in order; `resumed`: the run named `run` is continued."""


def execute(
    plan: Plan,
    transcripts: Iterable[Item],
    judge: Judge | str | None = None,
    *,
    parameters: JsonMapping | None = None,
    prefilter: bool = True,
    gates_only: bool = False,
) -> Iterator[TranscriptResult]:
    """Yield one result for each transcript, in order.

    An item may also be a batch record (a dict), the path of a file or folder to read, or an InputError to pass on.

    `judge` answers the requests of checks (an object with `ask`, or `replay:FILE`); `parameters` sets the scorecard's
    declared parameters. Raises PlanError before anything runs if the plan needs a judge and there is none. Without
    `prefilter` the results are the same and take longer. `gates_only` skips a check that can no longer change a gate:
    gates have the states of the whole run, and a row with skipped checks lists them as `left_out` and has no scores.
    """
    if isinstance(judge, str):
        judge = open_judge(judge)
    if judge is None:
        refuse_without_judge(plan)
    return results(Engine(plan, parameters, prefilter, gates_only=gates_only), transcripts, judge)


def results(engine: Engine, items: Iterable[Item], judge: Judge | None) -> Iterator[TranscriptResult]:
    """Yield one result for each transcript, as `execute` does, from a prepared plan."""
    for started in engine.started(items, prompts=getattr(judge, "reads_prompts", True)):
        if isinstance(started, Execution):
            for asking in started.askings:
                if not started.skips(asking):
                    asking.settle(judge)
            yield started.result()
        else:
            yield started


class _Applied(NamedTuple):
    """A check in a scenario, with its position in the plan. Its record may be `constant`: in those transcripts with
    turns of `role` in which the matcher finds nothing of the `lexicon`."""

    position: int
    check: Check
    eligibility: Eligibility
    constant: VerdictResult | None = None
    role: str | None = None
    lexicon: str = ""


class _ScenarioChecks(NamedTuple):
    """The checks of one scenario's transcripts: the records that all of them share, by position, the checks that run
    `first`, and those that run `last` because they read the verdicts of others. `expected` holds the ids of all,
    `left_out` the checks that would apply but that the profile left out, each with the gates it leaves open, and
    `bindings` the context of expressions; `script` is the scenario's turns."""

    bindings: JsonObject
    shared: dict[int, VerdictResult]
    first: tuple[_Applied, ...]
    last: tuple[_Applied, ...]
    expected: tuple[str, ...]
    left_out: list[NotRun]
    script: ScriptedScenario


class Engine:
    """A prepared plan. It does no I/O except reading transcripts: the caller sends requests to the judge."""

    def __init__(
        self, plan: Plan, parameters: JsonMapping | None = None, prefilter: bool = True, *, gates_only: bool = False
    ) -> None:
        """Prepare the plan's programs and matcher. `gates_only` skips the checks that can't change a gate.

        Raises PlanError for an unknown parameter or a bad value, for a plug-in that is not installed in the plan's
        version, for a lexicon without patterns, and for `gates_only` if no check belongs to a gate.
        """
        for name, each in plan.lexicons.items():
            if not each.patterns:  # what searches for violations would find none, and pass
                raise PlanError(f"lexicon `{name}` has no patterns")
        if plan.plugins:
            from rulewright_runtime.plugins import register_functions  # loading installed metadata is slow

            register_functions(plan.plugins)
        self._plan, self._redaction = plan, Redaction(plan.redact)
        self._matcher = Matcher(searched_lexicons(plan), prefilter=prefilter)
        self._applies = {check.id: applicability(check) for check in plan.checks}
        self._without_hit = [_without_hit(check, plan, self._matcher) for check in plan.checks]
        self._decider = Decider(plan.checks)
        self._last = reading_verdicts(plan)
        self._prepared: JsonObject = {}  # by check, shared between transcripts
        self._checks_by_scenario: dict[str, _ScenarioChecks] = {}
        self._left_out: list[NotRun] = []
        self._scorecard: Any = None
        if plan.scorecard is not None:
            from rulewright_runtime.aggregate.aggregation import Scorecard

            self._scorecard = Scorecard(plan.scorecard, parameters)
            self._left_out = [NotRun(part.id, self._scorecard.waiting_for(part.id)) for part in plan.left_out]
        elif parameters:
            raise PlanError(f"unknown parameter `{next(iter(parameters))}`: the plan declares none")
        self._gates_of = self._gates_of_checks() if gates_only else {}

    def _gates_of_checks(self) -> dict[str, frozenset[int]]:
        """The gates that each check may change, except for checks whose verdicts other checks read."""
        gates_of = (
            {}
            if self._scorecard is None
            else {each.id: self._scorecard.may_hold(each.id) for each in self._plan.checks}
        )
        if not any(gates_of.values()):
            raise PlanError("`gates_only` needs a scorecard with a gate that selects a check of the plan")
        read = {name for each in self._plan.checks for name in getattr(each.verifier, "needs", ())}
        return {name: gates for name, gates in gates_of.items() if name not in read}

    def _skips(self, incomplete: bool, check_id: str, settled: list[VerdictResult]) -> bool:
        """Whether every gate that the check may change has already failed."""
        gates = self._gates_of.get(check_id)
        return gates is not None and gates <= self._scorecard.stopped(settled, incomplete=incomplete)

    def started(self, items: Iterable[Item], *, prompts: bool = True) -> Iterator[Execution | TranscriptResult]:
        """Start each transcript, in order; yields its result if no check waits for a reply. Without `prompts` the
        requests have empty ones."""
        return map(partial(self._start, prompts=prompts), self.read(items))

    def read(self, items: Iterable[Item]) -> Iterator[Transcript | InputError]:
        """Yield the transcripts and refusals among the items and in the files that they name."""
        reader = Reader(self._plan.scenarios)
        for item in items:
            if isinstance(item, Transcript | InputError):
                yield item
            elif isinstance(item, Mapping):
                try:
                    yield from_record(item)
                except InputError as refused:
                    yield refused
            else:
                yield from reader.read([item])

    def _start(self, item: Transcript | InputError, *, prompts: bool) -> Execution | TranscriptResult:
        if isinstance(item, InputError):
            return TranscriptResult("", "", "", errors=(item,))
        scenario = self._plan.scenarios.get(item.scenario_id) if item.scenario_id else NO_SCENARIO
        if scenario is None or scenario.refused:
            reason = scenario.refused if scenario else f"unknown scenario `{item.scenario_id}`"
            error = InputError(reason, item.path or item.id, item.line)
            return TranscriptResult(item.id, item.scenario_id, item.model, errors=(error,))
        checks = self._scenario_checks(item.scenario_id)
        item = self._redaction.transcript(item)
        complete = checks.script.of_conversation(item)
        if complete.branches:
            item = _with_branches(item, complete.branches)
        context = EvaluationContext(
            self._plan, item, self._matcher, checks.bindings, complete, self._prepared, prompts=prompts
        )
        readable = not (complete.gaps or complete.wordless)
        roles = {turn.role for turn in item.turns} if readable else ()
        verdicts, waiting = {**checks.shared}, dict[int, CheckAsking]()
        for each in checks.first:
            if each.constant is not None and each.role in roles and each.lexicon not in context.may_hit:
                verdicts[each.position] = each.constant
                continue
            verdict = self._verdict(each.check, each.eligibility, context)
            if isinstance(verdict, CheckAsking):
                waiting[each.position] = verdict
            else:
                verdicts[each.position] = verdict
        skips = partial(self._skips, bool(complete.gaps)) if self._gates_of else None
        execution = Execution(item, verdicts, waiting, partial(self._finish, context), skips)
        return execution if waiting else execution.result()

    def _verdict(
        self, check: Check, eligibility: Eligibility, context: EvaluationContext
    ) -> VerdictResult | CheckAsking:
        """The check's record, or the requests it waits for."""

        def concluded(finding: Finding) -> VerdictResult:
            gaps = context.complete.gaps
            if not isinstance(check.verifier, ExpressionVerifier):  # an expression also reads tool calls
                gaps = gaps or context.complete.wordless
            if gaps:
                finding = incomplete(finding, gaps)
            if context.simulated_by and reads_script(check):
                users = {"simulated_user": list(context.simulated_by)}
                finding = msgspec.structs.replace(finding, extra={**finding.extra, **users})
            return conclude(check, _mark(finding, eligibility))

        if not eligibility.eligible:
            return concluded(not_eligible(eligibility.why))
        try:
            if (applies := self._applies[check.id]) is not None:
                applied = applies(context.bindings, context.view)
                if not applied.holds:
                    return concluded(inapplicable(context))
                if applied.undecided is not None:
                    undecided = {**eligibility.undecided, "applies": applied.undecided}
                    eligibility = msgspec.structs.replace(eligibility, undecided=undecided)
            finding = verifier_of(type(check.verifier))(check, check.verifier, context)
        except OutageError:
            raise
        except Exception as error:
            finding = failed(f"verifier_exception:{type(error).__name__}")
        return concluded(finding) if isinstance(finding, Finding) else CheckAsking(check.id, finding, concluded)

    def _finish(
        self, context: EvaluationContext, settled: dict[int, VerdictResult], skipped: tuple[str, ...] = ()
    ) -> TranscriptResult:
        """Run the checks that read the verdicts of others, and make the result."""
        item, gaps = context.transcript, context.complete.gaps
        checks = self._scenario_checks(item.scenario_id)
        if checks.last:
            context.verdicts = {verdict.check_id: verdict for verdict in settled.values()}
        for each in checks.last:
            verdict = self._verdict(each.check, each.eligibility, context)
            assert isinstance(verdict, VerdictResult), "a check that reads verdicts needs no judge"
            settled[each.position] = context.verdicts[verdict.check_id] = verdict
        verdicts = tuple([settled[index] for index in sorted(settled)])
        scores = self._score(item, verdicts, checks, gaps, skipped)
        return TranscriptResult(
            item.id,
            item.scenario_id,
            self._name(item),
            verdicts,
            scores,
            context.calls,
            harness=item.harness,
            missing=gaps,
        )

    def constant_in(self, scenario_id: str) -> dict[str, str | None]:
        """The checks of a scenario with a constant record, each with the role in whose turns the matcher must find
        nothing of its lexicon; None for a record that is constant in every transcript."""
        checks = self._scenario_checks(scenario_id)
        constant = {each.check.id: each.role for each in checks.first if each.constant is not None}
        return {**dict.fromkeys(verdict.check_id for verdict in checks.shared.values()), **constant}

    def inapplicable_checks(self, transcript: Transcript) -> Iterator[str]:
        """The checks whose condition `applies` does not hold in a transcript."""
        view, bindings = View(transcript), self._scenario_checks(transcript.scenario_id).bindings
        for name, applies in self._applies.items():
            if applies is not None and not applies(bindings, view).holds:
                yield name

    def _scenario_checks(self, scenario_id: str) -> _ScenarioChecks:
        """The checks that apply to a scenario's transcripts, decided once."""
        checks = self._checks_by_scenario.get(scenario_id)
        if checks is None:
            bindings = bindings_of(self._plan, scenario_id)
            eligible = self._decider.decide(bindings)
            applied = {
                index: self._applied(index, check, eligibility)
                for index, (check, eligibility) in enumerate(zip(self._plan.checks, eligible, strict=True))
                if not eligibility.suppressed
            }
            shared = {
                index: conclude(each.check, not_eligible())
                for index, each in applied.items()
                if not (each.eligibility.eligible or each.eligibility.undecided or each.eligibility.why is not None)
            }
            checks = self._checks_by_scenario[scenario_id] = _ScenarioChecks(
                bindings,
                shared,
                tuple(each for index, each in applied.items() if index not in shared and index not in self._last),
                tuple(applied[index] for index in self._last if index in applied and index not in shared),
                tuple(each.check.id for each in applied.values()),
                self._left_out_in(bindings),
                ScriptedScenario(self._plan.scenarios.get(scenario_id), self._plan.empty_reply),
            )
        return checks

    def _applied(self, index: int, check: Check, eligibility: Eligibility) -> _Applied:
        certain = eligibility.eligible and not eligibility.undecided
        return _Applied(index, check, eligibility, *((self._without_hit[index] or ()) if certain else ()))

    def _score(
        self,
        item: Transcript,
        verdicts: tuple[VerdictResult, ...],
        checks: _ScenarioChecks,
        gaps: tuple[Gap, ...],
        skipped: tuple[str, ...],
    ) -> JsonObject | None:
        if self._scorecard is None:
            return None
        row = {"transcript_id": item.id, "scenario_id": item.scenario_id}
        row["model"] = self._name(item)
        expected = [name for name in checks.expected if name not in skipped]
        waiting = [*checks.left_out, *(NotRun(name, is_skipped=True) for name in skipped)]
        row |= self._scorecard.score(verdicts, expected, waiting, incomplete=bool(gaps))
        if skipped:
            row |= without_scores(row, self._scorecard.plan.shown)
        return {**row, "missing": as_records(gaps)} if gaps else row

    def _name(self, item: Transcript) -> str:
        """The project's name of the transcript's model."""
        return self._plan.models.get(item.model, item.model)

    def _left_out_in(self, bindings: JsonMapping) -> list[NotRun]:
        """The checks that apply in a scenario but that the profile left out, each with the gates it leaves open."""
        decisions = Decider(self._plan.left_out).decide(bindings) if self._left_out else ()
        return [
            waiting
            for waiting, eligibility in zip(self._left_out, decisions, strict=True)
            if waiting.gates and eligibility.eligible and not eligibility.suppressed
        ]


def _with_branches(transcript: Transcript, branches: Mapping[int, str]) -> Transcript:
    """The transcript with the branches that were inferred from its messages."""
    turns = list(transcript.turns)
    for index, branch_id in branches.items():
        turns[index] = msgspec.structs.replace(turns[index], branch_id=branch_id)
    return msgspec.structs.replace(transcript, turns=tuple(turns))


def _without_hit(check: Check, plan: Plan, matcher: Matcher) -> tuple[VerdictResult, str, str] | None:
    """For a check whose verdict is known if the matcher finds nothing of a lexicon in the turns of a role: the record,
    the role and the lexicon; None for any other check."""
    verifier = check.verifier
    if check.applies is not None:
        return None
    if isinstance(verifier, LexiconVerifier):
        searched = plan.lexicons.get(verifier.lexicon)
        if searched is None or not isinstance(verifier.window, WholeWindow):
            return None
        role, finding, name = searched.role, lexicon.without_hit(verifier), verifier.lexicon
    elif isinstance(verifier, ScenarioRule):
        role, finding, name = "user", not_eligible(verifier.no_question, occasion=True), verifier.question
    else:
        return None
    return (conclude(check, finding), role, name) if matcher.covers(role, name) else None


def _mark(finding: Finding, eligibility: Eligibility) -> Finding:
    """The finding, marked for adjudication if a condition of the check's eligibility is undecided."""
    if not eligibility.undecided:
        return finding
    return msgspec.structs.replace(
        finding, extra={**finding.extra, "undecided": eligibility.undecided}, needs_adjudication=True
    )
