"""Values on which conditions may turn: what they compare with, carried back through functions to the variables.

Where `base64.encode(bytes(answer))` is compared with a text, `answer` may be what that text encodes. A guess claims
nothing: whoever takes one up carries the conditions out on it. What a condition compares with may be of another type
than the variable, or only a part of a record.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, pairwise, product
from typing import Final, NamedTuple, TypeVar

from rulewright.expression import types
from rulewright.proving.domains import Absent, Domain, Domains, Path
from rulewright.proving.languages import Language, holding, one_of, outcomes
from rulewright.proving.program_parts import COMPARISONS, exact_of, extract, numbers_of, path_at, shape, value_of
from rulewright.proving.static_types import LOOPS, loop_of
from rulewright.proving.text_conditions import condition_on_text
from rulewright.witnesses.inverses import INVERSES, UNKNOWN
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.score import Score
from rulewright_runtime.values import (
    INT_MAX,
    INT_MIN,
    NANOS,
    NONE,
    TIMESTAMP_MAX,
    TIMESTAMP_MIN,
    Duration,
    Optional,
    Timestamp,
    UInt,
    Value,
)

MOST_ITEMS: Final = 50  # of a list
MOST_MIXED: Final = 4  # texts of a list
MOST_LANGUAGES: Final = 6  # of one text, considered at once
SOME_TEXT: Final = "so"
_UNEQUAL: Final = (SOME_TEXT, 0, 1)  # of two variables that are compared
_ANYTHING: Final = (SOME_TEXT, 1, True)  # where nothing is known of a variable
_TESTS: Final = frozenset((
    "contains", "startsWith", "endsWith", "matches", "contains_ci", "substring_ci", "same_text", "contains_any",
    "contains_all", "contains_none", "has_any_word", "is_json", "hasValue",
    "valid_against",
))  # fmt: skip
_WORDED: Final = holding(one_of([(ord("a"), ord("z") + 1)]))
Name = TypeVar("Name", bound=Hashable)
Choice = TypeVar("Choice")


class InputModel(NamedTuple):
    """What a proof knows of some inputs: values of variables, and texts by the part of conditions that they are."""

    values: Mapping[Path, Value]
    texts: Mapping[str, str]


def guesses(programs: Iterable[Program], models: Sequence[InputModel] = ()) -> dict[Path, list[Value]]:
    """The values that each path may have where one of the programs turns, as far as they could be carried back; those
    of the models first."""
    found: dict[Path, dict[str, Value]] = {}
    guessing = [_Guessing(program, found) for program in programs]
    subjects, conditions = _conditions_on_texts(guessing)
    for subject, text in (pair for model in models for pair in model.texts.items()):
        for guess, at in subjects.get(subject, ()):
            guess.carry(at, text)
    for each in guessing:
        each.collect()
    _compare_texts(subjects, conditions)
    return {path: list(values.values()) for path, values in found.items()}


def _conditions_on_texts(
    guessing: Sequence[_Guessing],
) -> tuple[dict[str, list[tuple[_Guessing, int]]], dict[str, dict[Language, None]]]:
    """Where each text is read, and the languages of the conditions on it."""
    conditions: dict[str, dict[Language, None]] = {}
    subjects: dict[str, list[tuple[_Guessing, int]]] = {}
    for each in guessing:
        for at, node in enumerate(each.program.nodes):
            condition = condition_on_text(each.program, at) if node.op in ("call", "exists", "all") else None
            if condition is not None:
                conditions.setdefault(condition.subject, {})[condition.language] = None
                subjects.setdefault(condition.subject, []).append((each, condition.at))
    return subjects, conditions


def _compare_texts(
    subjects: Mapping[str, Sequence[tuple[_Guessing, int]]], conditions: Mapping[str, Mapping[Language, None]]
) -> None:
    """A text that is read may be one for each of the outcomes that the conditions on it can have together, with and
    without a letter: what has no words is not judged."""
    for subject, languages in conditions.items():
        texts = (outcomes([*[*languages][:MOST_LANGUAGES], _WORDED]) or {}).values()
        for guess, at in subjects[subject]:
            for text in texts:
                guess.carry(at, text)


def choices_at(domains: Domains, guessed: Sequence[Value], path: Path) -> list[Value]:
    """As `choices`, for the domain of a path or its type; where neither is known, the guesses, some values of any kind,
    and none at all."""
    domain, (type_, absent) = domains.find(path), domains.declared(path)
    if domain is not None:
        return choices(domain, guessed)
    if type_ is None or type_ == types.DYN:
        return [*guessed, *_ANYTHING, *([Absent(len(path) - 1)] if len(path) > 1 else [])]
    return [*_of_type(type_, guessed), *map(Absent, sorted(absent, reverse=True))]


def _of_type(type_: types.Type, guessed: Sequence[Value]) -> list[Value]:
    """The guesses that are of a type, with the fields that they lack, and a usual value."""
    found: dict[str, Value] = {}
    for make in (*(partial(completed, each, type_) for each in guessed), partial(usual_value, type_)):
        try:
            value = make()
        except MisfitError:
            continue
        found.setdefault(repr(value), value)
    return list(found.values())


def choices(domain: Domain, guessed: Sequence[Value]) -> list[Value]:
    """What a variable of a domain may be: the guesses that it can hold, numbers between them, and a value of each of
    its cells."""
    tried = [*_between(guessed), *([""] if domain.kind == "string" else ())]
    held = [value for each in tried if (value := _held(domain, each)) is not None]
    if domain.kind == "texts":
        held += _mixed(held)
    cuts = [*numbers_of(held), *(each for each in held if isinstance(each, str))]
    wrapped = [Optional(value) if domain.optional else value for value in held]
    found = {repr(value): value for value in (*wrapped, *(domain.cells(cuts if domain.kind != "texts" else ())))}
    return list(found.values())


def _mixed(lists: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Short lists of the texts in other lists: conditions may ask each for a text at another place."""
    texts = list(dict.fromkeys(text for each in lists for text in each))[:MOST_MIXED]
    return (list(each) for size in (2, 3) for each in product(texts, repeat=size))


def varied(among: Mapping[Name, Sequence[Choice]]) -> Iterator[dict[Name, Choice]]:
    """The choices of some of the names, those of few names first; the others are left out."""
    for size in range(len(among) + 1):
        for names in combinations(among, size):
            for chosen in product(*(among[name] for name in names)):
                yield dict(zip(names, chosen, strict=True))


def _between(values: Sequence[Value]) -> list[Value]:
    """The values, with a number between each two neighbours."""
    return [*values, *(float((low + high) / 2) for low, high in pairwise(numbers_of(values)))]


def _held(domain: Domain, value: Value) -> Value:
    """The value as the domain holds it; None where it can't."""
    exact = exact_of(value)
    match domain.kind:
        case "score" if exact is not None:
            return Score(exact.numerator, exact.denominator) if 0 <= exact <= 1 else None
        case "int" if exact is not None:
            low = INT_MIN if domain.low is None else domain.low
            high = INT_MAX if domain.high is None else domain.high
            return int(exact) if low <= int(exact) <= high else None
        case "double" if exact is not None:
            return float(exact)
        case "string" if isinstance(value, str):
            return value
        case "enum" if value in domain.members:
            return value
        case "texts" if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return value
    return None


@dataclass(slots=True)
class _Guessing:
    """Carries the values that one program compares with to its variables, and adds them to `found`."""

    program: Program
    found: dict[Path, dict[str, Value]]
    records: dict[Value, tuple[int, dict[str, list[Value]]]] = field(
        default_factory=dict
    )  # asked of what a part computes

    def collect(self) -> None:
        for at, node in enumerate(self.program.nodes):
            if node.op == "call" and node.value in COMPARISONS:
                self.compare(*node.args)
            elif node.op == "call" and node.value == "@in":
                self.membership(*node.args)
            elif node.op == "has" or (node.op == "call" and node.value in _TESTS):
                self.carry(at, True)
        for base, asked in list(self.records.values()):
            first = {key: values[0] for key, values in asked.items()}
            for key, values in asked.items():
                for value in values if len(asked) > 1 else ():
                    self.below(base, {**first, key: value})

    def compare(self, one: int, two: int) -> None:
        """Each side may be the other, or a little less or more."""
        for side, other in ((one, two), (two, one)):
            for value in self.constants(other):
                for each in _UNEQUAL if value is UNKNOWN else _around(value):
                    self.carry(side, each)

    def membership(self, item: int, container: int) -> None:
        one, several = self.constant(item), self.constant(container)
        for each in several if isinstance(several, list | tuple) else ():
            self.carry(item, each)
        if one is not UNKNOWN:
            self.carry(container, [one])

    def constants(self, at: int) -> list[Value]:
        """The values of a part that reads nothing, or only the items of a list that reads nothing."""
        loop = loop_of(self.program, at) if self.program.nodes[at].op == "local" else None
        items = None if loop is None or loop.op not in LOOPS else self.constant(loop.args[0])
        return list(items) if isinstance(items, list | tuple) else [self.constant(at)]

    def constant(self, at: int) -> Value:
        """The value of a part that reads nothing; UNKNOWN where it reads something or has none."""
        return value_of(self.program, at, UNKNOWN)

    def carry(self, at: int, value: Value) -> None:
        """Make a node give a value, as far as that can be done."""
        if type(value) is int and not INT_MIN <= value <= INT_MAX:
            return
        node = self.program.nodes[at]
        path = path_at(self.program, at)
        if path is not None:
            if node.op != "has":
                self.found.setdefault(path, {}).setdefault(repr(value), value)
            return
        if node.op == "cond":
            for branch in node.args[1:]:
                self.carry(branch, value)
        elif node.op == "local" and (loop := loop_of(self.program, at)) is not None:
            self.carry(loop.args[0], value if loop.op == "bind" or loop.op.startswith("opt") else [value])
        elif node.op == "map_list" and isinstance(value, list):
            for each in value:
                self.carry(node.args[-1], each)
        elif node.op in ("filter", "opt_map"):
            self.carry(node.args[0], value)
        elif node.op in ("select", "opt_select", "has", "index", "opt_index"):
            self.part(node, SOME_TEXT if node.op == "has" else value)
        elif node.op == "call" and node.value in INVERSES:
            others = [self.constant(arg) for arg in node.args]
            asked = INVERSES[node.value](value, others) if UNKNOWN in others else ()
            for number, each in asked:
                if number < len(node.args) and others[number] is UNKNOWN:
                    self.carry(node.args[number], each)

    def part(self, node: Node, value: Value) -> None:
        """Make a part of what a node computes a value: a field, or an item of a list."""
        key = node.value if node.op in ("select", "opt_select", "has") else self.constant(node.args[1])
        if isinstance(key, str):
            base = shape(extract(self.program, node.args[0]))
            values = self.records.setdefault(base, (node.args[0], {}))[1].setdefault(key, [])
            if value not in values:
                values.append(value)
            self.below(node.args[0], {key: value})
        elif type(key) is int and 0 <= key < MOST_ITEMS:
            self.carry(node.args[0], [value] * (key + 1))

    def below(self, at: int, record: dict[str, Value]) -> None:
        if path_at(self.program, at) is None:
            self.carry(at, record)


def _around(value: Value) -> list[Value]:
    """A value with its neighbours."""
    if isinstance(value, Timestamp):
        near = (value.nanos - NANOS, value.nanos + NANOS)
        return [value, *(Timestamp(each) for each in near if TIMESTAMP_MIN <= each <= TIMESTAMP_MAX)]
    if type(value) is int:
        return [value, value - 1, value + 1]
    if type(value) in (float, Score):
        number = float(exact_of(value) or 0)
        return [value, round(number - 0.1, 12), round(number + 0.1, 12)]
    return [value]


_START_OF_2026: Final = 1_767_225_600
_USUAL: Final[dict[types.Type, Value]] = {
    types.BOOL: True, types.INT: 1, types.UINT: UInt(1), types.DOUBLE: 1.0, types.SCORE: Score(1, 2),
    types.STRING: "so", types.BYTES: b"so", types.DYN: "so",
    types.TIMESTAMP: Timestamp(_START_OF_2026 * NANOS), types.DURATION: Duration(NANOS),
}  # fmt: skip


class MisfitError(ValueError):
    """A value is of another type, or no value of a type is known."""


def usual_value(type_: types.Type) -> Value:
    """A value of the type. Raises MisfitError."""
    match type_:
        case types.EnumType(members=members):
            return members[0]
        case types.ListType():
            return []
        case types.MapType() | types.RecordType():
            return completed({}, type_)
        case types.OptionalType():
            return NONE
        case types.WrapperType():
            return None
    if type_ not in _USUAL:
        raise MisfitError
    return _USUAL[type_]


def completed(value: Value, type_: types.Type) -> Value:
    """The value, with usual values for the fields that its records lack. Raises MisfitError."""
    match type_:
        case types.RecordType(fields=fields, optional=optional) if (
            isinstance(value, dict) and value.keys() <= fields.keys()
        ):
            lacking = {name: usual_value(t) for name, t in fields.items() if name not in optional | value.keys()}
            return {**lacking, **{name: completed(each, fields[name]) for name, each in value.items()}}
        case types.MapType(value=of) if isinstance(value, dict):
            return {key: completed(each, of) for key, each in value.items()}
        case types.ListType(element=of) if isinstance(value, list | tuple):
            return [completed(each, of) for each in value]
        case types.OptionalType(value=of) if isinstance(value, Optional):
            return Optional(completed(value.value, of)) if value.present else value
        case types.WrapperType(of=of):
            return None if value is None else completed(value, of)
        case types.EnumType(members=members) if value in members:
            return value
    if type_ != types.DYN and type(value) is not type(_USUAL.get(type_)):
        raise MisfitError
    return value
