from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Binary, Call, Expr, Macro, Name, Unary, below, chain
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, expressions_of, parts_of


def negated_twice(document: DocumentWithExpressions) -> Findings:
    """A condition is negated twice.

    Why it matters: two negations cancel out, so the condition means the opposite of what each of them says. `not
    turns.exists(turn, contains_none(...))` holds where every turn contains one of the phrases, and `not
    given.exists(g, g != n)` where every item of `given` is `n`.
    Instead: remove one of them, or both.
    """
    for written, part in parts_of(document):
        if isinstance(part, Unary) and isinstance(part.operand, Unary) and part.operator == part.operand.operator:
            text = written.text(part.operand.operand)
            help = f"write `{written.text(part.operand)}` or `{text}`"
            yield warning(written.span(part), f"two negations of `{text}` cancel out", help=help)
        elif isinstance(part, Unary) and (none := _search_for_none(part.operand)) is not None:
            message = f"`not` and `{none.function}` cancel out: every item has to contain one of the phrases"
            yield warning(written.span(none), message, help="did you mean `contains_any`?")
    for written in expressions_of(document):
        yield from _compared(written)


def _compared(written: WrittenExpression) -> Findings:
    """The only comparison of an item with one of another list, if there is one to which no item may be unequal. Of
    every one it may be said: `pass: prices.all(p, not prices.exists(q, q != p))`."""
    for outer in (each for each in written.parts if isinstance(each, Macro) and each.kind == "exists"):
        for part in (each for body in outer.bodies for each in below(body)):
            if not (isinstance(part, Unary) and isinstance(part.operand, Macro) and part.operand.kind == "exists"):
                continue
            own, others = set(part.operand.variables), set(outer.variables)
            sides = chain(part.operand.bodies[-1], "&&")
            joined = [each for each in sides if _joins(each, own, others)]
            if len(sides) == 1 and part.operand.target == outer.target:  # whether all items are alike
                continue
            if len(joined) == 1 and isinstance(joined[0], Binary) and joined[0].operator == "!=":
                left, right = written.text(joined[0].left), written.text(joined[0].right)
                message = f"`not` and `!=` cancel out: this holds where every item has the same value as `{right}`"
                yield warning(written.span(joined[0]), message, help=f"did you mean `{left} == {right}`?")


def _joins(part: Expr, own: set[str], others: set[str]) -> bool:
    """Whether a part reads both an item and one of the outer list."""
    names = {each.name for each in below(part) if isinstance(each, Name)}
    return bool(names & own) and bool(names & others)


def _search_for_none(part: Expr) -> Call | None:
    """The last part of an `exists`, if it is a search for none of some phrases."""
    last = chain(part.bodies[-1], "&&")[-1] if isinstance(part, Macro) and part.kind == "exists" else None
    return last if isinstance(last, Call) and last.function == "contains_none" else None
