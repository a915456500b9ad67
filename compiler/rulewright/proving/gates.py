"""Proofs about gates: which checks a gate holds, that a FAIL of each of them stops it, and that no UNCLEAR passes it.

Every check is a case of its own: its facts (bucket, severity, tags, its own fields) are constants, what else a verdict
holds may be anything, and so may the parameters. A gate holds a check when `of` can hold for any verdict of it.
Verdicts that may differ are told apart by their root: `v` is the verdict in question, `other` any one of its check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.expression.types import Type
from rulewright.lower.scorecard import TYPES, verdict_type
from rulewright.proving.atoms import ERROR, FALSE, TRUE, extract, path_at, shape
from rulewright.proving.domains import Domains, Path, domain_of_parameter
from rulewright.proving.intervals import Goal
from rulewright.proving.recorded import as_recorded
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown
from rulewright.proving.search import Search
from rulewright.proving.substitution import substitute, with_values
from rulewright_runtime.aggregate.outcome import NO_RECORD
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.plan.parameters import parameter_values
from rulewright_runtime.plan.scorecard import GatePlan, ScorecardPlan
from rulewright_runtime.values import Value

# What a verdict says apart from whose it is.
SAID: Final = frozenset(
    {
        "eligible", "verdict", "confidence", "evidence", "scorer_version", "prompt_hash", "rationale_code",
        "adjudication_required", "extra",
    }
)  # fmt: skip
OTHER: Final = "other"
HOLDS: Final = TRUE | ERROR  # a condition that can't be decided guards
ANY_CHECK: Final = ""  # stands for every check that could be, where no project says which there are


@dataclass(frozen=True, slots=True)
class GateClaim:
    """What was found out about one claim: for which check it is refuted or unknown, first of all, and for how many.

    `of_is_to_blame` says that `of` loses the check under the very verdict, not that another condition fails.
    """

    result: Result
    check: str = ANY_CHECK
    others: int = 0
    of_is_to_blame: bool = False


@dataclass(frozen=True, slots=True)
class GateProof:
    """A gate, the checks it can hold, and whether each of them can stop it and none passes it undecided."""

    gate: GatePlan
    holds: tuple[str, ...]
    stops: GateClaim
    stays_open: GateClaim


def prove_gates(
    plan: ScorecardPlan, vocabulary: Vocabulary | None = None, *, solver: bool = False
) -> Iterator[GateProof]:
    """The proofs about every gate of a lowered scorecard, for the checks that its plan knows.

    Of a gate that can hold none of them, as of a scorecard without a project, it is asked whether any FAIL of any check
    could stop it, and any UNCLEAR keep it open.
    """
    cases = _GateCases(plan, vocabulary or invisiblebench(), solver)
    for gate in plan.gates:
        holds = tuple([check for check in cases.checks if cases.can_hold(gate.of, check)])
        of_fail, stops = _Asked((gate.of,), "FAIL"), _Asked((gate.stops,), "FAIL")
        of_open, of_none = _Asked((gate.of,), "UNCLEAR"), _Asked((gate.of,), NO_RECORD)
        not_passed = _Asked((gate.stops, gate.undecided), "UNCLEAR")
        if holds:
            claims = cases.claim(holds, [of_fail, stops]), cases.claim(holds, [of_open, of_none, not_passed])
        else:
            claims = cases.could(of_fail, stops), cases.could(of_open, not_passed)
        yield GateProof(gate, holds, *claims)


def held_by_parts(
    plan: ScorecardPlan, vocabulary: Vocabulary | None = None
) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
    """The gates and dimensions (`gates` or `dimensions`, and the name), each with the checks of the plan that it can
    hold where nobody sets a parameter."""
    cases = _GateCases(
        plan, vocabulary or invisiblebench(), solver=False, settings=parameter_values(plan.parameters, {})
    )
    parts = [("gates", gate.name, gate.of) for gate in plan.gates]
    parts += [("dimensions", each.rate.name, each.rate.of) for each in plan.dimensions]
    for kind, name, of in parts:
        yield (kind, name), frozenset([check for check in cases.checks if cases.can_hold(of, check)])


@dataclass(frozen=True, slots=True)
class _Asked:
    """Conditions of which one has to hold for an eligible verdict of this name."""

    conditions: tuple[Program, ...]
    verdict: str


@dataclass(slots=True)
class _GateCases:
    """Asks one question about every check; checks that look the same to the conditions are asked about once."""

    plan: ScorecardPlan
    vocabulary: Vocabulary
    solver: bool
    settings: Mapping[str, Value] = field(default_factory=dict)  # parameters that have one value
    domains: Domains = field(init=False)
    known: dict[Value, Counterexample | Unknown | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        verdict: Type = as_recorded(verdict_type(self.vocabulary))
        types = {each.name: TYPES[each.type] for each in self.plan.parameters}
        parameters: Mapping[Path, Value] = {(each.name,): domain_of_parameter(each) for each in self.plan.parameters}
        self.domains = Domains({**types, "v": verdict, OTHER: verdict}, parameters)

    @property
    def checks(self) -> Sequence[str]:
        return tuple(self.plan.checks)

    def can_hold(self, of: Program, check: str) -> bool:
        """Whether the condition can hold for a verdict of the check; so it is where that can't be told."""
        return self.find([self.about(of, check, OTHER)], [(0, HOLDS)]) is not None

    def claim(self, holds: Sequence[str], asked: Sequence[_Asked]) -> GateClaim:
        """Whether what is asked holds for every check that the first condition can hold."""
        of = asked[0].conditions[0]
        found = [(check, *refuted) for check in holds if (refuted := self.refuted(of, check, asked)) is not None]
        if not found:
            return GateClaim(Proved())
        check, result, to_blame = next((each for each in found if isinstance(each[1], Refuted)), found[0])
        return GateClaim(result, check, len(found) - 1, to_blame)

    def could(self, of: _Asked, asked: _Asked) -> GateClaim:
        """Whether one of the conditions can hold for some verdict of some check that belongs to the gate."""
        held = self.about(of.conditions[0], ANY_CHECK, "v", of.verdict)
        if self.find([held], [(0, HOLDS)]) is None:
            return GateClaim(Refuted(), of_is_to_blame=True)
        parts = [self.about(part, ANY_CHECK, "v", asked.verdict) for part in asked.conditions]
        possible = any(self.find([held, part], [(0, HOLDS), (1, HOLDS)]) is not None for part in parts)
        return GateClaim(Proved() if possible else Refuted())

    def refuted(self, of: Program, check: str, asked: Sequence[_Asked]) -> tuple[Result, bool] | None:
        unknown: tuple[Result, bool] | None = None
        for each in asked:
            held = self.about(of, check, OTHER)
            programs = [held, *(self.about(part, check, "v", each.verdict) for part in each.conditions)]
            match self.find(programs, [(0, HOLDS), *((at, FALSE) for at in range(1, len(programs)))]):
                case Counterexample() as witness:
                    return Refuted(_of_this_verdict(witness)), each.conditions == (of,)
                case Unknown() as found:
                    unknown = unknown or (found, each.conditions == (of,))
        return unknown

    def find(self, programs: list[Program], goal: Goal) -> Counterexample | Unknown | None:
        key = tuple([shape(program) for program in programs]), tuple(goal)
        if key not in self.known:
            self.known[key] = Search(programs, self.domains, self.solver).find(goal)
        return self.known[key]

    def about(self, condition: Program, check: str, root: str, verdict: str | None = None) -> Program:
        """The condition for a verdict of the check, read from `root`; for an eligible one where its name is given."""
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
        return extract(_read_from(fixed, root), len(fixed.nodes) - 1)


def _read_from(program: Program, root: str) -> Program:
    """The program that reads what a verdict says from another root; whose verdict it is stays with `v`."""
    if root == "v":
        return program
    paths = [path_at(program, at) if node.args else None for at, node in enumerate(program.nodes)]
    said = [at for at, path in enumerate(paths) if path and len(path) == 2 and path[0] == "v" and path[1] in SAID]
    roots = {program.nodes[at].args[0] for at in said}
    nodes = [Node("name", (), [[root, []]], node.at) if at in roots else node for at, node in enumerate(program.nodes)]
    return Program(tuple(nodes), program.source, program.strict)


def _of_this_verdict(witness: Counterexample) -> Counterexample:
    """The witness without what it says of any other verdict."""
    return Counterexample(
        tuple([pair for pair in witness.values if not pair[0].startswith(f"{OTHER}.")]), witness.bindings
    )
