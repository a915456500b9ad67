"""The base of document models: the source node, spans inside it, and readers that tolerate wrong types."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Span, error
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.load import Entry, Loaded, Mapping, Node, Scalar, Sequence

Step = str | int
Model = TypeVar("Model", bound="Document")
T = TypeVar("T")


class _OfProject(Struct, frozen=True, eq=False, kw_only=True):
    vocabulary: Vocabulary = field(default_factory=invisiblebench)


class Document(_OfProject, frozen=True, eq=False):
    """A document with its source node. Reading is lenient, so that lint can check the rest of a broken file.

    `vocabulary` is the vocabulary of the document's project.
    """

    node: Mapping

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    @property
    def path(self) -> str:
        """The file's path as the user gave it."""
        return self.node.source.path

    @property
    def span(self) -> Span:
        return self.node.span

    @property
    def holds_expressions(self) -> bool:
        """Whether the document may contain an expression or a template. Many contain none, and their checkers are
        slow to import."""
        return True

    def get(self, *steps: Step) -> Node | None:
        """The value at `steps` (keys and list indices), or None."""
        return descend(self.node, *steps)

    def place(self, *steps: Step) -> Span:
        """The span of the value at `steps`, or of its nearest existing ancestor."""
        return place_of(self.node, *steps)

    def key_place(self, *steps: Step) -> Span:
        """The span of the last key of `steps`, or of its nearest existing ancestor."""
        above = descend(self.node, *steps[:-1])
        last = steps[-1]
        if type(above) is Mapping and isinstance(last, str) and last in above:
            return above.key_span(last)
        return place_of(self.node, *steps)


def repeated(values: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[tuple[T, T]]:
    """Every value whose key an earlier one has, with the first of that key."""
    first: dict[Hashable, T] = {}
    for value in values:
        earlier = first.setdefault(key(value), value)
        if earlier is not value:
            yield value, earlier


def with_vocabulary(document: Model, vocabulary: Vocabulary) -> Model:
    return document if document.vocabulary == vocabulary else replace(document, vocabulary=vocabulary)


def no_mapping(loaded: Loaded, what: str) -> Diagnostic:
    """The error of a file that was read and holds no mapping, where `what` must be one."""
    if loaded.is_table:
        message = f"{what} must be YAML or JSON, not a table"
        return error(loaded.source.span(0, 0), message, code="wrong-type", help="name a file of YAML or JSON")
    if loaded.root is None:
        return error(loaded.source.span(0, 0), "the file is empty", code="empty-document")
    return error(loaded.root, f"{what} must be a mapping", code="wrong-type")


def descend(node: Node | None, *steps: Step) -> Node | None:
    """The node below `node` at `steps`, or None if there is none."""
    for step in steps:
        if type(node) is Mapping and isinstance(step, str):
            entry = node.index.get(step)
            node = None if entry is None else entry.value
        elif type(node) is Sequence and isinstance(step, int) and 0 <= step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def place_of(node: Node, *steps: Step) -> Span:
    """The span of the node at `steps`, or of its nearest existing ancestor."""
    for step in steps:
        below = descend(node, step)
        if below is None:
            break
        node = below
    return node.span


def first_place(node: Mapping) -> Span:
    """The span of the first key of a mapping, or of an empty mapping."""
    return next((entry.key.span for entry in node.entries), node.span)


def owner_place(root: Node, steps: tuple[Step, ...]) -> Span:
    """Where what the mapping at `steps` lacks is reported: the key that holds it, or its own first key."""
    above = descend(root, *steps[:-1])
    if steps and type(above) is Mapping and steps[-1] in above.index:
        return above.key_span(str(steps[-1]))
    node = descend(root, *steps)
    return first_place(node) if type(node) is Mapping else place_of(root, *steps)


def value(node: Node | None, *steps: Step) -> Any:
    """The scalar at `steps`, or None for anything else."""
    found = descend(node, *steps)
    return found.value if type(found) is Scalar else None


def text(node: Node | None, *steps: Step) -> str:
    """The text at `steps`, or the empty text."""
    found = descend(node, *steps)
    return found.value if type(found) is Scalar and isinstance(found.value, str) else ""


def optional_text(node: Node | None, *steps: Step) -> str | None:
    """The text at `steps`, or None."""
    return text(node, *steps) or None


def scalar(node: Node | None, *steps: Step) -> Scalar | None:
    """The text scalar at `steps`, or None."""
    found = descend(node, *steps)
    return found if type(found) is Scalar and isinstance(found.value, str) else None


def any_scalar(node: Node | None) -> Scalar | None:
    """The scalar at `steps`, of any type, or None."""
    return node if type(node) is Scalar else None


def numeric(node: Node | None, *steps: Step) -> Scalar | None:
    """The scalar at `steps` if it is a number, else None."""
    found = descend(node, *steps)
    return found if type(found) is Scalar and type(found.value) in (int, float) else None


def number(node: Node | None, *steps: Step) -> int | None:
    """The integer at `steps`, or None."""
    found = value(node, *steps)
    if isinstance(found, float) and found.is_integer():
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def fraction(node: Node | None, *steps: Step) -> float | None:
    """The number at `steps`, or None."""
    found = value(node, *steps)
    return float(found) if type(found) in (int, float) else None


def flag(node: Node | None, *steps: Step) -> bool | None:
    """The boolean at `steps`, or None."""
    found = value(node, *steps)
    return found if isinstance(found, bool) else None


def items(node: Node | None, *steps: Step) -> tuple[Node, ...]:
    """The items of the list at `steps`; empty if it is not a list."""
    found = descend(node, *steps)
    return found.items if type(found) is Sequence else ()


def entries(node: Node | None, *steps: Step) -> tuple[Entry, ...]:
    """The keys with values of the mapping at `steps`; empty if it is not a mapping."""
    found = descend(node, *steps)
    return found.entries if type(found) is Mapping else ()


def texts(node: Node | None, *steps: Step) -> tuple[str, ...]:
    """The texts of the list at `steps`; other items are skipped."""
    return tuple(item.value for item in items(node, *steps) if type(item) is Scalar and isinstance(item.value, str))


def optional_texts(node: Node | None, *steps: Step) -> tuple[str, ...] | None:
    """As `texts`, or None if the key is absent."""
    return None if descend(node, *steps) is None else texts(node, *steps)


def one_or_more(node: Node | None, *steps: Step) -> tuple[str, ...]:
    """The text at `steps`, or the texts of the list there."""
    single = text(node, *steps)
    return (single,) if single else texts(node, *steps)


def text_scalars(node: Node | None, *steps: Step) -> tuple[Scalar, ...]:
    """The text scalars of the list at `steps`; other items are skipped."""
    return tuple(item for item in items(node, *steps) if type(item) is Scalar and isinstance(item.value, str))


def text_of(node: Node | None) -> str:
    """The value of a scalar as text; empty for anything else."""
    return node.text if isinstance(node, Scalar) else ""


def folded(text: str) -> str:
    """A text in lower case and with single spaces, as expectations are compared."""
    return " ".join(text.lower().split())
