"""Hold a run's verdicts against labels of people, and carry the judge's errors through to rates and gates.

For every check: precision, recall, balanced accuracy and kappa against the labels, and the share of failures corrected
by them, with 95 % intervals. For every gate: how often it truly fails, carried through the scorecard; --require
GATE=SHARE says how often it may. A gate whose interval lies on both sides of that is inconclusive.

--measured-on takes labels of another run of the same judge. --choose-on SPLIT chooses the confidence from which on a
FAIL counts; it is reported on another --split. Labels by `model:` annotators are counted apart and are never gold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rulewright.calibration.calibrate import FAILED as GATE_FAILED
from rulewright.calibration.calibrate import INCONCLUSIVE, calibrate
from rulewright.calibration.gold import read_gold
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.report.text import plural
from rulewright_runtime.terminal import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--gold", required=True, metavar="FILE", help="labels, as `rulewright gold` draws them")
    parser.add_argument("--split", metavar="NAME", help="report on this split only")
    parser.add_argument("--measured-on", metavar="RUN", help="the labels are of this other run")
    parser.add_argument("--choose-on", metavar="SPLIT", help="choose a threshold of confidence on this split")
    parser.add_argument(
        "--require", action="append", default=[], metavar="GATE=SHARE", help="the most that may truly fail a gate"
    )
    parser.add_argument("--format", choices=("human", "json"), default="human")


def run(args: argparse.Namespace) -> int:
    """Compare, correct, choose the exit code."""
    found = calibrate(
        read_run(Path(args.run)),
        read_gold(Path(args.gold)),
        split=args.split,
        measured_on=None if args.measured_on is None else read_run(Path(args.measured_on)),
        choose_on=args.choose_on,
        required=dict(map(_required, args.require)),
    )
    if args.format == "json":
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        say(*_shown(found))
    statuses = {gate.get("status") for gate in found["gates"]}
    if GATE_FAILED in statuses:
        return FAILED
    return UNDECIDED if INCONCLUSIVE in statuses or not found["labels"]["items"] else MET


def _required(text: str) -> tuple[str, float]:
    gate, _, share = text.partition("=")
    try:
        most = float(share)
    except ValueError:
        most = -1.0
    if not gate or not 0 <= most <= 1:
        raise UsageError(f"`--require {text}`: expected GATE=SHARE with a share from 0 to 1")
    return gate, most


def _shown(found: Mapping[str, Any]) -> Iterator[str]:
    labels = found["labels"]
    who = f" by {', '.join(labels['annotators'])}" if labels["annotators"] else ""
    yield f"{plural(labels['items'], 'item')} labelled{who}" + (
        "" if labels["alpha"] is None else f"; agreement (alpha) {labels['alpha']:.3f}"
    )
    if labels["tied"]:
        yield f"no majority: {plural(len(labels['tied']), 'item')} ({', '.join(labels['tied'][:3])})"
    if labels["of_models"]:
        yield f"not by people: {plural(labels['of_models'], 'label')} of {', '.join(labels['models'])}; not counted"
    for check in found["checks"]:
        yield from _check(check)
    for name, at in found["thresholds"]["of"].items():
        yield f"{name}: a FAIL counts from confidence {at:g}, chosen on `{found['thresholds']['chosen_on']}`"
    for gate in found["gates"]:
        yield from _gate(gate)


def _check(check: Mapping[str, Any]) -> Iterator[str]:
    yield f"{check['check_id']}: {plural(check['labelled'], 'label')} compared"
    for name in ("precision", "recall", "specificity", "balanced_accuracy"):
        yield f"  {name.replace('_', ' '):<18} {_estimate(check[name])}"
    kappa = f"none: {check['kappa_why']}" if check["kappa"] is None else f"{check['kappa']:.3f}"
    yield f"  {'kappa':<18} {kappa}"
    judged = check["judged"]
    corrected = f"{_estimate(check['corrected'])} ({check['corrected']['method']})"
    yield f"  {'failures':<18} judged {judged['failed']} of {judged['of']}; corrected {corrected}"


def _gate(gate: Mapping[str, Any]) -> Iterator[str]:
    status = f"; at most {gate['at_most']:g}: {gate['status']}" if "status" in gate else ""
    of = plural(gate["transcripts"], "transcript")
    yield f"gate {gate['gate']}: {gate['recorded']:.3f} of {of} recorded as failed"
    yield f"  truly {_estimate(gate['corrected'])}{status}"
    if gate["next"]:
        yield f"  label next: {gate['next']}"


def _estimate(each: Mapping[str, Any]) -> str:
    if each["low"] is None:
        return "not known"
    value = "not known" if each["value"] is None else f"{each['value']:.3f}"
    return f"{value} ({each['low']:.3f} to {each['high']:.3f})"
