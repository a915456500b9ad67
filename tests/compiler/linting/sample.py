"""A sample of what lint finds by default, for a reader to judge (docs/decisions/lint-precision.md): in the published
benchmark and in three projects of other fields, or in those three after a single slip.

python -m tests.compiler.linting.sample SEED [slips]
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from tests import shared_data
from tests.compiler.linting.mutations import PROJECTS, copied, mutants

from rulewright.diagnostics import Diagnostic
from rulewright.linting.lint_run import lint

SIZE: Final = 120
SLIPS: Final = 60
FIELDS: Final = ("rag", "service_desk", "coding_agent")  # projects of this repository


def corpora() -> list[Path]:
    """The folders that are linted."""
    return [shared_data.folder("invisiblebench"), *(shared_data.ROOT / "benchmark" / name for name in FIELDS)]


def sample(folders: list[Path], seed: int) -> list[tuple[str, Diagnostic]]:
    """A random sample of the findings to judge, in the order of the files; each with its
    file."""
    found = [
        (Path(each.span.path).relative_to(folder.parent).as_posix(), each)
        for folder in folders
        for each in sorted(lint([folder]).grouped().diagnostics, key=lambda each: each.sort_key)
    ]
    drawn = random.Random(seed).sample(range(len(found)), min(SIZE, len(found)))
    return [found[number] for number in sorted(drawn)]


def lines(folders: list[Path], seed: int) -> Iterator[str]:
    """The sample as rows of a table: number, rule, place, message."""
    for number, (file, each) in enumerate(sample(folders, seed), 1):
        yield f"| {number} | {each.code} | {file}:{each.span.line} | {each.message} |"


def slips(folder: Path, seed: int) -> Iterator[str]:
    """Single slips in the projects of other fields, each as a row: number, kind, place, and what is found."""
    roots = {name: copied(name, folder / name) for name in PROJECTS}
    made = (each for each in mutants(sys.maxsize, seed) if each.project in FIELDS)
    for number, each in enumerate(islice(made, SLIPS), 1):
        root, entry = roots[each.project]
        before = (root / each.path).read_bytes()
        (root / each.path).write_text(each.text, encoding="utf-8")
        found = [f"{one.code}: {one.message}" for one in lint([entry]).grouped().diagnostics]
        (root / each.path).write_bytes(before)
        place = f"{each.project}/{each.path}:{each.lines.start}"
        yield f"| {number} | {each.kind} | {place} | {'; '.join(found) or 'nothing'} |"


if __name__ == "__main__":
    if sys.argv[2:] == ["slips"]:
        with tempfile.TemporaryDirectory() as folder:
            print(*slips(Path(folder), int(sys.argv[1])), sep="\n")
    else:
        print(*lines(corpora(), int(sys.argv[1])), sep="\n")
