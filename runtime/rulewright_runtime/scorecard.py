"""Scorecards: how the verdicts of one transcript become gates, dimension scores, an overall score and a status.

The policy is data (`ScorecardPlan`, a part of the plan); this module only carries it out. Nothing fails open: a verdict
about which a condition can't be decided stops or leaves open the gate it belongs to, counts as a miss in its dimension
and asks for adjudication.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from rulewright_runtime.ir import Program  # noqa: TC001 - msgspec reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

VERDICTS: Final = ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE")


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A declared setting of a scorecard; `type` is `score`, `number`, `integer`, `bool` or `string`.

    Scores are written as decimal text, so that they stay exact. `minimum` and `maximum` are inclusive.
    """

    name: str
    type: str
    default: str | bool | int | float
    minimum: str | int | float | None = None
    maximum: str | int | float | None = None


class GatePlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A gate over the verdicts for which `of` holds; only eligible ones can stop it or leave it undecided.

    `not_eligible` says what the gate answers when it has checks but none is eligible, `not_run` when no record belongs
    to it at all: `passed` or `undecided`.
    """

    name: str
    of: Program
    stops: Program
    undecided: Program
    not_eligible: str
    not_run: str


class DimensionPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A structured aggregate over the eligible verdicts for which `of` holds.

    `kind` is `rate` (hits / (hits + misses)) or `every` (1 without a miss, else 0). Every verdict is in exactly one of
    `hit`, `miss` and `exclude`. `error` says what a verdict about which `of` can't be decided means: `adjudicate` or
    `miss`; either way it counts as a miss. `empty` is the value of an empty denominator: None (absent) or a score.
    """

    name: str
    kind: str
    of: Program
    hit: tuple[str, ...]
    miss: tuple[str, ...]
    exclude: tuple[str, ...]
    error: str
    empty: str | None
    weight: str = "1"


class CountPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many verdicts meet a condition; one about which it can't be decided counts."""

    name: str
    of: Program


class ListPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The verdicts that meet a condition (or about which it can't be decided), each as a record of `fields`."""

    name: str
    of: Program
    fields: tuple[tuple[str, Program], ...]


class NamedProgram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable or an output. `guards` marks a condition that an error makes true."""

    name: str
    value: Program
    guards: bool = False


class ScorecardPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scorecard, ready to carry out. Programs over one verdict see `v`, the parameters and `scoring`; variables and
    outputs also see `verdicts`, `gates`, `dimensions`, `weights`, `counts`, `lists`, `flags` and earlier variables.

    `checks` holds, for each check of the plan, `primary_bucket`, `severity` and the fields the programs read through
    `v.check`. `flags` maps a blindspot label to its check. `scoring` is the project's scoring file.
    """

    name: str
    checks: dict[str, dict[str, Any]]
    scoring: Any
    parameters: tuple[Parameter, ...]
    gates: tuple[GatePlan, ...]
    dimensions: tuple[DimensionPlan, ...]
    counts: tuple[CountPlan, ...]
    lists: tuple[ListPlan, ...]
    flags: dict[str, str]
    variables: tuple[NamedProgram, ...]
    output: tuple[NamedProgram, ...]


class Verdict(Protocol):
    """What the aggregation reads of a verdict record; further fields are read only when a scorecard names them."""

    @property
    def mode_id(self) -> str:
        """The check that gave the verdict."""

    @property
    def eligible(self) -> bool:
        """Whether the check applied."""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""

    @property
    def severity(self) -> str:
        """S1 to S5, or S4_GATE."""

    @property
    def primary_bucket(self) -> str:
        """The letter of the dimension."""


class Scorecard:
    """A prepared scorecard: build it once for a plan, then call `aggregate` for every transcript."""

    def __init__(self, plan: ScorecardPlan, parameters: Mapping[str, Any] | None = None) -> None:
        """Prepare every program. `parameters` replaces defaults; a bad name or value raises `PlanError`."""
        raise NotImplementedError

    def aggregate(self, verdicts: Sequence[Verdict], expected: Iterable[str] | None = None) -> dict[str, Any]:
        """The output fields of the scorecard for one transcript, in its order and ready for JSON.

        `expected` names the checks that owe a record (those of the plan that were not suppressed); one without a record
        counts as eligible and UNCLEAR. Scores leave rounded once, as doubles. A row in which something could not be
        decided carries the list `undecided`: `{place, code, message}`.
        """
        raise NotImplementedError


def blindspot_rates(profiles: Iterable[Mapping[str, bool | None]]) -> dict[str, float | None]:
    """For each label the share of failures among the transcripts that have a value; None where none has one."""
    raise NotImplementedError
