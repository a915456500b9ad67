"""Rule: a pattern that only hits where a shorter one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import advice
from rulewright.documents.lexicon import Lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic


def subsumed_pattern(lexicon: Lexicon) -> Iterator[Diagnostic]:
    """A pattern holds another pattern of the lexicon.

    Why it matters: wherever the longer one hits, the shorter one hits as well, so the longer one finds nothing more.
    Instead: remove the longer one, or the shorter one if it is too broad.
    """
    texts = [pattern for pattern in lexicon.patterns if pattern.mode == "substring_ci" and pattern.text]
    for long in texts:
        for short in texts:
            if short.text.lower() in long.text.lower() and short.text.lower() != long.text.lower():
                yield advice(
                    long.scalar,
                    f"`{long.text}` finds nothing that `{short.text}` does not find",
                    notes=[(short.scalar, "the shorter pattern")],
                )
                break
