"""What differs between two finished runs, worst first, with evidence and causes, and whether the second is worse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright.comparing.pairs import Pairs, pairs
from rulewright.comparing.recombine import NOT_RUN, REPLY, RULE, TRANSCRIPT, Recombiner, Side
from rulewright.reporting.contrasts import cluster_of
from rulewright.reporting.run_reader import headline_of
from rulewright.reporting.stored_run import StoredRun, read_run
from rulewright_runtime.aggregate.inference import clustered_mean, holm, mcnemar
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.report.summary import judge_line

if TYPE_CHECKING:
    from rulewright_runtime.verdicts import VerdictResult

VERSION: Final = 1
MARGIN: Final = 0.05
LEVEL: Final = 0.05  # of significance, after Holm's correction over checks
DIGITS: Final = 12  # beyond them a double says nothing about a difference of scores
WORSE, NOT_WORSE, INCONCLUSIVE = "worse", "not worse", "inconclusive"
# How good an answer is; a flip from a higher to a lower one is a step down.
_OUTCOMES: Final = {"failed": 0, "undecided": 1, "nothing_applied": 2, "passed": 2}
_VERDICTS: Final = {"FAIL": 0, "UNCLEAR": 1, NOT_RUN: 1, "NOT_APPLICABLE": 2, "PASS": 2}
_JUDGE: Final = ("provider", "requested_model", "name", "parameters", "served_models", "wrapper")


def diff(
    before: Path,
    after: Path,
    *,
    by: str = "transcript",
    transcripts: Sequence[str] = (),
    replies: Sequence[Path] = (),
    margin: float = MARGIN,
    across_judges: bool = False,
) -> dict[str, Any]:
    """The differences between two finished runs as JSON data.

    `outcomes` and `flips` are sorted, worst first; each has its `causes` (`sets` of changes, each of which alone gives
    the second result, and whether they could be `told_apart`), a flip also its evidence. `score` is the paired
    difference, robust to clusters of alike scenarios; `failed` and `checks` hold exact tests, the latter corrected
    after Holm. `verdict` is `worse`, `not worse` or `inconclusive`, `reasons` say why. A mean score that is lower by
    less than `margin` is not worse. Runs of other judges are inconclusive at best unless they are compared
    `across_judges`.

    `transcripts` are files and folders with conversations that are no longer where the runs have read them, `replies`
    the files that the runs replayed: with them causes are told apart that are left together otherwise.

    Raises UsageError and PlanError where a folder holds no finished run, or where the runs have nothing in common.
    """
    runs = read_run(before), read_run(after)
    paired = pairs(*runs, by)
    recombiner = Recombiner(*(Side.of(run, replies, transcripts) for run in runs))
    gravest = (*reversed(runs[1].plan.severities), *runs[0].plan.severities, "")
    flips = sorted(_flips(runs, paired, recombiner), key=lambda flip: _worst_verdict(flip, gravest))
    outcomes = sorted(_outcomes(runs, paired, recombiner, flips), key=_worst_outcome)
    found: dict[str, Any] = {
        "version": VERSION,
        "before": _about(runs[0]),
        "after": _about(runs[1]),
        "paired_by": by,
        "pairs": len(paired.both),
        "only_before": list(paired.only_before),
        "only_after": list(paired.only_after),
        "changed": {**_changed(runs), "transcripts": list(recombiner.other_transcripts(paired.both))},
        "outcomes": outcomes,
        "flips": flips,
        "score": _score(runs, paired),
        "failed": _failed(runs, paired),
        "checks": _checks(runs, paired),
        "margin": margin,
    }
    verdict, reasons = decide(found, across_judges=across_judges)
    return {**found, "verdict": verdict, "reasons": reasons}


def _about(run: StoredRun) -> dict[str, Any]:
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


def _changed(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """What the runs were made with and that is not the same: the judge's marks, checks, the scorecard, parameters."""
    judges = [run.summary.get("judge") or {} for run in runs]
    checks = [{check.id: check.hash for check in run.plan.checks} for run in runs]
    replayed = all(judge.get("provider") == "replay" for judge in judges)
    marks = [
        mark for mark in _JUDGE if judges[0].get(mark) != judges[1].get(mark) and not (replayed and mark == "name")
    ]
    both = checks[0].keys() & checks[1].keys()
    return {
        "judge": marks,
        "replies": replayed and judges[0].get("digest") != judges[1].get("digest"),
        "checks": sorted(name for name in both if checks[0][name] != checks[1][name]),
        "checks_added": sorted(checks[1].keys() - both),
        "checks_removed": sorted(checks[0].keys() - both),
        "scorecard": runs[0].plan.scorecard != runs[1].plan.scorecard,
        "parameters": runs[0].parameters != runs[1].parameters,
        "profile": runs[0].plan.profile != runs[1].plan.profile,
    }


def _flips(runs: Sequence[StoredRun], paired: Pairs, recombiner: Recombiner) -> Iterator[dict[str, Any]]:
    severities = {check.id: check.severity for run in runs for check in run.plan.checks}
    judges_differ = bool(_changed(runs)["judge"])
    for pair in paired.both:
        old, new = (run.verdicts[name] for run, name in zip(runs, pair, strict=True))
        for check in sorted(old.keys() | new.keys()):
            verdicts = old.get(check), new.get(check)
            before, after = (_word(verdict) for verdict in verdicts)
            if before == after:
                continue
            causes = recombiner.causes_of_verdict(pair, check)
            yield {
                "transcript_id": pair[1],
                **({"before_transcript_id": pair[0]} if pair[0] != pair[1] else {}),
                "check_id": check,
                "severity": severities.get(check, ""),
                "before": before,
                "after": after,
                "step": _step(_VERDICTS[after] - _VERDICTS[before]),
                "causes": causes.as_json(),
                "note": _note(causes.sets, verdicts, judges_differ=judges_differ),
                "evidence": [_evidence(verdict) for verdict in verdicts],
            }


def _word(verdict: VerdictResult | None) -> str:
    """What a check says of a transcript, in one word; one that does not apply there says the same as NOT_APPLICABLE."""
    return NOT_RUN if verdict is None else verdict.verdict


def _step(difference: int) -> str:
    return "down" if difference < 0 else "up" if difference > 0 else "level"


def _evidence(verdict: VerdictResult | None) -> dict[str, Any] | None:
    """The quotes behind a verdict and its code; None where there is no record."""
    if verdict is None:
        return None
    spans = msgspec.to_builtins(verdict.evidence)
    return {"code": verdict.rationale_code, "confidence": verdict.confidence, "quotes": spans, "cause": verdict.cause}


def _note(sets: Iterable[Sequence[str]], verdicts: Sequence[VerdictResult | None], *, judges_differ: bool) -> str:
    """What made a reply another one, as far as that is known."""
    if not any(REPLY in each for each in sets):
        return ""
    if judges_differ:
        return "another judge answered"
    prompts = {verdict.prompt_hash for verdict in verdicts if verdict is not None}
    if len(prompts) > 1:
        return "the judge was asked another question"
    together = {part for each in sets for part in each}
    if together & {TRANSCRIPT, RULE}:
        return ""
    return "the judge answered the same question differently"


def _outcomes(
    runs: Sequence[StoredRun], paired: Pairs, recombiner: Recombiner, flips: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    flipped: dict[str, list[str]] = {}
    for flip in flips:
        flipped.setdefault(flip["transcript_id"], []).append(flip["check_id"])
    for pair in paired.both:
        old, new = (run.rows[name] for run, name in zip(runs, pair, strict=True))
        engines = old[ENGINE], new[ENGINE]
        if engines[0]["outcome"] == engines[1]["outcome"]:
            continue
        because = [*engines[1]["because"], *engines[0]["because"]]
        mine = flipped.get(pair[1], [])
        yield {
            "transcript_id": pair[1],
            "before": engines[0]["outcome"],
            "after": engines[1]["outcome"],
            "step": _step(_OUTCOMES[engines[1]["outcome"]] - _OUTCOMES[engines[0]["outcome"]]),
            "unproven": bool(engines[1]["unproven"]) and engines[1]["outcome"] == "failed",
            "because": engines[1]["because"],
            "was_because": engines[0]["because"],
            "scores": [_headline(run, row) for run, row in zip(runs, (old, new), strict=True)],
            "causes": recombiner.causes_of_row(pair).as_json(),
            "flips": [check for check in mine if check in because] or mine,
        }


def _worst_verdict(flip: Mapping[str, Any], gravest: Sequence[str]) -> tuple[Any, ...]:
    fall = _VERDICTS[flip["after"]] - _VERDICTS[flip["before"]]
    return (fall, _VERDICTS[flip["after"]], gravest.index(flip["severity"]), flip["check_id"], flip["transcript_id"])


def _headline(run: StoredRun, row: Mapping[str, Any]) -> Any:
    """The score of a row that its scorecard shows first."""
    return row.get(headline_of(run.plan))


def _worst_outcome(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (_OUTCOMES[row["after"]] - _OUTCOMES[row["before"]], _OUTCOMES[row["after"]], row["transcript_id"])


def _score(runs: Sequence[StoredRun], paired: Pairs) -> dict[str, Any]:
    """The mean of the paired differences of the overall score, and how many pairs have none."""
    differences, without = [], 0
    for pair in paired.both:
        old, new = (_headline(run, run.rows[name]) for run, name in zip(runs, pair, strict=True))
        if old is None or new is None:
            without += old != new
        else:
            scenario = str(runs[1].rows[pair[1]].get("scenario_id") or "")
            differences.append((cluster_of(runs[1].plan, scenario, pair[1]), new - old))
    mean = clustered_mean(differences)
    figures = {
        name: round(value, DIGITS) if isinstance(value, float) else value for name, value in asdict(mean).items()
    }
    return {**figures, "changed": sum(bool(value) for _, value in differences), "unscored": without}


def _failed(runs: Sequence[StoredRun], paired: Pairs) -> dict[str, Any]:
    outcomes = [
        tuple(run.rows[name][ENGINE]["outcome"] == "failed" for run, name in zip(runs, pair, strict=True))
        for pair in paired.both
    ]
    return _changed_pairs(outcomes)


def _changed_pairs(pairs_of: Sequence[tuple[bool, ...]]) -> dict[str, Any]:
    """How many fail in one run alone, and McNemar's exact p-value."""
    mended, broken = pairs_of.count((True, False)), pairs_of.count((False, True))
    return {"pairs": len(pairs_of), "mended": mended, "broken": broken, "p": mcnemar(mended, broken)}


def _checks(runs: Sequence[StoredRun], paired: Pairs) -> list[dict[str, Any]]:
    """For every check that decided PASS or FAIL in both runs of some pair: an exact test, corrected over checks."""
    decided: dict[str, list[tuple[bool, ...]]] = {}
    for pair in paired.both:
        old, new = (run.verdicts[name] for run, name in zip(runs, pair, strict=True))
        for check in old.keys() & new.keys():
            words = _word(old[check]), _word(new[check])
            if all(word in ("PASS", "FAIL") for word in words):
                decided.setdefault(check, []).append(tuple(word == "FAIL" for word in words))
    tested = [{"check_id": check, **_changed_pairs(found)} for check, found in sorted(decided.items())]
    corrected = holm([entry["p"] for entry in tested])
    return [{**entry, "p_holm": p} for entry, p in zip(tested, corrected, strict=True)]


def decide(found: Mapping[str, Any], *, across_judges: bool) -> tuple[str, list[str]]:
    """`worse`, `not worse` or `inconclusive`, and the reasons for it."""
    if worse := list(_worse(found)):
        return WORSE, worse
    if open_questions := list(_open(found, across_judges)):
        return INCONCLUSIVE, open_questions
    return NOT_WORSE, list(_not_worse(found))


def _worse(found: Mapping[str, Any]) -> Iterator[str]:
    broken = [row["transcript_id"] for row in _falls(found, "failed") if not row["unproven"]]
    if broken:
        yield f"{_count(broken)} now fail{'s' if len(broken) == 1 else ''} that did not fail before"
    for check in found["checks"]:
        if check["p_holm"] < LEVEL and check["broken"] > check["mended"]:
            yield f"{check['check_id']} fails more often (p = {check['p_holm']:.3f} after Holm's correction)"
    score = found["score"]
    if score["high"] is not None and score["high"] < 0 and score["low"] < -found["margin"]:
        yield f"the mean score is lower by {-score['mean']:.3f}, between {-score['high']:.3f} and {-score['low']:.3f}"


def _open(found: Mapping[str, Any], across_judges: bool) -> Iterator[str]:
    if found["changed"]["judge"] and not across_judges:
        yield f"other judges answered ({', '.join(found['changed']['judge'])} differ); `--across-judges` accepts that"
    if unproven := [row["transcript_id"] for row in _falls(found, "failed") if row["unproven"]]:
        yield f"{_count(unproven)} now fail{'s' if len(unproven) == 1 else ''} without anybody having found a failure"
    if undecided := [row["transcript_id"] for row in _falls(found, "undecided")]:
        yield f"{_count(undecided)} {'is' if len(undecided) == 1 else 'are'} undecided now"
    if found["only_before"]:
        yield f"{_count(found['only_before'])} of the first run {_is(found['only_before'])} missing in the second"
    if (missing := _missing(found["after"])) > _missing(found["before"]):
        yield f"{missing} answers or inputs are missing in the second run, {_missing(found['before'])} in the first"
    if found["score"]["unscored"]:
        yield f"{found['score']['unscored']} pairs have a score in one run only"
    yield from _open_score(found["score"], found["margin"])


def _missing(side: Mapping[str, Any]) -> int:
    """How many verdicts and inputs of a run nobody has judged."""
    return int(side["unresolved"]["answers"] + side["unresolved"]["refused"])


def _open_score(score: Mapping[str, Any], margin: float) -> Iterator[str]:
    if not score["changed"]:
        return
    if score["low"] is None:
        yield "all scenarios belong to one cluster, which leaves the error of the mean score unknown"
    elif score["low"] < -margin:
        yield (
            f"the mean score may be lower by {-score['low']:.3f}, more than the margin of {margin:g}; "
            f"a true difference under {score['detectable']:.3f} would not be seen"
        )


def _not_worse(found: Mapping[str, Any]) -> Iterator[str]:
    score = found["score"]
    yield "no transcript fails or is undecided that was not before"
    if score["count"]:
        yield f"the mean score differs by {score['mean']:+.3f} and is lower by {found['margin']:g} at most"


def _falls(found: Mapping[str, Any], to: str) -> list[Mapping[str, Any]]:
    return [row for row in found["outcomes"] if row["after"] == to and row["step"] == "down"]


def _count(names: Sequence[str]) -> str:
    return f"{len(names)} transcript{'s' * (len(names) != 1)}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
