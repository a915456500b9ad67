"""What the three tools are asked: 1,000 chats, ten literals and ten regular expressions, the same for all."""

from __future__ import annotations

from random import Random
from typing import Final

LITERALS: Final = (
    "refund", "I'm sorry", "order number", "https://", "guarantee", "as an AI", "within 24 hours", "Bern", "please",
    "cannot",
)  # fmt: skip
# Expressions that JavaScript, Python and RE2 read alike.
PATTERNS: Final = (
    r"[0-9]{4,}", r"\b[A-Z]{2}[0-9]{2}\b", r"(yes|no), (we|you) can", r"^Hello", r"[a-z]+@[a-z]+\.(org|com)",
    r"(Mon|Tues|Wednes)day", r"\$[0-9]+(\.[0-9]{2})?", r"ship(s|ped) (on|by)", r"\?$", r"(very|really) (very|really)",
)  # fmt: skip
NAMES: Final = tuple(f"literal-{number}" for number in range(10)) + tuple(f"regex-{number}" for number in range(10))
CHATS: Final = 1_000
_WORDS: Final = (
    "Hello", "your", "order", "order number", "ships", "shipped", "on", "by", "Monday", "Tuesday", "refund", "please",
    "I'm sorry", "guarantee", "within", "24 hours", "Bern", "CH93", "DE44", "12345", "$19.90", "$5", "yes, we can",
    "no, you can", "ann@example.org", "https://example.org", "really", "very", "cannot", "as an AI", "we", "will",
    "look", "into", "it", "and", "tell", "you", "more", "soon",
)  # fmt: skip
_SEED: Final = 14


def answers() -> list[str]:
    """The answers of the chats: 20 to 120 words each, the same on every machine."""
    random = Random(_SEED)
    said = []
    for _ in range(CHATS):
        words = [random.choice(_WORDS) for _ in range(random.randint(20, 120))]
        said.append(" ".join(words) + random.choice(".?!"))
    return said
