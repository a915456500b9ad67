"""`leaderboard`: rank models and show the result."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rulewright.commands.output import writing_to
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.reporting.leaderboard import RAW, leaderboard
from rulewright_runtime.cells import width
from rulewright_runtime.english import plural, ticked
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.report.summary import judge_line
from rulewright_runtime.report.text import NO_SCENARIO, number, percent
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import WIDTH, left, right, width_for, wrapped

HEADS = (("score", 14), ("95 %", 12), ("failed", 12), ("95 %", 10), ("unscored", 10))
FIGURES = sum(size for _, size in HEADS)


def run(args: argparse.Namespace) -> int:
    """Rank, write and show; return the exit code."""
    board = leaderboard([Path(run) for run in args.runs], args.harness or [RAW])
    text = json.dumps(board, ensure_ascii=False, indent=2) + "\n"
    if args.out is not None:
        with writing_to(args.out):
            write_whole(args.out, text.encode())
    sys.stdout.write(text if args.format == "json" else "".join(f"{line.rstrip()}\n" for line in _shown(board)))
    settled = not any(model["unproven"] for model in board["models"])
    complete = board["models"] and settled and not (board["excluded"] or board["incomplete"] or board["refused"])
    return FAILED if not complete else UNDECIDED if board["hindrances"] else MET


def _shown(board: JsonMapping) -> Iterator[str]:
    columns = width_for(sys.stdout)
    about = f"{_played(board['scenarios'])}, profile {board['profile']}, scorecard {board['scorecard']}"
    yield from wrapped(f"Rulewright leaderboard: {about}", columns)
    if judge := judge_line(board["judge"]):
        yield from wrapped(f"judged by {judge}", columns)
    longest = max((width(model["model"]) for model in board["models"]), default=0)
    wide = max(WIDTH - FIGURES, min(columns - FIGURES, longest + 8))  # a pipe holds every name whole
    yield "─" * (wide + FIGURES)
    yield left("  rank  model", wide) + "".join(right(head, size) for head, size in HEADS)
    for model in board["models"]:
        low, high = model["interval"]["low"], model["interval"]["high"]
        yield (
            right(_between(*model["ranks"]), 6)
            + left(f"  {model['model']}", wide - 6)
            + right(_between(*(f"{model['bounds'][end]:.3f}" for end in ("low", "high"))), 14)
            + right(number(low) if low is None else f"{number(low)}–{number(high)}", 12)
            + right(f"{model['failed']} of {model['transcripts']}", 12)
            + right(_between(*(percent(model["failed_rate"][end]) for end in ("low", "high"))), 10)
            + right(str(model["unscored"]), 10)
        )
    if not board["models"]:
        yield "  no model is ranked"
    for line in (*_beside(board), *_of_models(board["models"]), *_hindrances(board)):
        first, *more = wrapped(line, columns - 2)
        yield from (first, *(f"  {each}" for each in more))


def _beside(board: JsonMapping) -> Iterator[str]:
    """The models and transcripts that are not ranked."""
    for part in board["incomplete"]:
        some = ", ".join(name or NO_SCENARIO for name in part["missing"][:3])
        some += ", ..." if len(part["missing"]) > 3 else ""
        yield f"not ranked: {part['model']} lacks {plural(len(part['missing']), 'scenario')} ({some})"
    for part in board["excluded"]:
        recorded = " and ".join(f"{name} in {count}" for name, count in part["harness"].items())
        yield f"left out: {part['model']}, whose harness is {recorded} of {plural(part['transcripts'], 'transcript')}"


def _of_models(models: Sequence[JsonMapping]) -> Iterator[str]:
    """For each model, its undecided transcripts and its blindspots."""
    for model in models:
        if model["awaiting"]:
            what = plural(model["awaiting"], "transcript")
            verb = "awaits" if model["awaiting"] == 1 else "await"
            yield f"waiting: {what} of {model['model']} {verb} a person, so its rank may change"
        if model["unresolved"]:
            what = plural(model["unresolved"], "transcript")
            yield f"unresolved: {what} of {model['model']} with missing answers; the score is an interval"
        if model["unproven"]:
            what = plural(model["unproven"], "failed transcript")
            yield f"unproven: {what} of {model['model']} without a confirmed failure; adjudicate them"
    for model in models:
        if shown := [f"{label} {each['raised']} of {each['of']}" for label, each in _worst(model["blindspots"])]:
            yield f"blindspots of {model['model']}: {', '.join(shown)}"


def _hindrances(board: JsonMapping) -> Iterator[str]:
    """The reasons against publishing the leaderboard, and what its figures do not include."""
    if board["hindrances"]:
        yield f"not to be published: {'; '.join(board['hindrances'])}"
    if board["refused"]:
        yield f"refused by the scans: {plural(board['refused'], 'input')}, not in any score"
    if board["unplayed"] and board["models"]:
        some = ", ".join(board["unplayed"][:3]) + (", ..." if len(board["unplayed"]) > 3 else "")
        yield f"not played: {plural(len(board['unplayed']), 'scenario')} of the plan ({some})"
    for name, runs in board["unapplied"].items():
        yield f"`{name}` applied to no transcript of {ticked(runs)}"
    others = sorted({name for part in board["excluded"] for name in part["harness"]})
    if others:
        yield f"help: {' '.join(f'`--harness {name}`' for name in others)} accepts them"


def _worst(blindspots: JsonMapping) -> list[tuple[str, Any]]:
    """The three labels of the most transcripts."""
    raised = [(label, each) for label, each in blindspots.items() if each["raised"]]
    return sorted(raised, key=lambda pair: (-pair[1]["rate"], pair[0]))[:3]


def _played(scenarios: Sequence[str | None]) -> str:
    """The number of scenarios played, for the heading; chats without a scenario are counted separately."""
    named = [name for name in scenarios if name]
    parts = [plural(len(named), "scenario")] if named else []
    parts += [f"chats {NO_SCENARIO}"] if len(named) < len(scenarios) else []
    return " and ".join(parts) or "nothing ranked"


def _between(low: object, high: object) -> str:
    """One value, or both ends of an interval."""
    return str(low) if low == high else f"{low}–{high}"
