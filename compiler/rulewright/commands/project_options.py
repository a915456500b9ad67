"""The options that choose a project, its profile and its scorecard, shared by the commands that compile one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rulewright.check.project_check import compile_project
from rulewright.documents.layout import nearest_project
from rulewright.errors import UsageError
from rulewright.project import Project, load_project
from rulewright_runtime.plan.scan import Plan

if TYPE_CHECKING:
    import argparse


def add_project_options(parser: argparse.ArgumentParser) -> None:
    """Declare `--project`, `--profile` and `--scorecard`."""
    parser.add_argument(
        "--project",
        metavar="PATH",
        help="project file or folder (default: the nearest `rulewright.yaml`, upwards)",
    )
    parser.add_argument("--profile", metavar="NAME", help="which checks run, and how often a judge is asked")
    parser.add_argument("--scorecard", metavar="NAME", help="how verdicts become gates and scores")


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
