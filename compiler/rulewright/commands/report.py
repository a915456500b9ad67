"""`report` and `record`: write a finished run in one of the formats, or its replies."""

import argparse
import json
from contextlib import nullcontext
from pathlib import Path

from rulewright.commands.output import hand_over, writing_to
from rulewright.commands.running import note_decisions, print_run, status_of
from rulewright.errors import UsageError
from rulewright.reporting.formats import result_of, run_as
from rulewright.reporting.page_data import page_data
from rulewright.reporting.report_files import RunReport
from rulewright.reporting.stored_run import FinishedRun, open_judged, open_run
from rulewright_runtime.english import plural
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.judging.exchanges import answers_of, read_exchanges, replay_of
from rulewright_runtime.runs.folder import REPLIES
from rulewright_runtime.terminal import complain, say


def run(args: argparse.Namespace) -> int:
    """Gather, render and write; return the exit code."""
    folder = Path(args.run)
    out = args.out or (str(folder / "report.html") if args.format == "html" else "-")
    writes_there = out != "-" and folder.is_dir() and Path(out).parent.resolve() == folder.resolve()
    with lock_folder(folder) if writes_there else nullcontext():
        found = open_run(folder)
        note_decisions(folder)
        status = status_of(found.summary, found.plan, args.fail_on)
        if args.format == "html":
            _write_page(args, found, out)
        else:
            _write_text(args, found, out)
    return status


def _write_page(args: argparse.Namespace, found: FinishedRun, out: str) -> None:
    files = tuple(Path(file) for file in args.replies)
    report = RunReport(found, result_of(found, args.fail_on), args.transcripts, files, not args.no_conversations)
    if out == "-":
        print_run("html", report.text())
        return
    with writing_to(out):
        if args.out is None and report.hides_shown(Path(out)):
            raise UsageError(
                f"`{out}` shows conversations that were moved or changed since the run; write another page with "
                "`--out`, or name their new location with `--transcripts`"
            )
        written = report.write(Path(out), one_file=args.one_file)
    say(f"wrote {' and '.join(written.paths)}")
    if written.missing:
        moved = f"{plural(written.missing, 'conversation')} not shown: moved or changed since the run"
        complain(f"note: {moved}; `--transcripts PATH` gives the new location")


def _write_text(args: argparse.Namespace, found: FinishedRun, out: str) -> None:
    if args.format == "json":
        text = json.dumps(page_data(found), ensure_ascii=False, indent=2) + "\n"
    else:
        text = run_as(args.format, found, args.fail_on)
    if out == "-":
        print_run(args.format, text)
    else:
        hand_over(text, out)


def record(args: argparse.Namespace) -> int:
    """Read the run's replies and write them for `replay:`; return the exit code. Raises UsageError."""
    path = open_judged(Path(args.run)).folder / REPLIES
    if not path.is_file():
        raise UsageError(f"`{args.run}` contains no replies of a judge (`{REPLIES}`)")
    written = answers_of if str(args.out).endswith(".jsonl") else replay_of
    message = f"wrote {args.out}; use it with `--judge replay:{args.out}`"
    hand_over(written(read_exchanges(path)), args.out, message)
    return 0
