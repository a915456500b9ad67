"""The formats in which build servers read a finished run."""

from __future__ import annotations

from pathlib import Path

from rulewright.render.github import github
from rulewright.render.sarif import sarif
from rulewright.reporting.comment import comment
from rulewright.reporting.findings import findings
from rulewright.reporting.judged import FinishedRun, open_run
from rulewright.reporting.junit import junit
from rulewright_runtime import __version__


def run_as(form: str, folder: Path, status: int) -> str:
    """Return the run in `folder` as `junit`, `sarif`, `github` or `markdown`; `status` is its exit code. Raises
    UsageError without a finished run, PlanError if its plan has changed."""
    run = open_run(folder)
    if form == "junit":
        return junit(run)
    if form == "markdown":
        return comment(run, status)
    if form == "github":
        return github(findings(run))
    return _sarif(run)


def _sarif(run: FinishedRun) -> str:
    names = {check.id: check.name for check in run.plan.checks}
    return sarif(list(findings(run)), __version__, names.get)
