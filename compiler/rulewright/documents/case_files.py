"""The files of test cases and outputs near a document, as text: what they name is searched without reading them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.documents.layout import CASE_LINES, SUFFIXES, files_below

FOLDER: Final = "cases"
LARGEST: Final = 2**20  # bytes searched in a file


def texts_near(path: Path, folder: str = FOLDER) -> Iterator[tuple[Path, str]]:
    """Each file in the folder with this name near a file, and its text; large files are left out."""
    place = next((each / folder for each in path.parents[:3] if dependencies.is_folder(each / folder)), None)
    for file in [] if place is None else files_below(place, deep=True, suffixes=SUFFIXES | CASE_LINES):
        if dependencies.is_file(file) and file.stat().st_size <= LARGEST:
            dependencies.note_content(file, None)
            yield file, file.read_text(encoding="utf-8", errors="replace")


def values_of(key: str) -> re.Pattern[str]:
    """The expression whose group is a value of a key."""
    return re.compile(rf'"{key}"\s*:\s*"([^"\\]*)"')
