"""The exit code under `--fail-on`, where a severity decides instead of the gates, or nothing does (`never`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import exit_status

NEVER: Final = "never"


def check_threshold(plan: Plan, fail_on: str | None) -> None:
    """Raise PlanError unless `fail_on` is a severity of the plan, `never` or None."""
    if fail_on not in (None, NEVER, *plan.severities):
        known = ticked(plan.severities)
        raise PlanError(f"unknown severity `{fail_on}`; expected {known} or `{NEVER}`")


def status_at(summary: Mapping[str, Any], plan: Plan, fail_on: str | None) -> int:
    """The exit code of a run.

    None: that of `exit_status`. `never`: the same, with 0 in place of 1 and 2. A severity: 1 if a check of that or a
    graver severity, or without a severity, failed; 2 if one is UNCLEAR or was left out, or none applied; 3 as in
    `exit_status`. Raises PlanError for any other value.
    """
    check_threshold(plan, fail_on)
    status = exit_status(summary)
    if fail_on is None or status == 3:
        return status
    if fail_on == NEVER:
        return 0
    graver = (*plan.severities[plan.severities.index(fail_on) :], "")
    checks = [check.id for check in plan.checks if check.severity in graver]
    counts = [summary["checks"][name] for name in checks if name in summary["checks"]]
    if any(count["FAIL"] for count in counts):
        return 1
    applied = any(count["eligible"] for count in counts)
    return 0 if applied and not summary["left_out"] and not any(count["UNCLEAR"] for count in counts) else 2
