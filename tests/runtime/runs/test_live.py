"""A live judge, behind a real HTTP server: results depend on its replies alone, and nothing is paid twice."""

import asyncio
import gzip
import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.folders import read_lines
from tests.model_server import Response, Server, chat, model_server
from tests.rounds import every, rounds
from tests.runtime.plans import asked, plan
from tests.runtime.runs.watched_run import PLAN, SECONDS, at_home, judge, opinion, transcripts

from rulewright_runtime.calls import breaker
from rulewright_runtime.calls.budget import BudgetError
from rulewright_runtime.calls.ledger import Ledger, LedgerError
from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.errors import OutageError, PlanError
from rulewright_runtime.files.atomic import BUFFER
from rulewright_runtime.judging.exchanges import read_exchanges, replay_of
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.plan.question import TextSegment
from rulewright_runtime.runs.live import LiveJudge
from rulewright_runtime.runs.run_rows import refuse_damaged
from rulewright_runtime.runs.store import run

KILLS = rounds(2, 100)  # of each kind


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a run, but for its log, in which the transcripts' paths stand, and the manifest, which hashes it."""
    named = ("inputs.jsonl", "manifest.json")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name not in named}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of an undisturbed run, one call at a time."""
    folder = tmp_path_factory.mktemp("expected")
    with model_server(lambda asked, _: opinion(asked)) as server:
        made = judge(server, folder / "ledger.sqlite3", limits=CallLimits(concurrency=1))
        run(PLAN, [transcripts(folder / "t")], folder / "run", judge=at_home(made))
    return contents(folder / "run")


def test_results_are_the_same_at_any_concurrency(expected: dict[str, bytes], tmp_path: Path) -> None:
    delays, five = random.Random(7), threading.Barrier(5)

    def slow(asked: dict[str, Any], number: int) -> Response:
        if number < 5:  # none of them is answered before all are asked
            five.wait(60)
        response = opinion(asked)
        response.delay = delays.random() * 0.02
        return response

    with model_server(slow) as server:
        made = judge(server, tmp_path / "ledger.sqlite3", limits=CallLimits(concurrency=64))
        run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=at_home(made))
        assert server.in_flight_at_most > 4
    assert contents(tmp_path / "run") == expected


def test_a_run_from_the_ledger_asks_nobody(expected: dict[str, bytes], tmp_path: Path) -> None:
    with model_server(lambda asked, _: opinion(asked)) as server:
        for name in ("one", "two"):
            made = at_home(judge(server, tmp_path / "ledger.sqlite3"))
            run(PLAN, [transcripts(tmp_path / "t")], tmp_path / name, judge=made)
            before = len(server.requests)
        assert len(server.requests) == before
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == expected


def test_a_run_whose_ledger_can_not_be_read_when_it_begins_ends_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ledger, "replies_in", Mock(side_effect=LedgerError("the ledger is damaged")))
    with model_server(lambda asked, _: opinion(asked)) as server:
        made, path = judge(server, tmp_path / "l.sqlite3"), transcripts(tmp_path / "said")
        with pytest.raises(LedgerError, match="the ledger is damaged"):
            run(PLAN, [path], tmp_path / "run", judge=made, resume=True)


def test_who_judged_and_what_was_said_are_part_of_the_run(expected: dict[str, bytes]) -> None:
    summary = json.loads(expected["summary.json"])
    assert summary["judge"]["served_models"] == ["served-0", "served-1"]
    assert summary["judge"]["requested_model"] == "some-model"
    first = json.loads(expected["replies.jsonl"].splitlines()[0])
    assert first["model"].startswith("served-")
    assert (first["finish"], first["input_tokens"], first["output_tokens"]) == ("stop", 11, 7)


@pytest.mark.parametrize("kept", [0, 1])
def test_without_a_manifest_the_replies_have_the_size_of_the_log(tmp_path: Path, kept: int) -> None:
    with model_server(lambda asked, _: opinion(asked)) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3"))
        summary = run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made)
    (tmp_path / "run" / "manifest.json").unlink()
    refuse_damaged(tmp_path / "run", PLAN, summary)
    replies = tmp_path / "run" / "replies.jsonl"
    lines = replies.read_bytes().splitlines(keepends=True)[:kept]
    replies.write_bytes(b"".join(lines)) if lines else replies.unlink()
    with pytest.raises(PlanError, match=r"not those that `inputs.jsonl` records"):
        refuse_damaged(tmp_path / "run", PLAN, summary)


def test_a_recorded_run_replays_to_the_same_verdicts(expected: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_bytes(expected["replies.jsonl"])
    (tmp_path / "replay.json").write_bytes(replay_of(read_exchanges(tmp_path / "replies.jsonl")))
    run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=f"replay:{tmp_path / 'replay.json'}")
    assert contents(tmp_path / "run")["verdicts.jsonl"] == expected["verdicts.jsonl"]
    assert contents(tmp_path / "run")["scores.jsonl"] == expected["scores.jsonl"]


def verdicts(folder: Path) -> list[dict[str, Any]]:
    return read_lines(folder / "verdicts.jsonl")


GOOD = '{"verdict": "PASS"}'
BAD_DAYS: dict[str, Callable[[], Response]] = {
    "400": lambda: Response(400, b'{"error": {"message": "no"}}'),
    **{str(status): partial(Response, status, b'{"verdict": "PASS"}') for status in (408, 429, 503)},
    "429 with a wait": lambda: Response(429, b"{}", {"Retry-After": "0.01"}),
    "a page of a proxy": lambda: Response(502, b"<html>PASS</html>", {"Content-Type": "text/html"}),
    "dropped behind the answer": lambda: replace(chat(GOOD), declared=len(chat(GOOD).body) + 9),
    "dropped in the answer": lambda: replace(chat(GOOD), body=chat(GOOD).body[:-9], declared=len(chat(GOOD).body)),
    "cut in the middle of a gzip": lambda: Response(
        body=gzip.compress(chat(GOOD).body)[:-12], headers={"Content-Encoding": "gzip"}
    ),
    "an error beside an answer": lambda: Response(
        body=json.dumps({"error": {"code": 500}, **json.loads(chat(GOOD).body)}).encode()
    ),
    "a page": lambda: Response(body=b"<html>PASS</html>", headers={"Content-Type": "text/html"}),
    "an error under 200": lambda: Response(body=b'{"error": {"message": "x", "code": 400}}'),
    "refused": lambda: chat(None, refusal='{"verdict": "PASS"}'),
    "filtered": lambda: chat('{"verdict": "PASS"}', finish="content_filter"),
    "cut": lambda: chat('{"verdict": "PASS"}', finish="length"),
    "cut by a reason of its own": lambda: chat('{"verdict": "PASS"}', finish="MAX_TOKENS"),
    "failed midway": lambda: chat('{"verdict": "PASS"}', finish="error"),
    "empty": lambda: chat(""),
    "two objects": lambda: chat('{"verdict": "PASS"} {"verdict": "FAIL"}'),
    "lower case": lambda: chat('{"verdict": "pass"}'),
}


@pytest.mark.parametrize("response", BAD_DAYS.values(), ids=BAD_DAYS)
def test_no_failure_passes(response: Callable[[], Response], tmp_path: Path) -> None:
    with model_server(lambda *_: response()) as server:
        made = judge(server, tmp_path / "ledger.sqlite3", limits=CallLimits(attempts=1, seconds=20.0, outage=0.0))
        try:
            run(PLAN, [transcripts(tmp_path / "t", 2)], tmp_path / "run", judge=made)
        except OutageError:  # nobody was there: the run can be resumed, and says nothing
            assert not (tmp_path / "run" / "summary.json").exists()
            return
    found = verdicts(tmp_path / "run")
    assert found
    assert all(each["verdict"] in ("UNCLEAR", "FAIL") and each["adjudication_required"] for each in found)


def test_a_question_that_may_be_paid_for_is_not_put_again_where_it_counts_as_unanswered(tmp_path: Path) -> None:
    folder, path = transcripts(tmp_path / "t", 1), tmp_path / "ledger.sqlite3"
    limits, one = CallLimits(on_ambiguous="unclear"), plan(asked(prompt=(TextSegment("One?"),)))
    with model_server(lambda *_: chat(GOOD)) as server:
        run(one, [folder], tmp_path / "first", judge=judge(server, path))
        database = sqlite3.connect(path)
        database.execute("update calls set state = 'sent', owner = 'a/1/2/3', lease = 0, answer = null")
        database.commit()
        run(one, [folder], tmp_path / "second", judge=judge(server, path, limits=limits))
        assert len(server.requests) == 1
    assert [each["verdict"] for each in verdicts(tmp_path / "second")] == ["UNCLEAR"]


def test_a_conversation_longer_than_the_window_is_unclear_and_nothing_is_cut(tmp_path: Path) -> None:
    small = Capabilities(context=300)
    with model_server(lambda asked, _: opinion(asked)) as server:
        made = judge(server, tmp_path / "ledger.sqlite3", small)
        run(PLAN, [transcripts(tmp_path / "t", 1)], tmp_path / "run", judge=made)
        assert server.requests == []
    assert {each["rationale_code"] for each in verdicts(tmp_path / "run")} == {"conversation_too_long"}
    assert {each["verdict"] for each in verdicts(tmp_path / "run")} == {"UNCLEAR"}
    assert replayed(tmp_path) == verdicts(tmp_path / "run")


def replayed(folder: Path) -> list[dict[str, Any]]:
    """The verdicts of the run in a folder, from its recorded replies."""
    (folder / "replay.json").write_bytes(replay_of(read_exchanges(folder / "run" / "replies.jsonl")))
    run(PLAN, [folder / "t"], folder / "again", judge=f"replay:{folder / 'replay.json'}")
    return verdicts(folder / "again")


def test_an_endpoint_that_says_that_it_is_too_long_is_believed(tmp_path: Path) -> None:
    body = b'{"error": {"code": "context_length_exceeded", "message": "too long"}}'
    with model_server(lambda *_: Response(400, body)) as server:
        made = judge(server, tmp_path / "ledger.sqlite3")
        run(PLAN, [transcripts(tmp_path / "t", 1)], tmp_path / "run", judge=made)
    assert {each["rationale_code"] for each in verdicts(tmp_path / "run")} == {"conversation_too_long"}
    assert replayed(tmp_path) == verdicts(tmp_path / "run")


def test_a_run_within_a_running_event_loop_ends_for_the_reason_that_it_has_elsewhere(tmp_path: Path) -> None:
    async def cell(made: LiveJudge) -> None:
        run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made)

    with model_server(lambda asked, _: opinion(asked)) as server, pytest.raises(BudgetError):
        asyncio.run(cell(judge(server, tmp_path / "ledger.sqlite3", calls=20)))


def test_a_budget_ends_the_run_and_so_does_a_larger_one(expected: dict[str, bytes], tmp_path: Path) -> None:
    with model_server(lambda asked, _: opinion(asked)) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3", calls=20))
        with pytest.raises(BudgetError):
            run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made)
        assert len(server.requests) == 20
        made = at_home(judge(server, tmp_path / "ledger.sqlite3"))
        run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made, resume=True)
    assert contents(tmp_path / "run") == expected


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "the endpoint answered 401"), (500, r"no answer for 0\.5 s; the last failure: the endpoint answered 500")],
)
def test_an_outage_ends_the_run_without_a_verdict(
    status: int, reason: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    def handler(asked: dict[str, Any], number: int) -> Response:
        if number < 25:
            return opinion(asked)
        while answered(tmp_path) < 25:  # an answer that comes after failures makes them failures of their chats
            time.sleep(0.005)
        return Response(status, b"{}")

    with model_server(handler) as server:
        limits = CallLimits(outage=0.5, attempts=99)
        made = at_home(judge(server, tmp_path / "ledger.sqlite3", limits=limits))
        with pytest.raises(OutageError, match=reason):
            run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made)
    assert not (tmp_path / "run" / "summary.json").exists()
    with model_server(lambda asked, _: opinion(asked)) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3"))
        run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made, resume=True)
    assert contents(tmp_path / "run") == expected


def answered(folder: Path) -> int:
    """How many calls have an answer in the ledger."""
    ledger = Ledger(folder / "ledger.sqlite3")
    ((calls,),) = ledger.rows("select count(*) from calls where state = 'done'")
    ledger.close()
    return int(calls)


def garbage(*_: Any) -> Response:
    return chat("Sure! It is a fine answer.")


def test_a_judge_that_never_gives_a_verdict_ends_the_run_and_is_asked_again_after_a_cure(
    expected: dict[str, bytes], tmp_path: Path
) -> None:
    limits = CallLimits(concurrency=4)
    with model_server(garbage) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3", limits=limits))
        with pytest.raises(OutageError, match=r"none of the first 16 replies .* it begins: `Sure! It is") as stopped:
            run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made)
        assert 16 <= len(server.requests) < 16 + 2 * limits.concurrency
    assert stopped.value.cause == "replies"
    assert not (tmp_path / "run" / "summary.json").exists()
    assert (tmp_path / "run" / "verdicts.jsonl.part").read_bytes() == b""
    with model_server(lambda asked, _: opinion(asked)) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3"))
        run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made, resume=True)
    found = contents(tmp_path / "run")
    assert found["verdicts.jsonl"].count(b'"verdict":"PASS"') == expected["verdicts.jsonl"].count(b'"verdict":"PASS"')
    assert found["scores.jsonl"].count(b"\n") == expected["scores.jsonl"].count(b"\n")


def test_a_judge_that_gives_one_verdict_is_asked_to_the_end(tmp_path: Path) -> None:
    with model_server(lambda asked, number: garbage() if number else chat(GOOD)) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3", limits=CallLimits(concurrency=1)))
        run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "run", judge=made)
        asked = len(server.requests)
        made = at_home(judge(server, tmp_path / "ledger.sqlite3"))
        run(PLAN, [transcripts(tmp_path / "t")], tmp_path / "again", judge=made)
        assert len(server.requests) == asked > 16
    assert contents(tmp_path / "run") == contents(tmp_path / "again")


def test_a_judge_that_ceases_to_give_verdicts_ends_the_run_once_and_is_asked_again(tmp_path: Path) -> None:
    path, limits = transcripts(tmp_path / "t", 40), CallLimits(concurrency=4)
    with model_server(lambda asked, number: chat(GOOD) if number < 100 else garbage()) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3", limits=limits))
        with pytest.raises(
            OutageError, match=r"no reply of the judge about 16 chats in a row .* `Sure! It is"
        ) as stopped:
            run(PLAN, [path], tmp_path / "run", judge=made)
    assert stopped.value.cause == "replies"
    done = (tmp_path / "run" / "verdicts.jsonl.part").read_bytes()
    assert 0 < done.count(b'"verdict":"PASS"') < 100
    with model_server(lambda *_: chat(GOOD)) as server:
        run(PLAN, [path], tmp_path / "run", judge=at_home(judge(server, tmp_path / "ledger.sqlite3")), resume=True)
        cured = verdicts(tmp_path / "run")
        run(PLAN, [path], tmp_path / "next", judge=at_home(judge(server, tmp_path / "ledger.sqlite3")))
    assert len({each["transcript_id"] for each in cured if each["verdict"] == "UNCLEAR"}) <= 2 * limits.concurrency


def test_a_judge_that_refuses_every_later_chat_is_asked_to_the_end_by_a_resumed_run(tmp_path: Path) -> None:
    path = transcripts(tmp_path / "t", 40)
    with model_server(lambda asked, number: chat(GOOD) if number < 20 else garbage()) as server:
        made = at_home(judge(server, tmp_path / "ledger.sqlite3"))
        with pytest.raises(OutageError):
            run(PLAN, [path], tmp_path / "run", judge=made)
        run(PLAN, [path], tmp_path / "run", judge=at_home(judge(server, tmp_path / "ledger.sqlite3")), resume=True)
    found = verdicts(tmp_path / "run")
    assert len({each["transcript_id"] for each in found}) == 40
    assert found[-1]["verdict"] == "UNCLEAR"


def test_a_judge_that_refuses_every_chat_is_asked_to_the_end_by_a_resumed_run(tmp_path: Path) -> None:
    path = transcripts(tmp_path / "t", 40)
    with model_server(garbage) as server:
        ledger = tmp_path / "ledger.sqlite3"
        with pytest.raises(OutageError):
            run(PLAN, [path], tmp_path / "run", judge=at_home(judge(server, ledger)))
        run(PLAN, [path], tmp_path / "run", judge=at_home(judge(server, ledger)), resume=True)
        asked = len(server.requests)
        with pytest.raises(OutageError):
            run(PLAN, [path], tmp_path / "other", judge=at_home(judge(server, ledger)))
    found = verdicts(tmp_path / "run")
    assert len({each["transcript_id"] for each in found}) == 40
    assert not {each["verdict"] for each in found} & {"PASS", "NOT_APPLICABLE"}
    assert len(server.requests) > asked


def test_replies_that_a_finished_run_took_stop_no_later_run_and_are_not_paid_again(tmp_path: Path) -> None:
    path = transcripts(tmp_path / "t", 40)

    with model_server(lambda asked, number: garbage() if number < 36 else chat(GOOD)) as server:
        one = CallLimits(concurrency=1)
        with pytest.raises(OutageError):
            run(PLAN, [path], tmp_path / "run", judge=at_home(judge(server, tmp_path / "l.sqlite3", limits=one)))
        made = at_home(judge(server, tmp_path / "l.sqlite3", limits=one))
        run(PLAN, [path], tmp_path / "run", judge=made, resume=True)
        asked = len(server.requests)
        run(PLAN, [path], tmp_path / "next", judge=at_home(judge(server, tmp_path / "l.sqlite3", limits=one)))
        assert len(server.requests) == asked
    assert verdicts(tmp_path / "run") == verdicts(tmp_path / "next")


def test_a_run_that_starts_over_in_the_same_folder_is_stopped_again(tmp_path: Path) -> None:
    path = transcripts(tmp_path / "t", 40)
    with model_server(lambda asked, number: chat(GOOD) if 16 <= number < 36 else garbage()) as server:
        for overwrite in (False, True, True):
            made = at_home(judge(server, tmp_path / "ledger.sqlite3", limits=CallLimits(concurrency=1)))
            with pytest.raises(OutageError):
                run(PLAN, [path], tmp_path / "run", judge=made, overwrite=overwrite)


def test_a_small_run_without_a_verdict_ends_undecided_and_the_next_one_asks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "UNUSABLE", 999)
    path = transcripts(tmp_path / "t", 1)
    with model_server(garbage) as server:
        asked = [0]
        for name in ("one", "two"):
            run(PLAN, [path], tmp_path / name, judge=at_home(judge(server, tmp_path / "ledger.sqlite3")))
            asked.append(len(server.requests))
    assert asked == [0, asked[1], 2 * asked[1]]
    assert not {each["verdict"] for each in verdicts(tmp_path / "one")} & {"PASS", "NOT_APPLICABLE"}


CHILD = """
import sys
from pathlib import Path
from tests.runtime.runs import watched_run
from tests.model_server import Server
from rulewright_runtime.runs.store import run
base, folder = sys.argv[1], Path(sys.argv[2])
made = watched_run.at_home(watched_run.judge(Server(base, [], []), folder / "ledger.sqlite3"))
run(watched_run.PLAN, [folder / "t"], folder / sys.argv[3], judge=made, resume=True)
"""
ROOT = Path(__file__).resolve().parents[3]


def child(server: Server, folder: Path, name: str = "run") -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", CHILD, server.base, str(folder), name], cwd=ROOT)


def paid_again(server: Server, folder: Path) -> int:
    """How many of the calls that reached the server were made before; each has one row in the ledger."""
    return len(server.requests) - answered(folder)


def longwinded(asked: dict[str, Any]) -> Response:
    """The same verdict with a quote that is longer than what a run's files buffer, and that nobody said."""
    body = json.loads(opinion(asked).body)
    message = body["choices"][0]["message"]
    if message["content"].startswith("{"):
        reply = json.loads(message["content"])
        evidence = [*reply["evidence"], {"role": "user", "turn": 1, "quote": "あ" * (BUFFER // 3 + 99)}]
        message["content"] = json.dumps({**reply, "evidence": evidence}, ensure_ascii=False)
    return Response(body=json.dumps(body).encode())


def written(folder: Path) -> int:
    """The bytes that the files of a run hold so far, finished or not."""
    sizes = 0
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            sizes += path.stat().st_size
    return sizes


def killed_until_it_ends(server: Server, folder: Path, whole: int, moments: random.Random, most: int) -> int:
    """Resume a run again and again, and kill it at a random moment of its calls or of its writing; how many kills it
    took. The last time it is left alone."""
    for kill in range(most):
        process = child(server, folder)
        calls = len(server.requests) + moments.randrange(1, 30)
        size = moments.randrange(whole) if moments.random() < 0.5 else None
        while process.poll() is None:
            if len(server.requests) >= calls if size is None else written(folder / "run") >= size:
                break
            time.sleep(0.0005)
        time.sleep(moments.random() * 0.03)
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:  # it was faster
            return kill
    assert child(server, folder).wait() == 0
    return most


@pytest.mark.parametrize(("answer", "talks"), every(2, [(opinion, 6), (longwinded, 2)], 1))
def test_a_killed_run_resumes_to_the_same_files_and_pays_only_for_calls_in_flight_again(
    answer: Callable[[dict[str, Any]], Response], talks: int, tmp_path: Path
) -> None:
    def handler(asked: dict[str, Any], _: int) -> Response:
        response = answer(asked)
        response.delay = 0.01
        return response

    moments, kills, runs = random.Random(11), 0, 0
    whole = tmp_path / "whole"
    whole.mkdir()
    transcripts(whole / "t", talks)
    with model_server(handler) as server:
        run(PLAN, [whole / "t"], whole / "run", judge=at_home(judge(server, whole / "ledger.sqlite3")))
    expected, size = contents(whole / "run"), written(whole / "run")
    lines = [len(line) for name in ("verdicts.jsonl", "replies.jsonl") for line in expected[name].splitlines()]
    assert (max(lines) > BUFFER) is (answer is longwinded)
    while kills < KILLS:
        folder = tmp_path / str(runs)
        folder.mkdir()
        transcripts(folder / "t", talks)
        with model_server(handler) as server:
            killed = killed_until_it_ends(server, folder, size, moments, min(KILLS - kills, 12))
            assert contents(folder / "run") == expected
            assert 0 <= paid_again(server, folder) <= killed * SECONDS.concurrency
        kills, runs = kills + killed, runs + 1


def test_processes_share_a_ledger_and_pay_once(expected: dict[str, bytes], tmp_path: Path) -> None:
    transcripts(tmp_path / "t")
    with model_server(lambda asked, _: opinion(asked)) as server:
        processes = [child(server, tmp_path, f"run{number}") for number in range(2)]
        assert [process.wait() for process in processes] == [0, 0]
        assert paid_again(server, tmp_path) == 0
    for number in range(2):
        assert contents(tmp_path / f"run{number}") == expected
