"""A derived run has a log of its own rows, and of the replies that it keeps."""

from __future__ import annotations

from zlib import crc32

import pytest
from msgspec.structs import replace

from rulewright_runtime.runs.folder import REPLIES, ROWS
from rulewright_runtime.runs.log import Header, LogStep, line_of
from rulewright_runtime.runs.run_rows import log_of

STEPS = (
    LogStep("a", "", 9, 9, 9, 1, replies=70),
    LogStep("bad.jsonl", "", 9, 9, 9, 0, refused=("bad.jsonl", "is no chat", 1)),
    LogStep("b", "", 9, 9, 9, 1, replies=90),
)


@pytest.mark.parametrize(("kept", "replies"), [({}, [70, 0, 90]), ({REPLIES: {}}, [0, 0, 0])])
def test_sizes_are_those_of_the_rows_and_of_the_replies_that_are_kept(
    kept: dict[str, dict[str, bytes]], replies: list[int]
) -> None:
    rows = dict(zip(ROWS, ({"a": b"12", "b": b"3"}, {"a": b"1", "b": b"23"}), strict=True))
    log = log_of(Header("p", "j", "s"), STEPS, {**rows, **kept})
    sizes = [(2, 1), (2, 1), (3, 3)]
    checksums = [crc32(b"121"), crc32(b"121"), crc32(b"121323")]
    steps = [
        replace(step, verdicts=verdicts, scores=scores, rows=checksum, replies=size)
        for step, (verdicts, scores), checksum, size in zip(STEPS, sizes, checksums, replies, strict=True)
    ]
    assert log == line_of(Header("p", "j", "s")) + b"".join(map(line_of, steps))
