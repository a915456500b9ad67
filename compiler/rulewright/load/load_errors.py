"""The loader's diagnostics: their codes, and a function for each common mistake."""

from rulewright.diagnostics import Diagnostic, Note, Severity, Span
from rulewright.load.nodes import Scalar, Source

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 100
MAX_VALUES = 100_000
MAX_ALIASED = 50_000  # values that expanded aliases add
MAX_MISTAKES = 100  # limits the output for a file that is not YAML at all
QUOTED = 40  # characters of an author's words in a message
MAX_DIGITS = 250  # so that every number, hexadecimal ones too, fits a double


_CODES = """
    alias-bomb control-character custom-tag duplicate-key file-too-large json-syntax key-is-not-text lone-surrogate
    merge-key nested-too-deep not-utf-8 number-out-of-range recursive-alias several-documents surrogate-pair
    tab-indentation unknown-alias unreadable-file yaml-syntax
"""
LOAD_CODES = frozenset(_CODES.split())


def mistake(code: str, span: Span, message: str, *notes: Note, help: str | None = None) -> Diagnostic:
    """Return an error of the loader; `code` must be one of `LOAD_CODES`."""
    assert code in LOAD_CODES, code
    return Diagnostic(code, Severity.ERROR, message, span, notes, help)


def duplicate_key(key: Scalar, first: Scalar) -> Diagnostic:
    """Return the finding for a key that a mapping has twice."""
    note = Note(first.span, "first given here")
    return mistake("duplicate-key", key.span, f"`{shorten(key.text)}` is given twice", note, help="keep one")


def too_deep(source: Source, start: int) -> Diagnostic:
    """Return the finding for nesting beyond the limit, at the offset that exceeds it."""
    message = f"lists and mappings are nested more than {MAX_DEPTH} deep"
    return mistake("nested-too-deep", source.span(start, start + 1), message)


def too_many(source: Source, start: int) -> Diagnostic:
    """Return the finding for more values than a file may hold, at the first excess value."""
    message = f"the file contains more than {MAX_VALUES:,} values"
    return mistake("file-too-large", source.span(start, start + 1), message)


def out_of_range(span: Span, text: str) -> Diagnostic:
    """Return the finding for a number outside the range of doubles."""
    return mistake(
        "number-out-of-range", span, f"the number `{shorten(text)}` is too large", help="quote it if it is a name"
    )


def shorten(text: str) -> str:
    """Return the text on one line, cut at `QUOTED` characters, for quoting an author's words."""
    flat = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text[: QUOTED * 4].split()))
    return flat if len(flat) <= QUOTED else flat[: QUOTED - 1] + "…"
