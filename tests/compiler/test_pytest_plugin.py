"""The plug-in for pytest, run by pytest as it is installed: the fixture, examples as tests, and what failures say."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.model_server import chat, model_server

from rulewright import pytest_plugin

CHECK = """id: no-promises
each: reply
fail: contains_any(turn.content, ["i promise"])
examples:
  - verdict: PASS
    chat: [user: "When?", assistant: It ships today.]
  - name: a broken promise
    verdict: PASS
    chat: [user: "When?", assistant: "Today, I *promise*."]
"""
JUDGED = "id: polite\nprompt: Is it?\nexamples:\n  - verdict: PASS\n    chat: [user: a, assistant: b]\n"
TESTS = """
def chat(reply):
    return {"messages": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": reply}]}

def test_good(rulewright_check):
    assert rulewright_check(chat("Today."), "no-promises").verdict == "PASS"

def test_expected(rulewright_check):
    found = rulewright_check(chat("I promise."), "no-promises", expect="FAIL")
    assert found.evidence[0].quote == "I promise"

def test_bad(rulewright_check):
    rulewright_check(chat("I promise."), "no-promises")

def test_unknown(rulewright_check):
    rulewright_check(chat("Today."), "no-promise")

def test_refused(rulewright_check):
    rulewright_check({"messages": []}, "no-promises")

def test_messages(rulewright_check):
    rulewright_check(chat("Today.")["messages"], "no-promises")

def test_no_chat(rulewright_check):
    rulewright_check(["Today."], "no-promises")

def test_without_judge(rulewright_check):
    rulewright_check(chat("Today."), "polite")

class Judge:
    def ask(self, request):
        return '{"verdict": "PASS", "rationale": "yes", "evidence": []}'

def test_with_judge(rulewright_check):
    rulewright_check(chat("Today."), "polite", judge=Judge())

def test_without_a_reason(rulewright_check):
    rulewright_check(chat("Today."), "polite", judge=Judge(), expect="UNCLEAR")

def test_in_a_project_that_is_not_there(rulewright_check):
    rulewright_check(chat("Today."), "no-promises", project="nowhere")

def test_of_no_verdict(rulewright_check):
    rulewright_check(chat("I promise."), "no-promises", expect="fail")
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "checks").mkdir()
    (tmp_path / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
    (tmp_path / "checks" / "no-promises.yaml").write_text(CHECK, encoding="utf-8")
    (tmp_path / "checks" / "polite.yaml").write_text(JUDGED, encoding="utf-8")
    (tmp_path / "test_bot.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> str:
    """What pytest prints in a process of its own, with no installed plug-in but ours."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "--color=no", *words]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "120"}
    ours = ["-p", "rulewright.pytest_plugin"]
    done = subprocess.run([*command, *ours], cwd=folder, capture_output=True, text=True, env=environment, timeout=120)
    return " ".join((done.stdout + done.stderr).split())  # however wide the terminal


@pytest.fixture
def run_here(shop: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What pytest prints in this process, where `sys.path` stays as it is."""
    monkeypatch.chdir(shop)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "120")

    def run(*words: str) -> str:
        # at its end that plug-in would collect garbage five times
        quick = ["-p", "no:cacheprovider", "-p", "no:unraisableexception", "--import-mode=importlib"]
        pytest.main([*quick, "-rs", "--color=no", *words], plugins=[pytest_plugin])
        return " ".join("".join(capfd.readouterr()).split())

    return run


def test_a_judge_that_raises_is_reported_with_its_exception(shop: Path, run_here: Callable[..., str]) -> None:
    test = """
class Judge:
    def ask(self, request):
        raise KeyError("no such region")

def test_it(rulewright_check):
    rulewright_check([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "polite", judge=Judge())
"""
    (shop / "test_raises.py").write_text(test, encoding="utf-8")
    shown = run_here("test_raises.py")
    assert "because the judge gave no usable reply" in shown
    assert "= help: the judge failed: KeyError: 'no such region'" in shown


def test_a_wrong_argument_is_named_with_the_right_one(shop: Path, run_here: Callable[..., str]) -> None:
    (shop / "rulewright.yaml").write_text("project: shop\njudge: {source: 'openai:m@http://127.0.0.1:9/v1'}\n")
    test = """
CHAT = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]

def test_several(rulewright_check):
    rulewright_check(CHAT, ["no-promises", "polite"])

def test_reply(rulewright_check):
    rulewright_check("It ships today.", "no-promises")

def test_own_judge(rulewright_check):
    rulewright_check(CHAT, "polite")
"""
    (shop / "test_wrong.py").write_text(test, encoding="utf-8")
    shown = run_here("test_wrong.py")
    assert "expected the id of one check, got `['no-promises', 'polite']`; test several with `pytest.mark" in shown
    assert 'chat: `It ships today.` is not a file; a reply is checked in its chat: [{"role": "user", ' in shown
    assert "as `judge=`; tests do not ask the project's judge `openai:m@http://127.0.0.1:9/v1` by themselves" in shown
    assert "Traceback" not in shown


def test_a_relative_project_is_that_of_the_working_folder(shop: Path) -> None:
    for name, words in (("first", "never said"), ("second", "Today")):
        (shop / name / "checks").mkdir(parents=True)
        check = f'id: no-words\neach: reply\nfail: contains_any(turn.content, ["{words}"])\n'
        (shop / name / "checks" / "no-words.yaml").write_text(check, encoding="utf-8")
        (shop / name / "rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    test = """
import pytest
from test_bot import chat

@pytest.mark.parametrize(("folder", "expect"), [("first", "PASS"), ("second", "FAIL")])
def test_here(folder, expect, rulewright_check, monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath / folder)
    rulewright_check(chat("Today."), "no-words", expect=expect, project=".")
"""
    (shop / "test_here.py").write_text(test, encoding="utf-8")
    assert "2 passed" in run(shop, "test_here.py")


def test_the_fixture_holds_a_chat_against_a_check(shop: Path) -> None:
    shown = run(shop, "test_bot.py")
    assert "8 failed, 4 passed" in shown
    assert f"no such file or folder: `{shop / 'nowhere'}`" in shown
    assert "unknown verdict `fail` in `expect`; did you mean `FAIL`?" in shown
    assert "the verdict is PASS, expected UNCLEAR -->" in shown
    assert "chat: expected a record, a list of messages, a `Transcript` or the path of a file" in shown
    failure = """error[no-promises]: the verdict is FAIL, expected PASS, because its condition `fail` holds
 --> {path}:3:7
  |
3 | fail: contains_any(turn.content, ["i promise"])
  |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: turn 1, assistant: `I promise`
"""
    assert " ".join(failure.replace("{path}", str(shop / "checks" / "no-promises.yaml")).split()) in shown
    assert "unknown check `no-promise`; did you mean" in shown
    assert "did you mean `no-promises`?" in shown
    assert "`polite` asks a judge: give one with `--rulewright-judge`, or as `judge=`" in shown
    assert "Traceback" not in shown


def test_the_examples_of_check_files_are_tests(shop: Path, run_here: Callable[..., str]) -> None:
    assert "no tests ran" in run_here("checks")  # nobody asked for these files
    shown = run_here("checks/no-promises.yaml", "checks/polite.yaml")
    assert "1 failed, 1 passed, 1 skipped" in shown
    assert "error[check-misses-own-example]: `no-promises` gives FAIL for a broken promise, which expects PASS" in shown
    assert "`I *promise`" in shown
    assert "`polite` asks a judge: give one with `--rulewright-judge`" in shown
    (shop / "pytest.ini").write_text("[pytest]\nrulewright_checks = checks\n", encoding="utf-8")
    assert "1 failed, 1 passed, 1 skipped" in run_here("checks")
    (shop / "pytest.ini").write_text("[pytest]\nrulewright_checks = cheks\n", encoding="utf-8")
    assert "`rulewright_checks` names `cheks`, which is not a folder" in run_here("checks")
    (shop / "pytest.ini").unlink()
    (shop / "checks" / "polite.yaml").write_text("id: polite\nfail: nothing\n", encoding="utf-8")
    broken = run(shop, "checks/no-promises.yaml")
    assert "unknown name `nothing`" in broken
    assert "Traceback" not in broken


def test_a_judge_without_any_verdict_is_reported_and_asked_no_more(shop: Path) -> None:
    tests = "import pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_it(rulewright_check, n):\n"
    tests += (
        "    rulewright_check([{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': str(n)}], 'polite')\n"
    )
    (shop / "test_bot.py").write_text(tests, encoding="utf-8")
    with model_server(lambda *_: chat("Sure!")) as server:
        words = ("test_bot.py", "--rulewright-judge", f"openai:m@{server.base}")
        shown = run(shop, *words)
        assert len(server.requests) == 16
        assert "the verdict is UNCLEAR, expected PASS, because the judge gave no usable reply" in shown
        assert "none of the first 16 replies of the judge is a verdict" in shown
        run(shop, *words)
        assert len(server.requests) == 32


def test_examples_are_tests_next_to_the_paths_of_the_other_tests(shop: Path, run_here: Callable[..., str]) -> None:
    """With `testpaths` pytest enters no other folder, so that the examples were never tried and the build was green."""
    (shop / "own").mkdir()
    (shop / "own" / "test_own.py").write_text("def test_own():\n    pass\n", encoding="utf-8")
    (shop / "checks" / "no-promises.yaml").rename(shop / "checks" / "no-promises.YAML")
    for paths in ("own", "own checks", "own ."):
        settings = f"[pytest]\nrulewright_checks = checks\ntestpaths = {paths}\npython_files = test_own.py\n"
        (shop / "pytest.ini").write_text(settings, encoding="utf-8")
        assert "1 failed, 2 passed, 1 skipped" in run_here(), paths
    assert "1 passed" in run_here("own")


def test_the_plug_in_is_registered_and_imports_no_compiler() -> None:
    program = (
        "import sys, pytest, importlib.metadata as m\n"
        "(entry,) = [e for e in m.entry_points(group='pytest11') if e.name == 'rulewright']\n"
        "before = set(sys.modules); entry.load()\n"
        "print(sorted(n for n in set(sys.modules) - before if n.partition('.')[0] in"
        " {'rulewright', 'rulewright_runtime', 'lark', 'yaml', 'jsonschema', 'msgspec', 're2'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['rulewright', 'rulewright.pytest_plugin']"
