from rulewright.diagnostics import Findings, advice, warning
from rulewright.lower.semantics import unit_of
from rulewright.project import Project


def unit_of_analysis_missing(project: Project) -> Findings:
    """A judged check does not set the part of a transcript that the judge sees.

    Why it matters: the default of its bucket applies. Without one the judge gets the whole transcript, which costs more
    and makes verdicts on long conversations hard to compare.
    Instead: set `routing.unit_of_analysis`, for instance to `local_exchange`.
    """
    for check in project.checks:
        if not (check.is_judged or check.has_edge) or check.routing.unit_of_analysis is not None:
            continue
        place = check.key_place("routing", "route")
        unit = unit_of(check, project)
        if unit is None:
            yield warning(place, "no `unit_of_analysis`: the judge gets the whole transcript")
        else:
            longitudinal = check.routing.route == "longitudinal_trace"
            whose = "longitudinal checks" if longitudinal else f"bucket {check.primary_bucket}"
            yield advice(
                place,
                f"no `unit_of_analysis`: the default of {whose}, `{unit}`, is used",
                help=f"write `unit_of_analysis: {unit}` if that is meant",
            )
