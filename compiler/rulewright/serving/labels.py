"""Labels: what people say a check should have said, without having seen what it did say.

`labels/CHECK.csv` in the folder of a run is what `rulewright calibrate --gold` reads. Transcripts are offered in an
order that is random and the same for everybody, so that the first hundred are a fair sample; half of them are to choose
a threshold on (`tune`), half to report on (`report`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from rulewright.calibration.gold import REPORT, TUNE, GoldLabel, read_gold, written
from rulewright_runtime.files import write_whole
from rulewright_runtime.locks import held_folder

FOLDER: Final = "labels"


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one check in the folder of a run."""

    run: Path
    check: str

    @property
    def path(self) -> Path:
        """Their file."""
        return self.run / FOLDER / f"{quote(self.check, safe='')}.csv"

    def read(self) -> list[GoldLabel]:
        """The labels so far. Raises UsageError where the file holds something else."""
        return read_gold(self.path) if self.path.is_file() else []

    def add(self, transcript: str, target: str, annotator: str, conversation: str) -> None:
        """Write down a label of the conversation with this fingerprint, in place of an earlier one by the same person.

        Raises BusyError, OSError, UsageError.
        """
        item = (transcript, self.check)
        split = (TUNE, REPORT)[_chance(self.check, transcript) % 2]
        new = GoldLabel(item, target, annotator, split, conversation)
        self.path.parent.mkdir(exist_ok=True)
        with held_folder(self.path.parent):
            kept = [each for each in self.read() if (each.item, each.annotator) != (item, annotator)]
            write_whole(self.path, written([*kept, new]).encode())

    def next(self, transcripts: Iterable[str], annotator: str) -> str | None:
        """The transcript that this person should label next; None where all have been."""
        done = {each.item[0] for each in self.read() if each.annotator == annotator}
        left = [name for name in transcripts if name not in done]
        return min(left, key=lambda name: _chance(self.check, name), default=None)


def _chance(check: str, transcript: str) -> int:
    return int.from_bytes(sha256(f"{check}\0{transcript}".encode("utf-8", "surrogatepass")).digest())
