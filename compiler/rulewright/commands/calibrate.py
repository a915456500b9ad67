"""`gold` and `calibrate`: draw items of a run for people to label, and compare the run with the labels."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rulewright.calibration.calibrate import FAILED as GATE_FAILED
from rulewright.calibration.calibrate import INCONCLUSIVE, calibrate, refuse_decided
from rulewright.calibration.gold import REPORT, draw, read_gold, to_csv, with_fingerprints, worth_labelling
from rulewright.commands.output import answer, hand_over
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.reporting.stored_run import read_run
from rulewright.spelling import question
from rulewright_runtime.english import plural, some
from rulewright_runtime.report.text import percent
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import complain, say

MOST: Final = 5  # names of checks shown
UNKNOWN: Final = "unknown"
_SHARES: Final = ("precision", "recall", "specificity", "balanced_accuracy")


def run(args: argparse.Namespace) -> int:
    """Compare and correct; return the exit code."""
    found = calibrate(
        read_run(Path(args.run)),
        read_gold(Path(args.gold)),
        split=args.split,
        measured_on=None if args.measured_on is None else read_run(Path(args.measured_on)),
        choose_on=args.choose_on,
        required=_limits(args.require),
    )
    answer(args.format, found, _shown(found), indent=2)
    if found["labels"]["tied"]:
        complain("help: labels by more people decide items without a majority")
    elif not found["labels"]["items"]:
        complain(
            f"help: in `{args.gold}`, write PASS, FAIL or NOT_APPLICABLE under `target`, your name under `annotator`"
        )
    statuses = {gate.get("status") for gate in found["gates"]}
    if GATE_FAILED in statuses:
        return FAILED
    missing = not any(check["labelled"] for check in found["checks"]) or found["thresholds"]["none_for"]
    return UNDECIDED if INCONCLUSIVE in statuses or missing else MET


def _limits(texts: Sequence[str]) -> dict[str, float]:
    limits = dict(map(_required, texts))
    if len(limits) < len(texts):
        raise UsageError("`--require` names a gate twice")
    return limits


def _required(text: str) -> tuple[str, float]:
    gate, _, share = text.partition("=")
    try:
        most = float(share)
    except ValueError:
        most = -1.0
    if not gate or not 0 <= most <= 1:
        raise UsageError(f"`--require {text}`: expected GATE=SHARE with a share from 0 to 1")
    return gate, most


def _shown(found: JsonMapping) -> Iterator[str]:
    labels = found["labels"]
    who = f" by {', '.join(labels['annotators'])}" if labels["annotators"] else ""
    yield f"{plural(labels['items'], 'item')} labelled{who}" + (
        "" if labels["alpha"] is None else f"; agreement (alpha) {labels['alpha']:.3f}"
    )
    if labels["tied"]:
        yield f"no majority: {plural(len(labels['tied']), 'item')} ({', '.join(labels['tied'][:3])})"
    if labels["unlabelled"] and labels["items"]:
        unlabelled = plural(labels["unlabelled"], "item")
        yield f"without a label: {unlabelled}; the figures are valid only if these were left out at random"
    if labels["of_models"]:
        yield f"not by people: {plural(labels['of_models'], 'label')} of {', '.join(labels['models'])}; not counted"
    agreement = found["agreement"]
    if agreement["compared"]:
        of = f"{agreement['agreed']} of {plural(agreement['compared'], 'compared label')}"
        yield f"verdicts agree with {of}: {_estimate(agreement)}"
    for check in sorted(found["checks"], key=_share_agreeing):
        yield from _check(check)
    for name, at in found["thresholds"]["of"].items():
        yield f"{name}: a FAIL counts from confidence {at:g}, chosen on `{found['thresholds']['chosen_on']}`"
    for name in found["thresholds"]["none_for"]:
        yield f"{name}: no threshold follows from its labels in `{found['thresholds']['chosen_on']}`"
    for gate in found["gates"]:
        yield from _gate(gate)


def _share_agreeing(check: JsonMapping) -> float:
    """The share of the compared labels that say what the check says: the least first, which needs work most."""
    return 1 - len(check["disagreements"]) / check["labelled"] if check["labelled"] else 1.0


def _check(check: JsonMapping) -> Iterator[str]:
    compared = f"{check['check_id']}: {plural(check['labelled'], 'label')} compared"
    if check["not_comparable"]:
        failures = f" ({check['not_comparable_failures']} labelled FAIL)" if check["not_comparable_failures"] else ""
        compared += f"; {plural(check['not_comparable'], 'label')} of verdicts other than PASS and FAIL{failures}"
    yield compared
    shares = {name.replace("_", " "): _estimate(check[name]) for name in _SHARES}
    yield from (f"  {name:<18} {share}" for name, share in shares.items() if share != UNKNOWN)
    if missing := [name for name, share in shares.items() if share == UNKNOWN]:
        yield f"  {UNKNOWN:<18} {', '.join(missing)}"
    kappa = f"none: {check['kappa_why']}" if check["kappa"] is None else f"{check['kappa']:.3f}"
    yield f"  {'kappa':<18} {kappa}"
    for verdict, kind in (("FAIL", "false alarms"), ("PASS", "misses")):
        if wrong := [each["transcript_id"] for each in check["disagreements"] if each["verdict"] == verdict]:
            yield f"  {kind:<18} {len(wrong)}: {some(wrong)}"
    judged = check["judged"]
    yield f"  {'failures':<18} judged {judged['failed']} of {judged['of']}"
    yield f"  {'corrected':<18} {_estimate(check['corrected'])} ({check['corrected']['method']})"


def _gate(gate: JsonMapping) -> Iterator[str]:
    status = f"; at most {gate['at_most']:g}: {gate['status']}" if "status" in gate else ""
    of = plural(gate["transcripts"], "transcript")
    more = f", and {plural(gate['refused'], 'input')} refused" if gate["refused"] else ""
    share = gate["recorded"]
    failed = f"{round(share * gate['transcripts'])} of {of} that it judged ({percent(share)})"
    yield f"gate {gate['gate']}: {failed} recorded as failed{more}"
    yield f"  truly {_estimate(gate['corrected'])}{status}"
    if unmeasured := gate["unmeasured"]:
        yield f"  without labels, so the interval covers every answer: {some(unmeasured, MOST)}"
    if gate["next"]:
        yield f"  label next: {gate['next']}"


def _estimate(each: Mapping[str, object]) -> str:
    if each["low"] is None:
        return UNKNOWN
    value = "not known" if each["value"] is None else f"{each['value']:.3f}"
    return f"{value} ({each['low']:.3f} to {each['high']:.3f})"


def gold(args: argparse.Namespace) -> int:
    """Draw and write the items; return the exit code. Raises UsageError."""
    stored = read_run(Path(args.run))
    refuse_decided(stored)
    if args.draw < 1:
        raise UsageError(f"`--draw` is {args.draw}; expected at least 1")
    for check in args.check:
        if check not in stored.checks:
            raise UsageError(f"the run has no check `{check}`{question(check, stored.checks)}")
    if args.out is not None and Path(args.out).exists():
        raise UsageError(f"`{args.out}` already exists; labels are not overwritten: name another file with `-o`")
    known = read_gold(Path(args.known)) if args.known else []
    checks = args.check or worth_labelling(stored)
    if len(checks) < len(stored.checks) and not args.check:
        complain(
            f"note: only checks that a judge decides or a gate contains: {some(checks, MOST)}; `--check` names others"
        )
    drawn = draw(stored, args.draw, args.seed, args.split or [REPORT], checks, known)
    if not drawn:
        raise UsageError("no verdict is left to label: each is labelled in `--known`, or its check does not apply")
    text = to_csv(with_fingerprints(stored, drawn) if args.fingerprint else drawn)
    hand_over(text, args.out, f"wrote {args.out}: {plural(len(drawn), 'item')} to label")
    if args.out is not None:
        say(
            "",
            "next: write PASS, FAIL or NOT_APPLICABLE under `target`, and your name under `annotator`",
            f"(`rulewright serve {args.run}` shows the conversations), then",
            f"rulewright calibrate {args.run} --gold {args.out}",
        )
    return MET
