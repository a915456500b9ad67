"""Scorecards over verdicts as policies: the effects of one verdict, and the outputs of a row."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from rulewright.documents.vocabulary import Vocabulary
from rulewright.expression.compose import all_of
from rulewright.expression.types import BOOL, INT, SCORE, OptionalType, RecordType, Type
from rulewright.lower.expressions import PARAMETER_TYPES
from rulewright.lower.scorecard import GATE, verdict_type
from rulewright.policies.policy_model import (
    Policy,
    PolicyDecision,
    PolicyOutcome,
    PolicyStep,
    computed,
    flat,
    guarding,
    outcome_of,
    permitting,
    unless,
)  # fmt: skip
from rulewright.proving.check_groups import RESULT_FIELDS
from rulewright.proving.domains import Domain, Domains, Path, domain_of_parameter, whole
from rulewright.proving.gates import as_recorded
from rulewright.proving.program_parts import (
    calling,
    constant,
    path_at,
    paths_of,
    reading,
    reads_name,
    substitute,
    unabridged,
    unrolled,
    with_parts,
    with_paths,
    with_program,
)
from rulewright_runtime.aggregate.outcome import MINIMUM_COVERAGE, NO_RECORD
from rulewright_runtime.ir import BINDING, Node, Program
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.plan.scorecard import GatePlan, RatePlan, ScorecardPlan, parameter_values
from rulewright_runtime.score import Score
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.values import Optional

_ELIGIBLE: Final = reading(("v", "eligible"))
_VERDICT: Final = reading(("v", "verdict"))
_OUT: Final = PolicyOutcome("out", "not counted")
_NO_RECORD: Final = calling("@in", _VERDICT, constant([NO_RECORD]))
SETTLED: Final = PolicyOutcome("settled", "can be decided")
OPEN: Final = PolicyOutcome("open", "asks for adjudication")
_HIT: Final = PolicyOutcome("hit", "a hit")
_MISS: Final = PolicyOutcome("miss", "a miss")
_ASKS: Final = PolicyOutcome("asks", "a miss that asks for adjudication")
MOST: Final = 1_000_000  # verdicts of one row
VARIABLES: Final = "variables"  # the place of whether all variables have a value
PASS_RATE: Final = "pass_rate"  # the root of the places of the gates' pass rates
SIZE: Final = "size_of"  # the root of the variables that stand for the sizes of lists
_SIZES: Final = re.compile(rf"\b{SIZE}\.((?:lists|undecided)\.\w+)")
_COUNTED: Final = PolicyOutcome("counted", "counted")
_COUNTED_OPEN: Final = PolicyOutcome("counted, open", "counted, and asks for adjudication")
# The effects of a verdict on a gate, from the weakest to the strongest.
_STRENGTHS: Final = ("is outside", "is not eligible", "lets it pass", "leaves it undecided", "stops it")


def policy_of_scorecard(
    plan: ScorecardPlan, other: ScorecardPlan, vocabulary: Vocabulary, given: JsonMapping, *, defaults: bool = True
) -> Policy:
    """The policy of a lowered scorecard with the values of its parameters, for the comparison with the `other`. Without
    `defaults`, parameters that are not given may have any value. Raises PlanError for an invalid value."""
    values = parameter_values(plan.parameters, plan.declared(given))
    values = {name: value for name, value in values.items() if defaults or name in given}
    constants = {**values, "scoring": plan.scoring} if plan.scoring else dict(values)
    decisions = {each.place: each for each in _of_one_verdict(plan, other, constants)}
    decisions |= {each.place: each for each in (*_of_a_row(plan, constants), *_pass_rates(plan, other, constants))}
    types: dict[str, Type] = {each.name: PARAMETER_TYPES[each.type] for each in plan.parameters}
    known: dict[Path, Domain] = {(each.name,): domain_of_parameter(each) for each in plan.parameters}
    known |= {("counts", count.name): whole(0, MOST) for count in plan.counts}
    known |= {(SIZE, "lists", listed.name): whole(0, MOST) for listed in plan.lists}
    known |= {(SIZE, "undecided", gate.name): whole(0, MOST) for gate in plan.gates}
    domains = Domains({**types, "v": as_recorded(verdict_type(vocabulary)), **_row_types(plan)}, known)
    return Policy(decisions, _settings(plan, other, given), domains)


def about(program: Program, constants: JsonMapping) -> Program:
    """A condition over one verdict with these values; `v.mode_id` is an alias of `v.check_id`."""
    return substitute(with_paths(program, {("v", "mode_id"): reading(("v", "check_id"))}), constants)


def _of_one_verdict(
    plan: ScorecardPlan, other: ScorecardPlan, constants: Mapping[str, object]
) -> Iterator[PolicyDecision]:
    theirs = {gate.name: gate for gate in other.gates}
    for gate in plan.gates:
        yield from _gate(gate, theirs.get(gate.name, gate), constants)
    for rate in (*(dimension.rate for dimension in plan.dimensions), *plan.rates):
        kind = "dimensions" if any(rate is dimension.rate for dimension in plan.dimensions) else "rates"
        yield _rate(f"{kind}.{rate.name}", rate, constants)
    for count in plan.counts:
        yield _counted(f"counts.{count.name}", count.of, constants)
    for listed in plan.lists:
        yield _counted(f"lists.{listed.name}", listed.of, constants)
        both = [about(each.of, constants) for each in (*plan.lists, *other.lists) if each.name == listed.name]
        for name, program in listed.each:
            entry = computed(f"lists.{listed.name}.each.{name}", about(program, constants))
            yield replace(entry, steps=(PolicyStep(all_of(both), None, _OUT, _OUT), *entry.steps))


def _pass_rates(plan: ScorecardPlan, other: ScorecardPlan, constants: JsonMapping) -> Iterator[PolicyDecision]:
    rated = {gate.name for gate in (*plan.gates, *other.gates) if gate.pass_rate is not UNSET}
    for gate in plan.gates:
        if gate.name in rated:
            rate = constant("every transcript") if gate.pass_rate is UNSET else gate.pass_rate
            yield computed(f"{PASS_RATE}.{gate.name}", substitute(rate, constants))


def _gate(gate: GatePlan, other: GatePlan, constants: JsonMapping) -> Iterator[PolicyDecision]:
    """The effect of a verdict on the gate, and whether a condition is undecidable, which affects the whole row."""
    of, stops, undecided = (about(each, constants) for each in (gate.of, gate.stops, gate.undecided))
    outside, idle, counts, opens, stopped = (
        PolicyOutcome(("gate", _weakest(at, gate, other)), _STRENGTHS[at]) for at in range(5)
    )
    steps = (
        unless(of, outside),
        PolicyStep(_ELIGIBLE, None, idle, idle),
        guarding(stops, stopped),
        permitting(_NO_RECORD, opens),
        guarding(undecided, opens),
    )
    yield PolicyDecision(f"gates.{gate.name}", steps, counts)
    asked = (
        PolicyStep(of, None, SETTLED, OPEN),
        PolicyStep(_ELIGIBLE, None, SETTLED, SETTLED),
        PolicyStep(stops, SETTLED, None, OPEN),
        PolicyStep(undecided, SETTLED, SETTLED, OPEN),
    )
    yield PolicyDecision(f"gates.{gate.name} (its conditions)", asked, SETTLED)


def _weakest(strength: int, *gates: GatePlan) -> int:
    """The weakest effect that no gate can distinguish from this one, with any other verdicts.

    Gates that contain a check only for some of its verdicts are distinguished, because being non-empty affects a row.
    """
    if any(path[-1] in RESULT_FIELDS for gate in gates for path in paths_of(gate.of) or () if path[0] == "v"):
        return strength
    answers = [(gate.not_run, gate.not_eligible, "passed") for gate in gates]
    while 0 < strength < 3 and all(each[strength] == each[strength - 1] for each in answers):
        strength -= 1
    return strength


def _rate(place: str, rate: RatePlan, constants: JsonMapping) -> PolicyDecision:
    asks = _ASKS if rate.error == "adjudicate" else _MISS
    hit, miss = _HIT, _MISS
    if rate.credit is not None:
        credit = about(rate.credit, constants)
        hit = miss = outcome_of(credit, f"earns `{unabridged(credit)}`")
    steps = [
        PolicyStep(_ELIGIBLE, None, _OUT, _OUT),
        PolicyStep(about(rate.of, constants), None, _OUT, asks),
        permitting(_NO_RECORD, _MISS),
        PolicyStep(calling("@in", _VERDICT, constant([*rate.exclude])), _OUT, None, miss),
        PolicyStep(calling("@in", _VERDICT, constant([*rate.hit])), hit, None, miss),
    ]
    return PolicyDecision(place, tuple(steps), miss)


def _counted(place: str, of: Program, constants: JsonMapping) -> PolicyDecision:
    step = PolicyStep(about(of, constants), _COUNTED, None, _COUNTED_OPEN)
    return PolicyDecision(place, (step,), _OUT)


def _of_a_row(plan: ScorecardPlan, constants: JsonMapping) -> Iterator[PolicyDecision]:
    """The outputs and other computed values of a row, with variables inlined where possible, and whether
    a variable has no value, which affects the whole row."""
    weights, states = _weights(plan), _states(plan)
    keys = {name: list(type_.fields) for name, type_ in _row_types(plan).items() if isinstance(type_, RecordType)}
    values: dict[str, Program] = {}

    def inlined(program: Program) -> Program:
        return _with_variables(with_paths(unrolled(program, keys), states), values)

    for part in plan.variables:
        values[part.name] = inlined(part.value)
    named: set[str] = set()
    for part in plan.output:
        program = with_sizes(substitute(inlined(part.value), {**constants, "weights": weights}))
        named |= {path[0] for path in paths_of(program) or ()} & values.keys()
        yield computed(f"output.{part.name}", program)
    coverage = plan.minimum_coverage or constant(MINIMUM_COVERAGE)
    yield computed("minimum_coverage", substitute(coverage, constants))
    ready = {name: with_sizes(substitute(value, {**constants, "weights": weights})) for name, value in values.items()}
    for name in sorted(named):
        yield computed(f"variables.{name}", ready[name])
    probes = [PolicyStep(calling("_==_", value, value), None, None, OPEN) for value in ready.values()]
    yield PolicyDecision(VARIABLES, tuple(probes), SETTLED)


def _weights(plan: ScorecardPlan) -> dict[str, Score]:
    """The weights of the dimensions; as whole numbers without a common factor where only means read them."""
    weights = {dimension.rate.name: Fraction(dimension.weight) for dimension in plan.dimensions}
    if any(weights.values()) and all(map(_averages, programs_of(plan))):
        factor = Fraction(
            gcd(*(each.numerator for each in weights.values())), lcm(*(each.denominator for each in weights.values()))
        )
        weights = {name: each / factor for name, each in weights.items()}
    return {name: Score(each.numerator, each.denominator) for name, each in weights.items()}


def _averages(program: Program) -> bool:
    """Whether a program reads the weights only as those of a mean, on which a common factor has no effect."""
    named = {at for at, node in enumerate(program.nodes) if _reads(node, "weights")}
    means = [node for node in program.nodes if node.op == "call" and node.value == "wmean_present"]
    exact = [node for node in means if path_at(program, node.args[0]) in (("dimensions",), ("rates",))]
    others = {arg for node in program.nodes if node not in exact for arg in node.args}
    return named <= {node.args[1] for node in exact} and not named & others


def _reads(node: Node, name: str) -> bool:
    return node.op == "name" and any(candidate[0] == name for candidate in node.value)


def _with_variables(program: Program, values: Mapping[str, Program]) -> Program:
    """The program with variables replaced by their programs, unless both bind names."""
    for name, value in values.items():
        if reads_name(program, name) and not (_binds(program) and _binds(value)):
            program = with_program(program, name, value)
    return program


def with_sizes(program: Program) -> Program:
    """The program with a variable for the size of each list of the row."""
    sizes: dict[int, Program] = {}
    for at, node in enumerate(program.nodes):
        if node.op == "call" and node.value == "size" and len(node.args) == 1:
            path = path_at(program, node.args[0])
            if path is not None and len(path) == 2 and path[0] in ("lists", "undecided"):
                sizes[at] = reading((SIZE, *path))
    return with_parts(program, sizes)


def _states(plan: ScorecardPlan) -> dict[Path, Program]:
    """`gates.NAME.failed` as `gates.NAME.passed == optional.of(false)`, so that a proof knows that both are one
    state."""
    failed = constant(Optional(False))
    places = [("gates", gate.name) for gate in plan.gates]
    return {(*place, "failed"): calling("_==_", reading((*place, "passed")), failed) for place in places}


def in_words(text: str) -> str:
    """A text with sizes of lists as authors write them."""
    return _SIZES.sub(r"size(\1)", text)


def _binds(program: Program) -> bool:
    return any(node.op in BINDING for node in program.nodes)


def _row_types(plan: ScorecardPlan) -> dict[str, Type]:
    def rates(parts: Any) -> dict[str, Type]:
        return {rate.name: OptionalType(SCORE) if rate.empty is None else SCORE for rate in parts}

    return {
        "gates": RecordType("gates", {gate.name: GATE for gate in plan.gates}),
        "dimensions": RecordType("dimensions", rates([each.rate for each in plan.dimensions])),
        "rates": RecordType("rates", rates(plan.rates)),
        "counts": RecordType("counts", {count.name: INT for count in plan.counts}),
        "flags": RecordType("flags", {label: OptionalType(BOOL) for label, _ in plan.flags.labels}),
    }


def _plain(number: str | None) -> str | None:
    """A decimal in its shortest form."""
    return None if number is None else f"{Decimal(number).normalize():f}"


def _settings(plan: ScorecardPlan, other: ScorecardPlan, given: JsonMapping) -> JsonObject:
    found: JsonObject = {}
    nodes = [node for each in (plan, other) for program in programs_of(each) for node in program.nodes]
    for parameter in plan.parameters:
        if parameter.name not in given and any(_reads(node, parameter.name) for node in nodes):
            found |= flat(f"parameters.{parameter.name}", parameter, ("description",))
    for gate in plan.gates:
        found |= flat(f"gates.{gate.name}", gate, ("name", "of", "stops", "undecided", "pass_rate"))
    for rate in (*(dimension.rate for dimension in plan.dimensions), *plan.rates):
        found |= {f"rates.{rate.name}.kind": rate.kind, f"rates.{rate.name}.empty": _plain(rate.empty)}
    found |= flat("flags", {"labels": dict(plan.flags.labels)})
    found |= {"flags.raised": sorted(plan.flags.raised), "flags.clear": sorted(plan.flags.clear)}
    return found | {"headline": plan.headline, "label": plan.label}
