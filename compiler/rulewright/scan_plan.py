"""What a scan would do and cost, without calling anything: `scan_plan.json` and `cost_report.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.project import Project
    from rulewright_runtime.plan import Plan


def scan_plan(
    project: Project, plan: Plan, scenario_ids: Iterable[str], *, judge_model: str | None = None, judged: bool = True
) -> dict[str, Any]:
    """The scan plan of `plan` over transcripts, one scenario id each (unknown ones are counted, but plan nothing).

    `planned_llm_calls` assumes that every reply is usable and no vote stops early; `llm_calls` holds the bounds
    `lower` and `upper`. An unknown price gives `estimated_cost_usd: null` and `pricing_known: false`.
    """
    raise NotImplementedError


def cost_report(planned: dict[str, Any]) -> dict[str, Any]:
    """The six figures of a scan plan that money depends on."""
    raise NotImplementedError
