"""A run that is derived from a finished one: under another policy, with people's decisions, or without a transcript."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from zlib import crc32

import msgspec

from rulewright_runtime.files import write_whole
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.runs.folder import REPLIES, ROWS, SUMMARY, write_manifest
from rulewright_runtime.runs.log import Header, LogStep, line_of
from rulewright_runtime.strict_json import JsonObject


def log_of(header: Header, steps: Iterable[LogStep], rows: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """The log of the same inputs with other `rows`, which are by file and input; files not in `rows` are unchanged."""
    return line_of(header) + b"".join(map(line_of, _renumbered(steps, rows)))


def _renumbered(steps: Iterable[LogStep], rows: Mapping[str, Mapping[str, bytes]]) -> Iterator[LogStep]:
    sizes, checksum = dict.fromkeys(rows, 0), 0
    for step in steps:
        own = {name: b"" if step.refused else found.get(step.input, b"") for name, found in rows.items()}
        sizes = {name: size + len(own[name]) for name, size in sizes.items()}
        for name in ROWS:
            checksum = crc32(own[name], checksum)
        replies = sizes.get(REPLIES, step.replies) if step.replies else 0
        yield msgspec.structs.replace(
            step, verdicts=sizes[ROWS[0]], scores=sizes[ROWS[1]], rows=checksum, replies=replies
        )


def write_summary(folder: str | os.PathLike[str], plan: Plan, summary: JsonObject, *more: str) -> tuple[str, ...]:
    """Write what is last: the summary, and the manifest with `more` files. Return the paths. Raises OSError."""
    paths = [os.path.join(folder, name) for name in ("summary.md", SUMMARY)]
    write_whole(paths[0], markdown(summary).encode())
    write_whole(paths[1], msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n")
    return (*paths, write_manifest(folder, plan, *more))
