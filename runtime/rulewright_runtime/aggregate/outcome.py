"""The outcome of a transcript: passed, failed or undecided, from the engine's own gate results and verdicts.

Exit codes and reports read the outcome, never the scorecard's output: an output may omit its gates, rename them or make
them constant without changing the outcome. Gates decide if a check belongs to one of them. Otherwise every check
decides: a FAIL fails, and any verdict but PASS and NOT_APPLICABLE leaves the transcript undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, get_args

from msgspec import UNSET, UnsetType

from rulewright_runtime.ir import Node, Program
from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import Value
from rulewright_runtime.verdicts import VerdictRecord

MINIMUM_COVERAGE: Final = Score(4, 5)  # seed 004: a row with a smaller share of resolved checks is not valid
ENGINE: Final = "engine"
NO_RECORD: Final = "NO_RECORD"  # replaces the verdict of an expected check without a record
RESERVED: Final = frozenset({"transcript_id", "scenario_id", "model", ENGINE, "undecided", "left_out", "missing"})

# `nothing_applied`: no check applied to the transcript. That is not a failure, but a run of nothing else is undecided.
Outcome = Literal["passed", "failed", "undecided", "nothing_applied"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
# The state of a gate for one transcript; `not_run`: none of its checks has a verdict.
GateState = Literal["passed", "failed", "undecided", "not_run"]
GATE_STATES: Final[tuple[GateState, ...]] = get_args(GateState)
_CLEAR: Final = frozenset({"PASS", "NOT_APPLICABLE"})


class NotRun(NamedTuple):
    """A check that applies and was not run, with the gates that it leaves open: a profile left it out, or a scan of
    gates only skipped it."""

    check_id: str
    gates: tuple[int, ...] = ()
    is_skipped: bool = False


def engine_results(
    verdicts: Sequence[VerdictRecord],
    gates: Mapping[str, Mapping[str, Value]] | None = None,
    minimum_coverage: Score = MINIMUM_COVERAGE,
    *,
    undecided: bool = False,
    skipped: int = 0,
) -> dict[str, Value]:
    """The engine's own results for one transcript, stored under the key `engine` of its row: `outcome`, `decided_by`
    (`gates` or `checks`), `because` (the checks that made it fail or left it undecided), `unproven` (the failed checks
    among them without a proven failure, with the cause), `gates` and `coverage`.

    `gates` maps gate names to `{state, reasons}`; None if no check belongs to a gate. `undecided` means that a
    condition of the scorecard is undecided or that the transcript is incomplete. `coverage` is the share of PASS and
    FAIL among the verdicts of checks that applied, null if none did. If checks were `skipped`, it is null, and
    `coverage_at_most` is the share if all of these were PASS or FAIL: only that decides.
    """
    eligible = [verdict for verdict in verdicts if verdict.eligible is not False]
    coverage = _coverage(eligible, skipped)
    failed, left_open = _reasons(eligible) if gates is None else _reasons_of(gates)
    outcome: Outcome = "passed"
    if failed:
        outcome = "failed"
    elif left_open or undecided or gates_not_run(gates or {}) or (coverage is not None and coverage < minimum_coverage):
        outcome = "undecided"
    elif coverage is None:
        outcome = "nothing_applied"
    because = list(dict.fromkeys(failed or left_open))
    return {
        "outcome": outcome,
        "decided_by": "checks" if gates is None else "gates",
        "because": because,
        "unproven": _unproven(eligible, because) if failed else {},
        "gates": gates or {},
        "coverage": None if coverage is None or skipped else leave(coverage),
        **({"coverage_at_most": leave(coverage)} if coverage is not None and skipped else {}),
    }


def _coverage(eligible: Sequence[VerdictRecord], skipped: int) -> Score | None:
    of = len(eligible) + skipped
    resolved = sum(verdict.verdict in ("PASS", "FAIL") for verdict in eligible)
    return Score(resolved + skipped, of) if of else None


def gates_not_run(gates: Mapping[str, Mapping[str, Value]]) -> list[str]:
    """The gates without an eligible verdict that the scorecard does not let pass then (`empty: undecided`)."""
    return [name for name, gate in gates.items() if gate["state"] == "not_run"]


def _reasons(eligible: Sequence[VerdictRecord]) -> tuple[list[str], list[str]]:
    """The checks that fail and those that leave the transcript undecided, if every check decides."""
    failed = [verdict.check_id for verdict in eligible if verdict.verdict == "FAIL"]
    return failed, [verdict.check_id for verdict in eligible if verdict.verdict not in (*_CLEAR, "FAIL")]


def _unproven(eligible: Sequence[VerdictRecord], failed: Sequence[str]) -> dict[str, str]:
    """The failed checks without a proven failure, each with the cause of its verdict."""
    causes = {verdict.check_id: _cause(verdict) for verdict in eligible if verdict.check_id in failed}
    return {check_id: cause for check_id, cause in causes.items() if cause is not None}


def _cause(verdict: VerdictRecord) -> str | None:
    cause: str | None = getattr(verdict, "cause", None)
    return cause if verdict.verdict == "FAIL" else cause or "unclear"


def _reasons_of(gates: Mapping[str, Mapping[str, Value]]) -> tuple[list[str], list[str]]:
    """The checks that stop a gate, and those that leave one open."""
    failed, left_open = (
        [check_id for gate in gates.values() if gate["state"] == state for check_id in gate["reasons"]]
        for state in ("failed", "undecided")
    )
    return failed, left_open


def remove_credit(row: dict[str, object], headline: str) -> None:
    """Set the headline of an incomplete transcript's row to 0 and its status to one that is never `valid`."""
    request_adjudication(row)
    if headline in row:
        row[headline] = 0.0


def without_scores(row: Mapping[str, Value], shown: Iterable[str | None]) -> dict[str, Value]:
    """Nulls that replace the scores of a row with skipped checks: those would be means over an arbitrary subset.
    `shown` names the outputs that are averaged and counted."""
    blank: dict[str, Value] = dict.fromkeys(name for name in shown if name is not None)
    if isinstance(dimensions := row.get("dimension_scores"), dict):
        blank["dimension_scores"] = dict.fromkeys(dimensions)
    return blank


def request_adjudication(row: dict[str, Value]) -> None:
    """Set the status `needs_adjudication`, unless it is already other than `valid`."""
    if row.get("status") in ("valid", None):
        row["status"] = "needs_adjudication"


EMPTY: Final[Mapping[str, Any]] = {"evidence": (), "secondary_tags": (), "extra": {}}
UNHASHABLE: Final = frozenset(EMPTY)
_SCALARS: Final = frozenset({str, int, float, bool, type(None), UnsetType})
_FIELD_READERS: Final = frozenset({"select", "opt_select", "has"})


class VerdictKey:
    """Computes a key that is equal for verdicts that the programs can't tell apart; None if they can't be cached."""

    def __init__(self, read: Iterable[str], programs: Iterable[Program]) -> None:
        self._fields = attrgetter(*sorted(frozenset(read) - UNHASHABLE))
        self._extra = fields_of_extra(programs)
        bulky = UNHASHABLE.intersection(read)
        self._bulky = sorted(bulky if self._extra is None else bulky - {"extra"})

    def __call__(self, verdict: VerdictRecord) -> tuple[Any, ...] | None:
        for name in self._bulky:
            if getattr(verdict, name, None) != EMPTY[name]:
                return None
        key: tuple[Any, ...] = self._fields(verdict)
        if not self._extra:
            return key
        extra = getattr(verdict, "extra", None) or {}
        for name in self._extra:
            if name in extra:
                value = extra[name]
                if type(value) not in _SCALARS:
                    return None
                key = (*key, name, type(value), value)
        return key

    def of_all(self, verdicts: Sequence[VerdictRecord]) -> tuple[Any, ...] | None:
        """A key of several verdicts, in their order; None also for records that are not our own."""
        records: Sequence[Any] = verdicts
        try:
            if any(getattr(record, name) != EMPTY[name] for name in self._bulky for record in records):
                return None
            key: tuple[Any, ...] = tuple(map(self._fields, records))
            for name in self._extra or ():
                values = [record.extra.get(name, UNSET) for record in records]
                types = [*map(type, values)]
                if not _SCALARS.issuperset(types):
                    return None
                key += (*values, *types)
            hash(key)
        except (AttributeError, TypeError):
            return None
        return key


def fields_of_extra(programs: Iterable[Program]) -> list[str] | None:
    """The fields of `v.extra` that the programs read, sorted; None if they may use it, `v` or `verdicts` as a whole."""
    read: set[str] = set()
    for program in programs:
        fields = _fields_of_extra(program.nodes)
        if fields is None:
            return None
        read |= fields
    return sorted(read)


def _fields_of_extra(nodes: Sequence[Node]) -> set[str] | None:
    # `v` and `v.extra` may occur only as the operand of a field access. As any other argument, or as the result, every
    # field of them may matter; the same holds for a name that could mean `v` or something else.
    names = [(at, node.value) for at, node in enumerate(nodes) if node.op == "name"]
    if any(name.partition(".")[0] == "verdicts" for _, meant in names for name, _ in meant):
        return None
    verdicts = {at for at, meant in names if any(name.partition(".")[0] == "v" for name, _ in meant)}
    extras = {at for at, node in enumerate(nodes) if node.op == "select" and node.value == "extra"}
    whole = {at for node in nodes if node.op not in _FIELD_READERS for at in node.args} | {len(nodes) - 1}
    if whole & (verdicts | extras) or any(nodes[at].value != [["v", []]] for at in verdicts):
        return None
    return {node.value for node in nodes if node.op in _FIELD_READERS and extras.intersection(node.args)}
