"""The results in a stored JSON report, which must be those that its own figures count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, Protocol, TypeVar

import msgspec

from rulewright_runtime.cases.records import Outline, elements_of
from rulewright_runtime.errors import InputError
from rulewright_runtime.strict_json import Decoder, JsonMapping, JsonObject, decode

FIGURES: Final = ("label_distribution", "mean_scores")
_TOLERANCE: Final = 1e-9  # of a mean, which may be summed in another order


class _Counted(Protocol):
    """What the figures count of a result."""

    label: str
    scores: dict[str, float]


R = TypeVar("R", bound=_Counted)


def results_in(path: str, outline: Outline, kind: type[R]) -> Iterator[R]:
    """Yield the results of a report, whose `outline` holds its `FIGURES`. Raises InputError at the end if there are
    none, or others than the report counts, and msgspec's errors for a result that is not a `kind`."""
    decoder, labels, sums = Decoder(kind), Counter[str](), Counter[str]()
    for record in elements_of(path, outline.lists["results"], "$.results"):
        if isinstance(record, InputError):
            raise record
        result = decoder.decode(record.data)
        labels[result.label] += 1
        for name, score in result.scores.items():
            sums[name] += score  # type: ignore[assignment]
        yield result
    if not labels:
        raise InputError("holds no scored case, so there is nothing to compare", path)
    found: JsonObject = {key: decode(outline.values[key]) for key in FIGURES if key in outline.values}
    if not _agree(found, labels, sums):
        raise InputError("its results are not those that its figures count; run `rulewright score` again", path)


def _agree(found: JsonMapping, labels: Counter[str], sums: Counter[str]) -> bool:
    """Whether the figures of a report, as far as it has any, are those of its results."""
    counted = Counter(msgspec.convert(found.get("label_distribution", dict(labels)), dict[str, int]))
    means = msgspec.convert(found.get("mean_scores", {}), dict[str, float])
    agree = (abs(sums[name] / labels.total() - mean) <= _TOLERANCE for name, mean in means.items() if name in sums)
    return counted == labels and all(agree)
