"""What exact splitting knows of a condition, wherever one stands.

A condition is what decides something: a whole expression that is true or false, and inside a value the test of every
choice. The test of a choice is judged where the choices around it lead there.
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
from rulewright.proving.atoms import ERROR, FALSE, TRUE, extract, paths_of
from rulewright.proving.conditions import choices, comparisons, never, without_effect
from rulewright.proving.domains import Domain, Domains, Path, whole
from rulewright.proving.recorded import as_seen
from rulewright.proving.results import Proved
from rulewright.proving.search import Search
from rulewright.proving.verdicts import without_calls
from rulewright_runtime.ir import CONNECTIVES, Program, free_locals

Known: TypeAlias = "tuple[tuple[Path, Domain], ...]"  # what else is known of variables
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


def placed(
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
    """An environment as a key: two are the same that say the same, as those of a document that is linted again do."""

    environment: Environment

    def __hash__(self) -> int:
        return hash(tuple(self.environment.variables))

    def __eq__(self, other: object) -> bool:
        one, two = self.environment, other.environment if isinstance(other, _Same) else None
        return one is two or one == two


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
