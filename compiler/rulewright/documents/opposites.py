"""Words with opposite meanings."""

from collections.abc import Collection
from typing import Final

_PAIRS: Final = """above below, accept refuse, accepts refuses, after before, afterwards beforehand, all none,
allowed forbidden, always never, decrease increase, earlier later, earliest latest, exclude include, excludes includes,
external internal, first last, hard soft, higher lower, highest lowest, inside outside, largest smallest, least most,
less more, fewer more, longer shorter, longest shortest, maximum minimum, over under, with without"""
OPPOSITES: Final = frozenset(frozenset(pair.split()) for pair in _PAIRS.replace("\n", " ").split(", "))


def opposed(one: Collection[str], other: Collection[str]) -> tuple[str, str] | None:
    """A word of the first that the second lacks, with its opposite, which the first lacks; None without such a pair."""
    own, others = {*one} - {*other}, {*other} - {*one}
    return next(((word, two) for word in sorted(own) for two in sorted(others) if {word, two} in OPPOSITES), None)
