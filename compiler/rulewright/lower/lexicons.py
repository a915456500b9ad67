"""From lexicon documents and lists of patterns to the lexicons of the plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal, cast

from rulewright_runtime.matching.folding import DIFFERENCES
from rulewright_runtime.plan.scan import Difference, Lexicon, Pattern, Role

if TYPE_CHECKING:
    from rulewright.documents.lexicon import LexiconDocument, PatternEntry

Fold = tuple[Difference, ...]
TEXT: Final = cast("Fold", DIFFERENCES)
NONE: Final[Fold] = ()
ROLES: Final[dict[str, Literal["user", "assistant", "both"]]] = {
    "user": "user",
    "assistant": "assistant",
    "both": "both",
}


def lower_lexicon(lexicon: LexiconDocument, usual: Fold) -> Lexicon:
    """The lexicon of the plan; without a role it looks at the assistant's turns. `usual` is what literals ignore where
    the author says nothing of folding."""
    return lower_patterns(lexicon.patterns, usual, lexicon.role, lexicon.fold)


def lower_patterns(
    entries: Iterable[PatternEntry], usual: Fold, role: str | None = None, fold: str | tuple[str, ...] | None = None
) -> Lexicon:
    """The patterns of a document as a lexicon of the plan; expressions see the folded text where `fold` is given."""
    return Lexicon(
        patterns=tuple(Pattern(entry.text, "regex" if entry.mode == "regex" else "substring_ci") for entry in entries),
        role=ROLES.get(role or "", "assistant"),
        fold=usual if fold is None else folded(fold),
        fold_regexes=bool(fold),
    )


def folded(fold: str | tuple[str, ...] | None) -> Fold:
    """The differences that an author's `fold` names, in the order of the plan; where it is absent, all of them."""
    if fold is None or fold == "text":
        return TEXT
    return tuple(name for name in TEXT if name in fold)


def phrases(texts: Iterable[str], role: Role, usual: Fold) -> Lexicon:
    """Phrases that are looked for without regard to case."""
    return Lexicon(tuple(Pattern(text, "contains_ci") for text in texts), role, usual)
