"""Processor times within one run: medians of repeated batches, taken in turn, so that ratios survive a busy machine."""

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

BATCHES: Final = 15
BATCH_SECONDS: Final = 0.004


@dataclass(frozen=True, slots=True)
class Timing:
    """The median seconds of one call, and of the fastest batch."""

    median: float
    best: float

    def __str__(self) -> str:
        """The median in a unit that reads well."""
        for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
            if self.median * scale >= 1:
                return f"{self.median * scale:.2f} {unit}"
        return f"{self.median * 1e9:.0f} ns"


def keep_bytecode(folder: Path) -> None:
    """Have every process that is started from here on keep its bytecode in `folder`, as installed packages do."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")


Call: TypeAlias = tuple[Callable[[Any], Any], Any]  # a function, and what it is called with


def measure(calls: Mapping[str, Call], batches: int = BATCHES) -> dict[str, Timing]:
    """The times of each call. Batches of all of them alternate: what slows the machine slows them all."""
    counts = {name: _count(call) for name, call in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(batches):
        for name, call in calls.items():
            samples[name].append(_batch(call, counts[name]))
    return {name: Timing(statistics.median(times), min(times)) for name, times in samples.items()}


def _count(call: Call) -> int:
    """How many calls fill a batch."""
    count = 1
    while True:
        seconds = _batch(call, count) * count
        if seconds >= BATCH_SECONDS or count >= 1_000_000:
            return count
        count *= 10 if seconds < BATCH_SECONDS / 10 else 2


def _batch(call: Call, count: int) -> float:
    function, argument = call
    rounds = range(count)
    start = time.process_time()
    for _ in rounds:
        function(argument)
    return (time.process_time() - start) / count


def ratio(times: Mapping[str, Timing], slow: str, fast: str) -> float:
    """How many times longer `slow` takes than `fast`."""
    return times[slow].median / times[fast].median


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned columns, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *padded[1:]]))
    return "\n".join(lines)
