"""Models behind a callable and behind a command."""

import asyncio
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.shared_data import ROOT

from rulewright_runtime.models import ModelError, command, open_model
from rulewright_runtime.models.call import CallFailure, ChatMessage, Model, ModelAnswer, ModelCall, Usage
from rulewright_runtime.models.callables import CallableModel
from rulewright_runtime.models.command import CommandModel

CALL = ModelCall((ChatMessage("user", "Well?"),), 400, 0.0)

ECHO = """
import json, sys
held, count = [], 0
SAYS = {
    "cut": {"text": "PASS", "error": "cut"},
    "no word": {"text": "PASS", "finish_reason": "length"},
    "negative": {"text": "PASS", "input_tokens": -1},
    "nothing": {},
    "no model": {"text": "PASS"},
    "null": {"text": None},
}
for line in sys.stdin:
    call = json.loads(line)
    text = call["messages"][-1]["content"]
    if text == "die": sys.exit(3)
    if text in SAYS: print(json.dumps({"id": call["id"], **SAYS[text]}), flush=True); continue
    if text == "half": sys.stdout.write(json.dumps({"id": call["id"], "text": "P"})); sys.stdout.flush(); sys.exit(0)
    if text == "twice":
        for said in "PASS", "FAIL": print(json.dumps({"id": call["id"], "text": said}), flush=True)
        continue
    if text == "counts":
        count += 1
        for said in range(1, 9): print(json.dumps({"id": said, "text": "PASS"}), flush=True)
        continue
    if text == "babble": print("not json", flush=True); continue
    if text == "fail": print(json.dumps({"id": call["id"], "error": "I can't"}), flush=True); continue
    held.append(json.dumps({"id": call["id"], "text": text.upper(), "model": "echo", "output_tokens": 1}))
    if text != "wait":
        while held: print(held.pop(), flush=True)  # the last one first
"""


def answers(model: Model, *texts: str) -> list[str]:
    """What the model says to each text, asked all at once."""

    async def whole() -> list[str]:
        found = [""] * len(texts)

        async def one(place: int, text: str) -> None:
            try:
                found[place] = (await model.answer(ModelCall((ChatMessage("user", text),), 9))).text
            except CallFailure as failure:
                found[place] = f"{failure.kind}: {failure}"

        try:
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for place, text in enumerate(texts):
                        group.start_soon(one, place, text)
        finally:
            await model.aclose()
        return found

    return anyio.run(whole)


@pytest.fixture
def echo(tmp_path: Path) -> CommandModel:
    script = tmp_path / "echo.py"
    script.write_text(ECHO, encoding="utf-8")
    return CommandModel((sys.executable, str(script)))


def test_a_command_answers_in_any_order(echo: CommandModel) -> None:
    assert answers(echo, "wait", "a", "b") == ["WAIT", "A", "B"]


def test_a_command_that_names_no_model_answers_under_its_own_name(echo: CommandModel) -> None:
    async def served() -> list[str]:
        try:
            return [(await echo.answer(ModelCall((ChatMessage("user", text),), 9))).model for text in ("no model", "a")]
        finally:
            await echo.aclose()

    assert anyio.run(served) == [echo.identity.model, "echo"]


def test_a_command_that_refuses_dies_or_babbles_is_a_failure(echo: CommandModel) -> None:
    assert answers(echo, "fail") == ["server: I can't"]
    assert answers(echo, "die")[0].startswith("network: ")
    assert answers(echo, "babble")[0].startswith("malformed: ")
    assert answers(echo, "a") == ["A"]  # it is started again


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("cut", "server"),
        ("nothing", "server"),
        ("null", "server"),
        ("no word", "malformed"),
        ("negative", "malformed"),
        ("half", "network"),
        ("counts", "malformed"),
    ],
)
def test_a_line_that_is_not_a_whole_answer_is_a_failure(echo: CommandModel, text: str, kind: str) -> None:
    assert answers(echo, text)[0].startswith(f"{kind}: ")
    assert answers(echo, "a") == ["A"]


def test_a_second_answer_to_a_question_is_never_the_answer_to_another(echo: CommandModel) -> None:
    async def whole() -> list[str]:
        said = []
        for text in ("twice", "a", "a", "a"):
            try:
                said.append((await echo.answer(ModelCall((ChatMessage("user", text),), 9))).text)
            except CallFailure as failure:
                said.append(failure.kind)
        await echo.aclose()
        return said

    assert anyio.run(whole) == ["PASS", "malformed", "A", "A"]


DEAF_AT_FIRST = """
import os, time
if not os.path.exists("heard"):
    os.read(0, 1)
    open("heard", "w").close()
    time.sleep(60)
"""


def test_a_request_that_was_cut_off_is_not_continued_by_the_next(tmp_path: Path) -> None:
    script = tmp_path / "deaf.py"
    script.write_text(DEAF_AT_FIRST + ECHO, encoding="utf-8")
    model = CommandModel((sys.executable, str(script)))

    async def whole() -> list[str]:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(model.answer, ModelCall((ChatMessage("user", "x" * 2**20),), 9))
                while not os.path.exists("heard"):
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()
        said = []
        for _ in range(2):
            try:
                said.append((await model.answer(ModelCall((ChatMessage("user", "a"),), 9))).text)
            except CallFailure as failure:
                said.append(failure.kind)
        await model.aclose()
        return said

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert anyio.run(whole) == ["network", "A"]


def test_a_command_that_does_not_exist_ends_the_run() -> None:
    found = answers(CommandModel(("/no/such/command",)), "a")
    assert found == ["denied: `/no/such/command` can't be started: no such file or directory"]


def test_a_command_that_never_answers_is_not_started_for_ever() -> None:
    model = CommandModel((sys.executable, "-c", "raise SystemExit(4)"))
    found = [answers(model, "a")[0].partition("` ") for _ in range(3)]
    assert [kind.partition(":")[0] for kind, _, _ in found] == ["network", "network", "denied"]
    assert {reason for _, _, reason in found} == {"ended before it answered (exit status 4)"}


def test_a_command_that_ends_before_it_has_read_its_input_leaves_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        assert "ended before it answered" in answers(CommandModel(("true",)), "a" * 1_000_000)[0]
    assert caplog.messages == []


def test_no_further_request_is_sent_to_a_command_that_closed_its_input(caplog: pytest.LogCaptureFixture) -> None:
    found = answers(CommandModel(("sh", "-c", "exec <&-; sleep 0.2")), *(f"{each}{'a' * 3000}" for each in range(64)))
    assert all("ended before it answered" in each for each in found)
    assert not caplog.records


def test_a_command_that_waits_for_the_end_of_its_input_gets_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "PATIENCE", 0.05)
    model = CommandModel((sys.executable, "-c", "import sys; sys.stdin.read()"))

    told = ""

    async def whole() -> None:
        nonlocal told
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(model.answer, CALL)
                while not told:
                    await anyio.sleep(0.01)
                    told = capsys.readouterr().err
                group.cancel_scope.cancel()
        await model.aclose()

    anyio.run(whole)
    assert "a command must answer each line at once, without waiting for the end of its input" in told


async def _asynchronous(call: ModelCall) -> str:
    await anyio.sleep(0)
    return call.messages[-1].content.upper()


def _whole(call: ModelCall) -> ModelAnswer:
    return ModelAnswer(call.messages[-1].content, "mine")


def _broken(call: ModelCall) -> str:
    raise ValueError("no")


def _broken_later(call: ModelCall) -> str:
    return "a" if call.messages[-1].content == "a" else _broken(call)


def test_a_callable_may_be_async_or_not_and_give_a_text_or_an_answer() -> None:
    assert answers(CallableModel("m:f", _asynchronous), "a", "b") == ["A", "B"]
    assert answers(CallableModel("m:f", _whole), "a") == ["a"]
    is_daemon = answers(CallableModel("m:f", lambda _: str(threading.current_thread().daemon)), "a")
    assert is_daemon == ["True"]  # one that never ends does not keep the process alive


_loops: set[asyncio.AbstractEventLoop] = set()


async def _keeps_its_loop(call: ModelCall) -> str:
    _loops.add(asyncio.get_running_loop())
    await asyncio.sleep(0.01)
    return str(len(_loops))


def test_all_calls_of_an_async_callable_run_in_one_loop_as_its_connections_need() -> None:
    assert answers(CallableModel("m:f", _keeps_its_loop), "a", "b", "c") == ["1", "1", "1"]


def test_a_callable_that_raises_or_gives_something_else_is_a_failure() -> None:
    assert answers(CallableModel("m:f", _broken), "a") == ["network: ValueError: no"]
    later = CallableModel("m:f", _broken_later)
    assert [*answers(later, "a"), *answers(later, "b")] == ["a", "server: ValueError: no"]
    assert answers(CallableModel("m:f", lambda _: 7), "a")[0].startswith("denied: ")
    assert "expected a text, such as `json.dumps(...)` of it, or" in answers(CallableModel("m:f", lambda _: {}), "a")[0]


def _leaves(_: ModelCall) -> str:
    sys.exit(0)


async def _leaves_later(_: ModelCall) -> str:
    sys.exit(0)


async def _cancels(_: ModelCall) -> str:
    raise asyncio.CancelledError


def _stops(_: ModelCall) -> str:
    raise StopIteration


async def _stops_its_loop(_: ModelCall) -> str:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(5)
    return "late"


@pytest.mark.parametrize("function", [_leaves, _leaves_later, _cancels, _stops, _stops_its_loop])
def test_a_callable_that_would_end_the_process_or_the_loop_is_a_failure(function: Any) -> None:
    assert answers(CallableModel("m:f", function), "a")[0].startswith("network: ")


@pytest.mark.parametrize(
    "given",
    [
        ModelAnswer(None, "m"),  # type: ignore[arg-type]
        ModelAnswer({"verdict": "PASS"}, "m"),  # type: ignore[arg-type]
        ModelAnswer("PASS", None),  # type: ignore[arg-type]
        ModelAnswer("PASS", "m", "max_tokens"),  # type: ignore[arg-type]
        ModelAnswer("PASS", "m", "stop", Usage(-1, 2)),
        ModelAnswer("PASS", "m", "stop", Usage("1", 2)),  # type: ignore[arg-type]
        b"PASS",
        None,
    ],
    ids=repr,
)
def test_an_answer_that_can_not_be_kept_is_a_failure(given: Any) -> None:
    assert answers(CallableModel("m:f", lambda _: given), "a")[0].startswith("denied: ")


def test_text_that_is_not_unicode_is_a_failure() -> None:
    assert answers(CallableModel("m:f", lambda _: "\ud800"), "a")[0].startswith("malformed: ")


@pytest.mark.parametrize("error", [ValueError("caf\udce9"), CallFailure("caf\udce9", "network", raw="\ud800")])
def test_a_failure_with_a_name_that_is_not_unicode_can_be_stored(error: Exception) -> None:
    def fail(_: ModelCall) -> str:
        raise error

    assert answers(CallableModel("m:f", fail), "a")[0].endswith(r"caf\udce9")
    assert CallFailure("", "network", raw="\ud800").raw == r"\ud800"


def test_what_callables_change_for_the_whole_process_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(call: ModelCall) -> str:
        os.chdir(tmp_path)
        sys.setrecursionlimit(10**6)
        sys.stdout = sys.stderr = None
        time.sleep(0.1 if call.messages[0].content == "a" else 0.2)
        return "b"

    monkeypatch.chdir(ROOT)
    before = os.getcwd(), sys.getrecursionlimit(), sys.stdout, sys.stderr
    assert answers(CallableModel("m:f", change), "a", "b", "a") == ["b"] * 3
    assert (os.getcwd(), sys.getrecursionlimit(), sys.stdout, sys.stderr) == before


@pytest.mark.parametrize("define", ["def", "async def"])
def test_a_callable_that_never_ends_does_not_keep_the_process_alive(define: str, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(f"import time\n{define} ask(call): time.sleep(3600)\n", encoding="utf-8")
    argv = [sys.executable, "-m", "rulewright", "models", "check", "python:slow:ask", "--timeout", "0.2"]
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, timeout=60, check=False).returncode == 3


def identity_of(specification: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The identity of a model that a new process would open."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("judge_that_is_edited", "judge_behind_another"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return repr(open_model(specification).identity)


def test_an_edited_judge_is_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the ledger would answer for it with what it said before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    script, front = tmp_path / "judge_that_is_edited.py", tmp_path / "judge_behind_another.py"
    front.write_text("from judge_that_is_edited import ask\n", encoding="utf-8")
    ways = (
        "python:judge_that_is_edited:ask",
        "python:judge_behind_another:ask",
        "command:python3 judge_that_is_edited.py",
    )
    found = []
    for said in ("PASS", "PASS", "FAIL", "its own version", "its own version, edited"):
        version = "ask.version = '7'\n" if "version" in said else ""
        script.write_text(f"def ask(call): return {said!r}\n{version}", encoding="utf-8")
        found.append([identity_of(way, monkeypatch) for way in ways])
    assert found[0] == found[1]
    assert all(before != after for before, after in zip(found[1], found[2], strict=True))
    assert found[3][:2] == found[4][:2]
    assert "version='7'" in found[4][0] or "'7'" in found[4][0]


NOISY = """
import sys
print("loading")
def ask(call):
    print("thinking")
    sys.stdout.buffer.write(b"bytes")
    return '{"answer": "yes"}'
async def ask_async(call):
    return ask(call)
"""


@pytest.mark.parametrize("name", ["ask", "ask_async"])
def test_what_a_callable_prints_never_mixes_with_the_output_of_the_command(name: str, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    argv = [sys.executable, "-m", "rulewright", "models", "check", f"python:noisy:{name}", "--format", "json"]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert json.loads(ended.stdout)["answers"] is True
    for word in (b"loading", b"thinking", b"bytes"):
        assert word in ended.stderr


def test_a_line_that_is_not_an_answer_is_shown(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text("print('Loading the model...', flush=True)\ninput()\n", encoding="utf-8")
    (found,) = answers(CommandModel((sys.executable, str(tmp_path / "chatty.py"))), "a")
    assert "wrote a line that can't be read: `Loading the model...`, but only answers belong on its" in found


def test_a_module_that_ends_the_process_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_script_without_a_guard.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(ModelError, match="can't be imported: SystemExit"):
        open_model("python:a_script_without_a_guard:ask")


def test_a_callable_is_found_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_judge.py").write_text("def ask(call): return 'yes'\nask.version = '7'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    model = open_model("python:my_own_judge:ask")
    assert model.identity.api_version == "7"
    assert answers(model, "x") == ["yes"]
