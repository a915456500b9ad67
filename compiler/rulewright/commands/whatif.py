"""`whatif` and `rescore`: score a run under another policy, and show the changes or write the run."""

import argparse
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from rulewright.commands.output import answer, writing_to
from rulewright.commands.running import parameters_given
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.reporting.stored_run import StoredRun, read_run
from rulewright.whatif.rescoring import (
    VOTES,
    Rejudged,
    ScoringPolicy,
    changed_rules,
    flips,
    policy_of,
    rejudged,
    rescored,
    sweep_votes,
    totals,
    unasked,
    with_votes,
    write_rescored,
)
from rulewright_runtime.english import plural, some
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.accumulators import gate_line
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.report.text import wrapped_lines
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import say, width_for

MOST: Final = 20  # unknown verdicts shown


def under_options(args: argparse.Namespace, stored: StoredRun) -> Rejudged:
    """The run under the profile of `--profile`, the votes of `--votes` and `--majority-of`, and the
    scorecard of `--scorecard`. No judge is asked."""
    if args.profile is not None and args.scorecard is None and stored.plan.scorecard is not None:
        args.scorecard = stored.plan.scorecard.name
    named = None
    if args.profile is not None or args.scorecard is not None:
        from rulewright.commands.chosen_project import compile_chosen  # imports the compiler

        named = compile_chosen(args)[1]
    plan = named if args.profile is not None else None
    if args.votes is not None or args.majority_of is not None:
        plan = with_votes(plan or stored.plan, args.votes, args.majority_of)
    judged = Rejudged(stored) if plan is None else _rejudged(args, stored, plan)
    return replace(judged, other=named, other_rules=[] if args.profile is not None else changed_rules(stored, named))


def _rejudged(args: argparse.Namespace, stored: StoredRun, plan: Plan) -> Rejudged:
    return rejudged(stored, plan, args.transcripts, [Path(file) for file in args.replies])


def run(args: argparse.Namespace) -> int:
    """Score again and show the changes; return the exit code."""
    if Path(args.run).is_file():
        return _of_report(args)
    recorded = read_run(Path(args.run))
    profile = args.profile
    under = under_options(args, recorded)
    policy = policy_of(under.run, under.other, parameters_given(args.set))
    rows, refused = rescored(under.run, policy.prepared()), recorded.summary["refused"]["count"]
    found: JsonObject = {
        "run": args.run,
        "scorecard": policy.card.name,
        "parameters": {name: str(value) for name, value in policy.parameters.items()},
        "transcripts": len(recorded.rows),
        "refused": refused,
        "before": totals(recorded.rows.values(), recorded.plan.scorecard or policy.card, refused),
        "after": totals(rows.values(), policy.card, refused),
        "flips": flips(recorded, rows, policy.card),
        "unasked": unasked(recorded, under.other),
        "other_rules": under.other_rules,
        **({"profile": profile} if profile is not None else {}),
        **({"votes": args.votes} if args.votes is not None else {}),
        **({"majority_of": args.majority_of} if args.majority_of is not None else {}),
        **({"unknown": under.unknown} if under.run is not recorded else {}),
    }
    if args.sweep is not None:
        found["sweep"] = _sweep(args, under.run, policy)
    answer(args.format, found, wrapped_lines(_shown(found), width_for(sys.stdout)), indent=2)
    if found["unasked"] or found["other_rules"] or under.unknown or found.get("sweep", {}).get("unknown"):
        return UNDECIDED
    results = [{name: gate["states"] for name, gate in found[side]["gates"].items()} for side in ("before", "after")]
    return FAILED if found["flips"] or results[0] != results[1] else MET


def _rated_gates(found: JsonMapping) -> Iterator[str]:
    """The gates with a pass rate, before and after if that differs."""
    before, after = found["before"]["gates"], found["after"]["gates"]
    for name in sorted(before | after):
        without = f"gate {name}: no pass rate"
        one, other = (gate_line(name, side[name]) if name in side else without for side in (before, after))
        yield one if one == other else f"{one} -> {other.removeprefix(f'gate {name}: ')}"


def _sweep(args: argparse.Namespace, stored: StoredRun, policy: ScoringPolicy) -> JsonObject:
    """The sweep of a parameter of the scorecard, or of the number of votes if no parameter has that name."""
    if args.sweep == VOTES and VOTES not in {parameter.name for parameter in policy.card.parameters}:
        return sweep_votes(stored.plan, partial(_rejudged, args, stored), policy)
    from rulewright.whatif.sweep import is_pass_rate, sweep, sweep_pass_rate, swept  # imports the prover

    breakpoints = (sweep_pass_rate if is_pass_rate(policy.card, args.sweep) else sweep)(stored, policy, args.sweep)
    default = swept(policy.card.parameters, args.sweep).default
    value = str(policy.parameters.get(args.sweep, default))
    return {"parameter": args.sweep, "value": value, "breakpoints": breakpoints}


def _of_report(args: argparse.Namespace) -> int:
    """As `run`, for the cases in a report of `score`."""
    if any(each is not None for each in (args.profile, args.project, args.votes, args.majority_of)):
        raise UsageError(f"`{args.run}` is a report of `score`, which has no profile, no project and no votes")
    from rulewright.whatif.case_labels import relabelled  # imports the scoring of cases

    found = relabelled(Path(args.run), args.scorecard, dict(parameters_given(args.set)), args.sweep)
    answer(args.format, found, wrapped_lines(_cases(found), width_for(sys.stdout)), indent=2)
    if found["undecided"]:
        return UNDECIDED
    return FAILED if found["flips"] else MET


def _cases(found: JsonMapping) -> Iterator[str]:
    yield f"scorecard {found['scorecard']}"
    yield from _count(found, "cases", "case")
    for flip in found["flips"]:
        yield f"  {flip['test_id']}: {flip['before']} -> {flip['after']}"
    for name in found["undecided"][:MOST]:
        yield f"unknown: {name}: a judge or matches by meaning counted, or the label does not follow from the scores"
    if len(found["undecided"]) > MOST:
        yield f"and {len(found['undecided']) - MOST} more; `--format json` names all"
    if "sweep" in found:
        yield from _swept(found["sweep"], "case", "cases")


def _count(found: JsonMapping, key: str, one: str) -> Iterator[str]:
    """How many change; nothing for a sweep alone, which changes nothing by itself."""
    if found["flips"] or "sweep" not in found:
        yield f"{len(found['flips'])} of {plural(found[key], one)} would change"


def _shown(found: JsonMapping) -> Iterator[str]:
    about = ", ".join(f"{name}={value}" for name, value in found["parameters"].items())
    yield f"scorecard {found['scorecard']}{f' with {about}' if about else ''}"
    yield from _count(found, "transcripts", "transcript")
    if found["refused"]:
        yield f"refused by the scan: {plural(found['refused'], 'input')}, which may have any outcome"
    if found["flips"]:
        yield from _totals(found["before"], found["after"])
    yield from _rated_gates(found)
    yield from _flips(found["flips"])
    for check in found["unasked"]:
        yield f"unknown: `{check}` was not run; scan again"
    for item in found.get("unknown", ())[:MOST]:
        yield f"unknown: {item} needs a question that was never asked"
    if len(found.get("unknown", ())) > MOST:
        yield f"and {len(found['unknown']) - MOST} more; `--format json` names all"
    for check in found["other_rules"]:
        yield f"unknown: `{check}` has changed since; the verdicts shown are those of the run"
    if "sweep" in found:
        yield from _swept(found["sweep"])


def _flips(flips: list[JsonMapping]) -> Iterator[str]:
    """A line for each transcript with another outcome, label or score, and one for all in which only gates differ."""
    shown = {flip["transcript_id"]: list(_changes(flip["before"], flip["after"])) for flip in flips}
    yield from (f"  {name}: {', '.join(words)}" for name, words in shown.items() if words)
    if gates := [name for name, words in shown.items() if not words]:
        yield f"  other states of gates, nothing else: {some(gates)}"


def _changes(before: JsonMapping, after: JsonMapping) -> Iterator[str]:
    if before["outcome"] != after["outcome"]:
        yield f"{before['outcome']} -> {after['outcome']}"
    if before["label"] != after["label"]:
        yield f"{before['label'] or '–'} -> {after['label'] or '–'}"
    if before["score"] != after["score"]:
        yield f"score {score_change(before['score'], after['score'])}"


def _totals(before: JsonMapping, after: JsonMapping) -> Iterator[str]:
    """The totals over all transcripts that differ."""
    parts = [
        f"{name.replace('_', ' ')} {count} -> {after['outcomes'][name]}"
        for name, count in before["outcomes"].items()
        if count != after["outcomes"][name]
    ]
    if before["mean"] != after["mean"]:
        parts.append(f"mean score {score_change(before['mean'], after['mean'])}")
    if before["scored"] != after["scored"]:
        parts.append(f"with a score {before['scored']} -> {after['scored']}")
    if parts:
        yield f"  all: {', '.join(parts)}"


def score_change(before: float | None, after: float | None) -> str:
    """Two scores with enough decimals to distinguish them."""
    for digits in (2, 3, 4, 6):
        shown = ["–" if each is None else f"{each:.{digits}f}" for each in (before, after)]
        if shown[0] != shown[1]:
            break
    return " -> ".join(shown)


def _swept(sweep: JsonMapping, one: str = "transcript", key: str = "transcripts") -> Iterator[str]:
    now = f" ({sweep['value']} now)" if "value" in sweep else ""
    yield f"sweep of {sweep['parameter']}{now}: " + (
        plural(len(sweep["breakpoints"]), "breakpoint") if sweep["breakpoints"] else f"no {one} changes at any value"
    )
    for point in sweep["breakpoints"]:
        side = "from" if point["side"] == "at" else "above"
        value = f"{'' if point['exact'] else 'about '}{point['at']:g}"
        names = point[key]
        count = plural(len(names), f"{one} changes", f"{one}s change")
        if "gates" not in point:
            yield f"  {side} {value}: {count} ({some(names)})"
        if "fraction" in point and Fraction(f"{point['at']:g}") != Fraction(point["fraction"]):
            value += f" ({point['fraction']})"
        for gate, result in point.get("gates", {}).items():
            yield f"  {side} {value}: gate {gate} {result['before']} -> {result['after']}"
    for votes, count in sweep.get("unknown", {}).items():
        single, several = (
            "verdict needs a question that was never asked",
            "verdicts need questions that were never asked",
        )
        yield f"  unknown at {votes}: {plural(count, single, several)}"


def rescore(args: argparse.Namespace) -> int:
    """Score again and write; return the exit code of a scan. Raises UsageError."""
    folder, out = Path(args.run), Path(args.out)
    if folder.is_file():
        raise UsageError(f"`{folder}` is a report of `score`: run `score` again with `--set`")
    if out.exists():
        raise UsageError(f"`{out}` already exists; name a new folder")
    recorded = read_run(folder)
    under = under_options(args, recorded)
    unknown = under.unknown
    if missing := [*unasked(recorded, under.other), *under.other_rules]:
        raise UsageError(f"the check `{missing[0]}` was not run, or has changed since; scan again")
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UsageError(f"`{unknown[0]}`{more}: this needs a question that was never asked; scan again")
    policy = policy_of(under.run, under.other, parameters_given(args.set))
    with writing_to(out):
        summary = write_rescored(recorded, under.run, policy, out)
    say(f"wrote {out}: {plural(len(recorded.rows), 'transcript')} of {folder} under scorecard {summary['scorecard']}")
    return exit_status(summary)
