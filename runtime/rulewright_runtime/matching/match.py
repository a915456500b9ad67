"""The text matcher: where the lexicons of a plan hit a text, and exactly what they hit.

All patterns that are looked for in one role's turns are fused into one RE2 expression that runs once over those turns
and says in which of them there may be something (`Matcher.may_hit`); that is confirmed pattern by pattern with exact
rules. Patterns of lexicons that fold differences are fused into an expression of their own, for the folded turns.
With the extra `hyperscan` many literals are searched for by Hyperscan. Without RE2 the confirmation alone decides, with
the same answers:

    substring_ci   equal under simple case folding, which is what Python's IGNORECASE does with a literal
    contains_ci    `pattern.lower() in text.lower()`
    regex          RE2's leftmost match

In a lexicon that folds differences a literal hits where the folded text holds the folded literal. Hits are pieces of
the original text.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from functools import cache, lru_cache, partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from rulewright_runtime.matching.folding import fold, fold_case, turn_folded
from rulewright_runtime.matching.literal_set import LiteralSet
from rulewright_runtime.regex import compile_re2, compile_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rulewright_runtime.plan.scan import Lexicon, Pattern

    Search = Callable[[Sequence[str]], list[int]]  # the indices of those texts in which something may be

FUSED_MEMORY: Final = 64 * 2**20
MANY_LITERALS: Final = 100  # from so many on Hyperscan is worth its import
EXACT: Final[frozenset[str]] = frozenset()  # no difference is ignored, but for that of case
# What an ASCII letter equals besides its two cases, under either substring mode.
_ALSO: Final = {"i": "\u0131\u0130", "s": "\u017f", "k": "\u212a"}


class MatchSpan(msgspec.Struct, frozen=True):
    """One hit: the pattern as written, the exact text and where it stands (code points)."""

    lexicon: str
    pattern: str
    start: int
    end: int
    text: str


def match(lexicons: Mapping[str, Lexicon], text: str) -> tuple[MatchSpan, ...]:
    """The first hit of every lexicon in `text`, in the order of the lexicons.

    Within a lexicon the patterns are tried in order, and the first that occurs gives its leftmost occurrence.
    """
    found = (first(name, lexicon, text) for name, lexicon in lexicons.items())
    return tuple(span for span in found if span is not None)


def first(name: str, lexicon: Lexicon, text: str) -> MatchSpan | None:
    """The first hit of one lexicon in `text`, or None."""
    differences = _differences(lexicon.fold)
    for pattern in lexicon.patterns:
        if pattern.mode == "regex":
            found = _find_regex(pattern.pattern, text, differences if lexicon.fold_regexes else EXACT)
        else:
            found = _find_literal(pattern, text, differences)
        if found is not None:
            return MatchSpan(name, pattern.pattern, *found, text[found[0] : found[1]])
    return None


def _find_regex(expression: str, text: str, differences: frozenset[str]) -> tuple[int, int] | None:
    seen = _folded(text, differences, case=False)
    found = compile_regex(expression).search(seen.text)
    return seen.span(*found.span()) if found else None


def _find_literal(pattern: Pattern, text: str, differences: frozenset[str]) -> tuple[int, int] | None:
    wanted = _folded_literal(pattern.pattern, differences)
    if not wanted.strip():  # nothing of it is left, and nothing would be found everywhere
        wanted, differences = _folded_literal(pattern.pattern, EXACT), EXACT
    if not differences and pattern.mode == "contains_ci":
        return _find_lowered(pattern.pattern.lower(), text)
    start = turn_folded(text, differences).find(wanted)
    return None if start < 0 else _folded(text, differences).span(start, start + len(wanted))


_folded: Final = lru_cache(maxsize=64)(fold)


@lru_cache(maxsize=65536)
def _folded_literal(literal: str, differences: frozenset[str]) -> str:
    return fold(literal, differences).text


_differences: Final[Callable[[tuple[str, ...]], frozenset[str]]] = cache(frozenset)


@lru_cache(maxsize=64)
def _lowered(text: str) -> str:
    return text.lower()


def _find_lowered(needle: str, text: str) -> tuple[int, int] | None:
    """As `needle in text.lower()`, with the place in `text`, whose characters may grow when lowered."""
    lowered = _lowered(text)
    start = lowered.find(needle)
    if start < 0:
        return None
    end = start + len(needle)
    if len(lowered) == len(text):
        return start, end
    origin = [index for index, char in enumerate(text) for _ in char.lower()]
    return origin[start], origin[end - 1] + 1


class _View(NamedTuple):
    """What patterns are compared with: a text without these differences, and without those of case."""

    differences: frozenset[str]
    case: bool

    def of(self, text: str) -> str:
        if not self.differences:
            return text
        return turn_folded(text, self.differences) if self.case else turn_folded(text, self.differences, case=False)


class _Part(NamedTuple):
    """What finds a pattern: an expression that matches, in a view of a text, wherever the pattern hits; and the literal
    that matches there and nowhere else, where there is one."""

    view: _View
    expression: str
    literal: str | None = None


class Matcher:
    """The fused prefilter of the lexicons that are looked for in the turns of each role."""

    def __init__(self, lexicons: Mapping[str, Mapping[str, Lexicon]], *, prefilter: bool = True) -> None:
        """`lexicons` maps a role to what is looked for in its turns. Without `prefilter`, or RE2, all may hit."""
        self._fused: dict[str, list[tuple[_View, Search]]] = {}
        self._covered: dict[str, frozenset[str]] = {}
        for role, wanted in lexicons.items() if prefilter else ():
            parts = {name: _parts(lexicon) for name, lexicon in wanted.items()}
            covered = {name: found for name, found in parts.items() if found}
            fused = _fuse(covered.values())
            if fused:
                self._fused[role] = fused
                self._covered[role] = frozenset(covered)

    def covers(self, role: str, name: str) -> bool:
        """Whether `may_hit` speaks for the lexicon `name` in the turns of `role`."""
        return name in self._covered.get(role, ())

    def may_hit(self, role: str, texts: Sequence[str]) -> list[int]:
        """The indices of the `texts` outside which no covered lexicon of `role` hits."""
        fused = self._fused.get(role)
        if fused is None:
            return list(range(len(texts)))
        if len(fused) == 1:
            view, search = fused[0]
            return search([view.of(text) for text in texts])
        found = (search([view.of(text) for text in texts]) for view, search in fused)
        return sorted(set().union(*found))


def _literal_places(literals: LiteralSet, texts: Sequence[str]) -> list[int]:
    """The indices of the texts in which one of the literals ends. One that begins in the text before is no hit, and is
    ruled out later."""
    parts = [text.encode() for text in texts]
    ends = literals.ends(b"\n".join(parts))
    if not ends:
        return []
    starts = list(accumulate((len(part) + 1 for part in parts), initial=0))
    return sorted({bisect_right(starts, end - 1) - 1 for end in ends})


def _regex_places(fused: Any, texts: Sequence[str]) -> list[int]:
    """The indices of the texts in which `fused` matches; RE2 reads UTF-8 bytes, whatever its stub says."""
    parts = [text.encode() for text in texts]
    data = b"\n".join(parts)
    found = fused.search(data)
    places: list[int] = []
    if found is None:
        return places
    starts = list(accumulate((len(part) + 1 for part in parts), initial=0))
    while found is not None:
        first_text, last_text = (bisect_right(starts, offset) - 1 for offset in found.span())
        places += range(first_text, min(last_text + 1, len(parts)))
        if last_text + 1 >= len(parts):
            break
        found = fused.search(data, starts[last_text + 1])
    return places


def _parts(lexicon: Lexicon) -> list[_Part] | None:
    """What finds each pattern; None where one of them can't be found in joined texts."""
    differences = _differences(lexicon.fold)
    parts: list[_Part] = []
    for pattern in lexicon.patterns:
        if pattern.mode == "regex":
            view = _View(differences if lexicon.fold_regexes else EXACT, case=False)
            expression, literal = _widened_regex(pattern.pattern), None
        elif differences and (wanted := _folded_literal(pattern.pattern, differences)).strip():
            view = _View(differences, case=True)
            expression, literal = _escaped(wanted), wanted
        else:
            view = _View(EXACT, case=False)
            expression, literal = _widened_literal(pattern.pattern), None
        if expression is None:
            return None
        parts.append(_Part(view, expression, literal))
    return parts


def _fuse(lexicons: Iterable[list[_Part]]) -> list[tuple[_View, Search]]:
    """A search for each view, which finds the texts in which one of its parts matches; none without RE2, or where its
    expression grows too large."""
    views: dict[_View, set[_Part]] = {}
    for part in chain.from_iterable(lexicons):
        views.setdefault(part.view, set()).add(part)
    try:
        return [(view, _search(parts)) for view, parts in views.items()]
    except (ImportError, ValueError):  # too large when fused; every pattern alone was accepted
        return []


def _search(parts: set[_Part]) -> Search:
    """Raises ImportError without RE2, and ValueError for an expression that grows too large."""
    literals = sorted(part.literal for part in parts if part.literal is not None)
    if len(literals) == len(parts) >= MANY_LITERALS:
        with suppress(ImportError, ValueError):
            return partial(_literal_places, LiteralSet(literals))
    # Sorted, so that RE2 sees which begin alike and need be told apart only behind that.
    expressions = sorted(part.expression for part in parts)
    return partial(_regex_places, compile_re2("|".join(expressions), FUSED_MEMORY, never_capture=True))


class Fusion(NamedTuple):
    """What one expression finds in one go: the patterns of lexicons, by name, in texts `without` these differences and,
    where `case` is ignored, without that of case."""

    without: tuple[str, ...]
    case: bool
    patterns: dict[str, int]


def fusions(lexicons: Mapping[str, Lexicon]) -> tuple[list[Fusion], dict[str, Pattern]]:
    """How a `Matcher` fuses what is looked for in the turns of one role, and the lexicons that stay apart, each with
    the pattern that can't be looked for in joined turns."""
    views: dict[_View, dict[str, int]] = {}
    apart: dict[str, Pattern] = {}
    for name, lexicon in lexicons.items():
        parts = _parts(lexicon)
        for part in parts or ():
            counts = views.setdefault(part.view, {})
            counts[name] = counts.get(name, 0) + 1
        if parts is None:
            alone = (msgspec.structs.replace(lexicon, patterns=(each,)) for each in lexicon.patterns)
            apart[name] = next(each.patterns[0] for each in alone if _parts(each) is None)
    return [Fusion(tuple(sorted(view.differences)), view.case, counts) for view, counts in views.items()], apart


def _escaped(literal: str) -> str:
    """An expression that matches `literal` and nothing else."""
    return "".join(char if char.isalnum() or not char.isascii() else f"\\x{ord(char):02x}" for char in literal)


def _widened_literal(literal: str) -> str | None:
    """An expression that matches, in UTF-8, at least everything that `literal` matches in either substring mode."""
    if "\u0307" in literal:  # half of what a dotted capital I becomes when lowered
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


def _widened_regex(pattern: str) -> str | None:
    """`pattern` for joined texts: the ends of a text become the ends of a line. None where it pins them itself."""
    if "\\A" in pattern or "\\z" in pattern or "(?-" in pattern or "\\C" in pattern or "\\Q" in pattern:
        return None
    flags = pattern.split("(?")[1:]
    if any("-" in group.partition(")")[0].partition(":")[0] for group in flags):
        return None
    return f"(?m:{pattern})"
