from collections.abc import Collection
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.workflow import TaskDocument
from rulewright.expression.direction import ORDERED
from rulewright.expression.syntax_tree import Binary, Expr, Literal, Name, Unary, below, chain, last_name, selections
from rulewright.lower.expressions_of import expressions_of

GOOD: Final = frozenset({"GO", "PASS", "APPROVED", "COMPLETED"})
MEASURED: Final = frozenset({"confidence_score", "metrics"})
WANTED: Final = frozenset({"challenger_approved", "approved", "passed", "confidence_score", "resolved"})


def exit_on_failure(task: TaskDocument) -> Findings:
    """A loop ends, or a gate passes, when its work was refused, undecided or not looked at, or its confidence is low.

    Why it matters: the task leaves the loop with the refused work, and leaves it again at the next attempt.
    Instead: end the loop on `review.decision == GO`, `pair.challenger_approved` or a sufficient confidence; the bound
    of the loop ends it otherwise.
    """
    for written in expressions_of(task):
        for part in (each for side in chain(written.checked.expr, "||") for each in chain(side, "&&")):
            if _is_refusal(part, wanted=True):
                ends = any(written.scalar in loop.conditions for loop in task.loops)
                what = "the loop ends" if ends else "the gate passes"
                is_measured = any(isinstance(each, Name) and each.name in MEASURED for each in below(part))
                why = "the value is low" if is_measured else "the work is not approved"
                yield warning(written.span(part), f"{what} where `{written.text(part)}`: {why}")
        for part in chain(written.checked.expr, "&&"):  # one of several cases may be that of another tier
            if _is_left_out(part, task.required_evidence):
                message = f"the gate never says PASS where `{written.text(part)}`: this evidence is required"
                yield warning(written.span(part), message)


def _is_refusal(part: Expr, *, wanted: bool) -> bool:
    """Whether a condition holds where the work was refused, or for `wanted` false, where it was not."""
    if isinstance(part, Unary) and part.operator == "!":
        return _is_refusal(part.operand, wanted=not wanted)
    if isinstance(part, Binary) and part.operator in ("==", "!="):
        equal = (part.operator == "==") == wanted
        other = part.right.value if isinstance(part.right, Literal) else getattr(part.right, "name", None)
        if isinstance(other, bool):
            return _is_wanted(part.left) and other != equal
        if isinstance(other, (int, float)):
            return _is_wanted(part.left) and (other > 0) != equal
        return (other in GOOD and not equal) or (other in ("NO_GO", "FAIL", "NEEDS_REWORK", "FAILED") and equal)
    if isinstance(part, Binary) and part.operator in ORDERED:
        return _is_wanted(part.left) and (part.operator[0] == "<") == wanted
    return _is_wanted(part) and not wanted


def _is_left_out(part: Expr, required: Collection[str]) -> bool:
    """Whether a condition holds only where one of the checks was skipped."""
    is_equal = isinstance(part, Binary) and part.operator == "==" and last_name(part.left) in required
    return is_equal and isinstance(part, Binary) and getattr(part.right, "name", None) == "SKIPPED"


def _is_wanted(part: Expr) -> bool:
    root, _ = selections(part)
    return last_name(part) in WANTED or (isinstance(root, Name) and root.name == "metrics")
