"""Models as the assistant: turns as they are, several conversations at once, nothing paid twice, nothing lost."""

import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.folders import read_lines
from tests.model_server import Response, Server, chat, model_server
from tests.runtime.harness.test_play import plan

from rulewright_runtime.calls.budget import Budget, BudgetError, Price
from rulewright_runtime.calls.scheduler import CallLimits, CallPortal
from rulewright_runtime.errors import OutageError
from rulewright_runtime.harness.harness_run import run
from rulewright_runtime.harness.model_adapter import ModelAdapter
from rulewright_runtime.models.http import HttpModel
from rulewright_runtime.transcripts.completeness import ScriptedScenario
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.view import View
from rulewright_runtime.transcripts.writing import WRITERS

LIMITS = CallLimits(concurrency=4, seconds=20.0, attempts=1)


def reply_to(asked: dict[str, Any]) -> str:
    return f"I heard: {asked['messages'][-1]['content']}"


def played(
    server: Server, folder: Path, calls: int | None = None, price: Price | None = None, **how: Any
) -> dict[str, Any]:
    """The summary of a run over three scenarios of two sessions."""
    options = {key: how.pop(key) for key in ("temperature", "max_tokens", "sample") if key in how}
    adapter = ModelAdapter(
        HttpModel("openai", "the-model", server.base, None),
        lambda model: CallPortal(model, str(folder / "ledger.sqlite3"), "run", LIMITS, Budget(calls), price),
        **options,
    )
    adapter.open()
    try:
        return run(plan("a", "b", "c", sessions=2), adapter, folder / "run", attempts=1, **how)
    finally:
        adapter.close()


def lines(folder: Path, scenario: str = "a") -> list[dict[str, Any]]:
    return read_lines(folder / "run" / "transcripts" / f"the-model__{scenario}.jsonl")


def test_a_model_is_sent_what_was_said_and_what_the_persona_shows(tmp_path: Path) -> None:
    with model_server(lambda asked, _: chat(reply_to(asked), model="served-7")) as server:
        assert played(server, tmp_path, temperature=0.5, max_tokens=99)["errors"] == 0
        last = next(each for each in server.requests if each["messages"][-1]["content"] == "a then 2")
    assert [each["role"] for each in last["messages"]] == ["system", *["user", "assistant"] * 3, "user"]
    assert last["messages"][0]["content"] == "name: Ana"
    assert (last["max_tokens"], last["temperature"]) == (99, 0.5)
    reply = lines(tmp_path)[-1]
    assert (reply["content"], reply["model"], reply["served_model"]) == ("I heard: a then 2", "the-model", "served-7")
    assert reply["harness"] == "llm/raw"
    assert reply["usage"] == {"input_tokens": 11, "output_tokens": 7, "latency": reply["usage"]["latency"]}
    assert reply["parameters"] == {"max_tokens": 99, "temperature": 0.5}


def test_conversations_are_held_at_once_and_the_files_are_the_same_at_any_number(tmp_path: Path) -> None:
    two = threading.Barrier(2)

    def together(asked: dict[str, Any], number: int) -> Response:
        if number < 2:  # neither is answered before both are asked
            two.wait(60)
        return chat(reply_to(asked))

    with model_server(lambda asked, _: chat(reply_to(asked))) as server:
        played(server, tmp_path / "one", parallel=1)
        assert server.in_flight_at_most == 1
    with model_server(together) as server:
        played(server, tmp_path / "three", parallel=3)
        assert server.in_flight_at_most > 1
    for name in "abc":
        one, three = lines(tmp_path / "one", name), lines(tmp_path / "three", name)
        for line in (*one, *three):
            line.get("usage", {}).pop("latency", None)
        assert one == three


def test_expressions_read_latency_and_cost_which_the_ledger_repeats(tmp_path: Path) -> None:
    price = Price(Decimal(1), Decimal(2))
    runs = []
    with model_server(lambda asked, _: chat(reply_to(asked))) as server:
        for known in (None, price, price):
            played(server, tmp_path, price=known)
            runs.append(lines(tmp_path))
            for path in (tmp_path / "run" / "transcripts").iterdir() if len(runs) < 3 else ():
                path.unlink()
        assert len(server.requests) == 12
    unpriced, first, again = runs
    assert again == first
    assert "cost" not in unpriced[-1]["usage"]
    assert unpriced[-1]["usage"]["latency"] == first[-1]["usage"]["latency"]
    used = [line["usage"] for line in first if line["role"] == "assistant"]
    assert all(each["latency"] > 0 and each["cost"] > 0 for each in used)
    (transcript, *_) = Reader().read([tmp_path / "run" / "transcripts"])
    assert isinstance(transcript, Transcript)
    (usage,) = View(transcript).bindings(("usage",)).values()
    assert usage["latency"] == pytest.approx(sum(each["latency"] for each in used))
    assert usage["cost"] == pytest.approx(sum(each["cost"] for each in used))


def test_what_was_answered_is_not_paid_again_unless_another_sample_is_wanted(tmp_path: Path) -> None:
    with model_server(lambda asked, _: chat(reply_to(asked))) as server:
        played(server, tmp_path)
        assert len(server.requests) == 12
        for path in sorted((tmp_path / "run" / "transcripts").iterdir()):
            path.unlink()
        played(server, tmp_path)
        assert len(server.requests) == 12
        for path in sorted((tmp_path / "run" / "transcripts").iterdir()):
            path.unlink()
        played(server, tmp_path, sample=1)
        assert len(server.requests) == 24


@pytest.mark.parametrize(
    ("response", "content", "finish"),
    [
        (lambda: chat(None, refusal="I can't help with that."), "I can't help with that.", "refusal"),
        (lambda: chat("The first thing is", finish="length"), "The first thing is", "length"),
    ],
)
def test_a_refusal_and_a_reply_that_was_cut_off_are_turns(
    response: Any, content: str, finish: str, tmp_path: Path
) -> None:
    with model_server(lambda *_: response()) as server:
        summary = played(server, tmp_path)
    assert summary["errors"] == 0
    cut = {str(turn): finish for turn in range(1, 5)} if finish == "length" else None
    assert summary["by_scenario"]["a"].get("cut") == cut
    assert (lines(tmp_path)[1]["content"], lines(tmp_path)[1]["finish"]) == (content, finish)
    (played_, *_) = Reader().read([tmp_path / "run" / "transcripts"])
    assert isinstance(played_, Transcript)
    gaps = ScriptedScenario(None).completeness(played_.turns).gaps
    assert {gap.kind for gap in gaps} == ({"cut_reply"} if cut else set())
    for line in WRITERS.values():
        (tmp_path / "written.jsonl").write_bytes(line(played_))
        (again, *_) = Reader().read([tmp_path / "written.jsonl"])
        assert isinstance(again, Transcript)
        assert ScriptedScenario(None).completeness(again.turns).gaps == gaps


def test_an_empty_reply_says_what_ended_it(tmp_path: Path) -> None:
    with model_server(lambda *_: chat(None, finish="length")) as server:
        error = played(server, tmp_path)["by_scenario"]["a"]["error"]
    assert error["message"] == "the reply has no visible text; it ended with `length`"


def test_a_turn_that_fails_is_recorded_with_its_error_and_is_asked_again_on_resume(tmp_path: Path) -> None:
    failing = [True]

    def handler(asked: dict[str, Any], _: int) -> Response:
        bad = failing and asked["messages"][-1]["content"] == "b then 1"
        return Response(400, b'{"error": {"message": "not this"}}') if bad else chat(reply_to(asked))

    with model_server(handler) as server:
        assert played(server, tmp_path)["errors"] == 1
        assert "not this" in lines(tmp_path, "b")[-1]["error"]["message"]
        failing.clear()
        before = len(server.requests)
        assert played(server, tmp_path, resume=True)["errors"] == 0
        assert len(server.requests) == before + 3


def test_a_turn_that_fails_is_recorded_with_the_number_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.LIMITS", CallLimits(attempts=2))
    broken = Response(500, b"{}")
    with model_server(lambda asked, number: broken if number else chat(reply_to(asked))) as server:
        assert played(server, tmp_path)["errors"] == 3
    assert lines(tmp_path, "b")[-1]["error"]["attempts"] == 2


def test_nobody_answers_or_the_budget_is_used_up_ends_the_run_which_is_resumed(tmp_path: Path) -> None:
    with model_server(lambda *_: Response(401, b"{}")) as server, pytest.raises(OutageError):
        played(server, tmp_path / "denied")
    with model_server(lambda asked, _: chat(reply_to(asked))) as server:
        with pytest.raises(BudgetError):
            played(server, tmp_path, calls=5)
        assert len(server.requests) == 5
        assert not (tmp_path / "run" / "harness.json").exists()
        assert played(server, tmp_path, resume=True)["turns"] == 12
        assert len(server.requests) == 12
