"""What is wrong with a document: a finished value with a code, a message and exact places."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol


class Severity(enum.StrEnum):
    """How much a diagnostic matters; an error stops `compile` and `scan`."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a file: lines and columns count from 1, columns in code points; the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that explains the first, for instance where a contradicting key stands."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` with `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that mends the mistake; `safe` when it can't change what the document means otherwise."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `code` is the rule's name with dashes; `message` starts in lower case and fits one line; `about` is
    the code of another rule that it speaks of."""

    code: str
    severity: Severity
    message: str
    span: Span
    notes: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    about: str = ""

    @property
    def sort_key(self) -> tuple[Span, int, str, str]:
        """Orders findings by place, then gravity, then code: the same input gives the same bytes."""
        return (self.span, self.severity.rank, self.code, self.message)


JOINERS: Final = "\u200c\u200d"  # they show nothing, and hold characters together: families, scripts of India
QUOTES: Final = ("'", '"', "j")  # the styles of a scalar that stands in quotes; the last is a JSON string


class Located(Protocol):
    """Anything that knows its place: a node, a document's field."""

    @property
    def span(self) -> Span:
        """Where it stands."""
        ...


class Quoted(Located, Protocol):
    """A scalar: its text as its author wrote it, and in which style."""

    @property
    def raw(self) -> str:
        """The text, quotes included."""
        ...

    @property
    def style(self) -> str:
        """How it is quoted."""
        ...


def finding(
    severity: Severity,
    place: Span | Located,
    message: str,
    *,
    code: str = "",
    notes: Iterable[tuple[Span | Located, str]] = (),
    help: str | None = None,
    fix: Fix | None = None,
) -> Diagnostic:
    """A diagnostic at a span, or at anything that has one; a rule leaves `code` empty, the engine writes its name.

    An author's words in a message may hold line breaks; they become blanks, so that a message stays on its line.
    """
    pairs = tuple(Note(_span(where), _on_one_line(text)) for where, text in notes)
    return Diagnostic(code, severity, _on_one_line(message), _span(place), pairs, help and _on_one_line(help), fix)


error = partial(finding, Severity.ERROR)
warning = partial(finding, Severity.WARNING)
advice = partial(finding, Severity.ADVICE)


def respell(text: Quoted, word: str, *, safe: bool) -> Fix:
    """The fix that writes another word in place of a text, in the quotes that the text stands in."""
    quote = text.raw[0] if text.style in QUOTES else ""
    return replace(text, f"{quote}{word}{quote}", f"write `{word}`", safe=safe)


def replace(place: Span | Located, text: str, message: str, *, safe: bool) -> Fix:
    """The fix that writes `text` in place of what stands at `place`."""
    return Fix(message, (Edit(_span(place), text),), safe)


def _on_one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in JOINERS else "\ufffd" for char in " ".join(text.split()))


def is_within(span: Span, other: Span) -> bool:
    """Whether a place lies in another one of the same file."""
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    return span.path == other.path and (other.line, other.column) <= start and end <= (other.end_line, other.end_column)


def _span(place: Span | Located) -> Span:
    return place if isinstance(place, Span) else place.span
