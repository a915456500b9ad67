"""Lowers lexicon documents and lists of patterns to the lexicons of the plan."""

from collections.abc import Collection, Iterable
from typing import Final, cast, get_args

from rulewright.documents.lexicon import LexiconDocument, PatternEntry
from rulewright_runtime.errors import PlanError
from rulewright_runtime.matching.folding import DIFFERENCES
from rulewright_runtime.matching.match import first
from rulewright_runtime.plan.scan import Difference, Lexicon, LexiconRole, Pattern, Role

Fold = tuple[Difference, ...]
TEXT: Final = cast("Fold", DIFFERENCES)
NONE: Final[Fold] = ()
ROLES: Final[dict[str, LexiconRole]] = {role: role for role in get_args(LexiconRole)}


def lower_lexicon(lexicon: LexiconDocument, default_fold: Fold) -> Lexicon:
    """Return the lexicon of the plan; without a role it reads the assistant's turns. `default_fold` is the folding of
    literals where the author sets none."""
    return lower_patterns(lexicon.patterns, default_fold, lexicon.role, lexicon.fold)


def lower_patterns(
    entries: Iterable[PatternEntry],
    default_fold: Fold,
    role: str | None = None,
    fold: str | tuple[str, ...] | None = None,
) -> Lexicon:
    """Return the patterns as a lexicon of the plan; regular expressions see the folded text where `fold` is set."""
    return Lexicon(
        patterns=tuple(Pattern(entry.text, "regex" if entry.mode == "regex" else "substring_ci") for entry in entries),
        role=ROLES.get(role or "", "assistant"),
        fold=default_fold if fold is None else folded(fold),
        fold_regexes=bool(fold),
    )


def folded(fold: str | tuple[str, ...] | None) -> Fold:
    """Return the differences that an author's `fold` names, in the order of the plan; all of them without it."""
    if fold is None or fold == "text":
        return TEXT
    return tuple(name for name in TEXT if name in fold)


def hits_any(lexicons: Iterable[Lexicon], texts: Collection[str]) -> bool:
    """Whether a pattern of a lexicon hits one of the texts. One that can't be compiled counts as a hit: `invalid-regex`
    reports it."""
    try:
        return any(first("", lexicon, text) is not None for lexicon in lexicons for text in texts)
    except PlanError:
        return True


def phrases(texts: Iterable[str], role: Role, default_fold: Fold) -> Lexicon:
    """Return a lexicon of phrases that match as substrings, ignoring case."""
    return Lexicon(tuple(Pattern(text, "contains_ci") for text in texts), role, default_fold)
