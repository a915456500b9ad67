"""`leaderboard`: rank models and show the result."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from rulewright.commands.output import writing_to
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.reporting.leaderboard import RAW, leaderboard, unpaired_line
from rulewright_runtime.cells import width
from rulewright_runtime.english import plural, ticked
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.report.summary import judge_line
from rulewright_runtime.report.text import NO_SCENARIO, escape, number, percent, table
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import WIDTH, left, right, width_for, wrapped

HEADS = (("score", 14), ("95%", 12), ("failed", 12), ("95%", 10), ("unscored", 10))
FIGURES = sum(size for _, size in HEADS)


def run(args: argparse.Namespace) -> int:
    """Rank, write and show; return the exit code."""
    board = leaderboard([Path(run) for run in args.runs], args.harness or [RAW])
    text = json.dumps(board, ensure_ascii=False, indent=2) + "\n"
    if args.out not in (None, "-"):
        with writing_to(args.out):
            write_whole(args.out, text.encode())
    lines = _markdown(board) if args.format == "markdown" else _console(board)
    is_json = args.format == "json" or args.out == "-"
    sys.stdout.write(text if is_json else "".join(f"{line.rstrip()}\n" for line in lines))
    settled = not any(model["unproven"] for model in board["models"])
    complete = board["models"] and settled and not (board["excluded"] or board["incomplete"] or board["refused"])
    return FAILED if not complete else UNDECIDED if board["hindrances"] else MET


def _console(board: JsonMapping) -> Iterator[str]:
    columns = width_for(sys.stdout)
    yield from wrapped(f"Rulewright leaderboard: {_about(board)}", columns)
    if judge := judge_line(board["judge"]):
        yield from wrapped(f"judged by {judge}", columns)
    longest = max((width(model["model"]) for model in board["models"]), default=0)
    wide = max(WIDTH - FIGURES, min(columns - FIGURES, longest + 8))  # a pipe holds every name whole
    yield "─" * (wide + FIGURES)
    yield left("  rank  model", wide) + "".join(right(head, size) for head, size in HEADS)
    for rank, name, *figures in map(_row, board["models"]):
        cells = (right(figure, size) for figure, (_, size) in zip(figures, HEADS, strict=True))
        yield right(rank, 6) + left(f"  {name}", wide - 6) + "".join(cells)
    if not board["models"]:
        yield "  no model is ranked"
    for line in _remarks(board):
        first, *more = wrapped(line, columns - 2)
        yield from (first, *(f"  {each}" for each in more))


def _markdown(board: JsonMapping) -> Iterator[str]:
    yield "# Leaderboard"
    yield ""
    yield f"{escape(_about(board))}."
    if judge := judge_line(board["judge"]):
        yield ""
        yield f"Judged by {escape(judge)}."
    yield ""
    if board["models"]:
        yield from table(("rank", "model", *(head for head, _ in HEADS)), map(_row, board["models"]))
    else:
        yield "No model is ranked."
    if remarks := [f"- {escape(line)}" for line in _remarks(board)]:
        yield from ("", *remarks)


def _about(board: JsonMapping) -> str:
    return f"{_played(board['scenarios'])}, profile {board['profile']}, scorecard {board['scorecard']}"


def _row(model: JsonMapping) -> tuple[str, ...]:
    """The rank and the name of a model, and its figures in the order of `HEADS`."""
    low, high = model["interval"]["low"], model["interval"]["high"]
    return (
        _between(*model["ranks"]),
        model["model"],
        _between(*(number(model["bounds"][end]) for end in ("low", "high"))),
        number(low) if low is None else f"{number(low)}–{number(high)}",
        f"{model['failed']} of {model['transcripts']}",
        _between(*(percent(model["failed_rate"][end]) for end in ("low", "high"))),
        str(model["unscored"]),
    )


def _remarks(board: JsonMapping) -> Iterator[str]:
    yield from _beside(board)
    if line := unpaired_line(board["unpaired"]):
        yield f"not paired: {line}"
    yield from _of_models(board["models"])
    yield from _hindrances(board)


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
        yield f"help: {' '.join(f'`--harness {quote(name)}`' for name in others)} accepts them"


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
