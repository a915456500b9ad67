"""Functions on replies: phrases, words and sentences, scripts, numbers, links and citations, refusals.

`SPANS` maps functions that find something to functions that return its spans, so that a verdict can quote them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.strings import compile_pattern, matches
from rulewright_runtime.functions.table import Table
from rulewright_runtime.matching.folding import Folded, fold
from rulewright_runtime.matching.near_matches import words
from rulewright_runtime.values import Value, no_overload

Span: TypeAlias = tuple[int, int]
Spans: TypeAlias = Callable[..., Iterator[Span]]

_SENTENCE_END: Final = (
    r"[.!?\x{2026}\x{203d}]+[\"'\x{2019}\x{201d})\]]*(?:\s|$)"
    r"|[\x{3002}\x{ff01}\x{ff1f}\x{0964}\x{061f}]+|\n\s*\n"
)
_URL: Final = r"(?i)\b(?:https?://|www\.)[^\s<>\"'`{}|\\^\[\]]+"
_TRAILING: Final = ".,;:!?)*_"
_CITATION: Final = r"\[\^?(\d{1,4}(?:\s?[,;\-\x{2013}]\s?\d{1,4})*)\]"
_NUMBER: Final = re.compile(r"(?<![\w.,])[-+\u2212]?\d+(?:[.,]\d+)*")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
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
    "i cannot answer", "i can't discuss", "i cannot discuss",
)  # fmt: skip


def _text(function: str, value: Value, *others: Any) -> str:
    if value.__class__ is not str:
        raise no_overload(function, value, *others)
    return str(value)


def _phrases(function: str, text: object, phrases: object) -> list[str]:
    """Return a list of phrases. Raises EvaluationError for an empty list or phrase, whose result would be vacuous."""
    _text(function, text, phrases)
    if not isinstance(phrases, (list, tuple)) or any(each.__class__ is not str for each in phrases):
        raise no_overload(function, text, phrases)
    if not phrases or not all(map(_folded_phrase, phrases)):
        raise EvaluationError(f"`{function}` needs at least one phrase, and none that is empty", "invalid_argument")
    return list(phrases)


@lru_cache(maxsize=32)
def _folded(text: str) -> Folded:
    return fold(text)


@lru_cache(maxsize=4096)
def _folded_phrase(phrase: str) -> str:
    return fold(phrase).text


def _contains(text: str, phrase: str) -> bool:
    return _folded_phrase(phrase) in _folded(text).text


def contains_any(text: Value, phrases: Value) -> bool:
    """Whether `text` contains one of the phrases, folded as in a lexicon (`matching.folding`)."""
    return any(_contains(text, each) for each in _phrases("contains_any", text, phrases))


def contains_all(text: Value, phrases: Value) -> bool:
    """Whether `text` contains all of the phrases."""
    return all(_contains(text, each) for each in _phrases("contains_all", text, phrases))


def contains_none(text: Value, phrases: Value) -> bool:
    """Whether `text` contains none of the phrases."""
    return not any(_contains(text, each) for each in _phrases("contains_none", text, phrases))


def has_any_word(text: object, words: object) -> bool:
    """As `contains_any`, for whole words only: `moron` is not in `oxymoron`."""
    return any(_word_span(_folded(text).text, _folded_phrase(each)) for each in _phrases("has_any_word", text, words))


def _word_span(text: str, phrase: str) -> Span | None:
    """Return the span of the first occurrence of a phrase as whole words: at neither end are two word characters
    (letters, digits, underscores) adjacent."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (_is_inside_word(text[at - 1 : at], phrase[0]) or _is_inside_word(phrase[-1], text[end : end + 1])):
            return at, end
        at = text.find(phrase, at + 1)
    return None


def _is_inside_word(before: str, after: str) -> bool:
    return all(each == "_" or each.isalnum() for each in (before, after))


def same_text(text: object, other: object) -> bool:
    """Whether two strings are equal after folding and trimming."""
    return _folded(_text("same_text", text, other)).text.strip() == _folded(_text("same_text", other)).text.strip()


def word_count(text: object) -> int:
    """Return the number of words: runs of letters and digits, with apostrophes inside."""
    return len(words(_text("word_count", text)))


def sentence_count(text: Value) -> int:
    """Return the number of sentences, which end in `.`, `!`, `?` or similar before whitespace, at an empty line, or at
    the end."""
    return len(sentences(_text("sentence_count", text)))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, trimmed, without those that have neither letters nor digits."""
    ends = [end for _, end in find_spans(_SENTENCE_END, text)]
    pieces = (text[start:end].strip() for start, end in pairwise([0, *ends, len(text)]))
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


def scripts(text: Value) -> list[str]:
    """Return the scripts of the letters by their Unicode names, most frequent first."""
    _text("scripts", text)
    counts = {name: sum(map(len, _findall(rf"\p{{{name}}}+", text))) for name in SCRIPTS}
    return sorted((name for name, count in counts.items() if count), key=lambda name: -counts[name])


def _findall(source: str, text: str) -> list[str]:
    return [text[start:end] for start, end in find_spans(source, text)]


def find_spans(source: str, text: str) -> Iterator[Span]:
    """Yield the spans of an RE2 pattern in `text`. Raises EvaluationError for a text with unpaired surrogates."""
    try:
        yield from (match.span() for match in compile_pattern(source).finditer(text))
    except UnicodeEncodeError:
        raise EvaluationError("a text with unpaired surrogates can't be matched", "invalid_argument") from None


def urls(text: Value) -> list[str]:
    """Return the web addresses in `text`, without trailing punctuation."""
    return [text[start:end] for start, end in _url_spans(_text("urls", text))]


def _url_spans(text: str) -> Iterator[Span]:
    for start, end in find_spans(_URL, text):
        yield start, start + len(text[start:end].rstrip(_TRAILING))


def citations(text: Value) -> list[int]:
    """Return the numbers of the sources cited in brackets, in order of first citation: `[1]`, `[2, 3]`, `[^4]`,
    `[5-7]`."""
    numbers: dict[int, None] = {}
    for start, end in _citation_spans(_text("citations", text)):
        for first, last in re.findall(r"(\d+)(?:\s?[-\u2013]\s?(\d+))?", text[start:end]):
            numbers |= dict.fromkeys(range(int(first), int(last or first) + 1))
    return list(numbers)


def _citation_spans(text: str) -> Iterator[Span]:
    return find_spans(_CITATION, text)


def numbers(text: Value) -> list[str]:
    """Return the numbers in `text` as written, without thousands separators: `1,200` gives `1200`."""
    literals = _NUMBER.findall(_text("numbers", text))
    return [each.replace(",", "") if _GROUPED.fullmatch(each.lstrip("-+\u2212")) else each for each in literals]


def code_blocks(text: object) -> list[str]:
    """Return the contents of the fenced code blocks of a Markdown text; an unclosed one extends to the end."""
    blocks: list[str] = []
    fence = ""
    for line in _text("code_blocks", text).splitlines(keepends=True):
        mark = _FENCE.match(line)
        if not fence and mark is not None:
            fence = mark[0]
            blocks.append("")
        elif fence and mark is not None and mark[0].startswith(fence):
            fence = ""
        elif fence:
            blocks[-1] += line
    return blocks


def is_refusal(text: object) -> bool:
    """Whether an English reply is a refusal, by common phrases."""
    return contains_any(_text("is_refusal", text), list(_REFUSALS))


def _phrase_spans(text: str, phrases: list[str]) -> Iterator[Span]:
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


def _matched_spans(text: str, source: str) -> Iterator[Span]:
    return find_spans(source, text) if matches(text, source) else iter(())


SPANS: Final[Mapping[str, Spans]] = {
    "contains": _exact_span,
    "contains_ci": _lowered_span,
    "substring_ci": _lowered_span,
    "matches": _matched_spans,
    "contains_any": _phrase_spans,
    "contains_all": _phrase_spans,
    "contains_none": _phrase_spans,
    "has_any_word": _whole_word_spans,
    "is_refusal": lambda text: _phrase_spans(text, list(_REFUSALS)),
    "urls": _url_spans,
    "citations": _citation_spans,
}

TABLE: Final[Table] = {
    "contains_any": (contains_any, 2, 2),
    "contains_all": (contains_all, 2, 2),
    "contains_none": (contains_none, 2, 2),
    "has_any_word": (has_any_word, 2, 2),
    "same_text": (same_text, 2, 2),
    "word_count": (word_count, 1, 1),
    "sentence_count": (sentence_count, 1, 1),
    "scripts": (scripts, 1, 1),
    "urls": (urls, 1, 1),
    "citations": (citations, 1, 1),
    "numbers": (numbers, 1, 1),
    "code_blocks": (code_blocks, 1, 1),
    "is_refusal": (is_refusal, 1, 1),
}
