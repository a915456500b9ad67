"""A derived run has a log of its own rows, and of the replies that it keeps."""

from zlib import crc32

import msgspec
import pytest
from msgspec.structs import replace

from rulewright_runtime.aggregate.outcome import engine_results
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs.folder import REPLIES, ROWS
from rulewright_runtime.runs.log import Header, LogStep, conversation_digest, line_of
from rulewright_runtime.runs.run_rows import count, log_of
from rulewright_runtime.transcripts.messages import Transcript, Turn

STEPS = (
    LogStep("a", "", 9, 9, 9, 1, replies=70),
    LogStep("bad.jsonl", "", 9, 9, 9, 0, refused=("bad.jsonl", "is no chat", 1)),
    LogStep("b", "", 9, 9, 9, 1, replies=90),
)


@pytest.mark.parametrize(("kept", "replies"), [({}, [70, 0, 90]), ({REPLIES: b""}, [0, 0, 0])])
def test_sizes_are_those_of_the_rows_and_of_the_replies_that_are_kept(
    kept: dict[str, bytes], replies: list[int]
) -> None:
    rows = ({**dict(zip(ROWS, own, strict=True)), **kept} for own in ((b"12", b"1"), (b"3", b"23")))
    log = log_of(Header("p", "j", "s"), STEPS, rows)
    sizes = [(2, 1), (2, 1), (3, 3)]
    checksums = [crc32(b"121"), crc32(b"121"), crc32(b"121323")]
    steps = [
        replace(step, verdicts=verdicts, scores=scores, rows=checksum, replies=size)
        for step, (verdicts, scores), checksum, size in zip(STEPS, sizes, checksums, replies, strict=True)
    ]
    assert log == line_of(Header("p", "j", "s")) + b"".join(map(line_of, steps))


def test_the_fingerprint_of_a_conversation_does_not_depend_on_the_models_that_its_turns_name() -> None:
    # Decisions of people and gold labels, which record it, hold for the same text from another export.
    turn = Turn(1, "assistant", "Hi.")
    named = replace(turn, model="alias", served_model="gpt-4o")
    digests = {conversation_digest(Transcript("t", "", "m", (each,))) for each in (turn, named)}
    assert digests == {"d81f74f77b32d36579c5949308f61d25"}


RECORD = {
    "check_id": "A1",
    "eligible": True,
    "verdict": "FAIL",
    "severity": "S5",
    "primary_bucket": "A",
    "rationale_code": None,
    "adjudication_required": False,
}
ROW = {"transcript_id": "a", "scenario_id": "", "model": "m"}


def lines(*keys: dict[str, str]) -> bytes:
    records = [{**key, **RECORD, "check_id": f"A{number}"} for number, key in enumerate(keys)]
    return b"".join(msgspec.json.encode(each) + b"\n" for each in records)


@pytest.mark.parametrize(
    "verdicts", [lines(ROW, ROW, ROW), lines(ROW, {**ROW, "model": "other"}, ROW), lines({}, ROW, ROW)]
)
def test_every_line_is_counted_whatever_its_transcript(verdicts: bytes) -> None:
    summary = Summary()
    count(summary, STEPS[0], verdicts, msgspec.json.encode({**ROW, "engine": engine_results(())}))
    assert [(name, counts["FAIL"]) for name, counts in summary.checks.items()] == [("A0", 1), ("A1", 1), ("A2", 1)]


def test_without_verdicts_nothing_is_counted() -> None:
    summary = Summary()
    count(summary, STEPS[0], b"", msgspec.json.encode({**ROW, "engine": engine_results(())}))
    assert (summary.rows, summary.checks) == (1, {})
