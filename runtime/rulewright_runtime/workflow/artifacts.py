"""The files of artifacts: their contents, their hashes, and breaches of their contracts."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rulewright_runtime.english import reason_of
from rulewright_runtime.workflow.collectors.checklist import outside_code
from rulewright_runtime.workflow.collectors.report_reading import (
    CACHES,
    MAX_BYTES,
    CollectionError,
    entries_below,
    files_below,
    inside,
    printable,
    read_text,
)
from rulewright_runtime.workflow.workflow_plan import Artifact

UNREADABLE: Final = ""  # in place of a hash; it equals no other


def contents(root: Path, artifacts: Iterable[Artifact]) -> list[tuple[str, bytes]]:
    """Return path and content of every file of at most 64 MiB; folders are read recursively. Raises OSError, and
    CollectionError for more than 20,000 files."""
    return [(name, file.read_bytes()) for name, file in _files(root, artifacts) if file.stat().st_size <= MAX_BYTES]


def too_large(root: Path, artifacts: Iterable[Artifact]) -> Iterator[tuple[str, int]]:
    """Yield path and size of every file of more than 64 MiB."""
    for name, file in _files(root, artifacts):
        if (size := file.stat().st_size) > MAX_BYTES:
            yield name, size


def hashes(root: Path, artifacts: Iterable[Artifact]) -> dict[str, str]:
    """Return the sha256 (hex) of every file of any size, by path; `UNREADABLE` for what can't be read."""
    digests = {}
    for artifact in artifacts:
        try:
            for name, file in _files(root, (artifact,)):
                digests[name] = _hash(file)
        except (OSError, CollectionError):
            digests[artifact.path] = UNREADABLE
    return digests


def changed_paths(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths whose hashes differ; what could not be read counts as changed."""
    return sorted(path for path in {*before, *after} if (before.get(path) or "?") != after.get(path))


def broken_lock(lock: Mapping[str, str] | None, root: Path, artifacts: Iterable[Artifact]) -> list[str]:
    """Return the paths of the artifacts that differ from the lock; none without a lock."""
    return [] if lock is None else changed_paths(lock, hashes(root, artifacts))


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files(root: Path, artifacts: Iterable[Artifact]) -> Iterator[tuple[str, Path]]:
    top = root.resolve()
    for artifact in artifacts:
        path = (top / artifact.path).resolve()
        if path.exists() and path.is_relative_to(top):
            yield from ((file.relative_to(top).as_posix(), file) for file in files_below(path, CACHES))


_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
# File name suffixes of a format, where they differ from the format's own name.
SUFFIXES: Final = {
    "markdown": (".md", ".markdown"),
    "md": (".md", ".markdown"),
    "yaml": (".yaml", ".yml"),
    "yml": (".yaml", ".yml"),
    "text": (".txt",),
    "python": (".py", ".pyi"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
    "html": (".html", ".htm"),
}


def has_format(path: str, file_format: str) -> bool:
    """Whether a file of this format may have this name."""
    kind = file_format.lower().lstrip(".")
    return path.lower().endswith(SUFFIXES.get(kind, (f".{kind}",)))


def breaches(artifacts: Iterable[Artifact], root: Path) -> Iterator[str]:
    """Describe each missing artifact and each breach of a contract."""
    for artifact in artifacts:
        path = root / artifact.path
        if not path.exists():
            yield f"`{artifact.path}` is missing in `{printable(os.fspath(root))}`"
        elif not (path.is_file() or path.is_dir()):
            yield f"`{artifact.path}` is neither a file nor a folder"
        elif artifact.contract is not None:
            try:
                yield from _contract_breaches(artifact, root)
            except CollectionError as error:
                yield f"`{artifact.path}` {error.reason}"


def outside_root(artifacts: Iterable[Artifact], root: Path) -> Iterator[str]:
    """Describe artifacts that can't be shown to reviewers or locked: they are outside the project, or contain a link to
    a folder or out of the project, or a file whose name is not UTF-8."""
    for artifact in artifacts:
        try:
            path = inside(root, artifact.path)
            names = [os.fspath(file) for file in files_below(path, CACHES)] if path.exists() else []
            link = _link(root.resolve(), path)
        except (CollectionError, OSError) as error:
            yield f"`{artifact.path}` {error.reason if isinstance(error, CollectionError) else reason_of(error)}"
            continue
        invalid = next((name for name in names if printable(name) != name), None)
        if invalid is not None:
            yield f"`{artifact.path}` contains `{printable(os.path.basename(invalid))}`, a name that is not UTF-8"
        elif link is not None:
            yield f"`{artifact.path}` contains `{link}`, a link to a folder or out of the project"


def _link(top: Path, path: Path) -> str | None:
    """Return the name of the first link in a folder that leads to a folder, to nothing, or outside of `top`."""
    for file in entries_below(path, CACHES) if path.is_dir() else ():
        if file.is_symlink() and not (file.is_file() and file.resolve().is_relative_to(top)):
            return printable(file.relative_to(path).as_posix())
    return None


def _contract_breaches(artifact: Artifact, root: Path) -> Iterator[str]:
    contract, path = artifact.contract, artifact.path
    assert contract is not None
    text = read_text(root, path)
    kind = (contract.file_format or "").lower().lstrip(".")
    if kind and not has_format(path, kind):
        yield f"`{path}` is not a `{contract.file_format}` file"
    headings = set(_headings(text))
    for section in contract.required_sections:
        if section.strip().casefold() not in headings:
            yield f"`{path}` lacks the section `{section}`"
    if contract.required_fields or kind == "json":
        fields = _fields(path, text)
        if fields is None:
            yield f"`{path}` is not a JSON object"
            return
        for field in contract.required_fields:
            if field not in fields:
                yield f"`{path}` lacks the field `{field}`"


def _headings(text: str) -> Iterator[str]:
    """Yield the headings of a Markdown text, marked by `#` or underlined, case-folded."""
    previous = ""
    for line in outside_code(text):
        heading = _HEADING.fullmatch(line)
        if heading:
            yield heading[1].strip().casefold()
        elif previous and _UNDERLINE.fullmatch(line):
            yield previous.casefold()
        previous = "" if heading else line.strip()


def _fields(path: str, text: str) -> set[str] | None:
    """Return the top-level keys of a JSON object, or of a YAML mapping, which is read line by line. None for JSON that
    is not an object."""
    if path.lower().endswith((".yaml", ".yml", ".md")):
        return set(re.findall(r"^(?:\"|')?([\w.-]+)(?:\"|')?[ \t]*:(?:\s|$)", text, re.MULTILINE))
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return set(value) if isinstance(value, dict) else None
