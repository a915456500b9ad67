"""Plans a scan and its cost without any call: `scan_plan.json` and `cost_report.json`."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Final

from rulewright.lower.applicability import overridden
from rulewright.project import Project
from rulewright_runtime.execution import Engine
from rulewright_runtime.judging.votes import fewest
from rulewright_runtime.matching.match import first
from rulewright_runtime.plan.question import Judging, WholeWindow, Window
from rulewright_runtime.plan.scan import NO_SCENARIO, Check, Plan
from rulewright_runtime.plan.verifiers import LexiconVerifier, PhasedVerifier, RubricVerifier
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import says_something
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.redaction import Redaction
from rulewright_runtime.transcripts.windows import WindowTurns, select
from rulewright_runtime.verify.decisions import Decider, bindings_of
from rulewright_runtime.verify.rubric import window_of

REPORTED: Final = ("profile", "llm_enabled", "judge_model", "planned_llm_calls", "estimated_cost_usd", "pricing_known")
BOUNDS: Final = ("llm_calls", "cost_usd")


@dataclass(slots=True)
class _Count:
    """The totals of one check: eligible transcripts, and planned, least and most calls."""

    eligible: int = 0
    planned: int = 0
    lower: int = 0
    upper: int = 0
    windows: int = 0  # windows that a judge is asked about
    unbounded: int = 0  # windows of the whole transcript for want of a cue
    confirming: int = 0  # calls of the two judged phases of a three-phase check
    sweeping: int = 0


def scan_plan(
    project: Project, plan: Plan, transcripts: Iterable[Transcript], *, judge_model: str | None = None
) -> JsonObject:
    """Return the scan plan of `plan` over transcripts of its scenarios as JSON data.

    `planned_llm_calls` is repetitions times windows of every eligible judge check: one attempt per vote, no early stop.
    `llm_calls` holds the bounds: the lower one stops every vote as soon as it is decided, the upper one retries every
    vote and sends every lexicon hit to the edge. `llm_calls_by_phase` has the judged phases of three-phase checks;
    candidates are counted in these transcripts. `left_out` names the checks that the profile does not run and that
    gates wait for, `overridden` the scenarios whose `eligible_modes` overrides tags, with the checks it omits and adds.
    `windows` counts the windows that a judge decides, and those of the whole transcript for want of a cue. `by_mode`
    omits checks that apply nowhere. An unknown price or token count makes the costs null and `pricing_known` false,
    never zero.
    """
    model = judge_model or project.judge.model
    transcripts = list(map(Redaction(plan.redact).transcript, transcripts))  # as a judge sees them
    counts = _counts(plan, transcripts)
    price = None if model is None else project.pricing.get(model)
    tokens = _tokens(project, plan.profile)
    per_call = None if price is None or tokens is None else (tokens[0] * price.input + tokens[1] * price.output) / 1e6
    total = _Count(*(sum(getattr(count, field.name) for count in counts.values()) for field in fields(_Count)))
    return {
        "profile": plan.profile,
        "llm_enabled": True,
        "judge_model": model,
        "transcript_count": len(transcripts),
        "eligible_checks": total.eligible,
        "planned_llm_calls": total.planned,
        "estimated_cost_usd": _cost(total.planned, per_call, price is not None),
        "pricing_known": price is not None and (tokens is not None or total.upper == 0),
        "llm_calls": {"lower": total.lower, "upper": total.upper},
        "cost_usd": {
            "lower": _cost(total.lower, per_call, price is not None),
            "upper": _cost(total.upper, per_call, price is not None),
        },
        "left_out": [part.id for part in plan.left_out],
        "overridden": _overridden(project, plan, {transcript.scenario_id for transcript in transcripts}),
        "by_mode": {
            check.id: _row(project, check, counts[check.id]) for check in plan.checks if counts[check.id].eligible
        },
        "llm_calls_by_mode": {
            check.id: {"lower": counts[check.id].lower, "upper": counts[check.id].upper}
            for check in plan.checks
            if counts[check.id].upper
        },
        "windows": {"asked": total.windows, "unbounded": total.unbounded},
        "unbounded_windows_by_mode": {
            check.id: counts[check.id].unbounded for check in plan.checks if counts[check.id].unbounded
        },
        "llm_calls_by_phase": {
            check.id: {"confirm": counts[check.id].confirming, "sweep": counts[check.id].sweeping}
            for check in plan.checks
            if isinstance(check.verifier, PhasedVerifier) and counts[check.id].eligible
        },
    }


def _overridden(project: Project, plan: Plan, played: set[str]) -> dict[str, dict[str, list[str]]]:
    """For every scenario in which `eligible_modes` overrides tags, the plan's checks that it omits and those that it
    adds."""
    ids = {check.id for check in plan.checks}
    checks = [check for check in project.checks if check.id in ids]
    overridden_scenarios = {}
    for name in sorted(played & project.scenarios.keys()):
        left_out, added = overridden(project.scenarios[name], checks, project.semantics)
        if left_out or added:
            overridden_scenarios[name] = {
                "left_out": [each.id for each in left_out],
                "added": [each.id for each in added],
            }
    return overridden_scenarios


def cost_report(planned: Mapping[str, object]) -> dict[str, object]:
    """Return the cost-related figures of a scan plan."""
    return {key: planned[key] for key in (*REPORTED, *BOUNDS)}


def _counts(plan: Plan, transcripts: Iterable[Transcript]) -> dict[str, _Count]:
    counts = {check.id: _Count() for check in plan.checks}
    decider, engine = Decider(plan.checks), Engine(plan)

    @cache
    def applying(scenario_id: str) -> list[Check]:
        answers = zip(plan.checks, decider.decide(bindings_of(plan, scenario_id)), strict=True)
        return [check for check, answer in answers if answer.eligible and not answer.suppressed]

    for transcript in transcripts:
        if not transcript.scenario_id or transcript.scenario_id in plan.scenarios:
            inapplicable = set(engine.inapplicable_checks(transcript))
            for check in applying(transcript.scenario_id):
                if check.id not in inapplicable:
                    _add(counts[check.id], check, plan, transcript)
    return counts


def _add(count: _Count, check: Check, plan: Plan, transcript: Transcript) -> None:
    if isinstance(check.verifier, RubricVerifier):
        window = window_of(check.verifier, transcript.turns)
        if window is None:  # the conversation took another branch
            return
        if not window:
            count.eligible += 1
            return
    count.eligible += 1
    if isinstance(check.verifier, PhasedVerifier):
        _add_phases(count, check, check.verifier, plan, transcript)
        return
    judging = _judging(check)
    if judging is None:
        return
    windows = _windows(judging.window, check, plan, transcript)
    if isinstance(check.verifier, LexiconVerifier):
        confirmed = _confirmed(check.verifier, plan, transcript, windows)
        count.upper += judging.repetitions * confirmed * len(judging.budgets)
        return
    if _leaves_nothing_to_judge(judging, windows, plan, transcript):
        return
    _count_windows(count, windows)
    votes = judging.repetitions * len(windows)
    count.upper += votes * len(judging.budgets)
    count.planned += votes
    count.lower += _fewest(judging) * len(windows)


def _add_phases(count: _Count, check: Check, verifier: PhasedVerifier, plan: Plan, transcript: Transcript) -> None:
    """Count the confirmation of every candidate, and the sweep, which a confirmed candidate makes unnecessary."""
    confirm, sweep = verifier.confirm, verifier.sweep
    candidates = len(_hits(verifier.candidates, plan, transcript))
    windows = _windows(sweep.window, check, plan, transcript)
    _count_windows(count, windows)
    confirming = confirm.repetitions * candidates
    sweeping = sweep.repetitions * len(windows)
    least = _fewest(sweep) * len(windows)
    count.confirming += confirming
    count.sweeping += sweeping
    count.planned += confirming + sweeping
    count.lower += _fewest(confirm) * candidates if candidates else least
    count.upper += confirming * len(confirm.budgets) + sweeping * len(sweep.budgets)


def _fewest(judging: Judging) -> int:
    """The least number of votes that may decide a question."""
    if judging.adaptive_stop:
        return min(1, judging.repetitions)
    return fewest(judging.repetitions) if judging.vote.stop == "decided" else judging.repetitions


def _windows(window: Window, check: Check, plan: Plan, transcript: Transcript) -> tuple[WindowTurns, ...]:
    scenario = plan.scenarios.get(transcript.scenario_id, NO_SCENARIO)
    return select(window, transcript.turns, check.id, scenario, lambda name: _hits(name, plan, transcript))


def _leaves_nothing_to_judge(
    judging: Judging, windows: Iterable[WindowTurns], plan: Plan, transcript: Transcript
) -> bool:
    """Whether the assistant says nothing in the windows, and does nothing that the judge would see."""
    if plan.empty_reply == "reply":
        return False
    turns = [transcript.turns[index] for window in windows for index in window.indices]
    says = any(turn.role == "assistant" and says_something(turn.content) for turn in turns)
    has_calls = "tools" in judging.shows and any(each.tool_calls for each in transcript.conversation.messages)
    return not says and not has_calls


def _hits(name: str, plan: Plan, transcript: Transcript) -> list[int]:
    """The indices of the turns in which a lexicon hits."""
    lexicon = plan.lexicons[name]
    return [
        index
        for index, turn in enumerate(transcript.turns)
        if lexicon.role in ("both", turn.role) and first(name, lexicon, turn.content) is not None
    ]


def _count_windows(count: _Count, windows: Iterable[WindowTurns]) -> None:
    for window in windows:
        count.windows += 1
        count.unbounded += "unbounded" in window.about


def _confirmed(verifier: LexiconVerifier, plan: Plan, transcript: Transcript, windows: Collection[WindowTurns]) -> int:
    """The number of windows about which an edge may be asked: those with a hit, and each hit outside of them."""
    if verifier.lexicon not in plan.lexicons:
        return len(windows)
    hits = _hits(verifier.lexicon, plan, transcript)
    inside = [window for window in windows if not {*hits}.isdisjoint(window.indices)]
    covered = {index for window in inside for index in window.indices}
    return len(inside) + (len({*hits} - covered) if isinstance(verifier.window, WholeWindow) else 0)


def _judging(check: Check) -> Judging | None:
    return next(reversed(tuple(check.verifier.judgings())), None)


def _row(project: Project, check: Check, count: _Count) -> JsonObject:
    judging = _judging(check)
    document = project.check(check.id)
    own = document.repetitions if document is not None else None
    return {
        "eligible": count.eligible,
        "planned_llm_calls": count.planned,
        "route": check.route,
        "bucket": check.primary_bucket,
        "severity": check.severity,
        "repetitions": (1 if own is None else own)
        if judging is None or check.verifier.asks_on_hit
        else judging.repetitions,
    }


def _tokens(project: Project, profile: str) -> tuple[int, int] | None:
    """The profile's estimate of input and output tokens per call."""
    estimate = project.profiles.get(profile)
    if estimate is None or estimate.input_tokens is None or estimate.output_tokens is None:
        return None
    return estimate.input_tokens, estimate.output_tokens


def _cost(calls: int, per_call: float | None, priced: bool) -> float | None:
    """The cost in US dollars, None where it is unknown; zero calls cost 0 where the judge's price is known."""
    if per_call is None:
        return 0.0 if priced and calls == 0 else None
    return calls * per_call
