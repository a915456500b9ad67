"""The loader's diagnostics: a function for each common mistake, and the manual pages.

`PAGES` maps a code to its page; the page of a lint rule is its docstring instead.
"""

from __future__ import annotations

from rulewright.diagnostics import Diagnostic, Note, Severity, Span
from rulewright.load.nodes import Scalar
from rulewright.load.source import Source

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 100
MAX_VALUES = 100_000
MAX_ALIASED = 50_000  # values that expanded aliases add
MAX_MISTAKES = 100  # limits the output for a file that is not YAML at all
QUOTED = 40  # characters of an author's words in a message
MAX_DIGITS = 250  # so that every number, hexadecimal ones too, fits a double

PAGES: dict[str, str] = {
    "alias-bomb": """Aliases expand the document beyond its size limit.

    Why it matters: nine levels of nine aliases make a billion values out of one screen of text.
    Instead: write the repeated part once, or put it in a file of its own and refer to it by id.
    """,
    "control-character": """The file holds a character that is not allowed in text, for instance NUL.

    Why it matters: such a file is binary or damaged, and tools disagree on where it ends.
    Instead: save it as plain UTF-8 text; inside double quotes write `\\0` or `\\x07` where you mean the character.
    """,
    "custom-tag": """A value has a tag such as `!!python/object` or `!env`.

    Why it matters: tags construct objects or change values while a file loads; rule files are data only.
    Instead: write the value itself. `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!map` and `!!seq` are allowed.
    """,
    "duplicate-key": """A mapping has the same key twice.

    Why it matters: most loaders keep the last value and silently drop the first.
    Instead: keep one of them.
    """,
    "file-too-large": """The file has more bytes or more values than the loader's limit.

    Why it matters: reading it would use too much memory and time.
    Instead: split it; transcripts belong in JSONL files, which are read line by line.
    """,
    "json-syntax": """The file is not JSON.

    Why it matters: nothing in it can be read.
    Instead: correct the place shown; JSON has no comments, no trailing commas and only double quotes.
    """,
    "key-is-not-text": """A key is a number, a boolean, null, a list or a mapping.

    Why it matters: `1:` and `"1":` are different keys to YAML and the same key to most readers.
    Instead: put the key in quotes.
    """,
    "lone-surrogate": """A string holds an unpaired surrogate.

    Why it matters: it is not a character, and can't be encoded in UTF-8.
    Instead: write the character itself, or both halves of the pair (JSON) or `\\U0001F600` (YAML).
    """,
    "merge-key": """A mapping uses the merge key `<<`.

    Why it matters: YAML 1.2 dropped it, and tools disagree on which value wins.
    Instead: write the keys out, or use `extends` where the document has it.
    """,
    "nested-too-deep": """Lists and mappings are nested more than 100 deep.

    Why it matters: no rule file needs it, and recursive parsers crash on it.
    Instead: flatten the document.
    """,
    "not-utf-8": """The file is not encoded as UTF-8.

    Why it matters: its characters would be misread.
    Instead: save it as UTF-8.
    """,
    "number-out-of-range": """A number is too large for a double.

    Why it matters: it would become infinity, which passes every `>=`.
    Instead: write a smaller number, or quote it if it is a name.
    """,
    "recursive-alias": """An alias refers to a value that it is part of.

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

    Why it matters: YAML forbids it, since the width of a tab depends on the editor.
    Instead: use spaces.
    """,
    "unknown-alias": """An alias names an anchor that the file doesn't define before it.

    Why it matters: the alias has no value.
    Instead: correct the name, or write the value.
    """,
    "unreadable-file": """The file can't be opened or read.

    Why it matters: a file that can't be read can't be checked, and never counts as correct.
    Instead: correct the path, or the file's permissions.
    """,
    "yaml-syntax": """The file is not YAML.

    Why it matters: nothing in it can be read.
    Instead: correct the place shown; often the line before it lacks a quote, a bracket or the right indentation.
    """,
}


def mistake(code: str, span: Span, message: str, *notes: Note, help: str | None = None) -> Diagnostic:
    """Return an error of the loader; `code` must have a page."""
    assert code in PAGES, code
    return Diagnostic(code, Severity.ERROR, message, span, notes, help)


def duplicate_key(key: Scalar, first: Scalar) -> Diagnostic:
    """Return the finding for a key that a mapping has twice."""
    note = Note(first.span, "first given here")
    return mistake("duplicate-key", key.span, f"`{shorten(str(key.value))}` is given twice", note, help="keep one")


def too_deep(source: Source, start: int) -> Diagnostic:
    """Return the finding for nesting beyond the limit, at the offset that exceeds it."""
    message = f"lists and mappings are nested more than {MAX_DEPTH} deep"
    return mistake("nested-too-deep", source.span(start, start + 1), message)


def too_many(source: Source, start: int) -> Diagnostic:
    """Return the finding for more values than a file may hold, at the first excess value."""
    message = f"the file holds more than {MAX_VALUES:,} values"
    return mistake("file-too-large", source.span(start, start + 1), message)


def out_of_range(span: Span, text: str) -> Diagnostic:
    """Return the finding for a number outside the range of doubles."""
    return mistake(
        "number-out-of-range", span, f"`{shorten(text)}` is too large a number", help="quote it if it is a name"
    )


def shorten(text: str) -> str:
    """Return the text on one line, cut at `QUOTED` characters, for quoting an author's words."""
    flat = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text[: QUOTED * 4].split()))
    return flat if len(flat) <= QUOTED else flat[: QUOTED - 1] + "…"
