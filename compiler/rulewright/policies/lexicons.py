"""Compares lexicons: finds texts that only one of two lexicons matches, by running both."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice, product
from typing import Final

from rulewright.policies.policy_model import difference
from rulewright.proving.languages import complement, has_text, holding, intersection, is_part
from rulewright.proving.re2_syntax import language_of, samples
from rulewright_runtime.matching.folding import fold
from rulewright_runtime.matching.match import first
from rulewright_runtime.plan.scan import Lexicon, Pattern
from rulewright_runtime.strict_json import JsonObject

HIT: Final = ("no hit", "a hit")
_COUNT: Final = re.compile(r"\d+")  # repetitions of a regular expression
_MOST_COUNT: Final = 100
_MOST_STRETCHED: Final = 8  # texts
_LONGEST: Final = 200  # characters of an expression that is compared part by part
_MOST_PROVED: Final = 4  # expressions that may match instead of another one
_MORE: Final = ("o", " ", ",", "1", "\n")
_ALIKE: Final = 0.6  # the similarity from which on an added pattern counts as a changed one
# For each difference, a rewriting that only a lexicon matches that ignores the difference.
_WRITTEN: Final[tuple[tuple[str, str, str], ...]] = (
    ("white_space", " ", " \n "),
    ("apostrophes", "'", "\u2019"),
    ("quotes", '"', "\u201c"),
    ("dashes", "-", "\u2013"),
    ("emphasis", " ", "* *"),
    ("invisible", "e", "e\u200b"),
)


def compare_lexicons(one: Mapping[str, Lexicon], two: Mapping[str, Lexicon]) -> JsonObject:
    """The `regions`, `settings` and `unknown` of the lexicons of both; a name that only one has is a setting."""
    found: JsonObject = {"regions": [], "settings": [], "unknown": []}
    for name in sorted({*one, *two}):
        place = f"lexicon {name}"
        if name not in one or name not in two:
            values = {"before": "declared" if name in one else None, "after": "declared" if name in two else None}
            found["settings"].append({"place": place, **values})
            continue
        pair = one[name], two[name]
        for key in ("role", "fold", "fold_regexes"):
            before, after = (getattr(each, key) for each in pair)
            if before != after:
                found["settings"].append({"place": f"{place}.{key}", "before": before, "after": after})
        found["regions"] += _roles(place, *pair)
        for entry in _changes(place, *pair):
            found["unknown" if "why" in entry else "regions"].append(entry)
        found["regions"] += _folding(place, *pair)
    return found


def _roles(place: str, one: Lexicon, two: Lexicon) -> Iterator[JsonObject]:
    """A region for each role whose turns only one of the lexicons searches."""
    text = next((each for each in texts_of(one) if _hits(two, each)), None)
    for role in ("user", "assistant"):
        before, after = (each.role in (role, "both") for each in (one, two))
        if before != after and text is not None:
            yield _region(place, before, after, f"the text is in a turn of the {role}", text)


def _changes(place: str, one: Lexicon, two: Lexicon) -> Iterator[JsonObject]:
    """A region for each pattern that only one lexicon has, or the reason why there is none."""
    gone, new = (
        [each for each in dict.fromkeys(a.patterns) if each not in b.patterns] for a, b in ((one, two), (two, one))
    )
    for pattern, before, after in (*((each, 1, 0) for each in gone), *((each, 0, 1) for each in new)):
        has, lacks = (one, two) if before else (two, one)
        if _is_idle(pattern, has, lacks):
            continue
        change = _change(pattern, gone if after else new, bool(after))
        other = str(change.get("from", change.get("into", "")))
        text = next((each for each in _tried(pattern, other, has) if _hits(has, each) and not _hits(lacks, each)), None)
        if text is None and _is_covered(pattern, gone if after else new, has, lacks):
            continue
        if text is None:
            why = f"no text was found that only `{pattern.pattern}` matches"
            yield {"place": place, **change, "why": why}
        else:
            yield _region(place, before, after, _in_words(pattern), text) | change


def _change(pattern: Pattern, others: list[Pattern], is_new: bool) -> JsonObject:
    """Whether the pattern was added, removed or changed, and the previous or new pattern."""
    like = get_close_matches(pattern.pattern, [each.pattern for each in others if each.mode == pattern.mode], 1, _ALIKE)
    if like:
        return {"change": "changed", "from" if is_new else "into": like[0]}
    return {"change": "added" if is_new else "removed"}


def _region(place: str, before: int, after: int, where: str, text: str) -> JsonObject:
    return difference(place, HIT[before], HIT[after], [where], {"text": repr(text)})


def _in_words(pattern: Pattern) -> str:
    return f"the text {'matches' if pattern.mode == 'regex' else 'contains'} `{pattern.pattern}`"


def _hits(lexicon: Lexicon, text: str) -> bool:
    return first("", lexicon, text) is not None


def texts_of(lexicon: Lexicon) -> list[str]:
    """A text that the lexicon matches, if one was found."""
    return [text for pattern in lexicon.patterns for text in _texts(pattern) if _hits(lexicon, text)][:1]


def _texts(pattern: Pattern) -> list[str]:
    """Texts that the pattern is likely to match."""
    found = samples(pattern.pattern) if pattern.mode == "regex" else [pattern.pattern, pattern.pattern.upper()]
    return [*found, *(f"So {each} it is." for each in found)]


def _tried(pattern: Pattern, other: str, has: Lexicon) -> Iterator[str]:
    """Texts of a pattern, and for a regular expression those with a change, and those that it matches with another."""
    yield from _texts(pattern)
    if pattern.mode == "regex" and max(len(pattern.pattern), len(other)) <= _LONGEST:
        once = list(_stretched(samples(pattern.pattern)[:_MOST_STRETCHED], pattern.pattern, other))
        yield from once
        yield from _stretched([*islice((each for each in once if _hits(has, each)), 4)], pattern.pattern, other)


def _stretched(texts: Iterable[str], one: str, other: str) -> Iterator[str]:
    """The texts with another character at one place, or with some more, as often as one of two expressions counts."""
    numbers = map(int, _COUNT.findall(f"{one} {other}"))
    counts = sorted({1, *(near for each in numbers for near in range(each - 2, each + 2) if 1 < near <= _MOST_COUNT)})
    letters = (*_MORE, *sorted({*one} ^ {*other}))
    for text in texts:
        for at, more in product(range(len(text) + 1), letters):
            yield text[:at] + more + text[at + 1 :]
            yield from (text[:at] + more * count + text[at:] for count in counts)


def _is_covered(pattern: Pattern, others: Sequence[Pattern], has: Lexicon, lacks: Lexicon) -> bool:
    """Whether it is proved that one of a few other expressions matches wherever this one does."""
    is_short = all(len(each.pattern) <= _LONGEST for each in (pattern, *others))
    mine = (
        language_of(pattern.pattern) if pattern.mode == "regex" and len(others) <= _MOST_PROVED and is_short else None
    )
    if mine is None or (has.fold, has.fold_regexes) != (lacks.fold, lacks.fold_regexes):
        return False
    theirs = [each for other in others if other.mode == "regex" and (each := language_of(other.pattern)) is not None]
    if any(is_part(mine, each) for each in theirs):
        return True
    return has_text(intersection([holding(mine), *(complement(holding(each)) for each in theirs)])) is False


def _is_idle(pattern: Pattern, has: Lexicon, lacks: Lexicon) -> bool:
    """Whether the lexicon without the pattern certainly matches every text with it, because it has a part of it."""
    if pattern.mode == "regex" or has.fold != lacks.fold:
        return False
    wanted = _folded(pattern, has)
    parts = [_folded(each, lacks) for each in lacks.patterns if each.mode == pattern.mode]
    return any(part.strip() and part in wanted for part in parts)


def _folded(pattern: Pattern, lexicon: Lexicon) -> str:
    if pattern.mode == "contains_ci" and not lexicon.fold:
        return pattern.pattern.lower()
    return fold(pattern.pattern, frozenset(lexicon.fold)).text


def _folding(place: str, one: Lexicon, two: Lexicon) -> Iterator[JsonObject]:
    """The first text for each difference that only one of the lexicons ignores, in a pattern of both."""
    shared = [each for each in one.patterns if each in two.patterns]
    if (one.fold, one.fold_regexes) == (two.fold, two.fold_regexes):
        return
    for name, plain, written in _WRITTEN:
        for pattern, sample in ((each, text) for each in shared for text in _texts(each)):
            text = sample.replace(plain, written)
            hits = _hits(one, text), _hits(two, text)
            if hits[0] != hits[1]:
                where = f"{_in_words(pattern)} but for {name.replace('_', ' ')}"
                yield _region(place, hits[0], hits[1], where, text)
                break
