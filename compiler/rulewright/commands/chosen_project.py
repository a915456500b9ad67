"""The project that the options of a command name, and its plan under their profile and scorecard."""

import argparse
from pathlib import Path

from rulewright.check.project_check import compile_project
from rulewright.dependencies import DependencyTracker
from rulewright.documents.layout import nearest_project, project_below, variables_in
from rulewright.errors import UsageError
from rulewright.project import Project, load_project
from rulewright.result_cache import CacheEntry
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.scan import Plan


def find_project(path: str | None) -> Project:
    """The project that `--project` names, else that of the working folder. Raises UsageError if there is none."""
    found = nearest_project() if path is None else Path(path)
    if found is None:
        below = project_below(Path())
        use = (
            "use `--project`, or create a project with `init`"
            if below is None
            else f"did you mean `--project {below}`?"
        )
        raise UsageError(f"no `rulewright.yaml` here or in a parent folder; {use}")
    return load_project(found)


def compile_chosen(args: argparse.Namespace) -> tuple[Project, Plan]:
    """The project and the plan that the options name. Raises DocumentError with findings that prevent it."""
    project = find_project(args.project)
    return project, compile_project(project, profile=args.profile, scorecard=args.scorecard)


def compile_and_keep(args: argparse.Namespace, entry: CacheEntry | None) -> tuple[Project, Plan]:
    """As `compile_chosen`, and cache the plan for these options, with the project's judge."""
    with DependencyTracker() as tracker:
        project, plan = compile_chosen(args)
    variables = variables_in({each.source.path: each.source.text for each in project.loaded})
    if entry is not None and variables is not None:
        entry.store(project.judge_source, encode(plan), tracker.states, variables)
    return project, plan
