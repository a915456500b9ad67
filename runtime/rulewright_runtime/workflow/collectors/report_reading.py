"""Shared by all collectors: the reading of a report, the error that fails a gate, and safe reading of files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

import msgspec
from msgspec import Struct

from rulewright_runtime import strict_json
from rulewright_runtime.english import escape_surrogates, reason_of
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.strict_json import JsonObject

MAX_BYTES: Final = 64 * 2**20
MAX_FILES: Final = 20_000
MAX_DEPTH: Final = 50  # of the elements of an XML file
SKIPPED_FOLDERS: Final = frozenset({"__pycache__", "node_modules"})
# Hidden names in outputs that tools write to, and that are therefore neither shown to reviewers nor locked.
CACHES: Final = SKIPPED_FOLDERS | {
    ".cache", ".coverage", ".DS_Store", ".git", ".hg", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache",
    ".rulewright", ".svn", ".tox", ".venv",
}  # fmt: skip


class CollectionError(RuntimeFailure):
    """Evidence that is missing or can't be read; the message names the file."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, escape_surrogates(reason)
        super().__init__(f"evidence collection error: `{path}`: {self.reason}")


class NoTextError(CollectionError):
    """A file that is empty or not UTF-8."""


class ReportReading(Struct, frozen=True):
    """The result of a report: `good` of `total` (lines, files, items, tests, requirements), and a sentence about it."""

    good: int
    total: int
    details: str

    @property
    def value(self) -> float:
        """The share as a float, rounded once."""
        return self.good / self.total

    @property
    def exact(self) -> Fraction:
        return Fraction(self.good, self.total)

    @property
    def clean(self) -> bool:
        """Whether `good` equals `total`."""
        return self.good == self.total


def share(path: str, good: int, total: int, details: str) -> ReportReading:
    """Return a reading. Raises CollectionError when `total` is 0, or `good` is not between 0 and `total`."""
    if total <= 0:
        raise CollectionError(path, "the report covers nothing")
    if not 0 <= good <= total:
        raise CollectionError(path, f"the report counts {good} of {total}")
    return ReportReading(good, total, escape_surrogates(details))


def inside(root: Path, path: str) -> Path:
    """Return the resolved `path` below `root`. Raises CollectionError for a path outside of it."""
    try:
        top = root.resolve()
        resolved = (top / path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise CollectionError(path, f"is not a path: {error}") from None
    if not resolved.is_relative_to(top):
        raise CollectionError(path, "is outside the project")
    return resolved


def read_text(root: Path, path: str) -> str:
    """Read a UTF-8 file of at most 64 MiB, without its byte order mark. Raises CollectionError for any other file, and
    for an empty one."""
    file = inside(root, path)
    try:
        size = file.stat().st_size
        if not file.is_file():
            raise CollectionError(path, "is not a file")
        if size > MAX_BYTES:
            raise CollectionError(path, f"has {size} bytes; at most {MAX_BYTES} are read")
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CollectionError(path, "no such file") from None
    except UnicodeDecodeError:
        raise NoTextError(path, "is not UTF-8") from None
    except OSError as error:
        raise CollectionError(path, reason_of(error)) from None
    if not text.strip():
        raise NoTextError(path, "is empty")
    return text


def read_json(root: Path, path: str) -> object:
    """Read a JSON file. Raises CollectionError for invalid JSON, NaN, infinities and duplicate keys."""
    try:
        return strict_json.decode(read_text(root, path))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise CollectionError(path, f"is not JSON: {error}") from None


def read_xml(root: Path, path: str) -> Element:
    """Return the root element of an XML file. Raises CollectionError for invalid XML, entities, external references,
    document types and elements that are nested too deeply."""
    try:
        from defusedxml import ElementTree, common
    except ImportError:
        raise CollectionError(path, "reading XML needs defusedxml: `pip install 'rulewright[workflow]'`") from None
    try:
        element: Element = ElementTree.fromstring(read_text(root, path))
    except common.DefusedXmlException as error:
        raise CollectionError(path, f"is refused: {type(error).__name__}") from None
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise CollectionError(path, f"is not XML: {error}") from None
    level = [element]
    for _ in range(MAX_DEPTH):
        level = [child for each in level for child in each]
    if level:
        raise CollectionError(path, f"is nested deeper than {MAX_DEPTH} elements")
    return element


def texts_below(root: Path, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield path and text of every text file in `paths`, folders recursively, in order; binary files are skipped.

    Raises CollectionError for a path that does not exist.
    """
    for path in paths:
        target = inside(root, path)
        if not target.exists():
            raise CollectionError(path, "no such file or folder")
        for file in files_below(target):
            name = file.relative_to(root.resolve()).as_posix()
            with suppress(NoTextError):
                yield name, read_text(root, name)


def files_below(path: Path, skipped: Collection[str] | None = None) -> list[Path]:
    """Return the file itself, or all files of a folder, sorted, without the names in `skipped` (default: hidden ones
    and caches). Raises CollectionError for more than 20,000 files."""
    if path.is_file():
        return [path]
    files = []
    for file in entries_below(path, skipped):
        if file.is_file():
            files.append(file)
            if len(files) > MAX_FILES:
                raise CollectionError(path.name, f"contains more than {MAX_FILES} files")
    return files


def entries_below(path: Path, skipped: Collection[str] | None) -> Iterator[Path]:
    """Yield everything in a folder, sorted, except below the names in `skipped` (default: hidden ones and caches)."""
    for entry in sorted(path.rglob("*")):
        parts = entry.relative_to(path).parts
        if skipped is None and any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts):
            continue
        if skipped is None or not any(part in skipped for part in parts):
            yield entry


def count(path: str, value: object, name: str) -> int:
    """Return `value` as a count. Raises CollectionError unless it is an int of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CollectionError(path, f"`{name}` must be a count, found `{value}`")
    return value


def table(path: str, value: object, name: str) -> JsonObject:
    """Return `value` as an object. Raises CollectionError unless it is a dict."""
    if not isinstance(value, dict):
        raise CollectionError(path, f"`{name}` must be an object")
    return value


def rows(path: str, value: object, name: str) -> list[JsonObject]:
    """Return `value` as a list of objects. Raises CollectionError for any other value."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise CollectionError(path, f"`{name}` must be a list of objects")
    return value


def text_of(path: str, value: object, name: str) -> str:
    """Return `value` as a string. Raises CollectionError for any other value, and for unpaired surrogates."""
    if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
        raise CollectionError(path, f"`{name}` must be a text in UTF-8")
    return value


def printable(name: str) -> str:
    """Return a file name as valid Unicode; bytes that are not UTF-8 are written as `\\xff`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
