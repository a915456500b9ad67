"""From lexicon documents and lists of patterns to the lexicons of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from rulewright_runtime.plan import Lexicon, Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.documents.lexicon import Lexicon as LexiconDocument
    from rulewright.documents.lexicon import PatternEntry
    from rulewright_runtime.plan import Role

Fold = Literal["apostrophes", "quotes", "spaces"]
FOLDS: Final[dict[str, Fold]] = {"apostrophes": "apostrophes", "quotes": "quotes", "white_space": "spaces"}
ROLES: Final[dict[str, Literal["user", "assistant", "both"]]] = {
    "user": "user",
    "assistant": "assistant",
    "both": "both",
}


def lower_lexicon(lexicon: LexiconDocument) -> Lexicon:
    """The lexicon of the plan; without a role it looks at the assistant's turns."""
    return lower_patterns(lexicon.patterns, lexicon.role, lexicon.fold)


def lower_patterns(
    entries: Iterable[PatternEntry],
    role: str | None = None,
    fold: Iterable[str] = ("apostrophes", "white_space"),
) -> Lexicon:
    """The patterns of a document as a lexicon of the plan."""
    return Lexicon(
        patterns=tuple(Pattern(entry.text, "regex" if entry.mode == "regex" else "substring_ci") for entry in entries),
        role=ROLES.get(role or "", "assistant"),
        fold=tuple(FOLDS[word] for word in fold if word in FOLDS),
    )


def phrases(texts: Iterable[str], role: Role) -> Lexicon:
    """Phrases that are looked for without regard to case."""
    return Lexicon(tuple(Pattern(text, "contains_ci") for text in texts), role)
