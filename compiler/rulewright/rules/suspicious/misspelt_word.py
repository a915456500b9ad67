from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

from rulewright.diagnostics import Findings, Guess, Span, warning
from rulewright.documents.base import optional_text
from rulewright.load import Mapping, Node, Scalar, Sequence, is_text, place, scalars_below, walk
from rulewright.project import Project
from rulewright.spelling import SimilarWords, is_slip_of, slips_of

WORD: Final = re.compile(r"(?<![^\W\d_])[a-z]{4,40}(?![^\W\d_])")
LONGEST: Final = 3  # words of a text that is a name
LETTERS: Final = 7  # of a word with a letter more or less; shorter ones are often words of their own
NAME: Final = re.compile(r"(?<![\w/.])[a-z]+(?:_[a-z]+)+(?![\w/]|\.\w)")
VALUE: Final = re.compile(r"[\w-]{5,60}")  # a name that is compared with the others of its key
OPERATOR: Final = re.compile(r"[<>=!]=|&&|\|\||\w\(")
EXPRESSION: Final = re.compile(r"[()<>=\\]")
# Keys of texts that are searched for, which may be misspelt on purpose, or quoted, and of people's names.
SOUGHT: Final = frozenset({
    "chat", "cues", "examples", "judge", "lexicons", "markers", "patterns", "persona", "regex", "replies", "values",
})  # fmt: skip
SPOKEN: Final = SOUGHT - {"cues", "lexicons", "markers", "patterns", "regex"} | {"user_message"}
WORD_OF_TEXT: Final = re.compile(r"(?<![\w'\u2019/.\[-])(?:[a-z]{4,40}|(?<!.)[A-Z][a-z]{3,40})(?![\w/-]|[.'\u2019?]\w)")
SINGLE: Final = re.compile(r"([a-z])\1")
SHORT_WORD: Final = re.compile(r"[^\W\d_]{3,}")
SHORTEST: Final = 4  # letters of a word that is meant
FEW: Final = 3  # words that show a language
ENDINGS: Final = ("d", "ed", "er", "ers", "es", "ing", "ly", "ness", "r", "rs", "s")
LITERAL: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
CLASS: Final = re.compile(r"\\[a-zA-Z]")
SPELLING: Final = re.compile(r"(?i)sp[ei]l|typo|slip|recogni|\bASR\b|tipp|schreib")
Rare: TypeAlias = tuple[Span | Scalar, str, str, int]  # a name that is written once, a similar one, and its number


def misspelt_word(project: Project) -> Findings:
    """A word occurs only once, and differs from a common word or a name by a typing mistake.

    Why it matters: names and expected texts are compared letter by letter, so the misspelt one finds nothing.
    Instead: correct the spelling.
    """
    loaded, reported = {each.source.path: each.root for each in project.loaded}, set[str]()
    roots = [each for each in loaded.values() if each is not None]
    texts = (*(text for root in roots for text in _texts(root)), *(Path(path).stem.lower() for path in loaded))
    known = Counter(word for text in texts for word in WORD.findall(text))
    words = [
        (name, word)
        for root in roots
        for name in _names(root)
        for word in WORD.findall(name.text.lower())
        if len(word) > SHORTEST
    ]
    found = [_rare(words, known, known, partial(_is_slip, known=known))]
    written = Counter(name for text in texts for name in NAME.findall(text))
    whole = Counter(text for text in texts if " " not in text)
    found.append(_rare([each for root in roots for each in _in_prose(root)], written, whole, _is_misspelt))
    found.append(each for each in _misspelt_values(roots) if whole[each[1].lower()] == 1)
    found.append(_in_texts(roots, known))
    for where, word, near, times in (each for part in found for each in part):
        if word not in reported:
            reported.update((word, near) if times == 1 else (word,))  # of two rare spellings, one is reported
            message = f"`{word}` occurs only here, but `{near}` occurs {f'{times} times' if times > 1 else 'elsewhere'}"
            yield warning(where, message if times else f"unknown word `{word}`", help=Guess(near))


def _misspelt_values(roots: Iterable[Node]) -> Iterator[Rare]:
    """Yield the values that differ by a letter from one that their key has several times."""
    by_key: dict[str, list[tuple[Scalar, str]]] = {}
    for key, value in (each for root in roots for each in _values(root, "")):
        by_key.setdefault(key, []).append((value, value.text))
    for values in by_key.values():
        same = Counter(value for _, value in values)
        yield from _rare(values, same, Counter({each: same[each] for each in same if same[each] > 1}), _is_misspelt)


def _in_texts(roots: Iterable[Node], known: Counter[str]) -> Iterator[Rare]:
    """The words of texts that nobody says in a chat, with a slip of the hand in an English or several times used
    word. A list may contain a phrase in both spellings."""
    unknown = {word for word, times in known.items() if times == 1 and not is_known_word(word)}
    meant = cache(partial(_meant, known=known))
    prose = (text for root in roots for text in _texts(root) if " " in text)
    for root in roots if unknown and _is_english(prose) else ():
        found = _misspelt_below(root, unknown, meant)
        yield from ((where, word, near, known[near]) for where, word, near in found if near)


def is_known_word(word: str) -> bool:
    """Whether a word is a known one, or one with an ending."""
    return _is_of(word, _known_words())


def _is_of(word: str, known: frozenset[str]) -> bool:
    return word in known or any(word.endswith(each) and word.removesuffix(each) in known for each in ENDINGS)


@cache
def _known_words() -> frozenset[str]:
    return words_of("common_words") | words_of("similar_words")


def _meant(word: str, known: Counter[str]) -> str:
    """The word that one with a slip probably means: the project's, or else an English one; empty without any."""
    english = words_of("common_words")
    words = (each for each in slips_of(word) if each in english or known.get(each, 0) > 1)
    near = sorted(
        each for each in words if len(each) >= SHORTEST and (each[-1] == word[-1] or sorted(each) == sorted(word))
    )
    return max(near, key=known.__getitem__, default=_english_by_single_letters().get(_single(word), ""))


@cache
def _english_by_single_letters() -> dict[str, str]:
    """The English words with a doubled letter, without doubling: `tomorow` for `tomorrow`, also of `tommorow`."""
    return {_single(word): word for word in sorted(words_of("common_words")) if SINGLE.search(word)}


def _single(word: str) -> str:
    return SINGLE.sub(r"\1", word)


def _misspelt_below(
    node: Node, unknown: Container[str], meant: Callable[[str], str], context: _Context | None = None
) -> Iterator[tuple[Span, str, str]]:
    """The unknown words below a node and what is meant, without texts that somebody says in a chat. A lexicon of the
    user's words may have several of them, or a description that people spell so."""
    if isinstance(node, Mapping):
        cut_off = _cut_off(node)
        entries = [
            each
            for each in node.entries
            if each.name not in SPOKEN and not (isinstance(each.value, Scalar) and each.value.value in cut_off)
        ]
        below = [each for entry in entries for each in _misspelt_below(entry.value, unknown, meant)]
        yield from (each for entry in entries for each in _misspelt_in_key(entry.key, unknown, meant))
        is_typed = optional_text(node, "role") in ("user", "both")
        is_meant = is_typed and (len(below) > 1 or SPELLING.search(optional_text(node, "description") or ""))
        yield from below if not is_meant else ()
    elif isinstance(node, Sequence):
        context = _Context(node)
        yield from (each for item in node.items for each in _misspelt_below(item, unknown, meant, context))
    elif isinstance(node.value, str):
        text = _readable(node.value)
        found = [each for each in WORD_OF_TEXT.finditer(text) if each[0].lower() in unknown]
        context = context or _Context(node)
        for each in found if found and not context.is_foreign else ():
            word, near = each[0].lower(), meant(each[0].lower())
            if not _is_english_around(text, each):
                continue
            is_sure = sorted(word) == sorted(near) or (_single(word) == _single(near) and SINGLE.search(near))
            is_likely = context.is_long and len(word) > SHORTEST  # a shorter one may be an abbreviation
            if (is_likely or is_sure) and not context.has_both(text.lower(), word, near):
                yield place(node, *each.span()), word, near


def _misspelt_in_key(
    key: Scalar, unknown: Container[str], meant: Callable[[str], str]
) -> Iterator[tuple[Span, str, str]]:
    """The unknown words of a key in which two letters are exchanged: it may be an abbreviation, or of any language."""
    for found in WORD.finditer(key.text):
        if found[0] in unknown and len(found[0]) > SHORTEST and sorted(near := meant(found[0])) == sorted(found[0]):
            yield place(key, *found.span()), found[0], near


def _cut_off(mapping: Mapping) -> set[str]:
    """The texts of a mapping that are the beginning of another one, so that their last word may be half a word."""
    values = (each.value.value for each in mapping.entries if isinstance(each.value, Scalar))
    return {
        text
        for text, after in pairwise(sorted({each for each in values if isinstance(each, str)}))
        if after.startswith(text)
    }


def _is_english_around(text: str, found: re.Match[str]) -> bool:
    """Whether the other words of a text, if there are several, are mostly known; those of an expression are the words
    of its literals."""
    literals = [*LITERAL.finditer(text)] if EXPRESSION.search(text) else []
    if any(each.start() <= found.start() < each.end() for each in literals):
        others = SHORT_WORD.findall(" ".join(each[0] for each in literals).lower())
        others.remove(found[0].lower())
    else:
        others = SHORT_WORD.findall(f"{text[: found.start()]} {text[found.end() :]}".lower())
    return len(others) < FEW or 2 * sum(map(is_known_word, others)) >= len(others)


class _Context:
    """A list of texts, or a text by itself, in whose language a word is written."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @cached_property
    def _phrases(self) -> frozenset[str]:
        return frozenset(_texts(self._node))

    @cached_property
    def is_long(self) -> bool:
        """Whether it has enough words to show a language."""
        return len(SHORT_WORD.findall(" ".join(self._phrases))) >= FEW

    @cached_property
    def is_foreign(self) -> bool:
        """Whether it shows another language than English."""
        return self.is_long and not _is_english(self._phrases)

    def has_both(self, text: str, word: str, near: str) -> bool:
        """Whether it also has a text with the word that is near."""
        return len(self._phrases) > 1 and text.replace(word, near) in self._phrases


def _is_english(texts: Iterable[str]) -> bool:
    """Whether most words of texts are common English ones; a word similar to one may be of any language."""
    words, common = Counter(SHORT_WORD.findall(" ".join(texts))), words_of("common_words")
    return words.total() >= FEW and sum(words[each] for each in words if _is_of(each, common)) * 2 >= words.total()


@cache
def words_of(name: str) -> frozenset[str]:
    """The words of a list next to this module: English ones that are often written, or those similar to others."""
    lines = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _readable(text: str) -> str:
    """A text in which the classes of regular expressions, as `\\b`, are spaces."""
    return CLASS.sub("  ", text) if "\\" in text else text


def _rare(
    names: Iterable[tuple[Span | Scalar, str]],
    written: Counter[str],
    known: Counter[str],
    is_slip: Callable[[str, str], bool],
) -> Iterator[Rare]:
    """The names that are written only once and may be slips of known ones, which follow with their number."""
    similar = SimilarWords(known, is_slip)
    for where, name in names:
        near = None if written[name] > 1 else similar.first(name)
        if near is not None:
            yield where, name, near, known[near]


def _in_prose(root: Node) -> Iterator[tuple[Span, str]]:
    """The names with an underscore inside longer texts."""
    for each in scalars_below(root):
        if isinstance(each.value, str) and " " in each.value and not OPERATOR.search(each.value):
            for found in NAME.finditer(each.value):
                yield place(each, *found.span()), found.group()


def _values(node: Node, key: str) -> Iterator[tuple[str, Scalar]]:
    """The names below a node that are neither searched for nor expressions, each with its key."""
    for entry in node.entries if isinstance(node, Mapping) else ():
        yield from _values(entry.value, entry.name) if entry.name not in SOUGHT else ()
    for item in node.items if isinstance(node, Sequence) else ():
        yield from _values(item, key)
    if is_text(node) and VALUE.fullmatch(node.text):
        yield key, node


def _is_misspelt(name: str, other: str) -> bool:
    """Whether a name is another one but for a letter, and neither its plural nor one with another number or dash."""
    if name.replace("-", "_") == other.replace("-", "_"):
        return False
    is_numbered = re.sub(r"\d", "", name) == re.sub(r"\d", "", other) and sorted(name) != sorted(other)
    return is_slip_of(name, other) and not is_numbered and f"{name}s" != other and f"{other}s" != name


def _texts(root: Node) -> Iterator[str]:
    for node in walk(root):
        if isinstance(node, Scalar):
            yield _readable(node.text).lower()
        elif isinstance(node, Mapping):
            yield from (entry.name.lower() for entry in node.entries)


def _names(node: Node) -> Iterator[Scalar]:
    """The keys and short texts below a node that are neither searched for nor expressions."""
    if isinstance(node, Mapping):
        for entry in (each for each in node.entries if each.name not in SOUGHT):
            yield entry.key
            yield from _names(entry.value)
    elif isinstance(node, Sequence):
        yield from (each for item in node.items for each in _names(item))
    elif isinstance(node.value, str) and not EXPRESSION.search(node.value) and len(node.value.split()) <= LONGEST:
        yield node


def _is_slip(word: str, other: str, known: Counter[str]) -> bool:
    """Whether a word has two letters of another one exchanged, or one letter more or less within it."""
    if word == other or not is_slip_of(word, other):
        return False
    if word in _known_words():
        return False
    if len(word) == len(other):
        return sorted(word) == sorted(other)
    is_ending = word.startswith(other[:-1]) or other.startswith(word[:-1])
    is_at_an_end = is_ending or word.endswith(other) or other.endswith(word)  # `spending` and `pending`
    return len(word) >= LETTERS and known[other] > 1 and not is_at_an_end
