import math
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.load import Mapping
from rulewright.project import Project
from rulewright.project.weights import weights_of
from rulewright.workflow import Workflow

ROUNDING: Final = 0.02  # three weights of 0.33 are meant to be 1
SEVERAL: Final = 3  # dimensions of which all but one have a weight


def weights_do_not_add_up(document: Workflow | ScorecardDocument | Project) -> Findings:
    """The weights of a confidence loop, of a scorecard or of the scoring file do not add up to 1, or one is missing.

    Why it matters: the weights are scaled to a sum of 1, so a mistyped weight shifts all the others unnoticed. Without
    a weight, a metric or dimension has the weight 1.
    Instead: correct the weight, so that the sum is 1, or write the missing one.
    """
    if isinstance(document, ScorecardDocument):
        weights = tuple(weights_of(document))
        lists = {weights: ""} if len(weights) == len(document.dimensions) else {}
        parts = entries(document.node, "dimensions")
        lacking = [each for each in parts if isinstance(each.value, Mapping) and "weight" not in each.value]
        if len(lacking) == 1 and len(parts) >= SEVERAL:
            message = f"`{lacking[0].name}` has no weight, so it has the weight 1, but all others have one"
            yield warning(lacking[0].key, message, help="write its `weight`")
    elif isinstance(document, Project):
        weights = tuple(weights_of(document))
        weighted = entries(document.scoring.node, "quality_dimensions") if document.scoring else ()
        lists = {weights: ""} if len(weights) == len(weighted) else {}
    else:
        yield from _weightless(document)
        complete = [task for task in document.document.tasks if all("weight" in each.node for each in task.metrics)]
        lists = {tuple(weights_of(task)): f" of `{task.id}`" for task in complete}
    totals = {each: math.fsum(number for _, number, _ in each) for each in lists if len(each) > 1}
    odd = [each for each, total in totals.items() if abs(total - 1) > ROUNDING]
    numbers = [number for _, number, _ in odd[0]] if len(odd) == 1 else []
    if max(numbers, default=1) >= 1 or len({*numbers}) == 1:
        return
    others = [f", those{lists[each]} to 1" for each in totals if each not in odd]
    message = f"the weights{lists[odd[0]]} add up to {totals[odd[0]]:g}{(others or [', not to 1'])[0]}"
    *rest, (_, _, last) = odd[0]
    yield warning(last, message, notes=[(each, "added to it") for _, _, each in rest])


def _weightless(workflow: Workflow) -> Findings:
    """The metrics without a weight next to metrics with shares."""
    for task in workflow.document.tasks:
        weights = [number for _, number, _ in weights_of(task)]
        for metric in task.metrics if weights and max(weights) < 1 else ():
            if "weight" not in metric.node:
                message = f"`{metric.type}` has no weight, so it has the weight 1, more than each of the others"
                yield warning(metric.node.get("type") or metric.node, message, help="write its `weight`")
