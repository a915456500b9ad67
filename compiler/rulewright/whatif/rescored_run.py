"""Writes a rescored run as a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from itertools import islice
from operator import attrgetter
from pathlib import Path

import msgspec

from rulewright.reporting.adjudication import DECISIONS
from rulewright.reporting.stored_run import StoredRun, summary_like
from rulewright.whatif.rescoring import ScoringPolicy, plan_under, rescored
from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import lock_folder
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.runs.derived import log_of, write_summary
from rulewright_runtime.runs.folder import LOG, REPLIES, ROWS
from rulewright_runtime.runs.run_rows import verdict_key
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.verdicts import VerdictResult


def write_rescored(
    run: StoredRun, policy: ScoringPolicy, out: Path, *, same_verdicts: bool = False
) -> dict[str, object]:
    """Write the run under another policy to the folder `out`, and return its summary. With `same_verdicts` the file of
    verdicts is copied. Raises OSError."""
    rows = rescored(run, policy.prepared())
    plan = plan_under(run, policy.card)
    about: dict[str, object] = {
        "profile": plan.profile,
        "scorecard": policy.card.name,
        "plan": plan.hash,
        "parameters": {name: str(value) for name, value in sorted(policy.parameters.items())} or None,
        "rescored": {"from": str(run.folder), "plan": run.summary["plan"], "scorecard": run.summary.get("scorecard")},
    }
    summary = summary_like(run, plan, about)
    for name, row in rows.items():
        summary.add(row, run.verdicts[name].values(), run.harness(name))
    result = summary.result()
    scores = {name: msgspec.json.encode(row) + b"\n" for name, row in rows.items()}
    verdicts = dict(_recorded(run) if same_verdicts else _lines(run, rows))
    out.mkdir(parents=True)
    with lock_folder(out):
        for kept in (REPLIES, DECISIONS):
            if (run.folder / kept).is_file():
                shutil.copyfile(run.folder / kept, out / kept)
        write_whole(out / "plan.json", encode(plan))
        rows_of = dict(zip(ROWS, (verdicts, scores), strict=True))
        for file, found in rows_of.items():
            write_whole(out / file, b"".join(found.values()))
        if run.log is not None:
            header = msgspec.structs.replace(run.log.header, plan=plan.hash)
            write_whole(out / LOG, log_of(header, run.log.steps, rows_of))
        write_summary(out, plan, result)
    return result


def _recorded(run: StoredRun) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of each transcript's verdicts as they are."""
    lines = iter((run.folder / ROWS[0]).read_bytes().splitlines(keepends=True))
    for name, verdicts in run.verdicts.items():
        yield name, b"".join(islice(lines, len(verdicts)))


def _lines(run: StoredRun, rows: Mapping[str, JsonMapping]) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of each transcript's verdicts, as a scan writes them."""
    fields_of = attrgetter(*VerdictResult.__struct_fields__)
    for name, row in rows.items():
        key = verdict_key(row)
        records = (VerdictResult(*fields_of(verdict)) for verdict in run.verdicts[name].values())
        yield name, b"".join(key + msgspec.json.encode(record)[1:] + b"\n" for record in records)
