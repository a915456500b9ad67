from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def level_skipped(scenario: ScenarioDocument) -> Findings:
    """The numbered levels of an ordinal criterion skip a number, or are not in order.

    Why it matters: points are counted by position, so the highest level is worth less than its number suggests. A level
    between others with a higher or lower number is usually misnumbered.
    Instead: number the levels without gaps, from one end to the other.
    """
    for turn in scenario.turns:
        for criterion in turn.rubric:
            names = [name for name, _ in criterion.levels]
            numbers = sorted(int(name) for name in names if name.isdecimal())
            if len(numbers) < max(3, len(names)) or len(set(numbers)) < len(numbers):
                continue
            written = [int(name) for name in names]
            if written not in (numbers, numbers[::-1]):
                order = numbers if written[0] <= written[1] else numbers[::-1]
                odd = next(name for name, at in zip(names, order, strict=True) if int(name) != at)
                message = f"the levels are not in order: {', '.join(names)}"
                yield warning(criterion.key_place("levels", odd), message)
                continue
            for at, number in enumerate(numbers, numbers[0]):
                if number != at:
                    place = criterion.key_place("levels", str(number))
                    yield warning(place, f"level {number} follows level {at - 1}; level {at} is missing")
                    break
