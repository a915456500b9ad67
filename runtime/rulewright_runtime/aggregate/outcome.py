"""The outcome of a transcript: passed, failed or undecided, from the engine's own gate results and verdicts.

Exit codes and reports read the outcome, never what a scorecard's author outputs: an output may leave out its gates,
rename them or make them constant, and the outcome stays. Gates decide where one of them holds a check. Without such a
gate every check decides: a FAIL fails, and what is neither PASS nor NOT_APPLICABLE leaves the transcript undecided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rulewright_runtime.verdicts import VerdictRecord

MINIMUM_COVERAGE: Final = Score(4, 5)  # seed 004: a row with a smaller share of resolved checks is not valid
ENGINE: Final = "engine"
NO_RECORD: Final = "NO_RECORD"  # stands for the verdict of a check that owes one
RESERVED: Final = frozenset({"transcript_id", "scenario_id", "model", ENGINE, "undecided", "left_out", "missing"})

# `nothing_applied`: no check applied to the transcript. That is not a failure, but a run of nothing else is undecided.
Outcome = Literal["passed", "failed", "undecided", "nothing_applied"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
# What a gate answers for one transcript; `not_run`: none of its checks left a verdict.
GateState = Literal["passed", "failed", "undecided", "not_run"]
GATE_STATES: Final[tuple[GateState, ...]] = get_args(GateState)
_CLEAR: Final = frozenset({"PASS", "NOT_APPLICABLE"})


def engine_results(
    verdicts: Sequence[VerdictRecord],
    gates: Mapping[str, Mapping[str, Value]] | None = None,
    minimum_coverage: Score = MINIMUM_COVERAGE,
    *,
    undecided: bool = False,
) -> dict[str, Value]:
    """What the engine says of one transcript, for the key `engine` of its row: `outcome`, `decided_by` (`gates` or
    `checks`), `because` (the checks that made it fail or left it undecided), `unproven` (those of them that failed
    without anybody having found a failure, with the cause), `gates` and `coverage`.

    `gates` are the results of gates by name, `{state, reasons}` each; None where no gate holds a check. `undecided`
    says that some condition of the scorecard could not be decided or that the transcript is incomplete. `coverage` is
    the share of PASS and FAIL among the verdicts of checks that applied, null where none did.
    """
    eligible = [verdict for verdict in verdicts if verdict.eligible is not False]
    resolved = sum(verdict.verdict in ("PASS", "FAIL") for verdict in eligible)
    coverage = Score(resolved, len(eligible)) if eligible else None
    failed, left_open = _reasons(eligible) if gates is None else _reasons_of(gates)
    outcome: Outcome = "passed"
    if failed:
        outcome = "failed"
    elif left_open or undecided or (coverage is not None and coverage < minimum_coverage):
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
        "coverage": None if coverage is None else leave(coverage),
    }


def _reasons(eligible: Sequence[VerdictRecord]) -> tuple[list[str], list[str]]:
    """The checks that fail and those that leave the transcript undecided, where every check decides."""
    failed = [verdict.check_id for verdict in eligible if verdict.verdict == "FAIL"]
    return failed, [verdict.check_id for verdict in eligible if verdict.verdict not in (*_CLEAR, "FAIL")]


def _unproven(eligible: Sequence[VerdictRecord], failed: Sequence[str]) -> dict[str, str]:
    """The checks that failed although no FAIL was found, each with the cause of its verdict."""
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


def take_credit(row: dict[str, object], headline: str) -> None:
    """What the row of an incomplete transcript may say: no score, and never that it is valid."""
    ask_for_adjudication(row)
    if headline in row:
        row[headline] = 0.0


def without_scores(row: Mapping[str, Value], shown: Iterable[str | None]) -> dict[str, Value]:
    """What takes the place of scores where checks were skipped: they would be means of what was asked by chance.
    `shown` names the outputs that are averaged and counted."""
    blank: dict[str, Value] = dict.fromkeys(name for name in shown if name is not None)
    if isinstance(dimensions := row.get("dimension_scores"), dict):
        blank["dimension_scores"] = dict.fromkeys(dimensions)
    return blank


def ask_for_adjudication(row: dict[str, Value]) -> None:
    """A person has to look at the row, unless its status says already that it is not valid."""
    if row.get("status") in ("valid", None):
        row["status"] = "needs_adjudication"
