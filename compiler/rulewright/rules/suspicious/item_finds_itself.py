from typing import TypeGuard

from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Binary, Expr, Macro, Name, Unary, chain, with_children
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of

SEARCHES = ("exists", "all")


def item_finds_itself(document: DocumentWithExpressions) -> Findings:
    """A condition on the items of a list searches the same list, and every item meets what is searched for.

    Why it matters: `xs.exists(x, !xs.exists(y, y == x))` never holds and `xs.exists(x, xs.exists(y, y == x))` always
    does, because each item finds itself. Usually another list was meant, or other items than this one.
    Instead: search the other list, or exclude the item itself, for instance by its index.
    """
    for written, part in parts_of(document):
        if not isinstance(part, Macro) or part.kind not in SEARCHES or len(part.variables) != 1:
            continue
        known = chain(part.bodies[0], "&&")
        for each in known:
            denied = isinstance(each, Unary)
            sought = each.operand if isinstance(each, Unary) else each
            others = [one for one in known if one is not each]
            if (part.kind == "exists" or not denied) and _meets(part, sought, others):
                holds = "never" if denied else "always"
                message = f"this {holds} holds: every item of `{written.text(part.target)}` matches itself"
                yield warning(written.span(sought), message)


def _meets(outer: Macro, sought: Expr, known: list[Expr]) -> bool:
    """Whether an item of the outer list is what the inner search finds in the same list."""
    item = Name(outer.variables[0], outer.span)
    if isinstance(sought, Binary) and sought.operator == "in":
        return sought.left == item and sought.right == outer.target
    if not _searches(sought) or sought.target != outer.target:
        return False
    wanted = (_put(each, sought.variables[0], item) for each in chain(sought.bodies[0], "&&"))
    return all(each in known or _is_identity(each) for each in wanted)


def _searches(part: Expr) -> TypeGuard[Macro]:
    return isinstance(part, Macro) and part.kind == "exists" and len(part.variables) == 1


def _put(part: Expr, name: str, item: Name) -> Expr:
    """The expression with an item in place of a name."""
    if isinstance(part, Name):
        return item if part.name == name else part
    return with_children(part, lambda each: _put(each, name, item))


def _is_identity(part: Expr) -> bool:
    return isinstance(part, Binary) and part.operator in ("==", "<=", ">=") and part.left == part.right
