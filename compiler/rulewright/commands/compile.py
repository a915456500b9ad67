"""`compile`: compile a project or a scorecard over cases into a plan file."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from rulewright.commands.chosen_project import compile_chosen
from rulewright.commands.output import answer, writing_to
from rulewright.diagnostics import Severity
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.errors import DocumentError, UsageError
from rulewright.load import load_file
from rulewright.proving.tables import check_labels
from rulewright.scoring.case_scorecards import find_scorecard, load_scorecard
from rulewright.scoring.settings_file import settings_of_run
from rulewright_runtime.english import plural
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.terminal import complain


def run(args: argparse.Namespace) -> int:
    """Compile and write the plan, completely or not at all. Raises UsageError."""
    args.project = args.project or args.path
    if args.project is not None and _is_over_cases(args.project):
        return _compile_case_scorecard(args)
    if args.config is not None:
        raise UsageError("`--config` names the settings of a scorecard over cases, and this is a project")
    _, plan = compile_chosen(args)
    facts = {"hash": plan.hash, "profile": plan.profile, "checks": len(plan.checks)}
    _hand_over(args, encode(plan), facts, f"{plural(len(plan.checks), 'check')}, profile {plan.profile}")
    return 0


def _is_over_cases(path: str) -> bool:
    """Whether the path is the file, or the name, of a scorecard over cases."""
    if not os.path.exists(path):
        return find_scorecard(path) is not None
    return os.path.isfile(path) and kind_of(load_file(Path(path)).root) == CASE_SCORECARD


def _compile_case_scorecard(args: argparse.Namespace) -> int:
    card = load_scorecard(args.project)
    settings = settings_of_run(card.plan, file=args.config, environment=os.environ, flags={}, assignments=[])
    for warning in settings.warnings:
        complain(f"warning: {warning}")
    found = check_labels(card, settings.prepared(card.plan))
    if any(each.severity is Severity.ERROR for each in found):
        raise DocumentError(found)
    plan = seal(card.under(settings.written).plan)
    number = settings.written.number
    facts = {"hash": plan.hash, "scorecard": plan.name, "metrics": len(plan.metrics), "settings": number}
    chosen = f", {number} setting{'s' * (number != 1)} other than the defaults" if number else ""
    _hand_over(args, encode(plan), facts, f"scorecard {plan.name}, {plural(len(plan.metrics), 'metric')}{chosen}")
    return 0


def _hand_over(args: argparse.Namespace, data: bytes, facts: dict[str, Any], summary: str) -> None:
    """Write the plan to its destination, completely or not at all, and report it."""
    if args.out is None and sys.stdout.isatty():
        raise UsageError("a plan is not written to a terminal; name a file with `-o`, or pipe it to a program")
    if args.out is None:
        sys.stdout.buffer.write(data + b"\n")
        return
    target = Path(args.out)
    with writing_to(target):
        write_whole(target, data)
    answer(args.format, {"plan": str(target), **facts}, [f"{target}: {summary}, hash {facts['hash'][:16]}"])
