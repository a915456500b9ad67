from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Findings, warning
from rulewright.documents.layout import has_workflow
from rulewright.project import Project
from rulewright.scoring.case_scorecards import case_scorecards_of_project, lacks_scorecards
from rulewright_runtime.cases.records import CASE_FOLDERS

# A project file with only these keys does not say what it is for.
BARE: Final = frozenset({"description", "project", "semantics"})


def project_without_checks(project: Project) -> Findings:
    """The project file expects checks, but the project has none.

    Why it matters: nothing is ever evaluated, and `scan` refuses the project. Often the path in `checks` is wrong, or
    the files have another extension.
    Instead: name the folder that holds the checks, or remove the keys that need checks. A project of scenarios,
    workflows or test cases alone needs no checks.
    """
    file = project.file
    if file is None or project.checks or any(profile.include_rubrics for profile in project.profiles.values()):
        return
    is_empty = {*file.node.keys} <= BARE and len(project.loaded) == 1 and not has_workflow(project.root)
    is_empty = is_empty and not any(dependencies.is_folder(project.root / name) for name in CASE_FOLDERS)
    if "checks" in file.places:
        yield warning(file.place("checks"), "this folder contains no checks")
    elif case_scorecards_of_project(project.root) or lacks_scorecards(project.root):
        return  # test cases need no checks; what an empty folder was meant to hold is unknown
    elif is_empty or file.profile or file.scorecard or file.places.keys() - {"scenarios", "pricing"}:
        yield warning(file.place("project"), "the project has no checks", help="name their folder in `checks`")
