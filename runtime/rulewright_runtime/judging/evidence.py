"""Evidence: the quotes in a judge's reply, and whether they occur in the turns that they name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from rulewright_runtime.matching import folding
from rulewright_runtime.matching.unspaced import LETTERS, is_mark, is_part_of_word, is_unspaced, without_unspaced
from rulewright_runtime.transcripts.messages import Turn
from rulewright_runtime.verdicts import EvidenceSpan


def quoted(reply: Mapping[str, Any]) -> tuple[EvidenceSpan, ...]:
    """The quotes of a reply, unverified. Those of a usual reply (see `replies.read`) are read already.

    A missing role is `assistant`, a missing turn 0, a missing quote empty. Raises AttributeError, ValueError or
    TypeError for an item that is not an object or whose turn is not a number.
    """
    items = reply.get("evidence") or ()
    if isinstance(items, tuple):
        return items
    return tuple(
        EvidenceSpan(
            item.get("role", "assistant"), int(item.get("turn", 0)), item.get("quote", ""), item.get("rationale")
        )
        for item in items
    )


def tolerant(reply: Mapping[str, Any]) -> tuple[Sequence[EvidenceSpan], list[object]]:
    """The quotes of a reply that name a turn and a role, and its other items unchanged."""
    items = reply.get("evidence")
    if isinstance(items, tuple):
        return items, []
    if not isinstance(items, list):
        return [], [] if items is None else [items]
    read = [(item, _span(item)) for item in items]
    return [span for _, span in read if span is not None], [item for item, span in read if span is None]


def _span(item: Any) -> EvidenceSpan | None:
    if not isinstance(item, dict):
        return None
    role, turn, quote = item.get("role"), _number(item.get("turn")), item.get("quote")
    if not isinstance(role, str) or not isinstance(quote, str) or turn is None:
        return None
    rationale = item.get("rationale")
    return EvidenceSpan(role, turn, quote, rationale if isinstance(rationale, str) else None)


def _number(turn: object) -> int | None:
    """The number of a turn, which may be a text or have a decimal point: `1.0`."""
    if isinstance(turn, str):
        return int(turn) if turn.isdecimal() and len(turn) < 10 else None
    if isinstance(turn, float):
        return int(turn) if turn.is_integer() and abs(turn) < 10**9 else None
    return turn if isinstance(turn, int) and not isinstance(turn, bool) else None


class QuotedTurns:
    """Looks up quotes in the turns of one transcript; each turn is folded and each quote searched for once."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._named: dict[tuple[str, int], list[int]] = {}
        self._folded: dict[int, str] = {}
        self._indices: dict[tuple[str, int, str], frozenset[int]] = {}

    def indices(self, span: EvidenceSpan) -> frozenset[int]:
        """The indices of the turns that `span` names by role and number and in which its quote occurs."""
        key = (span.role, span.turn, span.quote)
        indices = self._indices.get(key)
        if indices is None:
            quote = Quote(span.quote)
            named = self._turns_named().get((span.role, span.turn), ())
            indices = self._indices[key] = frozenset([index for index in named if self._occurs(quote, index)])
        return indices

    def _occurs(self, quote: Quote, index: int) -> bool:
        turn = self._turns[index].content
        return (
            is_verbatim(quote.written, turn)
            or is_verbatim(folding.turn_folded(quote.written, folding.TEXT), folding.turn_folded(turn, folding.TEXT))
            or occurs(quote, self._fold(index))
        )

    def _turns_named(self) -> dict[tuple[str, int], list[int]]:
        """The indices of the turns by role and number."""
        if not self._named:
            for index, turn in enumerate(self._turns):
                self._named.setdefault((turn.role, turn.turn), []).append(index)
        return self._named

    def _fold(self, index: int) -> str:
        if index not in self._folded:
            self._folded[index] = fold(self._turns[index].content)
        return self._folded[index]


class Quote:
    """A quote, folded when it is first compared with a folded turn."""

    def __init__(self, written: str) -> None:
        self.written = written

    @cached_property
    def text(self) -> str:
        """The folded quote without the punctuation at its ends."""
        return fold(self.written).strip(_ENDS)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Its folded parts between ellipses; empty without one."""
        pieces = _ELLIPSIS.split(self.written) if _holds_ellipsis(self.written) else ()
        parts = (fold(piece).strip(_ENDS) for piece in pieces) if len(pieces) > 1 else ()
        return tuple(filter(None, parts))


ENOUGH: Final = 3  # words
MOST: Final = 1000  # occurrences that are looked at: a short quote of a long turn may have half a million


def is_verbatim(quote: str, turn: str) -> bool:
    """Whether a quote is `ENOUGH` plain words that occur in a turn as they are, between plain characters: it occurs in
    the folded turn then, because `fold` changes these words alike in both. False if that is unknown. Both may be
    without the differences of lexicons."""
    words = quote.strip(_ENDS)
    start = turn.find(words)
    if start < 0 or not _PLAIN_WORDS.fullmatch(words):
        return False
    before, after = turn[max(start - 3, 0) : start], turn[start + len(words) : start + len(words) + 3]
    return before.removesuffix(_BOLD)[-1:] in _AROUND and after.removeprefix(_BOLD)[:1] in _AROUND


def occurs(quote: Quote, turn: str) -> bool:
    """Whether a quote occurs in a folded turn and is long enough to prove something.

    It is the whole turn; or it has at least three whole words; or it occurs once and starts and ends at word
    boundaries; or its parts occur in order, one of them with at least three words.
    """
    if not any(char.isalnum() or unicodedata.category(char) == "So" for char in quote.text):
        return False
    if quote.text == turn.strip(_ENDS):
        return True
    count = 0
    for _, enough in _matches(quote.text, turn):
        if enough:
            return True
        count += 1
    if count == 1:
        return True
    return len(quote.parts) > 1 and _in_order(quote.parts, turn)


def _in_order(parts: Sequence[str], turn: str) -> bool:
    position, shown = 0, False
    for part in parts:
        match = next(_matches(part, turn, position), None)
        if match is None:
            return False
        position, enough = match
        shown = shown or enough
    return shown


def _matches(part: str, turn: str, start: int = 0) -> Iterator[tuple[int, bool]]:
    """Yield where `part` ends in `turn`, and whether it has enough whole words; words that it cuts do not count.

    A match with fewer words counts only if no word is cut.
    """
    position = turn.find(part, start)
    words = _words(part) if position >= 0 else 0
    for _ in range(MOST):
        if position < 0:
            return
        end = position + len(part)
        cut = _inside_word(turn, position) + _inside_word(turn, end)
        if words - cut >= ENOUGH:
            yield end, True
        elif not cut:
            yield end, False
        position = turn.find(part, position + 1)


def _words(text: str) -> int:
    text, unspaced = without_unspaced(text)
    whole = sum(letters // size for letters, size in unspaced)
    return whole + sum(1 for word in text.split() if word.isalnum() or any(map(str.isalnum, word)))


def _inside_word(text: str, position: int) -> bool:
    """Whether `position` is inside a word; between two characters of a script without spaces it never is."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if before == " " or after == " ":
        return False
    if is_mark(after):
        return True
    if is_unspaced(before) or is_unspaced(after):
        return False
    return _is_word_char(before) and _is_word_char(after)


def _is_word_char(char: str) -> bool:
    return char == "'" or is_part_of_word(char)


# Most texts contain no match of these. Testing for the characters that they need is far cheaper than searching.
_DOTS: Final = r"\.(?:\s?\.){2,}"
_ELLIPSIS: Final = re.compile(  # each alternative starts with a character, for which the text is searched first
    rf"\[(?:{_DOTS}|…+)[\])]?|\((?:{_DOTS}|…+)[\])]?|{_DOTS}[\])]?|…+[\])]?"
)
_THREE_DOTS: Final = re.compile(r"\.\s?\.\s?\.")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_AT_LINE_START: Final = re.compile(r"^[ \t]*(?:#{1,6}(?=\s)|>[> \t]*|[+•◦▪](?=\s))", re.MULTILINE)
_LINE_STARTS: Final = "#>+•◦▪"
_ESCAPED_LINE_BREAK: Final = "\\n"  # in a reply that escapes it twice
_ASCII_MARKS: Final = bytes.maketrans(b'"-|', b"'  ")
_OTHER_MARKS: Final = {  # quotation marks, and the marks of other scripts that end sentences and clauses
    **dict.fromkeys("‹›「」『』", "'"),
    **dict.fromkeys("。।॥", "."),
    **dict.fromkeys("、،", ","),
    **{"؛": ";", "؟": "?"},
}
_AFTER_SPACE: Final = ":;!?%"  # a French text has a space there, which its quotation may lack
_SPACES: Final = re.compile("  +")
_OUTER_QUOTES: Final = re.compile(r"'(?:(?<![^\W_]')'*|'*(?![^\W_]))")
# Compiled only where there are such letters.
_BLANK: Final = rf"(?:(?<=[{LETTERS}])|(?<=[{LETTERS}][.,;:!?]))\s+(?=[{LETTERS}])"
# Words that no pass of `fold` but those of case, apostrophes and dashes changes; a link's target contains no blank.
_PLAIN_WORD: Final = "[A-Za-z0-9]++(?:['’—-][A-Za-z0-9]++)*+"
_PLAIN_WORDS: Final = re.compile(rf"{_PLAIN_WORD}(?:(?:[,.;:?!]?| [—-]) {_PLAIN_WORD}){{{ENOUGH - 1},}}+")
_BOLD: Final = "**"
_AROUND: Final = frozenset(["", *" \n.,;:?!—-"])  # never dropped, and never part of a word, when a turn is folded
_ENDS: Final = " .,;:!?()<>…·。、，！？；：（）؟،؛।॥"


def _holds_ellipsis(text: str) -> bool:
    return "…" in text or _THREE_DOTS.search(text) is not None


def fold(text: str) -> str:
    """The text without the differences that judges introduce when they quote: all that lexicons ignore (see
    `folding`), links, bullets, headings, dashes, ellipses, quotation marks at word boundaries, spaces before signs such
    as `!`, and the script of punctuation."""
    if "\\" in text:
        text = text.replace(_ESCAPED_LINE_BREAK, " ")
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if any(map(text.__contains__, _LINE_STARTS)):
        text = _AT_LINE_START.sub(" ", text)
    if _holds_ellipsis(text):
        text = _ELLIPSIS.sub(" ", text)
    text = folding.turn_folded(text, folding.TEXT)
    data = text.encode("utf-8", "surrogatepass").translate(_ASCII_MARKS, b"[]\\")
    text = data.decode("utf-8", "surrogatepass")
    unusual = folding.non_ascii(text)
    for char in unusual.intersection(_OTHER_MARKS):
        text = text.replace(char, _OTHER_MARKS[char])
    if "'" in text:
        text = _OUTER_QUOTES.sub("", text)
    text = _SPACES.sub(" ", text).strip(" ")  # all white space is already spaces
    for sign in filter(text.__contains__, _AFTER_SPACE):
        text = text.replace(f" {sign}", sign)
    return re.sub(_BLANK, "", text) if any(map(is_unspaced, unusual)) else text
