from rulewright.diagnostics import Findings, advice
from rulewright.project import Project


def gate_without_blindspot(project: Project) -> Findings:
    """A project that names blindspots has a gate check without one.

    Why it matters: a transcript that fails only this gate shows no blindspot, so a model that fails there repeatedly
    looks clean.
    Instead: add the check to the file of blindspots.
    """
    flags = project.roots.get("blindspots")
    if flags is None or not project.blindspots:
        return
    named = set(project.blindspots.values())
    for check in project.checks:
        if check.is_gate and check.id not in named:
            yield advice(
                check.place("id"),
                f"no blindspot is defined for the gate check `{check.id}`",
                notes=[(flags.entries[0].key, "the blindspots are defined here")],
            )
