"""Finds the changes that cause a difference between two runs, by recombining the runs.

A change is taken from the second run while everything else stays as in the first. The smallest sets of changes that
give the second run's result are its causes: a set of one is a cause alone, changes in a larger set interact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final


class _Unknown:
    """The result of a combination that can't be computed from the runs."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Causes:
    """`sets` are the smallest sets of changes that give the second run's result, each sufficient by itself.

    `told_apart` is false if a combination of the changes can't be computed: then `sets` holds one set of all changes,
    and one or more of them are the cause. Without sets, nothing that the runs record has changed.
    """

    sets: tuple[tuple[str, ...], ...]
    told_apart: bool = True

    def as_json(self) -> dict[str, object]:
        """`{sets, told_apart}`."""
        return {"sets": [list(each) for each in self.sets], "told_apart": self.told_apart}


def causes(changed: Sequence[str], result: Callable[[frozenset[str]], Hashable]) -> Causes:
    """Return the causes among the `changed` factors. `result` computes the result with a set of them taken from the
    second run, or `UNKNOWN`."""
    if len(changed) < 2:
        return Causes(tuple((each,) for each in changed))
    before, after = result(frozenset()), result(frozenset(changed))
    not_told_apart = Causes((tuple(changed),), told_apart=False)
    if UNKNOWN in (before, after) or before == after:
        return not_told_apart
    for size in range(1, len(changed)):
        results = {each: result(frozenset(each)) for each in combinations(changed, size)}
        if sets := tuple(each for each, value in results.items() if value == after):
            return Causes(sets)
        if UNKNOWN in results.values():
            return not_told_apart
    return Causes((tuple(changed),))
