import re
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import entries, text_of
from rulewright.documents.case_batch import CaseBatch, cases_near
from rulewright.load import load_file
from rulewright.spelling import is_spelt_like
from rulewright_runtime.cases.records import CASE_SETTINGS_FILE

GROUPS: Final = {"archetype": "archetypes", "metric_id": "metricIds"}  # and the keys of their settings


def misspelt_group(batch: CaseBatch) -> Findings:
    """A test case is the only one with its archetype or clinical metric, whose name is nearly a usual one.

    Why it matters: the report counts it in a group of its own, and settings of its group don't apply to it.
    A name is usual if several cases have it or the settings file has settings for it.
    Instead: write the name as the other cases, or the settings, do.
    """
    for name, key in GROUPS.items():
        known, settings = cases_near(batch.path).counted(name), _groups_set(batch.path, key)
        usual = [each for each, count in known.items() if count > 1 or each in settings]
        for written in (each.case.get(name) for each in batch.cases):
            group = text_of(written)
            near = next((each for each in usual if group not in usual and _is_slip(group, each)), None)
            if written is not None and known[group] == 1 and near is not None:
                yield warning(written, f"no other case has the {name} `{group}`", help=Guess(near))


def _groups_set(batch: Path, key: str) -> frozenset[str]:
    """The groups for which the settings file near a batch has settings."""
    near = (each / CASE_SETTINGS_FILE for each in batch.parents[:3])
    path = next((each for each in near if dependencies.is_file(each)), None)
    return frozenset() if path is None else frozenset(e.name for e in entries(load_file(path, comments=True).root, key))


def _is_slip(name: str, other: str) -> bool:
    """Whether a name is another one but for a letter, for a word of which it has a part, or for the order of digits;
    other digits, and words of one letter, tell names apart."""
    if re.sub(r"\d+", "", name) == re.sub(r"\d+", "", other):
        return sorted(name) == sorted(other)
    differing = [pair for pair in zip(name.split("_"), other.split("_"), strict=False) if pair[0] != pair[1]]
    if any(1 in (len(one), len(two)) for one, two in differing):
        return False
    is_part = name.count("_") == other.count("_") and len(differing) == 1 and differing[0][0] in differing[0][1]
    return is_spelt_like(name, other) or is_part
