"""Writes a rescored run as a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from rulewright.reporting.adjudication import DECISIONS
from rulewright.reporting.stored_run import summary_like
from rulewright.whatif.rescoring import plan_under, rescored
from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import lock_folder
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.runs.folder import LOG, REPLIES, SUMMARY, write_manifest
from rulewright_runtime.runs.run_rows import verdict_key
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.verdicts import VerdictResult

VERDICTS: Final = "verdicts.jsonl"

if TYPE_CHECKING:
    from rulewright.reporting.stored_run import StoredRun
    from rulewright.whatif.rescoring import ScoringPolicy


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
        step = run.steps.get(name)
        summary.add(row, run.verdicts[name].values(), step.harness if step else "")
    result = summary.result()
    out.mkdir(parents=True)
    with lock_folder(out):
        for kept in (LOG, REPLIES, DECISIONS):
            if (run.folder / kept).is_file():
                shutil.copyfile(run.folder / kept, out / kept)
        write_whole(out / "plan.json", encode(plan))
        recorded = (run.folder / VERDICTS).read_bytes() if same_verdicts else b"".join(_lines(run, rows))
        write_whole(out / VERDICTS, recorded)
        write_whole(out / "scores.jsonl", b"".join(msgspec.json.encode(row) + b"\n" for row in rows.values()))
        write_whole(out / "summary.md", markdown(result).encode())
        write_whole(out / SUMMARY, msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n")
        write_manifest(out, plan)
    return result


def _lines(run: StoredRun, rows: Mapping[str, JsonMapping]) -> Iterator[bytes]:
    """Yield the lines of the verdicts, as a scan writes them."""
    fields_of = attrgetter(*VerdictResult.__struct_fields__)
    for name, row in rows.items():
        key = verdict_key(row)
        for verdict in run.verdicts[name].values():
            yield key + msgspec.json.encode(VerdictResult(*fields_of(verdict)))[1:] + b"\n"
