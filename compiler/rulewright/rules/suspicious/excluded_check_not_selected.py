from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.documents.base import text_scalars
from rulewright.lower.selection import select
from rulewright.project import Project


def excluded_check_not_selected(project: Project) -> Findings:
    """A profile excludes a check that it does not select.

    Why it matters: the exclusion has no effect. Most often the name of another check was meant, which then runs.
    Instead: correct the name of the check, or remove it from `exclude_modes`.
    """
    for profile in project.profiles.values():
        written = text_scalars(profile.node, "exclude_modes")
        found: list[Diagnostic] = []  # reported where the profile is compiled
        left = select(replace(profile, exclude_modes=()), project.checks, found) if written else ()
        idle = {each.id for each in project.checks} - {each.id for each in left}
        for each in () if found else written:
            if each.value in idle:
                message = f"the profile `{profile.name}` does not select `{each.value}`, so it need not exclude it"
                yield warning(each, message)
