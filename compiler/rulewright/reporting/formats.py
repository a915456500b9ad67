"""The formats in which build servers read a finished run."""

from __future__ import annotations

from rulewright.render.github import github
from rulewright.render.sarif import sarif
from rulewright.reporting.comment import comment
from rulewright.reporting.findings import findings
from rulewright.reporting.judged import FinishedRun
from rulewright.reporting.junit import junit


def run_as(form: str, run: FinishedRun, status: int) -> str:
    """Return a run as `junit`, `sarif`, `github` or `markdown`; `status` is its exit code."""
    if form == "junit":
        return junit(run)
    if form == "markdown":
        return comment(run, status)
    if form == "github":
        return github(findings(run))
    names = {check.id: check.name for check in run.plan.checks}
    return sarif(list(findings(run)), names.get)
