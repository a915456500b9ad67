"""Execution: a plan and transcripts in, verdicts and scores out, in the order of transcripts and checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from rulewright_runtime.decisions import Decided, Decider, facts
from rulewright_runtime.errors import InputError, PlanError
from rulewright_runtime.match import Matcher
from rulewright_runtime.plan import LexiconVerifier, ScenarioRule, WholeWindow
from rulewright_runtime.plan_guard import judgings
from rulewright_runtime.transcripts import Reader, Transcript, from_record
from rulewright_runtime.verdicts import Finding, VerdictResult, conclude, incomplete, not_eligible
from rulewright_runtime.verify import lexicon, verifier_of
from rulewright_runtime.verify.scene import Scene

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from rulewright_runtime.judge import Judge
    from rulewright_runtime.plan import Check, Lexicon, Plan

    Item = Transcript | InputError | Mapping[str, Any] | str | os.PathLike[str]


class TranscriptResult(msgspec.Struct, frozen=True):
    """What a run says of one transcript: verdicts in the order of checks, the scores row, the calls of each check.

    A refused transcript has `errors` and nothing else. `scores` is None where the plan holds no scorecard.
    """

    transcript_id: str
    scenario_id: str
    model: str
    verdicts: tuple[VerdictResult, ...] = ()
    scores: dict[str, Any] | None = None
    judge_calls: dict[str, int] = {}
    errors: tuple[Any, ...] = ()
    harness: str = ""


def execute(
    plan: Plan,
    transcripts: Iterable[Item],
    judge: Judge | str | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    prefilter: bool = True,
) -> Iterator[TranscriptResult]:
    """One result for each transcript, as they come.

    An item may also be a batch record (a dict), the path of a file or folder to read, or a refusal to pass on.

    `judge` answers what checks ask (an object with `ask`, or `replay:FILE`); `parameters` sets the scorecard's declared
    parameters. Raises PlanError before anything runs when the plan needs a judge and there is none. `prefilter` off
    gives the same results, slower.
    """
    if isinstance(judge, str):
        from rulewright_runtime.judge import open_judge

        judge = open_judge(judge)
    return _Engine(plan, judge, parameters, prefilter).run(transcripts)


def needs_judge(plan: Plan) -> list[str]:
    """The ids of the checks that may put a question to a judge."""
    return [check.id for check in plan.checks if any(judging.repetitions for judging in judgings(check))]


class _Engine:
    """A plan made ready to run."""

    def __init__(self, plan: Plan, judge: Judge | None, parameters: Mapping[str, Any] | None, prefilter: bool) -> None:
        asking = needs_judge(plan)
        if asking and judge is None:
            others = f" and {len(asking) - 1} others" if len(asking) > 1 else ""
            raise PlanError(f"the plan needs a judge for the check `{asking[0]}`{others}, and none was given")
        self._plan = plan
        self._judge = judge
        if judge is not None and getattr(judge, "cacheable", False):
            from rulewright_runtime.judge import CachedJudge

            self._judge = CachedJudge(judge)
        self._matcher = Matcher(_looked_for(plan), prefilter=prefilter)
        self._not_eligible = [conclude(check, not_eligible()) for check in plan.checks]
        self._without_hit = [_without_hit(check, plan, self._matcher) for check in plan.checks]
        self._decider = Decider(plan)
        self._decided: dict[str, tuple[dict[str, Any], list[Decided]]] = {}
        self._left_out: list[tuple[str, tuple[int, ...]]] = []
        self._left_out_in: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
        self._scorecard: Any = None
        if plan.scorecard is not None:
            from rulewright_runtime.aggregate import Scorecard

            self._scorecard = Scorecard(plan.scorecard, parameters)
            self._left_out = [(part.id, self._scorecard.waiting_for(part.id)) for part in plan.left_out]
        elif parameters:
            raise PlanError(f"unknown parameter `{next(iter(parameters))}`: the plan declares none")

    def run(self, items: Iterable[Item]) -> Iterator[TranscriptResult]:
        reader = Reader(self._plan.scenarios)
        for item in items:
            if isinstance(item, Transcript | InputError):
                yield self._one(item)
            elif isinstance(item, Mapping):
                try:
                    yield self._one(from_record(item))
                except InputError as refused:
                    yield self._one(refused)
            else:
                for read in reader.read([item]):
                    yield self._one(read)

    def _one(self, item: Transcript | InputError) -> TranscriptResult:
        if isinstance(item, InputError):
            return TranscriptResult("", "", "", errors=(item,))
        scenario = self._plan.scenarios.get(item.scenario_id)
        if scenario is None or scenario.refused:
            reason = scenario.refused if scenario else f"unknown scenario `{item.scenario_id}`"
            error = InputError(reason, item.path or item.id, item.line)
            return TranscriptResult(item.id, item.scenario_id, item.model, errors=(error,))
        bindings, decided = self._decide(item.scenario_id)
        scene = Scene(self._plan, item, self._matcher, bindings, self._judge)
        verdicts = tuple(
            self._foregone(place, check, how, scene)
            or conclude(check, _mark(_verify(check, scene) if how.eligible else not_eligible(), how))
            for place, (check, how) in enumerate(zip(self._plan.checks, decided, strict=True))
            if not how.suppressed
        )
        if any(turn.error is not None for turn in item.turns):
            verdicts = tuple(map(incomplete, verdicts))
        scores = self._score(item, verdicts, decided)
        return TranscriptResult(
            item.id, item.scenario_id, item.model, verdicts, scores, scene.calls, harness=item.harness
        )

    def _foregone(self, place: int, check: Check, how: Decided, scene: Scene) -> VerdictResult | None:
        """The record of a check that is settled before its verifier runs; equal records are one object."""
        if how.undecided:
            return None
        if not how.eligible:
            return self._not_eligible[place]
        silent = self._without_hit[place]
        return silent[1] if silent is not None and scene.is_silent(silent[0]) else None

    def _score(
        self, item: Transcript, verdicts: tuple[VerdictResult, ...], decided: list[Decided]
    ) -> dict[str, Any] | None:
        if self._scorecard is None:
            return None
        owed = [check.id for check, how in zip(self._plan.checks, decided, strict=True) if not how.suppressed]
        row = {"transcript_id": item.id, "scenario_id": item.scenario_id}
        row["model"] = self._plan.models.get(item.model, item.model)
        return {**row, **self._scorecard.aggregate(verdicts, owed, self._waiting_in(item.scenario_id))}

    def _waiting_in(self, scenario_id: str) -> list[tuple[str, tuple[int, ...]]]:
        """The checks that apply in a scenario but that the profile left out, each with the gates it leaves open."""
        if not self._left_out:
            return self._left_out
        known = self._left_out_in.get(scenario_id)
        if known is None:
            bindings, _ = self._decide(scenario_id)
            answers = Decider(self._plan, self._plan.left_out).decide(scenario_id, bindings)
            known = [
                waiting
                for waiting, how in zip(self._left_out, answers, strict=True)
                if waiting[1] and how.eligible and not how.suppressed
            ]
            self._left_out_in[scenario_id] = known
        return known

    def _decide(self, scenario_id: str) -> tuple[dict[str, Any], list[Decided]]:
        """What expressions see of a scenario, and which checks are suppressed or eligible there; kept once known."""
        known = self._decided.get(scenario_id)
        if known is None:
            bindings = {"scenario": facts(scenario_id, self._plan.scenarios[scenario_id])}
            known = self._decided[scenario_id] = (bindings, self._decider.decide(scenario_id, bindings))
        return known


def _without_hit(check: Check, plan: Plan, matcher: Matcher) -> tuple[str, VerdictResult] | None:
    """For a check whose verdict is known where the matcher finds nothing in the turns of a role: that role, and the
    record."""
    verifier = check.verifier
    if isinstance(verifier, LexiconVerifier):
        known = plan.lexicons.get(verifier.lexicon)
        if known is None or not known.patterns or not isinstance(verifier.window, WholeWindow):
            return None
        role, finding, name = known.role, lexicon.without_hit(verifier), verifier.lexicon
    elif isinstance(verifier, ScenarioRule) and plan.lexicons[verifier.question].patterns:
        role, finding, name = "user", not_eligible(verifier.no_question), verifier.question
    else:
        return None
    return (role, conclude(check, finding)) if matcher.covers(role, name) else None


def _looked_for(plan: Plan) -> dict[str, dict[str, Lexicon]]:
    """The lexicons that checks look for in all turns of a role, first of all."""
    wanted: dict[str, dict[str, Lexicon]] = {"user": {}, "assistant": {}}
    for check in plan.checks:
        verifier = check.verifier
        if isinstance(verifier, ScenarioRule):
            wanted["user"][verifier.question] = plan.lexicons[verifier.question]
            continue
        names = [verifier.lexicon] if isinstance(verifier, LexiconVerifier) else []
        names += [judging.precheck for judging in judgings(check) if judging.precheck is not None]
        for name in names:
            known = plan.lexicons.get(name)
            for role, found in wanted.items():
                if known is not None and known.role in (role, "both"):
                    found[name] = known
    return wanted


def _verify(check: Check, scene: Scene) -> Finding:
    """What the check's verifier finds; a verifier that crashes leaves UNCLEAR, never no record."""
    try:
        return verifier_of(type(check.verifier))(check, check.verifier, scene)
    except Exception as error:
        return Finding("UNCLEAR", 0.0, f"verifier_exception:{type(error).__name__}", shaken=True, settled=True)


def _mark(finding: Finding, how: Decided) -> Finding:
    """The finding with what could not be decided about the check before it ran."""
    if not how.undecided:
        return finding
    return msgspec.structs.replace(finding, extra={**finding.extra, "undecided": how.undecided}, shaken=True)
