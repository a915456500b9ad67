"""The project that the options of a command choose, and its plan under the profile and the scorecard they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rulewright.check.project_check import compile_project
from rulewright.dependencies import DependencyTracker
from rulewright.documents.layout import nearest_project, variables_in
from rulewright.errors import UsageError
from rulewright.project import Project, load_project
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.scan import Plan

if TYPE_CHECKING:
    import argparse

    from rulewright.cache import CacheEntry


def find_project(path: str | None) -> Project:
    """The project that `--project` names, else the one around the working folder. Raises UsageError without one."""
    found = nearest_project() if path is None else Path(path)
    if found is None:
        raise UsageError(
            "no `rulewright.yaml` here or above; name a project with `--project`, or start one with `init`"
        )
    return load_project(found)


def compile_chosen(args: argparse.Namespace) -> tuple[Project, Plan]:
    """The project and the plan that the options ask for; findings that stop it are raised as DocumentError."""
    project = find_project(args.project)
    return project, compile_project(project, profile=args.profile, scorecard=args.scorecard)


def compile_and_keep(args: argparse.Namespace, entry: CacheEntry | None) -> tuple[Project, Plan]:
    """The same, and the plan is kept for the same options, together with the judge that the project names.

    The code of a plug-in may change where no file tells, so that a plan that calls one is not kept.
    """
    with DependencyTracker() as tracker:
        project, plan = compile_chosen(args)
    variables = variables_in({each.source.path: each.source.text for each in project.loaded})
    if entry is not None and variables is not None and not plan.plugins:
        entry.store(project.judge_source, encode(plan), tracker.states, variables)
    return project, plan
