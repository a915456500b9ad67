"""Polarity: the meaning of an undecided condition by its purpose, so that nothing fails open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.values import Value, cel_type_name


class Polarity(StrEnum):
    """The purpose of a condition, which decides the meaning of an absent value or an error in it."""

    PERMITTING = "permitting"  # exit, advance, pass, adaptive stop: not met
    GUARDING = "guarding"  # hard fail, stop a gate, escalate, eligible, require sign-off: met
    EXEMPTING = "exempting"  # suppress, skip, exempt: does not suppress
    TABLE = "table"  # a decision table: ends with `error`; later rows are never reached


class Decision(msgspec.Struct, frozen=True):
    """Whether a condition holds; `undecided` is the reason if it could not be decided, else None.

    For TABLE an undecided condition does not hold, and the caller must end the table on `undecided`.
    """

    holds: bool
    undecided: str | None = None


UNDECIDED_HOLDS: Final[Mapping[Polarity, bool]] = {
    Polarity.PERMITTING: False,
    Polarity.GUARDING: True,
    Polarity.EXEMPTING: False,
    Polarity.TABLE: False,
}
_HOLDS: Final = Decision(True)
_FAILS: Final = Decision(False)


def condition(program: Program, polarity: Polarity) -> Callable[[Mapping[str, Value]], Decision]:
    """A function from bindings to the Decision of `program`; it never raises EvaluationError.

    A value that is not a bool (null, an optional, a number) is undecided, like an absent one.
    """
    evaluate = prepare(program)
    holds = UNDECIDED_HOLDS[Polarity(polarity)]

    def decide(bindings: Mapping[str, Value]) -> Decision:
        try:
            value = evaluate(bindings)
        except EvaluationError as why:
            return Decision(holds, f"{why.code}: {why}")
        if value is True:
            return _HOLDS
        if value is False:
            return _FAILS
        return Decision(holds, f"no_such_overload: a condition must be a bool, found {cel_type_name(value)}")

    return decide


def boolean(program: Program, polarity: Polarity) -> Callable[[Mapping[str, object]], bool]:
    """As `condition`, without the reason. Raises ValueError for TABLE, which needs the reason."""
    if polarity == Polarity.TABLE:
        raise ValueError("a decision table needs the reason")
    decide = condition(program, polarity)
    return lambda bindings: decide(bindings).holds
