"""`policy-diff`: compare two policies and show the differences."""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from difflib import ndiff
from itertools import chain
from pathlib import Path
from typing import Any, Final

from rulewright.commands.output import answer
from rulewright.commands.running import parameters_given
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.policies.compare import CASES, DIFFERENT, EQUAL, policy_diff
from rulewright.policies.example_rows import verdicts_of
from rulewright.project import load_project
from rulewright.reporting.stored_run import read_run
from rulewright.witnesses.conversation_records import LONG, as_json, conversation_lines
from rulewright_runtime.english import plural, some
from rulewright_runtime.report.text import wrapped_lines
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import width_for

MOST: Final = 20  # conditions of one region, and stored rows
_ASKED: Final = re.compile(r"\.prompt\b|\.(tags|budgets)$|^check\.fields\.")  # what a judge is only shown
MOST_UNSHOWN: Final = 3  # regions of one place without an input that are written out


def run(args: argparse.Namespace) -> int:
    """Compare and show; return the exit code. Raises UsageError."""
    is_report = args.run is not None and Path(args.run).is_file()
    found = policy_diff(
        Path(args.one),
        Path(args.two),
        given=parameters_given(args.set),
        assignments=args.set,
        config=args.config,
        project=None if args.project is None else load_project(args.project),
        run=None if args.run is None or is_report else read_run(Path(args.run)),
        report=Path(args.run) if is_report else None,
    )
    answer(args.format, found, wrapped_lines(_shown(found), width_for(sys.stdout)), indent=2)
    return {DIFFERENT: FAILED, EQUAL: MET}.get(found["verdict"], UNDECIDED)


def _shown(found: JsonMapping) -> Iterator[str]:

    under = ", ".join(f"{name} = {as_json(value)}" for name, value in found.get("under", {}).items())
    yield f"{found['before']} -> {found['after']}: {_in_words(found)}" + (f", with {under}" if under else "")
    yield from _regions(found["regions"])
    for each in found["settings"]:
        yield from _setting(**each)
    for each in found["unknown"]:
        yield f"unknown: {each['place']}: {each['why']}"
    for name, row in found.get("rows", {}).items():
        yield f"{'outcome' if name == 'engine' else name}, for instance: {_row(row, name)}"
    if "flips" in found:
        what = "case" if found["kind"] == CASES else "transcript"
        yield f"{plural(len(found['flips']), what)} of {found['run']} would change"
        for flip in found["flips"][:MOST]:
            name = flip.get("transcript_id") or flip["test_id"]
            yield f"  {name}: {_described(flip['before'])} -> {_described(flip['after'])}"
        if len(found["flips"]) > MOST:
            yield f"  and {len(found['flips']) - MOST} more"
    if found.get("gone"):
        gone = plural(found["gone"], "conversation is", "conversations are")
        yield f"unknown: {gone} missing or changed; for them, only whether the checks apply is compared"
    for name in found.get("undecided", ()):
        yield f"unknown: {name}: a judge or matches by meaning counted, which only `score` can repeat"


def _in_words(found: JsonMapping) -> str:
    """The verdict; of what a judge is only shown it is known what leaves it open."""
    changed = [*found["regions"], *found["unknown"], *found["settings"]]
    if changed and all(_ASKED.search(each["place"]) for each in changed):
        return "they ask a judge differently, so only its replies can differ"
    if (
        found["kind"] == "workflow"
        and changed
        and changed == [each for each in found["settings"] if _is_of_a_run(each)]
    ):
        return "every gate and transition decides the same; only a run, with its files and agents, shows what differs"
    return _VERDICTS[found["verdict"]]


def _is_of_a_run(setting: JsonMapping) -> bool:
    """Whether a setting differs, and is not a place that only one of the two workflows decides."""
    return "declared" not in (setting["before"], setting["after"])


def _regions(regions: Sequence[JsonMapping]) -> Iterator[str]:
    """The regions with an input first; many without one at one place are named, without their conditions."""
    unshown: dict[str, list[JsonMapping]] = {}
    for region in regions:
        if region["witness"] is None:
            unshown.setdefault(region["place"], []).append(region)
        else:
            yield from _region(region)
    for place, several in unshown.items():
        if len(several) <= MOST_UNSHOWN:
            yield from chain.from_iterable(map(_region, several))
        else:
            yield from ("", f"{place}: {len(several)} differences are neither shown nor proved impossible")
            changes = [f"{each['before']} -> {each['after']}" for each in several]
            yield f"  {some(changes, MOST)}"
            yield "  `--format json` shows all, with their conditions"


def _region(region: JsonMapping) -> Iterator[str]:
    changed = f" ({region['change']})" if "change" in region else ""
    yield from ("", f"{region['place']}: {region['before']} -> {region['after']}{changed}")
    yield from (f"  where {condition}" for condition in region["where"][:MOST] if condition != "true")
    if len(region["where"]) > MOST:
        yield f"  and {plural(len(region['where']) - MOST, 'more condition')}; `--format json` shows all"
    yield from _witness(region)


_VERDICTS: Final = {
    "equal": "they decide the same for every input",
    "different": "they decide differently",
    "undecided": "neither a difference nor a proof of equivalence was found",
}


def _setting(place: str, before: Any, after: Any) -> Iterator[str]:
    """A setting that differs; for a text of several lines, such as a prompt, the lines that differ."""
    if (
        isinstance(before, str)
        and isinstance(after, str)
        and ("\n" in before + after or min(len(before), len(after)) > LONG)
    ):
        yield f"changed text {place}:"
        lines = ndiff(before.splitlines(), after.splitlines())
        yield from (f"  {line}" for line in lines if line.startswith(("- ", "+ ")))
    else:
        yield f"setting {place}: {as_json(before)} -> {as_json(after)}"


def _witness(region: JsonMapping) -> Iterator[str]:
    if region["witness"] and "messages" in region["witness"]:
        yield "  for instance"
        yield from (f"    {line}" for line in conversation_lines(**region["witness"]))
    elif region["witness"]:
        yield f"  for instance {', '.join(_assigned(*pair) for pair in region['witness'].items())}"
    elif region["witness"] is None:
        yield f"  not shown: {region['why']}"
    else:
        yield "  for every input"


def _assigned(path: str, value: object) -> str:
    shown = value if isinstance(value, str) and len(value.splitlines()) < 2 else as_json(value)
    return f"{path} {value}" if value == "absent" else f"{path} = {shown}"


def _row(row: JsonMapping, name: str) -> str:
    verdicts = verdicts_of(row)
    before, after = (each["engine"]["outcome"] if name == "engine" else each.get(name) for each in row["rows"])
    if isinstance(before, dict) and isinstance(after, dict):
        apart = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
        before, after = ({key: each[key] for key in sorted(apart) if key in each} for each in (before, after))
    return f"{verdicts}: {as_json(before)} -> {as_json(after)}"


def _described(outcome: Any) -> str:
    """The outcome of a row, or whether a check applies."""
    if isinstance(outcome, str):
        return outcome
    score = "" if outcome["score"] is None else f" {outcome['score']:.3f}"
    return f"{outcome['outcome']} ({outcome['label']}){score}" if outcome["label"] else f"{outcome['outcome']}{score}"
