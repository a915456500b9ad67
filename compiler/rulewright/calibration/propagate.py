"""Measured errors of a judge carried through a scorecard: how often its gates truly fail, and what to label next.

Every verdict is taken for right with the probability that labels give it, independently of the others. The gate is
decided by the scorecard's own program for both answers. What is not known of the probabilities is drawn many times from
their posterior (Jeffreys' prior), with a fixed seed; so are the failures themselves.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rulewright.calibration.gold import Item
from rulewright.calibration.measures import Confusion
from rulewright_runtime.aggregate.bounds import is_unknown

if TYPE_CHECKING:
    from rulewright.reporting.stored_run import StoredRun
    from rulewright_runtime.aggregate.aggregation import Scorecard

SEED: Final = 20250115
DRAWS: Final = 2_000
Stratum = tuple[str, str]  # check, verdict


@dataclass(frozen=True, slots=True)
class Share:
    """How often a verdict of a stratum means a failure: `failed` of `labelled` items."""

    failed: int
    labelled: int

    @property
    def mean(self) -> float:
        """The mean of the posterior."""
        return (self.failed + 0.5) / (self.labelled + 1)

    @property
    def variance(self) -> float:
        """The variance of the posterior."""
        return self.mean * (1 - self.mean) / (self.labelled + 2)

    def gain(self, slope: float, own: float) -> float:
        """How much variance a label of one item takes away from a figure, on average. With the failures of the stratum
        the figure grows by `slope`, with that of the item by its `own` part of it."""
        left = self.variance * (self.labelled + 1) / (self.labelled + 2)
        itself = self.mean * (1 - self.mean) - self.variance
        return slope**2 * self.variance - (slope - own) ** 2 * left + own**2 * itself


@dataclass(frozen=True, slots=True)
class GateRow:
    """One transcript at one gate: whether it fails without doubt, may fail, and what may make it fail."""

    transcript: str
    stopped: bool  # by a verdict that was labelled, or that nobody doubts
    unknown: bool  # a verdict is missing that may stop it
    doubts: tuple[Stratum, ...]  # verdicts that stop it if they are failures
    items: tuple[Item, ...]


def shares_of(confusions: Mapping[str, Confusion]) -> dict[Stratum, Share]:
    """What labels say of each verdict of each check."""
    found = {}
    for check, each in confusions.items():
        found[check, "FAIL"] = Share(each.hits, each.hits + each.false_alarms)
        found[check, "PASS"] = Share(each.misses, each.misses + each.clear)
    return found


def gate_rows(
    run: StoredRun, card: Scorecard, shares: Mapping[Stratum, Share], labels: Mapping[Item, str]
) -> dict[str, list[GateRow]]:
    """The rows of every gate that holds a verdict of the run."""
    found: dict[str, list[GateRow]] = {}
    for transcript, verdicts in run.verdicts.items():
        for at, gate in enumerate(card.plan.gates):
            row = _row(transcript, verdicts, card, at, shares, labels)
            if row is not None:
                found.setdefault(gate.name, []).append(row)
    return found


def _row(
    transcript: str,
    verdicts: Mapping[str, Any],
    card: Scorecard,
    at: int,
    shares: Mapping[Stratum, Share],
    labels: Mapping[Item, str],
) -> GateRow | None:
    held = stopped = unknown = False
    doubts: list[Stratum] = []
    items: list[Item] = []
    for check, verdict in verdicts.items():
        stops = None if verdict.eligible is False else card.stops(verdict)[at]
        if stops is None:
            continue
        held = True
        said = labels.get((transcript, check))
        stratum = (check, verdict.verdict)
        if said is not None:
            stopped = stopped or (said == "FAIL" and stops["FAIL"])
        elif is_unknown(verdict):
            unknown = unknown or stops["FAIL"]
        elif stratum in shares:
            if stops["FAIL"]:
                doubts.append(stratum)
                items.append((transcript, check))
        else:
            stopped = stopped or stops.get(verdict.verdict, False)
    return GateRow(transcript, stopped, unknown, tuple(doubts), tuple(items)) if held else None


def share_failing(rows: Sequence[GateRow], q: Mapping[Stratum, float], *, worst: bool) -> tuple[float, float]:
    """The mean probability that a row fails, and the variance of the share of rows that do. Missing verdicts fail in
    the `worst` case, else never."""
    total = variance = 0.0
    for row in rows:
        p = _fails(row, q, worst=worst)
        total += p
        variance += p * (1 - p)
    return total / len(rows), variance / len(rows) ** 2


def _fails(row: GateRow, q: Mapping[Stratum, float], *, worst: bool) -> float:
    if row.stopped or (worst and row.unknown):
        return 1.0
    return 1 - math.prod(1 - q[stratum] for stratum in row.doubts)


def gate_interval(rows: Sequence[GateRow], shares: Mapping[Stratum, Share], level: float = 0.95) -> dict[str, Any]:
    """The share of rows that truly fail, `{value, low, high}`; missing verdicts widen it."""
    used = sorted({stratum for row in rows for stratum in row.doubts})
    chance = random.Random(SEED)
    low: list[float] = []
    high: list[float] = []
    for _ in range(DRAWS):
        q = {each: _drawn(chance, shares[each]) for each in used}
        noise = chance.gauss(0, 1)
        for worst, into in ((False, low), (True, high)):
            mean, variance = share_failing(rows, q, worst=worst)
            into.append(min(1.0, max(0.0, mean + noise * math.sqrt(variance))))
    cut = round((1 - level) / 2 * DRAWS)
    value = share_failing(rows, {each: shares[each].mean for each in used}, worst=True)[0]
    return {"value": value, "low": sorted(low)[cut], "high": sorted(high)[DRAWS - 1 - cut]}


def _drawn(chance: random.Random, share: Share) -> float:
    return chance.betavariate(share.failed + 0.5, share.labelled - share.failed + 0.5)


def next_item(rows: Sequence[GateRow], shares: Mapping[Stratum, Share]) -> tuple[Item, float] | None:
    """The item whose label takes away most of the variance of a gate's share of failing rows, and how much; None where
    nothing is in doubt.

    A label tells of its own row, and of every row of its stratum by making the stratum's share more certain.
    """
    q = {stratum: share.mean for stratum, share in shares.items()}
    slopes: dict[Stratum, float] = {}
    own: dict[Item, tuple[Stratum, float]] = {}
    for row in rows:
        if row.stopped:
            continue
        for at, stratum in enumerate(row.doubts):
            slope = math.prod(1 - q[other] for place, other in enumerate(row.doubts) if place != at)
            slopes[stratum] = slopes.get(stratum, 0.0) + slope / len(rows)
            own[row.items[at]] = stratum, slope / len(rows)
    gains = {item: shares[stratum].gain(slopes[stratum], slope) for item, (stratum, slope) in own.items()}
    best = min(gains, key=lambda item: (-gains[item], item), default=None)
    return None if best is None else (best, gains[best])
