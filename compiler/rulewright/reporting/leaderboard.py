"""The leaderboard: models ranked over the same scenarios under the same plan, and the reasons that exclude others. The
rules are the benchmark's (seed 004, system harnesses): only transcripts recorded by a raw harness compete, and only
results of one plan and one judge are compared. A model without a transcript for some scenario is listed but not ranked,
because its mean would cover other scenarios. A transcript without a score, or an incomplete one, counts as 0 in the
rank and is listed as unscored: a missing answer never raises a model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Final

from rulewright.errors import UsageError
from rulewright.reporting.contrasts import cluster_of
from rulewright.reporting.run_reader import engine_of, rows, score_of
from rulewright.reporting.stored_run import FinishedRun, open_run
from rulewright_runtime.aggregate.inference import UNIT, clustered_mean, holm, two_sided, wilson
from rulewright_runtime.aggregate.outcome import GATE_STATES, OUTCOMES
from rulewright_runtime.english import plural, some, ticked
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.report.summary import is_unproven, judge_line
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import UNKNOWN_MODEL

VERSION: Final = 3
ALPHA: Final = 0.05
DIGITS: Final = 12  # decimals of a mean of scores; a double has no more
RAW: Final = "llm/raw"
UNRECORDED: Final = "unrecorded"
# What runs must share to be compared, as their summaries and we say it.
_SAME: Final = {"plan": "plans", "parameters": "parameters", "gates_only": "values of `--gates-only`"}


def leaderboard(folders: Sequence[Path], harnesses: Sequence[str] = (RAW,)) -> JsonObject:
    """The leaderboard of the finished runs in `folders`. Raises UsageError when a folder contains no finished run or
    the runs can't be compared, PlanError for a plan that was changed."""
    if not folders:
        raise UsageError("a leaderboard needs at least one run")
    runs, problems = list[FinishedRun](), list[str]()
    for folder in sorted(set(folders)):
        try:
            runs.append(open_run(folder))
        except UsageError as refused:
            problems += refused.messages
    if problems:
        raise UsageError(*problems)
    return leaderboard_of(runs, harnesses)


def leaderboard_of(runs: Sequence[FinishedRun], harnesses: Sequence[str]) -> JsonObject:
    """The leaderboard of some runs as JSON data, the same for the same runs in any order.

    `models` are ranked by the lower of their `bounds`: the mean over scenarios of the overall scores, where every
    missing answer (`unresolved` counts the transcripts) says the worst; without any it is their `score`. Equal ones
    share a `rank`; `ranks` are the first and the last rank that paired tests leave possible. The 95% interval is
    robust to scenarios of one contrast set. Where no chat has a scenario, both are about chats, paired by their ids.
    `excluded` names models whose transcripts another harness recorded than `harnesses` (`unrecorded` accepts those
    that do not say), `incomplete` those that lack scenarios which others played; in both lists of scenarios null
    stands for chats without one. `unplayed` are scenarios of the plan that none of them played, `unapplied` are checks
    that applied in some runs, with the runs in which they did not, and `refused` counts the inputs that the scans
    refused: what they held is in no score. Where chats have to be paired by their ids and these differ, `unpaired` has
    one of each model. `hindrances` say why the board is not to be published. Raises UsageError
    when the runs can't be compared.
    """
    summaries = {run.folder: run.summary for run in runs}
    _comparable(summaries)
    plan = runs[0].plan
    entries: dict[str, _Entry] = {}
    for folder in summaries:
        _take_in(folder, summaries[folder], entries)
    excluded = [left for name in sorted(entries) if (left := _excluded(name, entries[name], harnesses))]
    playing = _without(entries, excluded)
    scenarios = sorted({scenario for entry in playing.values() for scenario in entry.scores})
    incomplete = [
        {"model": name, "missing": [each or None for each in missing]}
        for name, entry in sorted(playing.items())
        if (missing := [scenario for scenario in scenarios if scenario not in entry.scores])
    ]
    clusters = {name: cluster_of(plan, name) for name in scenarios}
    categories = {name: plan.scenarios[name].category for name in scenarios if name in plan.scenarios}
    board = {
        "version": VERSION,
        **_about(plan, summaries),
        "harnesses": sorted(set(harnesses)),
        "scenarios": [name or None for name in scenarios],
        "unplayed": sorted(plan.scenarios.keys() - scenarios),
        "unapplied": _unapplied(summaries),
        "refused": sum(summary["refused"]["count"] for summary in summaries.values()),
        "models": _ranked(_without(playing, incomplete), clusters, categories),
        "unpaired": _unpaired(playing) if scenarios == [""] else {},
        "incomplete": incomplete,
        "excluded": excluded,
    }
    return {**board, "hindrances": hindrances(board)}


def _unapplied(summaries: Mapping[Path, JsonMapping]) -> dict[str, list[str]]:
    """The checks that applied to transcripts of some runs, with the runs of whose transcripts they applied to none."""
    found: dict[str, list[str]] = {}
    for folder, summary in summaries.items():
        for name, counts in summary["checks"].items():
            if not counts["eligible"]:
                found.setdefault(name, []).append(str(folder))
    return {name: folders for name, folders in sorted(found.items()) if len(folders) < len(summaries)}


def _unpaired(entries: Mapping[str, _Entry]) -> dict[str, str]:
    """For each model the first chat whose id the chats of another model lack."""
    common = set.intersection(*(set(entry.chats) for entry in entries.values()))
    own = {name: [each for each in entry.chats if each not in common] for name, entry in entries.items()}
    return {name: ids[0] for name, ids in sorted(own.items()) if ids}


def unpaired_line(unpaired: Mapping[str, str]) -> str:
    """Return why no test compares some of the models, and the cure; empty if all chats are paired."""
    ids = ticked([*dict.fromkeys(unpaired.values())][:3])
    cure = (
        "give the same question the same id, and files the same name where ids begin with it, in a run for each model"
    )
    return f"no test compares models whose chats have different ids ({ids}); {cure}" if unpaired else ""


def _without(entries: Mapping[str, _Entry], left_out: Sequence[JsonMapping]) -> dict[str, _Entry]:
    names = {each["model"] for each in left_out}
    return {name: entry for name, entry in entries.items() if name not in names}


def hindrances(board: JsonMapping) -> list[str]:
    """Return the reasons why the leaderboard must not be published; none if it may."""
    reasons = [] if board["models"] else ["no model is ranked"]
    reasons += [f"{part['model']} lacks scenarios" for part in board["incomplete"]]
    reasons += [f"{part['model']} is left out for its harness" for part in board["excluded"]]
    if board["refused"]:
        reasons.append(f"{plural(board['refused'], 'input')} refused by the scans")
    chats = {model["model"]: model["without_scenario"] for model in board["models"]}
    if len(set(chats.values())) > 1:
        numbers = some([f"{name} {count}" for name, count in sorted(chats.items())])
        reasons.append(f"models have different numbers of chats without a scenario: {numbers}")
    for model in board["models"]:
        if model["unscored"] == model["transcripts"]:
            reasons.append(f"no transcript of {model['model']} has a score")
        for key, words in _UNSETTLED.items():
            if model[key]:
                reasons.append(f"{plural(model[key], 'transcript')} of {model['model']} {words}")
    return reasons


_UNSETTLED: Final = {
    "unproven": "without a confirmed failure",
    "unresolved": "with missing answers",
    "awaiting": "awaiting a person",
}


@dataclass(slots=True)
class _Entry:
    """The results of one model in the runs."""

    transcripts: int = 0
    failed: int = 0
    unproven: int = 0
    awaiting: int = 0
    unresolved: int = 0
    scores: dict[str, list[float | None]] = field(default_factory=dict)  # by scenario
    ends: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # how far those may still go
    chats: dict[str, tuple[float, float]] = field(default_factory=dict)  # the same of chats without a scenario
    gates: dict[str, dict[str, int]] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    harnesses: dict[str, int] = field(default_factory=dict)
    blindspots: dict[str, list[bool]] = field(default_factory=dict)  # what is known of each label
    places: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # of each dimension, by scenario
    failures: dict[str, list[bool]] = field(default_factory=dict)  # by scenario, whether it failed


def _comparable(summaries: Mapping[Path, JsonMapping]) -> None:
    """Raise UsageError unless all runs executed one plan with the same parameters and the same judge."""
    first, *others = summaries
    for folder, summary in summaries.items():
        if summary.get("judge_calls") and not summary.get("judge"):
            raise UsageError(f"`{folder}` does not say who judged; scan it again")
    for other in others:
        for key, shown in _SAME.items():
            if summaries[first].get(key) != summaries[other].get(key):
                ours, theirs = (_word(summaries[folder].get(key)) for folder in (first, other))
                raise UsageError(
                    f"`{first}` and `{other}` can't be compared: their {shown} differ (`{ours}`, `{theirs}`); "
                    "scan both with the same plan"
                )
        judges = [summaries[folder].get("judge") for folder in (first, other)]
        if _who(judges[0]) != _who(judges[1]):
            names = " and ".join(judge_line(judge) or "nobody" for judge in judges)
            raise UsageError(f"`{first}` and `{other}` can't be compared: they were judged by {names}; use one judge")


def _who(judge: JsonMapping | None) -> JsonObject:
    """Return the identity of a judge: everything but the name of its file."""
    return {key: value for key, value in (judge or {}).items() if key != "name" or not (judge or {}).get("digest")}


def _word(value: object) -> str:
    return value[:12] if isinstance(value, str) else str(value or "none")


def _about(plan: Plan, summaries: Mapping[Path, JsonMapping]) -> JsonObject:
    about = {"plan": plan.hash, "profile": plan.profile, "semantics": plan.semantics}
    about["scorecard"] = plan.scorecard.name if plan.scorecard is not None else ""
    if about["scorecard"] == "":
        raise UsageError("the runs have no scorecard to rank by; name one with `--scorecard`")
    summary = next(iter(summaries.values()))
    parameters = {"parameters": summary["parameters"]} if summary.get("parameters") else {}
    return {**about, **parameters, "judge": summary.get("judge")}


def _take_in(folder: Path, summary: JsonMapping, entries: dict[str, _Entry]) -> None:
    before, headline = set(entries), str(summary.get("headline") or HEADLINE)
    for row in rows(folder / "scores.jsonl"):
        name = str(row.get("model"))
        if name in before and name == UNKNOWN_MODEL:
            raise UsageError(
                f"`{row['transcript_id']}` of `{folder}` names no model, as do chats of a run named before it; write "
                "its `model` in its record"
            )
        if name in before:
            raise UsageError(
                f"the model `{name}` is in `{folder}` and in a run named before it; scan all its chats into one run, "
                "several samples of them under the ids that `rulewright convert --id-suffix` gives"
            )
        entry = entries.setdefault(name, _Entry())
        entry.transcripts += 1
        engine = engine_of(row, folder)
        entry.failed += engine["outcome"] == "failed"
        entry.unproven += is_unproven(engine)
        entry.awaiting += engine["outcome"] == "undecided" or row.get("status") == "needs_adjudication"
        score = None if row.get("missing") else score_of(row, folder, headline)
        scenario = str(row.get("scenario_id"))
        entry.scores.setdefault(scenario, []).append(score)
        entry.ends.setdefault(scenario, []).append(_ends(engine["bounds"], score))
        if not scenario:
            entry.chats[str(row["transcript_id"])] = entry.ends[scenario][-1]
        entry.unresolved += engine["bounds"] is not None
        entry.outcomes[engine["outcome"]] += 1
        for dimension, value in (row.get("dimension_scores") or {}).items():
            places = entry.places.setdefault(dimension, {})
            if value is not None:
                places.setdefault(scenario, []).append(value)
        for label, flag in (row.get("blindspot_profile") or {}).items():
            entry.blindspots.setdefault(label, []).extend([] if flag is None else [flag])
        entry.failures.setdefault(scenario, []).append(engine["outcome"] == "failed")
        for gate, found in engine["gates"].items():
            counts = entry.gates.setdefault(gate, dict.fromkeys(GATE_STATES, 0))
            counts[found["state"]] += 1
    for name in entries.keys() - before:
        entries[name].harnesses = dict((summary["models"].get(name) or {}).get("harness") or {})


def _excluded(name: str, entry: _Entry, harnesses: Sequence[str]) -> JsonObject | None:
    silent = entry.transcripts - sum(entry.harnesses.values())
    recorded = entry.harnesses | ({UNRECORDED: silent} if silent else {})
    others = {harness: count for harness, count in sorted(recorded.items()) if harness not in harnesses}
    return {"model": name, "transcripts": entry.transcripts, "harness": others} if others else None


def _ends(bounds: JsonMapping | None, score: float | None) -> tuple[float, float]:
    """Return the bounds of a row's score; without a score they are 0."""
    if bounds is None:
        return (score or 0.0, score or 0.0)
    ends = bounds["overall_score"]
    return (0.0 if ends["absent"] else ends["low"] or 0.0, ends["high"] or 0.0)


def _ranked(
    entries: Mapping[str, _Entry], clusters: Mapping[str, str], categories: Mapping[str, str]
) -> list[JsonObject]:
    found = [_figures(name, entry, clusters, categories) for name, entry in entries.items()]
    found.sort(key=lambda model: (_place(model), model["model"]))
    places = [_place(model) for model in found]
    sets = _rank_sets(entries, clusters)
    return [
        {"rank": places.index(place) + 1, "ranks": sets[model["model"]], **model}
        for place, model in zip(places, found, strict=True)
    ]


def _place(model: JsonMapping) -> tuple[float, float]:
    """The sort key of a model; means that differ only by the rounding of their sums are equal."""
    return (round(-model["bounds"]["low"], DIGITS), round(-model["score"], DIGITS))


def _rank_sets(entries: Mapping[str, _Entry], clusters: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the first and the last possible rank of each model: after the significantly better ones and before the
    significantly worse ones, by paired tests at 95% over all pairs (Holm)."""
    pairs = list(combinations(entries, 2))
    tested = [_tested(entries[one], entries[other], clusters) for one, other in pairs]
    corrected = holm([p for p, _ in tested])
    better = {
        (one, other) if above else (other, one)
        for (one, other), (_, above), p in zip(pairs, tested, corrected, strict=True)
        if p < ALPHA
    }
    return {
        name: [
            1 + sum((other, name) in better for other in entries),
            len(entries) - sum((name, other) in better for other in entries),
        ]
        for name in entries
    }


def _tested(one: _Entry, other: _Entry, clusters: Mapping[str, str]) -> tuple[float, bool]:
    """Return the p-value of the difference between the lower bound of the better model and the upper bound of the
    other, and whether the first model is the better one; 1 if their bounds overlap, or if they have other chats."""
    for left, right, above in ((one, other, True), (other, one, False)):
        worst, best = _scores(left, 0), _scores(right, 1)
        if worst.keys() != best.keys():
            return 1.0, True
        found = clustered_mean((clusters.get(name, name), worst[name] - best[name]) for name in worst)
        if found.mean is not None and found.mean > 0:
            return two_sided(found), above
    return 1.0, True


def _scenario_means(entry: _Entry, end: int) -> dict[str, float]:
    return {name: math.fsum(ends[end] for ends in rows) / len(rows) for name, rows in entry.ends.items()}


def _scores(entry: _Entry, end: int) -> dict[str, float]:
    """The scores that vary by chance, at one end of their bounds: of scenarios or, where no chat has one, of chats."""
    if entry.ends.keys() != {""}:
        return _scenario_means(entry, end)
    return {name: ends[end] for name, ends in entry.chats.items()}


def _interval(entry: _Entry, clusters: Mapping[str, str]) -> dict[str, object]:
    """Return the 95% interval of the mean score, from the worst to the best case of the missing answers."""
    low, high = (
        clustered_mean(((clusters.get(name, name), mean) for name, mean in _scores(entry, end).items()), span=UNIT)
        for end in (0, 1)
    )
    return {"low": low.low, "high": high.high, "method": "cluster-robust"}


def _dimensions(entry: _Entry, clusters: Mapping[str, str]) -> JsonObject:
    """The mean of each dimension over scenarios, with its 95% interval, robust to clusters."""
    found = {}
    for name, places in entry.places.items():
        means = {key: math.fsum(values) / len(values) for key, values in places.items()}
        mean = clustered_mean(((clusters[key], value) for key, value in means.items()), span=UNIT)
        counted = sum(map(len, places.values()))
        found[name] = {"mean": mean.mean, "counted": counted, "low": mean.low, "high": mean.high}
    return found


def _blindspots(entry: _Entry) -> dict[str, object]:
    """Return for each label the share of transcripts that show it among those with a value, with Wilson's interval."""
    return {
        label: {"raised": sum(flags), **_rate(sum(flags), len(flags))}
        for label, flags in sorted(entry.blindspots.items())
    }


def _categories(entry: _Entry, of: Mapping[str, str], clusters: Mapping[str, str]) -> JsonObject:
    """For each category of scenarios the mean score with its interval, and how many transcripts failed."""
    found = {}
    for category in sorted(set(of.values())):
        scenarios = [name for name in entry.scores if of.get(name, "") == category]
        if not scenarios:
            continue
        means = [math.fsum(each or 0.0 for each in entry.scores[name]) / len(entry.scores[name]) for name in scenarios]
        mean = clustered_mean(zip(map(clusters.__getitem__, scenarios), means, strict=True), span=UNIT)
        failures = [failed for name in scenarios for failed in entry.failures[name]]
        found[category] = {
            "score": mean.mean,
            "low": mean.low,
            "high": mean.high,
            "scenarios": len(scenarios),
            "failed": {"count": sum(failures), **_rate(sum(failures), len(failures))},
        }
    return found


def _rate(count: int, of: int) -> JsonObject:
    return {"of": of, "rate": count / of if of else None, **wilson(count, of)}


def _failed_interval(entry: _Entry) -> JsonObject:
    """As `failed_interval` of a run, for one model."""
    most = entry.failed + entry.outcomes["undecided"]
    return wilson(entry.failed - entry.unproven, entry.transcripts, most=most)


def _figures(name: str, entry: _Entry, clusters: Mapping[str, str], categories: Mapping[str, str]) -> JsonObject:
    means = [math.fsum(score or 0.0 for score in scores) / len(scores) for scores in entry.scores.values()]
    lows, highs = (list(_scenario_means(entry, end).values()) for end in (0, 1))
    unscored = sum(score is None for scores in entry.scores.values() for score in scores)
    return {
        "model": name,
        "score": math.fsum(means) / len(means),
        "bounds": {"low": math.fsum(lows) / len(lows), "high": math.fsum(highs) / len(highs)},
        "interval": _interval(entry, clusters),
        "unresolved": entry.unresolved,
        "scenarios": len(means),
        "without_scenario": len(entry.scores.get("", ())),
        "transcripts": entry.transcripts,
        "unscored": unscored,
        "failed": entry.failed,
        "unproven": entry.unproven,
        "awaiting": entry.awaiting,
        "failed_rate": {"rate": entry.failed / entry.transcripts, **_failed_interval(entry)},
        "outcomes": entry.outcomes,
        "gates": entry.gates,
        "dimensions": _dimensions(entry, clusters),
        "categories": _categories(entry, categories, clusters),
        "blindspots": _blindspots(entry),
    }
