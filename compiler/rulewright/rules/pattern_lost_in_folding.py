"""Rule: a pattern of characters that folding takes away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.lexicon import LexiconDocument
from rulewright.lower.lexicons import folded
from rulewright_runtime.matching.folding import fold

SHORT: Final = 4  # characters; what is left of a pattern and shorter hits inside other words


def pattern_lost_in_folding(lexicon: LexiconDocument) -> Iterator[Diagnostic]:
    """A text of which folding leaves little or nothing, or a regular expression for characters that folding replaces.

    Why it matters: Markdown marks are dropped from texts and patterns alike, so `f***` is looked for as `f` and hits
    almost every text; under `fold: text` an expression for a curly apostrophe, a long dash or NBSP never hits, because
    the text it sees holds the plain forms.
    Instead: move the pattern to a lexicon with `fold: none`, or write the expression with the plain characters.
    """
    differences = frozenset(folded(lexicon.fold))
    for pattern in lexicon.patterns:
        if pattern.mode == "regex":
            lost = [
                char
                for char in pattern.text
                if not char.isascii() and fold(char, differences).text != fold(char, frozenset()).text
            ]
            if lexicon.fold is not None and lost:
                yield warning(
                    pattern.scalar, f"the folded text never holds U+{ord(lost[0]):04X}, so this expression misses it"
                )
            continue
        left = fold(pattern.text, differences).text
        if len(left) < min(SHORT, len(pattern.text)):
            what = f"looked for as `{left}`" if left.strip() else "looked for as it is written"
            yield warning(
                pattern.scalar,
                f"folding drops the marks of `{pattern.text}`: it is {what}",
                help="move it to a lexicon with `fold: none`",
            )
