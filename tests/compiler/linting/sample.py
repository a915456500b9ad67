"""A sample of what lint finds by default in the published benchmark, for a reader to judge (docs/decisions).

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


def sample(folder: Path, seed: int) -> list[Diagnostic]:
    """As many findings as are judged, drawn without looking at what they say, in the order of the files."""
    found = sorted(lint([folder]).grouped().diagnostics, key=lambda each: each.sort_key)
    drawn = random.Random(seed).sample(range(len(found)), min(SIZE, len(found)))
    return [found[number] for number in sorted(drawn)]


def lines(folder: Path, seed: int) -> Iterator[str]:
    """The sample as rows of a table: number, rule, place, message."""
    for number, each in enumerate(sample(folder, seed), 1):
        place = Path(each.span.path).relative_to(folder).as_posix()
        yield f"| {number} | {each.code} | {place}:{each.span.line} | {each.message} |"


if __name__ == "__main__":
    print(*lines(shared_data.folder("invisiblebench"), int(sys.argv[1])), sep="\n")
