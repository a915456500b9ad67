"""Compares two profiles of a project: the checks that each omits, and the savings."""

from collections.abc import Sequence

from rulewright.check.project_check import compile_project
from rulewright.planning.scan import scan_plan
from rulewright.project import Project
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.english import plural
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Transcript


def compare_profiles(
    project: Project,
    first: str,
    second: str,
    transcripts: Sequence[Transcript],
    *,
    scorecard: str | None,
    judge_model: str | None = None,
) -> dict[str, object]:
    """Return the differences between two profiles on the same transcripts as JSON data.

    `only_in` holds the applicable checks that only one profile runs; `fewer_calls` and `more_calls` those whose planned
    judge calls differ; `open_gates` the gates that a profile leaves undecided, with the missing checks; `saved` is the
    first profile's figure less the second's, null where a cost is unknown.
    """
    plans = {name: compile_project(project, profile=name, scorecard=scorecard) for name in (first, second)}
    planned = {name: scan_plan(project, plan, transcripts, judge_model=judge_model) for name, plan in plans.items()}
    before, after = planned[first]["by_mode"], planned[second]["by_mode"]
    calls = {
        check: (before[check]["planned_llm_calls"], after[check]["planned_llm_calls"])
        for check in before.keys() & after.keys()
    }
    return {
        "first": first,
        "second": second,
        "transcript_count": len(transcripts),
        "only_in": {
            first: _rows(before, before.keys() - after.keys()),
            second: _rows(after, after.keys() - before.keys()),
        },
        "fewer_calls": {check: list(calls[check]) for check in sorted(calls) if calls[check][0] > calls[check][1]},
        "more_calls": {check: list(calls[check]) for check in sorted(calls) if calls[check][0] < calls[check][1]},
        "open_gates": {name: _open_gates(plan) for name, plan in plans.items()},
        "planned_llm_calls": {name: planned[name]["planned_llm_calls"] for name in plans},
        "llm_calls": {name: planned[name]["llm_calls"] for name in plans},
        "estimated_cost_usd": {name: planned[name]["estimated_cost_usd"] for name in plans},
        "saved": {
            "llm_calls": planned[first]["planned_llm_calls"] - planned[second]["planned_llm_calls"],
            "cost_usd": _difference(planned[first]["estimated_cost_usd"], planned[second]["estimated_cost_usd"]),
        },
    }


def _rows(by_mode: JsonObject, checks: set[str]) -> JsonObject:
    keys = ("bucket", "severity", "route", "planned_llm_calls")
    return {check: {key: by_mode[check][key] for key in keys} for check in sorted(checks)}


def _open_gates(plan: Plan) -> dict[str, list[str]]:
    """The gates that wait for checks which the profile omits, with those checks."""
    if plan.scorecard is None:
        return {}
    card = Scorecard(plan.scorecard)
    waiting: dict[str, list[str]] = {}
    for part in plan.left_out:
        for gate in card.waiting_for(part.id):
            waiting.setdefault(plan.scorecard.gates[gate].name, []).append(part.id)
    return {gate: sorted(checks) for gate, checks in sorted(waiting.items())}


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def comparison_text(comparison: JsonObject) -> str:
    first, second = comparison["first"], comparison["second"]
    lines = [f"{'':<14} {first:>12} {second:>12}"]
    calls, cost = comparison["planned_llm_calls"], comparison["estimated_cost_usd"]
    lines.append(f"{'judge calls':<14} {calls[first]:>12} {calls[second]:>12}")
    lines.append(f"{'cost in USD':<14} {_money(cost[first]):>12} {_money(cost[second]):>12}")
    for name in (first, second):
        for check, row in comparison["only_in"][name].items():
            about = f"{row['bucket']} {row['severity']} {row['route']}, {plural(row['planned_llm_calls'], 'call')}"
            lines.append(f"only in {name}: {check} ({about})")
        for gate, checks in comparison["open_gates"][name].items():
            lines.append(f"{name} leaves the gate `{gate}` undecided where these apply: {', '.join(checks)}")
    for key in ("fewer_calls", "more_calls"):
        for check, (before, after) in comparison[key].items():
            lines.append(f"{check}: {plural(before, 'call')} in {first}, {after} in {second}")
    saved = comparison["saved"]
    lines.append(_saving(first, second, saved["llm_calls"], saved["cost_usd"]))
    return "\n".join(lines)


def _saving(first: str, second: str, calls: int, usd: float | None) -> str:
    """Name the profile with fewer calls and its saving, which is never negative."""
    if calls < 0 or (calls == 0 and (usd or 0) < 0):
        first, second, calls, usd = second, first, -calls, None if usd is None else -usd
    if usd is not None and usd < 0:
        return f"{second} saves {plural(calls, 'call')} against {first} and costs {_money(-usd)} USD more"
    return f"{second} saves {plural(calls, 'call')} and {_money(usd)} USD against {first}"


def _money(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"
