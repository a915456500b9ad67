import re
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import text_of
from rulewright.documents.case_batch import CaseBatch, cases_near
from rulewright.spelling import is_spelt_like

GROUPS: Final = ("archetype", "metric_id")


def misspelt_group(batch: CaseBatch) -> Findings:
    """A test case is the only one with its archetype or clinical metric, whose name is nearly that of several others.

    Why it matters: the report counts it in a group of its own, and settings of its group don't apply to it.
    Instead: write the name as the other cases do.
    """
    for name in GROUPS:
        known = cases_near(batch.path).counted(name)
        for written in (each.case.get(name) for each in batch.cases):
            group = text_of(written)
            near = next((each for each, count in known.items() if count > 1 and _is_slip(group, each)), None)
            if written is not None and known[group] == 1 and near is not None:
                yield warning(written, f"no other case has the {name} `{group}`", help=Guess(near))


def _is_slip(name: str, other: str) -> bool:
    """Whether a name is another one but for a letter, for a word of which it has a part, or for the order of digits;
    other digits tell names apart."""
    if re.sub(r"\d+", "", name) == re.sub(r"\d+", "", other):
        return sorted(name) == sorted(other)
    differing = [pair for pair in zip(name.split("_"), other.split("_"), strict=False) if pair[0] != pair[1]]
    is_part = name.count("_") == other.count("_") and len(differing) == 1 and differing[0][0] in differing[0][1]
    return is_spelt_like(name, other) or is_part
