"""Labels: people's verdicts on transcripts, given without seeing those of the check.

`rulewright calibrate --gold` reads `labels/CHECK.csv` in the folder of a run. Transcripts are offered in a random order
that is the same for every annotator, so that the first hundred are a fair sample; half of them are for choosing a
threshold (`tune`), half for reporting (`report`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from rulewright.calibration.gold import REPORT, TUNE, GoldLabel, plain_name, read_gold, to_csv
from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import lock_folder

FOLDER: Final = "labels"


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one check in the folder of a run."""

    run: Path
    check: str

    @property
    def path(self) -> Path:
        """The CSV file."""
        return self.run / FOLDER / f"{quote(self.check, safe='')}.csv"

    def read(self) -> list[GoldLabel]:
        """Return the labels so far. Raises UsageError where the file is invalid."""
        return read_gold(self.path) if self.path.is_file() else []

    def add(self, transcript: str, target: str, annotator: str, conversation: str, text: str = "") -> None:
        """Store a label of the conversation with this fingerprint; it replaces an earlier one by the same person. All
        labels of one `text`, the folded fingerprint, are in one split.

        Raises BusyError, OSError, UsageError.
        """
        item = (transcript, self.check)
        split = (TUNE, REPORT)[_chance(self.check, text or conversation or transcript) % 2]
        person = plain_name(annotator)
        self.path.parent.mkdir(exist_ok=True)
        with lock_folder(self.path.parent):
            labels = self.read()
            name = next((each.annotator for each in labels if each.person == person), annotator)
            others = [each for each in labels if (each.item, each.person) != (item, person)]
            split = next((each.split for each in labels if each.item == item), split)
            new = GoldLabel(item, target, name, split, conversation)
            write_whole(self.path, to_csv([*others, new]).encode())

    def done(self, annotator: str) -> list[str]:
        """Return the transcripts that this annotator has labelled."""
        return [each.item[0] for each in self.read() if each.person == plain_name(annotator)]

    def next(self, transcripts: Iterable[str], annotator: str) -> str | None:
        """Return the transcript that this annotator should label next, or None when all are labelled."""
        done = set(self.done(annotator))
        remaining = [name for name in transcripts if name not in done]
        return min(remaining, key=lambda name: _chance(self.check, name), default=None)


def _chance(check: str, transcript: str) -> int:
    return int.from_bytes(sha256(f"{check}\0{transcript}".encode("utf-8", "surrogatepass")).digest())
