"""Folders of test data: files are written by their paths, and read from the text that holds a whole project."""

import re
from collections.abc import Mapping
from pathlib import Path

from rulewright_runtime.plan.file import decode
from rulewright_runtime.runs.folder import LOG, write_manifest


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder, with these files in it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def files_of(text: str) -> dict[str, str]:
    """The files of a project that is written as one text: each follows a line `-- path --`."""
    parts = re.split(r"^-- (.+) --\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def reseal(run: Path) -> None:
    """Remove the log of a run whose files a test has edited, and write its manifest, so that what a reader does with
    them shows."""
    (run / LOG).unlink(missing_ok=True)
    write_manifest(run, decode((run / "plan.json").read_bytes()))
