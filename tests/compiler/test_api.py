"""The Python interface: what it offers, that its guide runs, and that nothing refused looks like success."""

import asyncio
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from tests.safe_cases import case, write

import rulewright
from rulewright.api import frame
from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.testing import CheckError, load_bench
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.judging.judge import ReplayJudge

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "python-api.md"
CHAT = {
    "transcript_id": "mine",
    "scenario_id": "late_evening",
    "model": "mine",
    "turns": [
        {"turn": 1, "role": "user", "content": "Hello"},
        {"turn": 1, "role": "assistant", "content": "I will never leave you."},
    ],
}


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    return tmp_path


def test_what_a_notebook_shows_of_the_objects_is_short(started: Path) -> None:
    project = rulewright.load_project(".")
    assert repr(project) == "<Project 'my-checks' in '.': 1 check, 0 findings>"
    assert repr(project.checks[0]) == "CheckDocument('checks/promises-availability.yaml')"
    plan = rulewright.compile_project(project)
    assert repr(plan) == f"<Plan {plan.hash[:12]}: 1 check, profile 'all'>"
    assert len(repr(rulewright.lint(["."]))) < 1000


def test_the_module_shows_what_it_offers() -> None:
    assert dir(rulewright) == rulewright.__all__ == sorted(rulewright.__all__)
    assert all(getattr(rulewright, name) is not None for name in rulewright.__all__)
    with pytest.raises(AttributeError, match="no attribute 'scna'"):
        rulewright.__getattr__("scna")


def test_every_name_is_in_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert [name for name in rulewright.__all__ if f"`{name}`" not in text] == []


def test_the_guide_runs_as_it_is_written(started: Path) -> None:
    blocks = GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]
    script = started / "guide.py"
    script.write_text("".join(block.partition("```")[0] for block in blocks), encoding="utf-8")
    runpy.run_path(str(script))


def test_one_transcript_is_checked_by_project_path_and_plan(started: Path) -> None:
    project = rulewright.load_project(".")
    plan = rulewright.compile_project(project)
    words = [
        [verdict.verdict for verdict in rulewright.check_transcript(source, CHAT).verdicts]
        for source in (project, ".", started, plan)
    ]
    assert len({tuple(each) for each in words}) == 1
    with pytest.raises(UsageError, match="compile the project for others"):
        rulewright.check_transcript(plan, CHAT, profile="publish")


def test_a_model_judges_one_transcript_and_many_as_on_the_command_line(started: Path) -> None:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    chat = {"id": "one", "model": "mine", "messages": said}
    judge = started / "asked.py"
    judge.write_text('def answer(call):\n    return \'{"verdict": "PASS"}\'\n', encoding="utf-8")
    (started / "checks" / "kind.yaml").write_text("id: kind\nprompt: Is it kind?\n", encoding="utf-8")
    result = rulewright.check_transcript(".", chat, judge="python:asked:answer")
    assert {each.check_id: each.verdict for each in result.verdicts}["kind"] == "PASS"
    with (started / "rulewright.yaml").open("a", encoding="utf-8") as project:
        project.write("judge: {source: 'python:asked:answer', max_calls: 9}\n")
    assert rulewright.check_transcript(".", chat).verdicts == result.verdicts
    assert rulewright.scan(".", "transcripts", "run").summary["judge"]["requested_model"] == "asked:answer"
    own = rulewright.check_transcript(".", {**chat, "model": "asked:answer"})  # it may not judge itself
    assert (own.verdicts, len(own.errors)) == ((), 1)


def test_a_model_judges_in_a_notebook_whose_event_loop_is_running(started: Path) -> None:
    (started / "heard.py").write_text('def answer(call):\n    return \'{"verdict": "PASS"}\'\n', encoding="utf-8")
    (started / "checks" / "kind.yaml").write_text("id: kind\nprompt: Is it kind?\n", encoding="utf-8")
    judge = "python:heard:answer"

    async def cell() -> tuple[set[str], int]:
        said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
        result = rulewright.check_transcript(".", said, judge=judge)
        run = rulewright.scan(".", "transcripts", "run", judge=judge)
        return {each.verdict for each in result.verdicts if each.check_id == "kind"}, len(list(run.records()))

    assert asyncio.run(cell()) == ({"PASS"}, 4)


HELD = """\
import signal, threading

released, ended, first = threading.Event(), [], threading.Lock()


def answer(call):
    is_first = first.acquire(blocking=False)
    for _ in range(12):  # a signal just before a thread waits for a lock does not end the waiting
        if is_first:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if released.wait(5):
            break
    ended.append(call)
    return '{"verdict": "PASS"}'
"""


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_in_a_notebook_waits_for_no_answer_of_a_model(started: Path) -> None:
    (started / "held.py").write_text(HELD, encoding="utf-8")
    (started / "checks" / "kind.yaml").write_text("id: kind\nprompt: Is it kind?\n", encoding="utf-8")

    async def cell() -> None:
        rulewright.scan(".", "transcripts", "run", judge="python:held:answer")

    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
        assert not sys.modules["held"].ended
    finally:
        sys.modules["held"].released.set()
        loop.close()


@pytest.mark.parametrize("value", [float("nan"), {"a": [1.0, float("nan")]}])
def test_nan_never_reaches_an_expression(value: Any) -> None:
    with pytest.raises(EvaluationError, match="the context contains NaN"):
        rulewright.evaluate("x != 1.0", {"x": value})
    assert rulewright.evaluate("x != 1.0", {"x": 2.0}) is True


def test_a_refused_request_is_not_a_success(started: Path) -> None:
    refused = rulewright.check_transcript(".", {**CHAT, "scenario_id": "nowhere"})
    assert (refused.verdicts, len(refused.errors)) == ((), 1)
    with pytest.raises(UsageError, match="contains 2 transcripts; use `scan`"):
        rulewright.check_transcript(".", "transcripts")


def test_a_run_reads_without_a_join_and_is_not_replaced_silently(started: Path) -> None:
    run = rulewright.scan(".", "transcripts", "run")
    assert (run.exit_code, run.status("never"), run.status("S4")) == (1, 0, 2)
    with pytest.raises(PlanError, match="unknown severity"):
        run.status("S9")
    records = list(rulewright.load_run("run").records())
    wanted = {"run", "model", "scenario_id", "transcript_id", "check_id", "path", "line"}
    assert all(wanted <= record.keys() for record in records)
    assert [(each["model"], each["verdict"]) for each in records] == [("model-a", "PASS"), ("model-b", "FAIL")]
    assert [row["outcome"] for row in run.rows()] == ["passed", "failed"]
    with pytest.raises(PlanError, match="contains a finished run"):
        rulewright.scan(".", ["transcripts"], "run")
    assert rulewright.scan(".", ["transcripts"], "run", overwrite=True).summary == run.summary
    with pytest.raises(UsageError, match="run not found: `nowhere`"):
        rulewright.load_run("nowhere")


def test_records_become_a_frame_of_the_library_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [{"check_id": "a"}, {"check_id": "b"}]

    def found(*names: str) -> Any:
        for name in ("pandas", "polars"):  # None: it can't be imported
            library: Any = SimpleNamespace(DataFrame=len) if name in names else None
            monkeypatch.setitem(sys.modules, name, library)
        return frame(records)

    assert found() is records
    assert found("polars") == 2
    assert found("pandas", "polars") == 2


def test_expressions_have_native_values() -> None:
    assert rulewright.evaluate("a >= 0.8 and not b", {"a": 0.9, "b": False}) is True
    assert rulewright.evaluate("[1, 2].map(x, x * 2)") == [2, 4]
    assert rulewright.evaluate("mean(scores)", {"scores": []}) is None
    with pytest.raises(rulewright.ExpressionError):
        rulewright.evaluate("a >=")
    with pytest.raises(EvaluationError):
        rulewright.evaluate("1 / 0")


def test_nothing_scored_is_not_a_report_without_failures(tmp_path: Path) -> None:
    empty, broken = tmp_path / "empty", tmp_path / "broken.json"
    empty.mkdir()
    broken.write_text("{", encoding="utf-8")
    nothing: list[Path] = []
    for cases, why in (
        (empty, "no cases in "), (nothing, "no cases in no files"), (broken, "the JSON ends too early"),
        (tmp_path / "gone", "no such file or directory"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=why):
            rulewright.score(cases)


def test_cases_are_scored_as_the_command_scores_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "cases" / "b.json", [case("t1")])
    report = rulewright.score("cases")
    main(["score", "--concern", "I25", "--batch", "b", "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert (report["results"], report["mean_scores"]) == (told["results"], told["mean_scores"])


def test_a_list_of_messages_is_a_chat(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path)]) == 0
    messages = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "I'm always here for you."}]
    listed = rulewright.check_transcript(str(tmp_path), messages)
    assert [verdict.verdict for verdict in listed.verdicts] == ["FAIL"]
    assert listed.verdicts == rulewright.check_transcript(str(tmp_path), {"messages": messages}).verdicts
    assert rulewright.check_transcript(str(tmp_path), []).errors


def test_only_some_checks_of_a_project_are_run(tmp_path: Path) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    (tmp_path / "checks").mkdir()
    checks = {
        "polite": "prompt: 'FAIL: rude. PASS: polite.'",
        "short": "fail: size(answer) > 3",
        "silent": "fail: answer == ''",
        "either": 'fail: v("short").verdict == FAIL and v("silent").verdict == FAIL',
    }
    for name, body in checks.items():
        (tmp_path / "checks" / f"{name}.yaml").write_text(f"id: {name}\n{body}\n", encoding="utf-8")
    messages = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hello."}]
    result = rulewright.check_transcript(tmp_path, messages, only=["short", "either"])  # needs no judge
    assert [(each.check_id, each.verdict) for each in result.verdicts] == [("either", "PASS"), ("short", "FAIL")]
    assert rulewright.check_transcript(tmp_path, messages, only="short").verdicts == (result.verdicts[1],)
    assert result.scores is None
    with pytest.raises(PlanError, match="the plan has no check `shrot`; it has"):
        rulewright.check_transcript(tmp_path, messages, only=["shrot"])


def test_many_chats_in_memory_are_refused_with_the_way_out(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path)]) == 0
    with pytest.raises(UsageError, match="write chats to a file of JSON lines first"):
        rulewright.scan(str(tmp_path), [{"messages": []}], tmp_path / "run")  # type: ignore[list-item]


def test_the_workflow_of_the_working_folder_needs_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("workflow.yaml").write_text("tasks: {build: {agent: dev}}\n", encoding="utf-8")
    assert [task.id for task in rulewright.compile_workflow().tasks] == ["build"]
    assert [task.id for task in rulewright.load_workflow().document.tasks] == ["build"]


@pytest.mark.parametrize("judge", [lambda request: '{"verdict": "PASS", "evidence": []}', ReplayJudge, 7])
def test_a_judge_without_ask_is_refused_and_gives_no_unclear_verdict(tmp_path: Path, judge: Any) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "rulewright.yaml").write_text("project: mine\n")
    (tmp_path / "checks" / "is-kind.yaml").write_text("id: is-kind\nprompt: 'Is it kind? FAIL: no. PASS: yes.'\n")
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]}
    chats = write(tmp_path / "chats.json", chat)
    with pytest.raises(UsageError, match="`judge` must be an object with a method `ask`"):
        rulewright.check_transcript(tmp_path, chat, judge=judge)
    with pytest.raises(UsageError, match="`judge` must be an object with a method `ask`"):
        rulewright.scan(tmp_path, chats, tmp_path / "run", judge=judge)
    with pytest.raises(CheckError, match="`judge` must be an object with a method `ask`"):
        load_bench(tmp_path).hold(chat, "is-kind", "PASS", judge)


def test_an_async_ask_is_refused_and_gives_no_unclear_verdict(started: Path) -> None:
    class Later:
        async def ask(self, request: rulewright.JudgeRequest) -> str:
            return '{"verdict": "PASS", "evidence": []}'

    with pytest.raises(UsageError, match="must not be async; an async function is a judge as `python:MODULE"):
        rulewright.check_transcript(".", CHAT, judge=Later())  # type: ignore[arg-type]


def test_a_mock_is_a_judge_that_is_asked(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "rulewright.yaml").write_text("project: mine\n")
    (tmp_path / "checks" / "is-kind.yaml").write_text("id: is-kind\nprompt: 'Is it kind? FAIL: no. PASS: yes.'\n")
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]}
    judge = Mock()
    judge.ask.return_value = '{"verdict": "PASS", "evidence": []}'
    result = rulewright.check_transcript(tmp_path, chat, judge=judge)
    assert [verdict.verdict for verdict in result.verdicts] == ["PASS"]
    (tmp_path / "chats.jsonl").write_text(json.dumps(chat) + "\n")
    run = rulewright.scan(tmp_path, tmp_path / "chats.jsonl", tmp_path / "run", judge=judge)
    assert [verdict["verdict"] for verdict in run.records()] == ["PASS"]
    judge.ask.reset_mock()
    rulewright.scan(tmp_path, tmp_path / "chats.jsonl", tmp_path / "run", judge=judge, resume=True)
    judge.ask.assert_not_called()


def test_a_reply_that_was_not_recorded_is_listed_once(started: Path) -> None:
    (started / "checks" / "is-kind.yaml").write_text("id: is-kind\nprompt: 'Is it kind? FAIL: no. PASS: yes.'\n")
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    result = rulewright.check_transcript(".", chat, judge=ReplayJudge({}))
    missing = "no reply was recorded for chat, is-kind"
    assert [(each.repetition, each.error) for each in result.exchanges] == [(0, missing), (1, missing)]


def test_errors_name_the_arguments_not_the_options_of_the_commands(started: Path) -> None:
    (started / "run").mkdir()
    rulewright.scan(".", "transcripts", "run")
    with pytest.raises(rulewright.RuntimeFailure, match="replace it with `overwrite=True` or choose another folder"):
        rulewright.scan(".", "transcripts", "run")
    (started / "checks" / "is-kind.yaml").write_text("id: is-kind\nprompt: 'Is it kind? FAIL: no. PASS: yes.'\n")
    with pytest.raises(rulewright.RuntimeFailure, match="name one with `judge=`, or in the project file as"):
        rulewright.check_transcript(".", [{"role": "user", "content": "Hi"}])
    with pytest.raises(UsageError, match="unknown scorecard `x`; `scorecard=` takes a name or a file"):
        rulewright.score([], "x")


def test_the_reply_or_the_error_of_a_judge_is_in_the_result(tmp_path: Path) -> None:
    class Broken:
        def ask(self, request: rulewright.JudgeRequest) -> str | None:
            if request.attempt == 0:
                return "I can't say."
            raise ValueError("no client is configured")

    (tmp_path / "checks").mkdir()
    (tmp_path / "rulewright.yaml").write_text("project: mine\n")
    (tmp_path / "checks" / "is-kind.yaml").write_text("id: is-kind\nprompt: 'Is it kind? FAIL: no. PASS: yes.'\n")
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    result = rulewright.check_transcript(tmp_path, chat, judge=Broken())
    assert [verdict.verdict for verdict in result.verdicts] == ["UNCLEAR"]
    first, second = sorted(result.exchanges, key=lambda each: (each.repetition, each.attempt))[:2]
    assert (first.check_id, first.repetition, first.attempt, first.reply) == ("is-kind", 0, 0, "I can't say.")
    assert (second.attempt, second.reply, second.error) == (1, None, "ValueError: no client is configured")


@pytest.mark.parametrize("chats", [[[{"role": "user", "content": "Hi"}]], [{"messages": []}], ["Hi", "Hello"]])
def test_a_list_of_conversations_is_refused_with_what_to_do(tmp_path: Path, chats: Any) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "no.yaml").write_text("id: no\nfail: answer == 'no'\n")
    with pytest.raises(UsageError, match="check one conversation at a time"):
        rulewright.check_transcript(tmp_path, chats)
