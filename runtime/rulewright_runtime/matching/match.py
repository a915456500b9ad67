"""The text matcher: finds the hits of a plan's lexicons in a text.

All patterns for one role's turns are fused into one RE2 set, which runs once over each turn and names the lexicons
that may hit it (`Matcher.may_hit`); these are confirmed pattern by pattern with exact rules. Patterns of lexicons that
fold differences are fused into separate sets, for the folded turns. With the extra `hyperscan`, Hyperscan searches for
many literals. Without RE2 every turn is confirmed, with the same results:

    substring_ci   equal under simple case folding, as a literal under Python's IGNORECASE
    contains_ci    `pattern.lower() in text.lower()`
    regex          RE2's leftmost match

In a lexicon that folds differences a literal hits if the folded text contains the folded literal. Hits are spans of the
original text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from rulewright_runtime.matching.folding import fold, fold_case, turn_folded
from rulewright_runtime.plan.scan import Lexicon, Pattern
from rulewright_runtime.regex import Search, compile_regex, compile_set

FUSED_MEMORY: Final = 64 * 2**20
MANY_LITERALS: Final = 100  # with at least this many, Hyperscan is worth its import, and an index of a lexicon its room
_ENDING: Final = 8  # characters of a literal in that index
EXACT: Final[frozenset[str]] = frozenset()  # no differences are ignored except case
# The characters that equal an ASCII letter besides its two cases, under either substring mode.
_ALSO: Final = {"i": "\u0131\u0130", "s": "\u017f", "k": "\u212a"}


class MatchSpan(msgspec.Struct, frozen=True):
    """One hit: the pattern as written, the exact text, and its start and end in code points."""

    lexicon: str
    pattern: str
    start: int
    end: int
    text: str


def match(lexicons: Mapping[str, Lexicon], text: str) -> tuple[MatchSpan, ...]:
    """The first hit of every lexicon in `text`, in the order of the lexicons.

    Within a lexicon the patterns are tried in order, and the first that occurs gives its leftmost occurrence.
    """
    spans = (first(name, lexicon, text) for name, lexicon in lexicons.items())
    return tuple(span for span in spans if span is not None)


def first(name: str, lexicon: Lexicon, text: str) -> MatchSpan | None:
    for pattern in _Patterns.of(lexicon).possible(text):
        span = pattern.find(text)
        if span is not None:
            return MatchSpan(name, pattern.written, *span, text[span[0] : span[1]])
    return None


class _Literal(NamedTuple):
    """A literal as it is searched for: in the folded text, or in the lower-cased one if `differences` is None."""

    written: str
    literal: str
    differences: frozenset[str] | None

    @classmethod
    def of(cls, pattern: Pattern, differences: frozenset[str]) -> _Literal:
        literal = _folded_literal(pattern.pattern, differences)
        if not literal.strip():  # folded to nothing, which would match everywhere
            literal, differences = _folded_literal(pattern.pattern, EXACT), EXACT
        if not differences and pattern.mode == "contains_ci":
            return cls(pattern.pattern, pattern.pattern.lower(), None)
        return cls(pattern.pattern, literal, differences)

    def find(self, text: str) -> tuple[int, int] | None:
        start = _form(text, self.differences).find(self.literal)
        if start < 0:
            return None
        if self.differences is None:
            return _span_of_lowered(text, start, start + len(self.literal))
        return _folded(text, self.differences).span(start, start + len(self.literal))


class _Regex(NamedTuple):
    """A regular expression, which searches the text without `differences`."""

    written: str
    differences: frozenset[str]

    def find(self, text: str) -> tuple[int, int] | None:
        folded = _folded(text, self.differences, case=False)
        match = compile_regex(self.written).search(folded.text)
        return folded.span(*match.span()) if match else None


class _Patterns:
    """The patterns of one lexicon, ready to be searched for. Of many literals only those are tried whose last
    characters occur in the text."""

    def __init__(self, lexicon: Lexicon) -> None:
        differences = _differences(lexicon.fold)
        of_regexes = differences if lexicon.fold_regexes else EXACT
        self._patterns = [
            _Regex(each.pattern, of_regexes) if each.mode == "regex" else _Literal.of(each, differences)
            for each in lexicon.patterns
        ]
        literals = [each for each in self._patterns if isinstance(each, _Literal)]
        forms = {each.differences for each in literals}
        self._only_form = (*forms,) if len(forms) == 1 and literals == self._patterns else ()
        self._literals = [each.literal for each in literals]
        self._always: list[int] = []
        self._by_ending: dict[frozenset[str] | None, dict[str, list[int]]] = {}
        for number, pattern in enumerate(self._patterns) if len(self._patterns) >= MANY_LITERALS else ():
            if isinstance(pattern, _Regex) or len(pattern.literal) < _ENDING:
                self._always.append(number)
            else:
                by_ending = self._by_ending.setdefault(pattern.differences, {})
                by_ending.setdefault(pattern.literal[-_ENDING:], []).append(number)

    @staticmethod
    @lru_cache(maxsize=256)
    def of(lexicon: Lexicon) -> _Patterns:
        """The patterns of a lexicon, prepared once."""
        return _Patterns(lexicon)

    def possible(self, text: str) -> Iterable[_Literal | _Regex]:
        """The patterns that may hit the text, in their order."""
        if not self._by_ending:
            is_possible = not self._only_form or any(map(_form(text, *self._only_form).__contains__, self._literals))
            return self._patterns if is_possible else ()
        numbers = [*self._always]
        for differences, by_ending in self._by_ending.items():
            form = _form(text, differences)
            endings = {form[start : start + _ENDING] for start in range(len(form) - _ENDING + 1)}
            numbers += chain.from_iterable(map(by_ending.__getitem__, by_ending.keys() & endings))
        return map(self._patterns.__getitem__, sorted(numbers))


_folded: Final = lru_cache(maxsize=64)(fold)


@lru_cache(maxsize=65536)
def _folded_literal(literal: str, differences: frozenset[str]) -> str:
    return fold(literal, differences).text


_differences: Final[Callable[[tuple[str, ...]], frozenset[str]]] = cache(frozenset)


def _form(text: str, differences: frozenset[str] | None) -> str:
    """The folded text, or the lower-cased one for None."""
    return _lowered(text) if differences is None else turn_folded(text, differences)


@lru_cache(maxsize=64)
def _lowered(text: str) -> str:
    return text.lower()


def _span_of_lowered(text: str, start: int, end: int) -> tuple[int, int]:
    """The span in `text` of a span in its lower case, in which characters may be longer."""
    if len(_lowered(text)) == len(text):
        return start, end
    origin = [index for index, char in enumerate(text) for _ in char.lower()]
    return origin[start], origin[end - 1] + 1


class _View(NamedTuple):
    """The form of a text that patterns are compared with: without these differences and, with `case`, without case."""

    differences: frozenset[str]
    case: bool

    def of(self, text: str) -> str:
        if not self.differences:
            return text
        return turn_folded(text, self.differences) if self.case else turn_folded(text, self.differences, case=False)


class _PatternFinder(NamedTuple):
    """The prefilter of a pattern: an expression that matches, in a view of a text, wherever the pattern hits; and the
    literal that matches exactly there, if there is one."""

    view: _View
    expression: str
    literal: str | None = None


class _FusedView(NamedTuple):
    """The search for all patterns that share a view, and the lexicons of each pattern by its number."""

    view: _View
    search: Search
    lexicons: tuple[tuple[str, ...], ...]


class Matcher:
    """The fused prefilter of the lexicons that are searched for in the turns of each role."""

    def __init__(self, lexicons: Mapping[str, Mapping[str, Lexicon]], *, prefilter: bool = True) -> None:
        """`lexicons` maps a role to the lexicons searched for in its turns. Without `prefilter` or RE2 no turn is
        ruled out."""
        self._fused: dict[str, list[_FusedView]] = {}
        self._covering: dict[str, tuple[str, ...]] = {}
        for role, by_name in lexicons.items() if prefilter else ():
            covered = {name: parts for name, lexicon in by_name.items() if (parts := _parts(lexicon))}
            self._fused[role] = _fuse(covered)
            for name in covered if self._fused[role] else ():
                self._covering[name] = (*self.covering(name), role)

    def covering(self, name: str) -> tuple[str, ...]:
        """The roles for whose turns `may_hit` includes the lexicon `name`."""
        return self._covering.get(name, ())

    def covers(self, role: str, name: str) -> bool:
        """Whether `may_hit` includes the lexicon `name` in the turns of `role`."""
        return role in self.covering(name)

    def may_hit(self, role: str, text: str) -> set[str]:
        """The covered lexicons of `role` that may hit the `text`."""
        names: set[str] = set()
        for view, search, lexicons in self._fused.get(role, ()):
            for number in search(view.of(text).encode()):
                names.update(lexicons[number])
        return names


def _parts(lexicon: Lexicon) -> list[_PatternFinder] | None:
    """The prefilter of each pattern; None if there is none for one of them."""
    differences = _differences(lexicon.fold)
    parts: list[_PatternFinder] = []
    for pattern in lexicon.patterns:
        if pattern.mode == "regex":
            view = _View(differences if lexicon.fold_regexes else EXACT, case=False)
            parts.append(_PatternFinder(view, pattern.pattern))
        elif differences and (folded := _folded_literal(pattern.pattern, differences)).strip():
            parts.append(_PatternFinder(_View(differences, case=True), _escaped(folded), folded))
        elif (expression := _widened_literal(pattern.pattern)) is not None:
            parts.append(_PatternFinder(_View(EXACT, case=False), expression))
        else:
            return None
    return parts


def _fuse(parts: Mapping[str, Iterable[_PatternFinder]]) -> list[_FusedView]:
    """A search for each view of the lexicons; empty without RE2, or if a set is too large."""
    views: dict[_View, dict[_PatternFinder, list[str]]] = {}
    for name, finders in parts.items():
        for finder in dict.fromkeys(finders):
            views.setdefault(finder.view, {}).setdefault(finder, []).append(name)
    try:
        return [_FusedView(view, _search([*each]), tuple(map(tuple, each.values()))) for view, each in views.items()]
    except (ImportError, ValueError):  # too large together; every pattern alone was accepted
        return []


def _search(parts: Sequence[_PatternFinder]) -> Search:
    """The search for the parts of one view. Raises ImportError without RE2, ValueError for too large a set."""
    literals = [part.literal for part in parts if part.literal is not None]
    if len(literals) == len(parts) >= MANY_LITERALS:
        with suppress(ImportError, ValueError):
            return literal_search(literals)
    return compile_set([part.expression for part in parts], FUSED_MEMORY)


class Fusion(NamedTuple):
    """One fused search: the number of patterns of each lexicon, and the form of the texts, `without` these differences
    and, if `case` is set, without case."""

    without: tuple[str, ...]
    case: bool
    patterns: dict[str, int]


def fusions(lexicons: Mapping[str, Lexicon]) -> tuple[list[Fusion], dict[str, Pattern]]:
    """How a `Matcher` fuses the lexicons of one role, and the lexicons that are not fused, each with the pattern that
    prevents it."""
    views: dict[_View, dict[str, int]] = {}
    separate: dict[str, Pattern] = {}
    for name, lexicon in lexicons.items():
        parts = _parts(lexicon)
        for part in parts or ():
            counts = views.setdefault(part.view, {})
            counts[name] = counts.get(name, 0) + 1
        if parts is None:
            singles = (msgspec.structs.replace(lexicon, patterns=(each,)) for each in lexicon.patterns)
            separate[name] = next(each.patterns[0] for each in singles if _parts(each) is None)
    return [Fusion(tuple(sorted(view.differences)), view.case, counts) for view, counts in views.items()], separate


def _escaped(literal: str) -> str:
    """An expression that matches `literal` and nothing else."""
    return "".join(char if char.isalnum() or not char.isascii() else f"\\x{ord(char):02x}" for char in literal)


def _widened_literal(literal: str) -> str | None:
    """An expression that matches, in UTF-8, at least everything that `literal` matches in either substring mode."""
    if "\u0307" in literal:  # part of a lowered dotted capital I
        return None
    return "".join(map(_widened_char, literal))


@cache
def _widened_char(char: str) -> str:
    lower = char.lower()
    if lower.isascii() and lower.isalpha():
        return f"[{lower}{lower.upper()}{_ALSO.get(lower, '')}]"
    if char.isascii():
        return char if char.isalnum() else f"\\x{ord(char):02x}"
    cased = fold_case(char) != char or char.upper() != char
    return "(?s:.)" if cased else char


def literal_search(literals: Sequence[str]) -> Search:
    """A search for any number of literals. Raises ImportError without Hyperscan, ValueError if it refuses them."""
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    expressions = [literal.encode() for literal in literals]
    try:
        database.compile(
            expressions=expressions,
            ids=range(len(expressions)),  # with shared ids Hyperscan takes minutes to compile
            elements=len(expressions),
            flags=0,
            literal=True,
        )
    except hyperscan.error as error:
        raise ValueError(f"the literals are refused: {error}") from None

    def search(data: bytes) -> list[int]:
        numbers: list[int] = []
        database.scan(data, match_event_handler=lambda number, *_: numbers.append(number))
        return numbers

    return search
