from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.project import Project

FEWEST: Final = 4  # checks with a blindspot, to be a habit


def check_without_blindspot(project: Project) -> Findings:
    """Only one check of a project has no blindspot.

    Why it matters: the report names what all other failures mean, and not this one.
    Instead: add the check to the file of blindspots.
    """
    root, named = project.roots.get("blindspots"), set(project.blindspots.values())
    without = [check for check in project.checks if check.id not in named]
    is_habit = root is not None and len(project.checks) > FEWEST and len(without) == 1
    if root is not None and is_habit and root.entries and without[0].name not in project.blindspots:
        notes = [(root.entries[-1].key, "the blindspots are defined here")]
        message = f"`{without[0].id}` is the only check without a blindspot"
        yield warning(without[0].place("id"), message, notes=notes)
