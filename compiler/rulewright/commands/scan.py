"""`scan`: a project is compiled, or its plan found in the cache, and run over transcripts."""

from __future__ import annotations

import argparse

from rulewright.cache import CacheEntry
from rulewright.commands.running import run_plan
from rulewright_runtime.errors import PlanError
from rulewright_runtime.judging.judge import is_live
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Plan


def run(args: argparse.Namespace) -> int:
    """Compile, execute, store, report."""
    entry = None if args.no_cache else CacheEntry("plans", [args.project, args.profile, args.scorecard])
    known = None if entry is None else _known(entry)
    if known is not None and not is_live(judge := args.judge or known[1]):  # prices and limits are the project's
        return run_plan(known[0], args, judge=judge)
    from rulewright.commands.chosen_project import compile_and_keep  # loads all that reads and checks a project

    project, plan = compile_and_keep(args, entry)
    return run_plan(plan, args, judge=args.judge or project.judge_source, project=project)


def _known(entry: CacheEntry) -> tuple[Plan, str | None] | None:
    """The plan of an unchanged project, and the judge that its project file names. It is read as a stranger's plan."""
    found = entry.load()
    if found is None or not isinstance(judge := found[0], str | None):
        return None
    try:
        return decode(found[1]), judge
    except PlanError:
        return None
