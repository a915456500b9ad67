"""The entry point of the loader: reads bytes into a root node and diagnostics, and raises nothing for bad content."""

import codecs
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from msgspec import Struct

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, Span
from rulewright.load import json_reader
from rulewright.load.load_errors import MAX_BYTES, mistake
from rulewright.load.nodes import Node, Source
from rulewright_runtime.english import reason_of
from rulewright_runtime.files.input_files import open_regular

_unsaved: ContextVar[Mapping[str, str] | None] = ContextVar("_unsaved", default=None)
_BLOCK = 2**16
_TABLES = (".csv", ".tsv")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Loaded(Struct, frozen=True):
    """A loaded file. `root` is None when it is empty or broken; `diagnostics` explains a broken file."""

    root: Node | None
    source: Source
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_table(self) -> bool:
        """Whether the file is CSV, which has no root."""
        return self.source.path.lower().endswith(_TABLES)


def load_file(path: Path | str, *, comments: bool = False) -> Loaded:
    """Load a file; an unreadable one gives a diagnostic."""
    shown = str(path)
    if (texts := _unsaved.get()) is not None and (text := texts.get(os.path.abspath(path))) is not None:
        return load_text(text, shown, comments=comments)
    try:
        with open_regular(path) as file:
            content = file.read(_BLOCK)
            if len(content) == _BLOCK:  # reading MAX_BYTES at once would reserve that memory
                content += file.read(MAX_BYTES + 1 - _BLOCK)
    except (OSError, ValueError) as failure:
        dependencies.note_content(path, None)
        return _refused(shown, "unreadable-file", f"can't read this file: {reason_of(failure)}")
    dependencies.note_content(path, content)
    return load_text(content, shown, comments=comments)


@contextmanager
def unsaved(texts: Mapping[str, str]) -> Generator[None]:
    """Inside this context files are read from `texts`, an editor's unsaved texts by absolute path.
    Nested contexts add up; the inner one takes precedence."""
    token = _unsaved.set({**(_unsaved.get() or {}), **texts})
    try:
        yield
    finally:
        _unsaved.reset(token)


def load_text(text: str | bytes, path: str, *, comments: bool = False) -> Loaded:
    """Load `text` as the file `path`: `.json` is JSON, `.jsonl` and `.ndjson` lists of JSON lines, `.csv` and `.tsv`
    tables without a root, all else YAML.

    With `comments`, JSON may have `//` comments.
    """
    if len(text) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1024**2} MiB"
        return _refused(path, "file-too-large", message, help="split it into several files")
    source, finding = _decode(text, path)
    if finding is not None:
        return Loaded(None, source, (finding,))
    # The YAML reader is imported only when a YAML file is loaded.
    if path.endswith(".json"):
        root, findings = json_reader.read(source, comments=comments)
    elif path.endswith((".jsonl", ".ndjson")):
        root, findings = json_reader.read_lines(source)
    elif path.lower().endswith(_TABLES):  # whoever knows the columns reads the rows
        root, findings = None, []
    else:
        from rulewright.load import yaml_reader

        root, findings = yaml_reader.read(source)
    return Loaded(root, source, tuple(sorted(findings, key=lambda d: d.sort_key)) if findings else ())


def _refused(path: str, code: str, message: str, *, help: str | None = None) -> Loaded:
    return Loaded(None, Source(path, ""), (mistake(code, Span(path, 1, 1, 1, 1), message, help=help),))


def _decode(text: str | bytes, path: str) -> tuple[Source, Diagnostic | None]:
    """Decode UTF-8, the only encoding, and remove a byte order mark."""
    if isinstance(text, str):
        source = Source(path, text.removeprefix("\ufeff"), text.startswith("\ufeff"))
        if match := _SURROGATE.search(source.text):
            shown = Source(path, _SURROGATE.sub("\ufffd", source.text), source.bom)
            span = shown.span(match.start(), match.end())
            message = f"unpaired surrogate U+{ord(match.group()):04X}"
            return shown, mistake("lone-surrogate", span, message)
        return source, None
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        span = Span(path, 1, 1, 1, 1)
        return Source(path, ""), mistake("not-utf-8", span, "the file is UTF-16 or UTF-32", help="save it as UTF-8")
    bom = text.startswith(codecs.BOM_UTF8)
    body = text[len(codecs.BOM_UTF8) :] if bom else text
    try:
        return Source(path, body.decode(), bom), None
    except UnicodeDecodeError as failure:
        shown = Source(path, body.decode(errors="replace"), bom)
        offset = len(body[: failure.start].decode())
        message = f"the byte 0x{body[failure.start]:02X} is not UTF-8"
        return shown, mistake("not-utf-8", shown.span(offset, offset + 1), message, help="save the file as UTF-8")
