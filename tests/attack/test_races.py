"""Two writers of one place: one writes, the other is refused in words, and no file holds lines of both.

The figure that passes is 0: no torn file, no second writer at work, no lock that outlives its process.
"""

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.attack.disk import content
from tests.attack.test_kills import Model
from tests.compiler.small_project import check as check_file
from tests.compiler.small_project import write
from tests.folders import write_turns
from tests.runtime.plans import Scripted, asked, check, plan, reply
from tests.safe_cases import case
from tests.safe_cases import write as write_cases

from rulewright.cli import main
from rulewright_runtime import __main__ as runtime
from rulewright_runtime.errors import BusyError
from rulewright_runtime.files.atomic import open_whole, write_whole
from rulewright_runtime.files.locks import lock, lock_file, lock_folder
from rulewright_runtime.harness import harness_run as harness
from rulewright_runtime.harness.harness_plan import RunPlan, Script, ScriptSession, ScriptTurn
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.runs import store

ROOT = Path(__file__).resolve().parents[2]
PLAN = plan(check(), asked(name="X2"))
RACES = range(10)


class Slow(Scripted):
    """A judge that takes its time, so that writers meet."""

    def ask(self, request: JudgeRequest) -> str | None:
        time.sleep(0.001)
        return super().ask(request)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for letter in "abcdefgh":
        write_turns(folder / f"{letter}__s.jsonl", f"hello {letter}", "I promise")
    return folder


def at_once(writers: list[Callable[[], object]], chance: random.Random) -> list[BaseException | None]:
    """What became of writers that begin within a few milliseconds."""
    outcomes: list[BaseException | None] = [None] * len(writers)
    pauses = [chance.uniform(0, 0.01) for _ in writers]
    start = threading.Barrier(len(writers))

    def go(number: int) -> None:
        start.wait()
        time.sleep(pauses[number])
        try:
            writers[number]()
        except BaseException as error:
            outcomes[number] = error

    threads = [threading.Thread(target=go, args=(number,)) for number in range(len(writers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.parametrize("race", RACES)
def test_of_two_runs_in_one_folder_one_is_refused_and_the_other_is_whole(data: Path, tmp_path: Path, race: int) -> None:
    def scan(out: str, resume: bool) -> Callable[[], object]:
        return lambda: store.run(PLAN, [data], tmp_path / out, judge=Slow(reply("PASS")), resume=resume)

    scan("whole", resume=False)()
    outcomes = at_once([scan("run", resume=race % 3 == 1), scan("run", resume=race % 3 > 0)], random.Random(race))
    assert None in outcomes
    assert all(isinstance(each, BusyError) or "contains a finished run" in str(each) for each in outcomes if each)
    assert content(tmp_path / "run") == content(tmp_path / "whole")


@pytest.mark.parametrize("race", RACES)
def test_of_two_harness_runs_in_one_folder_one_is_refused(tmp_path: Path, race: int) -> None:
    scripts = seal(RunPlan("1", tuple(Script(name, (ScriptSession(1, (ScriptTurn(1, "one"),)),)) for name in "abcd")))

    def play(out: str) -> Callable[[], object]:
        return lambda: harness.run(scripts, Model(), tmp_path / out, resume=True)

    play("whole")()
    outcomes = at_once([play("run"), play("run")], random.Random(race))
    assert None in outcomes
    assert all(isinstance(outcome, BusyError) for outcome in outcomes if outcome is not None)
    assert content(tmp_path / "run") == content(tmp_path / "whole")


@pytest.mark.parametrize("race", RACES)
def test_of_two_writers_of_one_file_each_writes_all_of_it_or_is_refused(tmp_path: Path, race: int) -> None:
    contents = [bytes([65 + number]) * 300_000 for number in range(4)]
    outcomes = at_once(
        [lambda each=each: write_whole(tmp_path / "a", each) for each in contents],  # type: ignore[misc]
        random.Random(race),
    )
    assert None in outcomes
    assert all(isinstance(outcome, BusyError) for outcome in outcomes if outcome is not None)
    assert (tmp_path / "a").read_bytes() in contents
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_lock_that_is_removed_when_it_is_released_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    inside, together, taken = [0], [0], [0]

    def work() -> None:
        for _ in range(100):
            try:
                with lock(str(tmp_path / "lock"), "it"):
                    inside[0] += 1
                    together[0] = max(together[0], inside[0])
                    time.sleep(0)
                    taken[0] += 1
                    inside[0] -= 1
            except BusyError:
                time.sleep(0)

    assert at_once([work] * 6, random.Random(0)) == [None] * 6
    assert (together[0], taken[0] > 6) == (1, True)
    assert list(tmp_path.iterdir()) == []


HOLDER = """
import sys, time
from rulewright_runtime.files.locks import lock_folder
with lock_folder(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the folder `run`."""
    argv = [sys.executable, "-c", HOLDER, str(tmp_path / "run")]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_lock_goes_with_the_process_that_held_it(holder: subprocess.Popen[bytes], data: Path, tmp_path: Path) -> None:
    judge = Scripted(reply("PASS"))
    busy = rf"`{re.escape(str(tmp_path))}/run` is in use: process {holder.pid} on .* since 20"
    with pytest.raises(BusyError, match=busy):
        store.run(PLAN, [data], tmp_path / "run", judge=judge)
    assert judge.requests == []
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "run" / ".lock").exists()
    store.run(PLAN, [data], tmp_path / "run", judge=judge)
    assert not (tmp_path / "run" / ".lock").exists()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with everything that the commands below read."""
    folder = tmp_path_factory.mktemp("prepared")
    lexicon = check_file(route="lexicon_only", routing="deterministic_precheck: words\nrepetitions: 1")
    write(folder / "project", {"checks/W-1.yaml": lexicon})
    (folder / "data").mkdir()
    write_turns(folder / "data" / "m__night.jsonl", "Hello", "you must")
    write_cases(folder / "cases" / "b.json", [case("t1")])
    (folder / "replies.json").write_text(json.dumps({"replies": {"night": ["yes"]}}))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["compile", "--project", "project", "-o", "plan.json"]) == 0
        assert main(["scan", "data", "--project", "project", "--out", "run"]) in (0, 1, 2)
        assert main(["compile", "safe-v0", "-o", "safe.json"]) == 0
        assert main(["harness", *HARNESS, "dry", "--dry-run"]) == 0
    return folder


@pytest.fixture
def project(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The prepared folder, for one test."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


HARNESS = ["project/scenarios", "--model", "scripted:replies.json", "--out"]
SCORE = ["--concern", "I25", "--batch", "b", "--format", "json"]
WRITERS: dict[str, tuple[Callable[[list[str]], int], list[str], Callable[[str], Any], str]] = {
    "scan": (main, ["scan", "data", "--project", "project", "--out", "run", "--overwrite"], lock_folder, "run"),
    "run": (main, ["run", "plan.json", "data", "--out", "run", "--overwrite"], lock_folder, "run"),
    "report": (main, ["report", "run"], lock_folder, "run"),
    "report elsewhere": (main, ["report", "run", "--out", "x.html"], open_whole, "x.html"),
    "plan": (main, ["plan", "data", "--project", "project", "--out", "p"], lock_folder, "p"),
    "compile": (main, ["compile", "--project", "project", "-o", "x.json"], open_whole, "x.json"),
    "harness": (main, ["harness", *HARNESS, "played"], lock_folder, "played"),
    "harness plan": (main, ["harness", *HARNESS, "played", "--dry-run"], lock_folder, "played"),
    "score": (main, ["score", *SCORE, "--output", "x.json"], lock_file, "x.json"),
    "runtime run": (runtime.main, ["run", "plan.json", "data", "--out", "run", "--overwrite"], lock_folder, "run"),
    "runtime play": (
        runtime.main,
        ["play", "dry/run_plan.json", "--model", "scripted:replies.json", "--out", "played"],
        lock_folder,
        "played",
    ),
    "runtime score": (runtime.main, ["score", "safe.json", "cases", "--out", "x.json"], lock_file, "x.json"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_command_that_writes_is_refused_where_another_process_writes(
    name: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, words, hold, place = WRITERS[name]
    before = content(project)
    with hold(place):
        status = command(words)
        after = {name: data for name, data in content(project).items() if not Path(name).name.startswith(".")}
    told = capsys.readouterr().err
    assert (status, "is in use: process" in told) == (3, True), told
    assert after == before
    assert command(words) != 3
