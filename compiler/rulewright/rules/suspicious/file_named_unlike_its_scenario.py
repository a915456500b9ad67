from pathlib import Path
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.project import Project
from rulewright.spelling import is_spelt_like

FEWEST: Final = 2  # other scenarios that make a convention


def file_named_unlike_its_scenario(project: Project) -> Findings:
    """A scenario's `scenario_id` is not the name of its file, although it is for all other scenarios.

    Why it matters: transcripts and lists name a scenario by its id, so its file can't be found from there.
    Instead: rename the file, or correct `scenario_id` and all references to it.
    """
    scenarios = [each for each in project.scenarios.values() if each.id]
    unlike = [each for each in scenarios if Path(each.path).stem != each.id]
    if len(unlike) == 1 and len(scenarios) > FEWEST:
        (scenario,) = unlike
        name = Path(scenario.path)
        if is_spelt_like(scenario.id, name.stem):
            return  # `id-differs-from-file-name` reports slips
        help = f"rename the file to `{scenario.id}{name.suffix}`"
        yield warning(
            scenario.place("scenario_id"), f"the scenario `{scenario.id}` is in the file `{name.name}`", help=help
        )
