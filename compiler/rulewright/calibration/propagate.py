"""Propagates a judge's measured errors through a scorecard: how often its gates truly fail, and what to label next.

Every verdict is correct with the probability estimated from labels, independently of the others. The scorecard's own
program decides the gate for both answers. The probabilities are drawn many times, with a fixed seed, and so are the
failures themselves. The lower end of an interval draws them from distributions that add nothing to the failures which
labels show, the upper end from those that add one (the ends of Clopper and Pearson): under one prior the doubts about
many checks would add up to failures that no label shows. Verdicts of a stratum without labels may all be wrong: the
interval covers both answers.

Labels of another run give the judge's sensitivity (detected failures) and specificity (passing non-failures). The
meaning of a verdict in this run follows from these and from the share of FAIL verdicts here.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from rulewright.calibration.gold import Item
from rulewright.calibration.measures import LEVEL
from rulewright.reporting.stored_run import StoredRun, skipped_checks, waiting_in
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.bounds import is_unknown
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.verdicts import VerdictResult

SEED: Final = 20250115
DRAWS: Final = 2_000
BEST, LIKELY, WORST = range(3)  # assumptions about missing verdicts and strata without labels
JUDGED: Final = ("FAIL", "PASS")
Stratum = tuple[str, str]  # check, verdict


class FailureShare(Struct, frozen=True):
    """The share of a stratum's verdicts that are failures: `failed` of `labelled` items."""

    failed: int
    labelled: int

    @property
    def observed(self) -> float:
        """The share among the labelled items; 0 without any."""
        return self.failed / self.labelled if self.labelled else 0.0

    @property
    def mean(self) -> float:
        """The mean of the posterior (Jeffreys' prior)."""
        return (self.failed + 0.5) / (self.labelled + 1)

    @property
    def variance(self) -> float:
        """The variance of the posterior."""
        return self.mean * (1 - self.mean) / (self.labelled + 2)

    def drawn(self, chance: random.Random) -> float:
        """Draw a value from the posterior."""
        return chance.betavariate(self.failed + 0.5, self.labelled - self.failed + 0.5)

    def lowest(self, chance: random.Random) -> float:
        """Draw a value for the lower end of an interval: 0 if no label is a failure."""
        return chance.betavariate(self.failed, self.labelled - self.failed + 1) if self.failed else 0.0

    def highest(self, chance: random.Random) -> float:
        """Draw a value for the upper end of an interval: 1 if every label is a failure."""
        passed = self.labelled - self.failed
        return chance.betavariate(self.failed + 1, passed) if passed else 1.0

    def gain(self, slope: float, item_slope: float) -> float:
        """Return the expected reduction of a figure's variance by a label of one item. `slope` is the figure's
        derivative with respect to the stratum's share, `item_slope` the part of it due to the item."""
        remaining = self.variance * (self.labelled + 1) / (self.labelled + 2)
        item_variance = self.mean * (1 - self.mean) - self.variance
        return slope**2 * self.variance - (slope - item_slope) ** 2 * remaining + item_slope**2 * item_variance


class TransportedShares(Struct, frozen=True):
    """The shares of failures in a run without labels, derived from labels of another run of the same judge.

    `shares` are those of the other run's FAIL and PASS verdicts; `labelled_failing` and `run_failing` are the shares of
    FAIL verdicts in the other run and in this one.
    """

    shares: tuple[FailureShare, FailureShare]
    labelled_failing: FailureShare
    run_failing: FailureShare

    def likely(self) -> tuple[float, float]:
        """Return the most likely shares of failures among FAIL and PASS verdicts, which are those of the labels where
        the judge does not beat chance."""
        failing, passing = (share.observed for share in self.shares)
        unknown = failing if failing == passing else 0.5
        return _transport(failing, passing, self.labelled_failing.observed, self.run_failing.observed, unknown)

    def lowest(self, chance: random.Random) -> tuple[float, float]:
        """Draw the shares for the lower end of an interval: fewer failures and FAIL verdicts than were seen."""
        failing, passing, run_failing = (each.lowest(chance) for each in (*self.shares, self.run_failing))
        return _transport(failing, passing, self.labelled_failing.drawn(chance), run_failing, 0.0)

    def highest(self, chance: random.Random) -> tuple[float, float]:
        """Draw the shares for the upper end of an interval: more failures and FAIL verdicts than were seen."""
        failing, passing, run_failing = (each.highest(chance) for each in (*self.shares, self.run_failing))
        return _transport(failing, passing, self.labelled_failing.drawn(chance), run_failing, 1.0)


def _transport(
    failing: float, passing: float, labelled_fail_share: float, run_fail_share: float, unknown: float
) -> tuple[float, float]:
    """Return the shares of failures among FAIL and PASS verdicts where `run_fail_share` of the verdicts are FAIL, given
    the shares `failing` and `passing` at `labelled_fail_share`. For a judge no better than chance, and for labels of
    one kind, `unknown` is the prevalence."""
    detected, missed = failing * labelled_fail_share, passing * (1 - labelled_fail_share)
    alarms, clear = (1 - failing) * labelled_fail_share, (1 - passing) * (1 - labelled_fail_share)
    if not (detected + missed and clear + alarms):
        return unknown, unknown
    sensitivity, specificity = detected / (detected + missed), clear / (clear + alarms)
    power = sensitivity + specificity - 1
    prevalence = min(1.0, max(0.0, (run_fail_share + specificity - 1) / power)) if power > 0 else unknown
    return (
        _share(sensitivity * prevalence, (1 - specificity) * (1 - prevalence)),
        _share((1 - sensitivity) * prevalence, specificity * (1 - prevalence)),
    )


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else 0.0


class MeasuredErrors(Struct, frozen=True):
    """The errors of a run's verdicts, estimated from labels: the share of failures of each stratum, or by check the
    shares transported from another run."""

    shares: Mapping[Stratum, FailureShare]
    elsewhere: Mapping[str, TransportedShares]

    def __contains__(self, stratum: Stratum) -> bool:
        """Whether there is an estimate for a stratum."""
        return stratum in self.shares or (stratum[0] in self.elsewhere and stratum[1] in JUDGED)

    def likely(self) -> dict[Stratum, float]:
        """Return the most likely share of failures of each stratum."""
        likely = {stratum: share.observed for stratum, share in self.shares.items()}
        return likely | self._of_checks({check: each.likely() for check, each in self.elsewhere.items()})

    def drawn(self, chance: random.Random) -> tuple[dict[Stratum, float], dict[Stratum, float]]:
        """Return a draw of the shares for the lower and for the upper end of an interval."""
        shares = sorted(self.shares.items())
        elsewhere = sorted(self.elsewhere.items())
        low = {stratum: share.lowest(chance) for stratum, share in shares}
        high = {stratum: share.highest(chance) for stratum, share in shares}
        low |= self._of_checks({check: each.lowest(chance) for check, each in elsewhere})
        high |= self._of_checks({check: each.highest(chance) for check, each in elsewhere})
        return low, high

    def _of_checks(self, by_check: Mapping[str, Sequence[float]]) -> dict[Stratum, float]:
        return {
            (check, word): value for check, each in by_check.items() for word, value in zip(JUDGED, each, strict=True)
        }


class RowKind(NamedTuple):
    """The parts of a row that its probability to fail depends on; rows of one kind are computed once."""

    stopped: bool  # by a labelled verdict, or by one that stops it as PASS and as FAIL
    unknown: bool  # a missing verdict may stop it
    recorded: bool  # a FAIL of a stratum without labels
    unmeasured: bool  # verdicts of strata without labels may stop it
    doubts: tuple[Stratum, ...]  # verdicts that stop it if they are failures

    def fails(self, q: Mapping[Stratum, float], case: int) -> float:
        """The probability that such a row fails."""
        likely = case >= LIKELY and (self.unknown or self.recorded)
        if self.stopped or likely or (case == WORST and self.unmeasured):
            return 1.0
        return 1 - math.prod(1 - q[stratum] for stratum in self.doubts)


_MISSING: Final = RowKind(False, True, False, False, ())  # no verdict at all


class GateRow(Struct, frozen=True):
    """One transcript at one gate, and which of its verdicts may make it fail: those of strata with labels by their
    stratum, and those `unmeasured`."""

    transcript: str
    kind: RowKind
    doubts: tuple[tuple[Item, Stratum], ...]
    unmeasured: tuple[Item, ...]


def measure_errors(run: StoredRun, labels: Mapping[Item, str]) -> MeasuredErrors:
    """Estimate a run's errors from labels of its own items."""
    labelled: Counter[Stratum] = Counter()
    failed: Counter[Stratum] = Counter()
    for (transcript, check), target in labels.items():
        verdict = run.verdicts[transcript][check]
        if verdict.eligible is not False and not is_unknown(verdict):
            labelled[check, verdict.verdict] += 1
            failed[check, verdict.verdict] += target == "FAIL"
    return MeasuredErrors({stratum: FailureShare(failed[stratum], count) for stratum, count in labelled.items()}, {})


def transport_errors(run: StoredRun, other: StoredRun, labels: Mapping[Item, str]) -> MeasuredErrors:
    """Estimate the errors of `run` from labels of another run's items."""
    shares = dict(measure_errors(other, labels).shares)
    elsewhere = {}
    for check in {check for check, _ in shares}:
        strata = [(check, word) for word in JUDGED]
        if all(stratum in shares for stratum in strata):
            fail_share, pass_share = (shares.pop(stratum) for stratum in strata)
            elsewhere[check] = TransportedShares((fail_share, pass_share), _failing(other, check), _failing(run, check))
    return MeasuredErrors({stratum: share for stratum, share in shares.items() if stratum[1] not in JUDGED}, elsewhere)


def _failing(run: StoredRun, check: str) -> FailureShare:
    """The number of FAIL among a check's PASS and FAIL verdicts."""
    counts = verdict_counts(run, check)
    return FailureShare(counts["FAIL"], counts["FAIL"] + counts["PASS"])


def verdict_counts(run: StoredRun, check: str, threshold: float = 0.0) -> Counter[str]:
    """The number of each verdict of a check where it applies, as `verdict_at` a threshold of confidence."""
    return Counter(
        verdict_at(verdicts[check], threshold)
        for verdicts in run.verdicts.values()
        if check in verdicts and verdicts[check].eligible is not False
    )


def verdict_at(verdict: VerdictResult, threshold: float) -> str:
    """The judge's verdict, where a FAIL below the threshold of confidence counts as PASS, and one that is not an answer
    of the judge as UNCLEAR."""
    if is_unknown(verdict):
        return "UNCLEAR"
    weak = verdict.verdict == "FAIL" and (verdict.confidence or 0.0) < threshold
    return "PASS" if weak else verdict.verdict


def gate_rows(
    run: StoredRun, card: Scorecard, measured: MeasuredErrors, labels: Mapping[Item, str]
) -> dict[str, list[GateRow]]:
    """Return the rows of every gate, without the transcripts to which it does not apply. A check that was left out and
    a turn that is missing count as missing verdicts."""
    rows: dict[str, list[GateRow]] = {}
    for transcript, verdicts in run.verdicts.items():
        scored = run.rows[transcript]
        states, open_gates = scored[ENGINE].get("gates") or {}, _open_gates(run, card, scored)
        for index, gate in enumerate(card.plan.gates):
            row = _row(transcript, verdicts, card, index, measured, labels)
            if row is None:
                row = _without_verdicts(transcript, states.get(gate.name, {}).get("state", "passed"))
            elif index in open_gates:
                row = replace(row, kind=row.kind._replace(unknown=True))
            if row is not None:
                rows.setdefault(gate.name, []).append(row)
    return rows


def _open_gates(run: StoredRun, card: Scorecard, row: JsonMapping) -> frozenset[int]:
    """The indices of the gates that something else than a verdict leaves open in a row."""
    if row.get("missing"):
        return frozenset(range(len(card.plan.gates)))
    waiting = waiting_in(card, row, skipped_checks(run, row))
    return frozenset(index for each in waiting for index in each.gates)


def _without_verdicts(transcript: str, state: str) -> GateRow | None:
    """The row of a gate without an eligible verdict, which is in the state that the scorecard defines for that; None
    where it passes, because it does not apply."""
    kind = RowKind(state == "failed", state != "failed", False, False, ())
    return None if state == "passed" else GateRow(transcript, kind, (), ())


def _row(
    transcript: str,
    verdicts: JsonMapping,
    card: Scorecard,
    index: int,
    measured: MeasuredErrors,
    labels: Mapping[Item, str],
) -> GateRow | None:
    has_verdict = stopped = unknown = recorded = False
    doubts: list[tuple[Item, Stratum]] = []
    unmeasured: list[Item] = []
    for check, verdict in verdicts.items():
        stops = None if verdict.eligible is False else card.stops(verdict)[index]
        if stops is None:
            continue
        has_verdict = True
        label = labels.get((transcript, check))
        stratum = (check, verdict.verdict)
        if label is not None:
            stopped = stopped or stops.get(label, False)
        elif is_unknown(verdict):
            unknown = True
        elif stops["PASS"] and verdict.verdict in JUDGED:  # it stops, whichever of the two is true
            stopped = True
        elif stratum in measured:
            doubts.append(((transcript, check), stratum))
        else:
            unmeasured.append((transcript, check))
            recorded = recorded or stops.get(verdict.verdict, False)
    if not has_verdict:
        return None
    kind = RowKind(stopped, unknown, recorded, bool(unmeasured), tuple(sorted(stratum for _, stratum in doubts)))
    return GateRow(transcript, kind, tuple(doubts), tuple(unmeasured))


def _share_failing(kinds: Counter[RowKind], q: Mapping[Stratum, float], case: int) -> tuple[float, float]:
    """The mean probability that a row fails, and the variance of the share of rows that do."""
    total = variance = 0.0
    for kind, count in kinds.items():
        p = kind.fails(q, case)
        total += count * p
        variance += count * p * (1 - p)
    size = kinds.total()
    return total / size, variance / size**2


def gate_interval(rows: Sequence[GateRow], measured: MeasuredErrors, refused: int = 0) -> JsonObject:
    """Return the share of rows that truly fail, `{value, low, high}`. Missing verdicts, `refused` inputs and strata
    without labels widen the interval; in `value` the former two fail and the latter count as recorded. `value` is None
    if every verdict is missing, for example because the gate holds no check."""
    chance, kinds = random.Random(SEED), Counter(row.kind for row in rows)
    kinds[_MISSING] += refused
    least, _ = _share_failing(kinds, defaultdict(float), BEST)  # which labels show
    most, _ = _share_failing(kinds, defaultdict(lambda: 1.0), WORST)
    low: list[float] = []
    high: list[float] = []
    for _ in range(DRAWS):
        ends = measured.drawn(chance)
        noise = chance.gauss(0, 1)
        for case, samples, q in ((BEST, low, ends[0]), (WORST, high, ends[1])):
            mean, variance = _share_failing(kinds, q, case)
            samples.append(min(most, max(least, mean + noise * math.sqrt(variance))))
    cut = round((1 - LEVEL) / 2 * DRAWS)
    is_known = any(kind != _MISSING for kind in kinds)
    value = _share_failing(kinds, measured.likely(), LIKELY)[0] if is_known else None
    return {"value": value, "low": sorted(low)[cut], "high": sorted(high)[DRAWS - 1 - cut]}


def next_item(rows: Sequence[GateRow], shares: Mapping[Stratum, FailureShare]) -> tuple[Item, float] | None:
    """Return the item whose label reduces the variance of a gate's failing share most, and the reduction; None where
    nothing is in doubt. Items of strata without labels come first.

    A label informs its own row, and every row of its stratum through the stratum's share.
    """
    if unmeasured := [item for row in rows if not row.kind.stopped for item in row.unmeasured]:
        count = Counter(check for _, check in unmeasured)
        return min(unmeasured, key=lambda item: (-count[item[1]], item)), math.inf
    q = {stratum: share.mean for stratum, share in shares.items()}
    slopes: dict[Stratum, float] = {}
    item_slopes: dict[Item, tuple[Stratum, float]] = {}
    for row in rows:
        if row.kind.stopped:
            continue
        for item, stratum in row.doubts:
            slope = math.prod(1 - q[other] for another, other in row.doubts if another != item) / len(rows)
            slopes[stratum] = slopes.get(stratum, 0.0) + slope
            item_slopes[item] = stratum, slope
    gains = {item: shares[stratum].gain(slopes[stratum], slope) for item, (stratum, slope) in item_slopes.items()}
    best = min(gains, key=lambda item: (-gains[item], item), default=None)
    return None if best is None else (best, gains[best])
