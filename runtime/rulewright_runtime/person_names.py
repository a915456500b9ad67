"""Names of people, agents and models, compared as a reader sees them."""

from __future__ import annotations

import unicodedata
from typing import Final

_INVISIBLE: Final = frozenset({"Cf", "Mn"})  # format characters and combining marks


def folded_name(name: str) -> str:
    """The name without case, accents, further white space and invisible characters, so that look-alikes are equal."""
    text = unicodedata.normalize("NFKD", name)
    return " ".join("".join(c for c in text if unicodedata.category(c) not in _INVISIBLE).casefold().split())
