"""Rule: levels of a criterion with a gap in their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scenario import ScenarioDocument


def level_skipped(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """The numbered levels of an ordinal criterion skip a number, or a criterion of another kind has levels.

    Why it matters: points are counted by position, so the highest level is worth less than its number suggests; other
    kinds read no levels.
    Instead: number the levels without gaps, or write `kind: ordinal`.
    """
    for turn in scenario.turns:
        for criterion in turn.rubric:
            if criterion.levels and criterion.kind in ("binary", "autofail"):
                message = f"`levels` has no effect: the kind is `{criterion.kind}`"
                yield warning(criterion.key_place("levels"), message, notes=[(criterion.place("kind"), "the kind")])
            names = [name for name, _ in criterion.levels]
            numbers = sorted(int(name) for name in names if name.isdecimal())
            if len(numbers) < max(3, len(names)) or len(set(numbers)) < len(numbers):
                continue
            for at, number in enumerate(numbers, numbers[0]):
                if number != at:
                    place = criterion.key_place("levels", str(number))
                    yield warning(place, f"level {number} follows level {at - 1}; level {at} is missing")
                    break
