"""`scan` and `run`: run the plan of a project, compiled or cached, or of a file over transcripts."""

import argparse

from rulewright.commands.running import run_plan
from rulewright.errors import UsageError
from rulewright.result_cache import CacheEntry
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import PlanError
from rulewright_runtime.files.input_files import open_regular
from rulewright_runtime.judging.judge import is_live
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.judge_needs import needs_judge
from rulewright_runtime.plan.scan import Plan


def run(args: argparse.Namespace) -> int:
    """Compile the project and run its plan; return the exit code."""
    entry = None if args.no_cache else CacheEntry("plans", [args.project, args.profile, args.scorecard])
    known = None if entry is None else _known(entry)
    if known is not None and not is_live(judge := _judge(*known, args)):  # prices and limits come from the project
        return run_plan(known[0], args, judge=judge)
    from rulewright.commands.chosen_project import compile_and_keep  # imports the compiler

    project, plan = compile_and_keep(args, entry)
    return run_plan(plan, args, judge=_judge(plan, project.judge_source, args), project=project)


def _judge(plan: Plan, usual: str | None, args: argparse.Namespace) -> str | None:
    """The judge of the command line, else the `usual` one if the plan needs any: no other run needs its key."""
    return args.judge or (usual if needs_judge(plan) else None)


def _known(entry: CacheEntry) -> tuple[Plan, str | None] | None:
    """The cached plan of an unchanged project, and the project's judge. The plan is decoded like an untrusted one."""
    found = entry.load()
    if found is None or not isinstance(judge := found[0], str | None):
        return None
    try:
        return decode(found[1]), judge
    except PlanError:
        return None


def run_compiled(args: argparse.Namespace) -> int:
    """Decode a compiled plan and run it; return the exit code. Raises UsageError for a file that can't be read,
    PlanError for one that is not a plan."""
    try:
        with open_regular(args.plan) as stream:
            data = stream.read()
    except OSError as error:
        raise UsageError(f"can't read the plan `{args.plan}`: {reason_of(error)}") from None
    try:
        plan = decode(data)
    except PlanError as error:
        raise PlanError(f"`{args.plan}`: {error}") from None
    return run_plan(plan, args, judge=args.judge)
