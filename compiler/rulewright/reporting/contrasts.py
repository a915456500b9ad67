"""Contrast sets: scenarios that differ in one thing, and the checks that answer them differently.

Siblings are compared: a check that fails the anchor and passes the sibling detected the difference; one with the same
verdict on both did not, or they did not differ. Only the author of the set knows which of them is right.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scan import Plan, Scenario

Tally = Counter[str]  # the verdicts of a check where it applied
Tallies = Mapping[tuple[str, str], Mapping[str, Tally]]  # (model, scenario) -> check -> tally


def fail_rate(tally: Tally) -> float | None:
    """Return the share of FAIL among PASS and FAIL, in [0, 1]; None without either."""
    decided = tally["PASS"] + tally["FAIL"]
    return tally["FAIL"] / decided if decided else None


def as_json(tally: Tally) -> dict[str, Any]:
    """Return `{PASS, FAIL, UNCLEAR, NOT_APPLICABLE, fail_rate}`."""
    return {**{verdict: tally[verdict] for verdict in VERDICTS}, "fail_rate": fail_rate(tally)}


def contrasts(scenarios: Mapping[str, Scenario], models: list[str], tallies: Tallies) -> list[dict[str, object]]:
    """One entry for every contrast set and model that played at least one of its scenarios, in order of name.

    Each holds the `siblings` (with `played`: a sibling without a transcript is listed, never dropped), the `checks`
    that applied to two or more of them with their tallies, whether they `differ` and whether `all_pass`, and
    `not_compared`, the checks that applied to one sibling alone.
    """
    groups: dict[str, list[str]] = {}
    for name, scenario in scenarios.items():
        if scenario.contrast_group:
            groups.setdefault(scenario.contrast_group, []).append(name)
    return [
        _contrast(group, model, sorted(names, key=lambda name: _order(scenarios[name], name)), scenarios, tallies)
        for group, names in sorted(groups.items())
        for model in models
        if any((model, name) in tallies for name in names)
    ]


def _order(scenario: Scenario, name: str) -> tuple[bool, str, str]:
    """The anchor first, then by the varied property."""
    return (scenario.contrast_variable != "anchor", scenario.contrast_variable, name)


def _contrast(
    group: str, model: str, names: list[str], scenarios: Mapping[str, Scenario], tallies: Tallies
) -> dict[str, Any]:
    found = {name: tallies.get((model, name), {}) for name in names}
    siblings = [
        {"scenario_id": name, "variable": scenarios[name].contrast_variable, "played": (model, name) in tallies}
        for name in names
    ]
    compared, alone = [], []
    for check in sorted({check for tally in found.values() for check in tally}):
        applied = {name: tally[check] for name, tally in found.items() if check in tally}
        if len(applied) < 2:
            alone.append(check)
            continue
        rates = {fail_rate(tally) for tally in applied.values()} - {None}
        results = {name: as_json(tally) for name, tally in applied.items()}
        all_pass = all(tally["PASS"] == tally.total() for tally in applied.values())
        compared.append({"check_id": check, "siblings": results, "differ": len(rates) > 1, "all_pass": all_pass})
    return {
        "group": group,
        "model": model,
        "siblings": siblings,
        "checks": compared,
        "differing": sum(entry["differ"] for entry in compared),
        "not_compared": alone,
    }


def cluster_of(plan: Plan, scenario_id: str, transcript_id: str = "") -> str:
    """Return the cluster of a transcript: the contrast set of its scenario, else the scenario, else nothing."""
    known = plan.scenarios.get(scenario_id)
    if known is not None and known.contrast_group:
        return f"contrast set {known.contrast_group}"
    return f"scenario {scenario_id}" if scenario_id else f"transcript {transcript_id}"
