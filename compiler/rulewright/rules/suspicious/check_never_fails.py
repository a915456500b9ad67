from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.expression import syntax_tree as ast
from rulewright.lower.expressions_of import expressions_of
from rulewright.proving.verdicts import never_given

ANSWER: Final = ast.Name("answer", ast.NOWHERE)
LISTS: Final = (ast.Name("messages", ast.NOWHERE), ast.Name("turns", ast.NOWHERE), ast.Name("replies", ast.NOWHERE))


def check_never_fails(check: CheckDocument) -> Findings:
    """The conditions of a check can never give FAIL.

    Why it matters: the check can't find a failure, so its score and its gate mean nothing.
    Instead: look for parts of `fail` that contradict each other, for a comparison that can never hold, or for a search
    of the answer for a text that was taken from the answer.
    """
    for written in expressions_of(check):
        found = next(filter(_finds_itself, written.parts), None) if written.scalar is check.fails else None
        if found is not None:
            message = "this can never hold: what an answer contains, the assistant's messages contain, too"
            yield warning(written.span(found), message)
    if not check.verdict_conditions:
        return
    if never_given(check, "FAIL"):
        yield warning(check.fails or check.verdict_conditions[0], "this check can never fail")


def _finds_itself(part: ast.Expr) -> bool:
    """Whether a part looks in the answer for what no message of the assistant contains."""
    if not isinstance(part, ast.Macro) or part.kind != "exists" or not isinstance(part.bodies[0], ast.Unary):
        return False
    sought, inner = part.target, part.bodies[0].operand
    own = isinstance(sought, ast.Call) and any(
        ast.field_of(each, "turn") == "content" or each == ANSWER for each in sought.args
    )
    if not own or not isinstance(inner, ast.Macro) or inner.kind != "exists":
        return False
    return inner.target in LISTS and any(_is_of_assistant(each) for each in ast.chain(inner.bodies[0], "&&"))


def _is_of_assistant(part: ast.Expr) -> bool:
    """Whether a comparison of a role holds for the assistant."""
    if not isinstance(part, ast.Binary) or part.operator not in ("==", "in") or ast.last_name(part.left) != "role":
        return False
    return any(
        isinstance(each, ast.Literal) and each.value == "assistant" for each in (part.right, *ast.children(part.right))
    )
