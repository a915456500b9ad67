from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.load import Scalar, walk
from rulewright.spelling import Guess, is_spelt_like


def misspelt_input_path(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """A step in the path of an input or of `metadata` is spelt differently in several other paths.

    Why it matters: no record has such a key, so every record is refused.
    Instead: use the spelling of the other paths.
    """
    nodes = [each for key in ("inputs", "metadata") for each in walk(scorecard.get(key))]
    paths = [each for each in nodes if type(each) is Scalar and "." in str(each.value)]
    inner = [step for each in paths for step in str(each.value).split(".")[:-1]]  # the last steps differ by design
    counts = Counter(inner)
    for each in paths:
        steps = str(each.value).split(".")
        for at, step in enumerate(steps[:-1]):
            near = next((name for name in counts if counts[name] > 1 and is_spelt_like(step, name)), None)
            if near is not None and counts[step] == 1:
                right = ".".join([*steps[:at], near, *steps[at + 1 :]])
                message = f"only this path has the step `{step}`, but {counts[near]} have `{near}`"
                yield warning(each, message, help=Guess(right))
                break
