"""Results of exact splitting for every condition of a document.

A condition is a boolean expression, the test of a conditional inside another expression, or the body of a macro. The
test of an inner conditional is checked under the tests of the conditionals around it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Span
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, ListType, RecordType
from rulewright.load import Scalar, place
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.cascades import Cascade, Course
from rulewright.proving.domains import Domain, Domains, Path, number, whole
from rulewright.proving.gates import as_seen
from rulewright.proving.intervals import Goal
from rulewright.proving.program_parts import COMPARISONS as COMPARED
from rulewright.proving.program_parts import extract, paths_of, value_of, with_item, with_values
from rulewright.proving.search import Search, choices, comparisons, without_effect
from rulewright.proving.static_types import LARGEST_COUNT, LOOPS, typed
from rulewright.proving.verdicts import CallVariable, abstracted, domains_of
from rulewright_runtime.ir import CONNECTIVES, Node, Program, free_locals
from rulewright_runtime.score import Score

Known: TypeAlias = "tuple[tuple[Path, Domain], ...]"  # more exact domains of variables
Ordered: TypeAlias = "tuple[tuple[Path, Path], ...]"
Constants: TypeAlias = "tuple[tuple[Path, object], ...]"  # the usual values of variables
Values: TypeAlias = Mapping[Path, object]
_NO_VALUES: Final[Values] = MappingProxyType({})
AFTER: Final = " after those before it"
MOST_ALONE: Final = 12  # tests that are looked at apart from the others of a value
BY_DEFAULT: Final = " with the default parameters"
_LOOP: Final[Path] = ("loop", "iteration")
_COUNTERS: Final[tuple[Path, ...]] = (_LOOP, ("pair", "iteration"), ("review", "iteration"))
_NUMBER: Final[Path] = ("turn", "number")
_FACTS: Final[dict[Path, Domain]] = {
    _NUMBER: whole(0, LARGEST_COUNT),
    ("elapsed_hours",): replace(number(0), optional=True),
    ("turn",): whole(0, LARGEST_COUNT),  # a conversation may start with turn 0
    ("session",): whole(1, LARGEST_COUNT),
    ("turns_in_state",): whole(0, LARGEST_COUNT),  # sessions may be numbered in any order, turns not
}


class Study(Struct, frozen=True):
    """The results for a condition: whether it never or always holds; its `dead` operands, which never or always hold;
    its `idle` operands, which have no effect, with their operator; its `decided` comparisons, with their results. Parts
    are programs of their own. `is_part` marks a test and a macro's body; `given` is a phrase for assumed conditions.
    """

    program: Program
    never: bool
    always: bool
    dead: tuple[tuple[Program, bool], ...]
    idle: tuple[tuple[Program, str], ...]
    decided: tuple[tuple[Program, bool], ...]
    is_part: bool = False
    given: str = ""


class LocatedCondition(NamedTuple):
    """A condition that reads a variable. `in_table` marks a row of a table, which is checked as a whole."""

    scalar: Scalar
    study: Study
    in_table: bool = False

    @property
    def place(self) -> Span | Scalar:
        """The span of the condition in its file, or its scalar."""
        if self.study.is_part:
            return span_of(self, self.study.program)
        return place(self.scalar, 0, len(self.scalar.text))


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
    usual: Constants = (),
    given: tuple[str, Sequence[str]] = ("", ()),
    ordered: Ordered = (),
) -> Iterator[LocatedCondition]:
    """Yield the conditions of expressions; `usual` are the values of parameters, `given` is a phrase for messages and
    the conditions assumed to hold, of the numbers of an `ordered` pair the first is at most the second."""
    for scalar in scalars:
        text = scalar.text
        read = " ".join((text, *given[1]))  # what is known of other variables changes nothing
        bounds = tuple([each for each in known if _may_read(read, each[0])])
        values = tuple([each for each in usual if _may_read(read, each[0])])
        facts = _WhatIsKnown(iterations, bounds, values, (given[0], tuple(given[1])), ordered)
        for study in _studies_of(text, environment, facts):
            yield LocatedCondition(scalar, study, in_table and not study.is_part)


def _may_read(text: str, path: Path) -> bool:
    return path[-1] in text or not path[-1].isidentifier()


class _WhatIsKnown(NamedTuple):
    """What is known of the variables of an expression: the maximum of the loop that it belongs to, more exact domains,
    the usual values of parameters, the conditions assumed to hold, and pairs of numbers in their order."""

    iterations: int | None
    bounds: Known
    usual: Constants
    given: tuple[str, tuple[str, ...]]
    ordered: Ordered


@lru_cache(maxsize=2048)
def _studies_of(text: str, environment: Environment, facts: _WhatIsKnown) -> tuple[Study, ...]:
    """The studies of an expression's conditions, cached for all rules and all documents that contain it."""
    variables = environment.variables
    counters = dict.fromkeys(_COUNTERS, whole(1, LARGEST_COUNT)) | {_LOOP: whole(1, facts.iterations or LARGEST_COUNT)}
    known = _FACTS | counters | dict(facts.bounds)
    if isinstance(counts := variables.get("counts"), RecordType):
        known |= {("counts", name): whole(0, LARGEST_COUNT) for name in counts.fields}
    domains = Domains(as_seen(variables), known, ordered=facts.ordered)
    try:
        built = build(text, environment)
    except ExpressionError:
        return ()
    usual = dict(facts.usual)
    inner = [each for body, below in _bodies(built.program, domains) for each in _within(body, below, usual)]
    if built.type != BOOL:
        return (*_tests(built.program, domains, usual), *inner)
    if not paths_of(built.program):
        return tuple(inner)
    study = _study(built.program, domains, usual)
    return (_study_given(study, facts.given, environment, domains), *inner)


def _within(body: Program, domains: Domains, usual: Values) -> Iterator[Study]:
    """Yield the study of a macro's body, or of the tests in it."""
    if typed(body, domains)[-1].type == BOOL and body.nodes[-1].op != "cond":
        yield replace(_study(body, domains, usual), is_part=True)
    else:
        yield from _tests(body, domains, usual)


def _bodies(program: Program, domains: Domains) -> Iterator[tuple[Program, Domains]]:
    """Yield the bodies of macros over lists, outer ones first, each with its variable as a name with the type of the
    list's elements."""
    types, free = typed(program, domains), free_locals(program)
    seen: set[tuple[int, ...]] = set()
    for node in reversed(program.nodes):
        if node.op not in LOOPS or len(node.value) != 1 or free[node.args[1]] != frozenset(node.value):
            continue  # those inside another body are found there
        body, range_ = extract(program, node.args[1]), types[node.args[0]].type
        if body.nodes[-1].at in seen or not isinstance(range_, ListType):
            continue
        spans = [each.at for each in body.nodes if each.op == "local" and each.value == node.value[0]]
        name = program.source[slice(*spans[0])]
        known = {path: domain for path, domain in domains.known.items() if path[0] != name}
        known[name, "number"] = domains.known[_NUMBER]
        below = Domains({**domains.types, name: range_.element}, known, ordered=domains.ordered)
        body = with_item(body, node, Node("name", (), [[name, []]]))
        for inner, names in ((body, below), *_bodies(body, below)):
            if inner.nodes[-1].at not in seen:
                seen.add(inner.nodes[-1].at)
                yield inner, names


def _tests(program: Program, domains: Domains, usual: Values) -> Iterator[Study]:
    """Yield the studies of the tests of a value's conditionals."""
    courses = _Courses(program, domains, usual)
    settled: set[int] = set()
    for test, around in courses.written:
        if not settled.isdisjoint(at for at, _ in around):
            continue
        study = replace(_study(courses.tests[test], domains, usual), is_part=True)
        if around and not (study.never or study.always):
            study = _study_after(study, (*around, (test, TRUE)), courses)
        if study.never or study.always:
            settled.add(test)
        yield study


def _study_after(study: Study, course: Course, courses: "_Courses") -> Study:
    """The study, with the result that the tests around it never let it hold, always or for the usual parameters."""
    if courses.exclude(course, courses.tests):
        return replace(study, never=True, given=AFTER)
    filled = courses.filled
    is_same = all(filled[at] == courses.tests[at] for at, _ in course)
    if is_same or courses.exclude(course[:-1], filled) or is_never(filled[course[-1][0]], courses.domains, TRUE):
        return study
    return replace(study, never=True, given=f"{AFTER}{BY_DEFAULT}") if courses.exclude(course, filled) else study


class _Courses:
    """The tests of a value's conditionals by their nodes, also `filled` with the usual parameters. Those that are
    `written` read a variable, and have the tests around them."""

    def __init__(self, program: Program, domains: Domains, usual: Values) -> None:
        self.domains = domains
        self.tests: dict[int, Program] = {}
        self.written: list[tuple[int, Course]] = []
        for test, around in choices(program):
            part = self.tests[test] = extract(program, test)
            if part.nodes[-1].at and paths_of(part) and not free_locals(part)[-1]:
                self.written.append((test, around))
        self.filled = {test: with_values(part, usual) for test, part in self.tests.items()}
        self._cascades: dict[int, list[Cascade]] = {}

    def exclude(self, course: Course, tests: Mapping[int, Program]) -> bool:
        """Whether no input takes a course: a long one by what the one before it has left."""
        if len(course) > MOST_ALONE:
            return any(each.excludes(course) for each in self._prepared(tests))
        alone = _PreparedConditions([tests[at] for at, _ in course], self.domains)
        return alone.exclude([(number, bits) for number, (_, bits) in enumerate(course)])

    def _prepared(self, tests: Mapping[int, Program]) -> list[Cascade]:
        """The tests as they are, and with every call as a variable."""
        if id(tests) not in self._cascades:
            calls: dict[str, CallVariable] = {}
            abstract = {at: abstracted(each, calls, self.domains) for at, each in tests.items()}
            found = [Cascade(tests, self.domains)]
            found += [Cascade(abstract, domains_of(calls, self.domains))] if calls else []
            self._cascades[id(tests)] = found
        return self._cascades[id(tests)]


@dataclass
class _PreparedConditions:
    """Conditions, prepared once for all goals; equal calls have equal results."""

    programs: Sequence[Program]
    domains: Domains

    def exclude(self, goal: Goal) -> bool:
        """Whether no input meets the goal."""
        return self._search.excludes(goal) or (self._abstract is not None and self._abstract.excludes(goal))

    @cached_property
    def _search(self) -> Search:
        return Search(self.programs, self.domains)

    @cached_property
    def _abstract(self) -> Search | None:
        """The same with every call as a variable; None without calls."""
        calls: dict[str, CallVariable] = {}
        abstract = [abstracted(each, calls, self.domains) for each in self.programs]
        return Search(abstract, domains_of(calls, self.domains)) if calls else None


def _study_given(study: Study, given: tuple[str, tuple[str, ...]], environment: Environment, domains: Domains) -> Study:
    """The study, with the results that follow from conditions assumed to hold."""
    phrase, texts = given
    if study.never or study.always or not texts:
        return study
    try:
        programs = [study.program, *(build(each, environment, expect=BOOL).program for each in texts)]
    except ExpressionError:
        return study
    assumed = [(at, TRUE) for at in range(1, len(programs))]
    conditions = _PreparedConditions(programs, domains)
    if conditions.exclude(assumed):  # they contradict each other, which is reported for them
        return study
    never, always = (conditions.exclude([(0, bits), *assumed]) for bits in (TRUE, FALSE | ERROR))
    return replace(study, never=never, always=always, given=phrase) if never or always else study


def _study(program: Program, domains: Domains, usual: Values = _NO_VALUES) -> Study:
    condition = _PreparedConditions([program], domains)
    has_never = condition.exclude([(0, TRUE)])
    has_always = not has_never and condition.exclude([(0, FALSE | ERROR)])
    parts = [(part, _result(part, domains)) for part in comparisons(program) if part is not program]
    decided = (*((part, holds) for part, holds in parts if holds is not None), *_beyond_unit(program, domains, usual))
    decided = decided or (() if has_never or has_always else tuple(_never_false(condition)))
    dead = () if has_never or has_always or decided else tuple(_dead(program, domains, usual))
    idle: tuple[tuple[Program, str], ...] = ()
    if not (has_never or has_always or dead):
        idle = tuple([(extract(program, at), operator) for at, operator in without_effect(program, domains)])
    return Study(program, has_never, has_always, dead, idle, decided)


def _never_false(condition: _PreparedConditions) -> Iterator[tuple[Program, bool]]:
    """Yield the outermost `or` parts of comparisons that are true or an error: `int(x) > 1 || int(x) < 14`."""
    (program,) = condition.programs
    root = len(program.nodes) - 1
    pending = [root]
    while pending:
        at = pending.pop()
        node = program.nodes[at]
        is_compared = node.op == "or" and all(str(program.nodes[arg].value) in COMPARED for arg in node.args)
        part = condition if at == root else _PreparedConditions([extract(program, at)], condition.domains)
        if is_compared and part.exclude([(0, FALSE)]) and not part.exclude([(0, ERROR)]):
            yield part.programs[0], True
        elif node.op in CONNECTIVES:
            pending += reversed(node.args)


def is_never(program: Program, domains: Domains, bits: int) -> bool:
    """Whether the condition has no result in `bits` for any input."""
    return _PreparedConditions([program], domains).exclude([(0, bits)])


def _dead(program: Program, domains: Domains, usual: Values) -> Iterator[tuple[Program, bool]]:
    """Yield the outermost `and` and `or` parts that never or always hold, each with its constant result; with the usual
    values of parameters only those of several operands."""
    root = len(program.nodes) - 1
    pending = [root]
    while pending:
        at = pending.pop()
        op = program.nodes[at].op
        part = extract(program, at)
        holds = _constant(part, domains, usual) if op in ("and", "or") and at != root else None
        if holds is None:
            pending += reversed(program.nodes[at].args) if op in CONNECTIVES else ()
        else:
            yield part, holds


def _constant(part: Program, domains: Domains, usual: Values) -> bool | None:
    """True if a part always holds, False if it never does, None if it may do both."""
    filled = with_values(part, usual)
    if filled != part and is_never(filled, domains, FALSE) and paths_of(filled):
        return True
    if not paths_of(part):
        return None
    condition = _PreparedConditions([part], domains)
    return True if condition.exclude([(0, FALSE | ERROR)]) else False if condition.exclude([(0, TRUE)]) else None


def _result(part: Program, domains: Domains) -> bool | None:
    """False of a part that is never true, else True of one that is never false."""
    condition = _PreparedConditions([part], domains)
    return False if condition.exclude([(0, TRUE)]) else True if condition.exclude([(0, FALSE)]) else None


def _beyond_unit(program: Program, domains: Domains, usual: Values) -> Iterator[tuple[Program, bool]]:
    """Yield the comparisons that parameters decide because their usual values give a figure outside 0..1."""
    for part in comparisons(program) if usual else ():
        filled = with_values(part, usual)
        figures = [value_of(filled, arg) for arg in filled.nodes[-1].args]
        outside = [each for each in figures if isinstance(each, int | float | Score) and not 0 <= each <= 1]
        is_open = filled != part and paths_of(filled) and outside
        if is_open and (holds := _result(filled, domains)) is not None:
            yield part, holds
