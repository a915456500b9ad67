"""What a condition is about: what it searches for and counts, and the words in it."""

import re
from typing import Final

from rulewright.expression.direction import ORDERED, denies
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Expr,
    Index,
    Literal,
    Macro,
    Name,
    Select,
    below,
    chain,
    field_of,
    last_name,
    number_in,
)

COUNTS: Final = {"word_count": "words", "sentence_count": "sentences"}
LISTS: Final = frozenset({"messages", "replies", "tool_calls", "turns"})
STEM: Final = 4  # letters at the start of a word, which its forms share


def stems_in(text: str) -> set[str]:
    """The first letters of the words in a text, which may be a pattern."""
    return {each[:STEM] for each in re.findall(r"(?<!\\)[^\W_]{4,}", text.lower())}


def stems(part: Expr) -> set[str]:
    """The first letters of the words in the texts and the parameters of an expression."""
    texts = (str(each.value) if isinstance(each, Literal) else field_of(each, "params") for each in below(part))
    return set[str]().union(*(stems_in(text or "") for text in texts))


def parameters(part: Expr) -> set[str]:
    """The parameters that an expression reads."""
    return {name for each in below(part) if (name := field_of(each, "params")) is not None}


def stems_of_parameters(part: Expr) -> set[str]:
    """The first letters of the words in the names of the parameters that an expression reads."""
    return {word[:STEM] for name in parameters(part) for word in name.split("_") if word}


def stems_of_counted(part: Expr) -> set[str]:
    """The first letters of what an expression counts: `card` of `size(card_numbers(answer))`."""
    sizes = (each for each in below(part) if isinstance(each, Call) and each.function == "size")
    counted = (each.function for size in sizes for each in size.args if isinstance(each, Call))
    return {word[:STEM] for name in counted for word in name.split("_")}


def named_in(part: Expr) -> str:
    """The names of functions and values in an expression, in one text."""
    names = (
        each.function if isinstance(each, Call) else each.name if isinstance(each, Name) else "" for each in below(part)
    )
    return " ".join(names)


def searches(part: Expr) -> bool:
    """Whether a condition tests for the presence of something: a call, `exists`, `size(...) > 0`, or one of several."""
    if isinstance(part, Binary) and part.operator == "||":
        return all(map(searches, chain(part, "||")))
    if isinstance(part, Binary):
        is_size = isinstance(part.left, Call) and part.left.function == "size"
        return is_size and part.operator in (">", "!=") and number_in(part.right) == 0
    return isinstance(part, Call) or (isinstance(part, Macro) and part.kind == "exists")


def found_by_search(part: Expr) -> list[Expr]:
    """The searches in an expression, outer ones first."""
    return [
        each
        for each in below(part)
        if isinstance(each, Macro) or (isinstance(each, Call) and each.function == "called")
    ]


def is_ordered(part: Expr) -> bool:
    """Whether an expression tests for an order: of places, of numbers, of calls or in a text."""
    return any(
        isinstance(each, Index)
        or (isinstance(each, Binary) and each.operator in ORDERED)
        or (isinstance(each, Call) and each.function in ("called_in_order", "matches"))
        for each in below(part)
    )


def is_membership(part: Expr) -> bool:
    """Whether a condition says that a value is in a list: `given.exists(each, each == n)`."""
    body = part.bodies[-1] if isinstance(part, Macro) and part.kind == "exists" else None
    return isinstance(body, Binary) and body.operator == "=="


def names_values(part: Expr) -> bool:
    """Whether a condition names a value, as in `order.paid == "no"`."""
    return isinstance(part, Binary) and part.operator in ("==", "!=", "in")


def one_side_lacks(part: Expr) -> bool:
    """Whether `or` joins the same measure of two things, and only one side tests for nothing: `size(a) == 0 or ...`."""
    sides = [each for each in chain(part, "||") if isinstance(each, Binary) and isinstance(each.left, Call)]
    functions = {each.left.function for each in sides if isinstance(each.left, Call)}
    measured = {named_in(each.left) for each in sides}
    return len(sides) == len(measured) > len(functions) == 1 and len({denies(each) for each in sides}) == 2


def form(part: Expr) -> object:
    """What two conditions of one form have in common: the operator and the kinds of both sides."""
    if isinstance(part, Binary):
        operator = "order" if part.operator in ORDERED else part.operator
        return operator, type(part.left).__name__, type(part.right).__name__
    return type(part).__name__


def counted(part: Expr) -> str:
    """What an expression counts, else its last name, also of what is converted: `int(call.arguments.in_days)`."""
    while isinstance(part, Call) and (part.target is not None or part.args):
        if part.function == "call_count" or _counts_items(part):
            return "items"
        if part.function in COUNTS or counts_characters(part):
            return COUNTS.get(part.function, "characters")
        part = part.args[0] if part.args else part.target or part
    return last_name(part)


def counts_characters(part: Expr) -> bool:
    """Whether a part is the size of a message's text."""
    return any(isinstance(each, Select) and each.field == "content" for each in _sized(part))


def counts_pieces(part: Expr) -> bool:
    """Whether a part is the number of pieces of a text, one more than what words count."""
    return any(isinstance(each, Call) and each.function == "split" for each in _sized(part)[:1])


def _counts_items(part: Expr) -> bool:
    """Whether a part is the size of a list, as far as its form says so."""
    return any(isinstance(each, Macro) or (isinstance(each, Name) and each.name in LISTS) for each in _sized(part))


def _sized(part: Expr) -> list[Expr]:
    """What a call of `size` counts; empty for another part."""
    sized = (part.target, *part.args) if isinstance(part, Call) and part.function == "size" else ()
    return [each for each in sized if each is not None]
