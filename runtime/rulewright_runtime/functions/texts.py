"""Functions on replies: phrases, words and sentences, scripts, numbers, links and citations, refusals.

`SPANS` maps functions that find something to functions that return its spans, so that a verdict can quote them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import pairwise
from typing import Final, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.strings import compile_pattern, matches, matches_in
from rulewright_runtime.functions.table import LIST, Function, Table, typed
from rulewright_runtime.matching.folding import Folded, fold
from rulewright_runtime.matching.near_matches import words
from rulewright_runtime.matching.unspaced import is_part_of_word, is_unspaced, without_unspaced
from rulewright_runtime.values import Value, no_overload

Span: TypeAlias = tuple[int, int]
Spans: TypeAlias = Callable[..., Iterator[Span]]

FULL_STOPS: Final = "。｡！？।॥؟۔։።፧။។"  # of scripts that may have no space after them
_SENTENCE_END: Final = (
    r"[.!?…‽]+(?:\p{Zs}?[»›])?[\"'’“”»«›‹)\]]*(?:\s|\p{Z}|$)"
    rf"|[{FULL_STOPS}]+|\n\s*\n"
)
_URL: Final = (
    r"(?i)\b(?:https?://|www\.)[^\s\p{Z}<>\"'`{}|\\^\[\]‘’“”„«»‹›…。、，；：？！（）「」『』【】《》〈〉،؛؟।]+"
)
_TRAILING: Final = ".,;:!?)*_"
_CITATION: Final = r"\[\^?(\d{1,4}(?:\s?[,;\-\x{2013}]\s?\d{1,4})*)\]"
_NUMBER: Final = re.compile(r"(?<![\w.,])[-+\u2212]?\d+(?:[.,]\d+)*")
_GROUPED: Final = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!,?\d)")
_SEPARATORS: Final = str.maketrans("٬٫", ",.")  # in Arabic numbers
_WIDE_SEPARATOR: Final = re.compile("(?<=[０-９])[，．](?=[０-９])")  # between others it divides a list
_FENCE: Final = re.compile(r"(`{3,}|~{3,})")
# Scripts by their Unicode names, as RE2 knows them.
SCRIPTS: Final = (
    "Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Syriac", "Thaana", "Devanagari", "Bengali",
    "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao", "Tibetan",
    "Myanmar", "Georgian", "Hangul", "Ethiopic", "Cherokee", "Khmer", "Mongolian", "Hiragana", "Katakana", "Han",
    "Bopomofo", "Yi",
)  # fmt: skip
# Phrases of refusals in English, folded.
_REFUSALS: Final = (
    "i can't help with", "i cannot help with", "i can't assist", "i cannot assist", "i'm unable to",
    "i am unable to", "i'm not able to", "i am not able to", "i can't provide", "i cannot provide",
    "i can't comply", "i cannot comply", "i can't do that", "i cannot do that", "i can't fulfill",
    "i cannot fulfill", "i won't be able to", "i must decline", "i have to decline", "i will not help",
    "i won't help", "i won't provide", "i'm sorry, but i can't", "i'm sorry, but i cannot", "sorry, i can't",
    "sorry, i cannot", "against my guidelines", "i can't share", "i cannot share", "i can't answer",
    "i cannot answer", "i can't discuss", "i cannot discuss", "i can't help you", "i cannot help you",
    "i can't help.", "i cannot help.", "i won't do that", "i will not do that",
)  # fmt: skip


@lru_cache(maxsize=32)
def _folded(text: str) -> Folded:
    return fold(text)


@lru_cache(maxsize=4096)
def _folded_phrase(phrase: str) -> str:
    return fold(phrase).text


def _contains(text: str, phrase: str) -> bool:
    return _folded_phrase(phrase) in _folded(text).text


def _has_word(text: str, phrase: str) -> bool:
    return _word_span(_folded(text).text, _folded_phrase(phrase)) is not None


def _phrased(
    name: str, whether: Callable[[Iterator[bool]], bool], occurs: Callable[[str, str], bool] = _contains
) -> Function:
    """The function that says whether any, all or none of some phrases occur in a text, folded as in a lexicon."""

    def phrased(text: str, phrases: list[Value]) -> bool:
        if any(each.__class__ is not str for each in phrases):
            raise no_overload(name, text, phrases)
        if not phrases or not all(map(_folded_phrase, phrases)):  # the result would be vacuous
            raise EvaluationError(f"`{name}` needs at least one phrase, and none that is empty", "invalid_argument")
        return whether(occurs(text, each) for each in phrases)

    return phrased


def _word_span(text: str, phrase: str) -> Span | None:
    """Return the span of the first occurrence of a phrase as whole words: at neither end are two word characters
    (letters, digits, marks, underscores) of scripts with spaces adjacent."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (_is_inside_word(text[at - 1 : at], phrase[0]) or _is_inside_word(phrase[-1], text[end : end + 1])):
            return at, end
        at = text.find(phrase, at + 1)
    return None


def _is_inside_word(before: str, after: str) -> bool:
    return all((each == "_" or is_part_of_word(each)) and not is_unspaced(each) for each in (before, after))


def _word_count(text: str) -> int:
    spaced, unspaced = without_unspaced(text)
    return len(words(spaced)) + sum(-(-letters // size) for letters, size in unspaced)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, trimmed, without those that have neither letters nor digits."""
    ends = [end for _, end in find_spans(_SENTENCE_END, text)]
    pieces = (text[start:end].strip() for start, end in pairwise([0, *ends, len(text)]))
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


def scripts(text: str) -> list[str]:
    """Return the scripts of the letters by their Unicode names, most frequent first."""
    counts = {name: sum(end - start for start, end in find_spans(rf"\p{{{name}}}+", text)) for name in SCRIPTS}
    return sorted((name for name, count in counts.items() if count), key=lambda name: -counts[name])


def find_spans(source: str, text: str) -> Iterator[Span]:
    """Yield the spans of an RE2 pattern in `text`. Raises EvaluationError for a text with unpaired surrogates."""
    yield from (match.span() for match in matches_in(compile_pattern(source), text))


def _url_spans(text: str) -> Iterator[Span]:
    for start, end in find_spans(_URL, text):
        yield start, start + len(text[start:end].rstrip(_TRAILING))


def citations(text: str) -> list[int]:
    """Return the numbers of the sources cited in brackets, in order of first citation: `[1]`, `[2, 3]`, `[^4]`,
    `[5-7]`."""
    numbers: dict[int, None] = {}
    for start, end in find_spans(_CITATION, text):
        for first, last in re.findall(r"(\d+)(?:\s?[-\u2013]\s?(\d+))?", text[start:end]):
            numbers |= dict.fromkeys(range(int(first), int(last or first) + 1))
    return list(numbers)


def numbers(text: str) -> list[str]:
    """Return the numbers in `text` as written, in ASCII and without thousands separators: `1,200` gives `1200`."""
    return list(map(ungrouped, _NUMBER.findall(text if text.isascii() else _with_plain_numbers(text))))


def _with_plain_numbers(text: str) -> str:
    """The text with its numbers in ASCII, and a space in place of each letter of a script without spaces."""
    text = _WIDE_SEPARATOR.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text).translate(_SEPARATORS)
    plain = (str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return without_unspaced("".join(plain))[0]


def ungrouped(number: str) -> str:
    """Return a written number without the commas between its thousands; `1,5` and `0,500` have none."""
    return _GROUPED.sub(lambda found: found[0].replace(",", ""), number)


def code_blocks(text: str) -> list[str]:
    """Return the contents of the fenced code blocks of a Markdown text; an unclosed one extends to the end."""
    blocks: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if not fence and mark is not None:
            fence = mark[0]
            blocks.append("")
        elif fence and mark is not None and mark[0].startswith(fence):
            fence = ""
        elif fence:
            blocks[-1] += line
    return blocks


def _phrase_spans(text: str, phrases: Iterable[str]) -> Iterator[Span]:
    folded = _folded(text)
    for phrase in phrases:
        folded_phrase = _folded_phrase(phrase)
        start = folded.text.find(folded_phrase)
        if start >= 0:
            yield folded.span(start, start + len(folded_phrase))


def _whole_word_spans(text: str, phrases: list[str]) -> Iterator[Span]:
    folded = _folded(text)
    spans = [_word_span(folded.text, _folded_phrase(phrase)) for phrase in phrases]
    yield from (folded.span(*span) for span in spans if span is not None)


def _lowered_span(text: str, part: str) -> Iterator[Span]:
    start = text.lower().find(part.lower())
    if start >= 0 and len(text.lower()) == len(text):
        yield start, start + len(part)


def _exact_span(text: str, part: str) -> Iterator[Span]:
    start = text.find(part)
    if start >= 0:
        yield start, start + len(part)


SPANS: Final[Mapping[str, Spans]] = {
    "contains": _exact_span,
    "contains_ci": _lowered_span,
    "substring_ci": _lowered_span,
    "matches": lambda text, source: find_spans(source, text) if matches(text, source) else iter(()),
    "contains_any": _phrase_spans,
    "contains_all": _phrase_spans,
    "contains_none": _phrase_spans,
    "has_any_word": _whole_word_spans,
    "is_refusal": lambda text: _phrase_spans(text, _REFUSALS),
    "urls": _url_spans,
    "citations": partial(find_spans, _CITATION),
}


def listed(spans: Spans) -> Function:
    return lambda text: [text[start:end] for start, end in spans(text)]


TABLE: Final[Table] = typed(
    {
        "contains_any": (_phrased("contains_any", any), str, LIST),
        "contains_all": (_phrased("contains_all", all), str, LIST),
        "contains_none": (_phrased("contains_none", lambda found: not any(found)), str, LIST),
        "has_any_word": (_phrased("has_any_word", any, _has_word), str, LIST),
        "same_text": (lambda text, other: _folded(text).text.strip() == _folded(other).text.strip(), str, str),
        "word_count": (_word_count, str),
        "sentence_count": (lambda text: len(sentences(text)), str),
        "scripts": (scripts, str),
        "citations": (citations, str),
        "numbers": (numbers, str),
        "code_blocks": (code_blocks, str),
        "is_refusal": (lambda text: any(_contains(text, each) for each in _REFUSALS), str),
        "urls": (listed(_url_spans), str),
    }
)
