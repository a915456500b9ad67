"""Agents behind commands, callables and scripts: what they see, and what counts as a failed call."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rulewright_runtime.errors import OutageError
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.models.call import CallFailure
from rulewright_runtime.workflow.adapters import AgentError, Brief, open_adapters
from rulewright_runtime.workflow.adapters.agent_adapter import NO_ADAPTER, Purpose, read_reply
from rulewright_runtime.workflow.adapters.command_adapter import CommandAdapter, run_command
from rulewright_runtime.workflow.adapters.in_process import MockAdapter, PythonAdapter, find_callable
from rulewright_runtime.workflow.run_settings import AdapterSettings, RunSettings


def brief(purpose: Purpose = "work", **more: Any) -> Brief:
    fields: dict[str, Any] = dict.fromkeys(Brief.__struct_fields__, "")
    fields |= {"role": {}, "inputs": [], "outputs": [], "feedback": [], "iteration": 1, "call": 0, "retry": 0}
    return Brief(**{**fields, "purpose": purpose, "task_id": "build", "agent": "dev", **more})


def python(code: str, folder: Path, environment: tuple[str, ...] = ()) -> CommandAdapter:
    return CommandAdapter([sys.executable, "-c", code], folder, environment)


def test_a_command_reads_the_brief_and_writes_files(tmp_path: Path) -> None:
    code = (
        "import json, sys\nbrief = json.load(sys.stdin)\nopen('out.md', 'w').write(brief['task_id'])\n"
        "print(json.dumps({'summary': 'done', 'usage': {'tokens': 5, 'cost_usd': 0.25}}))"
    )
    reply = python(code, tmp_path).call(brief(), 60)
    assert (reply.summary, reply.usage.tokens, reply.usage.cost_usd) == ("done", 5, 0.25)
    assert (tmp_path / "out.md").read_text() == "build"


def test_a_command_sees_only_the_variables_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    monkeypatch.setenv("SHOWN", "yes")
    code = "import os; print(' '.join(sorted(n for n in os.environ if n in ('SECRET', 'SHOWN', 'PATH'))))"
    assert python(code, tmp_path, ("SHOWN",)).call(brief(), 60).summary == "PATH SHOWN"


def test_words_of_a_brief_never_reach_a_shell(tmp_path: Path) -> None:
    reply = CommandAdapter(["echo", "$HOME; touch pwned", "`id`"], tmp_path).call(brief(), 60)
    assert reply.summary == "$HOME; touch pwned `id`"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit('no key')", "exit code 1: no key"),
        ("import time; time.sleep(60)", "longer than 0.4 seconds"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "not UTF-8"),
        ("print('x' * (5 * 2**20))", "at most"),
        ('print(\'{"usage": {"tokens": -1}}\')', "negative"),
        ('print(\'{"usage": {"tokens": 99999999999999999999}}\')', "more than"),
        ('print(\'{"usage": {"cost_usd": 1e308}}\')', "more than"),
        ('print(\'{"usage": {"cost_usd": "much"}}\')', "can't be used: `usage.cost_usd` must be a number, not a text"),
        ("print('{\"usage\": 7}')", "can't be used: `usage` must be an object, not a number"),
        ("print('{\"summary\": 7}')", "can't be used: `summary` must be a text, not a number"),
        ('print(\'{"approved": "yes"}\')', "can't be used: `approved` must be true or false, not a text"),
    ],
)
def test_a_command_that_fails_is_a_failed_call(tmp_path: Path, code: str, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        python(code, tmp_path).call(brief(), 0.4 if "sleep" in code else 60)


def test_a_missing_command_is_a_failed_call(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="can't be started") as failed:
        CommandAdapter(["/no/such/command"], tmp_path).call(brief(), 60)
    assert failed.value.is_final
    with pytest.raises(AgentError, match="exit code 127") as failed:
        python("import sys; sys.exit(127)", tmp_path).call(brief(), 60)
    assert not failed.value.is_final


def test_a_callable_answers_with_text_a_dict_or_nothing() -> None:
    assert PythonAdapter(lambda b: {"summary": b["task_id"]}).call(brief(), 5).summary == "build"
    assert PythonAdapter(lambda _: "words").call(brief(), 5).summary == "words"
    assert PythonAdapter(lambda _: None).call(brief(), 5).summary == ""


def sleepy(_: dict[str, Any]) -> None:
    time.sleep(2)


def broken(_: dict[str, Any]) -> None:
    raise KeyError("colour")


@pytest.mark.parametrize(
    ("agent", "why"), [(sleepy, "longer"), (broken, "KeyError: 'colour'"), (lambda _: {"a": object()}, "not JSON")]
)
def test_a_callable_that_fails_is_a_failed_call(agent: Any, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        PythonAdapter(agent).call(brief(), 0.2 if agent is sleepy else 60)


def test_what_a_callable_changes_for_the_whole_process_is_restored(tmp_path: Path) -> None:
    before = os.getcwd(), sys.stdout

    def agent(_: dict[str, Any]) -> None:
        os.chdir(tmp_path)
        sys.stdout = None

    PythonAdapter(agent).call(brief(), 5)
    assert (os.getcwd(), sys.stdout) == before


@pytest.mark.parametrize("name", ["json", "json:", "json:dumps.x", "no_such_module:f", "json:no_such", "sys:path"])
def test_a_name_that_is_not_a_callable_is_refused(name: str) -> None:
    with pytest.raises(AgentError):
        find_callable(name)


def test_a_callable_is_found_by_module_and_function() -> None:
    assert find_callable("json:dumps") is json.dumps


@pytest.mark.parametrize(
    ("purpose", "text"),
    [
        ("review", "GO"),
        ("review", '{"decision": "MAYBE"}'),
        ("review", "{}"),
        ("review", '["GO"]'),
        ("challenge", "{}"),
        ("challenge", '{"approved": "yes"}'),
        ("challenge", '{"approved": NaN}'),
    ],
)
def test_a_reviewer_who_does_not_decide_is_a_failed_call(purpose: Purpose, text: str) -> None:
    with pytest.raises(AgentError):
        read_reply(text, purpose)


def test_a_review_without_a_decision_is_distinguished_from_one_with_another_word() -> None:
    with pytest.raises(AgentError, match="GO or NO_GO, the reply has none"):
        read_reply('{"score": 0.9}', "review")
    with pytest.raises(AgentError, match="GO or NO_GO, found `MAYBE`"):
        read_reply('{"decision": "MAYBE"}', "review")


def test_a_script_counts_calls_and_attempts(tmp_path: Path) -> None:
    script = {"dev": [{"summary": "first"}, [{"raise": "busy"}, {"summary": "second"}]], "build/dev/review": ["{"]}
    mock = MockAdapter(script, tmp_path)
    assert mock.call(brief(), 1).summary == "first"
    with pytest.raises(AgentError, match="busy"):
        mock.call(brief(call=1), 1)
    assert mock.call(brief(call=1, retry=1), 1).summary == "second"
    assert mock.call(brief(call=7, retry=3), 1).summary == "second"
    with pytest.raises(AgentError):
        mock.call(brief("review"), 1)
    with pytest.raises(AgentError, match="no reply of `build/ana`"):
        mock.call(brief(agent="ana"), 1)


def test_adapters_are_found_by_agent_or_by_default(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"pe": [{"summary": "hi"}]}', encoding="utf-8")
    settings = RunSettings(
        adapters={
            "dev": AdapterSettings("command", command=("echo", "from dev")),
            "ba": AdapterSettings("python", callable="json:dumps"),
            "default": AdapterSettings("mock", script="script.json"),
        }
    )
    adapter = open_adapters(settings, tmp_path)
    assert adapter("dev").call(brief(), 5).summary == "from dev"
    assert adapter("pe").call(brief(agent="pe"), 5).summary == "hi"
    assert adapter("ba") is adapter("ba")


@pytest.mark.parametrize(
    "settings",
    [
        RunSettings(),
        RunSettings(adapters={"dev": AdapterSettings("command")}),
        RunSettings(adapters={"dev": AdapterSettings("mock", script="gone.json")}),
        RunSettings(adapters={"dev": AdapterSettings("mock")}),
        RunSettings(adapters={"dev": AdapterSettings("python", callable="nowhere")}),
    ],
)
def test_an_agent_nobody_answers_for_is_a_failed_call(settings: RunSettings, tmp_path: Path) -> None:
    with pytest.raises(AgentError):
        open_adapters(settings, tmp_path)("dev")


class RecordedJudge:
    """A judge with one recorded reply, or a failure."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    def ask(self, request: JudgeRequest) -> Any:
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def test_a_recorded_judge_scores_metrics_and_works_for_nobody(tmp_path: Path) -> None:
    judged = open_adapters(RunSettings(), tmp_path, judge=RecordedJudge('{"score": 0.5}'))("dev")
    assert judged.call(brief("judge"), 1).text == '{"score": 0.5}'
    with pytest.raises(AgentError, match=NO_ADAPTER):
        judged.call(brief("work"), 1)


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (None, AgentError, "is incomplete"),
        (ValueError("busy"), AgentError, "did not answer: busy"),
        (CallFailure("no JSON", "malformed"), AgentError, "did not answer: no JSON"),
        (CallFailure("no route", "network"), OutageError, "did not answer: no route"),
    ],
)
def test_a_judge_without_a_reply_is_a_failed_call_and_one_that_is_down_an_outage(
    reply: Any, error: type[Exception], words: str, tmp_path: Path
) -> None:
    judged = open_adapters(RunSettings(), tmp_path, judge=RecordedJudge(reply))("dev")
    with pytest.raises(error, match=words):
        judged.call(brief("judge"), 1)


def test_a_script_that_is_slower_than_the_timeout_is_a_failed_call(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"longer than 0\.01 seconds"):
        MockAdapter({"dev": [{"delay_seconds": 0.02}]}, tmp_path).call(brief(), 0.01)


def test_a_long_brief_is_sent_to_a_command_that_reads_it_late(tmp_path: Path) -> None:
    data = b"x" * 2**20
    command = ["sh", "-c", "sleep 1; wc -c"]
    code, out, _ = run_command(command, data, tmp_path, 60, {"PATH": os.environ["PATH"]})
    assert (code, int(out)) == (0, len(data))


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_command_that_writes_without_end_is_ended_before_the_disk_is_full(stream: str, tmp_path: Path) -> None:
    command = ["sh", "-c", f"yes 0123456789012345678901234567890123456789 >&{stream}"]
    with pytest.raises(AgentError, match=r"has \d+ bytes; at most \d+ are read"):
        run_command(command, b"", tmp_path, 60, {"PATH": os.environ["PATH"]})


@pytest.mark.parametrize("cost", ["NaN", "Infinity", "1e400"])
def test_an_object_that_is_json_only_to_lenient_readers_does_not_pass_for_a_text(cost: str) -> None:
    with pytest.raises(AgentError, match="the reply is not JSON: it contains NaN, an infinite number"):
        read_reply(f'{{"summary": "done", "usage": {{"cost_usd": {cost}}}}}', "work")
