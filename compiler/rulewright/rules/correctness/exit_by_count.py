from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.workflow import Overlay, TaskDocument
from rulewright.expression.direction import COMPARISONS, OPPOSITE
from rulewright.expression.syntax_tree import Binary, Expr, Literal, Name, Select, below, chain, number_in
from rulewright.lower.expressions_of import WrittenExpression, expressions_of

COUNTED: Final = frozenset({"loop", "review", "pair"})  # what counts iterations


def exit_by_count(task: TaskDocument) -> Findings:
    """A loop always ends, ends at a number of iterations regardless of its work, or ends only in its first iterations.

    Why it matters: refused work then counts as finished, while after `max_iterations` a person is asked. A loop that
    can end only in its first iterations repeats the work in all others for nothing.
    Instead: join the parts of the condition with `and`, and limit the iterations with `max_iterations`.
    """
    expressions = expressions_of(task)
    for loop in task.loops:
        own = [each for each in expressions if each.scalar in loop.conditions]
        parts = [(each, part) for each in own for part in chain(each.checked.expr, "||")]
        for written, part in parts:
            if _ends_alone(part, loop, [each for _, each in parts]):
                when = "always ends" if isinstance(part, Literal) else f"ends where `{written.text(part)}`"
                message = f"the loop {when}, regardless of its work"
                yield warning(
                    written.span(part), message, help="`max_iterations` limits the loop; join the parts with `and`"
                )
            yield from _too_early(written, part, loop)


def _ends_alone(part: Expr, loop: Overlay, parts: list[Expr]) -> bool:
    """Whether an alternative is `true`, or counts iterations although the loop has something to wait for. The threshold
    of a confidence loop is compared elsewhere."""
    if isinstance(part, Literal) and part.value is True:
        return True
    operator, number = _counted(part)
    if loop.mode == "all" or operator not in (">=", ">", "==") or not 1 < number <= (loop.max_iterations or 0):
        return False
    waits = loop.name in ("agentic_review", "paired_workflow") or any(not _counted(each)[0] for each in parts)
    return waits and not (loop.name == "confidence_loop" and loop.number("threshold") is not None)


def _too_early(written: WrittenExpression, part: Expr, loop: Overlay) -> Findings:
    for side in chain(part, "&&"):
        operator, number = _counted(side)
        last = number - (operator == "<")
        if operator in ("<", "<=") and 0 < last < (loop.max_iterations or 0):
            message = f"this condition can't end the loop after iteration {last:g} of {loop.max_iterations}"
            yield warning(written.span(side), message, help="`max_iterations` limits the loop")


def _counted(part: Expr) -> tuple[str, float]:
    """The operator and the number with which a condition compares iterations; "" and 0 for any other condition."""
    if not isinstance(part, Binary) or part.operator not in COMPARISONS:
        return "", 0
    count, number, operator = part.left, number_in(part.right), part.operator
    if number is None:
        count, number, operator = part.right, number_in(part.left), OPPOSITE.get(part.operator, part.operator)
    named = {each.name for each in below(count) if isinstance(each, Name)}
    fields = {each.field for each in below(count) if isinstance(each, Select)}
    is_count = number is not None and fields == {"iteration"} and named <= COUNTED
    return (operator, float(number)) if is_count and number is not None else ("", 0)
