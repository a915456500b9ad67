"""Say what a scan would do and cost, without calling anything.

Writes `scan_plan.json` and `cost_report.json` into --out (default: the working folder). With --compare A B it sets two
profiles side by side instead.

exit codes: 0 planned, 2 bad usage, 3 the project has errors or an input was refused
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulewright.commands.project_options import add_project_options, compile_chosen, find_project
from rulewright_runtime.files import write_whole

if TYPE_CHECKING:
    from rulewright_runtime.errors import InputError
    from rulewright_runtime.plan import Plan
    from rulewright_runtime.transcripts import Transcript

REFUSED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_project_options(parser)
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help="two profiles side by side: what each leaves out and saves; writes comparison.json",
    )
    parser.add_argument("--judge-model", metavar="MODEL", help="the model whose price counts (default: the project's)")
    parser.add_argument("--out", default=".", metavar="FOLDER", help="where the two files go")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def run(args: argparse.Namespace) -> int:
    """Plan, write both files, show the figures."""
    from rulewright.planning.scan import cost_report, scan_plan

    if args.compare is not None:
        return _compare(args)
    project, plan = compile_chosen(args)
    transcripts, refused = _read(plan, args.transcripts)
    planned = scan_plan(project, plan, transcripts, judge_model=args.judge_model)
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("scan_plan.json", planned), ("cost_report.json", cost_report(planned))):
        _write(folder / name, content)
    print(json.dumps(planned, ensure_ascii=False) if args.format == "json" else _figures(planned, folder))
    return REFUSED if refused else 0


def _compare(args: argparse.Namespace) -> int:
    """Compare two profiles over the same transcripts."""
    from rulewright.compiling import compile_project
    from rulewright.planning.profiles import compare_profiles, shown

    project = find_project(args.project)
    first, second = args.compare
    transcripts, refused = _read(compile_project(project, profile=first, scorecard=args.scorecard), args.transcripts)
    comparison = compare_profiles(
        project, first, second, transcripts, scorecard=args.scorecard, judge_model=args.judge_model
    )
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "comparison.json", comparison)
    print(json.dumps(comparison, ensure_ascii=False) if args.format == "json" else shown(comparison))
    return REFUSED if refused else 0


def _read(plan: Plan, paths: list[str]) -> tuple[list[Transcript], list[InputError]]:
    """The transcripts that a scan would judge, and those it would refuse, which are told at once."""
    from rulewright_runtime.errors import InputError
    from rulewright_runtime.transcripts import Reader

    transcripts, refused = [], []
    for item in Reader(plan.scenarios).read(paths):
        if isinstance(item, InputError):
            refused.append(item)
        elif reason := plan.scenarios[item.scenario_id].refused:
            refused.append(InputError(reason, item.path, item.line))
        else:
            transcripts.append(item)
    for error in refused:
        print(f"error: {error}", file=sys.stderr)
    return transcripts, refused


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def _figures(planned: Mapping[str, Any], folder: Path) -> str:
    calls, cost = planned["llm_calls"], planned["estimated_cost_usd"]
    price = "unknown (no price for the judge's model)" if cost is None else f"about {cost:.4f} USD"
    return "\n".join(
        (
            f"profile        {planned['profile']}",
            f"transcripts    {planned['transcript_count']}",
            f"checks to run  {planned['eligible_checks']}",
            f"judge calls    {planned['planned_llm_calls']} (between {calls['lower']} and {calls['upper']})",
            f"judge model    {planned['judge_model'] or 'none'}",
            f"cost           {price}",
            *(f"left out       {check} (its gates stay open where it applies)" for check in planned["left_out"]),
            f"written        {folder / 'scan_plan.json'}, {folder / 'cost_report.json'}",
        )
    )
