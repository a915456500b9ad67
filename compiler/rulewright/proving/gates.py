"""Proofs about gates: which checks a gate selects, that a FAIL of each of them stops it, and that no UNCLEAR passes it.

Every check is a separate case: its facts (bucket, severity, tags, its own fields) are constants, the other fields of a
verdict and the parameters are variables. A gate selects a check if `of` can hold for any verdict of it. Verdicts that
may differ have different roots: `v` is the verdict in question, `other` any verdict of its check.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.expression.types import EnumType, RecordType, Type
from rulewright.lower.expressions import PARAMETER_TYPES, VERDICT_RECORD
from rulewright.lower.scorecard import verdict_type
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domains, Path, domain_of_parameter
from rulewright.proving.intervals import Goal
from rulewright.proving.program_parts import reading, shape, substitute, with_paths, with_values
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown
from rulewright.proving.search import Search
from rulewright_runtime.aggregate.outcome import NO_RECORD
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scorecard import GatePlan, ScorecardPlan, parameter_values
from rulewright_runtime.values import Value

# The fields of a verdict that don't identify its check.
RESULT_FIELDS: Final = frozenset(
    {
        "eligible", "verdict", "confidence", "evidence", "scorer_version", "prompt_hash", "rationale_code",
        "adjudication_required", "extra",
    }
)  # fmt: skip
OTHER: Final = "other"
HOLDS: Final = TRUE | ERROR  # an undecided condition of a gate counts as true
ANY_CHECK: Final = ""  # any possible check, for a scorecard without a project


def as_recorded(verdict: RecordType) -> RecordType:
    """The type of a verdict with the additional values of a record: the verdict `NO_RECORD` of a check without a
    required record, and the empty text for a missing bucket or severity. Authors can write neither."""
    additional = {"verdict": NO_RECORD, "primary_bucket": "", "severity": ""}
    fields = dict(verdict.fields)
    for name, word in additional.items():
        type_ = fields[name]
        if isinstance(type_, EnumType):
            fields[name] = EnumType(type_.name, (*type_.members, word))
    return replace(verdict, fields=fields)


def as_seen(variables: Mapping[str, Type]) -> Mapping[str, Type]:
    """The variables with verdicts as they are recorded."""
    return {
        name: as_recorded(type_) if isinstance(type_, RecordType) and type_.name == VERDICT_RECORD else type_
        for name, type_ in variables.items()
    }


class GateClaim(Struct, frozen=True):
    """The result for one claim: the first check for which it is refuted or unknown, and the number of `others`.

    `of_is_to_blame` is set if `of` doesn't select the check with this verdict; else another condition fails.
    """

    result: Result
    check: str = ANY_CHECK
    others: int = 0
    of_is_to_blame: bool = False


class GateProof(Struct, frozen=True):
    """A gate, the checks it can select, and the claims that each can stop it and that none passes it undecided."""

    gate: GatePlan
    holds: tuple[str, ...]
    stops: GateClaim
    stays_open: GateClaim


def prove_gates(plan: ScorecardPlan, vocabulary: Vocabulary | None = None) -> Iterator[GateProof]:
    """Yield the proofs about every gate of a lowered scorecard, for the checks in its plan.

    For a gate that can select none of them, as in a scorecard without a project, the claims are that some FAIL of some
    check can stop it, and that some UNCLEAR can keep it open.
    """
    cases = _GateCases(plan, vocabulary or invisiblebench())
    for gate in plan.gates:
        holds = tuple([check for check in plan.checks if cases.can_hold(gate.of, check)])
        of_fail, stops = _AnyHolds((gate.of,), "FAIL"), _AnyHolds((gate.stops,), "FAIL")
        of_open, of_none = _AnyHolds((gate.of,), "UNCLEAR"), _AnyHolds((gate.of,), NO_RECORD)
        not_passed = _AnyHolds((gate.stops, gate.undecided), "UNCLEAR")
        if holds:
            claims = cases.claim(holds, [of_fail, stops]), cases.claim(holds, [of_open, of_none, not_passed])
        else:
            claims = cases.could(of_fail, stops), cases.could(of_open, not_passed)
        yield GateProof(gate, holds, *claims)


def held_by_parts(
    plan: ScorecardPlan, vocabulary: Vocabulary | None = None
) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
    """Yield the gates, dimensions and rates (`gates`, `dimensions` or `rates`, and the name), each with the checks of
    the plan that it can select under the default parameters."""
    cases = _GateCases(plan, vocabulary or invisiblebench(), settings=parameter_values(plan.parameters, {}))
    parts = [("gates", gate.name, gate.of) for gate in plan.gates]
    parts += [("dimensions", each.rate.name, each.rate.of) for each in plan.dimensions]
    parts += [("rates", each.name, each.of) for each in plan.rates]
    for kind, name, of in parts:
        yield (kind, name), frozenset([check for check in plan.checks if cases.can_hold(of, check)])


class _AnyHolds(Struct, frozen=True):
    """The claim that one of the conditions holds for an eligible verdict of this name."""

    conditions: tuple[Program, ...]
    verdict: str


@dataclass(slots=True)
class _GateCases:
    """Decides claims for every check; results are cached for checks that the conditions can't distinguish."""

    plan: ScorecardPlan
    vocabulary: Vocabulary
    settings: Mapping[str, Value] = field(default_factory=dict)  # fixed values of parameters
    domains: Domains = field(init=False)
    cache: dict[Value, Counterexample | Unknown | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        verdict: Type = as_recorded(verdict_type(self.vocabulary))
        types = {each.name: PARAMETER_TYPES[each.type] for each in self.plan.parameters}
        parameters: Mapping[Path, Value] = {(each.name,): domain_of_parameter(each) for each in self.plan.parameters}
        self.domains = Domains({**types, "v": verdict, OTHER: verdict}, parameters)

    def can_hold(self, of: Program, check: str) -> bool:
        """Whether the condition can hold for a verdict of the check; True also if it can't be decided."""
        return self.find([self.about(of, check, OTHER)], [(0, HOLDS)]) is not None

    def claim(self, holds: Sequence[str], claims: Sequence[_AnyHolds]) -> GateClaim:
        """The result of the claims for all the given checks."""
        of = claims[0].conditions[0]
        failures = [(check, *refuted) for check in holds if (refuted := self.refuted(of, check, claims)) is not None]
        if not failures:
            return GateClaim(Proved())
        check, result, to_blame = next((each for each in failures if isinstance(each[1], Refuted)), failures[0])
        return GateClaim(result, check, len(failures) - 1, to_blame)

    def could(self, of: _AnyHolds, claim: _AnyHolds) -> GateClaim:
        """Whether one of the conditions can hold for some verdict of some check that the gate selects."""
        selected = self.about(of.conditions[0], ANY_CHECK, "v", of.verdict)
        if self.find([selected], [(0, HOLDS)]) is None:
            return GateClaim(Refuted(), of_is_to_blame=True)
        parts = [self.about(part, ANY_CHECK, "v", claim.verdict) for part in claim.conditions]
        possible = any(self.find([selected, part], [(0, HOLDS), (1, HOLDS)]) is not None for part in parts)
        return GateClaim(Proved() if possible else Refuted())

    def refuted(self, of: Program, check: str, claims: Sequence[_AnyHolds]) -> tuple[Result, bool] | None:
        unknown: tuple[Result, bool] | None = None
        for each in claims:
            selected = self.about(of, check, OTHER)
            programs = [selected, *(self.about(part, check, "v", each.verdict) for part in each.conditions)]
            match self.find(programs, [(0, HOLDS), *((at, FALSE) for at in range(1, len(programs)))]):
                case Counterexample() as witness:
                    own = [pair for pair in witness.values if not pair[0].startswith(f"{OTHER}.")]
                    return Refuted(Counterexample(tuple(own), witness.bindings)), each.conditions == (of,)
                case Unknown() as undecided:
                    unknown = unknown or (undecided, each.conditions == (of,))
        return unknown

    def find(self, programs: list[Program], goal: Goal) -> Counterexample | Unknown | None:
        key = tuple([shape(program) for program in programs]), tuple(goal)
        if key not in self.cache:
            self.cache[key] = Search(programs, self.domains).find(goal)
        return self.cache[key]

    def about(self, condition: Program, check: str, root: str, verdict: str | None = None) -> Program:
        """The condition for a verdict of the check, whose result is read from `root`; for an eligible one if `verdict`
        is its name."""
        values: dict[Path, Value] = {}
        if check != ANY_CHECK:
            facts = self.plan.checks[check]
            values = {("v", "check_id"): check, ("v", "mode_id"): check, ("v", "check"): facts}
            values |= {("v", name): facts[name] for name in ("primary_bucket", "severity") if name in facts}
            values[("v", "secondary_tags")] = facts.get("secondary_tags", [])
        if verdict is not None:
            values |= {("v", "eligible"): True, ("v", "verdict"): verdict}
        constants = {**self.settings, **({"scoring": self.plan.scoring} if self.plan.scoring else {})}
        fixed = substitute(with_values(condition, values), constants)
        return with_paths(fixed, {("v", name): reading((root, name)) for name in RESULT_FIELDS})
