"""Diagnostics: the findings in documents, with code, severity, message and exact spans."""

import enum
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, Protocol, Self, TypeAlias

from msgspec import Struct


class Severity(enum.StrEnum):
    """The severity of a diagnostic; an error stops `compile` and `scan`."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"

    @property
    def rank(self) -> int:
        """The rank of the severity, 0 for errors."""
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class Span(Struct, frozen=True, order=True):
    """A range in a file: lines and columns count from 1, columns in code points; the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Note(Struct, frozen=True):
    """A further span with an explanation, for instance of a contradicting key."""

    span: Span
    message: str


class Edit(Struct, frozen=True):
    """Replace the text of `span` with `text`."""

    span: Span
    text: str


class Fix(Struct, frozen=True):
    """A change that fixes the mistake; `safe` when it does not change any other meaning of the document."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool


class Guess(str):
    """The help ``did you mean `x`?``; `meant` is the suggested word."""

    meant: str

    def __new__(cls, meant: str, otherwise: str = "") -> Self:
        """Create the question, followed by the advice `otherwise`."""
        guess = super().__new__(cls, f"did you mean `{meant}`? {otherwise}".rstrip())
        guess.meant = meant
        return guess


class Diagnostic(Struct, frozen=True):
    """One finding. `code` is the rule's name with dashes; `message` starts in lower case and fits one line; `about` is
    what it refers to: the code of another rule, a kind of document, the record of an unknown field, the kind of a
    mistake in an expression, the path where an unknown key belongs, or the path of a key in another document."""

    code: str
    severity: Severity
    message: str
    span: Span
    notes: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    about: str = ""

    @property
    def quoted(self) -> list[str]:
        """The texts that the message has in backticks: names, and the author's words."""
        return self.message.split("`")[1::2]

    @property
    def subject(self) -> str:
        """The first text that the message has in backticks; empty without one."""
        return next(iter(self.quoted), "")

    @property
    def advised(self) -> str:
        """The message, with its help in a second line."""
        return self.message if self.help is None else f"{self.message}\n{self.help}"

    @property
    def sort_key(self) -> tuple[Span, int, str, str]:
        """The sort key by span, severity, code and message, so that the same input gives the same bytes."""
        return (self.span, self.severity.rank, self.code, self.message)


def in_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the findings sorted and without duplicates, because two stages may report the same mistake."""
    return tuple(sorted(dict.fromkeys(found), key=lambda each: each.sort_key))


Findings: TypeAlias = Iterator[Diagnostic]  # what a rule yields
OPEN_TYPE: Final = "open type"  # what mistakes are about whose type is only known at run time
RULE_SETS: Final = "rule sets"  # what findings in a project without any are about
OF_THE_OTHER_FOLDER: Final = "the other folder"  # what an input is about that names cases in place of outputs
JOINERS: Final = "\u200c\u200d"  # invisible, and needed inside emoji sequences and Indic scripts
QUOTES: Final = ("'", '"', "j")  # the styles of quoted scalars; the last is a JSON string


class Located(Protocol):
    """Anything with a span: a node, a document's field."""

    @property
    def span(self) -> Span: ...


class Quoted(Located, Protocol):
    """A scalar with its source text and style."""

    @property
    def raw(self) -> str:
        """The source text, including quotes."""
        ...

    @property
    def style(self) -> str:
        """The style of its quotes."""
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
    """Create a diagnostic at a span, or at anything with one; a rule leaves `code` empty, and the engine fills it in.

    Line breaks in an author's words become spaces, so that a message is one line.
    """
    pairs = tuple(Note(_span(located), _on_one_line(text)) for located, text in notes)
    return Diagnostic(code, severity, _on_one_line(message), _span(place), pairs, help and _on_one_line(help), fix)


error = partial(finding, Severity.ERROR)
warning = partial(finding, Severity.WARNING)
advice = partial(finding, Severity.ADVICE)


def respell(text: Quoted, word: str, *, safe: bool) -> Fix:
    """Return the fix that replaces a text by another word and keeps its quotes."""
    quote = text.raw[0] if text.style in QUOTES else ""
    return replace(text, f"{quote}{word}{quote}", f"write `{word}`", safe=safe)


def replace(place: Span | Located, text: str, message: str, *, safe: bool) -> Fix:
    """Return the fix that replaces the source text at `place` by `text`."""
    return Fix(message, (Edit(_span(place), text),), safe)


def _on_one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in JOINERS else "\ufffd" for char in " ".join(text.split()))


def is_within(span: Span, other: Span) -> bool:
    """Whether a span is inside another one of the same file."""
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    return span.path == other.path and (other.line, other.column) <= start and end <= (other.end_line, other.end_column)


def _span(place: Span | Located) -> Span:
    return place if isinstance(place, Span) else place.span
