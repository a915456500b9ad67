from typing import Final

from rulewright.diagnostics import Findings, error
from rulewright.documents.check import CheckDocument
from rulewright.expression.syntax_tree import Binary, Call, Expr, ListLiteral, Literal, Macro, field_of
from rulewright.load import Sequence, is_text
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, parts_of

SEARCHING: Final = frozenset({"contains_any", "contains_all", "contains_none", "has_any_word", "called_in_order"})
OF_NOTHING: Final = {"all": "always holds", "exists": "can never hold", "exists_one": "can never hold"}


def empty_list_searched(document: DocumentWithExpressions) -> Findings:
    """A condition searches an empty list, or searches a text for an empty list of phrases or for an empty phrase.

    Why it matters: `in []` never holds, `all` over no values always holds, and a search for no phrases, or for an
    empty one, can't be decided.
    Instead: add the values to search for, or remove the condition.
    """
    for written, part in parts_of(document):
        match part:
            case Binary(operator="in", right=values):
                yield from _in_list(document, written, part, values, "can never hold: the list is empty")
            case Macro(kind=kind, target=values) if kind in OF_NOTHING:
                yield from _in_list(document, written, part, values, f"{OF_NOTHING[kind]}: the list is empty")
            case Call(function=name, args=(*_, phrases)) if name in SEARCHING:
                yield from _in_list(document, written, part, phrases, "searches for nothing: the list is empty")
                yield from _empty_phrases(document, written, part, phrases)
            case Call(function="contains" | "startsWith" | "endsWith", args=(Literal(value=""),)):
                yield error(written.span(part), f"`{written.text(part)}` always holds: the text is empty")


def _in_list(
    document: DocumentWithExpressions, written: WrittenExpression, part: Expr, values: Expr, consequence: str
) -> Findings:
    """The finding that `values`, a list or a parameter that is one, is empty."""
    parameter = _parameter(document, values)
    if isinstance(values, ListLiteral) and not values.items:
        yield error(written.span(part), f"`{written.text(part)}` {consequence}")
    elif parameter is not None and not parameter.items:
        notes = [(written.span(part), "used here")]
        yield error(parameter, f"`{written.text(part)}` {consequence}", notes=notes)


def _empty_phrases(
    document: DocumentWithExpressions, written: WrittenExpression, part: Expr, phrases: Expr
) -> Findings:
    """The empty texts among the phrases that a text is searched for."""
    message, parameter = f"`{written.text(part)}` can't be decided: a phrase is empty", _parameter(document, phrases)
    for item in phrases.items if isinstance(phrases, ListLiteral) else ():
        if isinstance(item, Literal) and isinstance(item.value, str) and not item.value.strip():
            yield error(written.span(item), message)
    for value in () if parameter is None else parameter.items:
        if is_text(value) and not value.text.strip():
            yield error(value, message, notes=[(written.span(part), "used here")])


def _parameter(document: DocumentWithExpressions, part: Expr) -> Sequence | None:
    """The list of the check's parameter that a part of an expression reads."""
    name = field_of(part, "params")
    value = document.get("params", name) if name is not None and isinstance(document, CheckDocument) else None
    return value if isinstance(value, Sequence) else None
