"""The rules that look at lexicons and marker sets, in the order they run."""

from __future__ import annotations

from typing import Final

from rulewright.documents.lexicon import read_lexicon, read_lexicons, read_markers
from rulewright.rules import DocumentKind, rules_named

LEXICON: Final = rules_named(
    "duplicate_pattern",
    "subsumed_pattern",
    "ascii_only_apostrophe",
    "invalid_regex",
    "mistyped_regex",
    "regex_between_slashes",
    "short_word_hits_inside_others",
    "pattern_lost_in_folding",
    "regex_taken_for_text",
    "yaml_trap",
)

MARKER_SET: Final = rules_named(
    "subsumed_pattern",
    "short_word_hits_inside_others",
    "regex_taken_for_text",
    "yaml_trap",
    "listed_twice",
    "question_of_common_words",
)

KINDS: Final = {
    "lexicon": DocumentKind(lambda root, name, _: (read_lexicon(root, name),), LEXICON),
    "lexicons": DocumentKind(lambda root, *_: read_lexicons(root), LEXICON),
    "markers": DocumentKind(lambda root, name, _: (read_markers(root, name),), MARKER_SET),
}
