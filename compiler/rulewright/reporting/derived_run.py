"""Writes a run that is derived from a finished one: under another policy, or with people's decisions."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from rulewright.reporting.stored_run import StoredRun
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.report.gathered import FirstEntries
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs.folder import (
    DECISIONS,
    GENERATED,
    LOG,
    MANIFEST,
    REPLIES,
    ROWS,
    SUMMARY,
    ContentEntry,
    RunFile,
    remove,
    write_summary,
)
from rulewright_runtime.runs.run_rows import log_of, summary_of, verdict_key
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.verdicts import VerdictResult

_RESULTS: Final = frozenset(Summary().result())  # computed by a summary; the rest describes its run


def write_derived(
    out: Path, recorded: StoredRun, run: StoredRun, about: JsonMapping, decisions: bytes = b"", replies: bytes = b""
) -> JsonObject:
    """Write to the folder `out` the run that was made of the `recorded` one, and return its summary.

    `about` overrides parts of the recorded run's description (None removes one). `decisions` and `replies` are the
    contents of these files, if the new run has them. Raises OSError.
    """
    summary = _summary_of(recorded, run, about)
    scores = {name: msgspec.json.encode(row) + b"\n" for name, row in run.rows.items()}
    verdicts = dict(_lines(run))
    rows = dict(zip(ROWS, (verdicts, scores), strict=True))
    files = {DECISIONS: decisions} if decisions else {}  # first: whatever happens, what a person said is kept
    files |= {"plan.json": _plan_of(recorded, run), **{name: b"".join(found.values()) for name, found in rows.items()}}
    files |= {REPLIES: replies} if replies else {}
    if run.log is not None:
        header = msgspec.structs.replace(run.log.header, plan=run.plan.hash)
        files[LOG] = log_of(header, run.log.steps, rows if replies else {**rows, REPLIES: {}})
    for name in (SUMMARY, MANIFEST, *GENERATED):  # whoever finds a summary can trust what is next to it
        remove(os.fspath(out / name))
    for name, data in files.items():
        write_whole(out / name, data)
    numbers = (sum(map(len, run.verdicts.values())), len(run.rows))
    known = {name: _entry(name, files[name], number) for name, number in zip(ROWS, numbers, strict=True)}
    write_summary(out, run.plan, summary, DECISIONS, known=known)
    return summary


def _plan_of(recorded: StoredRun, run: StoredRun) -> bytes:
    """The plan's file. An unchanged one is copied: of an earlier version, this one would write more keys."""
    return (recorded.folder / "plan.json").read_bytes() if run.plan is recorded.plan else encode(run.plan)


def _entry(name: str, data: bytes, rows: int) -> RunFile:
    """The manifest entry of a file with this content."""
    content = ContentEntry(name, 0)
    content.add(data, rows)
    return content.entry()


def _summary_of(recorded: StoredRun, run: StoredRun, about: JsonMapping) -> JsonObject:
    """The summary of the rows, with the description and the refused inputs of the recorded run."""
    made = summary_of(run.plan)
    kept = {name: value for name, value in recorded.summary.items() if name not in _RESULTS and name not in about}
    made.about = kept | {name: value for name, value in about.items() if value is not None}
    made.refused = FirstEntries(recorded.summary["refused"]["count"], list(recorded.summary["refused"]["inputs"]))
    for name, row in run.rows.items():
        made.add(row, run.verdicts[name].values(), run.harness(name))
    return made.result()


def _lines(run: StoredRun) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of each transcript's verdicts, as a scan writes them."""
    lines: dict[int, bytes] = {}  # of the records without quotes, which transcripts share
    for name, row in run.rows.items():
        found = [lines.get(id(verdict)) or _line(verdict, lines) for verdict in run.verdicts[name].values()]
        yield name, verdict_key(row).join([b"", *found])


def _line(verdict: VerdictResult, lines: dict[int, bytes]) -> bytes:
    line = msgspec.json.encode(verdict)[1:] + b"\n"
    return line if verdict.evidence else lines.setdefault(id(verdict), line)
