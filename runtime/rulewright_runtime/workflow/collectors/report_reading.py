"""What all collectors share: a reading, the error that fails a gate, and careful opening of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_BYTES: Final = 64 * 2**20
MAX_FILES: Final = 20_000
SKIPPED_FOLDERS: Final = frozenset({"__pycache__", "node_modules"})


class CollectionError(RuntimeFailure):
    """Evidence that is missing or can't be read: the message names the file."""

    def __init__(self, path: str, reason: str) -> None:
        """Keep the file and what is wrong with it."""
        self.path, self.reason = path, reason
        super().__init__(f"evidence collection error: `{path}`: {reason}")


@dataclass(frozen=True, slots=True)
class ReportReading:
    """What a report says: `good` of `total` (lines, files, items, tests, requirements), and a sentence about it."""

    good: int
    total: int
    details: str

    @property
    def value(self) -> float:
        """The share, rounded once."""
        return self.good / self.total

    @property
    def exact(self) -> Fraction:
        """The share."""
        return Fraction(self.good, self.total)

    @property
    def clean(self) -> bool:
        """Whether nothing is missing."""
        return self.good == self.total


def share(path: str, good: int, total: int, details: str) -> ReportReading:
    """A reading that was checked: a report about nothing, or one that counts more than all, is a CollectionError."""
    if total <= 0:
        raise CollectionError(path, "the report covers nothing")
    if not 0 <= good <= total:
        raise CollectionError(path, f"the report counts {good} of {total}")
    return ReportReading(good, total, details)


def inside(root: Path, path: str) -> Path:
    """The file `path` below `root`; what leads out of it is a CollectionError."""
    try:
        top = root.resolve()
        found = (top / path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise CollectionError(path, f"is not a path: {error}") from None
    if not found.is_relative_to(top):
        raise CollectionError(path, "lies outside the project")
    return found


def read_text(root: Path, path: str) -> str:
    """The text of a file of at most 64 MiB of UTF-8; a byte order mark is dropped. Else CollectionError."""
    found = inside(root, path)
    try:
        size = found.stat().st_size
        if not found.is_file():
            raise CollectionError(path, "is not a file")
        if size > MAX_BYTES:
            raise CollectionError(path, f"has {size} bytes; at most {MAX_BYTES} are read")
        text = found.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CollectionError(path, "no such file") from None
    except UnicodeDecodeError:
        raise CollectionError(path, "is not UTF-8") from None
    except OSError as error:
        raise CollectionError(path, (error.strerror or str(error)).lower()) from None
    if not text.strip():
        raise CollectionError(path, "is empty")
    return text


def read_json(root: Path, path: str) -> object:
    """The JSON in a file. NaN and infinities are refused, keys that stand twice, and whatever else is not JSON."""
    try:
        return strict_json.decode(read_text(root, path))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise CollectionError(path, f"is not JSON: {error}") from None


def read_xml(root: Path, path: str) -> Element:
    """The root element of an XML file, without entities, external references or a document type."""
    try:
        from defusedxml import ElementTree, common
    except ImportError:
        raise CollectionError(path, "reading XML needs defusedxml: install `rulewright[workflow]`") from None
    try:
        element: Element = ElementTree.fromstring(read_text(root, path))
    except common.DefusedXmlException as error:
        raise CollectionError(path, f"is refused: {type(error).__name__}") from None
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise CollectionError(path, f"is not XML: {error}") from None
    return element


def texts_below(root: Path, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every text file that the paths name, folders in depth, as path and text, in order. Binary files are passed by.

    A path that leads to nothing is a CollectionError.
    """
    seen: set[Path] = set()
    for path in paths:
        found = inside(root, path)
        if not found.exists():
            raise CollectionError(path, "no such file or folder")
        for file in files_below(found):
            if file in seen:
                continue
            seen.add(file)
            name = file.relative_to(root.resolve()).as_posix()
            try:
                yield name, read_text(root, name)
            except CollectionError as error:
                if error.reason not in {"is not UTF-8", "is empty"}:
                    raise


def files_below(path: Path) -> list[Path]:
    """The file itself, or the files of a folder in depth, sorted; hidden folders and caches are passed by."""
    if path.is_file():
        return [path]
    files: list[Path] = []
    for file in sorted(path.rglob("*")):
        parts = file.relative_to(path).parts
        if any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts) or not file.is_file():
            continue
        files.append(file)
        if len(files) > MAX_FILES:
            raise CollectionError(path.name, f"holds more than {MAX_FILES} files")
    return files


def count(path: str, value: object, name: str) -> int:
    """A whole number of at least 0 that a report must hold under `name`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CollectionError(path, f"`{name}` must be a count, found `{value}`")
    return value


def table(path: str, value: object, name: str) -> JsonObject:
    """A map that a report must hold under `name`."""
    if not isinstance(value, dict):
        raise CollectionError(path, f"`{name}` must be an object")
    return value


def rows(path: str, value: object, name: str) -> list[JsonObject]:
    """A list of maps that a report must hold under `name`."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise CollectionError(path, f"`{name}` must be a list of objects")
    return value


def text_of(path: str, value: object, name: str) -> str:
    """A text that a report must hold under `name`, and that can be written as UTF-8."""
    if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
        raise CollectionError(path, f"`{name}` must be a text in UTF-8")
    return value


def printable(name: str) -> str:
    """A name of a file as text that can be written down anywhere; bytes that are not UTF-8 are shown as `\\xff`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
