"""`run`: judge transcripts by a compiled plan."""

from __future__ import annotations

import sys

from rulewright_runtime.commands.options import integer, parse_parameters, read_file
from rulewright_runtime.english import plural
from rulewright_runtime.plan.file import decode
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.report.text import place_of
from rulewright_runtime.runs.store import run
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import complain, safe_stream
from rulewright_runtime.transcripts.transcript_reader import reading_notes


def run_command(options: JsonObject) -> int:
    """Execute the command. Returns the exit status."""
    plan = decode(read_file(options["files"][0]))
    summary = run(
        plan,
        options["files"][1:],
        options["out"],
        judge=options.get("judge"),
        parameters=parse_parameters(plan.scorecard.parameters if plan.scorecard else (), options["parameters"]),
        resume=options["resume"],
        overwrite=options["overwrite"],
        max_calls=integer(options, "max_calls"),
        max_line=integer(options, "max_line"),
        max_expanded=integer(options, "max_expanded"),
        jobs=integer(options, "jobs") or 1,
        ray=options.get("ray"),
        progress=lambda done: safe_stream(sys.stderr).show_progress(f"{plural(done, 'transcript')}"),
    )
    safe_stream(sys.stderr).show_progress("")
    complain(*(f"{place_of(each)}: {each['reason']}" for each in summary["refused"]["inputs"]))
    complain(
        *reading_notes(
            summary.get("unread_files", {}), summary.get("unused_columns", ()), summary.get("labels_read_as_text", ())
        )
    )
    return exit_status(summary)
