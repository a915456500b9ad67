"""Names in settings and outputs that almost match a name in the project's test cases.

The files of cases are searched as text, because they may be large; their own findings are made elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import descend
from rulewright.documents.layout import CASE_LINES, SUFFIXES, files_below
from rulewright.load import Mapping, Scalar
from rulewright.spelling import Guess, is_slip_of, is_spelt_like

FOLDER: Final = "cases"
GROUPS: Final = {"archetypes": "archetype", "metricIds": "metric_id"}  # keys of settings, and of cases
LARGEST: Final = 2**20  # bytes searched in a file


def strange_groups(settings: Mapping) -> Iterator[Diagnostic]:
    """Findings for groups in a settings file that match no case but almost the group of some."""
    for key, name in GROUPS.items():
        groups = descend(settings, key)
        known = _named(Path(settings.source.path), name) if isinstance(groups, Mapping) else set()
        for entry in groups.entries if isinstance(groups, Mapping) else ():
            near = next((each for each in sorted(known) if is_spelt_like(entry.name, each)), None)
            if near is not None and entry.name not in known:
                message = f"no case has the {name} `{entry.name}`"
                yield warning(entry.key, message, code="bad-setting", help=Guess(near))


def strange_outputs(path: str, ids: dict[str, Scalar]) -> Iterator[Diagnostic]:
    """Findings for outputs without a case whose test id is almost that of a case without an output."""
    known = _named(Path(path), "test_id") if ids else set()
    for name, place in ids.items():
        near = next((each for each in sorted(known - ids.keys()) if is_slip_of(name, each)), None)
        if near is not None and name not in known:
            yield warning(place, f"no case has the test id `{name}`", code="bad-case", help=Guess(near))


def _named(path: Path, key: str) -> set[str]:
    """The values of a key in the files of the folder `cases` next to a file, or next to its folder."""
    folder = next((each / FOLDER for each in path.parents[:2] if dependencies.is_folder(each / FOLDER)), None)
    pattern = re.compile(rf'"{key}"\s*:\s*"([^"\\]*)"')
    found: set[str] = set()
    for file in [] if folder is None else files_below(folder, deep=True, suffixes=SUFFIXES | CASE_LINES):
        if dependencies.is_file(file) and file.stat().st_size <= LARGEST:
            dependencies.note_content(file, None)
            found |= set(pattern.findall(file.read_text(encoding="utf-8", errors="replace")))
    return found
