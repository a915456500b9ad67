"""A sample of what lint finds by default, for a reader to judge (docs/decisions/lint-precision.md): half of it in the
published benchmark, at least one finding of each rule, and half after single slips in projects of other fields.

python -m tests.compiler.linting.sample SEED
"""

import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from tests import shared_data
from tests.compiler.linting import mutations
from tests.folders import files_of, write

from rulewright.diagnostics import Diagnostic
from rulewright.linting.lint_run import lint

SIZE: Final = 120
FIELDS: Final = sorted(Path(__file__).with_name("other_fields").glob("*.txtar"))


def sample(folder: Path, seed: int) -> list[Diagnostic]:
    """Half of the findings to judge, in the order of the files: one of each rule, and others at random."""
    found = sorted(lint([folder]).grouped().diagnostics, key=lambda each: each.sort_key)
    random.Random(seed).shuffle(found)
    first = {each.code: each for each in reversed(found)}
    others = [each for each in found if first[each.code] is not each]
    return sorted([*first.values(), *others][: SIZE // 2], key=lambda each: each.sort_key)


def slips(folder: Path, seed: int) -> Iterator[str]:
    """The other half: single slips in the projects, each as a row with its place and what is found."""
    for path in FIELDS:
        write(folder / path.stem, files_of(path.read_text(encoding="utf-8")))
        patterns = ("**/*.yaml", "**/*.json")
        mutations.PROJECTS[path.stem] = mutations.Project(str(folder / path.stem), (".",), patterns, ".", 1)
    names = {path.stem for path in FIELDS}
    made = (each for each in mutations.mutants(sys.maxsize, seed) if each.project in names)
    for each in islice(made, SIZE // 2):
        place = folder / each.project / each.path
        before = place.read_bytes()
        place.write_text(each.text, encoding="utf-8")
        found = lint([folder / each.project]).grouped().diagnostics
        place.write_bytes(before)
        told = "; ".join(f"{one.code}: {one.message}" for one in found) or "nothing"
        yield f"| {each.kind} | {each.project}/{each.path}:{each.lines.start} | {told} |"


def rows(seed: int) -> Iterator[str]:
    """The whole sample as rows of a table."""
    for found in sample(shared_data.folder("invisiblebench"), seed):
        place = Path(found.span.path).relative_to(shared_data.folder("invisiblebench")).as_posix()
        yield f"| {found.code} | {place}:{found.span.line} | {found.message} |"
    with tempfile.TemporaryDirectory() as folder:
        yield from slips(Path(folder), seed)


if __name__ == "__main__":
    for number, row in enumerate(rows(int(sys.argv[1])), 1):
        print(f"| {number} {row}")
