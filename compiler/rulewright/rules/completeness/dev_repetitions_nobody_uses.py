from rulewright.diagnostics import Findings, warning
from rulewright.project import Project


def dev_repetitions_nobody_uses(project: Project) -> Findings:
    """A check sets `dev_repetitions`, but no profile uses it.

    Why it matters: every run casts the full number of votes, so the number has no effect.
    Instead: set `use_dev_repetitions: true` in a profile, or remove the number.
    """
    if not project.profiles or any(profile.use_dev_repetitions for profile in project.profiles.values()):
        return
    for check in project.checks:
        if check.routing.dev_repetitions is not None:
            yield warning(
                check.key_place("routing", "dev_repetitions"),
                "no profile uses `dev_repetitions`",
                help="set `use_dev_repetitions: true` in a profile",
            )
