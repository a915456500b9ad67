"""Find mistakes before anything runs, to the exact column.

PATHS are projects, folders or single files; without any, the project around the working folder. `-` reads one
document from standard input (name it with --stdin-name).

exit codes: 0 clean, 1 findings, 2 bad usage, 3 internal error
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rulewright.errors import UsageError

if TYPE_CHECKING:
    from rulewright.linting import Report, Selection

FORMATS = ("human", "json", "sarif", "github", "junit", "checkstyle")  # `render.FORMATS`, without importing it
LEVELS = ("error", "warning", "advice")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="projects, folders or files; - for standard input")
    parser.add_argument("--format", choices=FORMATS, default="human")
    parser.add_argument("--select", action="append", default=[], metavar="CODES", help="only these, e.g. lexicon-*")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="all but these")
    parser.add_argument("--fail-level", choices=LEVELS, default="warning", help="the mildest that fails (warning)")
    parser.add_argument("--fix", action="store_true", help="apply safe fixes")
    parser.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: the others too")
    parser.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    parser.add_argument("--statistics", action="store_true", help="count the findings by code instead")
    parser.add_argument("--stdin-name", default="stdin.yaml", metavar="NAME", help="what to call standard input")


def run(args: argparse.Namespace) -> int:
    """Lint, then show what was asked for."""
    from rulewright import linting
    from rulewright.diagnostics import Severity

    selection = linting.Selection(_codes(args.select), _codes(args.ignore))
    selection.check()
    if args.diff:
        return _diff(_report(args, selection), args.unsafe_fixes)
    if args.fix:
        if "-" in args.paths:
            raise UsageError("`--fix` changes files and can't change standard input; `--diff` shows the change")
        report = linting.fix_files(_paths(args), selection, unsafe=args.unsafe_fixes)
    else:
        report = _report(args, selection)
    _show(report, args)
    return 1 if report.fails(Severity(args.fail_level)) else 0


def _codes(given: list[str]) -> tuple[str, ...]:
    return tuple(code.strip() for one in given for code in one.split(",") if code.strip())


def _paths(args: argparse.Namespace) -> list[Path]:
    from rulewright.commands.project_options import nearest_project

    return [Path(path) for path in args.paths] or [nearest_project()]


def _report(args: argparse.Namespace, selection: Selection) -> Report:
    from rulewright import linting

    if "-" in args.paths:
        if len(args.paths) > 1:
            raise UsageError("`-` reads one document and stands alone")
        return linting.lint_text(sys.stdin.buffer.read(), args.stdin_name, selection)
    return linting.lint(_paths(args), selection)


def _show(report: Report, args: argparse.Namespace) -> None:
    from rulewright.manual import explain
    from rulewright.render import render, wants_colour
    from rulewright.render.human import width_for

    if args.statistics:
        if args.format == "json":
            print(json.dumps([{"code": c, "severity": s, "count": n} for c, s, n in report.statistics]))
        else:
            for code, severity, count in report.statistics:
                print(f"{count:6} {severity:8} {code}")
        return
    colour = args.format == "human" and wants_colour(sys.stdout)
    width = width_for(sys.stdout)
    shown = render(args.format, report.diagnostics, report.sources, page_of=explain, colour=colour, width=width)
    sys.stdout.write(shown)


def _diff(report: Report, unsafe: bool) -> int:
    from rulewright import fixes, linting

    changed = linting.fix(report, unsafe=unsafe)
    for path, text in sorted(changed.items()):
        sys.stdout.write(fixes.diff(path, report.sources[path].text, text))
    return 1 if changed else 0
