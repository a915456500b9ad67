"""Languages of texts, to find which of several conditions on one text can hold together, each with a text.

A language is a regular expression, also with intersections and complements, that is derived character by character
(Brzozowski, Derivatives of Regular Expressions, 1964). Whether an assertion such as a word boundary holds depends on
the characters before and after it. Characters that no language distinguishes are represented by one of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import chain, islice, product
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"  # of code points in order, each without its end


class Language:
    """A language: `none` without texts, `empty` with the empty text alone, a `set` of characters (`Ranges`), an
    assertion `at` some place, or `then` of two languages, `star` and `not` of one, `or` and `and` of a frozenset.
    Equal languages are one object, as a search looks up the same ones many times."""

    __slots__ = ("__weakref__", "_hash", "kind", "parts")
    _hash: int
    kind: str
    parts: tuple[Any, ...]

    def __new__(cls, kind: str, *parts: Any) -> Language:
        found = _KNOWN.get((kind, parts))
        if found is None:
            found = _KNOWN[kind, parts] = object.__new__(cls)
            found.kind, found.parts, found._hash = kind, parts, hash((kind, parts))
        return found

    def __hash__(self) -> int:
        return self._hash


_KNOWN: Final[WeakValueDictionary[tuple[Any, ...], Language]] = WeakValueDictionary()
MOST_LANGUAGES: Final = 8  # the outcomes of independent ones double with each
MOST_EXAMPLES: Final = 24
MOST_STATES: Final = 4_000
MOST_WORK: Final = 100_000  # languages that read a character, and parts of them that are derived
NOTHING: Final = Language("none")
EMPTY: Final = Language("empty")
CHARACTER: Final = Language("set", ((0, 0x110000),))
ANY: Final = Language("star", CHARACTER)
START, END, BOUNDARY = "start", "end", "boundary"
_WORD: Final = ((48, 58), (65, 91), (95, 96), (97, 123))  # as RE2 defines it
_UPPER: Final = range(ord("A"), ord("Z") + 1)
_SURROGATES: Final = range(0xD800, 0xE000)
_USUAL: Final = "oaeinstrlcdumpghbyfvkwxzjq .,-'0123456789ABC!?\n"  # represent others before rarer characters
_VARIED: Final = f"o 5!{_USUAL}"


class Outcome(NamedTuple):
    """Which of several languages a text is in, and which of several lengths it reaches."""

    holds: tuple[bool, ...]
    reaches: tuple[bool, ...]


def one_of(ranges: Iterable[tuple[int, int]]) -> Language:
    """The texts of one character in one of the ranges."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], high)
        else:
            merged.append((low, high))
    return Language("set", tuple(merged)) if merged else NOTHING


def literal(text: str) -> Language:
    return sequence([one_of([(ord(each), ord(each) + 1)]) for each in text])


def sequence(parts: Sequence[Language], end: Language = EMPTY) -> Language:
    """The texts that consist of a text of each part and the end."""
    return reduce(lambda after, before: _then(before, after), reversed(parts), end)


def _then(one: Language, two: Language) -> Language:
    if NOTHING in (one, two):
        return NOTHING
    if one.kind == "then":
        return sequence(_members(one), two)
    return two if one == EMPTY else one if two == EMPTY else Language("then", one, two)


def _members(language: Language) -> list[Language]:
    """The parts of a sequence, or a language alone."""
    found = []
    while language.kind == "then":
        first, language = language.parts
        found.append(first)
    return [*found, language]


def union(parts: Iterable[Language]) -> Language:
    """The texts that are in one of the parts."""
    return _joined("or", parts, NOTHING, ANY)


def intersection(parts: Iterable[Language]) -> Language:
    """The texts that are in all parts."""
    return _joined("and", parts, ANY, NOTHING)


def _joined(kind: str, parts: Iterable[Language], neutral: Language, decisive: Language) -> Language:
    several = frozenset(chain.from_iterable(each.parts[0] if each.kind == kind else (each,) for each in parts)) - {
        neutral
    }
    if decisive in several:
        return decisive
    return neutral if not several else next(iter(several)) if len(several) == 1 else Language(kind, several)


def complement(language: Language) -> Language:
    """The texts that are not in the language."""
    opposite = {NOTHING: ANY, ANY: NOTHING}
    return language.parts[0] if language.kind == "not" else opposite.get(language) or Language("not", language)


def repeated(language: Language) -> Language:
    """The texts that consist of any number of texts of the language."""
    return (
        EMPTY if language in (NOTHING, EMPTY) else language if language.kind == "star" else Language("star", language)
    )


def holding(language: Language) -> Language:
    """The texts in which a text of the language occurs."""
    return sequence([ANY, language, ANY])


def is_holding(language: Language) -> bool:
    """Whether every text that holds a text of the language is in the language, as of `holding` without assertions."""
    members = _members(language)
    return members[0] == members[-1] == ANY and not has_assertions(language)


def is_part(one: Language, two: Language) -> bool:
    """Whether every text of the first language is in the second one, as far as that can be decided part by part."""
    try:
        return _is_part(one, two)
    except RecursionError:  # of a long text
        return False


@lru_cache(maxsize=1 << 14)
def _is_part(one: Language, two: Language) -> bool:
    if one == two or (two.kind == "or" and any(_is_part(one, each) for each in two.parts[0])):
        return True
    match one.kind, two.kind:
        case "or", _:
            return all(_is_part(each, two) for each in one.parts[0])
        case ("then", "then") | ("star", "star") if all(map(_is_part, one.parts, two.parts)):
            return True
        case "set", "set":
            return all(any(low <= start and end <= high for low, high in two.parts[0]) for start, end in one.parts[0])
        case _, "then":
            first, rest = two.parts
            return (_is_part(EMPTY, rest) and _is_part(one, first)) or (_is_part(EMPTY, first) and _is_part(one, rest))
    return one == EMPTY and two.kind == "star"


def with_cases(language: Language, *, lower: bool) -> Language:
    """The texts that are in the language once their ASCII letters are in lower case, else in upper case."""
    match language.kind, *language.parts:
        case "set", ranges:
            gone, step = (_UPPER, 32) if lower else (range(_UPPER.start + 32, _UPPER.stop + 32), -32)
            kept = [(low, high) for each in ranges for low, high in _without(each, gone)]
            return one_of([*kept, *((code, code + 1) for code in gone if _is_in(ranges, code + step))])
        case "then", one, two:
            return _then(with_cases(one, lower=lower), with_cases(two, lower=lower))
        case ("star" | "not") as kind, each:
            return Language(kind, with_cases(each, lower=lower))
        case ("or" | "and") as kind, several:
            return (union if kind == "or" else intersection)(with_cases(each, lower=lower) for each in several)
    return language


def _without(span: tuple[int, int], gone: range) -> list[tuple[int, int]]:
    low, high = span
    parts = (low, min(high, gone.start)), (max(low, gone.stop), high)
    return [(start, end) for start, end in parts if start < end]


def parts_of(language: Language) -> Iterator[Language]:
    """The language and everything that it consists of."""
    pending, seen = [language], {id(language)}
    for each in pending:  # grows; one part may be shared by many
        yield each
        for part in each.parts:
            below = [one for one in (part if isinstance(part, frozenset) else (part,)) if isinstance(one, Language)]
            pending += [one for one in below if id(one) not in seen]
            seen.update(map(id, below))


def at_least(length: int) -> Language:
    """The texts of at least so many characters."""
    return sequence([*[CHARACTER] * length, ANY])


def has_assertions(language: Language) -> bool:
    """Whether the language depends on what is around a text."""
    return any(each.kind == "at" for each in parts_of(language))


def outcomes(languages: Sequence[Language], lengths: Sequence[int] = ()) -> dict[Outcome, str] | None:
    """Every outcome that a text can have, each with one of the shortest texts that has it; None for more than
    `MOST_LANGUAGES`, and where that takes more than `MOST_STATES` states or `MOST_WORK`."""
    return _outcomes(tuple(languages), tuple(lengths)) if len(languages) <= MOST_LANGUAGES else None


@lru_cache(maxsize=1024)
def sample_outcomes(languages: tuple[Language, ...], lengths: tuple[int, ...]) -> frozenset[Outcome]:
    """The outcomes of a few texts, the empty one and one guessed for each language, also extended to the lengths: fewer
    where that takes more than `MOST_WORK`, none for more than `MOST_LANGUAGES`, where `outcomes` finds nothing
    either."""
    if len(languages) > MOST_LANGUAGES:
        return frozenset()
    search = _Exploration(languages, lengths)
    guesses = ["", *(examples(each, 1)[0] for each in languages)]
    texts = dict.fromkeys([*guesses, *(each.ljust(length, _USUAL[0]) for each in guesses for length in lengths)])
    return frozenset(outcome for text in texts if (outcome := search.outcome_of(text)) is not None)


def examples(language: Language, most: int = MOST_EXAMPLES) -> list[str]:
    """At least one text and at most so many, which are likely to be in a language."""
    match language.kind, *language.parts:
        case "then", *_:
            parts = [examples(each, most) for each in _members(language)]
            return list(dict.fromkeys(map("".join, islice(product(*parts), most))))
        case "set", ranges:
            usual = [each for each in (_USUAL if most == 1 else _VARIED) if _is_in(ranges, ord(each))]
            return usual[: min(most, 4)] or [chr(ranges[0][0])]
        case (("or" | "and"), several):
            texts = chain.from_iterable(examples(each, most) for each in several)
            return sorted({*texts}, key=lambda text: (len(text), text))[:most]
        case "star", each if most > 1:
            return ["", *examples(each, most)][:most]
    return [""]


@lru_cache(maxsize=64)
def _outcomes(
    languages: tuple[Language, ...], lengths: tuple[int, ...], until_first: bool = False
) -> dict[Outcome, str] | None:
    try:
        return _Exploration(languages, lengths).outcomes(until_first)
    except RecursionError:  # of a long text; found once, as it takes long
        return None


def has_text(language: Language) -> str | bool:
    """One of the shortest texts of a language; False if it has none, True if that takes too much work."""
    found = _outcomes((language,), (), True)
    return True if found is None else found.get(Outcome((True,), ()), False)


@lru_cache(maxsize=16_384)
def holds(language: Language, text: str) -> bool:
    found = _Exploration((language,), ()).outcome_of(text)
    return found is not None and found.holds[0]


class _Position(NamedTuple):
    """What is left of each language, the kind of the character before, and the length so far."""

    left: tuple[Language, ...]
    before: bool | None
    length: int


class _Exploration:
    """A breadth-first search through the derivatives of several languages at once."""

    def __init__(self, languages: Sequence[Language], lengths: Sequence[int]) -> None:
        self.languages = languages
        self.lengths = lengths
        self.are_bounded = any(map(has_assertions, languages))
        self.places: dict[Ranges, int] = {}
        self.first = _Position(tuple(languages), None, 0)
        self.derived: dict[tuple[Language, bool | None, int], Language] = {}
        self.work = 0

    @cached_property
    def characters(self) -> list[int]:
        """A character of each kind."""
        return _representatives(self.languages)

    def outcomes(self, until_first: bool) -> dict[Outcome, str] | None:
        """Every outcome, or those found `until_first` some text is in all languages."""
        texts: dict[_Position, str] = {self.first: ""}
        found: dict[Outcome, str] = {}
        pending = [self.first]
        for state in pending:  # grows
            outcome = self.outcome(state)
            found.setdefault(outcome, texts[state])
            if until_first and all(outcome.holds):
                return found
            for code in self.distinguished(state):
                after = self.step(state, code)
                if after not in texts:
                    texts[after] = texts[state] + chr(code)
                    pending.append(after)
                if len(pending) > MOST_STATES or self.work > MOST_WORK:
                    return None
        return found

    def distinguished(self, state: _Position) -> Iterator[int]:
        """The first of all characters that lead to the same position, for each position that may follow (Owens, Reppy,
        Turon, Regular-expression derivatives re-examined, 2009)."""
        read = frozenset(chain.from_iterable(_first_sets(each) for each in state.left))
        kinds = [(1 << len(self.characters)) - 1]
        for ranges in {*read, _WORD} if self.are_bounded else read:
            here = self.places_of(ranges)
            kinds = [part for each in kinds for part in (each & here, each & ~here) if part]
        return (self.characters[first] for first in sorted((each & -each).bit_length() - 1 for each in kinds))

    def places_of(self, ranges: Ranges) -> int:
        """Which of the characters are in a set, a bit for each."""
        if ranges not in self.places:
            self.places[ranges] = sum(1 << at for at, code in enumerate(self.characters) if _is_in(ranges, code))
        return self.places[ranges]

    def outcome(self, state: _Position) -> Outcome:
        holds = tuple([_ends(each, state.before, None) for each in state.left])
        return Outcome(holds, tuple([state.length >= each for each in self.lengths]))

    def outcome_of(self, text: str) -> Outcome | None:
        """The outcome of one text; None where that takes more than `MOST_WORK`."""
        state = self.first
        for code in map(ord, text):
            if self.work > MOST_WORK:
                return None
            state = self.step(state, code)
        return self.outcome(state)

    def step(self, state: _Position, code: int) -> _Position:
        left = tuple([self.derivative(each, state.before, code) for each in state.left])
        before = _is_in(_WORD, code) if self.are_bounded else None
        self.work += len(left)
        return _Position(left, before, min(state.length + 1, max(self.lengths, default=0)))

    def derivative(self, language: Language, before: bool | None, code: int) -> Language:
        """What may follow the character in the texts of the language that start with it."""
        key = language, before, code
        if key not in self.derived:
            self.work += sum(len(each) if isinstance(each, frozenset) else 1 for each in language.parts)
            self.derived[key] = self._derived(language, before, code)
        return self.derived[key]

    def _derived(self, language: Language, before: bool | None, code: int) -> Language:
        match language.kind, *language.parts:
            case "set", ranges:
                return EMPTY if _is_in(ranges, code) else NOTHING
            case "then", one, two:
                first = _then(self.derivative(one, before, code), two)
                is_passed = _ends(one, before, _is_in(_WORD, code))
                return union([first, self.derivative(two, before, code)]) if is_passed else first
            case "star", each:
                return _then(self.derivative(each, before, code), language)
            case "or", several:
                return union(self.derivative(each, before, code) for each in several)
            case "and", several:
                return intersection(self.derivative(each, before, code) for each in several)
            case "not", each:
                return complement(self.derivative(each, before, code))
        return NOTHING


@lru_cache(maxsize=1 << 14)
def _first_sets(language: Language) -> frozenset[Ranges]:
    """The sets of characters that distinguish the texts of the language by their first character."""
    match language.kind, *language.parts:
        case "set", ranges:
            return frozenset([ranges])
        case "then", one, two:
            around = product((None, False, True), repeat=2)
            may_end = any(_ends(one, *each) for each in around)  # where the empty text is in it
            return _first_sets(one) | _first_sets(two) if may_end else _first_sets(one)
        case (("star" | "not"), each):
            return _first_sets(each)
        case (("or" | "and"), several):
            return frozenset(chain.from_iterable(map(_first_sets, several)))
    return frozenset()


def _representatives(languages: Sequence[Language]) -> list[int]:
    """One character of each kind that the languages distinguish."""
    sets = {each.parts[0] for language in languages for each in parts_of(language) if each.kind == "set"}
    distinct = [*sorted(sets), *([_WORD] if any(map(has_assertions, languages)) else [])]
    edges = sorted({0, _SURROGATES.stop, *(edge for ranges in distinct for span in ranges for edge in span)})
    found: dict[tuple[bool, ...], int] = {}
    for code in (*map(ord, _USUAL), *edges):
        if code < 0x110000 and code not in _SURROGATES:
            found.setdefault(tuple([_is_in(ranges, code) for ranges in distinct]), code)
    return list(found.values())


def _is_in(ranges: Ranges, code: int) -> bool:
    at = bisect_right(ranges, code, key=lambda span: span[0])
    return at > 0 and code < ranges[at - 1][1]


def _ends(language: Language, before: bool | None, after: bool | None) -> bool:
    """Whether the empty text is in the language, between characters that belong to words or not, or at an end."""
    match language.kind, *language.parts:
        case (("empty" | "star"), *_):
            return True
        case "then", one, two:
            return _ends(one, before, after) and _ends(two, before, after)
        case "or", several:
            return any(_ends(each, before, after) for each in several)
        case "and", several:
            return all(_ends(each, before, after) for each in several)
        case "not", each:
            return not _ends(each, before, after)
        case "at", place:
            return {START: before is None, END: after is None, BOUNDARY: bool(before) != bool(after)}[place]
    return False
