from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Binary, Call, Expr, Index, Literal, Macro, below, children
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, parts_of


def index_past_the_end(document: DocumentWithExpressions) -> Findings:
    """An index is the size of its list, is below 0, or is larger than the condition ensures.

    Why it matters: the last item has the index `size(xs) - 1`, so there is never an item at this one, and the condition
    can't be decided. Nor is there an item below 0: a negative index does not count from the end.
    Instead: write `xs[size(xs) - 1]` for the last item.
    """
    for written, part in parts_of(document):
        if isinstance(part, Binary) and part.operator == "&&":
            yield from _beyond_its_guard(written, part)
        if not isinstance(part, Index):
            continue
        name, index = written.text(part.operand), written.text(part.index)
        never = f"`{name}` never has an item at `{index}`"
        if _is_unsure(part) and "size(" not in written.scalar.text:
            message = f"nothing ensures that `{name}` has an item at `{index}`"
            yield warning(written.span(part.index), message, help="the first item has the index 0")
        elif _is_negative(part.index):
            yield warning(written.span(part.index), never, help=f"write `size({name}) - {index.lstrip('- ')}`")
        elif _is_size(part.index) and part.operand in children(part.index):
            yield warning(written.span(part.index), never, help=f"write `{index} - 1`")


def _beyond_its_guard(written: WrittenExpression, part: Binary) -> Findings:
    """The items after the last one that the size on the left side demands, if nothing else reads a size."""
    guard, rest = part.left, list(below(part.right))
    if not isinstance(guard, Binary) or any(map(_is_size, rest)):
        return
    match guard:
        case Binary(operator=">" | ">=", left=Call(function="size", args=(xs,)), right=Literal(value=int(number))):
            demanded = number + (guard.operator == ">")
        case Binary(operator="!=", left=Call(function="size", args=(xs,)), right=Literal(value=0)):
            demanded = 1
        case _:
            return
    for each in rest:
        match each:
            case Index(operand=operand, index=Literal(value=int(number))) if operand == xs and number >= demanded:
                message = f"`{written.text(guard)}` does not ensure an item at `{number}`"
                yield warning(written.span(each), message, notes=[(written.span(guard), "the condition")])


def _is_size(index: Expr) -> bool:
    return isinstance(index, Call) and index.function == "size"


def _is_negative(index: Expr) -> bool:
    return isinstance(index, Literal) and type(index.value) is int and index.value < 0


def _is_unsure(part: Index) -> bool:
    """Whether a part is the second or a later item of a filtered list, which may have fewer."""
    number = part.index.value if isinstance(part.index, Literal) else None
    return isinstance(part.operand, Macro) and part.operand.kind == "filter" and type(number) is int and number > 0
