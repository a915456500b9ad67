from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from rulewright.diagnostics import Findings, Span, warning
from rulewright.documents.base import optional_text
from rulewright.load import Mapping, Node, Scalar, Sequence, place, walk
from rulewright.spelling import Guess, SimilarWords, is_slip_of

if TYPE_CHECKING:
    from rulewright.project import Project

WORD: Final = re.compile(r"(?<![^\W\d_])[a-z]{5,40}(?![^\W\d_])")
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
SINGLE: Final = re.compile(r"([a-z])\1")
SUFFIXED: Final = re.compile(r"([a-z])\1(?:ed|ing|er|ers|or|est|y)?$")  # `traveling` and `travelling`
CLASS: Final = re.compile(r"\\[a-zA-Z]")
SPELLING: Final = re.compile(r"(?i)sp[ei]l|typo|slip|recogni|\bASR\b|tipp|schreib")
Rare: TypeAlias = tuple[Span | Scalar, str, str, int]  # a name that is written once, a similar one, and its number


def misspelt_word(project: Project) -> Findings:
    """A word occurs only once, and has two letters exchanged or not doubled, or differs by a letter from another name.

    Why it matters: names and expected texts are compared letter by letter, so the misspelt one finds nothing.
    Instead: correct the spelling.
    """
    loaded, reported = {each.source.path: each.root for each in project.loaded}, set[str]()
    roots = [each for each in loaded.values() if each is not None]
    texts = (*(text for root in roots for text in _texts(root)), *(Path(path).stem.lower() for path in loaded))
    known = Counter(word for text in texts for word in WORD.findall(text))
    words = [(name, word) for root in roots for name in _names(root) for word in WORD.findall(str(name.value).lower())]
    found = [_rare(words, known, known, partial(_is_slip, known=known))]
    written = Counter(name for text in texts for name in NAME.findall(text))
    whole = Counter(text for text in texts if " " not in text)
    found.append(_rare([each for root in roots for each in _in_prose(root)], written, whole, _is_misspelt))
    found.append(each for each in _misspelt_values(roots) if whole[each[1].lower()] == 1)
    found.append(_exchanged(roots, known))
    for where, word, near, times in (each for part in found for each in part):
        if word not in reported:
            reported.update((word, near) if times == 1 else (word,))  # of two rare spellings, one is reported
            message = f"`{word}` occurs only here, but `{near}` occurs {f'{times} times' if times > 1 else 'elsewhere'}"
            slip = "two letters exchanged" if sorted(word) == sorted(near) else "a letter too many or too few"
            yield warning(where, message if times else f"`{word}` has {slip}", help=Guess(near))


def _misspelt_values(roots: Iterable[Node]) -> Iterator[Rare]:
    """Yield the values that differ by a letter from one that their key has several times."""
    by_key: dict[str, list[tuple[Scalar, str]]] = {}
    for key, value in (each for root in roots for each in _values(root, "")):
        by_key.setdefault(key, []).append((value, str(value.value)))
    for values in by_key.values():
        same = Counter(value for _, value in values)
        yield from _rare(values, same, Counter({each: same[each] for each in same if same[each] > 1}), _is_misspelt)


def _exchanged(roots: Iterable[Node], known: Counter[str]) -> Iterator[Rare]:
    """The words of texts that nobody says in a chat, with two letters exchanged of an English or several times used
    word. A list may contain a phrase in both spellings."""
    english, real = words_of("common_words"), words_of("similar_words")
    rare = (word for word, times in known.items() if times == 1 and word not in english and word not in real)
    meant = {word: near for word in rare if (near := _with_letters_exchanged(word, english, known)) is not None}
    for root in roots if meant else ():
        yield from ((where, word, near, known[near]) for where, word, near in _misspelt_below(root, meant))


def _with_letters_exchanged(word: str, english: Container[str], known: Counter[str]) -> str | None:
    swaps = (f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in range(len(word) - 1))
    swapped = next((each for each in swaps if each != word and (each in english or known[each] > 1)), None)
    return swapped or _english_by_single_letters().get(SINGLE.sub(r"\1", word))


@cache
def _english_by_single_letters() -> dict[str, str]:
    """The English words with a doubled letter, without doubling: `disapear` for `disappear`, also of `dissapear`."""
    doubled = {word for word in words_of("common_words") if SINGLE.search(word) and not SUFFIXED.search(word)}
    return {SINGLE.sub(r"\1", word): word for word in sorted(doubled)}


def _misspelt_below(
    node: Node, meant: dict[str, str], siblings: Container[str] = ()
) -> Iterator[tuple[Span, str, str]]:
    """The misspelt words below a node, without texts that somebody says in a chat. A lexicon of the user's words
    may have several of them, or a description that people spell so."""
    if isinstance(node, Mapping):
        below = [
            each for entry in node.entries if entry.name not in SPOKEN for each in _misspelt_below(entry.value, meant)
        ]
        is_typed = optional_text(node, "role") in ("user", "both")
        is_meant = is_typed and (len(below) > 1 or SPELLING.search(optional_text(node, "description") or ""))
        yield from below if not is_meant else ()
    elif isinstance(node, Sequence):
        listed = frozenset(str(each.value) for each in node.items if isinstance(each, Scalar))
        yield from (each for item in node.items for each in _misspelt_below(item, meant, listed))
    elif isinstance(node.value, str):
        for found in WORD.finditer(_readable(node.value)):
            near = meant.get(found[0])
            if near is not None and node.value.replace(found[0], near) not in siblings:
                yield place(node, *found.span()), found[0], near


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
    for node in walk(root):
        if (
            isinstance(node, Scalar)
            and isinstance(node.value, str)
            and " " in node.value
            and not OPERATOR.search(node.value)
        ):
            for found in NAME.finditer(node.value):
                yield place(node, *found.span()), found.group()


def _values(node: Node, key: str) -> Iterator[tuple[str, Scalar]]:
    """The names below a node that are neither searched for nor expressions, each with its key."""
    for entry in node.entries if isinstance(node, Mapping) else ():
        yield from _values(entry.value, entry.name) if entry.name not in SOUGHT else ()
    for item in node.items if isinstance(node, Sequence) else ():
        yield from _values(item, key)
    if isinstance(node, Scalar) and isinstance(node.value, str) and VALUE.fullmatch(node.value):
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
            yield _readable(str(node.value)).lower()
        elif isinstance(node, Mapping):
            yield from (entry.name.lower() for entry in node.entries)


def _names(node: Node) -> Iterator[Scalar]:
    """The short texts below a node that are neither searched for nor expressions."""
    if isinstance(node, Mapping):
        yield from (each for entry in node.entries if entry.name not in SOUGHT for each in _names(entry.value))
    elif isinstance(node, Sequence):
        yield from (each for item in node.items for each in _names(item))
    elif isinstance(node.value, str) and not EXPRESSION.search(node.value) and len(node.value.split()) <= LONGEST:
        yield node


def _is_slip(word: str, other: str, known: Counter[str]) -> bool:
    """Whether a word has two letters of another one exchanged, or one letter more or less within it."""
    if word == other or not is_slip_of(word, other):
        return False
    if word in words_of("similar_words") or word in words_of("common_words"):
        return False
    if len(word) == len(other):
        return sorted(word) == sorted(other)
    is_ending = word.startswith(other[:-1]) or other.startswith(word[:-1])
    is_at_an_end = is_ending or word.endswith(other) or other.endswith(word)  # `spending` and `pending`
    return len(word) >= LETTERS and known[other] > 1 and not is_at_an_end
