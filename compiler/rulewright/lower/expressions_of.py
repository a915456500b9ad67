"""The expressions of a document, parsed and checked in their environments.

Invalid expressions are omitted: lowering reports them.
"""

from collections.abc import Callable, Container, Hashable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from rulewright.diagnostics import Span
from rulewright.errors import ExpressionError
from rulewright.expression.build import parsed
from rulewright.expression.checker import CheckedExpression, check
from rulewright.expression.syntax_tree import Binary, Expr, ListLiteral, Literal, MapLiteral, below
from rulewright.load import Entry, Mapping, Node, Scalar, Sequence, place
from rulewright.lower.scopes import scoped_expressions

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
    from rulewright.documents.state_machine import StateMachineDocument
    from rulewright.documents.workflow import TaskDocument

DocumentWithExpressions: TypeAlias = (
    "CheckDocument | Profile | ScenarioDocument | ScorecardDocument | CaseScorecardDocument | StateMachineDocument"
    "| TaskDocument"
)
CACHE_SIZE: Final = 64  # documents that several rules read one after the other


class WrittenExpression(Struct, frozen=True, eq=False):
    """An author's expression with its scalar."""

    scalar: Scalar
    checked: CheckedExpression
    parts: tuple[Expr, ...]  # the nodes of the syntax tree in pre-order

    def text(self, part: Expr) -> str:
        """The source text of a node."""
        return self.scalar.text[part.span.start : part.span.end]

    def span(self, part: Expr) -> Span:
        return place(self.scalar, part.span.start, part.span.end)

    def node(self, part: Expr, values: Callable[[Expr], Node | None] = lambda _: None) -> Node | None:
        """The node that a file would have in place of a literal, in which the `values` of other parts are known; None
        where one is not."""
        source, span = self.scalar.source, self.span(part)
        start, end = source.offset(span.line, span.column), source.offset(span.end_line, span.end_column)
        match part:
            case Literal(value=bool() | int() | float() | str() | None as value):
                return Scalar(value, start, end, source.text[start] if source.text[start] in "'\"" else "", source)
            case ListLiteral(items=items):
                nodes = [node for each in items if (node := self.node(each, values)) is not None]
                return Sequence(tuple(nodes), start, end, source) if len(nodes) == len(items) else None
            case MapLiteral(entries=entries):
                pairs = [(self.node(key), self.node(value, values)) for key, value in entries]
                index = {
                    key.text: Entry(key, value) for key, value in pairs if type(key) is Scalar and value is not None
                }
                return Mapping(index, start, end, source) if len(index) == len(entries) else None
        return values(part)


@lru_cache(maxsize=CACHE_SIZE)
def expressions_of(document: DocumentWithExpressions) -> tuple[WrittenExpression, ...]:
    """Return the valid expressions of a document, in the order they are read."""
    expressions = []
    for scalar, environment in scoped_expressions(document):
        text = scalar.text
        try:
            checked = check(parsed(text, environment), text, environment)
        except ExpressionError:
            continue
        expressions.append(WrittenExpression(scalar, checked, tuple(below(checked.expr))))
    return tuple(expressions)


def parts_of(document: DocumentWithExpressions) -> Iterator[tuple[WrittenExpression, Expr]]:
    """Yield every node of the valid expressions of a document, with its expression."""
    for written in expressions_of(document):
        for part in written.parts:
            yield written, part


def operations_in(
    document: DocumentWithExpressions, operators: Container[str]
) -> Iterator[tuple[WrittenExpression, Binary]]:
    """Yield the nodes of a document's valid expressions that join two sides with one of these operators."""
    for written, part in parts_of(document):
        if isinstance(part, Binary) and part.operator in operators:
            yield written, part


def texts_in(document: Hashable, find: Callable[[Expr], Iterator[Literal]]) -> Iterator[tuple[str, Span]]:
    """The texts that `find` finds in the nodes of a document's valid expressions, with their spans."""
    for written in expressions_of(document):
        for literal in (found for part in written.parts for found in find(part)):
            yield str(literal.value), written.span(literal)
