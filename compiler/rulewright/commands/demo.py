"""`demo`: lint and scan the shipped benchmark."""

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Final

from rulewright.check.project_check import compile_project
from rulewright.commands.output import writing_to
from rulewright.exit_codes import REFUSED
from rulewright.linting.projects import lint_project
from rulewright.project import load_project
from rulewright.render.output_formats import render
from rulewright.shipped import PROJECT_FILE, shipped_root
from rulewright_runtime.report.console import scorecard
from rulewright_runtime.runs.store import run as run_plan
from rulewright_runtime.terminal import safe_stream, say, wants_colour

USUAL: Final = os.path.join("runs", "demo")


def run(args: argparse.Namespace) -> int:
    """Lint, compile, scan and show the result; return the exit code."""
    root = shipped_root()
    project = load_project(root / PROJECT_FILE)
    report = lint_project(project)
    sys.stdout.write("lint: " + render("human", report.diagnostics, report.sources))
    plan = compile_project(project)
    say(f"plan: {len(plan.checks)} checks, profile {plan.profile}, hash {plan.hash[:16]}", "")
    transcripts = root / PROJECT_FILE.parent / "transcripts"
    out, overwrite = (USUAL, True) if args.out is None else (args.out, args.overwrite)
    with writing_to(out):
        summary = run_plan(plan, [transcripts], out, overwrite=overwrite, judge=project.judge_source)
    safe_stream(sys.stdout).write_coloured(scorecard(summary, colour=wants_colour(sys.stdout)))
    say(f"report: {Path(out) / 'summary.md'}; as a page: rulewright report {shlex.quote(out)}")
    return REFUSED if report.diagnostics or summary["refused"]["count"] else 0
