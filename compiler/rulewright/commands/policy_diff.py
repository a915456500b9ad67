"""Show where two policies decide differently, for every input, or prove that they never do.

ONE and TWO are two scorecards, CEL policies, checks or workflows. Every region of inputs on which they differ is told
in the words of the documents, with an input on which both were carried out. What a gate, a rate or an output of a
scorecard makes of verdicts is shown by a row of both. --run names the transcripts of a finished run that change.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rulewright.commands.running import parameters_given
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.policies.compare import DIFFERENT, EQUAL, policy_diff
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.report.text import plural
from rulewright_runtime.terminal import say

MOST: Final = 20  # conditions of one region, and stored rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("one", metavar="ONE", help="a scorecard, a policy, a check or a workflow")
    parser.add_argument("two", metavar="TWO", help="another one of the same kind")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of both")
    parser.add_argument("--config", metavar="FILE", help="the settings file, or what declares a policy's variables")
    parser.add_argument("--run", metavar="RUN", help="name the transcripts of this run that change")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def run(args: argparse.Namespace) -> int:
    """Compare, show, choose the exit code."""

    for name in (args.one, args.two, *([] if args.config is None else [args.config])):
        if not Path(name).is_file():
            raise UsageError(f"file not found: `{name}`")
    found = policy_diff(
        Path(args.one),
        Path(args.two),
        given=parameters_given(args.set),
        assignments=args.set,
        config=args.config,
        run=None if args.run is None else read_run(Path(args.run)),
    )
    if args.format == "json":
        print(json.dumps(found, ensure_ascii=False, indent=2, default=str))
    else:
        say(*_shown(found))
    return {DIFFERENT: FAILED, EQUAL: MET}.get(found["verdict"], UNDECIDED)


def _shown(found: Mapping[str, Any]) -> Iterator[str]:

    yield f"{found['before']} -> {found['after']}: {_VERDICTS[found['verdict']]}"
    for region in found["regions"]:
        yield ""
        yield f"{region['place']}: {region['before']} -> {region['after']}"
        yield from (f"  where {condition}" for condition in region["where"][:MOST] if condition != "true")
        if len(region["where"]) > MOST:
            yield f"  and {len(region['where']) - MOST} more conditions; `--format json` holds all"
        yield from _witness(region)
    for each in found["settings"]:
        yield f"setting {each['place']}: {_value(each['before'])} -> {_value(each['after'])}"
    for each in found["unknown"]:
        yield f"unknown: {each['place']}: {each['why']}"
    for name, row in found.get("rows", {}).items():
        yield f"{'outcome' if name == 'engine' else name}, for instance: {_row(row, name)}"
    if "flips" in found:
        yield f"{plural(len(found['flips']), 'transcript')} of {found['run']} would change"
        for flip in found["flips"][:MOST]:
            yield f"  {flip['transcript_id']}: {_told(flip['before'])} -> {_told(flip['after'])}"
        if len(found["flips"]) > MOST:
            yield f"  and {len(found['flips']) - MOST} more"


_VERDICTS: Final = {
    "equal": "they decide alike for every input",
    "different": "they decide differently",
    "undecided": "no input was found on which they differ, and none was excluded",
}


def _witness(region: Mapping[str, Any]) -> Iterator[str]:
    if region["witness"]:
        yield f"  for instance {', '.join(_assigned(*pair) for pair in region['witness'].items())}"
    elif region["witness"] is None:
        yield f"  not shown: {region['why']}"
    else:
        yield "  for every input"


def _assigned(path: str, value: str) -> str:
    return f"{path} {value}" if value == "absent" else f"{path} = {value}"


def _value(value: Any) -> str:
    return "absent" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _row(row: Mapping[str, Any], name: str) -> str:
    verdicts = ", ".join(f"{each['check_id']} {each['verdict']}" for each in row["verdicts"]) or "no verdicts"
    before, after = (each["engine"]["outcome"] if name == "engine" else each.get(name) for each in row["rows"])
    if isinstance(before, dict) and isinstance(after, dict):
        apart = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
        before, after = ({key: each[key] for key in sorted(apart) if key in each} for each in (before, after))
    return f"{verdicts}: {_value(before)} -> {_value(after)}"


def _told(said: Any) -> str:
    """The outcome of a row, or whether a check applies."""
    if isinstance(said, str):
        return said
    score = "" if said["score"] is None else f" {said['score']:.3f}"
    return f"{said['outcome']} ({said['label']}){score}" if said["label"] else f"{said['outcome']}{score}"
