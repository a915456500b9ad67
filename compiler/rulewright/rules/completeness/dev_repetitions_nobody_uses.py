from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.lower.selection import select
from rulewright.project import Project


def dev_repetitions_nobody_uses(project: Project) -> Findings:
    """A check sets `dev_repetitions`, but no profile that selects it uses it.

    Why it matters: every run casts the full number of votes, so the number has no effect.
    Instead: set `use_dev_repetitions: true` in a profile that selects the check, or remove the number.
    """
    using = [profile for profile in project.profiles.values() if profile.use_dev_repetitions]
    found: list[Diagnostic] = []  # reported where the profile is compiled
    reached = {check.id for profile in using for check in select(profile, project.checks, found)}
    for check in project.checks if project.profiles and not found else ():
        if check.routing.dev_repetitions is not None and check.id not in reached:
            place, who = check.key_place("routing", "dev_repetitions"), "no profile"
            who = f"{who} that selects this check" if using else who
            yield warning(place, f"{who} uses `dev_repetitions`", help="set `use_dev_repetitions: true` in a profile")
