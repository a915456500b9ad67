"""Compares two finished runs: differences, worst first, with evidence and causes, and whether the second is worse."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import asdict

from rulewright.comparing.recombine import (
    GATES_ONLY,
    NOT_RUN,
    REPLY,
    RULE,
    TRANSCRIPT,
    Pairs,
    Recombiner,
    Side,
    other_judge,
    other_replies,
    pairing,
    pairs,
    rank_of,
)
from rulewright.reporting.adjudication import CODE
from rulewright.reporting.contrasts import cluster_of
from rulewright.reporting.run_reader import headline_of
from rulewright.reporting.stored_run import StoredRun, read_run
from rulewright_runtime.aggregate.bounds import is_unknown
from rulewright_runtime.aggregate.inference import clustered_mean, holm, mcnemar, two_sided
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.english import plural, some
from rulewright_runtime.report.summary import is_unproven, judge_line
from rulewright_runtime.report.text import p_value
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject
from rulewright_runtime.verdicts import VerdictResult

VERSION: Final = 1
MARGIN: Final = 0.05
LEVEL: Final = 0.05  # of significance, after Holm's correction over checks
_SPAN: Final = (-1.0, 1.0)  # of differences of scores
DIGITS: Final = 12  # decimals of a difference of scores; a double has no more
WORSE, NOT_WORSE, INCONCLUSIVE = "worse", "not worse", "inconclusive"
# How good an answer is; a flip from a higher to a lower one is a step down.
_VERDICTS: Final = {"FAIL": 0, "UNCLEAR": 1, NOT_RUN: 1, "NOT_APPLICABLE": 2, "PASS": 2}


def diff(
    before: Path,
    after: Path,
    *,
    by: str | None = None,
    transcripts: Sequence[str] = (),
    replies: Sequence[Path] = (),
    margin: float = MARGIN,
    across_judges: bool = False,
) -> JsonObject:
    """Return the differences between two finished runs as JSON data.

    `outcomes` and `flips` are sorted, worst first; each has its `causes` (`sets` of changes, each of which alone gives
    the second result, and whether they could be `told_apart`), a flip also its evidence. `score` is the paired
    difference, robust to clusters of similar scenarios; `failed` and `checks` hold exact tests, the latter with Holm's
    correction. `verdict` is `worse`, `not worse` or `inconclusive`, with its `reasons`. A mean score that is lower by
    less than `margin` is not worse. Runs of different judges are inconclusive at best unless they are compared
    `across_judges`.

    `transcripts` are files and folders with conversations that were moved since the runs, `replies` the files that the
    runs replayed: with them, more causes can be separated. Transcripts are paired `by` their ids (`transcript`) or by
    `scenario`; the default is the ids, unless no id is in both runs.

    Raises UsageError and PlanError if a folder has no finished run, or if the runs have nothing in common.
    """
    runs = read_run(before), read_run(after)
    by = by or pairing(*runs)
    paired = pairs(*runs, by)
    recombiner = Recombiner(*(Side.of(run, replies, transcripts) for run in runs))
    severities = (*reversed(runs[1].plan.severities), *runs[0].plan.severities, "")
    flips = sorted(_flips(runs, paired, recombiner), key=lambda flip: _worst_verdict(flip, severities))
    outcomes = sorted(_outcomes(runs, paired, recombiner, flips), key=_worst_outcome)
    comparison: JsonObject = {
        "version": VERSION,
        "before": _about(runs[0]),
        "after": _about(runs[1]),
        "paired_by": by,
        "pairs": len(paired.both),
        "only_before": list(paired.only_before),
        "only_after": list(paired.only_after),
        "new_failures": [name for name in paired.only_after if _rank(runs[1].rows[name]) < rank_of("passed")],
        "changed": {
            **_changed(runs),
            "scorecard": recombiner.other_scorecard,
            "parameters": recombiner.other_thresholds,
            "transcripts": [pair[1] for pair in paired.both if recombiner.transcripts_differ(pair)],
        },
        "outcomes": outcomes,
        "flips": flips,
        "score": _score(runs, paired, [_headline(runs[1], runs[1].rows[name]) for _, name in paired.both]),
        "score_at_best": _score(runs, paired, [_best(runs[1], runs[1].rows[name]) for _, name in paired.both]),
        "failed": _failed(runs, paired),
        "checks": _checks(runs, paired),
        "lost": list(_lost(runs, paired)),
        "under_first_policy": _under_first_policy(runs, paired, recombiner),
        "margin": margin,
    }
    verdict, reasons = decide(comparison, across_judges=across_judges)
    return {**comparison, "verdict": verdict, "reasons": reasons}


def _about(run: StoredRun) -> JsonObject:
    scorecard = run.plan.scorecard.name if run.plan.scorecard else None
    return {
        "run": str(run.folder),
        "plan": run.plan.hash,
        "profile": run.plan.profile,
        "scorecard": scorecard,
        "parameters": run.parameters,
        "judge": judge_line(run.summary.get("judge")) or None,
        "transcripts": len(run.rows),
        "refused": run.summary["refused"]["count"],
        "unresolved": run.summary["unresolved"],
    }


def _changed(runs: Sequence[StoredRun]) -> dict[str, object]:
    """The differing inputs of the runs: the judge's properties, its replies, decisions, checks, the profile."""
    checks = [{check.id: check.hash for check in run.plan.checks} for run in runs]
    both = checks[0].keys() & checks[1].keys()
    return {
        "judge": other_judge(*runs),
        "replies": other_replies(*runs),
        "decisions": _decided(runs[0]) != _decided(runs[1]),
        "checks": sorted(name for name in both if checks[0][name] != checks[1][name]),
        "checks_added": sorted(checks[1].keys() - both),
        "checks_removed": sorted(checks[0].keys() - both),
        "profile": runs[0].plan.profile != runs[1].plan.profile,
        "gates_only": bool(runs[0].summary.get("gates_only")) != bool(runs[1].summary.get("gates_only")),
    }


def _decided(run: StoredRun) -> set[tuple[str, str, str]]:
    """The verdicts of people, each after its transcript and check."""
    return {
        (name, check, each.verdict)
        for name, verdicts in run.verdicts.items()
        for check, each in verdicts.items()
        if each.rationale_code == CODE
    }


def _flips(runs: Sequence[StoredRun], paired: Pairs, recombiner: Recombiner) -> Iterator[dict[str, object]]:
    severities = {check.id: check.severity for run in runs for check in run.plan.checks}
    judges_differ = bool(other_judge(*runs))
    for pair in paired.both:
        old, new = (run.verdicts[name] for run, name in zip(runs, pair, strict=True))
        for check in sorted(old.keys() | new.keys()):
            verdicts = old.get(check), new.get(check)
            before, after = (_word(verdict) for verdict in verdicts)
            if before == after:
                continue
            causes = recombiner.causes_of_verdict(pair, check)
            follows = recombiner.follows_the_transcript(pair, check)
            yield {
                "transcript_id": pair[1],
                **({"before_transcript_id": pair[0]} if pair[0] != pair[1] else {}),
                "check_id": check,
                "severity": severities.get(check, ""),
                "before": before,
                "after": after,
                "step": _step(_VERDICTS[after] - _VERDICTS[before]),
                "causes": causes.as_json(),
                "note": _note(causes.sets, verdicts, judges_differ=judges_differ, follows=follows),
                "evidence": [_evidence(verdict) for verdict in verdicts],
            }


def _word(verdict: VerdictResult | None) -> str:
    """The verdict of a check on a transcript as a word; `not run` without a verdict."""
    return NOT_RUN if verdict is None else verdict.verdict


def _step(difference: int) -> str:
    return "down" if difference < 0 else "up" if difference > 0 else "level"


def _evidence(verdict: VerdictResult | None) -> JsonObject | None:
    """The quotes of a verdict and its code; None without a verdict."""
    if verdict is None:
        return None
    spans = msgspec.to_builtins(verdict.evidence)
    return {"code": verdict.rationale_code, "confidence": verdict.confidence, "quotes": spans, "cause": verdict.cause}


def _note(
    sets: Iterable[Sequence[str]], verdicts: Sequence[VerdictResult | None], *, judges_differ: bool, follows: bool
) -> str:
    """The reason why a reply differs, if it is known; else an empty string."""
    if sets == ((RULE,),) and None in verdicts:
        return "the check is in one of the plans only"
    if (GATES_ONLY,) in sets:
        return "one of the runs did not ask the judge"
    if not any(REPLY in each or (follows and TRANSCRIPT in each) for each in sets):
        return ""
    if None in verdicts:
        return "one of the runs did not ask the judge"
    if judges_differ:
        return "another judge answered"
    prompts = {verdict.prompt_hash for verdict in verdicts if verdict is not None}
    if len(prompts) > 1:
        return "the judge was asked another question"
    if follows:
        return "the judge was asked about another conversation"
    if any(TRANSCRIPT in each or RULE in each for each in sets):
        return ""
    return "the judge answered the same question differently"


def _outcomes(
    runs: Sequence[StoredRun], paired: Pairs, recombiner: Recombiner, flips: Iterable[JsonMapping]
) -> Iterator[dict[str, object]]:
    flipped: dict[str, list[str]] = {}
    for flip in flips:
        flipped.setdefault(flip["transcript_id"], []).append(flip["check_id"])
    for pair in paired.both:
        old, new = (run.rows[name] for run, name in zip(runs, pair, strict=True))
        engines = old[ENGINE], new[ENGINE]
        if engines[0]["outcome"] == engines[1]["outcome"]:
            continue
        because = [*engines[1]["because"], *engines[0]["because"]]
        flipped_checks = flipped.get(pair[1], [])
        yield {
            "transcript_id": pair[1],
            "before": engines[0]["outcome"],
            "after": engines[1]["outcome"],
            "step": _step(rank_of(engines[1]["outcome"]) - rank_of(engines[0]["outcome"])),
            "unproven": is_unproven(engines[1]),
            "because": engines[1]["because"],
            "was_because": engines[0]["because"],
            "scores": [_headline(run, row) for run, row in zip(runs, (old, new), strict=True)],
            "causes": recombiner.causes_of_row(pair).as_json(),
            "flips": [check for check in flipped_checks if check in because] or flipped_checks,
        }


def _worst_verdict(flip: JsonMapping, severities: Sequence[str]) -> tuple[object, ...]:
    fall = _VERDICTS[flip["after"]] - _VERDICTS[flip["before"]]
    return (fall, _VERDICTS[flip["after"]], severities.index(flip["severity"]), flip["check_id"], flip["transcript_id"])


def _headline(run: StoredRun, row: JsonMapping) -> Json:
    """The headline score of a row, or None."""
    return row.get(headline_of(run.plan))


def _best(run: StoredRun, row: JsonMapping) -> Json:
    """The highest possible score of a row, given its missing answers."""
    bounds = row[ENGINE].get("bounds")
    return _headline(run, row) if bounds is None else bounds["overall_score"]["high"]


def _worst_outcome(row: JsonMapping) -> tuple[Json, ...]:
    return (rank_of(row["after"]) - rank_of(row["before"]), rank_of(row["after"]), row["transcript_id"])


def _rank(row: JsonMapping) -> int:
    return rank_of(row[ENGINE]["outcome"])


def _score(runs: Sequence[StoredRun], paired: Pairs, scores: Iterable[Json]) -> JsonObject:
    """The mean of the paired differences of the overall score, with the `scores` of the second run in the order of the
    pairs, and the number of pairs with a score in one run only."""
    differences, unscored = [], 0
    for pair, new in zip(paired.both, scores, strict=True):
        old = _headline(runs[0], runs[0].rows[pair[0]])
        if old is None or new is None:
            unscored += old != new
        else:
            scenario = str(runs[1].rows[pair[1]].get("scenario_id") or "")
            differences.append((cluster_of(runs[1].plan, scenario, pair[1]), new - old))
    changed = sum(bool(value) for _, value in differences)
    mean = clustered_mean(differences)
    if changed and two_sided(mean) >= LEVEL:  # chance makes so few differences equal
        mean = clustered_mean(differences, span=_SPAN)
    figures = {
        name: round(value, DIGITS) if isinstance(value, float) else value for name, value in asdict(mean).items()
    }
    return {**figures, "changed": changed, "unscored": unscored}


def _under_first_policy(runs: Sequence[StoredRun], paired: Pairs, recombiner: Recombiner) -> JsonObject | None:
    """The second run's result under the scorecard and the thresholds of the first: the transcripts that would have
    `fallen` although their own outcomes have not, and the `score`. None if both runs have the same."""
    if not (recombiner.other_scorecard or recombiner.other_thresholds):
        return None
    rows = [recombiner.under_first_policy(pair) for pair in paired.both]
    fallen = []
    for pair, row in zip(paired.both, rows, strict=True):
        if _rank(row) < min(_rank(run.rows[name]) for run, name in zip(runs, pair, strict=True)):
            fallen.append(pair[1])
    return {"fallen": fallen, "score": _score(runs, paired, [_headline(runs[0], row) for row in rows])}


def _lost(runs: Sequence[StoredRun], paired: Pairs) -> Iterator[str]:
    """Yield the answers of the first run, as `TRANSCRIPT x CHECK`, that are missing or unknown in the second, or whose
    check does not apply there."""
    for pair in paired.both:
        old, new = (run.verdicts[name] for run, name in zip(runs, pair, strict=True))
        for check, verdict in old.items():
            is_known = check in new and new[check].eligible and not is_unknown(new[check])
            if verdict.eligible and not is_unknown(verdict) and not is_known:
                yield f"{pair[1]} x {check}"


def _failed(runs: Sequence[StoredRun], paired: Pairs) -> JsonObject:
    """As `_changed_pairs`, with the number of pairs that are `decided` in both runs."""
    outcomes = [
        tuple(run.rows[name][ENGINE]["outcome"] for run, name in zip(runs, pair, strict=True)) for pair in paired.both
    ]
    decided = sum({"passed", "failed"}.issuperset(pair) for pair in outcomes)
    return {**_changed_pairs([tuple(each == "failed" for each in pair) for pair in outcomes]), "decided": decided}


def _changed_pairs(pairs_of: Sequence[tuple[bool, ...]]) -> JsonObject:
    """The numbers of pairs that fail in one run only, and McNemar's exact p-value."""
    fixed, broken = pairs_of.count((True, False)), pairs_of.count((False, True))
    return {"pairs": len(pairs_of), "fixed": fixed, "broken": broken, "p": mcnemar(fixed, broken)}


def _checks(runs: Sequence[StoredRun], paired: Pairs) -> list[dict[str, object]]:
    """The exact test of every check with PASS or FAIL in both runs of some pair, with Holm's correction over checks."""
    decided: dict[str, list[tuple[bool, ...]]] = {}
    for pair in paired.both:
        old, new = (run.verdicts[name] for run, name in zip(runs, pair, strict=True))
        for check in old.keys() & new.keys():
            words = _word(old[check]), _word(new[check])
            if all(word in ("PASS", "FAIL") for word in words):
                decided.setdefault(check, []).append(tuple(word == "FAIL" for word in words))
    entries = [{"check_id": check, **_changed_pairs(failures)} for check, failures in sorted(decided.items())]
    corrected = holm([entry["p"] for entry in entries])
    return [{**entry, "p_holm": p} for entry, p in zip(entries, corrected, strict=True)]


def decide(comparison: JsonMapping, *, across_judges: bool) -> tuple[str, list[str]]:
    """Return `worse`, `not worse` or `inconclusive`, and the reasons."""
    if worse := list(_worse(comparison)):
        return WORSE, worse
    if open_questions := list(_open(comparison, across_judges)):
        return INCONCLUSIVE, open_questions
    return NOT_WORSE, list(_not_worse(comparison))


def _worse(comparison: JsonMapping) -> Iterator[str]:
    broken = [row["transcript_id"] for row in _falls(comparison, "failed") if not row["unproven"]]
    if broken:
        yield f"{_count(broken)} newly fail{'s' if len(broken) == 1 else ''}"
    for check in comparison["checks"]:
        if check["p_holm"] < LEVEL and check["broken"] > check["fixed"]:
            tested = f"{p_value(check['p_holm'])} after Holm's correction"
            yield f"the check `{check['check_id']}` fails more often ({tested})"
    score = comparison["score"]
    lower = all(each["high"] is not None and each["high"] < 0 for each in (score, comparison["score_at_best"]))
    if lower and score["low"] < -comparison["margin"]:
        yield f"the mean score is lower by {-score['mean']:.3f}, between {-score['high']:.3f} and {-score['low']:.3f}"


def _open(comparison: JsonMapping, across_judges: bool) -> Iterator[str]:
    if (properties := comparison["changed"]["judge"]) and not across_judges:
        differ = f"{', '.join(properties).replace('_', ' ')} differ"
        yield f"other judges answered ({differ}); `--across-judges` accepts that"
    if unproven := [row["transcript_id"] for row in _falls(comparison, "failed") if row["unproven"]]:
        yield f"{_count(unproven)} now fail{'s' if len(unproven) == 1 else ''} without a confirmed failure"
    if undecided := [row["transcript_id"] for row in _falls(comparison, "undecided")]:
        yield f"{_count(undecided)} {'is' if len(undecided) == 1 else 'are'} undecided now"
    if not comparison["failed"]["decided"]:
        yield "no transcript passes or fails in both runs"
    if only_before := comparison["only_before"]:
        yield f"{_count(only_before)} of the first run {_is(only_before)} missing in the second"
    if new := comparison["new_failures"]:
        yield f"{_count(new)} only in the second run failed or {_is(new)} undecided ({some(new)})"
    if lost := comparison["lost"]:
        yield f"{plural(len(lost), 'answer')} of the first run {_is(lost)} not known in the second ({some(lost)})"
    elif (missing := _missing(comparison["after"])) > _missing(comparison["before"]):
        number = f"{plural(missing, 'answer')} or {'input is' if missing == 1 else 'inputs are'} missing"
        yield f"{number} in the second run, {_missing(comparison['before'])} in the first"
    if unscored := comparison["score"]["unscored"]:
        yield f"{plural(unscored, 'pair has', 'pairs have')} a score in one run only"
    yield from _open_score(comparison["score"], comparison["margin"])
    if policy := comparison["under_first_policy"]:
        under = "under the first run's scorecard and thresholds"
        if fallen := policy["fallen"]:
            yield f"{under} {_count(fallen)} would have got worse ({some(fallen)})"
        yield from (f"{under} {reason}" for reason in _open_score(policy["score"], comparison["margin"]))


def _missing(side: JsonMapping) -> int:
    """The number of verdicts and inputs of a run that were not judged."""
    return int(side["unresolved"]["answers"] + side["unresolved"]["refused"])


def undetected(score: JsonMapping) -> str:
    """The differences of the mean score that so few pairs can't show; scores are between 0 and 1."""
    if score["detectable"] >= 1:
        return "too few pairs to detect any difference"
    return f"a true difference under {score['detectable']:.3f} would not be detected"


def _open_score(score: JsonMapping, margin: float) -> Iterator[str]:
    if not score["changed"]:
        return
    if score["low"] is None:
        yield "all scenarios belong to one cluster, which leaves the error of the mean score unknown"
    elif score["low"] < -margin:
        lower = f"the mean score may be lower by {-score['low']:.3f}, more than the margin of {margin:g}"
        yield f"{lower}; {undetected(score)}"


def _not_worse(comparison: JsonMapping) -> Iterator[str]:
    score = comparison["score"]
    yield "no transcript newly fails or is newly undecided"
    if score["count"]:
        change = f"changes by {score['mean']:+.3f}" if round(score["mean"], 3) else "does not change"
        yield f"the mean score {change}; a drop of up to {comparison['margin']:g} is accepted"


def _falls(comparison: JsonMapping, to: str) -> list[JsonMapping]:
    return [row for row in comparison["outcomes"] if row["after"] == to and row["step"] == "down"]


def _count(names: Sequence[str]) -> str:
    return plural(len(names), "transcript")


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
