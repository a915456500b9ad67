from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Call, Expr, Literal, Macro, Name, Select, below, children
from rulewright.load import place
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of

JUDGED_BY: Final = frozenset({"matches", "valid_against"})  # a value of the conversation, and what it is held against
EXTRACTING: Final = frozenset(
    {"urls", "numbers", "emails", "phone_numbers", "ibans", "card_numbers", "personal_data", "code_blocks", "split"}
)
WEIGHTED: Final = frozenset({"wmean", "wmean_present"})


def arguments_swapped(document: DocumentWithExpressions) -> Findings:
    """The arguments of `matches`, `valid_against` or a weighted mean are in the wrong order.

    Why it matters: the model's words are used as the pattern, its answer as the schema, or the weights are averaged.
    The types fit, so the compiler accepts it.
    Instead: write `text.matches(pattern)`, `valid_against(value, schema)` or `wmean(values, weights)`.
    """
    for written, part in parts_of(document):
        for piece, whole in _pieces_that_contain(part):
            message = f"`{written.text(piece)}` and `{written.text(whole)}` are swapped"
            help = "a piece of a text never contains a whole message"
            yield warning(place(written.scalar, piece.span.start, whole.span.end), message, help=help)
        if not isinstance(part, Call):
            continue
        args = (*(() if part.target is None else (part.target,)), *part.args)
        if len(args) == 2 and _is_swapped(part.function, *args, *map(written.text, args)):
            first, second = map(written.text, args)
            help = f"put `{second}` first"
            yield warning(written.span(part), f"`{first}` and `{second}` are swapped", help=help)


def _pieces_that_contain(part: Expr) -> Iterator[tuple[Expr, Expr]]:
    """A text that is written, or was extracted from texts, and is searched for a whole message; and the message."""
    match part:
        case Call(function="contains", target=Literal() as written, args=(whole,)) if _is_whole(whole):
            yield written, whole
    if not isinstance(part, Macro) or not isinstance(part.target, Call) or part.target.function not in EXTRACTING:
        return
    for each in (each for body in part.bodies for each in below(body)):
        match each:
            case Call(function="contains", target=Name(name=name) as piece, args=(Select(field="content") as whole,)):
                if name in part.variables:
                    yield piece, whole


def _is_whole(part: Expr) -> bool:
    """Whether a part is a whole message."""
    match part:
        case Select(field="content" | "text") | Name(name="answer" | "reply"):
            return True
    return False


def _is_swapped(function: str, first: Expr, second: Expr, first_text: str, second_text: str) -> bool:
    if function == "contains_ci":
        return first_text == "it"  # an item of the list whose share is found
    if function in WEIGHTED:
        return "weight" in first_text and "weight" not in second_text
    return function in JUDGED_BY and _roots(first) == {"params"} and bool(_roots(second) - {"params", ""})


def _roots(part: Expr) -> set[str]:
    """The names that an expression reads."""
    if isinstance(part, Name):
        return {part.name}
    if isinstance(part, Literal):
        return {""}
    return {name for child in children(part) for name in _roots(child)}
