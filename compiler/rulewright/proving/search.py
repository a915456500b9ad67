"""Searches for inputs that meet a goal, by exact splitting, and what they prove about conditions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.box_variables import Box, TooMany
from rulewright.proving.domains import Domains, Path
from rulewright.proving.intervals import MAX_BOXES, Goal, Space
from rulewright.proving.program_parts import COMPARISONS, extract, paths_of
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown, bindings_of, shown_as
from rulewright_runtime.errors import PlanError
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import CONNECTIVES, Node, Program

_MOST_DECISIONS: Final = 1_000_000  # of atoms on boxes, in a search that shows no input
_LEAST_BOXES: Final = 500
TOO_MANY: Final = "too many cases to go through"
TOO_DEEP: Final = "the conditions are nested too deeply"
DEPTH_ERRORS: Final = (PlanError, RecursionError)  # what very deep conditions raise


@dataclass(slots=True)
class Search:
    """Searches for inputs for which conditions have the results that a goal allows."""

    programs: Sequence[Program]
    domains: Domains
    by_terms: bool = False  # whether to divide what parts compute into cells
    space: Space | None = field(init=False, default=None)
    hindrance: str = field(init=False, default="")  # why the space can't be made
    evaluators: dict[int, Evaluator] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        try:
            self.space = Space(self.programs, self.domains, self.by_terms)
        except TooMany:
            self.hindrance = TOO_MANY
        except RecursionError:
            self.hindrance = TOO_DEEP

    def find(self, goal: Goal) -> Counterexample | Unknown | None:
        """An input that meets the goal; None if there is none; Unknown if it can't be decided."""
        if self.space is None:
            return Unknown(self.hindrance)
        why: str | None = None
        try:
            for box in self.space.boxes(goal):
                shown = self.shown(goal, box)
                if isinstance(shown, Counterexample):
                    return shown
                why = why or shown
        except TooMany:
            why = TOO_MANY
        except DEPTH_ERRORS:
            why = TOO_DEEP
        return None if why is None else Unknown(why)

    def excludes(self, goal: Goal) -> bool:
        """Whether no input meets the goal; False also where it can't be decided. It ends at the first input that may
        meet the goal, where `find` continues until it can show one."""
        if self.space is None:
            return False
        try:
            most = max(_LEAST_BOXES, min(MAX_BOXES, _MOST_DECISIONS // (len(self.space.atoms) + 1)))
            return next(self.space.boxes(goal, most=most), None) is None
        except (TooMany, RecursionError):
            return False

    def shown(self, goal: Goal, box: Box) -> Counterexample | str:
        """An input in a box on which the goal is met, or the reason why none can be shown."""
        assert self.space is not None
        reason = self.space.opaque_reason(box)
        if reason is not None:
            return reason
        witness = self.replayed(goal, self.space.chosen(box), self.space.anything())
        return "no input could be made that shows it" if witness is None else witness

    def replayed(self, goal: Goal, shown: Mapping[Path, Any], others: Mapping[Path, Any]) -> Counterexample | None:
        """The input with the values `shown`, completed by `others`; None if the evaluator contradicts the goal."""
        bindings = bindings_of({**others, **shown})
        if bindings is None:  # what is shown of a variable may contradict the rest of it
            roots = {path[0] for path in shown}
            bindings = bindings_of({**{path: each for path, each in others.items() if path[0] not in roots}, **shown})
        if bindings is None or not all(bits_of(self.evaluator(at), bindings) & allowed for at, allowed in goal):
            return None
        pairs = [shown_as(path, value, self.domains) for path, value in sorted((shown or others).items())]
        return Counterexample(tuple(dict.fromkeys(pairs)), bindings)

    def evaluator(self, number: int) -> Evaluator:
        """The evaluator of a condition, prepared once."""
        if number not in self.evaluators:
            self.evaluators[number] = prepare(self.programs[number])
        return self.evaluators[number]


def out_of_reach(programs: Sequence[Program], domains: Domains, *goals: Goal) -> Result:
    """Whether no input meets any of the goals for the conditions; refuted by the first input that meets one."""
    search = Search(programs, domains)
    answer = first_of(search.find(goal) for goal in goals)
    return Refuted(answer) if isinstance(answer, Counterexample) else answer or Proved()


def first_of(answers: Iterable[Counterexample | Unknown | None]) -> Counterexample | Unknown | None:
    """The first counterexample, or else the first Unknown; None if there is neither."""
    unknown: Unknown | None = None
    for answer in answers:
        if isinstance(answer, Counterexample):
            return answer
        unknown = unknown or answer
    return unknown


def never(condition: Program, domains: Domains, bits: int) -> Result:
    """Whether the condition has no result in `bits` (TRUE, FALSE, ERROR) for any input."""
    return out_of_reach([condition], domains, [(0, bits)])


def without_effect(condition: Program, domains: Domains) -> Iterator[tuple[int, str]]:
    """Yield the operands of an `and` or `or` that have no effect on the result.

    Each is the index of its node with the operator's name. Constant operands are left out; of several equivalent
    operands the last is yielded.
    """
    root = len(condition.nodes) - 1
    pending = [root]
    while pending:
        at = pending.pop()
        node = condition.nodes[at]
        if node.op in CONNECTIVES:
            pending += node.args
        if node.op in ("and", "or") and len(node.args) <= _MOST_OPERANDS:
            idle = _idle(condition, at, domains)
            if idle is not None:
                yield idle, node.op


def _idle(condition: Program, at: int, domains: Domains) -> int | None:
    """The last operand without which node `at` has the same result, and which is not constant."""
    node = condition.nodes[at]
    strong, weak = (TRUE, FALSE) if node.op == "or" else (FALSE, TRUE)  # a strong operand decides, a weak one never
    count = len(node.args)
    rests = [_without(condition, at, operand) for operand in node.args]
    search = Search([*(extract(condition, each) for each in node.args), *rests], domains)  # one, for all share atoms
    for number in reversed(range(count)):
        rest = count + number
        goals = [(number, strong), (rest, weak | ERROR)], [(number, ERROR), (rest, weak)]  # where the operand matters
        if all(map(search.excludes, goals)) and not any(search.excludes([(number, bits)]) for bits in (TRUE, FALSE)):
            return node.args[number]
    return None


def _without(condition: Program, at: int, operand: int) -> Program:
    """Node `at` without one of its operands."""
    node = condition.nodes[at]
    rest = tuple([arg for arg in node.args if arg != operand])
    if len(rest) == 1:
        return extract(condition, rest[0])
    nodes = (*condition.nodes[:at], Node(node.op, rest, None, node.at))
    return extract(condition.having(nodes), at)


_MOST_OPERANDS: Final = 60  # of an `and` or `or` whose operands are left out one after the other


def choices(value: Program) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """Yield the tests of a value's conditionals, each with the tests around it and their results (TRUE or FALSE)."""
    pending: list[tuple[int, tuple[tuple[int, int], ...]]] = [(len(value.nodes) - 1, ())]
    while pending:
        at, outer = pending.pop()
        node = value.nodes[at]
        if node.op == "cond":
            test, then, otherwise = node.args
            yield test, outer
            pending += [(otherwise, (*outer, (test, FALSE))), (then, (*outer, (test, TRUE)))]
        else:
            pending += [(arg, outer) for arg in reversed(node.args)]


def comparisons(condition: Program) -> Iterator[Program]:
    """Yield the comparisons of variables in a condition, each as a program of its own; also the condition itself."""
    pending = [len(condition.nodes) - 1]
    while pending:
        at = pending.pop()
        node = condition.nodes[at]
        if node.op in CONNECTIVES:
            pending += reversed(node.args)
        elif node.op == "call" and (node.value in COMPARISONS or node.value == "@in"):
            part = extract(condition, at)
            if paths_of(part):
                yield part
