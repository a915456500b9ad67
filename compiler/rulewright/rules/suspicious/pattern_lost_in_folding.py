from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.lexicon import LexiconDocument
from rulewright.lower.lexicons import folded
from rulewright_runtime.matching.folding import fold

EMOJI_STYLE: Final = "\ufe0f"  # after a sign that has an emoji form; its loss changes no match
SHORT: Final = 4  # characters; a shorter remainder hits inside other words


def pattern_lost_in_folding(lexicon: LexiconDocument) -> Findings:
    """Folding removes most of a text, or replaces the characters that a regular expression searches for.

    Why it matters: folding drops Markdown marks from texts and patterns alike, so `f***` is searched for as `f` and
    hits almost every text. With a `fold`, regular expressions see the folded text, which never contains a curly
    apostrophe, a long dash or NBSP, so an expression for one of these never hits.
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
                    pattern.scalar, f"the folded text never contains U+{ord(lost[0]):04X}, so this expression misses it"
                )
            continue
        left = fold(pattern.text, differences).text
        if len(left) < min(SHORT, len(pattern.text.replace(EMOJI_STYLE, ""))):
            what = f"searched for as `{left}`" if left.strip() else "searched for as written"
            yield warning(
                pattern.scalar,
                f"folding drops the marks of `{pattern.text}`: it is {what}",
                help="move it to a lexicon with `fold: none`",
            )
