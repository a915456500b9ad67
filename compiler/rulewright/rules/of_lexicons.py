"""The rules that look at lexicons and marker sets, in the order they run."""

from typing import Final

from rulewright.documents.lexicon import LexiconDocument, MarkerSet, read_lexicons
from rulewright.documents.typed_reader import read_named
from rulewright.rules import DocumentKind, Rule
from rulewright.rules.correctness.invalid_regex import invalid_regex
from rulewright.rules.pedantic.pattern_without_counterpart import pattern_without_counterpart
from rulewright.rules.style.duplicate_pattern import duplicate_pattern
from rulewright.rules.style.listed_twice import listed_twice
from rulewright.rules.style.subsumed_pattern import subsumed_pattern
from rulewright.rules.suspicious.ascii_only_apostrophe import ascii_only_apostrophe
from rulewright.rules.suspicious.forms_nearly_alike import forms_nearly_alike
from rulewright.rules.suspicious.mistyped_regex import mistyped_regex
from rulewright.rules.suspicious.opposites_agree import opposites_agree
from rulewright.rules.suspicious.pattern_lost_in_folding import pattern_lost_in_folding
from rulewright.rules.suspicious.phrase_hits_inside_words import phrase_hits_inside_words
from rulewright.rules.suspicious.question_of_common_words import question_of_common_words
from rulewright.rules.suspicious.regex_between_slashes import regex_between_slashes
from rulewright.rules.suspicious.regex_taken_for_text import regex_taken_for_text
from rulewright.rules.suspicious.role_unlike_the_words import role_unlike_the_words
from rulewright.rules.suspicious.short_word_hits_inside_others import short_word_hits_inside_others
from rulewright.rules.suspicious.yaml_trap import yaml_trap

LEXICON: Final[tuple[Rule[LexiconDocument], ...]] = (
    duplicate_pattern,
    subsumed_pattern,
    ascii_only_apostrophe,
    invalid_regex,
    mistyped_regex,
    regex_between_slashes,
    short_word_hits_inside_others,
    phrase_hits_inside_words,
    pattern_lost_in_folding,
    regex_taken_for_text,
    yaml_trap,
    pattern_without_counterpart,
    forms_nearly_alike,
    role_unlike_the_words,
)

MARKER_SET: Final[tuple[Rule[MarkerSet], ...]] = (
    subsumed_pattern,
    short_word_hits_inside_others,
    phrase_hits_inside_words,
    regex_taken_for_text,
    yaml_trap,
    listed_twice,
    question_of_common_words,
    opposites_agree,
)

KINDS: Final = {
    "lexicon": DocumentKind(lambda root, name, _: (read_named(LexiconDocument, root, name),), LEXICON),
    "lexicons": DocumentKind(lambda root, *_: read_lexicons(root), LEXICON),
    "markers": DocumentKind(lambda root, name, _: (read_named(MarkerSet, root, name),), MARKER_SET),
}
