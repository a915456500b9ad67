"""Plug-ins that end the process, replace it, leave threads and children behind or never return.

The figure that passes is 0: no command ends with the status of a plug-in, none with that of a pass before its result
is written, and none waits for ever.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.folders import json_lines

from rulewright.cli import main
from rulewright_runtime.functions.table import PLUGIN_FUNCTIONS
from rulewright_runtime.processes import user_code

PLUG_IN = """\
import os, sys, threading, time
from rulewright_runtime.plugins import function

{on_import}


@function("(string) -> bool")
def given(value):
    {body}
    return True


class Judge:
    def __init__(self, argument):
        pass

    def ask(self, request):
        {ask}
        return "{{}}"
"""
ENTRY_POINTS = """\
[rulewright.functions]
acme.given = acme_hostile:given
[rulewright.judges]
acme = acme_hostile:Judge
"""
CHATS = json_lines(
    {"messages": [{"role": "user", "content": f"Hi {number}"}, {"role": "assistant", "content": "Yes."}]}
    for number in range(5)
)


class Shop:
    """A project whose check calls a plug-in, or asks one as its judge."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site, self.run = folder, folder / "site-packages", folder / "run"
        info = self.site / "acme_hostile-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-hostile\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(ENTRY_POINTS)
        (folder / "checks").mkdir()
        (folder / "chats.jsonl").write_text(CHATS)

    def plug_in(
        self, body: str = "pass", *, on_import: str = "", ask: str = "pass", check: str = "pass: acme.given(answer)"
    ) -> None:
        """Install a plug-in whose function, module or judge runs the code."""
        (self.site / "acme_hostile.py").write_text(PLUG_IN.format(body=body, on_import=on_import, ask=ask))
        used = "" if check.startswith("prompt") else "plugins: [acme-hostile]\n"
        (self.folder / "rulewright.yaml").write_text(f"project: shop\n{used}")
        (self.folder / "checks" / "polite.yaml").write_text(f"id: polite\n{check}\n")

    def words(self, *more: str) -> list[str]:
        return ["scan", str(self.folder / "chats.jsonl"), "--project", str(self.folder), "-o", str(self.run), *more]

    def scan(self, *more: str) -> subprocess.CompletedProcess[str]:
        """Scan in a process of its own, which must end within a minute."""
        argv = [sys.executable, "-m", "rulewright", *self.words(*more)]
        environment = {**os.environ, "PYTHONPATH": str(self.site)}
        return subprocess.run(argv, env=environment, capture_output=True, encoding="utf-8", timeout=60)

    @property
    def verdicts(self) -> list[str]:
        return [json.loads(line)["verdict"] for line in (self.run / "verdicts.jsonl").read_text().splitlines()]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def shop_here(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """The shop, with its plug-in installed in this process."""
    monkeypatch.syspath_prepend(shop.site)
    monkeypatch.setattr(user_code, "SECONDS", 60.0)
    yield shop
    PLUGIN_FUNCTIONS.clear()
    sys.modules.pop("acme_hostile", None)


IN_A_THREAD = "ending = threading.Thread(target=lambda: os._exit(0)); ending.start(); ending.join()"


@pytest.mark.parametrize(
    ("body", "jobs"),
    [
        ("os._exit(0)", "1"),
        ("os._exit(0)", "2"),
        ("os.execv('/bin/true', ['true'])", "2"),
        ("raise GeneratorExit", "1"),
    ],
)
def test_a_function_that_ends_or_replaces_the_process_leaves_its_check_undecided(
    shop: Shop, body: str, jobs: str
) -> None:
    shop.plug_in(body)
    ended = shop.scan("--jobs", jobs)
    assert ended.returncode == 2, ended.stderr
    assert shop.verdicts == ["UNCLEAR"] * 5


def test_a_thread_of_a_plug_in_can_not_end_the_process(shop: Shop) -> None:
    shop.plug_in(IN_A_THREAD)
    assert shop.scan().returncode == 0
    assert shop.verdicts == ["PASS"] * 5


def test_a_plug_in_that_ends_the_process_when_it_is_imported_is_refused(shop: Shop) -> None:
    shop.plug_in(on_import="os._exit(0)")
    assert shop.scan().returncode == 3


def test_what_a_plug_in_does_at_exit_changes_no_status(shop: Shop) -> None:
    shop.plug_in(on_import="import atexit; atexit.register(os._exit, 0)", check="pass: not acme.given(answer)")
    assert shop.scan().returncode == 1


def test_a_child_process_that_a_plug_in_forks_does_not_continue_the_run(shop: Shop) -> None:
    shop.plug_in("os.fork() and os.wait()")
    ended = shop.scan()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert shop.verdicts == ["PASS"] * 5


@pytest.mark.parametrize(
    "body",
    [
        "os.makedirs('elsewhere', exist_ok=True); os.chdir('elsewhere')",
        "sys.stdout = None",
        "sys.stderr = None",
        "sys.stdout.close()",
        "sys.stderr.close()",
        "import io; io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')",
        "sys.setrecursionlimit(10**6)",
    ],
)
def test_a_function_that_changes_the_working_folder_or_the_streams_changes_nothing_of_the_run(
    shop_here: Shop, body: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shop_here.plug_in(body, check="pass: not acme.given(answer)")
    monkeypatch.chdir(shop_here.folder)
    streams, recursion = sys.stderr, sys.getrecursionlimit()
    assert main(["scan", "chats.jsonl", "-o", "run", "--no-cache"]) == 1
    assert (sys.stderr, sys.getrecursionlimit()) == (streams, recursion)
    assert shop_here.verdicts == ["FAIL"] * 5
    assert "run/summary.md" in capsys.readouterr().out
    assert not list(shop_here.folder.rglob("*.part"))


PRECISE = "string(double(size(answer)) + 0.8125) == '4.8125'"


def test_a_function_that_changes_the_precision_of_decimals_changes_no_other_condition(shop_here: Shop) -> None:
    shop_here.plug_in("import decimal; decimal.getcontext().prec = 1", check=f"pass: acme.given(answer) and {PRECISE}")
    assert main(shop_here.words("--no-cache")) == 0
    assert shop_here.verdicts == ["PASS"] * 5


def test_a_closed_output_is_not_a_success(shop: Shop) -> None:
    shop.plug_in("sys.__stdout__.close()")
    ended = shop.scan()
    assert ended.returncode == 3
    assert ended.stderr == "error: the standard output can't be written: I/O operation on closed file.\n"


def test_a_thread_that_a_plug_in_starts_prints_to_the_standard_error(shop: Shop) -> None:
    shop.plug_in("talking = threading.Thread(target=print, args=('lost',)); talking.start(); talking.join()")
    ended = shop.scan()
    assert (ended.returncode, ended.stderr, "lost" in ended.stdout) == (0, "lost\n" * 5, False)


def test_a_thread_that_a_plug_in_leaves_running_is_not_waited_for(shop: Shop) -> None:
    shop.plug_in(on_import="threading.Thread(target=time.sleep, args=(600,)).start()", check="pass: not acme.given('')")
    assert shop.scan().returncode == 1


@pytest.mark.parametrize("ask", ["os._exit(0)", "sys.exit(0)", "raise GeneratorExit"])
def test_a_judge_that_ends_the_process_gives_no_reply(shop: Shop, ask: str) -> None:
    shop.plug_in(ask=ask, check="prompt: Is it polite?")
    ended = shop.scan("--judge", "plugin:acme")
    assert ended.returncode == 2, ended.stderr
    assert shop.verdicts == ["UNCLEAR"] * 5


SOON = "from rulewright_runtime.processes import user_code; user_code.SECONDS = 0.2"  # later: it may be slow to import
NEVER = [
    "while True: pass",
    "time.sleep(600)",
    "threading.Lock().acquire() and threading.Event().wait()",
    "import re; re.match('(a+)+b', 'a' * 60)",
    "    \n    while True:\n        try: time.sleep(600)\n        except BaseException: time.sleep(2)".strip(),
]


@pytest.mark.parametrize("body", NEVER)
def test_a_function_that_never_returns_is_stopped_and_ends_the_run_when_that_happens_again(
    shop_here: Shop, body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shop_here.plug_in(body, on_import=SOON)
    started = time.monotonic()
    assert main(shop_here.words("--no-cache")) == 3
    assert time.monotonic() - started < 300
    assert "`acme.given` of `acme-hostile` 1.2 returned no result within 0.2 s, 3 times" in capsys.readouterr().err


def test_a_function_that_does_not_return_once_leaves_that_check_undecided(shop_here: Shop) -> None:
    late = "slow.append(1), signal.raise_signal(signal.SIGALRM), time.sleep(600)"  # as if the alarm went off
    shop_here.plug_in(f"value == 'Yes.' and not slow and ({late})", on_import="import signal; slow = []")
    assert main(shop_here.words("--no-cache")) == 2
    assert shop_here.verdicts == ["UNCLEAR", "PASS", "PASS", "PASS", "PASS"]
    reason = json.loads((shop_here.run / "verdicts.jsonl").read_text().splitlines()[0])["extra"]["undecided"]
    assert reason == "plug_in_failed: `acme.given` failed: no result within 60 s"


def test_a_plug_in_judge_that_never_answers_ends_the_run(shop_here: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop_here.plug_in(on_import=SOON, ask="time.sleep(600)", check="prompt: Is it polite?")
    assert main(shop_here.words("--no-cache", "--judge", "plugin:acme")) == 3
    assert "returned no result within 0.2 s, 3 times" in capsys.readouterr().err


def test_a_module_that_never_ends_to_be_imported_is_refused(
    shop_here: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(user_code, "SECONDS", 0.2)
    shop_here.plug_in(on_import="time.sleep(600)")
    assert main(shop_here.words("--no-cache")) == 3
    assert "can't be loaded" in capsys.readouterr().err
