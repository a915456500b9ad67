"""Pairs the transcripts of two runs, and recombines the runs: a verdict with the transcript of one, the replies of the
other and the rule of either; a row with the verdicts of one under the scorecard and the thresholds of the other. No
judge is called.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.adjudication import CODE, READS_DECIDED
from rulewright.reporting.judge_answers import replayed
from rulewright.reporting.stored_run import StoredRun, conversations, knowing, score_again
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import Engine
from rulewright_runtime.judging.exchanges import answers_of, read_exchanges, replay_of
from rulewright_runtime.judging.judge import JudgeRequest, NotRecordedError, ReplayJudge
from rulewright_runtime.plan.envelope import digest
from rulewright_runtime.plan.judge_needs import needs_judge
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.report.summary import is_unproven
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject
from rulewright_runtime.transcript_execution import Execution, TranscriptResult
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verdicts import VerdictResult

_PROPERTIES: Final = ("provider", "requested_model", "name", "parameters", "served_models", "wrapper")


class Pairs(Struct, frozen=True):
    """The pairs of transcript ids `(before, after)` of two runs, and the ids that only one run has."""

    both: tuple[tuple[str, str], ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def pairing(before: StoredRun, after: StoredRun) -> str:
    """How the transcripts of two runs are paired: by their ids, or by `scenario` if only scenarios are in both."""
    ids = before.rows.keys() & after.rows.keys()
    scenarios = _scenarios(before) & _scenarios(after)
    return "scenario" if scenarios and not ids else "transcript"


def _scenarios(run: StoredRun) -> set[str]:
    return {str(row["scenario_id"]) for row in run.rows.values() if row.get("scenario_id")}


def pairs(before: StoredRun, after: StoredRun, by: str) -> Pairs:
    """Return the pairs with the same id (`transcript`) or the same scenario (`scenario`). Raises UsageError if a run
    has several transcripts of a scenario, or if the runs have nothing in common."""
    left, right = _keyed(before, by), _keyed(after, by)
    both = tuple((left[key], right[key]) for key in left if key in right)
    if not both:
        only = " and ".join(
            f"`{next(iter(each))}` only in `{run.folder}`" for each, run in ((left, before), (right, after)) if each
        )
        named = "; a chat without an id is named after its file and line" if by == "transcript" else ""
        raise UsageError(
            f"`{before.folder}` and `{after.folder}` have no {by} in common{only and f': {only} for example'}{named}"
        )
    only_before = tuple(name for key, name in left.items() if key not in right)
    return Pairs(both, only_before, tuple(name for key, name in right.items() if key not in left))


def other_judge(one: StoredRun, other: StoredRun) -> list[str]:
    """Return the properties in which the judges of two runs differ; the file name of recorded replies doesn't count.
    A run without a judge has no other one: it lacks the checks that need one. A run that replays what the other one
    recorded has the same judge."""
    judges = [run.summary.get("judge") or {} for run in (one, other)]
    if not all(judges):
        return []
    compared = [property_ for property_ in _PROPERTIES if not (property_ == "name" and _are_replayed(judges))]
    differ = [property_ for property_ in compared if judges[0].get(property_) != judges[1].get(property_)]
    if "provider" in differ and (_replays(one, other) or _replays(other, one)):
        return [property_ for property_ in differ if property_ == "wrapper"]
    return differ


def _replays(run: StoredRun, recorded: StoredRun) -> bool:
    """Whether a run replayed exactly the replies that the other one recorded."""
    judge = run.summary.get("judge") or {}
    if judge.get("provider") != "replay" or recorded.replies is None:
        return False
    lines = sha256(answers_of(read_exchanges(recorded.replies))).hexdigest()
    return judge.get("digest") in (lines, _recorded(recorded.replies).record.digest)


def _recorded(path: Path) -> ReplayJudge:
    return ReplayJudge(msgspec.json.decode(replay_of(read_exchanges(path))))


def other_replies(one: StoredRun, other: StoredRun) -> bool:
    """Whether both runs replayed replies, and different ones. The judge behind recorded replies is not recorded."""
    judges = [run.summary.get("judge") or {} for run in (one, other)]
    return _are_replayed(judges) and judges[0].get("digest") != judges[1].get("digest")


def _are_replayed(judges: Iterable[Mapping[str, Any]]) -> bool:
    return all(judge.get("provider") == "replay" for judge in judges)


def _keyed(run: StoredRun, by: str) -> dict[str, str]:
    if by == "transcript":
        return {name: name for name in run.rows}
    keyed: dict[str, str] = {}
    for name, row in run.rows.items():
        scenario = str(row.get("scenario_id"))
        if scenario in keyed:
            both = f"`{keyed[scenario]}`, `{name}`"
            if not scenario:
                raise UsageError(
                    f"`{run.folder}` contains several transcripts without a scenario ({both}); pair them by transcript"
                )
            held = f"several transcripts of `{scenario}` ({both})"
            cure = "scan each model and sample into a run of its own, or compare them with `rulewright leaderboard`"
            raise UsageError(f"`{run.folder}` contains {held}; {cure}")
        keyed[scenario] = name
    return keyed


TRANSCRIPT, REPLY, RULE, SCENARIO = "transcript", "judge reply", "rule", "scenario"
DECISION: Final = "decision of a person"
GATES_ONLY: Final = "scan of gates only"
VERDICTS, SCORECARD, THRESHOLD = "verdicts", "scorecard", "threshold"
NOT_RUN: Final = "not run"
_RANKS: Final = {"failed": 0, "undecided": 1, "nothing_applied": 2, "passed": 2}


@dataclass(slots=True)
class Side:
    """One of the two runs, with its conversations and the replies of its judge, if they are available."""

    run: StoredRun
    judged: frozenset[str]
    replies: Replies | None
    transcripts: dict[str, Transcript] = field(default_factory=dict)

    @classmethod
    def of(cls, run: StoredRun, replies: Sequence[Path], transcripts: Sequence[str]) -> Side:
        """Return the side of a run, with the conversations that can still be read."""
        transcripts_by_id = conversations(run, transcripts)
        return cls(run, frozenset(needs_judge(run.plan)), _replies(run, replies), transcripts_by_id)

    def scenario(self, transcript: str) -> Json:
        """The facts of the conversation's scenario, or None."""
        return self.run.plan.scenarios.get(str(self.run.rows[transcript].get("scenario_id")))


class Replies:
    """The recorded replies of a run's judge; `unanswered` is set by a request that was not recorded."""

    def __init__(self, judge: ReplayJudge) -> None:
        """Answer from `judge`, which holds the recorded replies."""
        self.judge = judge
        self.unanswered = False

    def ask(self, request: JudgeRequest) -> str | None:
        """Return the recorded reply. Raises NotRecordedError if there is none."""
        try:
            return self.judge.ask(request)
        except NotRecordedError:
            self.unanswered = True
            raise


def _replies(run: StoredRun, files: Sequence[Path]) -> Replies | None:
    """The replies stored with the run, or else those of the file that it replayed; None without both."""
    if run.replies is not None:
        return Replies(_recorded(run.replies))
    judge = replayed(run.summary, files)
    return None if judge is None else Replies(judge)


class Recombiner:
    """Computes verdicts and outcomes from parts of both runs, and from them the causes of differences."""

    def __init__(self, before: Side, after: Side) -> None:
        """Store both sides; engines and scorecards are created on first use."""
        self._before, self._after = before, after
        self._engines: dict[tuple[bool, bool, str, str], Engine] = {}
        self._cards: dict[tuple[bool, bool], Scorecard | None] = {}

    def transcripts_differ(self, pair: tuple[str, str]) -> bool:
        """Whether the conversations of a pair differ or may differ."""
        old, new = (side.run.fingerprint(name) for side, name in zip(self._sides, pair, strict=True))
        return not old or old != new

    # Verdicts

    def causes_of_verdict(self, pair: tuple[str, str], check: str) -> Causes:
        """The causes of a difference in a check's verdict on the transcripts of a pair."""
        changed = self._changed(pair, check)
        stored = [side.run.verdicts[name].get(check) for side, name in zip(self._sides, pair, strict=True)]
        if any(each is not None and each.rationale_code in (CODE, READS_DECIDED) for each in stored):
            return Causes(((DECISION, *changed),), told_apart=not changed)
        if any(each is None and self._was_skipped(at, pair[at], check) for at, each in enumerate(stored)):
            return Causes(((GATES_ONLY,),))
        if RULE in changed and check not in self._before.run.checks.keys() & self._after.run.checks.keys():
            return Causes(((RULE,),))  # the check is in one of the plans only
        follows = self.follows_the_transcript(pair, check)
        if follows and self._other_judge:
            return Causes((tuple(changed),), told_apart=False)  # neither judge was asked about both conversations
        if follows:
            changed.remove(REPLY)

        def result(taken: frozenset[str]) -> Json:
            return self._verdict(pair, check, taken | {REPLY} if follows and TRANSCRIPT in taken else taken)

        explained = causes(changed, result)
        answers = tuple(map(_answer, stored))
        if len(changed) > 1 and (result(frozenset()), result(frozenset(changed))) != answers:
            return Causes((tuple(changed),), told_apart=False)  # the stored verdicts can't be reproduced
        return explained

    def follows_the_transcript(self, pair: tuple[str, str], check: str) -> bool:
        """Whether a check's reply may differ because the judge was asked about another conversation."""
        old, new = (side.run.fingerprint(name) for side, name in zip(self._sides, pair, strict=True))
        return bool(old and new and old != new) and REPLY in self._changed(pair, check)

    def _was_skipped(self, after: int, name: str, check: str) -> bool:
        """Whether a scan of gates only did not ask about a check that applies."""
        run = self._sides[after].run
        return bool(run.summary.get("gates_only")) and check in run.rows[name].get("left_out", ())

    @cached_property
    def _other_judge(self) -> list[str]:
        return other_judge(self._before.run, self._after.run)

    @property
    def _sides(self) -> tuple[Side, Side]:
        return self._before, self._after

    def _changed(self, pair: tuple[str, str], check: str) -> list[str]:
        """The inputs of a verdict that differ or may differ."""
        (before, old), (after, new) = zip(self._sides, pair, strict=True)
        changed = [TRANSCRIPT] if self.transcripts_differ(pair) else []
        if check in before.judged | after.judged and self._replies_may_differ(pair, check):
            changed.append(REPLY)
        rules = [side.run.checks[check].hash if check in side.run.checks else None for side in self._sides]
        if rules[0] != rules[1] or before.run.plan.empty_reply != after.run.plan.empty_reply:
            changed.append(RULE)
        if digest(before.scenario(old)) != digest(after.scenario(new)):
            changed.append(SCENARIO)
        return changed

    def _replies_may_differ(self, pair: tuple[str, str], check: str) -> bool:
        replies = [side.replies for side in self._sides]
        if replies[0] is None or replies[1] is None:
            judges = [side.run.summary.get("judge") or {} for side in self._sides]
            return not judges[0].get("digest") or judges[0].get("digest") != judges[1].get("digest")
        return replies[0].judge.about(pair[0], check) != replies[1].judge.about(pair[1], check)

    def _verdict(self, pair: tuple[str, str], check: str, taken: frozenset[str]) -> object:
        """`(eligible, verdict)` with the `taken` parts of the second run; `UNKNOWN` if a part is not available."""
        side = {part: self._sides[part in taken] for part in (TRANSCRIPT, REPLY, RULE)}
        transcript = side[TRANSCRIPT].transcripts.get(pair[TRANSCRIPT in taken])
        engine = self._engine(RULE in taken, SCENARIO in taken, check, pair)
        if transcript is None or engine is None:
            return UNKNOWN
        asked = replace(transcript, id=pair[REPLY in taken], scenario_id=self._scenario(SCENARIO in taken, pair))
        result = carried_out(engine, asked, side[REPLY].replies)
        return UNKNOWN if result is None else _answer(verdict_of(check, result))

    def _scenario(self, after: bool, pair: tuple[str, str]) -> str:
        return str(self._sides[after].run.rows[pair[after]].get("scenario_id") or "")

    def _engine(self, rule: bool, scenario: bool, check: str, pair: tuple[str, str]) -> Engine | None:
        name = self._scenario(scenario, pair)
        key = (rule, scenario, check, name)
        if key not in self._engines:
            side, facts = self._sides[rule], self._sides[scenario].run.plan.scenarios
            if (name and name not in facts) or check not in side.run.checks:
                return None
            scenarios = {name: facts[name]} if name else {}
            self._engines[key] = Engine(only(side.run.plan, side.run.checks[check], scenarios))
        return self._engines[key]

    # Rows

    def causes_of_row(self, pair: tuple[str, str]) -> Causes:
        """The causes of a difference in a pair's outcome: verdicts, the scorecard, thresholds."""
        rows = [side.run.rows[name] for side, name in zip(self._sides, pair, strict=True)]
        # one row lacks facts of its scenario, or has checks left out
        lacks = any(bool(rows[0].get(key)) != bool(rows[1].get(key)) for key in ("missing", "left_out"))
        changed = [VERDICTS] if lacks or self._verdicts_differ(pair) else []
        if self.other_scorecard:
            changed.append(SCORECARD)
        if self.other_thresholds:
            changed.append(THRESHOLD)
        return causes(changed, lambda taken: self._outcome(pair, taken))

    @property
    def other_scorecard(self) -> bool:
        """Whether the scorecards differ, apart from the values of their parameters."""
        old, new = (digest(_policy(side.run.plan.scorecard)) for side in self._sides)
        return old != new

    @property
    def other_thresholds(self) -> bool:
        """Whether a parameter of both scorecards has different values."""
        old, new = (_thresholds(side.run) for side in self._sides)
        return any(old[name] != new[name] for name in old.keys() & new.keys())

    def under_first_policy(self, pair: tuple[str, str]) -> JsonObject:
        """Return the second row of a pair, scored with the first run's scorecard and thresholds."""
        run, name = self._after.run, pair[1]
        return score_again(self._card(False, False), run.rows[name], run.verdicts[name].values())

    def _verdicts_differ(self, pair: tuple[str, str]) -> bool:
        old, new = (
            {name: _answer(verdict) for name, verdict in side.run.verdicts[transcript].items()}
            for side, transcript in zip(self._sides, pair, strict=True)
        )
        return old != new

    def _outcome(self, pair: tuple[str, str], taken: frozenset[str]) -> Json:
        side, name = self._sides[VERDICTS in taken], pair[VERDICTS in taken]
        try:
            card = self._card(SCORECARD in taken, THRESHOLD in taken)
        except PlanError:
            return UNKNOWN  # the thresholds of one scorecard are invalid for the other
        row = score_again(card, side.run.rows[name], side.run.verdicts[name].values())
        return outcome_of(row)

    def _card(self, scorecard: bool, threshold: bool) -> Scorecard | None:
        key = (scorecard, threshold)
        if key not in self._cards:
            plan = self._sides[scorecard].run.plan.scorecard
            if plan is None:
                self._cards[key] = None
            else:
                other = self._sides[not scorecard].run.plan.scorecard
                values = _thresholds(self._sides[threshold].run)
                self._cards[key] = Scorecard(knowing(plan, other), plan.declared(values))
        return self._cards[key]


def carried_out(engine: Engine, transcript: Transcript, replies: Replies | None) -> TranscriptResult | None:
    """Return the result with the recorded replies; None if the transcript is refused or a reply is missing."""
    (started,) = engine.started([transcript])
    if isinstance(started, Execution):
        if replies is None:
            return None
        replies.unanswered = False
        for asking in started.askings:
            asking.settle(replies)
        return None if replies.unanswered else started.result()
    return None if started.errors else started


def verdict_of(check: str, result: TranscriptResult) -> VerdictResult | None:
    """Return the verdict of one check in a result; None if the check is suppressed."""
    return next((verdict for verdict in result.verdicts if verdict.check_id == check), None)


def rank_of(outcome: str) -> int:
    """Return the rank of an outcome; a lower rank is worse."""
    return _RANKS[outcome]


def outcome_of(row: JsonMapping) -> tuple[str, bool]:
    """Return the outcome of a row, and whether it failed without any proven failure."""
    return (row[ENGINE]["outcome"], is_unproven(row[ENGINE]))


def _policy(card: Json) -> object:
    """A scorecard without the values of its parameters and without its copy of the checks."""
    if card is None:
        return None
    parameters = tuple(replace(parameter, default="") for parameter in card.parameters)
    return replace(card, parameters=parameters, checks={})


def _thresholds(run: StoredRun) -> dict[str, object]:
    """The value of every parameter of the run's scorecard."""
    return {} if run.scorecard is None else run.scorecard.parameters


def _answer(verdict: Json) -> tuple[bool, str]:
    return (False, NOT_RUN) if verdict is None else (verdict.eligible, verdict.verdict)


def only(plan: Plan, check: Check, scenarios: JsonObject) -> Plan:
    """Return the plan with these scenarios, one check and those whose verdicts it reads, and no scorecard."""
    by_id = {each.id: each for each in plan.checks}
    kept, waiting = set[str](), [check.id]
    while waiting:
        name = waiting.pop()
        if name in by_id and name not in kept:
            kept.add(name)
            waiting += by_id[name].verifier.reads()
    checks = tuple(each for each in plan.checks if each.id in kept)
    return replace(plan, checks=checks, scenarios=scenarios, scorecard=None, left_out=())


UNKNOWN: Final = object()  # the result of a combination that can't be computed from the runs


class Causes(Struct, frozen=True):
    """`sets` are the smallest sets of changes that give the second run's result, each sufficient by itself.

    `told_apart` is false if a combination of the changes can't be computed: then `sets` holds one set of all changes,
    and one or more of them are the cause. Without sets, nothing that the runs record has changed.
    """

    sets: tuple[tuple[str, ...], ...]
    told_apart: bool = True

    def as_json(self) -> dict[str, object]:
        """`{sets, told_apart}`."""
        return {"sets": [list(each) for each in self.sets], "told_apart": self.told_apart}


def causes(changed: Sequence[str], result: Callable[[frozenset[str]], Hashable]) -> Causes:
    """Return the causes among the `changed` factors. `result` computes the result with a set of them taken from the
    second run, or `UNKNOWN`."""
    if len(changed) < 2:
        return Causes(tuple((each,) for each in changed))
    before, after = result(frozenset()), result(frozenset(changed))
    not_told_apart = Causes((tuple(changed),), told_apart=False)
    if UNKNOWN in (before, after) or before == after:
        return not_told_apart
    for size in range(1, len(changed)):
        results = {each: result(frozenset(each)) for each in combinations(changed, size)}
        if sets := tuple(each for each, value in results.items() if value == after):
            return Causes(sets)
        if UNKNOWN in results.values():
            return not_told_apart
    return Causes((tuple(changed),))
