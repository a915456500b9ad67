"""The files of test cases and outputs near a document, as text: what they name is searched without reading them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.documents.layout import CASE_LINES, SUFFIXES, files_below

FOLDER: Final = "cases"
LARGEST: Final = 2**20  # bytes searched in a file


def files_near(path: Path, folder: str = FOLDER) -> Iterator[Path]:
    """The files in the folder with this name near a file; large files are left out."""
    place = next((each / folder for each in path.parents[:3] if dependencies.is_folder(each / folder)), None)
    for file in [] if place is None else files_below(place, deep=True, suffixes=SUFFIXES | CASE_LINES):
        if dependencies.is_file(file) and file.stat().st_size <= LARGEST:
            yield file


def text_of(file: Path) -> str:
    """The text of a file."""
    dependencies.note_content(file, None)
    return file.read_text(encoding="utf-8", errors="replace")


def values_in(file: Path, key: str) -> tuple[str, ...]:
    """The values of a key in a file, each as often as it is there. A file is read again only after a change."""
    dependencies.note_content(file, None)
    state = file.stat()
    return _values_in(file, key, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4096)
def _values_in(file: Path, key: str, _size: int, _changed: int) -> tuple[str, ...]:
    return tuple(re.findall(rf'"{key}"\s*:\s*"([^"\\]*)"', text_of(file)))
