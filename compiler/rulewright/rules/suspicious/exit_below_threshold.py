import re
from collections.abc import Sequence
from typing import Final

from rulewright.diagnostics import Findings
from rulewright.documents.base import flag, items
from rulewright.documents.workflow import Overlay, TaskDocument
from rulewright.expression.syntax_tree import Binary, Name, chain, number_in
from rulewright.load import Node
from rulewright.lower.expressions_of import expressions_of
from rulewright.proving.workflow_values import implied, undercutting

AND: Final = re.compile(r"\band\b|&&")


def exit_below_threshold(task: TaskDocument) -> Findings:
    """An exit condition can end the loop although the threshold is not met, or a condition is weaker than a threshold.

    Why it matters: with `exit_when: all`, and in a gate with a `coverage_threshold`, a condition that holds wherever
    the threshold is met has no effect. With `any`, each condition alone ends the loop, so the threshold guarantees
    nothing.
    Instead: write `exit_when: all`, correct the number, or remove the condition or the threshold.
    """
    for loop in task.loops:
        if loop.name == "confidence_loop" and loop.mode == "any":
            for number, condition in undercutting(task, loop):
                message = "this condition alone ends the loop, even below the threshold"
                hint = "`exit_when: all` also requires the threshold"
                yield task.warning(condition, f"{loop.field}.exit_conditions[{number}]", message, help=hint)
        for number, condition in implied(task, loop) if loop.name == "confidence_loop" else ():
            message = "this condition has no effect: it holds wherever the threshold is met and the others hold"
            yield task.warning(condition, f"{loop.field}.exit_conditions[{number}]", message)
    confidence, gate = task.on("confidence_loop"), task.on("policy_gate")
    if confidence is not None and confidence.mode == "all":
        several = [each for each in confidence.conditions if AND.search(each.text)]  # else it is implied as a whole
        yield from _weaker_parts(task, confidence, "confidence_score", "threshold", several)
    if gate is not None and flag(gate.find("require_coverage")):
        yield from _weaker_parts(task, gate, "coverage", "coverage_threshold", items(gate.find("conditions")))


def _weaker_parts(task: TaskDocument, overlay: Overlay, name: str, key: str, conditions: Sequence[Node]) -> Findings:
    """The parts of conditions that require less of a value than the threshold which must be met as well."""
    limit = overlay.number(key)
    for written in expressions_of(task) if limit is not None else ():
        is_required = any(each is written.scalar for each in conditions)
        for part in chain(written.checked.expr, "&&") if is_required else ():
            match part:
                case Binary(operator=">=" | ">", left=Name(name=read), right=right) if read == name:
                    least = number_in(right)
                    if limit is not None and least is not None and least < limit.as_float:
                        message = f"`{written.text(part)}` has no effect: `{key}` is {limit.value}"
                        notes = [(limit, "the threshold")]
                        yield task.warning(written.span(part), overlay.field, message, notes=notes)
