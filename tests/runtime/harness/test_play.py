"""The harness: what a model is sent, and what is written of its answers."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final

import msgspec
import pytest
from tests.folders import read_lines
from tests.model_server import Response, model_server

from rulewright_runtime.errors import PlanError
from rulewright_runtime.harness import named_adapters
from rulewright_runtime.harness.adapters import AdapterError, ScriptedAdapter, TurnRequest
from rulewright_runtime.harness.harness_plan import RunPlan, Script, ScriptSession, ScriptTurn, decode
from rulewright_runtime.harness.harness_run import run
from rulewright_runtime.harness.product_adapter import MAX_REPLY, ProductAdapter
from rulewright_runtime.models.call import ChatMessage, ModelAnswer, Usage
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader


class Listening:
    """An adapter that remembers what it was asked, and answers with the turn's number."""

    model = "m/one"
    harness = "llm/raw"

    def __init__(self, fails: tuple[int, ...] = ()) -> None:
        self.asked: list[TurnRequest] = []
        self.fails = fails

    def reply(self, request: TurnRequest) -> ModelAnswer:
        self.asked.append(request)
        if request.turn in self.fails:
            raise TimeoutError("no answer from caf\udce9")
        return ModelAnswer(f"answer {request.turn}", "", usage=Usage(10, 2))


def plan(*names: str, sessions: int = 1) -> RunPlan:
    scripts = []
    for name in names:
        made = tuple(
            ScriptSession(
                number,
                (ScriptTurn(2 * number - 1, f"{name} first {number}"), ScriptTurn(2 * number, f"{name} then {number}")),
            )
            for number in range(1, sessions + 1)
        )
        scripts.append(Script(name, made, "name: Ana"))
    return seal(RunPlan("1", tuple(scripts)))


def read(folder: Path) -> dict[str, Transcript]:
    found = list(Reader().read([folder / "transcripts"]))
    assert all(isinstance(each, Transcript) for each in found)
    return {each.scenario_id: each for each in found if isinstance(each, Transcript)}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_turns_are_sent_one_after_the_other_each_with_what_was_said_before(tmp_path: Path) -> None:
    model = Listening()
    run(plan("night"), model, tmp_path)
    sent = [[(each.role, each.content) for each in request.messages] for request in model.asked]
    first = ("user", "night first 1")
    assert sent == [[first], [first, ("assistant", "answer 1"), ("user", "night then 1")]]
    assert {request.context for request in model.asked} == {"name: Ana"}


def test_a_transcript_says_which_model_spoke_through_which_harness_and_can_be_scanned(tmp_path: Path) -> None:
    run(plan("night"), Listening(), tmp_path)
    (path,) = (tmp_path / "transcripts").iterdir()
    lines = read_lines(path)
    assert path.name == "m-one__night.jsonl"
    assert lines[0] == {"turn": 1, "role": "user", "content": "night first 1"}
    assert (lines[1]["harness"], lines[1]["model"], lines[1]["content"]) == ("llm/raw", "m/one", "answer 1")
    assert [turn.content for turn in read(tmp_path)["night"].turns][-1] == "answer 2"
    assert read(tmp_path)["night"].harness == "llm/raw"


def test_turn_numbers_and_the_history_run_on_across_sessions(tmp_path: Path) -> None:
    model = Listening()
    run(plan("return", sessions=2), model, tmp_path)
    assert [(each.session, each.turn, each.opens_session) for each in model.asked] == [
        (1, 1, True),
        (1, 2, False),
        (2, 3, True),
        (2, 4, False),
    ]
    assert len(model.asked[-1].messages) == 7
    assert [turn.turn for turn in read(tmp_path)["return"].turns] == [1, 1, 2, 2, 3, 3, 4, 4]
    (path,) = (tmp_path / "transcripts").iterdir()
    said = read_lines(path)
    assert [line["session"] for line in said if line["role"] == "user"] == [1, 1, 2, 2]


def test_a_turn_without_answer_is_recorded_and_ends_the_conversation(tmp_path: Path) -> None:
    model = Listening(fails=(1,))
    summary = run(plan("night"), model, tmp_path, attempts=2)
    assert (summary["errors"], summary["turns"], len(model.asked)) == (1, 0, 2)
    last = read(tmp_path)["night"].turns[-1]
    assert (last.role, last.content) == ("assistant", "")
    assert last.error == {"type": "TimeoutError", "message": r"no answer from caf\udce9", "attempts": 2}


def test_an_empty_reply_is_not_an_answer(tmp_path: Path) -> None:
    summary = run(plan("night"), ScriptedAdapter({"night": [" \n"]}), tmp_path)
    assert summary["by_scenario"]["night"]["error"]["type"] == "EmptyReplyError"


def test_the_files_are_the_same_however_many_scenarios_run_at_a_time(tmp_path: Path) -> None:
    many, told = [f"s{number}" for number in range(12)], list[int]()
    summary = run(plan(*many), Listening(), tmp_path / "one")
    run(plan(*many), Listening(), tmp_path / "four", parallel=4, progress=told.append)
    assert files(tmp_path / "one") == files(tmp_path / "four")
    assert (summary["experimental"], told) == (False, list(range(1, 13)))


class Stopping(Listening):
    """A model in front of which the process is killed."""

    def reply(self, request: TurnRequest) -> ModelAnswer:
        if len(self.asked) == 3:
            raise KeyboardInterrupt
        return super().reply(request)


def test_a_killed_run_is_resumed_without_asking_again(tmp_path: Path) -> None:
    whole, first, second = Listening(), Stopping(), Listening()
    run(plan("a", "b"), whole, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(plan("a", "b"), first, tmp_path / "killed")
    run(plan("a", "b"), second, tmp_path / "killed", resume=True)
    assert len(first.asked) + len(second.asked) == len(whole.asked)
    assert files(tmp_path / "whole") == files(tmp_path / "killed")


def test_a_conversation_that_ended_in_an_error_is_taken_up_again_where_it_broke_off(tmp_path: Path) -> None:
    run(plan("a", "b"), Listening(), tmp_path / "whole")
    run(plan("a", "b"), Listening(fails=(2,)), tmp_path / "broken", attempts=1)
    model = Listening()
    summary = run(plan("a", "b"), model, tmp_path / "broken", resume=True)
    assert [request.turn for request in model.asked] == [2, 2]
    assert summary["errors"] == 0
    assert files(tmp_path / "whole") == files(tmp_path / "broken")


def test_an_error_that_comes_again_is_recorded_again(tmp_path: Path) -> None:
    first = run(plan("a"), Listening(fails=(2,)), tmp_path, attempts=1)
    before = files(tmp_path)
    assert run(plan("a"), Listening(fails=(2,)), tmp_path, attempts=1, resume=True) == first
    assert files(tmp_path) == before


def test_a_line_that_was_cut_off_is_asked_again(tmp_path: Path) -> None:
    run(plan("a"), Listening(), tmp_path)
    (path,) = (tmp_path / "transcripts").iterdir()
    whole = path.read_bytes()
    path.rename(path.with_name(path.name + ".part"))
    path.with_name(path.name + ".part").write_bytes(whole[:-20])
    model = Listening()
    run(plan("a"), model, tmp_path, resume=True)
    assert ([request.turn for request in model.asked], path.read_bytes()) == ([2], whole)


def test_a_run_of_another_plan_is_not_continued(tmp_path: Path) -> None:
    run(plan("a"), Listening(), tmp_path)
    with pytest.raises(PlanError, match="another plan"):
        run(plan("b"), Listening(), tmp_path, resume=True)
    with pytest.raises(PlanError, match="already contains transcripts"):
        run(plan("a"), Listening(), tmp_path)


def test_a_run_is_not_continued_with_other_replies(tmp_path: Path) -> None:
    run(plan("a"), ScriptedAdapter({"a": ["one", "two"]}), tmp_path)
    with pytest.raises(PlanError, match="other replies"):
        run(plan("a"), ScriptedAdapter({"a": ["one", "three"]}), tmp_path, resume=True)


def test_a_transcript_that_lost_lines_is_named(tmp_path: Path) -> None:
    run(plan("a"), Listening(), tmp_path)
    (path,) = (tmp_path / "transcripts").iterdir()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.raises(PlanError, match=r"m-one__a.jsonl` is damaged \(it answers 1 of 2 turns\); remove it"):
        run(plan("a"), Listening(), tmp_path, resume=True)


@pytest.mark.parametrize("name", ["header.json", "transcripts/m-one__a.jsonl"])
def test_a_file_in_another_encoding_is_damaged(tmp_path: Path, name: str) -> None:
    run(plan("a"), Listening(), tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes().replace(b'":"', b'":"\xe4', 1))
    with pytest.raises(PlanError, match=rf"{name}` is damaged"):
        run(plan("a"), Listening(), tmp_path, resume=True)


CHANGES: Final[dict[str, Callable[[list[bytes]], list[bytes]]]] = {
    "formatted differently": lambda lines: [json.dumps(json.loads(line)).encode() + b"\n" for line in lines],
    "other line ends": lambda lines: [line.replace(b"\n", b"\r\n") for line in lines],
    "swapped": lambda lines: lines[1::-1] + lines[2:],
    "doubled": lambda lines: [lines[0], *lines],
    "without the user": lambda lines: lines[1:],
    "of another turn": lambda lines: [lines[0].replace(b'"turn":1', b'"turn":7'), *lines[1:]],
    "after the end": lambda lines: [*lines, lines[-1]],
}


@pytest.mark.parametrize("suffix", ["", ".part"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_transcript_that_another_program_has_changed_is_not_continued(
    tmp_path: Path, suffix: str, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    run(plan("a"), Listening(), tmp_path)
    (path,) = (tmp_path / "transcripts").iterdir()
    changed = path.rename(f"{path}{suffix}")
    changed.write_bytes(b"".join(change(changed.read_bytes().splitlines(keepends=True))))
    before = changed.read_bytes()
    with pytest.raises(PlanError, match=r"is damaged \(.*\); remove it"):
        run(plan("a"), Listening(), tmp_path, resume=True)
    assert changed.read_bytes() == before


def test_a_message_of_the_user_that_is_not_in_the_scenario_is_not_continued(tmp_path: Path) -> None:
    run(plan("a"), Listening(), tmp_path)
    (path,) = (tmp_path / "transcripts").iterdir()
    part = path.rename(f"{path}.part")
    part.write_bytes(part.read_bytes().replace(b'"content":"', b'"content":"Not ', 1))
    with pytest.raises(PlanError, match="turn 1 of the user is not that of the scenario"):
        run(plan("a"), Listening(), tmp_path, resume=True)


def test_a_scenario_cannot_write_outside_the_folder(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="can't name a file"):
        run(plan("../outside"), Listening(), tmp_path)


def test_a_run_plan_that_was_changed_is_refused() -> None:
    sealed = encode(plan("a"))
    assert decode(sealed) == plan("a")
    for data in (sealed.replace(b"first", b"worst"), b"{}", b"[", sealed.replace(b'"context"', b'"contexts"')):
        with pytest.raises(PlanError):
            decode(data)


def test_two_scenarios_of_one_name_are_refused() -> None:
    with pytest.raises(PlanError, match="two scenarios"):
        decode(encode(plan("a", "a")))


def test_a_run_plan_that_plays_nothing_is_refused() -> None:
    silent = seal(RunPlan("1", (Script("a", ()),)))
    for nothing, message in ((plan(), "no scenario"), (silent, "`a` has no turn")):
        with pytest.raises(PlanError, match=message):
            decode(encode(nothing))


def test_two_scenarios_whose_transcripts_may_be_one_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="`Night` and `night` differ only in case"):
        run(plan("Night", "day", "night"), Listening(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_adapters_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(named_adapters.ADAPTERS, "listening", lambda _: Listening())
    assert named_adapters.open_adapter("listening:").model == "m/one"
    file = tmp_path / "replies.json"
    file.write_text('{"model": "told", "replies": {"night": ["yes"]}}', encoding="utf-8")
    assert named_adapters.open_adapter(f"scripted:{file}").model == "told"
    for wrong in ("nobody:x", "scripted", f"scripted:{tmp_path}/none.json", "product-http:ftp://x"):
        with pytest.raises(AdapterError):
            named_adapters.open_adapter(wrong)


@pytest.fixture
def product() -> Iterator[tuple[str, list[dict[str, object]]]]:
    received: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(msgspec.json.decode(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = b'{"reply": "hello"}' if len(received) < 3 else b'{"text": 1}'
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/turns", received
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_product_over_http_is_sent_one_message_at_a_time(
    product: tuple[str, list[dict[str, object]]], tmp_path: Path
) -> None:
    url, received = product
    summary = run(plan("night", sessions=2), ProductAdapter(url), tmp_path, attempts=1)
    assert [row["message"] for row in received] == ["night first 1", "night then 1", "night first 2"]
    assert (summary["experimental"], summary["harness"]) == (True, "product/127.0.0.1")
    assert summary["by_scenario"]["night"]["error"]["type"] == "AdapterError"
    assert "night" not in str(received[0]["conversation"])


REQUEST = TurnRequest("night", 1, 1, True, "", (ChatMessage("user", "hi"),))
REPLY = b'{"reply": "hello"}'


def test_a_product_receives_another_conversation_in_every_run_and_the_same_when_it_is_resumed(tmp_path: Path) -> None:
    answers = iter([*[Response(200, REPLY)] * 5, Response(500), *[Response(200, REPLY)] * 3])
    with model_server(lambda *_: next(answers)) as server:
        for folder in ("one", "two"):
            run(plan("night", "day"), ProductAdapter(server.base), tmp_path / folder, attempts=1)
        run(plan("night", "day"), ProductAdapter(server.base), tmp_path / "two", attempts=1, resume=True)
        sent = [(each["conversation"], each["message"]) for each in server.requests]
    assert len({conversation for conversation, _ in sent}) == 4  # two of each run
    assert sent[5] == sent[8]  # the turn that failed, and is sent again
    assert sent[5] == (sent[4][0], "night then 1")


def test_a_product_can_be_asked_where_an_event_loop_runs() -> None:
    async def ask(url: str) -> str:
        return ProductAdapter(url).reply(REQUEST).text

    with model_server(lambda *_: Response(200, REPLY)) as server:
        assert asyncio.run(ask(server.base)) == "hello"


@pytest.mark.parametrize("status", [200, 201])
def test_a_product_answers_with_any_status_of_success(status: int) -> None:
    with model_server(lambda *_: Response(status, REPLY)) as server:
        assert ProductAdapter(server.base).reply(REQUEST).text == "hello"


def test_a_product_may_say_that_its_answer_is_cut() -> None:
    with model_server(lambda *_: Response(200, b'{"reply": "I am", "finish_reason": "length"}')) as server:
        assert ProductAdapter(server.base).reply(REQUEST).finish == "length"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_product_that_redirects_does_not_answer_for_another(status: int) -> None:
    with model_server(lambda *_: Response(body=REPLY)) as other:
        elsewhere = {"Location": f"{other.base}/turns"}
        refused = pytest.raises(AdapterError, match=f"answered {status}; .* redirects to {other.base}")
        with model_server(lambda *_: Response(status, REPLY, elsewhere)) as server, refused as caught:
            ProductAdapter(f"{server.base}?key=secret").reply(REQUEST)
        assert "secret" not in str(caught.value)
        assert other.requests == []


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (Response(204), "is not a JSON object"),
        (Response(200, b"not JSON"), "is not a JSON object"),
        (Response(200, b'{"reply": "hello", "error": "overloaded"}'), "is an error"),
        (Response(500, REPLY), "answered 500"),
        (Response(200, REPLY, declared=99), "did not answer"),
        (Response(200, b'{"reply": "%s"}' % (b"x" * MAX_REPLY)), f"more than {MAX_REPLY} bytes"),
        (Response(200, b'{"reply": 5}'), "no text under `reply`"),
        (Response(200, b'{"reply": "a", "reply": "b"}'), "is not a JSON object"),
        (Response(200, b'{"reply": "a", "tool_calls": [{"name": "pay"}]}'), "has `tool_calls`, which is not recorded"),
        (Response(body=REPLY, trickle=0.2), "within 0.5 seconds"),
        (Response(hangs=True), "within 0.5 seconds"),
    ],
)
def test_what_is_not_a_whole_answer_of_a_product_is_an_error(response: Response, why: str) -> None:
    with model_server(lambda *_: response) as server, pytest.raises(AdapterError, match=why):
        ProductAdapter(server.base, timeout=0.5 if "within 0.5" in why else 60).reply(REQUEST)


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://x:port", "http://[::1", "https://ana:pass@example.org/"])
def test_an_address_that_no_product_has_is_refused(url: str) -> None:
    with pytest.raises(AdapterError):
        named_adapters.open_adapter(f"product-http:{url}")
