"""Polarity: what a condition that can't be decided means at each kind of place, so that nothing fails open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rulewright_runtime.evaluate import prepare
from rulewright_runtime.ir import Program


class Place(StrEnum):
    """Where a condition stands, and so what an absent value or an error in it means."""

    PERMITTING = "permitting"  # exit, advance, pass, adaptive stop: not met
    GUARDING = "guarding"  # hard fail, stop a gate, escalate, eligible, require sign-off: met
    EXEMPTING = "exempting"  # suppress, skip, exempt: does not suppress
    TABLE = "table"  # a decision table: ends with `error`; later rows are never reached


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a condition holds; `undecided` is the reason when it could not be decided, else None.

    At a TABLE place a condition that can't be decided does not hold, and the caller must end the table on `undecided`.
    """

    holds: bool
    undecided: str | None = None


def condition(program: Program, place: Place) -> Callable[[Mapping[str, Any]], Decision]:
    """The condition `program` at `place`: bindings in, Decision out; it never raises EvaluationError."""
    evaluate = prepare(program)

    def decide(bindings: Mapping[str, Any]) -> Decision:
        return Decision(bool(evaluate(bindings)))

    return decide


def boolean(program: Program, place: Place) -> Callable[[Mapping[str, Any]], bool]:
    """As `condition`, without the reason: the fast form for places that need none. TABLE places have no such form."""
    return lambda bindings: condition(program, place)(bindings).holds
