"""Relations between the variables of a box.

Two parts of conditions have no value where it is the same part of the input that they lack. Conditions on one text hold
together only as some text allows, and conditions on the items of one list only as some list allows.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise, permutations
from operator import and_
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from rulewright.expression.declarations import profile_functions
from rulewright.expression.types import BOOL, DURATION, DYN, STRING, TIMESTAMP
from rulewright.proving.atoms import FALSE, TRUE, bits_of
from rulewright.proving.box_variables import LONGEST, Box, BoxVariable, Relation, Rows, cell_mask
from rulewright.proving.domains import Absent, Domains, Path, wholes_at
from rulewright.proving.languages import (
    ANY,
    MOST_LANGUAGES,
    Language,
    Outcome,
    at_least,
    complement,
    examples,
    has_text,
    holding,
    holds,
    intersection,
    is_holding,
    literal,
    outcomes,
    sample_outcomes,
    union,
)  # fmt: skip
from rulewright.proving.list_relations import Lists, Results, searched
from rulewright.proving.program_parts import COMPARISONS, exact_of, extract, numbers_of, path_at, unabridged, value_of
from rulewright.proving.schemas import accepts_all_of
from rulewright.proving.static_types import failures_of, typed
from rulewright.proving.text_conditions import TextCondition, carried, condition_on_text
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import NUMBERS, Node, Program, literal_value
from rulewright_runtime.score import Score
from rulewright_runtime.values import INT_MAX, INT_MIN, UINT_MAX, Duration, Timestamp, UInt, Value

Answer: TypeAlias = "Callable[[Any], tuple[bool, ...]]"
Each = TypeVar("Each")
MOST_JOINED: Final = 3  # texts in one
_VALUE: Final = "__value"  # what stands for the open side of a comparison
_LITERALS: Final = (*NUMBERS, "string", "bool", "null", "timestamp", "duration")
# Values of every kind, tried besides constants and what is between them. No record holds NaN, and no function gives it.
_OTHERS: Final[tuple[Value, ...]] = (
    -math.inf, math.inf, True, False, None, "", "so", [],
)  # fmt: skip


def relations(variables: Sequence[BoxVariable], domains: Domains, results: Results) -> Iterator[Relation]:
    """The relations between the variables; `results` are those that several conditions can have together."""
    lacks = [lack for variable in variables for lack in _lacks(variable, domains)]
    if len(lacks) > 1:
        yield _Absences(lacks)
    texts = _grouped((each.subject, each) for each in [_text_variable(each, domains) for each in variables] if each)
    yield from (Texts(several) for several in texts if any(each.languages for each in several))
    yield from map(_Values, _by_part(variables, lambda each: _compared(each, domains)))
    for several in _by_part(variables, lambda each: _validated(each, domains)):
        schemas = {id(each): value_of(each.program, each.program.nodes[-1].args[1]) for each in several}
        pairs = permutations(several, 2)
        yield from (_Schemas(one, two) for one, two in pairs if accepts_all_of(schemas[id(two)], schemas[id(one)]))
    lists = _by_part(variables, lambda each: searched(each, domains))
    yield from (Lists(several, domains, results) for several in lists if len(several) > 1)


def _grouped(pairs: Iterable[tuple[str, Each]]) -> Iterable[list[Each]]:
    found: dict[str, list[Each]] = {}
    for key, each in pairs:
        found.setdefault(key, []).append(each)
    return found.values()


def _by_part(
    variables: Iterable[BoxVariable], parts: Callable[[BoxVariable], Iterable[int]]
) -> Iterable[list[BoxVariable]]:
    """The variables with the same part, by its source text."""
    return _grouped((unabridged(extract(each.program, at)), each) for each in variables for at in parts(each))


class _Lack(NamedTuple):
    """The cells of a variable in which at least one of some parts is missing; in others none of the `sure` ones is."""

    at: int
    cells: int
    parts: frozenset[Path]
    sure: frozenset[Path]


def _lacks(variable: BoxVariable, domains: Domains) -> Iterator[_Lack]:
    absent = [value.part for value in variable.values if isinstance(value, Absent)]
    path = path_at(variable.program, len(variable.program.nodes) - 1)
    if absent and not (path and variable.path):
        needed, sure = (failures_of(variable.program, domains, is_sure=each) for each in (False, True))
        yield _Lack(variable.at, variable.lacking, needed | _to_be_true(variable, domains), sure)
    for part in absent if path and variable.path else ():
        cells = [isinstance(value, Absent) and value.part <= part for value in variable.values]
        parts = frozenset({path[: part + 1]} if path else ())
        yield _Lack(variable.at, cell_mask(cells), parts, parts | domains.implied.get(path or (), frozenset()))


def _to_be_true(variable: BoxVariable, domains: Domains) -> frozenset[Path]:
    """What a condition needs besides a value: to be true or false, where its type is not known."""
    node = variable.program.nodes[-1]
    results = {each.result for each in profile_functions().get(str(node.value), ())} if node.op == "call" else set()
    is_known = variable.path or results == {BOOL} or typed(variable.program, domains)[-1].type == BOOL
    return frozenset() if is_known else frozenset({("true or false", unabridged(variable.program))})


class _Absences(Relation):
    """What lacks the same parts has no value together."""

    def __init__(self, lacks: Sequence[_Lack]) -> None:
        self.indices = tuple(sorted({each.at for each in lacks}))
        self.lacks = [each._replace(at=self.indices.index(each.at)) for each in lacks]

    def allows(self, cells: Box) -> bool:
        present = frozenset[Path]().union(*[each.sure for each in self.lacks if not cells[each.at] & each.cells])
        return not any(each.parts <= present for each in self.lacks if not cells[each.at] & ~each.cells)


def _validated(variable: BoxVariable, domains: Domains) -> Iterator[int]:
    """The value that a variable compares with a plain JSON Schema."""
    node = variable.program.nodes[-1]
    if node.value == "valid_against" and typed(variable.program, domains, node.args)[-1].total:
        yield node.args[0]


class _Schemas(Relation):
    """What is valid against the schema of one variable is valid against that of the other one, which accepts more."""

    def __init__(self, narrow: BoxVariable, wide: BoxVariable) -> None:
        self.indices = narrow.at, wide.at
        self.apart = narrow.cells(TRUE), wide.cells(FALSE)

    def allows(self, cells: Box) -> bool:
        return any(each & ~apart for each, apart in zip(cells, self.apart, strict=True))


class _TextVariable(NamedTuple):
    """A variable that depends on one text, the `subject`: on whether it is in some languages and reaches some lengths.
    `answers` to these questions belong to each cell; None to one without a text."""

    subject: str
    variable: BoxVariable
    languages: Sequence[Language]
    lengths: Sequence[int]
    answers: Sequence[tuple[bool | None, ...] | None]

    def language(self, cells: int) -> Language:
        """The texts for which the variable may be in some of the cells."""
        allowed = [answers for number, answers in enumerate(self.answers) if cells >> number & 1]
        if any(answers is None for answers in allowed):
            return ANY
        asked = [*self.languages, *map(at_least, self.lengths)]
        return union(
            intersection(
                one if answer else complement(one)
                for one, answer in zip(asked, answers or (), strict=True)
                if answer is not None
            )
            for answers in allowed
        )


def _text_variable(variable: BoxVariable, domains: Domains) -> _TextVariable | None:
    program, last = variable.program, len(variable.program.nodes) - 1
    node = program.nodes[last]

    def made(
        subject: str,
        answer: Callable[[Any], tuple[bool, ...]],
        languages: Sequence[Language],
        lengths: Sequence[int] = (),
    ) -> _TextVariable:
        answers = [None if isinstance(value, Absent) else answer(value) for value in variable.values]
        return _TextVariable(subject, variable, languages, lengths, answers)

    condition = condition_on_text(program, last)
    if condition is not None:
        return _where_defined(made(condition.subject, lambda value: (value,), [condition.language]), condition, domains)
    if node.op == "call" and node.value == "size" and typed(program, domains)[node.args[0]].type == STRING:
        cuts = {int(cut) + step for cut in variable.cuts if isinstance(cut, Fraction) for step in (0, 1)}
        lengths = sorted(cut for cut in cuts if 0 < cut <= LONGEST)
        subject = unabridged(extract(program, node.args[0]))
        return made(subject, lambda value: tuple([value >= each for each in lengths]), [], lengths)
    texts = sorted(cut for cut in variable.cuts if isinstance(cut, str))
    if texts and not any(isinstance(value, list) for value in variable.values):
        several = [carried(program, last, literal(each)) for each in texts]
        languages = [each.language for each in several]
        found = made(several[0].subject, lambda value: tuple([value == each for each in texts]), languages)
        return _where_defined(found, several[0], domains)
    return None


def _where_defined(found: _TextVariable, condition: TextCondition, domains: Domains) -> _TextVariable:
    """The variable with the language of the texts for which it has a value."""
    program = found.variable.program
    if not condition.partial:
        return found
    types = typed(program, domains, {*condition.partial, condition.at})
    is_text = types[condition.at].type == STRING
    nowhere = (*[None] * len(found.languages), False) if is_text and types[-1].total else None
    answers = [nowhere if each is None else (*each, True) for each in found.answers]
    return found._replace(languages=[*found.languages, condition.defined], answers=answers)


class Texts(Rows):
    """Conditions on one text hold together only as some text allows."""

    def __init__(self, several: Sequence[_TextVariable]) -> None:
        self.indices = tuple([each.variable.at for each in several])
        self.several = several
        self.subject = several[0].subject

    def allows(self, cells: Box) -> bool:
        return any(all(map(and_, cells, row)) for row in self._sampled) or super().allows(cells)

    @cached_property
    def _sampled(self) -> Sequence[Box]:
        """Some of the combinations, found with less work than all."""
        languages, lengths = self._languages()
        with suppress(RecursionError):  # of a long text
            return [self._cells(outcome, lengths) for outcome in sample_outcomes(tuple(languages), tuple(lengths))]
        return []

    def combinations(self) -> Sequence[Box] | None:
        languages, lengths = self._languages()
        found = outcomes(languages, lengths)
        if found is None and lengths:
            lengths, found = [], outcomes(languages)
        return None if found is None else [*(self._cells(outcome, lengths) for outcome in found), self._nowhere]

    def _languages(self) -> tuple[list[Language], list[int]]:
        languages = [language for each in self.several for language in each.languages]
        return languages, sorted({length for each in self.several for length in each.lengths})

    def text(self, cells: Box) -> str | bool:
        """A text in the cells; False if there is none, True if that is not known."""
        if all(map(and_, cells, self._nowhere)):
            return True
        if self._is_ruled_out(cells):
            return False
        with suppress(RecursionError):  # of a long text
            if (text := self._guessed(cells)) is not None:
                return text
        return has_text(intersection(map(_TextVariable.language, self.several, cells)))

    def _is_ruled_out(self, cells: Box) -> bool:
        """Whether what has to occur in the text holds what must not."""
        texts = [(examples(language, 1)[0], language) for language in self._with_answer(True, cells)]
        asked = [text for text, language in texts if language == holding(literal(text))]
        refused = self._with_answer(False, cells) if asked else ()
        return any(holds(each, text) for each in refused if is_holding(each) for text in asked)

    def _with_answer(self, answer: bool, cells: Box) -> list[Language]:
        """The languages of the variables that depend on one only and leave no choice but this answer."""
        return [
            each.languages[0]
            for each, here in zip(self.several, cells, strict=True)
            if len(each.languages) == 1
            and all(answers == (answer,) for number, answers in enumerate(each.answers) if here >> number & 1)
        ]

    def _guessed(self, cells: Box) -> str | None:
        """A text in the cells of so many variables that searching one takes long."""
        languages, lengths = self._languages()
        for text in self._guesses(cells) if len(languages) > MOST_LANGUAGES else ():
            reached = tuple([len(text) >= length for length in lengths])
            outcome = Outcome(tuple([holds(each, text) for each in languages]), reached)
            if all(map(and_, cells, self._cells(outcome, lengths))):
                return text
        return None

    def _guesses(self, cells: Box) -> Iterator[str]:
        """Texts made of those that the few variables without a choice ask for: each, and all in any order."""
        asked = [examples(language, 1)[0] for language in self._with_answer(True, cells)]
        some = list(dict.fromkeys(asked))[:MOST_JOINED]
        yield from ("", *some)
        for separator in (" ", ""):
            yield from map(separator.join, permutations(some))

    @property
    def _nowhere(self) -> Box:
        """The cells without a text."""
        return tuple([each.variable.lacking for each in self.several])

    def _cells(self, outcome: Outcome, lengths: Sequence[int]) -> Box:
        holds, reaches = iter(outcome.holds), dict(zip(lengths, outcome.reaches, strict=True))
        cells = []
        for each in self.several:
            given = (*[next(holds) for _ in each.languages], *[reaches.get(length) for length in each.lengths])
            cells.append(cell_mask(answers is None or _agree(answers, given) for answers in each.answers))
        return tuple(cells)


def _agree(answers: Iterable[bool | None], given: Iterable[bool | None]) -> bool:
    return all(one is None or two in (one, None) for one, two in zip(answers, given, strict=True))


def _compared(variable: BoxVariable, domains: Domains) -> Iterator[int]:
    """The part of unknown type, or the time, that a comparison compares with a constant."""
    program, node = variable.program, variable.program.nodes[-1]
    if node.op == "call" and node.value in COMPARISONS and all(isinstance(v, bool | Absent) for v in variable.values):
        for one, two in (node.args, node.args[::-1]):
            if _is_simple(program.nodes[two]) and typed(program, domains)[one].type in (None, DYN, TIMESTAMP, DURATION):
                yield one


def _is_simple(node: Node) -> bool:
    return node.op == "const" and node.value[0] in _LITERALS


class _Values(Rows):
    """Comparisons of one value of unknown type, or one time, with constants, carried out on a value of every kind."""

    def __init__(self, several: Sequence[BoxVariable]) -> None:
        self.indices = tuple([each.at for each in several])
        self.several = several

    def combinations(self) -> Sequence[Box]:
        """What the comparisons say of each value, and of none."""
        compares = [_compares(each.program) for each in self.several]
        found = {tuple([bits_of(each, {_VALUE: value}) for each in compares]) for value in self.tried()}
        rows = {tuple(map(BoxVariable.cells, self.several, bits)) for bits in found}
        return [*sorted(rows), tuple([each.lacking for each in self.several])]

    def tried(self) -> Iterator[Value]:
        """Values of every kind, numbers, texts and times among them that the constants distinguish."""
        nodes = [each.program.nodes[arg] for each in self.several for arg in each.program.nodes[-1].args]
        given = [literal_value(node.value) for node in nodes if _is_simple(node)]
        yield from (*_OTHERS, *given, *(f"{each}\0" for each in given if isinstance(each, str)))
        numbers = numbers_of(given)
        around = [numbers[0] - 1, *numbers, numbers[-1] + 1] if numbers else []
        between = [(one + two) / 2 for one, two in pairwise(around)]
        yield from (Score(each.numerator, each.denominator) for each in between)
        yield from chain.from_iterable(map(_neighbours, given))


def _neighbours(value: Value) -> Iterator[Value]:
    """The neighbours of a time or a number. An int is compared with a double as its nearest double."""
    if isinstance(value, Timestamp | Duration):
        for step in (-1, 1):
            with suppress(EvaluationError):  # out of range
                yield type(value)(value.nanos + step)
    elif exact_of(value) is not None:
        double = float(value)
        yield from (double, *(math.nextafter(double, end) for end in (-math.inf, math.inf)))
        ints = {edge + step for edge in (*wholes_at(double), math.floor(value)) for step in (-1, 0, 1)}
        yield from (UInt(each) if each > INT_MAX else each for each in ints if INT_MIN <= each <= UINT_MAX)


def _compares(program: Program) -> Evaluator:
    """A comparison with a variable in place of its open side."""
    node, given = program.nodes[-1], Node("name", (), [[_VALUE, []]])
    sides = [side if _is_simple(side := program.nodes[arg]) else given for arg in node.args]
    return prepare(program.having((*sides, Node("call", (0, 1), node.value, node.at))))
