"""Whether the files of a finished run are those that were written: by its manifest, its log and its summary."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.folder import LOG, REPLIES, ROWS, SUMMARY
from rulewright_runtime.runs.log import LogStep, read_finished
from rulewright_runtime.runs.manifest import NAME, read_manifest, refuse_changed
from rulewright_runtime.runs.run_rows import recount, summary_of
from rulewright_runtime.strict_json import Json, JsonMapping

_VERIFIED: Final = ("plan.json", *ROWS, SUMMARY, LOG, REPLIES)


def refuse_damaged(folder: str | os.PathLike[str], plan: Plan, summary: JsonMapping) -> None:
    """Raise PlanError if a file differs from the manifest, the rows are not those of the log, or the figures of the
    summary do not follow from them. A manifest can be written again, so it does not replace the log."""
    manifest = read_manifest(folder)
    if manifest is not None:
        refuse_changed(folder, manifest, _VERIFIED)
    if manifest is None or os.path.isfile(os.path.join(folder, LOG)):
        _refuse_miscounted(os.fspath(folder), plan, summary)
    if summary.get("plan") != plan.hash:
        raise PlanError(f"the plan in `{os.fspath(folder)}` is not the one that `{SUMMARY}` names; scan again")


def _refuse_miscounted(folder: str, plan: Plan, summary: JsonMapping) -> None:
    log, counted = os.path.join(folder, LOG), summary_of(plan)
    if not os.path.isfile(log):
        raise PlanError(f"`{folder}` has neither `{NAME}` nor `{LOG}`, so its rows can't be verified; scan again")
    verdicts_path, scores_path = (os.path.join(folder, name) for name in ROWS)
    with open(verdicts_path, "rb") as verdicts, open(scores_path, "rb") as scores:
        header, steps = (found := read_finished(log)).header, found.steps
        same = header.plan == plan.hash and recount(counted, steps, verdicts, scores)
        if not same or verdicts.read(1) or scores.read(1) or _lacks_replies(folder, steps):
            raise PlanError(f"the rows in `{folder}` are not those that `{LOG}` records; scan again")
    counted.about = {"judge_calls": sum(step.calls for step in steps)}
    for name, figures in counted.result().items():
        if _encoded(summary.get(name)) != _encoded(figures):
            raise PlanError(f"`{name}` in `{os.path.join(folder, SUMMARY)}` does not follow from the rows; scan again")


def _lacks_replies(folder: str, steps: Sequence[LogStep]) -> bool:
    """Whether the file of a live judge's replies does not have the size that the log records."""
    path, size = os.path.join(folder, REPLIES), steps[-1].replies if steps else 0
    return bool(size) and (not os.path.isfile(path) or os.path.getsize(path) != size)


def _encoded(figures: Json) -> bytes:
    return msgspec.json.encode(figures, order="deterministic")
