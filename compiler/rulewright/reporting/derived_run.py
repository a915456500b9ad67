"""Writes a run that is derived from a finished one: under another policy, or with people's decisions."""

import os
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Final

import msgspec
from msgspec.structs import replace

from rulewright.reporting.stored_run import StoredRun
from rulewright_runtime.files.atomic import open_whole, write_whole
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.report.accumulators import FirstEntries
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs import folder
from rulewright_runtime.runs.run_rows import log_of, summary_of, verdict_key
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.verdicts import VerdictResult

_RESULTS: Final = frozenset(Summary().result()) | {"idle_gates"}  # computed by a summary; the rest describes its run


def write_derived(
    out: Path, recorded: StoredRun, run: StoredRun, about: JsonMapping, decisions: bytes = b"", replies: bytes = b""
) -> JsonObject:
    """Write to the folder `out` the run that was made of the `recorded` one, and return its summary.

    `about` overrides parts of the recorded run's description (None removes one). `decisions` and `replies` are the
    contents of these files, if the new run has them. Raises OSError.
    """
    summary = _summary_of(recorded, run, about)
    # Whoever finds a summary can trust what is next to it.
    for name in (folder.SUMMARY, folder.MANIFEST, *folder.GENERATED):
        folder.remove(os.fspath(out / name))
    if decisions:  # first: whatever happens, what a person said is kept
        write_whole(out / folder.DECISIONS, decisions)
    write_whole(out / "plan.json", _plan_of(recorded, run))
    with ExitStack() as stack:
        streams = {name: stack.enter_context(open_whole(out / name)) for name in folder.ROWS}
        rows = (own if replies else {**own, folder.REPLIES: b""} for own in _written(run, streams))
        log = b"" if run.log is None else log_of(replace(run.log.header, plan=run.plan.hash), run.log.steps, rows)
        deque(rows, maxlen=0)  # without a log
    for name, data in ((folder.REPLIES, replies), (folder.LOG, log)):
        if data:
            write_whole(out / name, data)
    folder.write_summary(out, run.plan, summary, folder.DECISIONS)
    return summary


def _plan_of(recorded: StoredRun, run: StoredRun) -> bytes:
    """The plan's file. An unchanged one is copied: of an earlier version, this one would write more keys."""
    return (recorded.folder / "plan.json").read_bytes() if run.plan is recorded.plan else encode(run.plan)


def _written(run: StoredRun, streams: Mapping[str, IO[bytes]]) -> Iterator[dict[str, bytes]]:
    """Write the lines of each transcript, as a scan does, and yield them by file."""
    shared: dict[int, bytes] = {}  # of the records without quotes, which transcripts share
    for name, row in run.rows.items():
        lines = [shared.get(id(verdict)) or _line(verdict, shared) for verdict in run.verdicts[name].values()]
        data = verdict_key(row).join([b"", *lines]), msgspec.json.encode(row) + b"\n"
        own = dict(zip(folder.ROWS, data, strict=True))
        for file, lines_of_file in own.items():
            streams[file].write(lines_of_file)
        yield own


def _line(verdict: VerdictResult, shared: dict[int, bytes]) -> bytes:
    line = msgspec.json.encode(verdict)[1:] + b"\n"
    return line if verdict.evidence else shared.setdefault(id(verdict), line)


def _summary_of(recorded: StoredRun, run: StoredRun, about: JsonMapping) -> JsonObject:
    """The summary of the rows, with the description and the refused inputs of the recorded run."""
    made = summary_of(run.plan)
    kept = {name: value for name, value in recorded.summary.items() if name not in _RESULTS and name not in about}
    made.about = kept | {name: value for name, value in about.items() if value is not None}
    made.refused = FirstEntries(recorded.summary["refused"]["count"], list(recorded.summary["refused"]["inputs"]))
    for name, row in run.rows.items():
        made.add(row, run.verdicts[name].values(), run.harness(name))
    return made.result()
