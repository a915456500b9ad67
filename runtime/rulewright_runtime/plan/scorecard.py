"""The scoring policy of a plan: its parameters, and how verdicts become gates, rates, flags and scores.

`rulewright_runtime.aggregate.aggregation` executes it.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart, Verdict
from rulewright_runtime.score import exact_pair, parse_score, score_of


class Parameter(PlanPart, frozen=True):
    """A declared setting. Scores are written as decimal text, so that they stay exact; `minimum` and
    `maximum` are inclusive."""

    name: str
    type: Literal["score", "number", "integer", "bool", "string"]
    default: str | bool | int | float
    minimum: int | float | None = None
    maximum: int | float | None = None


_KINDS: Final = {
    "score": "a score from 0 to 1",
    "number": "a number",
    "integer": "an integer",
    "bool": "true or false",
    "string": "a text",
}


def parameter_values(declared: Sequence[Parameter], overrides: Mapping[str, object]) -> dict[str, object]:
    """The value of every declared parameter: its override, else its default. PlanError for a bad name or value."""
    names = [parameter.name for parameter in declared]
    for name in overrides:
        if name not in names:
            raise PlanError(f"unknown parameter `{name}`; {declared_parameters(names)}")
    return {parameter.name: parameter_value(parameter, overrides.get(parameter.name)) for parameter in declared}


def declared_parameters(names: Sequence[str]) -> str:
    """A clause of a message about an unknown parameter: which ones there are."""
    return f"the scorecard declares {ticked(names)}" if names else "the scorecard declares none under `parameters`"


def parameter_value(parameter: Parameter, override: Any = None) -> Any:
    """`override` (None: the default) as a value of the parameter's type. PlanError for an invalid value."""
    value = parameter.default if override is None else override
    if parameter.type not in _KINDS:
        raise PlanError(f"parameter `{parameter.name}` has the unknown type `{parameter.type}`")
    try:
        result = _as_type(parameter.type, value)
    except (EvaluationError, ValueError, TypeError):
        is_quoted = parameter.type == "bool" and value in ("true", "false")
        found = f'the text `"{value}"`; write it without quotes' if is_quoted else f"`{value}`"
        raise PlanError(f"parameter `{parameter.name}` must be {_KINDS[parameter.type]}, found {found}") from None
    bounds = (parameter.minimum, parameter.maximum)
    if parameter.type in ("bool", "string") and bounds != (None, None):
        raise PlanError(f"parameter `{parameter.name}` is {_KINDS[parameter.type]} and can't have `min` or `max`")
    if parameter.minimum is not None and result < parameter.minimum:
        raise PlanError(f"parameter `{parameter.name}` must be at least {parameter.minimum}, found `{value}`")
    if parameter.maximum is not None and result > parameter.maximum:
        raise PlanError(f"parameter `{parameter.name}` must be at most {parameter.maximum}, found `{value}`")
    return result


def _as_type(kind: str, value: Any) -> Any:
    if isinstance(value, bool) is not (kind == "bool"):
        raise TypeError
    if kind == "score":
        return score_of(Fraction(*exact_pair(parse_score(value))) if isinstance(value, str) else value)
    if kind == "number":
        number = float(value)
        if number - number != 0:
            raise ValueError
        return number
    if not isinstance(value, _PLAIN_TYPES[kind]):
        raise TypeError
    return value


_PLAIN_TYPES: Final[dict[str, type]] = {"bool": bool, "integer": int, "string": str}
HEADLINE: Final = "overall_score"
LABEL: Final = "status"
Emptiness = Literal["passed", "undecided"]


class GatePlan(PlanPart, frozen=True):
    """A gate over the verdicts for which `of` holds; only eligible ones can stop it or leave it undecided.

    `not_eligible` is the gate's result if it has checks but none is eligible, `not_run` if no record belongs to it. A
    check of the gate that applies but that the profile does not run leaves the gate `open`, or the gate may `ignore`
    it (`left_out`). `pass_rate` reads the parameters and `scoring`: the least share of the transcripts to which the
    gate applies that must pass it for the run to pass it; unset, all must.
    """

    name: str
    of: Program
    stops: Program
    undecided: Program
    not_eligible: Emptiness
    not_run: Emptiness
    left_out: Literal["open", "ignore"] = "open"
    pass_rate: Program | UnsetType = UNSET  # not null, so that a plan without it keeps its hash


class RatePlan(PlanPart, frozen=True):
    """A structured aggregate over the eligible verdicts for which `of` holds.

    `kind` is `rate` (hits / (hits + misses)) or `every` (1 without a miss, else 0). Every verdict is in exactly one of
    `hit`, `miss` and `exclude`. A verdict for which `of` is undecided, or that is not among the four, counts as a miss;
    with `error: adjudicate` it also requires adjudication. `empty` is the value of an empty denominator: None (absent)
    or a score as decimal text. `credit` is the score in [0, 1] of a hit or a miss, in place of 1 and 0; without a value
    it counts 0 and is an error as above.
    """

    name: str
    kind: Literal["rate", "every"]
    of: Program
    hit: tuple[Verdict, ...]
    miss: tuple[Verdict, ...]
    exclude: tuple[Verdict, ...]
    error: Literal["adjudicate", "miss"]
    empty: str | None
    credit: Program | None = None


class DimensionPlan(PlanPart, frozen=True):
    """A rate that is part of the quality score, with its weight as decimal text."""

    rate: RatePlan
    weight: str


class CountPlan(PlanPart, frozen=True):
    """The number of verdicts that meet a condition; one for which it is undecided counts."""

    name: str
    of: Program


class ListPlan(PlanPart, frozen=True):
    """The verdicts that meet a condition, or for which it is undecided, each as a record of `each`."""

    name: str
    of: Program
    each: tuple[tuple[str, Program], ...]


class FlagsPlan(PlanPart, frozen=True):
    """Failure flags: each label with its check; an eligible verdict raises or clears the flag or leaves it unknown."""

    labels: tuple[tuple[str, str], ...]
    raised: tuple[Verdict, ...]
    clear: tuple[Verdict, ...]
    unknown: tuple[Verdict, ...]


class NamedProgram(PlanPart, frozen=True):
    """A variable or an output field. `guards` marks a condition that is true if it raises an error."""

    name: str
    value: Program
    guards: bool = False


class ScorecardPlan(PlanPart, frozen=True):
    """One scorecard, ready to run. Programs over one verdict read `v`, the parameters and `scoring`; variables and
    output fields also read `gates`, `undecided`, `dimensions`, `weights`, `rates`, `counts`, `lists`, `flags`,
    `verdicts` and earlier variables.

    `minimum_coverage` reads the parameters and `scoring`; None means the language's default
    (`outcome.MINIMUM_COVERAGE`). `unproven` is the effect of an unproven failure on the status. `checks` maps each
    check of the plan to `primary_bucket`, `severity` and the fields that programs read through `v.check`. `scoring` is
    the project's scoring file. `headline` names the output that is averaged and ranked, `label` the one whose words are
    counted.
    """

    name: str
    checks: dict[str, dict[str, Any]]
    scoring: dict[str, Any]
    parameters: tuple[Parameter, ...]
    gates: tuple[GatePlan, ...]
    dimensions: tuple[DimensionPlan, ...]
    rates: tuple[RatePlan, ...]
    counts: tuple[CountPlan, ...]
    lists: tuple[ListPlan, ...]
    flags: FlagsPlan
    variables: tuple[NamedProgram, ...]
    output: tuple[NamedProgram, ...]
    minimum_coverage: Program | None = None
    unproven: Literal["adjudicate", "keep"] = "adjudicate"
    headline: str = HEADLINE
    label: str = LABEL

    @property
    def shown(self) -> tuple[str | None, str | None]:
        """The names of the headline and the label; None for one that is not an output."""
        names = {part.name for part in self.output}
        return (self.headline if self.headline in names else None, self.label if self.label in names else None)

    def declared(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the values whose parameters the scorecard declares."""
        names = {parameter.name for parameter in self.parameters}
        return {name: value for name, value in values.items() if name in names}


def mentioned(programs: Iterable[Program]) -> set[str]:
    """Every name and field that the programs may read: a superset, found without running them."""
    names: set[str] = set()
    for program in programs:
        for node in program.nodes:
            _gather(node.value, names)
    return names


def _gather(value: object, names: set[str]) -> None:
    if isinstance(value, str):
        names.update(value.split("."))
    elif isinstance(value, (list, tuple)):
        for item in value:
            _gather(item, names)
