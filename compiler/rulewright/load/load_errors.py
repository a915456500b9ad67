"""The mistakes a file can hold before it means anything: one function for each, and its manual page.

A page stands in `PAGES` under its code, as the docstring of a lint rule does for the rules.
"""

from __future__ import annotations

from rulewright.diagnostics import Diagnostic, Note, Severity, Span
from rulewright.load.nodes import Scalar
from rulewright.load.source import Source

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 100
MAX_VALUES = 100_000
MAX_ALIASED = 50_000  # values that aliases add by being written out
MAX_MISTAKES = 100  # a file that is not YAML at all need not fill the screen
MAX_DIGITS = 250  # so that every number, hexadecimal ones too, fits a double

PAGES: dict[str, str] = {
    "alias-bomb": """Aliases repeat so much that the document would grow beyond any use.

    Why it matters: nine levels of nine aliases make a billion values out of one screen of text.
    Instead: write the repeated part once, or put it in a file of its own and refer to it by id.
    """,
    "control-character": """The file holds a character that text can't hold, for instance NUL.

    Why it matters: such a file is binary or damaged, and tools disagree on where it ends.
    Instead: save it as plain UTF-8 text; inside double quotes write `\\0` or `\\x07` where you mean the character.
    """,
    "custom-tag": """A value bears a tag such as `!!python/object` or `!env`.

    Why it matters: tags construct objects or change values while a file loads; rule files are data only.
    Instead: write the value itself. `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!map` and `!!seq` are allowed.
    """,
    "duplicate-key": """A mapping has the same key twice.

    Why it matters: most loaders keep the last value and drop the first without a word.
    Instead: keep one of them.
    """,
    "file-too-large": """The file has more bytes or more values than a rule file can sensibly have.

    Why it matters: reading it would take the memory and time of everything else.
    Instead: split it; transcripts belong into JSONL files, which are read line by line.
    """,
    "json-syntax": """The file is not JSON.

    Why it matters: nothing in it can be read.
    Instead: correct the place shown; JSON has no comments, no trailing commas and only double quotes.
    """,
    "key-is-not-text": """A key is a number, a boolean, null, a list or a mapping.

    Why it matters: `1:` and `"1":` are different keys to YAML and the same key to most readers.
    Instead: put the key in quotes.
    """,
    "lone-surrogate": """Half of a surrogate pair stands alone.

    Why it matters: it is not a character, and can't be written to any file again.
    Instead: write the character itself, or both halves of the pair (JSON) or `\\U0001F600` (YAML).
    """,
    "merge-key": """A mapping uses the merge key `<<`.

    Why it matters: YAML 1.2 dropped it, and tools disagree on which value wins.
    Instead: write the keys out, or use `extends` where the document has it.
    """,
    "nested-too-deep": """Lists and mappings are nested more than 100 deep.

    Why it matters: no rule file needs it, and readers that recurse crash on it.
    Instead: flatten the document.
    """,
    "not-utf-8": """The file is not encoded as UTF-8.

    Why it matters: its letters would be read as others.
    Instead: save it as UTF-8.
    """,
    "number-out-of-range": """A number is too large for what computes with it.

    Why it matters: it would become infinity, which passes every `>=`.
    Instead: write a smaller number, or quote it if it is a name.
    """,
    "recursive-alias": """An alias stands inside the value it stands for.

    Why it matters: the document would be infinite.
    Instead: remove the alias.
    """,
    "several-documents": """The file holds more than one YAML document.

    Why it matters: one file is one document here; the others would be ignored.
    Instead: give each its own file.
    """,
    "surrogate-pair": """A character is written as two escapes in double quotes, as JSON writes it.

    Why it matters: JSON joins `\\ud83d\\ude00` into one character, YAML reads each escape by itself and refuses it.
    Instead: write the character itself, or one escape such as `\\U0001F600`.
    """,
    "tab-indentation": """A tab indents a line.

    Why it matters: YAML forbids it, since nobody can see how deep a tab is.
    Instead: use spaces.
    """,
    "unknown-alias": """An alias names an anchor that the file doesn't define before it.

    Why it matters: there is no value to put in its place.
    Instead: correct the name, or write the value.
    """,
    "unreadable-file": """The file can't be opened or read.

    Why it matters: what can't be read can't be checked, and is never counted as right.
    Instead: correct the path, or the file's permissions.
    """,
    "yaml-syntax": """The file is not YAML.

    Why it matters: nothing in it can be read.
    Instead: correct the place shown; often the line before it lacks a quote, a bracket or the right indentation.
    """,
}


def mistake(code: str, span: Span, message: str, *notes: Note, help: str | None = None) -> Diagnostic:
    """An error of the loader; every code has its page."""
    assert code in PAGES, code
    return Diagnostic(code, Severity.ERROR, message, span, notes, help)


def duplicate_key(key: Scalar, first: Scalar) -> Diagnostic:
    """The same key twice in one mapping."""
    note = Note(first.span, "first given here")
    return mistake("duplicate-key", key.span, f"`{shorten(str(key.value))}` is given twice", note, help="keep one")


def too_deep(source: Source, start: int) -> Diagnostic:
    """Nesting beyond the limit, shown where the limit is passed."""
    message = f"lists and mappings are nested more than {MAX_DEPTH} deep"
    return mistake("nested-too-deep", source.span(start, start + 1), message)


def too_many(source: Source, start: int) -> Diagnostic:
    """More values than a file may hold, shown at the first one too many."""
    message = f"the file holds more than {MAX_VALUES:,} values"
    return mistake("file-too-large", source.span(start, start + 1), message)


def out_of_range(span: Span, text: str) -> Diagnostic:
    """A number no double can hold."""
    return mistake(
        "number-out-of-range", span, f"`{shorten(text)}` is too large a number", help="quote it if it is a name"
    )


def shorten(text: str, limit: int = 40) -> str:
    """The text on one line, cut in the middle of nowhere when it is long: for quoting an author's words."""
    flat = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text[: limit * 4].split()))
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
