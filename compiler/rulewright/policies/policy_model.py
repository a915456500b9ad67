"""The common form of all policies: decisions, each a list of conditions with their outcomes, and settings."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import Struct

from rulewright.expression.compose import all_of
from rulewright.lower.table_syntax import TableRow
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.program_parts import extract, paths_of, shape, unabridged
from rulewright_runtime.ir import Program
from rulewright_runtime.strict_json import JsonObject

BITS: Final = (TRUE, FALSE, ERROR)


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """The outcome of a policy; outcomes with the same key are equal. A `program` computes its value."""

    key: Any
    text: str
    program: Program | None = field(default=None, compare=False)

    @property
    def settled(self) -> bool:
        """Whether another key means another outcome."""
        return self.program is None or (len(self.program.nodes) == 1 and self.program.nodes[0].op == "const")


class PolicyStep(Struct, frozen=True):
    """A condition, and the outcome if it is true, false or undecided; None continues with the next step."""

    condition: Program
    true: PolicyOutcome | None = None
    false: PolicyOutcome | None = None
    error: PolicyOutcome | None = None

    def after(self, bit: int) -> PolicyOutcome | None:
        return self.true if bit == TRUE else self.false if bit == FALSE else self.error

    def bits(self, outcome: PolicyOutcome | None) -> int:
        """The results of the condition that lead to an outcome."""
        return sum(bit for bit in BITS if self.after(bit) == outcome)


class PolicyDecision(Struct, frozen=True):
    """Steps in order, and the outcome after the last. `place` is the decision's path in the document."""

    place: str
    steps: tuple[PolicyStep, ...]
    otherwise: PolicyOutcome

    def reads(self) -> frozenset[str]:
        """The names that the conditions and outcomes read."""
        outcomes = [each for step in self.steps for each in (step.true, step.false, step.error)]
        programs = [step.condition for step in self.steps]
        programs += [each.program for each in (*outcomes, self.otherwise) if each is not None and each.program]
        return frozenset(path[0] for program in programs for path in paths_of(program) or ())


class Policy(Struct, frozen=True):
    """A document to compare: its decisions by place, and its other settings by place.

    `domains` are the variables of its decisions, for all places but those in `places`.
    """

    decisions: Mapping[str, PolicyDecision]
    settings: Mapping[str, Any]
    domains: Domains
    places: Mapping[str, Domains] = {}

    def domains_at(self, place: str) -> Domains:
        """The variables of the decision at a place."""
        return self.places.get(place, self.domains)


NOTHING: Final = PolicyOutcome("nothing", "nothing")
ENDED: Final = PolicyOutcome("error", "an error")


def outcome_of(program: Program, text: str) -> PolicyOutcome:
    """The outcome computed by a program."""
    return PolicyOutcome(("program", shape(program)), text, program)


def guarding(condition: Program, met: PolicyOutcome) -> PolicyStep:
    """A condition that counts as met if it can't be decided."""
    return PolicyStep(condition, met, None, met)


def permitting(condition: Program, met: PolicyOutcome) -> PolicyStep:
    """A condition that counts as not met if it can't be decided."""
    return PolicyStep(condition, met)


def unless(condition: Program, outcome: PolicyOutcome) -> PolicyStep:
    """An outcome for a guarding condition that does not hold."""
    return PolicyStep(condition, None, outcome, None)


def table(place: str, rows: Sequence[TableRow]) -> PolicyDecision:
    """A table: the first row that holds decides, and an undecidable condition ends it with an error."""
    steps = []
    for row in rows:
        outcome = NOTHING if row.output is None else outcome_of(row.output, unabridged(row.output))
        steps.append(PolicyStep(all_of(()) if row.condition is None else row.condition, outcome, None, ENDED))
    return PolicyDecision(place, tuple(steps), NOTHING)


def computed(place: str, program: Program) -> PolicyDecision:
    """The value of an expression, with its outermost choices as steps."""
    steps = []
    while program.nodes and program.nodes[-1].op == "cond" and program.nodes[program.nodes[-1].args[1]].op != "cond":
        condition, then, otherwise = program.nodes[-1].args
        given = extract(program, then)
        steps.append(PolicyStep(extract(program, condition), outcome_of(given, unabridged(given)), None, ENDED))
        program = extract(program, otherwise)
    return PolicyDecision(place, tuple(steps), outcome_of(program, unabridged(program)))


def difference(
    place: str, before: object, after: object, where: Sequence[str] = (), witness: object = None, **more: object
) -> JsonObject:
    """A difference of two policies as JSON data: where the conditions `where` hold, the first gives `before` and the
    second `after`. `witness` is an example input."""
    return {"place": place, "before": before, "after": after, "where": list(where), "witness": witness, **more}


def flat(place: str, value: Any, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Every leaf of a value by its place. `leave_out` are dotted paths, from the value, that are skipped."""
    return dict(_leaves(place, value, {f"{place}.{key}" for key in leave_out}))


def _leaves(place: str, value: Any, leave_out: Collection[str]) -> Iterator[tuple[str, Any]]:
    if place in leave_out:
        return
    if isinstance(value, Program):
        yield place, unabridged(value)
    elif isinstance(value, msgspec.Struct):
        tag = value.__struct_config__.tag
        if tag is not None:
            yield f"{place}.{value.__struct_config__.tag_field}", tag
        for field in value.__struct_fields__:
            yield from _leaves(f"{place}.{field}", getattr(value, field), leave_out)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{place}.{key}", item, leave_out)
    elif isinstance(value, list | tuple) and any(isinstance(each, msgspec.Struct | Program) for each in value):
        for at, item in enumerate(value):
            yield from _leaves(f"{place}[{at}]", item, leave_out)
    else:
        yield place, list(value) if isinstance(value, tuple) else value
