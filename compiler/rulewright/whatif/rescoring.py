"""A finished run scored again under another scorecard or other parameters, or judged again under another profile."""

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from rulewright.comparing.recombine import Side, carried_out, only, verdict_of
from rulewright.errors import UsageError
from rulewright.reporting.adjudication import CODE
from rulewright.reporting.derived_run import write_derived
from rulewright.reporting.stored_run import (
    StoredRun,
    decision_as_json,
    decision_of,
    knowing,
    score_again,
    skipped_checks,
)
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import OUTCOMES
from rulewright_runtime.english import ticked
from rulewright_runtime.execution import Engine
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.plan.question import Judging
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.plan.scorecard import ScorecardPlan, declared_parameters
from rulewright_runtime.report.accumulators import Unresolved
from rulewright_runtime.runs.folder import DECISIONS, REPLIES
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.turn_lines import printable
from rulewright_runtime.verdicts import VerdictResult, conclude, failed
from rulewright_runtime.verify.decisions import Decider, bindings_of


class ScoringPolicy(Struct, frozen=True):
    """How verdicts become gates and scores: a scorecard and the values of its parameters."""

    card: ScorecardPlan
    parameters: JsonMapping

    def prepared(self, **given: object) -> Scorecard:
        """Return the prepared scorecard. Raises PlanError for an unknown parameter or a bad value."""
        return Scorecard(self.card, {**self.parameters, **given})


def policy_of(run: StoredRun, other: Plan | None, given: Mapping[str, object]) -> ScoringPolicy:
    """Return the run's policy with `given` parameters, or that of the plan `other`. Raises UsageError without a
    scorecard."""
    card = run.plan.scorecard if other is None else other.scorecard
    if card is None:
        raise UsageError(f"`{run.folder}` has no scorecard; name one with `--scorecard`")
    names = [parameter.name for parameter in card.parameters]
    if other is None and (unknown := [name for name in given if name not in names]):
        raise UsageError(
            f"the run's scorecard has no parameter `{unknown[0]}`; {declared_parameters(names)} "
            f"(`--scorecard {card.name}` takes the scorecard from the project as it is now)"
        )
    return ScoringPolicy(knowing(card, run.plan.scorecard), {**card.declared(run.parameters), **given})


def rescored(run: StoredRun, card: Scorecard) -> dict[str, dict[str, object]]:
    """Return the rows of the run under another scorecard, by transcript. Raises UsageError for a run of gates only if
    no gate of the scorecard holds a check of it: every check would decide."""
    if run.summary.get("gates_only") and not any(map(card.may_hold, run.checks)):
        known = f"no gate of the scorecard `{card.plan.name}` selects a check of the run"
        raise UsageError(f"{known}, which asked for gates only; scan again")
    return {
        name: score_again(card, row, run.verdicts[name].values(), skipped_checks(run, row))
        for name, row in run.rows.items()
    }


def write_rescored(recorded: StoredRun, run: StoredRun, policy: ScoringPolicy, out: Path) -> JsonObject:
    """Write the `recorded` run, or the one that was made of it, under another policy to the new folder `out`, and
    return its summary. Raises OSError."""
    plan = seal(replace(run.plan, scorecard=policy.card))
    about: JsonObject = {
        "profile": plan.profile,
        "scorecard": policy.card.name,
        "plan": plan.hash,
        "parameters": {name: str(value) for name, value in sorted(policy.parameters.items())} or None,
        "rescored": {
            "from": printable(str(run.folder)),
            "plan": run.summary["plan"],
            "scorecard": run.summary.get("scorecard"),
        },
    }
    derived = dataclasses.replace(run, plan=plan, rows=rescored(run, policy.prepared()))
    files = [path.read_bytes() if path.is_file() else b"" for path in (run.folder / DECISIONS, run.folder / REPLIES)]
    partial = out.with_name(f".{out.name}.rulewright")  # may be of a killed writer
    with lock_folder(partial):
        for path in partial.iterdir():
            if path.name != ".lock":
                path.unlink()
        summary = write_derived(partial, recorded, derived, about, *files)
    partial.rename(out)
    return summary


def unasked(run: StoredRun, other: Plan | None) -> list[str]:
    """Return the checks of another plan that the run did not include."""
    return [] if other is None else [check.id for check in other.checks if check.id not in run.checks]


def changed_rules(run: StoredRun, other: Plan | None) -> list[str]:
    """Return the checks whose rules differ in another plan; their recorded verdicts follow the run's own rules."""
    checks = () if other is None else other.checks
    return [each.id for each in checks if run.checks.get(each.id, each).hash != each.hash]


def totals(rows: Collection[JsonMapping], card: ScorecardPlan, refused: int) -> JsonObject:
    """Return the number of rows of each outcome, the number with the headline of `card`, its mean (None without any),
    and the gates with a pass rate; `refused` is the number of refused inputs."""
    decisions = [decision_of(row, card) for row in rows]
    scores = [score for _, _, score, _ in decisions if type(score) in (int, float)]
    outcomes = {name: sum(each[0] == name for each in decisions) for name in OUTCOMES}
    mean = math.fsum(scores) / len(scores) if scores else None
    return {"outcomes": outcomes, "scored": len(scores), "mean": mean, "gates": rated_gates(rows, refused)}


def rated_gates(rows: Iterable[JsonMapping], refused: int) -> JsonObject:
    """Return the gates with a pass rate over rows, as a summary does."""
    found = Unresolved()
    for row in rows:
        found.add(row)
    return {name: gate for name, gate in found.result(refused)["gates"].items() if "pass_rate" in gate}


def flips(run: StoredRun, rows: Mapping[str, JsonMapping], card: ScorecardPlan) -> list[JsonObject]:
    """Return the transcripts with another outcome, label, headline or gate under `card`, in the order of the run."""
    found = []
    for name, row in rows.items():
        before, after = decision_of(run.rows[name], run.plan.scorecard or card), decision_of(row, card)
        if before != after:
            found.append({"transcript_id": name, "before": decision_as_json(before), "after": decision_as_json(after)})
    return found


class Rejudged(Struct, frozen=True):
    """A run under another plan; `unknown` names the verdicts without recorded replies (`TRANSCRIPT x CHECK`), which are
    UNCLEAR. `other` is the plan of a project that options of a command name, `other_rules` the checks that differ."""

    run: StoredRun
    unknown: list[str] = field(default_factory=list)
    other: Plan | None = None
    other_rules: list[str] = field(default_factory=list)


def rejudged(run: StoredRun, other: Plan, transcripts: Sequence[str], replies: Sequence[Path]) -> Rejudged:
    """Return the run's rows and verdicts under the checks of another plan, without calls to a judge. Raises UsageError
    if people have decided verdicts of checks whose rules differ there."""
    if changed := [name for name in changed_rules(run, other) if _is_decided(run, name)]:
        decided = (
            f"`{run.folder}` contains decisions of people about {ticked(changed)}, whose votes or rules would differ"
        )
        raise UsageError(f"{decided}; use the run that they decided about: `{run.summary['adjudicated']['from']}`")
    judging = _Rejudging(run, other, transcripts, replies)
    rows: dict[str, dict[str, object]] = {}
    verdicts: dict[str, dict[str, VerdictResult]] = {}
    unknown: list[str] = []
    for name, row in run.rows.items():
        verdicts[name], missing = judging.transcript(name)
        unknown += [f"{name} x {check}" for check in missing]
        kept = {key: value for key, value in row.items() if key != "left_out"}
        waiting = judging.left_out(name)
        rows[name] = {**kept, **({"left_out": waiting} if waiting else {})}
    return Rejudged(dataclasses.replace(run, plan=other, rows=rows, verdicts=verdicts), unknown)


def _is_decided(run: StoredRun, check: str) -> bool:
    """Whether a person has decided a verdict of a check."""
    return any(check in verdicts and CODE in verdicts[check].extra for verdicts in run.verdicts.values())


class _Rejudging:
    def __init__(self, run: StoredRun, other: Plan, transcripts: Sequence[str], replies: Sequence[Path]) -> None:
        self.run = run
        self.other = other
        self.hashes = {check.id: check.hash for check in run.plan.checks}
        self.applies = Decider(other.checks)
        self.leaves_out = Decider(other.left_out)
        self.engines: dict[str, Engine] = {}
        changed = any(self.hashes.get(check.id) != check.hash for check in other.checks)
        self.side = Side.of(run, replies, transcripts) if changed else None

    def bindings(self, name: str) -> dict[str, Any]:
        scenario = str(self.run.rows[name].get("scenario_id") or "")
        return bindings_of(self.other, scenario) if scenario in self.other.scenarios else {}

    def left_out(self, name: str) -> list[str]:
        """Return the checks that apply to a transcript and that the other profile excludes."""
        decided = self.leaves_out.decide(self.bindings(name))
        parts = zip(self.other.left_out, decided, strict=True)
        return [part.id for part, each in parts if each.eligible and not each.suppressed]

    def transcript(self, name: str) -> tuple[dict[str, VerdictResult], list[str]]:
        """Return the verdicts on a transcript, and the checks that could not be judged again."""
        found: dict[str, VerdictResult] = {}
        missing: list[str] = []
        recorded = self.run.verdicts[name]
        for check, each in zip(self.other.checks, self.applies.decide(self.bindings(name)), strict=True):
            if each.suppressed:
                continue
            verdict = recorded.get(check.id) if self.hashes.get(check.id) == check.hash else self.again(name, check)
            if verdict is not None:
                found[check.id] = verdict
            elif each.eligible:
                missing.append(check.id)
                found[check.id] = conclude(check, failed("never_asked"))
        return found, missing

    def again(self, name: str, check: Check) -> VerdictResult | None:
        """Return the verdict of a check over the recorded conversation and replies; None if they don't suffice."""
        assert self.side is not None
        conversation = self.side.transcripts.get(name)
        if conversation is None:
            return None
        engine = self.engines.get(check.id)
        if engine is None:
            engine = self.engines[check.id] = Engine(only(self.other, check, self.other.scenarios))
        result = carried_out(engine, conversation, self.side.replies)
        return None if result is None else verdict_of(check.id, result)


VOTES: Final = "votes"  # the name of their number for `--sweep`
Row: TypeAlias = dict[str, object]
Part = TypeVar("Part", bound=PlanPart)


def with_votes(plan: Plan, votes: int | None, majority_of: str | None) -> Plan:
    """Return the plan whose judged checks take `votes` votes and need a majority of the `planned` or the `usable` ones;
    None keeps the plan's rule. A check that its profile switches off stays off. Raises UsageError for a plan without
    judged checks.
    """
    if most_votes(plan) == 0:
        raise UsageError("the plan has no judged checks whose votes could be counted")

    def changed(judging: Judging) -> Judging:
        if judging.repetitions == 0:
            return judging
        rule = judging.vote if majority_of is None else replace(judging.vote, denominator=majority_of)
        return replace(judging, repetitions=votes or judging.repetitions, vote=rule)

    return seal(replace(plan, checks=tuple(_with(check, changed) for check in plan.checks)))


def _with(part: Part, changed: Callable[[Judging], Judging]) -> Part:
    """Return the part of a plan with all its questions changed, at any depth."""
    if isinstance(part, Judging):
        return cast("Part", changed(part))
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return replace(part, **{name: _with(each, changed) for name, each in fields.items() if isinstance(each, PlanPart)})


def most_votes(plan: Plan) -> int:
    """Return the largest number of votes of a check; 0 without judged checks."""
    return max((each.repetitions for check in plan.checks for each in check.verifier.judgings()), default=0)


def sweep_votes(plan: Plan, judged: Callable[[Plan], Rejudged], policy: ScoringPolicy) -> dict[str, object]:
    """Return the numbers of votes, from one to the plan's largest, at which transcripts change, in the format of
    `sweep`; `unknown` counts, for each number, the verdicts that would need a new question. Raises UsageError for a
    plan without judged checks.
    """
    card = policy.prepared()
    found: list[Row] = []
    unknown: dict[str, int] = {}
    before: dict[str, object] = {}
    for votes in range(1, max(most_votes(plan), 1) + 1):
        stood = judged(with_votes(plan, votes, None))
        if stood.unknown:
            unknown[str(votes)] = len(stood.unknown)
        now: dict[str, object] = {
            name: decision_of(row, policy.card) for name, row in rescored(stood.run, card).items()
        }
        changed = [name for name in now if before and now[name] != before[name]]
        if changed:
            found.append({"at": float(votes), "exact": True, "side": "at", "transcripts": changed})
        before = now
    return {"parameter": VOTES, "breakpoints": found, "unknown": unknown}
