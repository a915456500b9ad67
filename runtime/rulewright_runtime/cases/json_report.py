"""The report of a batch as JSON with streamed results, and its errors and warnings as lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import IO, Final

from rulewright_runtime.cases.case_run import BatchRun
from rulewright_runtime.english import plural

_AFTER_RESULTS: Final = "failure_analysis"  # the key that follows the results
_SHOWN: Final = 20  # errors or warnings on the console


@cache
def generation_time() -> str:
    """Return the time of this run in UTC; `SOURCE_DATE_EPOCH` sets it, so that reports can be reproduced."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def problem_lines(run: BatchRun) -> Iterator[str]:
    """Yield the first errors and warnings of a run, each on a line with its location, and what was left out."""
    for severity, entries in (("error", run.errors), ("warning", run.warnings)):
        for entry in entries[:_SHOWN]:
            where = f"{entry['file']}:{entry['line']}" if entry["line"] else entry["file"]
            path = "" if entry["path"] == "$" else f" {entry['path']}:"
            test = "" if entry["test_id"] is None else f" `{entry['test_id']}`:"
            yield f"{severity}: {where}:{path}{test} {entry['message']}"
        if len(entries) > _SHOWN:
            yield f"{severity}: and {len(entries) - _SHOWN} more, all in the JSON report"
    if run.judge is not None:
        for metric, reasons in run.judge.unanswered.items():
            share = f"{sum(reasons.values())} of {plural(sum(run.judge.verdicts[metric].values()), 'question')}"
            yield f"warning: no usable reply of the judge to {share} about {metric}: {next(iter(reasons))}"
    if run.other_concerns:
        yield f"note: {plural(run.other_concerns, 'case')} of other concerns left out"


def write_json(stream: IO[bytes], run: BatchRun, head: Mapping[str, object]) -> None:
    """Write the report: the head's keys in order, and before `failure_analysis` the results, each on its own line."""
    stream.write(b"{")
    comma = b"\n"
    for key, value in head.items():
        if key == _AFTER_RESULTS:
            stream.write(comma + b'  "results": [')
            separator = b"\n    "
            for line in run.spool.lines():
                stream.write(separator + line)
                separator = b",\n    "
            stream.write(b"\n  ]" if run.spool.count else b"]")
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).replace("\n", "\n  ")
        stream.write(comma + f'  "{key}": {text}'.encode("utf-8", "surrogatepass"))
        comma = b",\n"
    stream.write(b"\n}\n")
