"""What labels of people say of a run: agreement, the judge's errors, corrected rates and gates, what to label next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rulewright.calibration.gold import Gold, GoldLabel, Item, gold_of, id_of, refuse_other_conversations
from rulewright.calibration.measures import Confusion, krippendorffs_alpha, prediction_powered, rogan_gladen
from rulewright.calibration.propagate import (
    MeasuredErrors,
    carried_to,
    gate_interval,
    gate_rows,
    measured_in,
    next_item,
)
from rulewright.comparing.pairs import other_judge, other_replies
from rulewright.errors import UsageError
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from rulewright.reporting.stored_run import StoredRun
    from rulewright_runtime.verdicts import VerdictResult

VERSION: Final = 1
MET, FAILED, INCONCLUSIVE = "met", "failed", "inconclusive"
Thresholds = Mapping[str, float]  # by check, the least confidence at which a FAIL counts


def calibrate(
    run: StoredRun,
    labels: Sequence[GoldLabel],
    *,
    split: str | None = None,
    measured_on: StoredRun | None = None,
    choose_on: str | None = None,
    required: Mapping[str, float] | None = None,
) -> JsonObject:
    """The calibration of a run by labels as JSON data.

    `checks` hold what was compared, precision, recall, specificity, balanced accuracy and kappa, and the share of
    failures corrected by them; `gates` how often each gate truly fails, against the most that `required` allows; `next`
    what to label next for each gate. With `measured_on` the labels are of that run of the same judge. With `choose_on`
    a threshold of confidence is chosen on that split and reported on `split`, which has to be another one; then no gate
    is decided. Raises UsageError where the other run has another judge, other prompts or other rules, for labels of
    items that the run does not hold or of conversations that have changed since, and for a threshold that would be
    reported where it was chosen.
    """
    _refuse_one_split(labels, split, choose_on)
    gold = gold_of(labels, split)
    measured = measured_on or run
    _refuse_strangers(measured, gold.labels)
    refuse_other_conversations(measured, labels)
    if measured_on is not None:
        _refuse_others(run, measured_on, {check for _, check in gold.labels})
    if required and (choose_on is not None or run.scorecard is None):
        why = "a chosen threshold decides no gate" if choose_on is not None else f"`{run.folder}` has no scorecard"
        raise UsageError(f"`--require` can't be answered: {why}")
    thresholds = {} if choose_on is None else _chosen(measured, gold_of(labels, choose_on))
    confusions = _confusions(measured, gold.labels, thresholds)
    found: JsonObject = {
        "version": VERSION,
        "run": str(run.folder),
        "measured_on": str(measured.folder),
        "split": split,
        "labels": _labels(gold),
        "checks": [
            _check(name, confusion, run, gold, thresholds, elsewhere=measured_on is not None)
            for name, confusion in sorted(confusions.items())
        ],
        "thresholds": {"chosen_on": choose_on, "of": thresholds},
        "gates": [],
    }
    if run.scorecard is not None and choose_on is None:
        own = measured_on is None
        says = measured_in(run, gold.labels) if own else carried_to(run, measured, gold.labels)
        found["gates"] = _gates(run, says, gold.labels if own else {}, required or {})
    return found


def _refuse_one_split(labels: Iterable[GoldLabel], split: str | None, choose_on: str | None) -> None:
    if choose_on is None:
        return
    if split is None or split == choose_on:
        raise UsageError(f"a threshold that is chosen on `{choose_on}` can't be reported on it; name another `--split`")
    for name in (split, choose_on):
        if not any(each.split == name and each.target for each in labels):
            raise UsageError(f"no label is in the split `{name}`")


def _refuse_strangers(run: StoredRun, labels: Iterable[Item]) -> None:
    for transcript, check in labels:
        if check not in run.verdicts.get(transcript, {}):
            raise UsageError(f"`{run.folder}` has no verdict `{id_of((transcript, check))}`, which is labelled")


def _refuse_others(run: StoredRun, measured: StoredRun, checks: Iterable[str]) -> None:
    """Raise UsageError unless labels of the verdicts of `measured` tell of those of `run`: one judge, asked alike."""
    what = f"labels of `{measured.folder}` say nothing about `{run.folder}`"
    plans = [{check.id: check.hash for check in each.plan.checks} for each in (run, measured)]
    judged = False
    for check in sorted(checks):
        prompts = [((each.summary.get("judge") or {}).get("prompts") or {}).get(check) for each in (run, measured)]
        if prompts[0] != prompts[1]:
            raise UsageError(f"{what}: the prompts of `{check}` differ")
        if check not in plans[0] or plans[0][check] != plans[1][check]:
            raise UsageError(f"{what}: the rules of `{check}` differ")
        judged = judged or prompts[0] is not None
    marks = other_judge(run, measured)
    if judged and marks:
        raise UsageError(f"{what}: other judges answered ({', '.join(marks)} differ)")
    if judged and other_replies(run, measured):
        raise UsageError(f"{what}: both judges are recorded replies, which do not say whose they are")
    if run.plan.semantics != measured.plan.semantics:
        raise UsageError(f"{what}: the semantics differ")


def _labels(gold: Gold) -> JsonObject:
    """Who labelled how much, and how far they agree. Labels of models are counted apart and are no gold."""
    return {
        "items": len(gold.labels),
        "annotators": gold.people,
        "alpha": krippendorffs_alpha([list(said.values()) for said in gold.units.values()]),
        "tied": [id_of(item) for item in gold.tied],
        "of_models": sum(map(len, gold.synthetic.values())),
        "models": sorted({name for said in gold.synthetic.values() for name in said}),
        "models_agree": _share_agreeing(gold),
    }


def _share_agreeing(gold: Gold) -> float | None:
    """How often models say what people agreed on."""
    both = [(gold.labels[item], said) for item, said in gold.synthetic.items() if item in gold.labels]
    pairs = [target == each for target, said in both for each in said.values()]
    return sum(pairs) / len(pairs) if pairs else None


def _said(verdict: VerdictResult, threshold: float) -> str:
    """What the judge says, where a FAIL counts only from a threshold of confidence on."""
    weak = verdict.verdict == "FAIL" and (verdict.confidence or 0.0) < threshold
    return "PASS" if weak else verdict.verdict


def _confusions(run: StoredRun, labels: Mapping[Item, str], thresholds: Thresholds) -> dict[str, Confusion]:
    pairs: dict[str, list[tuple[str, str]]] = {}
    for (transcript, check), label in labels.items():
        said = _said(run.verdicts[transcript][check], thresholds.get(check, 0.0))
        pairs.setdefault(check, []).append((said, label))
    return {check: _weighed(Confusion.of(each), _judged(run, check, thresholds)) for check, each in pairs.items()}


def _weighed(found: Confusion, judged: Mapping[str, int]) -> Confusion:
    """The confusion in which every labelled item stands for the verdicts of its kind."""
    fails, passes = found.hits + found.false_alarms, found.misses + found.clear
    if not (fails and passes) or fails * judged["PASS"] == passes * judged["FAIL"]:
        return found
    return replace(found, fail_weight=judged["FAIL"] / fails, pass_weight=judged["PASS"] / passes)


def _judged(run: StoredRun, check: str, thresholds: Thresholds) -> Counter[str]:
    """How often each verdict of a check was given."""
    return Counter(
        _said(verdicts[check], thresholds.get(check, 0.0))
        for verdicts in run.verdicts.values()
        if check in verdicts and verdicts[check].eligible is not False
    )


def _check(
    name: str, found: Confusion, run: StoredRun, gold: Gold, thresholds: Thresholds, *, elsewhere: bool
) -> dict[str, object]:
    said = _judged(run, name, thresholds)
    judged = said["FAIL"] + said["PASS"]
    corrected = (rogan_gladen if elsewhere else prediction_powered)(said["FAIL"], judged, found)
    return {
        "check_id": name,
        "labelled": found.count,
        "not_comparable": sum(item[1] == name for item in gold.labels) - found.count,
        "confusion": {
            "hits": found.hits,
            "false_alarms": found.false_alarms,
            "misses": found.misses,
            "clear": found.clear,
        },
        "precision": found.precision.as_json(),
        "recall": found.recall.as_json(),
        "specificity": found.specificity.as_json(),
        "balanced_accuracy": found.balanced_accuracy.as_json(),
        "kappa": found.kappa,
        "kappa_why": None if found.kappa is not None else _no_kappa(found),
        "judged": {"failed": said["FAIL"], "of": judged, "unclear": said["UNCLEAR"]},
        "corrected": {**corrected.as_json(), "method": "rogan-gladen" if elsewhere else "prediction-powered"},
    }


def _no_kappa(found: Confusion) -> str:
    if not found.count:
        return "nothing was compared"
    if not (found.hits + found.misses and found.clear + found.false_alarms):
        return "the labels are of one class"
    return "the verdicts are of one class"


def _chosen(run: StoredRun, gold: Gold) -> dict[str, float]:
    """For each check the least confidence of a FAIL with the best balanced accuracy; of equal ones the lowest."""
    found = {}
    for check in sorted({check for _, check in gold.labels}):
        mine = {item: label for item, label in gold.labels.items() if item[1] == check}
        points = {0.0} | {
            run.verdicts[item[0]][check].confidence or 0.0
            for item in mine
            if run.verdicts[item[0]][check].verdict == "FAIL"
        }
        accuracy = {at: _confusions(run, mine, {check: at})[check].balanced_accuracy.value for at in sorted(points)}
        known = {at: value for at, value in accuracy.items() if value is not None}
        if known:
            found[check] = max(known, key=lambda at: (known[at], -at))
    return found


def _gates(
    run: StoredRun, measured: MeasuredErrors, labels: Mapping[Item, str], required: Mapping[str, float]
) -> list[JsonObject]:
    card = run.scorecard
    assert card is not None
    rows = gate_rows(run, card, measured, labels)
    for name in required:
        if name not in rows:
            raise UsageError(
                f"no gate `{name}` holds a verdict of the run; it has {', '.join(map(_quoted, rows)) or 'none'}"
            )
    found = []
    for name, each in rows.items():
        interval = gate_interval(each, measured)
        recorded = sum(run.rows[row.transcript][ENGINE]["gates"].get(name, {}).get("state") == "failed" for row in each)
        best = None if measured.elsewhere else next_item(each, measured.shares)
        about = {
            "gate": name,
            "transcripts": len(each),
            "recorded": recorded / len(each),
            "corrected": interval,
            "unmeasured": sorted({check for row in each for _, check in row.unmeasured}),
        }
        if name in required:
            about |= {"at_most": required[name], "status": _status(interval, required[name])}
        found.append({**about, "next": None if best is None else id_of(best[0])})
    return found


def _status(interval: Mapping[str, float], most: float) -> str:
    """A gate whose interval lies on both sides of what is allowed is inconclusive."""
    if interval["high"] <= most:
        return MET
    return FAILED if interval["low"] > most else INCONCLUSIVE


def _quoted(name: str) -> str:
    return f"`{name}`"
