"""`report`, `export` and `record`: write a finished run in one of the formats, for other tools, or its replies."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from rulewright.commands.output import hand_over, writing_to
from rulewright.commands.running import print_run
from rulewright.errors import UsageError
from rulewright.exporting.every_eval_ever import RunSource, reports
from rulewright.exporting.otel import events
from rulewright.exporting.parquet import write_parquet
from rulewright.reporting.formats import run_as
from rulewright.reporting.gather import gather
from rulewright.reporting.report_files import RunReport
from rulewright.reporting.stored_run import FinishedRun, open_judged, open_run
from rulewright_runtime.english import reason_of
from rulewright_runtime.files import open_whole, write_whole
from rulewright_runtime.judging.exchanges import read_exchanges, replay_of
from rulewright_runtime.locks import lock_folder
from rulewright_runtime.report.summary import status_at
from rulewright_runtime.runs.folder import REPLIES, read_manifest, refuse_changed
from rulewright_runtime.terminal import say


def run(args: argparse.Namespace) -> int:
    """Gather, render and write; return the exit code."""
    folder = Path(args.run)
    out = args.out or (str(folder / "report.html") if args.format == "html" else "-")
    writes_there = out != "-" and folder.is_dir() and Path(out).parent.resolve() == folder.resolve()
    with lock_folder(folder) if writes_there else nullcontext():
        found = open_run(folder)
        status = status_at(found.summary, found.plan, args.fail_on)
        if args.format == "html":
            _write_page(args, found, status, out)
        else:
            _write_text(args.format, found, status, out)
    return status


def _write_page(args: argparse.Namespace, found: FinishedRun, status: int, out: str) -> None:
    files = tuple(Path(file) for file in args.replies)
    report = RunReport(found, status, args.transcripts, files, not args.no_conversations)
    if out == "-":
        print_run("html", report.text())
        return
    with writing_to(out):
        written = report.write(Path(out), one_file=args.one_file)
    say(f"wrote {' and '.join(written)}")


def _write_text(form: str, found: FinishedRun, status: int, out: str) -> None:
    if form == "json":
        text = json.dumps(gather(found), ensure_ascii=False, indent=2) + "\n"
    else:
        text = run_as(form, found, status)
    if out == "-":
        print_run(form, text)
    else:
        hand_over(text, out)


def export(args: argparse.Namespace) -> int:
    """Verify that the run is unchanged, then export it; return the exit code."""
    found = open_judged(Path(args.run))
    if (manifest := read_manifest(found.folder)) is not None:
        refuse_changed(found.folder, manifest)
    try:
        written = list(_exported(found, args))
    except OSError as error:
        raise UsageError(f"can't write `{error.filename or args.out}`: {reason_of(error)}") from None
    say(*(f"wrote {path}" for path in written))
    return 0


def _exported(run: FinishedRun, args: argparse.Namespace) -> Iterator[Path]:
    out = Path(args.out) if args.out else run.folder
    if args.format == "parquet":
        yield from write_parquet(run, out)
    elif args.format == "otel":
        path = out if args.out else out / "events.otlp.jsonl"
        with open_whole(path) as stream:
            stream.writelines(events(run))
        yield path
    else:
        root = out if args.out else out / args.format
        source = RunSource(args.dataset or run.folder.resolve().name, args.organization, args.relationship)
        for name, data in reports(run, source):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(root / name, data)
            yield root / name


def record(args: argparse.Namespace) -> int:
    """Read the run's replies and write them for `replay:`; return the exit code."""
    path = open_judged(Path(args.run)).folder / REPLIES
    if not path.is_file():
        raise UsageError(f"`{args.run}` contains no replies of a judge (`{REPLIES}`)")
    replay = replay_of(read_exchanges(path))
    write_whole(args.out, replay)
    say(f"wrote {args.out}; use it with `--judge replay:{args.out}`")
    return 0
