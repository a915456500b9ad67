"""Calibrates a run by human labels: agreement, the judge's errors, corrected rates and gates, what to label next."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import asdict, replace

from rulewright.calibration.gold import (
    Gold,
    GoldLabel,
    Item,
    gold_of,
    id_of,
    refuse_other_conversations,
    refuse_shared_conversations,
)
from rulewright.calibration.measures import (
    Confusion,
    clustered_rate,
    krippendorffs_alpha,
    prediction_powered,
    rogan_gladen,
)
from rulewright.calibration.propagate import (
    MeasuredErrors,
    gate_interval,
    gate_rows,
    measure_errors,
    next_item,
    transport_errors,
    verdict_at,
    verdict_counts,
)
from rulewright.comparing.recombine import other_judge, other_replies
from rulewright.errors import UsageError
from rulewright.reporting.adjudication import check_person
from rulewright.reporting.stored_run import StoredRun
from rulewright.spelling import question
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.english import plural, ticked
from rulewright_runtime.strict_json import JsonObject

VERSION: Final = 1
MOST: Final = 3  # labels named in a message
_SHARES: Final = ("precision", "recall", "specificity", "balanced_accuracy")
MET, FAILED, INCONCLUSIVE = "met", "failed", "inconclusive"
Thresholds = Mapping[str, float]  # by check, the least confidence of a FAIL that counts


def calibrate(
    run: StoredRun,
    labels: Sequence[GoldLabel],
    *,
    split: str | None,
    measured_on: StoredRun | None,
    choose_on: str | None,
    required: Mapping[str, float] | None,
) -> JsonObject:
    """Return the calibration of a run by labels as JSON data.

    `checks` hold the confusion, precision, recall, specificity, balanced accuracy and kappa of each check, and its
    corrected share of failures; `gates` how often each gate truly fails, against the limit of `required`, and the
    `next` item to label for it. With `measured_on` the labels belong to that run of the same judge. With `choose_on` a
    threshold of confidence is chosen on that split and reported on `split`, which must be another one; then no gate is
    decided. Raises UsageError where the other run has another judge, other prompts or other rules, for labels of items
    that the run does not have or of conversations that have changed, for a threshold that would be reported on the
    split, or on a conversation, on which it was chosen, and for a run that holds people's decisions.
    """
    labelled_run = measured_on or run
    refuse_decided(run, labelled_run)
    _refuse_unusable(labels, labelled_run, split, choose_on)
    gold = gold_of(labels, split)
    if measured_on is not None:
        _refuse_other_judge(run, measured_on, {check for _, check in gold.labels})
    if required and (choose_on is not None or run.scorecard is None):
        why = (
            "a chosen threshold has no effect on gates" if choose_on is not None else f"`{run.folder}` has no scorecard"
        )
        raise UsageError(f"`--require` can't be answered: {why}")
    thresholds = {} if choose_on is None else _choose_thresholds(labelled_run, gold_of(labels, choose_on))
    confusions = _confusions(labelled_run, gold.labels, thresholds)
    result: JsonObject = {
        "version": VERSION,
        "run": str(run.folder),
        "measured_on": str(labelled_run.folder),
        "split": split,
        "labels": _labels(gold),
        "agreement": _agreement(labelled_run, gold.labels, thresholds),
        "checks": [
            {
                **_check(name, confusion, run, gold, thresholds, elsewhere=measured_on is not None),
                "disagreements": _disagreements(name, labelled_run, gold, thresholds),
            }
            for name, confusion in sorted(confusions.items())
        ],
        "thresholds": {
            "chosen_on": choose_on,
            "of": thresholds,
            "none_for": sorted(confusions.keys() - thresholds) if choose_on is not None else [],
        },
        "gates": [],
    }
    if run.scorecard is not None and choose_on is None:
        is_own = measured_on is None
        measured_errors = (
            measure_errors(run, gold.labels) if is_own else transport_errors(run, labelled_run, gold.labels)
        )
        result["gates"] = _gates(run, measured_errors, gold.labels if is_own else {}, required or {})
    return result


def refuse_decided(*runs: StoredRun) -> None:
    """Raise UsageError for a run that holds people's decisions: a label would be compared with one of them, and items
    would be drawn by them."""
    for run in runs:
        if about := run.summary.get("adjudicated"):
            decided = f"`{run.folder}` contains people's decisions, which are not verdicts of its checks"
            raise UsageError(f"{decided}; name `{about['from']}` instead")


def _refuse_unusable(labels: Sequence[GoldLabel], run: StoredRun, split: str | None, choose_on: str | None) -> None:
    """Raise UsageError for labels of other items or conversations than the run's, for a person who may not label it,
    for a split without labels, and for a threshold that would be reported where it was chosen."""
    splits = {each.split for each in labels}
    if split is not None and splits and split not in splits:
        raise UsageError(f"no label is in the split `{split}`, only in {ticked(sorted(splits))}")
    _refuse_one_split(labels, split, choose_on)
    items = [each.item for each in labels if each.target]
    if unknown := [item for item in items if item[1] not in run.verdicts.get(item[0], {})]:
        near = {check: question(check, run.checks) for _, check in unknown if check not in run.checks}
        lacking = [
            f"`{run.folder}` has no verdict `{id_of(it)}`, which is labelled{near.get(it[1], '')}"
            for it in unknown[:MOST]
        ]
        if more := len(unknown) - len(lacking):
            source = "`--measured-on` names the run that they were drawn from"
            lacking.append(f"`{run.folder}` lacks {plural(more, 'further verdict')} of `--gold`; {source}")
        raise UsageError(*lacking)
    refuse_other_conversations(run, labels)
    if choose_on is not None:
        refuse_shared_conversations(run, labels, (choose_on, split))
    for each in labels:
        if each.target and not each.synthetic:
            check_person(run, each.annotator, f"the label of `{id_of(each.item)}`")


def _refuse_one_split(labels: Iterable[GoldLabel], split: str | None, choose_on: str | None) -> None:
    if choose_on is None:
        return
    if split is None or split == choose_on:
        raise UsageError(f"a threshold that is chosen on `{choose_on}` can't be reported on it; name another `--split`")
    for name in (split, choose_on):
        if not any(each.split == name and each.target and not each.synthetic for each in labels):
            raise UsageError(f"no label by a person is in the split `{name}`")


def _refuse_other_judge(run: StoredRun, measured: StoredRun, checks: Iterable[str]) -> None:
    """Raise UsageError unless labels of `measured` apply to `run`: the same judge, prompts, rules and semantics."""
    prefix = f"labels of `{measured.folder}` say nothing about `{run.folder}`"
    plans = [{check.id: check.hash for check in each.plan.checks} for each in (run, measured)]
    judged = False
    for check in sorted(checks):
        prompts = [((each.summary.get("judge") or {}).get("prompts") or {}).get(check) for each in (run, measured)]
        if prompts[0] != prompts[1]:
            raise UsageError(f"{prefix}: the prompts of `{check}` differ")
        if check not in plans[0] or plans[0][check] != plans[1][check]:
            raise UsageError(f"{prefix}: the rules of `{check}` differ")
        judged = judged or prompts[0] is not None
    differences = other_judge(run, measured)
    if judged and differences:
        raise UsageError(f"{prefix}: other judges answered ({', '.join(differences)} differ)")
    if judged and other_replies(run, measured):
        raise UsageError(f"{prefix}: both judges are recorded replies, which do not say whose they are")
    if run.plan.semantics != measured.plan.semantics:
        raise UsageError(f"{prefix}: the semantics differ")


def _labels(gold: Gold) -> JsonObject:
    """The counts and the agreement of annotators. Labels of models are counted separately and are not gold."""
    return {
        "items": len(gold.labels),
        "annotators": gold.people,
        "alpha": krippendorffs_alpha([list(by_annotator.values()) for by_annotator in gold.units.values()]),
        "tied": [id_of(item) for item in gold.tied],
        "unlabelled": len(gold.unlabelled),
        "of_models": sum(map(len, gold.synthetic.values())),
        "models": sorted({name for by_annotator in gold.synthetic.values() for name in by_annotator}),
        "models_agree": _share_agreeing(gold),
    }


def _agreement(run: StoredRun, labels: Mapping[Item, str], thresholds: Thresholds) -> JsonObject:
    """How many compared labels of all checks say what the verdict says, as a count and a share; those of one chat are
    alike."""
    decided = ((item, verdict_at(run.verdicts[item[0]][item[1]], thresholds.get(item[1], 0.0))) for item in labels)
    agreed = [
        (item[0], (verdict == "FAIL") == (labels[item] == "FAIL"))
        for item, verdict in decided
        if verdict in ("PASS", "FAIL")
    ]
    return {"agreed": sum(same for _, same in agreed), "compared": len(agreed), **asdict(clustered_rate(agreed))}


def _share_agreeing(gold: Gold) -> float | None:
    """The share of models' labels that equal those agreed on by people, or None."""
    labelled_by_both = [
        (gold.labels[item], by_model) for item, by_model in gold.synthetic.items() if item in gold.labels
    ]
    pairs = [target == each for target, by_model in labelled_by_both for each in by_model.values()]
    return sum(pairs) / len(pairs) if pairs else None


def _confusions(run: StoredRun, labels: Mapping[Item, str], thresholds: Thresholds) -> dict[str, Confusion]:
    pairs: dict[str, list[tuple[str, str]]] = {}
    for (transcript, check), label in labels.items():
        verdict = verdict_at(run.verdicts[transcript][check], thresholds.get(check, 0.0))
        pairs.setdefault(check, []).append((verdict, label))
    counts = {check: verdict_counts(run, check, thresholds.get(check, 0.0)) for check in pairs}
    return {check: _weighted(Confusion.of(each), counts[check]) for check, each in pairs.items()}


def _weighted(confusion: Confusion, counts: Mapping[str, int]) -> Confusion:
    """The confusion, weighted so that labelled items represent all FAIL and all PASS verdicts."""
    fails, passes = confusion.hits + confusion.false_alarms, confusion.misses + confusion.clear
    if (counts["FAIL"] and not fails) or (counts["PASS"] and not passes):
        return replace(confusion, one_sided=True)
    if not (fails and passes) or fails * counts["PASS"] == passes * counts["FAIL"]:
        return confusion
    return replace(confusion, fail_weight=counts["FAIL"] / fails, pass_weight=counts["PASS"] / passes)


def _check(
    name: str, confusion: Confusion, run: StoredRun, gold: Gold, thresholds: Thresholds, *, elsewhere: bool
) -> dict[str, object]:
    counts = verdict_counts(run, name, thresholds.get(name, 0.0))
    of_check = [label for (_, check), label in gold.labels.items() if check == name]
    judged = counts["FAIL"] + counts["PASS"]
    corrected = (rogan_gladen if elsewhere else prediction_powered)(counts["FAIL"], judged, confusion)
    return {
        "check_id": name,
        "labelled": confusion.count,
        "not_comparable": len(of_check) - confusion.count,
        "not_comparable_failures": of_check.count("FAIL") - confusion.hits - confusion.misses,
        "confusion": {name: getattr(confusion, name) for name in ("hits", "false_alarms", "misses", "clear")},
        **{name: asdict(getattr(confusion, name)) for name in _SHARES},
        "kappa": confusion.kappa,
        "kappa_why": None if confusion.kappa is not None else _no_kappa(confusion),
        "judged": {"failed": counts["FAIL"], "of": judged, "unclear": counts["UNCLEAR"]},
        "corrected": {**asdict(corrected), "method": "rogan-gladen" if elsewhere else "prediction-powered"},
    }


def _disagreements(name: str, run: StoredRun, gold: Gold, thresholds: Thresholds) -> list[dict[str, str]]:
    """The transcripts that a check decides otherwise than their labels."""
    labels = {transcript: label for (transcript, check), label in sorted(gold.labels.items()) if check == name}
    decided = ((each, verdict_at(run.verdicts[each][name], thresholds.get(name, 0.0))) for each in labels)
    return [
        {"transcript_id": each, "verdict": verdict, "label": labels[each]}
        for each, verdict in decided
        if verdict in ("PASS", "FAIL") and (verdict == "FAIL") != (labels[each] == "FAIL")
    ]


def _no_kappa(confusion: Confusion) -> str:
    if not confusion.count:
        return "nothing was compared"
    if not (confusion.hits + confusion.misses and confusion.clear + confusion.false_alarms):
        return "the labels are of one class"
    return "the labelled verdicts are of one class"


def _choose_thresholds(run: StoredRun, gold: Gold) -> dict[str, float]:
    """For each check the threshold of confidence with the best balanced accuracy; of equal ones the lowest."""
    thresholds = {}
    for check in sorted({check for _, check in gold.labels}):
        labels = {item: label for item, label in gold.labels.items() if item[1] == check}
        points = {0.0} | {
            run.verdicts[item[0]][check].confidence or 0.0
            for item in labels
            if run.verdicts[item[0]][check].verdict == "FAIL"
        }
        accuracy = {
            point: _confusions(run, labels, {check: point})[check].balanced_accuracy.value for point in sorted(points)
        }
        accuracies = {point: value for point, value in accuracy.items() if value is not None}
        if accuracies:
            thresholds[check] = max(accuracies, key=lambda point: (accuracies[point], -point))
    return thresholds


def _gates(
    run: StoredRun, measured: MeasuredErrors, labels: Mapping[Item, str], required: Mapping[str, float]
) -> list[JsonObject]:
    card = run.scorecard
    assert card is not None
    rows = gate_rows(run, card, measured, labels)
    for name in required:
        if name not in rows:
            raise UsageError(
                f"no gate `{name}` has a verdict in the run; expected {ticked(rows) or 'a run with gates'}"
            )
    refused = run.summary["refused"]["count"]
    rows_json = []
    for name, each in rows.items():
        interval = gate_interval(each, measured, refused)
        recorded = sum(run.rows[row.transcript][ENGINE]["gates"].get(name, {}).get("state") == "failed" for row in each)
        next_label = None if measured.elsewhere else next_item(each, measured.shares)
        row_json = {
            "gate": name,
            "transcripts": len(each),
            "refused": refused,
            "recorded": recorded / len(each),
            "corrected": interval,
            "unmeasured": sorted({check for row in each for _, check in row.unmeasured}),
        }
        if name in required:
            row_json |= {"at_most": required[name], "status": _status(interval, required[name])}
        rows_json.append({**row_json, "next": None if next_label is None else id_of(next_label[0])})
    return rows_json


def _status(interval: Mapping[str, float], limit: float) -> str:
    """The status of a gate; it is inconclusive when its interval contains the limit."""
    if interval["high"] <= limit:
        return MET
    return FAILED if interval["low"] > limit else INCONCLUSIVE
