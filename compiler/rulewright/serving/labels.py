"""Labels: what people say a check should have said, without having seen what it did say.

`labels/CHECK.csv` in the folder of a run has the columns id, target, annotator and split. Transcripts are offered in an
order that is random and the same for everybody, so that the first hundred are a fair sample; half of them are for
`calibration`, half for the `test`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import held_folder

FOLDER: Final = "labels"
COLUMNS: Final = ("id", "target", "annotator", "split")
TARGETS: Final = ("PASS", "FAIL", "NOT_APPLICABLE")
SPLITS: Final = ("calibration", "test")


@dataclass(frozen=True, slots=True)
class Label:
    """What a person says of one transcript."""

    id: str
    target: str
    annotator: str
    split: str


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one check in the folder of a run."""

    run: Path
    check: str

    @property
    def path(self) -> Path:
        """Their file."""
        return self.run / FOLDER / f"{quote(self.check, safe='')}.csv"

    def read(self) -> list[Label]:
        """The labels so far."""
        if not self.path.is_file():
            return []
        with self.path.open(encoding="utf-8", newline="") as stream:
            return [Label(*(row.get(name) or "" for name in COLUMNS)) for row in csv.DictReader(stream)]

    def add(self, transcript: str, target: str, annotator: str) -> None:
        """Write down a label, in place of an earlier one by the same person. Raises BusyError, OSError."""
        new = Label(transcript, target, annotator, SPLITS[_chance(self.check, transcript) % 2])
        self.path.parent.mkdir(exist_ok=True)
        with held_folder(self.path.parent):
            kept = [each for each in self.read() if (each.id, each.annotator) != (transcript, annotator)]
            write_whole(self.path, _text([*kept, new]))

    def next(self, transcripts: Iterable[str], annotator: str) -> str | None:
        """The transcript that this person should label next; None where all have been."""
        done = {each.id for each in self.read() if each.annotator == annotator}
        left = [name for name in transcripts if name not in done]
        return min(left, key=lambda name: _chance(self.check, name), default=None)


def _chance(check: str, transcript: str) -> int:
    return int.from_bytes(sha256(f"{check}\0{transcript}".encode("utf-8", "surrogatepass")).digest())


def _text(labels: Iterable[Label]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((each.id, each.target, each.annotator, each.split) for each in labels)
    return stream.getvalue().encode("utf-8", "surrogatepass")
