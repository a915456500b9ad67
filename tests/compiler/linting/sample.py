"""A sample of what lint finds by default, for a reader to judge (docs/decisions/lint-precision.md): in the published
benchmark and in three projects of other fields.

python -m tests.compiler.linting.sample SEED
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests import shared_data

from rulewright.diagnostics import Diagnostic
from rulewright.linting.run import lint

SIZE: Final = 120
FIELDS: Final = ("rag", "service_desk", "coding_agent")  # projects of this repository


def corpora() -> list[Path]:
    """The folders that are linted."""
    return [shared_data.folder("invisiblebench"), *(shared_data.ROOT / "benchmark" / name for name in FIELDS)]


def sample(folders: list[Path], seed: int) -> list[tuple[str, Diagnostic]]:
    """As many findings as are judged, drawn without looking at what they say, in the order of the files; each with its
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


if __name__ == "__main__":
    print(*lines(corpora(), int(sys.argv[1])), sep="\n")
