"""What checks ask of replies: phrases, lengths, similarity, personal data, JSON, and the tools that were called."""

from __future__ import annotations

from typing import Final

from rulewright.expression.declarations.signature import Functions, table

_PHRASES: Final = "(string, list(string)) -> bool"
_FOUND: Final = "(string) -> list(string)"
_LIKE: Final = "(string, string) -> double"

FUNCTIONS: Final[Functions] = table(
    {
        "contains_any": _PHRASES,
        "contains_all": _PHRASES,
        "contains_none": _PHRASES,
        "has_any_word": _PHRASES,
        "same_text": "(string, string) -> bool",
        "word_count": "(string) -> int",
        "sentence_count": "(string) -> int",
        "scripts": _FOUND,
        "urls": _FOUND,
        "citations": "(string) -> list(int)",
        "numbers": _FOUND,
        "code_blocks": _FOUND,
        "is_refusal": "(string) -> bool",
        "edit_distance": "(string, string) -> int",
        "edit_similarity": _LIKE,
        "rouge_l": _LIKE,
        "bleu": _LIKE,
        "word_overlap": _LIKE,
        "emails": _FOUND,
        "phone_numbers": _FOUND,
        "ibans": _FOUND,
        "card_numbers": _FOUND,
        "personal_data": _FOUND,
        "json": "(string) -> dyn",
        "is_json": "(string) -> bool",
        "valid_against": "(dyn, map(string, dyn)) -> bool",
        "called": "(list(dyn), string) -> bool | (list(dyn), string, map(string, dyn)) -> bool",
        "call_count": "(list(dyn), string) -> int",
        "called_in_order": "(list(dyn), list(string)) -> bool",
    }
)
