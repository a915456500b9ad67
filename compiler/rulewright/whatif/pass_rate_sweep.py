"""A sweep of a pass rate: the exact rates at which the result of a gate over a finished run changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.stored_run import StoredRun
from rulewright.whatif.rescoring import ScoringPolicy, rescored
from rulewright.whatif.sweep import changes, literals_of, range_of, swept
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.plan.scorecard import ScorecardPlan, mentioned
from rulewright_runtime.report.gathered import Unresolved, gate_result
from rulewright_runtime.strict_json import JsonMapping, JsonObject

_BESIDE: Final = Fraction(1, 1 << 30)


def is_pass_rate(card: ScorecardPlan, name: str) -> bool:
    """Whether a parameter is read by the pass rate of a gate."""
    return name in mentioned(programs_of(tuple([gate.pass_rate for gate in card.gates])))


def sweep_pass_rate(run: StoredRun, policy: ScoringPolicy, name: str) -> list[JsonObject]:
    """Return the breakpoints as `sweep` does; no transcript changes, but `gates` do: a mapping of names to
    `{before, after}`. An exact value is also a `fraction`. Raises UsageError for a parameter that is not a number with
    bounds, or that other conditions read as well.
    """
    parameter, card = swept(policy.card.parameters, name), policy.prepared()
    low, high = range_of(parameter)
    gates = [replace(gate, pass_rate=UNSET) for gate in policy.card.gates]
    if name in mentioned(programs_of(replace(policy.card, gates=tuple(gates)))):
        raise UsageError(f"`{name}` is a pass rate and read by other conditions too: try its values with `--set`")
    found, refused = Unresolved(), run.summary["refused"]["count"]
    for row in rescored(run, card).values():
        found.add(row)

    def results(value: Fraction) -> dict[str, str]:
        try:
            rates = card.having({name: value if parameter.type == "score" else float(value)}).pass_rates
        except PlanError:  # a rate of 0, for example
            return {}
        for gate in found.gates.keys() & rates.keys():
            found.gates[gate].pass_rate = rates[gate]
        rated = found.result(refused)["gates"]
        return {gate: gate_result(each) for gate, each in rated.items() if gate in rates}

    shares = {*_shares(found.result(refused)["gates"].values()), *literals_of(programs_of(policy.card.gates))}
    points = sorted({low, high, *(share for share in shares if low < share < high)})
    return [each for change in changes(points, results) for each in _breakpoint(*change, results)]


def _shares(gates: Iterable[JsonMapping]) -> Iterator[Fraction]:
    """Yield the least and the greatest share of transcripts that may pass each gate, of the run and of each model."""
    rates = [gate["pass_rate"] for gate in gates if "pass_rate" in gate]
    for each in (part for rate in rates for part in (rate, *rate["models"].values())):
        if of := each["passed"] + each["failed"] + each["open"]:
            yield from (Fraction(each["passed"], of), Fraction(each["passed"] + each["open"], of))


def _breakpoint(
    value: Fraction, side: str, is_exact: bool, results: Callable[[Fraction], Mapping[str, str]]
) -> Iterator[JsonObject]:
    before, after = (results(value + _BESIDE * beside) for beside in ((-1, 0) if side == "at" else (0, 1)))
    gates = {
        gate: {"before": before[gate], "after": result}
        for gate, result in after.items()
        if before.get(gate, result) != result
    }
    if gates:
        about = {"at": float(value), "exact": is_exact, "side": side, "transcripts": []}
        yield {**about, **({"fraction": str(value)} if is_exact else {}), "gates": gates}
