"""A rescored run as a folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rulewright.whatif.rescoring import plan_under, rescored
from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import held_folder
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.report.gathered import Listed
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs.folder import LOG, REPLIES, SUMMARY, write_manifest

if TYPE_CHECKING:
    from rulewright.reporting.stored_run import StoredRun
    from rulewright.whatif.rescoring import Policy

_ABOUT = ("profile", "semantics", "language", "judge", "judge_calls", "data")


def write_rescored(run: StoredRun, policy: Policy, out: Path) -> dict[str, Any]:
    """Write the run under another policy to the folder `out`, and return its summary. Raises OSError."""
    rows = rescored(run, policy.prepared())
    plan = plan_under(run, policy.card)
    about = {key: run.summary[key] for key in _ABOUT if key in run.summary}
    parameters = {name: str(value) for name, value in sorted(policy.parameters.items())}
    summary = Summary(
        about={
            **about,
            "scorecard": policy.card.name,
            "plan": plan.hash,
            **({"parameters": parameters} if parameters else {}),
            "rescored": {"from": str(run.folder), "plan": run.plan.hash, "scorecard": run.summary.get("scorecard")},
        },
        refused=Listed(run.summary["refused"]["count"], list(run.summary["refused"]["inputs"])),
        planned=len(plan.checks),
        category_of={name: scenario.category for name, scenario in plan.scenarios.items() if scenario.category},
    )
    for name, row in rows.items():
        step = run.steps.get(name)
        summary.add(row, run.verdicts[name].values(), step.harness if step else "")
    result = summary.result()
    out.mkdir(parents=True)
    with held_folder(out):
        for kept in (LOG, REPLIES, "verdicts.jsonl"):
            if (run.folder / kept).is_file():
                shutil.copyfile(run.folder / kept, out / kept)
        write_whole(out / "plan.json", encode(plan))
        write_whole(out / "scores.jsonl", b"".join(msgspec.json.encode(row) + b"\n" for row in rows.values()))
        write_whole(out / "summary.md", markdown(result).encode())
        write_whole(out / SUMMARY, msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n")
        write_manifest(out, plan)
    return result
