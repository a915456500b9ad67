from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def levels_not_read(scenario: ScenarioDocument) -> Findings:
    """A criterion of the kind `binary` or `autofail` has levels.

    Why it matters: the judge is asked for yes or no, and no level counts.
    Instead: write `kind: ordinal`, or remove the levels.
    """
    for criterion in (each for turn in scenario.turns for each in turn.rubric):
        if criterion.levels and criterion.kind in ("binary", "autofail"):
            message = f"`levels` has no effect: the kind is `{criterion.kind}`"
            yield warning(criterion.place("kind"), message, notes=[(criterion.key_place("levels"), "the levels")])
