"""`whatif`: a run is scored under another policy and shown."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright.commands.chosen_project import compile_chosen
from rulewright.commands.running import parameters_given
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.reporting.stored_run import StoredRun, read_run
from rulewright.whatif.case_labels import relabelled
from rulewright.whatif.rejudging import rejudged
from rulewright.whatif.rescoring import changed_rules, flips, policy_of, rescored, unasked
from rulewright.whatif.sweep import sweep
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.text import number, plural
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import say

MOST: Final = 20  # unknown verdicts that are named


def under_options(args: argparse.Namespace, stored: StoredRun) -> tuple[StoredRun, Plan | None, list[str]]:
    """The run as its recorded verdicts and replies let it stand under the profile that `--profile` names, the plan of
    the project under that profile or `--scorecard`, where one is named, and the verdicts that are not known."""
    if args.profile is None:
        return stored, None if args.scorecard is None else compile_chosen(args)[1], []
    if args.scorecard is None and stored.plan.scorecard is not None:
        args.scorecard = stored.plan.scorecard.name
    plan = compile_chosen(args)[1]
    judged = rejudged(stored, plan, args.transcripts, [Path(file) for file in args.replies])
    return judged.run, plan, judged.unknown


def run(args: argparse.Namespace) -> int:
    """Score again, show what changes."""
    if Path(args.run).is_file():
        return _of_report(args)
    recorded = read_run(Path(args.run))
    profile = args.profile
    stored, other, unknown = under_options(args, recorded)
    policy = policy_of(stored, other, parameters_given(args.set))
    found: JsonObject = {
        "run": args.run,
        "scorecard": policy.card.name,
        "parameters": {name: str(value) for name, value in policy.parameters.items()},
        "transcripts": len(stored.rows),
        "flips": flips(recorded, rescored(stored, policy.prepared()), policy.card),
        "unasked": unasked(recorded, other),
        "other_rules": [] if profile is not None else changed_rules(recorded, other),
        **({"profile": profile, "unknown": unknown} if profile is not None else {}),
    }
    if args.sweep is not None:
        found["sweep"] = {"parameter": args.sweep, "breakpoints": sweep(stored, policy, args.sweep)}
    if args.format == "json":
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        say(*_shown(found))
    if found["unasked"] or found["other_rules"] or unknown:
        return UNDECIDED
    return FAILED if found["flips"] else MET


def _of_report(args: argparse.Namespace) -> int:
    """As `run`, of the cases in a report of `score`."""
    if args.profile is not None or args.project is not None:
        raise UsageError(f"`{args.run}` is a report of `score`, which has no profile and no project")
    found = relabelled(Path(args.run), args.scorecard, dict(parameters_given(args.set)), args.sweep)
    if args.format == "json":
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        say(*_cases(found))
    if found["not_told"]:
        return UNDECIDED
    return FAILED if found["flips"] else MET


def _cases(found: JsonMapping) -> Iterator[str]:
    yield f"scorecard {found['scorecard']}"
    yield f"{len(found['flips'])} of {plural(found['cases'], 'case')} would change"
    for flip in found["flips"]:
        yield f"  {flip['test_id']}: {flip['before']} -> {flip['after']}"
    for name in found["not_told"][:MOST]:
        yield f"not known: {name}: a judge or other words counted, or its label is not that of its scores"
    if len(found["not_told"]) > MOST:
        yield f"and {len(found['not_told']) - MOST} more; `--format json` names all"
    if "sweep" in found:
        yield from _swept(found["sweep"], "case", "cases")


def _shown(found: JsonMapping) -> Iterator[str]:
    about = ", ".join(f"{name}={value}" for name, value in found["parameters"].items())
    yield f"scorecard {found['scorecard']}{f' with {about}' if about else ''}"
    yield f"{len(found['flips'])} of {plural(found['transcripts'], 'transcript')} would change"
    for flip in found["flips"]:
        before, after = flip["before"], flip["after"]
        words = [f"{before['outcome']} -> {after['outcome']}"] if before["outcome"] != after["outcome"] else []
        words += [f"{before['label']} -> {after['label']}"] if before["label"] != after["label"] else []
        if before["score"] != after["score"]:
            words.append(f"score {number(before['score'])} -> {number(after['score'])}")
        yield f"  {flip['transcript_id']}: {', '.join(words) or 'other states of gates'}"
    for check in found["unasked"]:
        yield f"not known: the run has not asked `{check}`; scan again"
    for item in found.get("unknown", ())[:MOST]:
        yield f"not known: {item} needs a question that was never asked"
    if len(found.get("unknown", ())) > MOST:
        yield f"and {len(found['unknown']) - MOST} more; `--format json` names all"
    for check in found["other_rules"]:
        yield f"not known: `{check}` has other rules now; its verdicts here are those of the run"
    if "sweep" in found:
        yield from _swept(found["sweep"])


def _swept(sweep: JsonMapping, one: str = "transcript", key: str = "transcripts") -> Iterator[str]:
    yield f"sweep of {sweep['parameter']}: " + (
        plural(len(sweep["breakpoints"]), "breakpoint") if sweep["breakpoints"] else "nothing changes at any value"
    )
    for point in sweep["breakpoints"]:
        side = "from" if point["side"] == "at" else "above"
        about = "" if point["exact"] else "about "
        names = point[key]
        some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        count = plural(len(names), f"{one} changes", f"{one}s change")
        yield f"  {side} {about}{point['at']:g}: {count} ({some})"
