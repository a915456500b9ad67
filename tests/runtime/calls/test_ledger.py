"""The ledger: what was answered is never asked again, whoever asks, and whatever happened to who asked first."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from rulewright_runtime.calls.ledger import LEASE, Ledger, LedgerError
from rulewright_runtime.calls.scheduler import HeldError
from rulewright_runtime.models.call import (
    CallFailure,
    CallRequest,
    ChatMessage,
    Identity,
    ModelAnswer,
    ModelCall,
    request_key,
)

ME = Identity("openai", "m", "http://127.0.0.1/v1", "1", "1")
ASK = CallRequest(ModelCall((ChatMessage("user", "Well?"),), 9), "t1", "c1")
KEY = request_key(ME, ASK)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledgers(tmp_path: Path, clock: Clock) -> Iterator[tuple[Ledger, Ledger]]:
    two = Ledger(tmp_path / "ledger.sqlite3", clock), Ledger(tmp_path / "ledger.sqlite3", clock)
    yield two
    for each in two:
        each.close()


def test_an_answer_is_paid_once_and_serves_every_run(ledgers: tuple[Ledger, Ledger]) -> None:
    mine, theirs = ledgers
    assert mine.claim(KEY, ME, ASK).state == "claimed"
    assert theirs.claim(KEY, ME, ASK).state == "busy"
    number = mine.begin_attempt(KEY)
    assert theirs.claim(KEY, ME, ASK).state == "busy"
    mine.store_answer(KEY, number, ModelAnswer("PASS", "m"), 0.5)
    assert theirs.claim(KEY, ME, ASK) == mine.claim(KEY, ME, ASK)
    assert theirs.claim(KEY, ME, ASK).answer == ModelAnswer("PASS", "m")
    assert mine.rows("select outcome, seconds from attempts") == [("answer", 0.5)]


def test_a_failed_attempt_is_kept_and_the_call_is_free_again(ledgers: tuple[Ledger, Ledger]) -> None:
    mine, theirs = ledgers
    mine.claim(KEY, ME, ASK)
    mine.store_failure(KEY, mine.begin_attempt(KEY), CallFailure("no", "server", status=503, raw="<html>"), 0.1)
    assert theirs.claim(KEY, ME, ASK).state == "busy"  # the first owner retries
    mine.release(KEY)
    assert theirs.claim(KEY, ME, ASK).state == "claimed"
    assert mine.rows("select outcome, message, status, raw from attempts") == [("server", "no", 503, "<html>")]


def test_a_lease_that_ran_out_frees_what_was_not_sent_and_marks_what_was(
    ledgers: tuple[Ledger, Ledger], clock: Clock
) -> None:
    mine, theirs = ledgers
    mine.claim(KEY, ME, ASK)
    clock.now += LEASE - 1
    mine.renew()
    clock.now += LEASE - 1
    assert theirs.claim(KEY, ME, ASK).state == "busy"
    clock.now += 2
    assert theirs.claim(KEY, ME, ASK).state == "claimed"
    theirs.begin_attempt(KEY)
    clock.now += LEASE + 1
    assert mine.claim(KEY, ME, ASK).state == "ambiguous"
    mine.retake(KEY)
    assert mine.claim(KEY, ME, ASK).state == "claimed"


def test_a_call_from_before_a_restart_is_not_waited_for_when_the_clock_was_set_back(
    ledgers: tuple[Ledger, Ledger], clock: Clock
) -> None:
    mine, theirs = ledgers
    mine.claim(KEY, ME, ASK)
    mine.begin_attempt(KEY)
    clock.now -= 10 * LEASE
    assert theirs.claim(KEY, ME, ASK).state == "busy"  # its process runs
    mine._db.execute("update calls set owner = 'another boot/1/2/3'")
    assert theirs.claim(KEY, ME, ASK).state == "ambiguous"
    clock.now += 9 * LEASE
    assert theirs.claim(KEY, ME, ASK).state == "busy"  # its machine may be another one


def test_a_call_that_is_being_made_is_not_pruned(ledgers: tuple[Ledger, Ledger], clock: Clock) -> None:
    mine, theirs = ledgers
    mine.claim(KEY, ME, ASK)
    number = mine.begin_attempt(KEY)
    assert theirs.prune_older(clock.now + 1) == 0
    mine.store_answer(KEY, number, ModelAnswer("PASS", "m"), 0.5)
    assert theirs.prune_older(clock.now + 1) == 1


def test_a_ledger_says_what_differs_from_its_calls_for_the_same_place(ledgers: tuple[Ledger, Ledger]) -> None:
    mine, _ = ledgers
    other = ModelCall((ChatMessage("user", "Well, well?"),), 9)
    assert mine.reason(ASK, ME) == "never answered before"
    for call in (ASK.call, other):
        request = replace(ASK, call=call)
        key = request_key(ME, request)
        mine.claim(key, ME, request)
        mine.store_answer(key, mine.begin_attempt(key), ModelAnswer("PASS", "m"), 0.5)
        mine.add_use("run" + call.messages[0].content, request, key)
    longer = replace(ASK, call=replace(ASK.call, max_tokens=10))
    unlike = replace(ASK, call=replace(ASK.call, messages=(ChatMessage("user", "So?"),)))
    reasons = [mine.reason(longer, ME), mine.reason(unlike, ME), mine.reason(ASK, Identity("openai", "n"))]
    assert reasons == ["other parameters", "another prompt", "another model, endpoint or client"]


def test_a_call_that_another_transcript_uses_is_not_pruned(ledgers: tuple[Ledger, Ledger]) -> None:
    mine, _ = ledgers
    mine.claim(KEY, ME, ASK)
    mine.store_answer(KEY, mine.begin_attempt(KEY), ModelAnswer("PASS", "m"), 0.5)
    for transcript in ("t1", "t2"):
        mine.add_use("run", replace(ASK, transcript_id=transcript), KEY)
    removed = [mine.prune(transcript) for transcript in ("t1", "t2")]
    assert (removed, mine.answer(KEY)) == ([0, 1], None)


def test_a_call_of_a_process_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    code = f"""
from rulewright_runtime.calls.ledger import Ledger
from tests.runtime.calls.test_ledger import ASK, KEY, ME
import os
ledger = Ledger({str(path)!r})
ledger.claim(KEY, ME, ASK)
ledger.begin_attempt(KEY)
os._exit(9)
"""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    assert done.returncode == 9
    ledger = Ledger(path)
    assert ledger.claim(KEY, ME, ASK).state == "ambiguous"
    ledger.close()


@pytest.mark.parametrize(
    "other",
    [
        (ME, CallRequest(ModelCall((ChatMessage("user", "Well!"),), 9))),
        (ME, CallRequest(ModelCall((ChatMessage("system", "Well?"),), 9))),
        (ME, CallRequest(ModelCall(ASK.call.messages, 10))),
        (ME, CallRequest(ModelCall(ASK.call.messages, 9, 0.0))),
        (ME, CallRequest(ModelCall(ASK.call.messages, 9, None, {}))),
        (ME, CallRequest(ASK.call, repetition=1)),
        (ME, CallRequest(ASK.call, attempt=1)),
        (Identity("openai", "m", "http://127.0.0.1/v1", "1", "2"), ASK),
        (Identity("openai", "m", "http://127.0.0.1/v2", "1", "1"), ASK),
    ],
)
def test_whatever_determines_an_answer_is_part_of_its_key(other: tuple[Identity, CallRequest]) -> None:
    assert request_key(*other) != KEY


def test_where_a_question_is_asked_is_not_part_of_its_key() -> None:
    assert request_key(ME, CallRequest(ASK.call, "t2", "c2", "edge", 4)) == KEY


@pytest.mark.parametrize("stored", [None, b"", b"{}", b"\x00", "x", 5, 0.5])
def test_a_damaged_answer_is_refused(ledgers: tuple[Ledger, Ledger], tmp_path: Path, stored: object) -> None:
    mine, theirs = ledgers
    mine.claim(KEY, ME, ASK)
    mine.store_answer(KEY, mine.begin_attempt(KEY), ModelAnswer("PASS", "m"), 0.5)
    with sqlite3.connect(tmp_path / "ledger.sqlite3") as database:
        database.execute("update calls set answer = ?", (stored,))
    with pytest.raises(LedgerError, match="the ledger contains an answer that can't be read"):
        theirs.claim(KEY, ME, ASK)


@pytest.mark.parametrize("damage", ["owner = x'00'", "lease = 'soon'", "lease = x'00'", "state = x'00'"])
def test_a_claim_that_is_damaged_is_an_error_with_words(
    ledgers: tuple[Ledger, Ledger], tmp_path: Path, damage: str
) -> None:
    mine, theirs = ledgers
    mine.claim(KEY, ME, ASK)
    with sqlite3.connect(tmp_path / "ledger.sqlite3") as database:
        database.execute("pragma ignore_check_constraints = 1")
        database.execute(f"update calls set {damage}")
    with pytest.raises(LedgerError, match=f"the call `{KEY[:12]}` can't be read"):
        theirs.claim(KEY, ME, ASK)


@pytest.mark.parametrize(
    "change",
    [
        "update calls set answer = cast(replace(cast(answer as text), 'FAIL', 'PASS') as blob)",
        "update calls set answer = replace(cast(answer as text), 'FAIL', 'PASS')",
        "update calls set answer = (select answer from calls where key != outside.key) where key = outside.key",
        """update calls set answer = cast('{"text":"PASS","model":"m"}' as blob)""",  # without its checksum
    ],
)
def test_an_answer_that_was_changed_or_belongs_to_another_question_is_not_used(
    ledgers: tuple[Ledger, Ledger], tmp_path: Path, change: str
) -> None:
    mine, theirs = ledgers
    for key, text in ((KEY, "FAIL"), ("0" * 64, "PASS")):
        mine.claim(key, ME, ASK)
        mine.store_answer(key, mine.begin_attempt(key), ModelAnswer(text, "m"), 0.5)
    with sqlite3.connect(tmp_path / "ledger.sqlite3") as database:
        database.execute(change.replace("outside.key", f"'{KEY}'"))
    with pytest.raises(LedgerError, match=f"the answer to the call `{KEY[:12]}` was changed"):
        theirs.claim(KEY, ME, ASK)


def test_only_the_owner_may_read_the_ledger(tmp_path: Path) -> None:
    os.umask(os.umask(0))
    ledger = Ledger(tmp_path / "deep" / "ledger.sqlite3")
    ledger.claim(KEY, ME, ASK)
    for path in (tmp_path / "deep").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    ledger.close()


def test_a_ledger_of_another_version_or_no_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    with sqlite3.connect(path) as other:
        other.execute("pragma user_version = 99")
    with pytest.raises(LedgerError, match="has format 99; this version reads 1"):
        Ledger(path)
    path.write_bytes(b"something else" * 100)
    with pytest.raises(LedgerError, match="can't be opened"):
        Ledger(path)


def test_nobody_waits_for_a_call_whose_ledger_was_closed(tmp_path: Path, clock: Clock) -> None:
    mine, theirs = Ledger(tmp_path / "ledger.sqlite3", clock), Ledger(tmp_path / "ledger.sqlite3", clock)
    sent, unsent = KEY, "0" * 64
    assert [mine.claim(key, ME, ASK).state for key in (sent, unsent)] == ["claimed", "claimed"]
    mine.begin_attempt(sent)
    mine.close()
    assert [theirs.claim(key, ME, ASK).state for key in (sent, unsent)] == ["ambiguous", "claimed"]
    theirs.close()


def test_a_held_call_is_a_failure_of_its_own_kind() -> None:
    assert not HeldError("x", "held").may_be_retried
