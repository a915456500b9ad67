"""Proofs about gates: which checks a gate selects, that a FAIL of each of them stops it, and that no UNCLEAR passes it.

Every check is a separate case: its facts (bucket, severity, tags, its own fields) are constants, the other fields of a
verdict and the parameters are variables. A gate selects a check if `of` can hold for any verdict of it. Verdicts that
may differ have different roots: `v` is the verdict in question, `other` any verdict of its check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.expression.types import EnumType, RecordType, Type
from rulewright.lower.expressions import PARAMETER_TYPES, VERDICT_RECORD
from rulewright.lower.scorecard import verdict_type
from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.check_groups import (
    RESULT_FIELDS,
    CheckGroups,
    Facts,
    Group,
    Words,
    distinguished,
    facts_of_check,
)
from rulewright.proving.domains import Domains, Path, domain_of_parameter
from rulewright.proving.intervals import Goal
from rulewright.proving.program_parts import constant, paths_of, reading, shape, substitute, with_paths, with_values
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown
from rulewright.proving.search import Search
from rulewright_runtime.aggregate.outcome import NO_RECORD
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scorecard import GatePlan, ScorecardPlan, parameter_values
from rulewright_runtime.values import Value

OTHER: Final = "other"
HOLDS: Final = TRUE | ERROR  # an undecided condition of a gate counts as true
_NONE: Final[Group] = frozenset()
Part: TypeAlias = tuple[str, str]  # `gates`, `dimensions` or `rates`, and the name
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
        holds = cases.held(gate.of)
        of_fail, stops = _AnyHolds((gate.of,), "FAIL"), _AnyHolds((gate.stops,), "FAIL")
        of_open, of_none = _AnyHolds((gate.of,), "UNCLEAR"), _AnyHolds((gate.of,), NO_RECORD)
        not_passed = _AnyHolds((gate.stops, gate.undecided), "UNCLEAR")
        if holds:
            groups = cases.groups((gate.of, gate.stops, gate.undecided), holds)
            claims = cases.claim(groups, [of_fail, stops]), cases.claim(groups, [of_open, of_none, not_passed])
        else:
            claims = cases.could(of_fail, stops), cases.could(of_open, not_passed)
        yield GateProof(gate, cases.names(holds), *claims)


def held_by_parts(plan: ScorecardPlan, vocabulary: Vocabulary | None = None) -> Iterator[tuple[Part, frozenset[str]]]:
    """Yield the gates, dimensions and rates, each with the checks of the plan that it can select under the default
    parameters."""
    cases = _cases_of_defaults(plan, vocabulary)
    for part, of in _conditions(plan).items():
        yield part, frozenset(cases.names(cases.held(of)))


def held_with_words(
    plan: ScorecardPlan, vocabulary: Vocabulary, checks: Iterable[str], words: Mapping[str, Sequence[str]]
) -> tuple[frozenset[Part], dict[str, tuple[Part, ...]]]:
    """The parts that read some keys which checks lack; and for each of the checks, those of them that can select it if
    it has some of the `words` there, under the default parameters."""
    cases = _cases_of_defaults(plan, vocabulary)
    facts = {key: {("v",), ("v", "check"), ("v", key), ("v", "check", key)} for key in words}
    every = {fact for each in facts.values() for fact in each}
    reading = {part: of for part, of in _conditions(plan).items() if every & cases.distinguished((of,)).keys()}
    told_apart = cases.distinguished(reading.values())
    values = [_unlike(words[key], [told_apart[fact] for fact in facts[key] & told_apart.keys()]) for key in words]
    found: dict[str, tuple[Part, ...]] = {}
    for group in cases.groups(reading.values(), cases.checks.group(checks)):
        check = cases.first(group)
        could: dict[Part, None] = {}
        for each in product(*values):
            filled = facts_of_check(check, {**plan.checks[check], **dict(zip(words, each, strict=True))})
            could |= dict.fromkeys(part for part, of in reading.items() if cases.can_hold(of, filled))
        found |= dict.fromkeys(cases.names(group), tuple(could))
    return frozenset(reading), found


def _unlike(words: Iterable[str], told_apart: Collection[Words]) -> list[str]:
    """Those of the words that conditions can distinguish: those that they name, and the first other one."""
    if None in told_apart:
        return list(words)
    named = frozenset[str]().union(*(each for each in told_apart if each is not None))
    other = next((word for word in words if word not in named), None)
    return [word for word in words if word in named or word == other]


def _cases_of_defaults(plan: ScorecardPlan, vocabulary: Vocabulary | None) -> _GateCases:
    return _GateCases(plan, vocabulary or invisiblebench(), settings=parameter_values(plan.parameters, {}))


def _conditions(plan: ScorecardPlan) -> dict[Part, Program]:
    """The conditions by which the parts of a scorecard select checks."""
    parts = {("gates", gate.name): gate.of for gate in plan.gates}
    parts |= {("dimensions", each.rate.name): each.rate.of for each in plan.dimensions}
    return parts | {("rates", each.name): each.of for each in plan.rates}


class _AnyHolds(Struct, frozen=True):
    """The claim that one of the conditions holds for an eligible verdict of this name."""

    conditions: tuple[Program, ...]
    verdict: str


@dataclass(slots=True)
class _GateCases:
    """Decides claims once for each group of checks that the conditions can't distinguish; results are cached."""

    plan: ScorecardPlan
    vocabulary: Vocabulary
    settings: Mapping[str, Value] = field(default_factory=dict)  # fixed values of parameters
    domains: Domains = field(init=False)
    checks: CheckGroups = field(init=False)
    fixed: dict[int, Program] = field(default_factory=dict)  # conditions of the plan with the constants of all checks
    evaluators: dict[int, tuple[Evaluator | None, frozenset[Path]]] = field(default_factory=dict)
    cache: dict[Value, Counterexample | Unknown | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        verdict: Type = as_recorded(verdict_type(self.vocabulary))
        types = {each.name: PARAMETER_TYPES[each.type] for each in self.plan.parameters}
        parameters: Mapping[Path, Value] = {(each.name,): domain_of_parameter(each) for each in self.plan.parameters}
        self.domains = Domains({**types, "v": verdict, OTHER: verdict}, parameters)
        self.checks = CheckGroups(self.plan.checks)

    def names(self, group: Group) -> tuple[str, ...]:
        """The ids of some checks, in the order of the plan."""
        return tuple([self.checks.ids[at] for at in sorted(group)])

    def first(self, group: Group) -> str:
        """The id of the first check of a group."""
        return self.checks.ids[min(group)]

    def distinguished(self, conditions: Iterable[Program]) -> dict[Path, Words]:
        """The facts of checks that the conditions read, each with the constants that they compare it with."""
        return distinguished(map(self.with_constants, conditions))

    def groups(self, conditions: Iterable[Program], among: Group) -> list[Group]:
        """The groups of some checks that the conditions can't distinguish, in the order of the plan."""
        return self.checks.divided(among, self.distinguished(conditions))

    def held(self, of: Program) -> Group:
        """The checks of which the condition can hold for a verdict; also those of which it can't be decided."""
        groups = self.groups((of,), self.checks.every)
        return _NONE.union(*(each for each in groups if self.can_hold(of, self.facts(self.first(each)))))

    def can_hold(self, of: Program, facts: Facts) -> bool:
        """Whether the condition can hold for a verdict of a check; True also if it can't be decided."""
        return self.find([self.about(of, facts, OTHER)], [(0, HOLDS)]) is not None

    def claim(self, groups: Iterable[Group], claims: Sequence[_AnyHolds]) -> GateClaim:
        """The result of the claims for all checks of the groups."""
        of = claims[0].conditions[0]
        failed = [(group, *found) for group in groups if (found := self.refuted(of, self.first(group), claims))]
        if not failed:
            return GateClaim(Proved())
        group, result, to_blame = next((each for each in failed if isinstance(each[1], Refuted)), failed[0])
        return GateClaim(result, self.first(group), sum(len(each[0]) for each in failed) - 1, to_blame)

    def facts(self, check: str) -> Facts:
        """The facts of a check of the plan."""
        return facts_of_check(check, self.plan.checks[check])

    def could(self, of: _AnyHolds, claim: _AnyHolds) -> GateClaim:
        """Whether one of the conditions can hold for some verdict of some check that the gate selects."""
        selected = self.about(of.conditions[0], {}, "v", of.verdict)
        if self.find([selected], [(0, HOLDS)]) is None:
            return GateClaim(Refuted(), of_is_to_blame=True)
        parts = [self.about(part, {}, "v", claim.verdict) for part in claim.conditions]
        possible = any(self.find([selected, part], [(0, HOLDS), (1, HOLDS)]) is not None for part in parts)
        return GateClaim(Proved() if possible else Refuted())

    def refuted(self, of: Program, check: str, claims: Sequence[_AnyHolds]) -> tuple[Result, bool] | None:
        unknown: tuple[Result, bool] | None = None
        facts = self.facts(check)
        for each in claims:
            selected = self.about(of, facts, OTHER)
            programs = [selected, *(self.about(part, facts, "v", each.verdict) for part in each.conditions)]
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

    def about(self, condition: Program, facts: Facts, root: str, verdict: str | None = None) -> Program:
        """The condition for a verdict of a check with these facts, whose result is read from `root`; for an eligible
        one if `verdict` is its name."""
        if (result := self.decided(condition, facts)) is not None:
            return constant(result)
        values = dict(facts)
        if verdict is not None:
            values |= {("v", "eligible"): True, ("v", "verdict"): verdict}
        known = with_values(self.with_constants(condition), values)
        return with_paths(known, {("v", name): reading((root, name)) for name in RESULT_FIELDS})

    def with_constants(self, condition: Program) -> Program:
        """A condition of the plan with the settings and the scoring file as constants."""
        if id(condition) not in self.fixed:
            scoring = {"scoring": self.plan.scoring} if self.plan.scoring else {}
            self.fixed[id(condition)] = substitute(condition, {**self.settings, **scoring})
        return self.fixed[id(condition)]

    def decided(self, condition: Program, facts: Facts) -> bool | None:
        """The result of a condition that reads nothing but these facts; None for any other, and if it has none."""
        if id(condition) not in self.evaluators:
            self.evaluators[id(condition)] = _of_facts(self.with_constants(condition))
        evaluate, reads = self.evaluators[id(condition)]
        if evaluate is None or not reads <= facts.keys():
            return None
        bits = bits_of(evaluate, {"v": {name: value for (_, name), value in facts.items()}})
        return None if bits == ERROR else bits == TRUE


def _of_facts(condition: Program) -> tuple[Evaluator | None, frozenset[Path]]:
    """The evaluator of a condition with the facts that it reads; None if it reads anything else."""
    paths = paths_of(condition)
    if paths is None or any(len(path) == 1 or path[0] != "v" or path[1] in RESULT_FIELDS for path in paths):
        return None, frozenset()
    return prepare(condition), frozenset([path[:2] for path in paths])
