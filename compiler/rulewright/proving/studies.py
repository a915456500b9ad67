"""Results of exact splitting for every condition of a document.

A condition is a boolean expression, or the test of a conditional inside another expression. The test of an inner
conditional is checked under the tests of the conditionals around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from rulewright.diagnostics import Span
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, RecordType
from rulewright.load import Scalar, place
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.conditions import choices, comparisons, never, without_effect
from rulewright.proving.domains import Domain, Domains, Path, whole
from rulewright.proving.gates import as_seen
from rulewright.proving.program_parts import extract, paths_of
from rulewright.proving.results import Proved
from rulewright.proving.search import Search
from rulewright.proving.verdicts import without_calls
from rulewright_runtime.ir import CONNECTIVES, Program, free_locals

Known: TypeAlias = "tuple[tuple[Path, Domain], ...]"  # more exact domains of variables
AFTER: Final = " after those before it"
_LOOP: Final[Path] = ("loop", "iteration")
_COUNTERS: Final[tuple[Path, ...]] = (_LOOP, ("pair", "iteration"), ("review", "iteration"))
_FACTS: Final[dict[Path, Domain]] = {
    ("turn",): whole(0),  # a conversation may start with turn 0
    ("session",): whole(1),
    ("turns_in_state",): whole(0),  # sessions may be numbered in any order, turns not
}


@dataclass(frozen=True, slots=True)
class Study:
    """The results for a condition: whether it never or always holds; its `dead` operands, which never or always hold;
    its `idle` operands, which have no effect, with their operator; its `decided` comparisons, with their results. Parts
    are programs of their own. `is_test` marks the test of a conditional; `given` is a phrase for assumed conditions.
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
    """A condition that reads a variable. `in_table` marks a row of a table, which is checked as a whole."""

    scalar: Scalar
    study: Study
    in_table: bool = False

    @property
    def place(self) -> Span | Scalar:
        """The span of the condition in its file, or its scalar."""
        return span_of(self, self.study.program) if self.study.is_test else self.scalar


def span_of(placed: LocatedCondition, part: Program) -> Span:
    """The span of a part of a condition in its file."""
    start, end = part.nodes[-1].at or (0, len(part.source))
    return place(placed.scalar, start, end)


def placed(
    scalars: Sequence[Scalar],
    environment: Environment,
    iterations: int | None = None,
    *,
    in_table: bool = False,
    known: Known = (),
    given: tuple[str, Sequence[Scalar]] = ("", ()),
) -> Iterator[LocatedCondition]:
    """Yield the conditions of expressions; `given` is a phrase for messages and the conditions assumed to hold."""
    phrase, others = given
    assumed = (phrase, tuple([str(each.value) for each in others]))
    for scalar in scalars:
        for study in _studies_of(str(scalar.value), _EnvironmentKey(environment), iterations, known, assumed):
            yield LocatedCondition(scalar, study, in_table)


@dataclass(frozen=True, slots=True, eq=False)
class _EnvironmentKey:
    """An environment as a cache key, equal for equal environments, such as those of a document that is linted again."""

    environment: Environment

    def __hash__(self) -> int:
        return hash(tuple(self.environment.variables))

    def __eq__(self, other: object) -> bool:
        one, two = self.environment, other.environment if isinstance(other, _EnvironmentKey) else None
        return one is two or one == two


@lru_cache(maxsize=2048)
def _studies_of(
    text: str, key: _EnvironmentKey, iterations: int | None, bounds: Known, given: tuple[str, tuple[str, ...]]
) -> tuple[Study, ...]:
    """The studies of an expression's conditions, cached for all rules and all documents that contain it.

    `iterations` is the maximum of the loop that the expression belongs to; `bounds` are more exact domains of its
    variables and `given` the conditions assumed to hold.
    """
    variables = key.environment.variables
    known = _FACTS | dict.fromkeys(_COUNTERS, whole(1)) | {_LOOP: whole(1, iterations)} | dict(bounds)
    if isinstance(counts := variables.get("counts"), RecordType):
        known |= {("counts", name): whole(0) for name in counts.fields}
    domains = Domains(as_seen(variables), known)
    try:
        built = build(text, key.environment)
    except ExpressionError:
        return ()
    if built.type == BOOL:
        study = _study(built.program, domains) if paths_of(built.program) else None
        return () if study is None else (_study_given(study, given, key.environment, domains),)
    return tuple(_tests(built.program, domains))


def _tests(program: Program, domains: Domains) -> Iterator[Study]:
    """Yield the studies of the tests of a value's conditionals."""
    settled: set[int] = set()
    for test, around in choices(program):
        part = extract(program, test)
        is_written = part.nodes[-1].at and paths_of(part) and not free_locals(part)[-1]
        if not is_written or not settled.isdisjoint(at for at, _ in around):
            continue
        study = replace(_study(part, domains), is_test=True)
        if around and not (study.never or study.always):
            search = Search([*(extract(program, at) for at, _ in around), part], domains, solver=False)
            goal = [*((number, bits) for number, (_, bits) in enumerate(around)), (len(around), TRUE)]
            study = replace(study, never=search.find(goal) is None, given=AFTER)
        if study.never or study.always:
            settled.add(test)
        yield study


def _study_given(study: Study, given: tuple[str, tuple[str, ...]], environment: Environment, domains: Domains) -> Study:
    """The study, with the results that follow from conditions assumed to hold."""
    phrase, texts = given
    if study.never or study.always or not texts:
        return study
    try:
        programs = [study.program, *(build(each, environment, expect=BOOL).program for each in texts)]
    except ExpressionError:
        return study
    search = Search(programs, domains, solver=False)
    assumed = [(at, TRUE) for at in range(1, len(programs))]
    if search.find(assumed) is None:  # they contradict each other, which is reported for them
        return study
    never, always = (search.find([(0, bits), *assumed]) is None for bits in (TRUE, FALSE | ERROR))
    return replace(study, never=never, always=always, given=phrase) if never or always else study


def _study(program: Program, domains: Domains) -> Study:
    has_never = _is_never(program, domains, TRUE) or _is_never(*without_calls(program, domains), TRUE)
    has_always = not has_never and _is_never(program, domains, FALSE | ERROR)
    decided = tuple(_decided(program, domains))
    dead = () if has_never or has_always or decided else tuple(_dead(program, domains))
    idle: tuple[tuple[Program, str], ...] = ()
    if not (has_never or has_always or dead):
        idle = tuple([(extract(program, at), operator) for at, operator in without_effect(program, domains)])
    return Study(program, has_never, has_always, dead, idle, decided)


def _is_never(program: Program, domains: Domains, bits: int) -> bool:
    """Whether the condition has no result in `bits` for any input, by exact splitting alone."""
    return isinstance(never(program, domains, bits, solver=False), Proved)


def _dead(program: Program, domains: Domains) -> Iterator[tuple[Program, bool]]:
    """Yield the outermost `and` and `or` parts that never or always hold, each with its constant result."""
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
    """True if a part always holds, False if it never does, None if it may do both."""
    if not paths_of(part):
        return None
    return True if _is_never(part, domains, FALSE | ERROR) else False if _is_never(part, domains, TRUE) else None


def _decided(program: Program, domains: Domains) -> Iterator[tuple[Program, bool]]:
    for part in comparisons(program):
        search = Search([part], domains, solver=False)
        for bits, holds in ((TRUE, False), (FALSE, True)):
            if part is not program and search.find([(0, bits)]) is None:
                yield part, holds
                break
