"""Folders of test data: files are written by their paths, and read from the text that holds a whole project."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

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


def json_lines(rows: Iterable[object]) -> str:
    """The rows as JSON, each on a line."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_lines(path: Path, rows: Iterable[object]) -> Path:
    """The file, with the rows as JSON, each on a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_lines(rows), encoding="utf-8")
    return path


def turns_of(*said: str) -> list[dict[str, Any]]:
    """The turns of a transcript in which user and assistant take turns, two messages to a number."""
    return [
        {"turn": at // 2 + 1, "role": "assistant" if at % 2 else "user", "content": text}
        for at, text in enumerate(said)
    ]


def write_turns(path: Path, *said: str) -> Path:
    """A transcript file in the seed's form, in which user and assistant take turns."""
    return write_lines(path, turns_of(*said))


def read_lines(path: Path) -> list[Any]:
    """The rows of a file of JSON, each on a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def reseal(run: Path) -> None:
    """Remove the log of a run whose files a test has edited, and write its manifest, so that what a reader does with
    them shows."""
    (run / LOG).unlink(missing_ok=True)
    write_manifest(run, decode((run / "plan.json").read_bytes()))
