"""Plans of the shipped projects, compiled once for all tests of a process: a plan can't be changed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tests.shared_data import ROOT

from rulewright.check.project_check import compile_project

if TYPE_CHECKING:
    from rulewright_runtime.plan.scan import Plan


@cache
def shipped_plan(profile: str | None = None, scorecard: str | None = None, project: str = "") -> Plan:
    """The plan of the shipped benchmark, or of a project in its folder."""
    return compile_project(ROOT / "benchmark" / project, profile=profile, scorecard=scorecard)
