"""The results in a stored JSON report, which must be those that its own figures count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from rulewright_runtime.cases.records import Outline, elements_of, outline_of
from rulewright_runtime.errors import InputError
from rulewright_runtime.strict_json import UNDECODED, Decoder, DoubledKeyError, JsonMapping, JsonObject, decode

FIGURES: Final = ("label_distribution", "mean_scores")
_TOLERANCE: Final = 1e-9  # of a mean, which may be summed in another order
_NO_REPORT: Final = "is not a JSON report of `rulewright score`"


class CaseResult(msgspec.Struct):
    """The result of a case in a report."""

    test_id: str
    scores: dict[str, float]
    label: str
    archetype: str = ""
    batch_id: str = ""
    id: str = ""
    judged: JsonObject = {}
    semantic_matches: JsonObject = {}


@contextmanager
def reading_report(path: str) -> Iterator[None]:
    """Turn errors of reading and decoding a report into InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(error.strerror or "can't be read", path) from None
    except DoubledKeyError as error:
        raise InputError(str(error), path) from None
    except UNDECODED:
        raise InputError(_NO_REPORT, path) from None


def report_outline(path: str, *values: str) -> Outline:
    """Return the outline of a report, with some of its other `values`. Raises InputError for any other file."""
    with reading_report(path):
        outline = outline_of(path, ("results",), (*FIGURES, *values))
    if outline is None or "results" not in outline.lists:
        raise InputError(_NO_REPORT, path)
    return outline


def results_of(path: str) -> Iterator[CaseResult]:
    """Yield the results of a report. Raises InputError for any other file, and at the end if there are none, or others
    than the report counts."""
    outline, decoder, labels, sums = report_outline(path), Decoder(CaseResult), Counter[str](), Counter[str]()
    with reading_report(path):
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
