"""Groups the rows of a run by the data that a parameter can affect: the rows of a group change together. If no
condition over single verdicts reads the parameter, each verdict has the same effect at every value. A row then depends
only on its gates, its coverage, and the rates and counts read by the outputs that read the parameter; a million
verdicts fold to a few hundred rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rulewright.policies.scorecards import SIZE, with_sizes
from rulewright.proving.program_parts import paths_of
from rulewright.reporting.stored_run import StoredRun
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.effects import LEAVES_OPEN, STOPS, Effect, counts_in, earned_in
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.plan.scorecard import ScorecardPlan, mentioned
from rulewright_runtime.verdicts import VerdictResult

Path = tuple[str, ...]


class _ColumnsRead(NamedTuple):
    """The rates, counts and sizes of lists, by index, that outputs depending on the parameter read."""

    rates: tuple[int, ...]
    counts: tuple[int, ...]
    lists: tuple[int, ...]


class _VerdictPart(NamedTuple):
    """The contribution of one verdict to a row."""

    gates: tuple[tuple[int, int], ...]
    gained: tuple[Fraction | int, ...]
    of: tuple[int, ...]
    counts: tuple[int, ...]  # and lists
    undecided: tuple[str, ...]
    eligible: bool
    resolved: bool
    word: str  # FAIL, or undecided; empty for a verdict that clears a row
    cause: str


def folded(run: StoredRun, card: Scorecard, name: str) -> list[list[str]]:
    """Return the transcripts of a run in groups whose members change together with the parameter."""
    read = _columns_read(card.plan, name)
    if read is None:
        return [[transcript] for transcript in run.rows]
    codes = _Codes(card, read)
    groups: dict[Any, list[str]] = {}
    for transcript, row in run.rows.items():
        if row.get("missing"):
            groups[transcript] = [transcript]
            continue
        key = codes.row(run.verdicts[transcript].values())
        groups.setdefault((key, tuple(row.get("left_out", ()))), []).append(transcript)
    return list(groups.values())


class _Codes:
    """Folds rows: verdicts with the same contribution share a code, and rows with the same codes are computed once."""

    def __init__(self, card: Scorecard, read: _ColumnsRead) -> None:
        self.card = card
        self.read = read
        self.codes: dict[object, int] = {}
        self.parts: list[_VerdictPart] = []
        self.places: dict[_VerdictPart, int] = {}
        self.known: dict[tuple[int, ...], object] = {}

    def row(self, verdicts: Iterable[VerdictResult]) -> Any:
        """Return the folded row of some verdicts."""
        key_of, codes = self.card.effects.key, self.codes
        found = []
        for verdict in verdicts:
            key = key_of(verdict) if verdict.cause is None else None
            code = codes.get(key)
            found.append(self._code(key, verdict) if code is None else code)
        found.sort()
        row = tuple(found)
        if row not in self.known:
            self.known[row] = self._folded([self.parts[code] for code in row])
        return self.known[row]

    def _code(self, key: Any, verdict: VerdictResult) -> int:
        part = self._part(self.card.effects.effect(verdict), verdict)
        if part not in self.places:
            self.places[part] = len(self.parts)
            self.parts.append(part)
        if key is not None:
            self.codes[key] = self.places[part]
        return self.places[part]

    def _part(self, does: Effect, verdict: VerdictResult) -> _VerdictPart:
        applies = verdict.eligible is not False
        clear = verdict.verdict in ("PASS", "NOT_APPLICABLE")
        return _VerdictPart(
            does.gates,
            tuple([_whole(earned_in(does, at)) for at in self.read.rates]),
            tuple([int(counts_in(does, at)) for at in self.read.rates]),
            (*map(does.counts.count, self.read.counts), *map(does.lists.count, self.read.lists)),
            tuple([f"{each['place']} {each['reason']}" for each in does.undecided]),
            applies,
            applies and verdict.verdict in ("PASS", "FAIL"),
            "" if clear or not applies else verdict.verdict,
            f"{verdict.check_id} {verdict.verdict}" if verdict.cause is not None else "",
        )

    def _folded(self, parts: Sequence[_VerdictPart]) -> object:
        strongest: dict[int, int] = {}
        opens: dict[tuple[int, int], int] = {}
        for gate, strength in (each for part in parts for each in part.gates):
            strongest[gate] = max(strongest.get(gate, -1), strength)
            opens[gate, strength] = opens.get((gate, strength), 0) + 1
        eligible, resolved = sum(part.eligible for part in parts), sum(part.resolved for part in parts)
        words = {part.word for part in parts}
        return (
            tuple(sorted(strongest.items())),
            tuple(sorted((each, count) for each, count in opens.items() if each[1] == LEAVES_OPEN)),
            tuple([_rate(parts, at) for at in range(len(self.read.rates))]),
            tuple([sum(each) for each in zip(*(part.counts for part in parts), strict=True)]),
            tuple([each for part in parts for each in part.undecided]),
            _share(resolved, eligible),
            any(strength == STOPS and part.word != "FAIL" for part in parts for _, strength in part.gates),
            "FAIL" in words,
            bool(words - {"FAIL", ""}),
            tuple([part.cause for part in parts if part.cause]),
        )


def _rate(parts: Sequence[_VerdictPart], at: int) -> Fraction | None:
    return _share(sum(each.gained[at] for each in parts), sum(each.of[at] for each in parts))


def _whole(value: Fraction | int) -> Fraction | int:
    return value.numerator if value.denominator == 1 else value


def _share(gained: Fraction | int, of: int) -> Fraction | None:
    return Fraction(gained) / of if of else None


def reads_verdicts(plan: ScorecardPlan, name: str) -> bool:
    """Whether a condition over single verdicts may read a parameter."""
    return name in mentioned(programs_of((plan.gates, plan.dimensions, plan.rates, plan.counts, plan.lists)))


def _columns_read(plan: ScorecardPlan, name: str) -> _ColumnsRead | None:
    """Return what the deciding outputs that depend on a parameter read; None if a condition over single verdicts reads
    the parameter, or if they read more than a folded row holds."""
    if reads_verdicts(plan, name):
        return None
    programs = {part.name: part.value for part in (*plan.variables, *plan.output)}
    paths: set[Path] = set()
    for shown in plan.shown:
        reach = None if shown is None else _reach(shown, programs, {part.name for part in plan.variables})
        if reach is None:
            if shown is not None:
                return None
        elif any(path[0] == name for path in reach):
            paths |= reach
    if any(path[0] in ("lists", "undecided", "verdicts", "flags") or path[-1] == "reasons" for path in paths):
        return None
    if any(path in (("gates",), ("rates",), ("counts",)) or (path[0] == "gates" and len(path) < 3) for path in paths):
        return None
    rates = [*(each.rate.name for each in plan.dimensions), *(rate.name for rate in plan.rates)]
    dimensions = len(plan.dimensions)
    every = ("dimensions",) in paths
    kept = [
        at
        for at, rate in enumerate(rates)
        if (("dimensions", rate) in paths or every if at < dimensions else ("rates", rate) in paths)
    ]
    lists = [at for at, listed in enumerate(plan.lists) if (SIZE, "lists", listed.name) in paths]
    counts = [at for at, count in enumerate(plan.counts) if ("counts", count.name) in paths]
    return _ColumnsRead(tuple(kept), tuple(counts), tuple(lists))


def _reach(name: str, programs: Mapping[str, Program], variables: set[str]) -> set[Path] | None:
    """Return the paths that an output reads, directly or through variables; None if unknown."""
    found: set[Path] = set()
    pending, seen = [name], set()
    while pending:
        here = pending.pop()
        if here in seen:
            continue
        seen.add(here)
        paths = paths_of(with_sizes(programs[here]))
        if paths is None:
            return None
        found |= set(paths)
        pending += [path[0] for path in paths if path[0] in variables]
    return found
