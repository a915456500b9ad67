from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Call, Expr, Macro, Unary, chain
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of


def negated_twice(document: DocumentWithExpressions) -> Findings:
    """A condition is negated twice.

    Why it matters: two negations cancel out, so the condition means the opposite of what each of them says. `not
    turns.exists(turn, contains_none(...))` holds where every turn contains one of the phrases.
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


def _search_for_none(part: Expr) -> Call | None:
    """The last part of an `exists`, if it is a search for none of some phrases."""
    last = chain(part.bodies[-1], "&&")[-1] if isinstance(part, Macro) and part.kind == "exists" else None
    return last if isinstance(last, Call) and last.function == "contains_none" else None
