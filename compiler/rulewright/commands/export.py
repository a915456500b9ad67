"""`export`: write a finished run for other tools."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from rulewright.commands.output import open_output
from rulewright.commands.running import note_decisions
from rulewright.errors import UsageError
from rulewright.exporting.every_eval_ever import RunSource, reports
from rulewright.exporting.otel import events
from rulewright.exporting.run_tables import write_csv, write_parquet
from rulewright.reporting.stored_run import FinishedRun, open_judged
from rulewright_runtime.english import reason_of
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.runs.folder import read_manifest, refuse_changed
from rulewright_runtime.terminal import say


def run(args: argparse.Namespace) -> int:
    """Verify that the run is unchanged, then export it; return the exit code. Raises UsageError."""
    found = open_judged(Path(args.run))
    note_decisions(found.folder)
    if (manifest := read_manifest(found.folder)) is not None:
        refuse_changed(found.folder, manifest)
    try:
        written = list(_exported(found, args))
    except OSError as error:
        raise UsageError(f"can't write `{error.filename or args.out}`: {reason_of(error)}") from None
    say(*(f"wrote {path}" for path in written))
    return 0


def _exported(run: FinishedRun, args: argparse.Namespace) -> Iterator[Path]:
    if args.out == "-" and args.format != "otel":
        raise UsageError("`-` is standard output, to which only `--format otel` is written; name a folder")
    out = Path(args.out) if args.out else run.folder
    if args.format == "parquet":
        yield from write_parquet(run, out)
    elif args.format == "csv":
        yield from write_csv(run, out)
    elif args.format == "otel":
        path = args.out or str(out / "events.otlp.jsonl")
        with open_output(path) as stream:
            stream.writelines(events(run))
        if path != "-":
            yield Path(path)
    else:
        root = out if args.out else out / args.format
        source = RunSource(args.dataset or run.folder.resolve().name, args.organization, args.relationship)
        for name, data in reports(run, source):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(root / name, data)
            yield root / name
