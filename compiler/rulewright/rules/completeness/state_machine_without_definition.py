from rulewright.diagnostics import Findings, warning
from rulewright.project import Project
from rulewright.spelling import did_you_mean


def state_machine_without_definition(project: Project) -> Findings:
    """A check names a state machine that no file of the project defines.

    Why it matters: the judge compares the sessions by the prompt alone, although the check seems to follow a machine.
    Instead: add the machine's file to the folder of state machines, correct the name, or remove the key.
    """
    for check in project.checks:
        name = check.routing.state_machine
        if name and name not in project.state_machines and not check.is_traced:
            yield warning(
                check.place("routing", "state_machine"),
                f"the state machine `{name}` is not defined; the prompt alone decides",
                help=did_you_mean(name, project.state_machines),
            )
