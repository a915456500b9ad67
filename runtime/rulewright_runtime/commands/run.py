"""`run`: judge transcripts by a compiled plan."""

from __future__ import annotations

import sys

from rulewright_runtime.commands.given_words import content_of, number, typed
from rulewright_runtime.plan.file import decode
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.runs.store import run
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import complain, safe_stream


def run_command(given: JsonObject) -> int:
    """Do what the words say; the value is the exit status."""
    plan = decode(content_of(given["files"][0]))
    summary = run(
        plan,
        given["files"][1:],
        given["out"],
        judge=given.get("judge"),
        parameters=typed(plan.scorecard.parameters if plan.scorecard else (), given["parameters"]),
        resume=given["resume"],
        overwrite=given["overwrite"],
        max_calls=number(given, "max_calls"),
        max_line=number(given, "max_line"),
        max_expanded=number(given, "max_expanded"),
        jobs=number(given, "jobs") or 1,
        ray=given.get("ray"),
        progress=lambda done: safe_stream(sys.stderr).show_progress(f"{done} transcripts"),
    )
    safe_stream(sys.stderr).show_progress("")
    for refused in summary["refused"]["inputs"]:
        place = f"{refused['path']}:{refused['line']}" if refused["line"] else refused["path"]
        complain(f"{place}: {refused['reason']}")
    return exit_status(summary)
