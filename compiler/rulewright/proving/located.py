"""The conditions that stand in documents, each built where it stands, and what exact splitting knows of it.

A condition is what decides something: a whole expression that is true or false, and inside a value the test of every
choice. The test of a choice is judged where the choices around it lead there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from rulewright.diagnostics import Span
from rulewright.documents.case_scorecard import CaseScorecardDocument, SettingDocument
from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile
from rulewright.documents.scorecard import ParameterDocument, ScorecardDocument
from rulewright.documents.state_machine import StateMachineDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DYN, RecordType, Type
from rulewright.load import Scalar, place
from rulewright.lower.case_scorecard import TYPES, case_scorecard_expressions, requirements_of_defaults
from rulewright.lower.environments import check_environment, scenario_environment
from rulewright.lower.expression_checks import environment_of
from rulewright.lower.machines import FACTS
from rulewright.lower.phases import reply_environment
from rulewright.lower.scorecard import VERDICT_RECORD, scorecard_expressions, verdict_type
from rulewright.lower.workflow_environments import facts, loop_environment
from rulewright.proving.atoms import ERROR, FALSE, TRUE, extract, paths_of
from rulewright.proving.conditions import choices, comparisons, never, without_effect
from rulewright.proving.domains import Domain, Domains, Path, domain_of_parameter, whole
from rulewright.proving.gates import as_recorded
from rulewright.proving.results import Proved
from rulewright.proving.search import Search
from rulewright.proving.verdicts import without_calls
from rulewright_runtime.ir import CONNECTIVES, Program, free_locals
from rulewright_runtime.plan.parameters import Parameter
from rulewright_runtime.plan.scorecard import ScorecardPlan

Holder: TypeAlias = (
    CheckDocument | Profile | StateMachineDocument | ScorecardDocument | CaseScorecardDocument | TaskDocument
)
Known: TypeAlias = "tuple[tuple[Path, Domain], ...]"  # what else is known of variables
AFTER: Final = " after those before it"
_REQUIRED: Final = " where `requires` is met"
_LOOP: Final[Path] = ("loop", "iteration")
_COUNTERS: Final[tuple[Path, ...]] = (_LOOP, ("pair", "iteration"), ("review", "iteration"))
_FACTS: Final[dict[Path, Domain]] = {
    ("turn",): whole(0),  # a conversation may start with turn 0
    ("session",): whole(1),
    ("turns_in_state",): whole(0),  # sessions may be numbered in any order, turns not
}


@dataclass(frozen=True, slots=True)
class Study:
    """What is known of a condition: whether it never or always holds; its joined parts that never or always do; those
    that add nothing with the operator that joins them; its comparisons that are decided already with whether they hold.
    Parts are programs of their own. `is_test` says that it is the test of a choice, `given` what has to hold besides.
    """

    program: Program
    never: bool
    always: bool
    dead: tuple[tuple[Program, bool], ...]
    idle: tuple[tuple[Program, str], ...]
    decided: tuple[tuple[Program, bool], ...]
    is_test: bool = False
    given: str = ""


class LocatedCondition(NamedTuple):
    """A condition that reads something. `in_table` says that it is a row of a table, which is judged as a whole."""

    scalar: Scalar
    study: Study
    in_table: bool = False

    @property
    def place(self) -> Span | Scalar:
        """Where it stands in its file."""
        return span_of(self, self.study.program) if self.study.is_test else self.scalar


def span_of(placed: LocatedCondition, part: Program) -> Span:
    """Where a part of a condition stands in its file."""
    start, end = part.nodes[-1].at or (0, len(part.source))
    return place(placed.scalar, start, end)


@lru_cache(maxsize=64)  # several rules look at a document one after the other
def placed_conditions(document: Holder) -> tuple[LocatedCondition, ...]:
    """The conditions of a document that mean something where they stand; mistakes in others are not found here."""
    return tuple(_of_document(document))


def _of_document(document: Holder) -> Iterator[LocatedCondition]:
    match document:
        case CheckDocument():
            when = [] if document.when is None else [document.when]
            violates = document.phases.violates
            yield from _placed(when, scenario_environment(document.vocabulary))
            yield from _placed(document.verdict_conditions, environment_of(document), in_table=True)
            yield from _placed([] if violates is None else [violates], reply_environment(document))
        case Profile():
            yield from _placed(
                [] if document.select is None else [document.select], check_environment(document.vocabulary)
            )
        case StateMachineDocument():
            yield from _placed([each.when for each in document.transitions if each.when is not None], FACTS)
        case ScorecardDocument():
            known = _bounds(document.parameters)
            scalars = [scalar for _, scalar in conditions_of_scorecard(document)]
            yield from _placed(scalars, scorecard_environment(document), known=known)
            values = {id(scalar) for _, scalar in (*document.variables, *document.output)}
            for scalar, environment in scorecard_expressions(document):
                if id(scalar) in values:
                    yield from _placed([scalar], environment, known=known)
        case CaseScorecardDocument():
            yield from _of_cases(document)
        case TaskDocument():
            for loop in document.loops:
                yield from _placed(loop.conditions, loop_environment(facts(document)), loop.max_iterations)


def _of_cases(document: CaseScorecardDocument) -> Iterator[LocatedCondition]:
    """The conditions of a scorecard over cases: a requirement after those before it, all else where they are met."""
    known, rows = _bounds(document.settings), {id(row.when) for row in document.labels}
    required = [that for that, _ in document.requires]
    met = required if all(holds for _, holds in requirements_of_defaults(document)) else []
    for scalar, environment in case_scorecard_expressions(document):
        before = next((required[:at] for at, that in enumerate(required) if that is scalar), None)
        given = (AFTER, before) if before is not None else (_REQUIRED, met)
        yield from _placed([scalar], environment, in_table=id(scalar) in rows, known=known, given=given)


def _bounds(parameters: Iterable[ParameterDocument | SettingDocument]) -> Known:
    """What the parameters of a scorecard can be set to."""
    found = []
    for each in parameters:
        if each.type not in TYPES:
            continue
        low, high = (
            value if isinstance(value, int | float) and value == value else None
            for value in (None if bound is None else bound.value for bound in (each.minimum, each.maximum))
        )
        if low is None or high is None or low <= high:
            kind = cast('Literal["score", "number", "integer", "bool", "string"]', each.type)
            found.append(((each.name,), domain_of_parameter(Parameter(each.name, kind, "", low, high))))
    return tuple(found)


def _placed(
    scalars: Sequence[Scalar],
    environment: Environment,
    iterations: int | None = None,
    *,
    in_table: bool = False,
    known: Known = (),
    given: tuple[str, Sequence[Scalar]] = ("", ()),
) -> Iterator[LocatedCondition]:
    """The conditions of some expressions; `given` are conditions that are met there, and how that is told."""
    words, others = given
    assumed = (words, tuple([str(each.value) for each in others]))
    for scalar in scalars:
        for study in _studied(str(scalar.value), _Same(environment), iterations, known, assumed):
            yield LocatedCondition(scalar, study, in_table)


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """An environment that is told apart by its identity, as those are that documents of a kind share."""

    environment: Environment

    def __hash__(self) -> int:
        return id(self.environment)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.environment is self.environment


@lru_cache(maxsize=2048)
def _studied(
    text: str, same: _Same, iterations: int | None, bounds: Known, given: tuple[str, tuple[str, ...]]
) -> tuple[Study, ...]:
    """The studies of an expression's conditions, once for all rules and all documents that hold it.

    `iterations` is how often the loop may run that the expression belongs to; `bounds` and `given` say what else is
    known of its variables.
    """
    variables = same.environment.variables
    known = _FACTS | dict.fromkeys(_COUNTERS, whole(1)) | {_LOOP: whole(1, iterations)} | dict(bounds)
    if isinstance(counts := variables.get("counts"), RecordType):
        known |= {("counts", name): whole(0) for name in counts.fields}
    domains = Domains(as_seen(variables), known)
    try:
        built = build(text, same.environment)
    except ExpressionError:
        return ()
    if built.type == BOOL:
        study = _study(built.program, domains) if paths_of(built.program) else None
        return () if study is None else (_where(study, given, same.environment, domains),)
    return tuple(_tests(built.program, domains))


def as_seen(variables: Mapping[str, Type]) -> Mapping[str, Type]:
    """The variables with verdicts as they are recorded."""
    return {
        name: as_recorded(of) if isinstance(of, RecordType) and of.name == VERDICT_RECORD else of
        for name, of in variables.items()
    }


def _tests(program: Program, domains: Domains) -> Iterator[Study]:
    """The studies of the tests of a value's choices."""
    settled: set[int] = set()
    for test, around in choices(program):
        alone = extract(program, test)
        is_written = alone.nodes[-1].at and paths_of(alone) and not free_locals(alone)[-1]
        if not is_written or not settled.isdisjoint(at for at, _ in around):
            continue
        study = replace(_study(alone, domains), is_test=True)
        if around and not (study.never or study.always):
            search = Search([*(extract(program, at) for at, _ in around), alone], domains, solver=False)
            goal = [*((number, bits) for number, (_, bits) in enumerate(around)), (len(around), TRUE)]
            study = replace(study, never=search.find(goal) is None, given=AFTER)
        if study.never or study.always:
            settled.add(test)
        yield study


def _where(study: Study, given: tuple[str, tuple[str, ...]], environment: Environment, domains: Domains) -> Study:
    """The study with what follows from conditions that are met wherever this one is asked."""
    words, texts = given
    if study.never or study.always or not texts:
        return study
    try:
        programs = [study.program, *(build(each, environment, expect=BOOL).program for each in texts)]
    except ExpressionError:
        return study
    search = Search(programs, domains, solver=False)
    met = [(at, TRUE) for at in range(1, len(programs))]
    if search.find(met) is None:  # nothing meets them, which is told of them
        return study
    never, always = (search.find([(0, bits), *met]) is None for bits in (TRUE, FALSE | ERROR))
    return replace(study, never=never, always=always, given=words) if never or always else study


def _study(program: Program, domains: Domains) -> Study:
    has_never = _proved(program, domains, TRUE) or _proved(*without_calls(program, domains), TRUE)
    has_always = not has_never and _proved(program, domains, FALSE | ERROR)
    decided = tuple(_decided(program, domains))
    dead = () if has_never or has_always or decided else tuple(_dead(program, domains))
    idle: tuple[tuple[Program, str], ...] = ()
    if not (has_never or has_always or dead):
        idle = tuple([(extract(program, at), operator) for at, operator in without_effect(program, domains)])
    return Study(program, has_never, has_always, dead, idle, decided)


def _proved(program: Program, domains: Domains, bits: int) -> bool:
    """Whether the condition is for no input what `bits` say, by exact splitting alone."""
    return isinstance(never(program, domains, bits, solver=False), Proved)


def _dead(program: Program, domains: Domains) -> Iterator[tuple[Program, bool]]:
    """The outermost parts of several operands that never or always hold, with which of both."""
    root = len(program.nodes) - 1
    pending = [root]
    while pending:
        at = pending.pop()
        op = program.nodes[at].op
        part = extract(program, at)
        holds = _constant(part, domains) if op in ("and", "or") and at != root else None
        if holds is None:
            pending += reversed(program.nodes[at].args) if op in CONNECTIVES else ()
        else:
            yield part, holds


def _constant(part: Program, domains: Domains) -> bool | None:
    """Whether a part always holds or never does; None where it may be both."""
    if not paths_of(part):
        return None
    return True if _proved(part, domains, FALSE | ERROR) else False if _proved(part, domains, TRUE) else None


def _decided(program: Program, domains: Domains) -> Iterator[tuple[Program, bool]]:
    for part in comparisons(program):
        for bits, holds in ((TRUE, False), (FALSE, True)):
            if part is not program and _proved(part, domains, bits):
                yield part, holds
                break


def conditions_of_scorecard(document: ScorecardDocument) -> list[tuple[str, Scalar]]:
    """The conditions over single verdicts, each with the keys that lead to it."""
    found = []
    for gate in document.gates:
        parts = (("of", gate.of), ("stops", gate.stops), ("undecided", gate.undecided))
        found += [(f"gates.{gate.name}.{key}", scalar) for key, scalar in parts]
    found += [(f"dimensions.{rate.name}.{rate.kind}.of", rate.of) for rate in document.dimensions]
    found += [(f"rates.{rate.name}.{rate.kind}.of", rate.of) for rate in document.rates]
    found += [(f"counts.{name}", of) for name, of in document.counts]
    return found + [(f"lists.{listed.name}.of", listed.of) for listed in document.lists]


def conditions_of_plan(plan: ScorecardPlan) -> list[tuple[str, Program]]:
    """As `conditions_of_scorecard`, lowered, in the same order."""
    found = []
    for gate in plan.gates:
        parts = (("of", gate.of), ("stops", gate.stops), ("undecided", gate.undecided))
        found += [(f"gates.{gate.name}.{key}", program) for key, program in parts]
    found += [(f"dimensions.{each.rate.name}.{each.rate.kind}.of", each.rate.of) for each in plan.dimensions]
    found += [(f"rates.{rate.name}.{rate.kind}.of", rate.of) for rate in plan.rates]
    found += [(f"counts.{count.name}", count.of) for count in plan.counts]
    return found + [(f"lists.{listed.name}.of", listed.of) for listed in plan.lists]


@lru_cache(maxsize=8)
def scorecard_environment(document: ScorecardDocument) -> Environment:
    """Where a condition over a single verdict is decided; what the scoring file holds is not known here."""
    names: dict[str, Type] = {each.name: TYPES.get(each.type, DYN) for each in document.parameters}
    return Environment(variables={**names, "scoring": DYN, "v": verdict_type(document.vocabulary)})
