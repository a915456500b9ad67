"""Measured errors of a judge carried through a scorecard: how often its gates truly fail, and what to label next.

Every verdict is taken for right with the probability that labels give it, independently of the others. The gate is
decided by the scorecard's own program for both answers. What is not known of the probabilities is drawn many times from
their posterior (Jeffreys' prior), with a fixed seed; so are the failures themselves. A verdict of a kind that was never
labelled may be wrong every time: the interval holds both answers.

Labels of another run tell how often the judge finds a failure (sensitivity) and how often it leaves alone what is none
(specificity). What a verdict means in this run follows from them and from how often the judge said FAIL here.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from rulewright.calibration.gold import Item
from rulewright_runtime.aggregate.bounds import is_unknown
from rulewright_runtime.strict_json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from rulewright.reporting.stored_run import StoredRun
    from rulewright_runtime.aggregate.aggregation import Scorecard

SEED: Final = 20250115
DRAWS: Final = 2_000
BEST, LIKELY, WORST = range(3)  # what verdicts that are missing, or of which no label tells, may come to
JUDGED: Final = ("FAIL", "PASS")
Stratum = tuple[str, str]  # check, verdict


@dataclass(frozen=True, slots=True)
class FailureShare:
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

    def drawn(self, chance: random.Random) -> float:
        """A value of the posterior."""
        return chance.betavariate(self.failed + 0.5, self.labelled - self.failed + 0.5)

    def gain(self, slope: float, own: float) -> float:
        """How much variance a label of one item takes away from a figure, on average. With the failures of the stratum
        the figure grows by `slope`, with that of the item by its `own` part of it."""
        left = self.variance * (self.labelled + 1) / (self.labelled + 2)
        itself = self.mean * (1 - self.mean) - self.variance
        return slope**2 * self.variance - (slope - own) ** 2 * left + own**2 * itself


@dataclass(frozen=True, slots=True)
class Transported:
    """What a verdict means in a run of which nothing was labelled, by the labels of another run of the same judge.

    `shares` are those of the other run's FAIL and PASS, `there` and `here` how many of the verdicts were FAIL.
    """

    shares: tuple[FailureShare, FailureShare]
    there: FailureShare
    here: FailureShare

    def means(self) -> tuple[float, float]:
        """How often FAIL and PASS mean a failure here, at the means of the posteriors."""
        failing, passing = (share.mean for share in self.shares)
        return _carried(failing, passing, self.there.mean, self.here.mean, 0.5)

    def drawn(self, chance: random.Random) -> tuple[float, float]:
        """The same for a draw of the posteriors."""
        draws = [share.drawn(chance) for share in (*self.shares, self.there, self.here)]
        return _carried(draws[0], draws[1], draws[2], draws[3], chance.random())


def _carried(failing: float, passing: float, there: float, here: float, anything: float) -> tuple[float, float]:
    """How often FAIL and PASS mean a failure where a share `here` of the verdicts is FAIL, while they do so `failing`
    and `passing` often where it is `there`. Where the judge is no better than chance, `anything` may be true."""
    found, missed = failing * there, passing * (1 - there)
    alarms, clear = (1 - failing) * there, (1 - passing) * (1 - there)
    sensitivity, specificity = found / (found + missed), clear / (clear + alarms)
    power = sensitivity + specificity - 1
    true = min(1.0, max(0.0, (here + specificity - 1) / power)) if power > 0 else anything
    return (
        _share(sensitivity * true, (1 - specificity) * (1 - true)),
        _share((1 - sensitivity) * true, specificity * (1 - true)),
    )


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else 0.0


@dataclass(frozen=True, slots=True)
class MeasuredErrors:
    """What labels say of the verdicts of a run: of each stratum its share of failures, or by check that of another
    run."""

    shares: Mapping[Stratum, FailureShare]
    elsewhere: Mapping[str, Transported]

    def __contains__(self, stratum: Stratum) -> bool:
        """Whether labels say anything of a stratum."""
        return stratum in self.shares or (stratum[0] in self.elsewhere and stratum[1] in JUDGED)

    def means(self) -> dict[Stratum, float]:
        """How often each verdict means a failure."""
        found = {stratum: share.mean for stratum, share in self.shares.items()}
        return found | self._of_checks({check: each.means() for check, each in self.elsewhere.items()})

    def drawn(self, chance: random.Random) -> dict[Stratum, float]:
        """The same for a draw of the posteriors."""
        found = {stratum: share.drawn(chance) for stratum, share in sorted(self.shares.items())}
        return found | self._of_checks({check: each.drawn(chance) for check, each in sorted(self.elsewhere.items())})

    def _of_checks(self, found: Mapping[str, Sequence[float]]) -> dict[Stratum, float]:
        return {(check, word): value for check, each in found.items() for word, value in zip(JUDGED, each, strict=True)}


@dataclass(frozen=True, slots=True)
class GateRow:
    """One transcript at one gate: whether it fails without doubt, may fail, and what may make it fail."""

    transcript: str
    stopped: bool  # by a verdict that was labelled
    unknown: bool  # a verdict is missing that may stop it
    doubts: tuple[Stratum, ...]  # verdicts that stop it if they are failures
    items: tuple[Item, ...]
    unmeasured: tuple[Item, ...] = ()  # the same of strata of which no label tells
    recorded: bool = False  # one of those is a FAIL


def measured_in(run: StoredRun, labels: Mapping[Item, str]) -> MeasuredErrors:
    """What labels of a run's own items say of its verdicts."""
    labelled: Counter[Stratum] = Counter()
    failed: Counter[Stratum] = Counter()
    for (transcript, check), target in labels.items():
        verdict = run.verdicts[transcript][check]
        if verdict.eligible is not False and not is_unknown(verdict):
            labelled[check, verdict.verdict] += 1
            failed[check, verdict.verdict] += target == "FAIL"
    return MeasuredErrors({stratum: FailureShare(failed[stratum], count) for stratum, count in labelled.items()}, {})


def carried_to(run: StoredRun, other: StoredRun, labels: Mapping[Item, str]) -> MeasuredErrors:
    """What labels of another run's items say of the verdicts of `run`."""
    shares = dict(measured_in(other, labels).shares)
    elsewhere = {}
    for check in {check for check, _ in shares}:
        strata = [(check, word) for word in JUDGED]
        if all(stratum in shares for stratum in strata):
            one, two = (shares.pop(stratum) for stratum in strata)
            elsewhere[check] = Transported((one, two), _failing(other, check), _failing(run, check))
    return MeasuredErrors({stratum: share for stratum, share in shares.items() if stratum[1] not in JUDGED}, elsewhere)


def _failing(run: StoredRun, check: str) -> FailureShare:
    """How many of the verdicts PASS and FAIL of a check are FAIL."""
    found = [
        verdicts[check].verdict
        for verdicts in run.verdicts.values()
        if check in verdicts and verdicts[check].eligible is not False and not is_unknown(verdicts[check])
    ]
    return FailureShare(found.count("FAIL"), sum(found.count(word) for word in JUDGED))


def gate_rows(
    run: StoredRun, card: Scorecard, measured: MeasuredErrors, labels: Mapping[Item, str]
) -> dict[str, list[GateRow]]:
    """The rows of every gate that holds a verdict of the run."""
    found: dict[str, list[GateRow]] = {}
    for transcript, verdicts in run.verdicts.items():
        for at, gate in enumerate(card.plan.gates):
            row = _row(transcript, verdicts, card, at, measured, labels)
            if row is not None:
                found.setdefault(gate.name, []).append(row)
    return found


def _row(
    transcript: str,
    verdicts: JsonMapping,
    card: Scorecard,
    at: int,
    measured: MeasuredErrors,
    labels: Mapping[Item, str],
) -> GateRow | None:
    held = stopped = unknown = recorded = False
    doubts: list[Stratum] = []
    items: list[Item] = []
    unmeasured: list[Item] = []
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
        elif not stops["FAIL"]:
            stopped = stopped or stops.get(verdict.verdict, False)
        elif stratum in measured:
            doubts.append(stratum)
            items.append((transcript, check))
        else:
            unmeasured.append((transcript, check))
            recorded = recorded or stops.get(verdict.verdict, False)
    return (
        GateRow(transcript, stopped, unknown, tuple(doubts), tuple(items), tuple(unmeasured), recorded)
        if held
        else None
    )


class _Kind(NamedTuple):
    """As much of a row as its chance to fail depends on; rows of one kind are worked out once."""

    stopped: bool
    unknown: bool
    recorded: bool
    unmeasured: bool
    doubts: tuple[Stratum, ...]

    def fails(self, q: Mapping[Stratum, float], case: int) -> float:
        """How likely such a row fails."""
        likely = case >= LIKELY and (self.unknown or self.recorded)
        if self.stopped or likely or (case == WORST and self.unmeasured):
            return 1.0
        return 1 - math.prod(1 - q[stratum] for stratum in self.doubts)


def _kinds(rows: Sequence[GateRow]) -> Counter[_Kind]:
    return Counter(
        _Kind(row.stopped, row.unknown, row.recorded, bool(row.unmeasured), tuple(sorted(row.doubts))) for row in rows
    )


def _share_failing(kinds: Counter[_Kind], q: Mapping[Stratum, float], case: int) -> tuple[float, float]:
    """The mean probability that a row fails, and the variance of the share of rows that do."""
    total = variance = 0.0
    for kind, count in kinds.items():
        p = kind.fails(q, case)
        total += count * p
        variance += count * p * (1 - p)
    size = kinds.total()
    return total / size, variance / size**2


def gate_interval(rows: Sequence[GateRow], measured: MeasuredErrors, level: float = 0.95) -> JsonObject:
    """The share of rows that truly fail, `{value, low, high}`. Missing verdicts widen it, and so do those of which no
    label tells; in the value the former fail and the latter are taken as recorded."""
    chance, kinds = random.Random(SEED), _kinds(rows)
    low: list[float] = []
    high: list[float] = []
    for _ in range(DRAWS):
        q = measured.drawn(chance)
        noise = chance.gauss(0, 1)
        for case, into in ((BEST, low), (WORST, high)):
            mean, variance = _share_failing(kinds, q, case)
            into.append(min(1.0, max(0.0, mean + noise * math.sqrt(variance))))
    cut = round((1 - level) / 2 * DRAWS)
    value = _share_failing(kinds, measured.means(), LIKELY)[0]
    return {"value": value, "low": sorted(low)[cut], "high": sorted(high)[DRAWS - 1 - cut]}


def next_item(rows: Sequence[GateRow], shares: Mapping[Stratum, FailureShare]) -> tuple[Item, float] | None:
    """The item whose label takes away most of the variance of a gate's share of failing rows, and how much; None where
    nothing is in doubt. An item of which no label tells comes first.

    A label tells of its own row, and of every row of its stratum by making the stratum's share more certain.
    """
    if unmeasured := [item for row in rows if not row.stopped for item in row.unmeasured]:
        count = Counter(check for _, check in unmeasured)
        return min(unmeasured, key=lambda item: (-count[item[1]], item)), math.inf
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
