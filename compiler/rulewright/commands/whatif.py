"""Say what a finished run would tell under other parameters, another scorecard or another profile.

The recorded verdicts are scored again; no judge is asked and nothing is written. --set changes a parameter of the
scorecard, --scorecard takes another one of the project, --profile another profile: recorded replies are counted again
under its votes. --sweep finds every value of a parameter at which a transcript changes. What would need a question that
was never asked is named: its verdict is not guessed. `rulewright rescore` writes such a run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rulewright.commands.project_options import compile_chosen
from rulewright.commands.running import parameters_given
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.reporting.stored_run import StoredRun, read_run
from rulewright.whatif.rejudging import rejudged
from rulewright.whatif.rescoring import changed_rules, flips, policy_of, rescored, unasked
from rulewright.whatif.sweep import sweep
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.text import number, plural
from rulewright_runtime.terminal import say

MOST: Final = 20  # unknown verdicts that are named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_policy_options(parser)
    parser.add_argument("--profile", metavar="NAME", help="another profile of the project: which checks run, and votes")
    parser.add_argument(
        "--transcripts", action="append", default=[], metavar="PATH", help="conversations of the run (with --profile)"
    )
    parser.add_argument(
        "--replies", action="append", default=[], metavar="FILE", help="replies that the run replayed (with --profile)"
    )
    parser.add_argument("--sweep", metavar="NAME", help="find where along this parameter transcripts change")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """Declare the run, and under which policy it is scored again."""
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scorecard")
    parser.add_argument("--scorecard", metavar="NAME", help="another scorecard of the project")
    parser.add_argument("--project", metavar="PATH", help="where that scorecard is (default: the nearest project)")


def other_plan(args: argparse.Namespace) -> Plan | None:
    """The plan of the project under the scorecard that `--scorecard` names; None without it."""
    if args.scorecard is None:
        return None
    args.profile = None
    return compile_chosen(args)[1]


def _under_profile(args: argparse.Namespace, stored: StoredRun) -> tuple[StoredRun, Plan | None, list[str]]:
    """The run as its recorded verdicts and replies let it stand under another profile, and what is not known of it."""
    if args.profile is None:
        return stored, other_plan(args), []
    if args.scorecard is None and stored.plan.scorecard is not None:
        args.scorecard = stored.plan.scorecard.name
    plan = compile_chosen(args)[1]
    judged = rejudged(stored, plan, args.transcripts, [Path(file) for file in args.replies])
    return judged.run, plan, judged.unknown


def run(args: argparse.Namespace) -> int:
    """Score again, show what changes."""
    recorded = read_run(Path(args.run))
    profile = args.profile
    stored, other, unknown = _under_profile(args, recorded)
    policy = policy_of(stored, other, parameters_given(args.set))
    found: dict[str, Any] = {
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
    if found["unasked"] or unknown:
        return UNDECIDED
    return FAILED if found["flips"] else MET


def _shown(found: Mapping[str, Any]) -> Iterator[str]:
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


def _swept(sweep: Mapping[str, Any]) -> Iterator[str]:
    yield f"sweep of {sweep['parameter']}: " + (
        plural(len(sweep["breakpoints"]), "breakpoint") if sweep["breakpoints"] else "nothing changes at any value"
    )
    for point in sweep["breakpoints"]:
        side = "from" if point["side"] == "at" else "above"
        about = "" if point["exact"] else "about "
        names = point["transcripts"]
        some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        count = plural(len(names), "transcript changes", "transcripts change")
        yield f"  {side} {about}{point['at']:g}: {count} ({some})"
