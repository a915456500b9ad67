"""The report of a batch as JSON with streamed results, its errors and warnings as lines, and the results of a stored
report, which must be those that its own figures count."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import IO, Final

import msgspec

from rulewright_runtime.cases.case_run import BatchRun
from rulewright_runtime.cases.records import Outline, elements_of, outline_of
from rulewright_runtime.english import plural, reason_of
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.strict_json import UNDECODED, Decoder, DoubledKeyError, JsonMapping, JsonObject, decode

_AFTER_RESULTS: Final = "failure_analysis"  # the key that follows the results
_SHOWN: Final = 20  # errors or warnings on the console


@cache
def generation_time() -> str:
    """Return the time of this run in UTC; `SOURCE_DATE_EPOCH` sets it, so that reports can be reproduced. Raises
    RuntimeFailure for anything but a time."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        expected = "the seconds since 1970, such as `1736937000`"
        raise RuntimeFailure(f"`SOURCE_DATE_EPOCH` is `{epoch[:40]}`; expected {expected}") from None
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def problem_lines(run: BatchRun) -> Iterator[str]:
    """Yield the first errors and warnings of a run, each on a line with its location, and what was left out."""
    for severity, entries in (("error", run.errors), ("warning", run.warnings)):
        for entry in entries[:_SHOWN]:
            where = f"{entry['file']}:{entry['line']}" if entry["line"] else entry["file"]
            path = "" if entry["path"] == "$" else f" {entry['path']}:"
            test = "" if entry["test_id"] is None else f" `{entry['test_id']}`:"
            yield f"{severity}: {where}:{path}{test} {entry['message']}"
        if len(entries) > _SHOWN:
            yield f"{severity}: and {len(entries) - _SHOWN} more, all in the JSON report"
    if run.judge is not None:
        for metric, reasons in run.judge.unanswered.items():
            share = f"{sum(reasons.values())} of {plural(sum(run.judge.verdicts[metric].values()), 'question')}"
            usual = max(reasons, key=reasons.__getitem__)
            yield f"warning: no usable reply of the judge to {share} about {metric}: {usual}"
    if run.other_concerns:
        yield f"note: {plural(run.other_concerns, 'case')} of other concerns left out"


def write_json(stream: IO[bytes], run: BatchRun, head: Mapping[str, object]) -> None:
    """Write the report: the head's keys in order, and before `failure_analysis` the results, each on its own line."""
    stream.write(b"{")
    comma = b"\n"
    for key, value in head.items():
        if key == _AFTER_RESULTS:
            stream.write(comma + b'  "results": [')
            separator = b"\n    "
            for line in run.spool.lines():
                stream.write(separator + line)
                separator = b",\n    "
            stream.write(b"\n  ]" if run.spool.count else b"]")
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).replace("\n", "\n  ")
        stream.write(comma + f'  "{key}": {text}'.encode("utf-8", "surrogatepass"))
        comma = b",\n"
    stream.write(b"\n}\n")


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
def reading_report(path: str) -> Generator[None]:
    """Turn errors of reading and decoding a report into InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(reason_of(error), path) from None
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
            raise InputError("contains no scored case to compare", path)
        found: JsonObject = {key: decode(outline.values[key]) for key in FIGURES if key in outline.values}
        if not _agree(found, labels, sums):
            raise InputError("its results are not those that its figures count; run `rulewright score` again", path)


def _agree(found: JsonMapping, labels: Counter[str], sums: Counter[str]) -> bool:
    """Whether the figures of a report, as far as it has any, are those of its results."""
    counted = Counter(msgspec.convert(found.get("label_distribution", dict(labels)), dict[str, int]))
    means = msgspec.convert(found.get("mean_scores", {}), dict[str, float])
    agree = (abs(sums[name] / labels.total() - mean) <= _TOLERANCE for name, mean in means.items() if name in sums)
    return counted == labels and all(agree)
