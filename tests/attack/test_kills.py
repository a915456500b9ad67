"""Runs that are killed, whose power is cut or whose disk is full at any step end as if nothing had happened.

Three attacks on a run of its own process, simulated at every step, and one that kills real processes at random moments.
The figure that passes is 0: no file differs from those of a run that was left alone, no answer of a judge is paid twice
and nothing of an earlier run stands next to a new one.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.attack.disk import NEEDS_ROOM, FullError, PowerCuts, content, full_at, pictures, watched
from tests.folders import write_turns
from tests.rounds import TORTURE, every, part
from tests.runtime.plans import asked, check, plan

from rulewright_runtime.errors import PlanError
from rulewright_runtime.harness import harness_run as harness
from rulewright_runtime.harness.adapters import TurnRequest
from rulewright_runtime.harness.harness_plan import RunPlan, Script, ScriptSession, ScriptTurn
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.models.call import ModelAnswer
from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.runs import store

PLAN = plan(check(), asked(name="X2", repetitions=2))
OLD = plan(check(severity="S2"), asked(name="X2"))
ROOT = Path(__file__).resolve().parents[2]
MOST = 1  # calls that may be under way when a process is killed


class Paid:
    """A judge whose every answer costs something. It answers from the words alone, so it never contradicts itself."""

    identity = "paid/1"

    def __init__(self) -> None:
        self.paid: list[tuple[Any, ...]] = []

    def ask(self, request: JudgeRequest) -> str:
        """PASS or FAIL."""
        self.paid.append((request.transcript_id, request.check_id, request.repetition, request.attempt))
        if request.attempt == 0 and "hello b" in request.prompt:
            return "no verdict at all"
        verdict = "FAIL" if "hello c" in request.prompt else "PASS"
        quote = {"role": "user", "turn": 1, "quote": "hello c"}
        return json.dumps({"verdict": verdict, "evidence": [quote], "rationale_code": "é"})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for letter in "abc":
        write_turns(folder / f"{letter}__s.jsonl", f"hello {letter}", "I promise" if letter == "b" else "Good.")
    (folder / "bc__s.jsonl").write_text("{broken\n")
    return folder


@pytest.fixture(params=["once a run", "after every input"])
def synced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How often a run waits for the disk."""
    monkeypatch.setattr(store, "LOST_SECONDS", -1.0 if request.param == "after every input" else 60.0)


def run(data: Path, out: Path, judge: Paid, compiled: Any = PLAN, *, resume: bool = False) -> dict[str, Any]:
    return store.run(compiled, [data], out, judge=judge, resume=resume, overwrite=not resume)


def undisturbed(data: Path, place: Path, compiled: Any = PLAN) -> dict[str, bytes]:
    run(data, place, Paid(), compiled)
    return content(place)


def resumed(data: Path, out: Path) -> tuple[dict[str, bytes], Paid]:
    judge = Paid()
    run(data, out, judge, resume=True)
    return content(out), judge


def twice(before: list[Any], judge: Paid) -> int:
    """How many answers were paid for again."""
    return len(set(before) & set(judge.paid))


@pytest.mark.usefixtures("synced")
def test_a_run_killed_at_any_step_is_resumed_to_the_same_bytes(data: Path, tmp_path: Path) -> None:
    whole = undisturbed(data, tmp_path / "whole")
    judge = Paid()
    taken = pictures(
        tmp_path / "run", tmp_path / "killed", lambda: run(data, tmp_path / "run", judge), lambda: list(judge.paid)
    )
    assert len(taken) > 20
    broken = []
    for step, (place, paid) in enumerate(taken):
        files, again = resumed(data, place)
        if files != whole or twice(paid, again) > MOST or {*paid, *again.paid} != set(judge.paid):
            broken.append(step)
    assert broken == []


def test_a_run_killed_while_its_files_are_renamed_is_finished_when_the_folder_is_opened(
    data: Path, tmp_path: Path
) -> None:
    whole = undisturbed(data, tmp_path / "whole")
    taken = pictures(tmp_path / "run", tmp_path / "killed", lambda: run(data, tmp_path / "run", Paid()), list)
    named = [place for place, _ in taken if (place / "inputs.jsonl").exists()]
    assert len(named) > 5
    for place in named:
        with pytest.raises(PlanError, match="contains a finished run"):
            store.run(PLAN, [data], place, judge=Paid())
        assert content(place) == whole


def test_a_finished_run_resumed_with_more_inputs_and_killed_at_any_step_has_no_summary_of_fewer(
    data: Path, tmp_path: Path
) -> None:
    more = (data / "c__s.jsonl").rename(tmp_path / "c__s.jsonl")
    fewer = undisturbed(data, tmp_path / "run")
    more.rename(data / "c__s.jsonl")
    whole = undisturbed(data, tmp_path / "whole")
    taken = pictures(tmp_path / "run", tmp_path / "killed", lambda: resumed(data, tmp_path / "run"), list)
    assert [step for step, (place, _) in enumerate(taken) if not one_generation(place, fewer, whole)] == []
    assert [step for step, (place, _) in enumerate(taken) if resumed(data, place)[0] != whole] == []


@pytest.mark.usefixtures("synced")
def test_a_resumed_run_killed_at_any_step_is_resumed_again(data: Path, tmp_path: Path) -> None:
    whole = undisturbed(data, tmp_path / "whole")
    with pytest.raises(FullError), watched(full_at(16, stays=True)):
        run(data, tmp_path / "run", Paid())
    judge = Paid()
    taken = pictures(
        tmp_path / "run", tmp_path / "killed", lambda: resumed(data, tmp_path / "run"), lambda: list(judge.paid)
    )
    assert [step for step, (place, _) in enumerate(taken) if resumed(data, place)[0] != whole] == []


@pytest.mark.usefixtures("synced")
@pytest.mark.parametrize("stays", [False, True])
def test_a_disk_that_is_full_at_any_step_ends_the_run_in_words_and_loses_nothing(
    data: Path, tmp_path: Path, stays: bool
) -> None:
    whole = undisturbed(data, tmp_path / "whole")
    needed: list[str] = []
    with watched(needed.append):
        run(data, tmp_path / "count", Paid())
    steps = sum(step in NEEDS_ROOM for step in needed)
    broken = []
    for number in range(steps) if TORTURE else range(stays, steps, 3):
        out, judge = tmp_path / "full" / str(number), Paid()
        try:
            with watched(full_at(number, stays=stays)):
                run(data, out, judge)
        except FullError:
            pass
        else:
            broken += [(number, "not told")] if content(out) != whole else []
        files, again = resumed(data, out)
        if files != whole:
            broken.append((number, "other bytes"))
        if twice(judge.paid, again) > MOST:
            broken.append((number, "paid twice"))
    assert broken == []


@pytest.mark.usefixtures("synced")
def test_a_power_cut_at_any_step_costs_no_result(data: Path, tmp_path: Path) -> None:
    whole = undisturbed(data, tmp_path / "whole")
    cuts = PowerCuts(tmp_path / "run", tmp_path / "cut")
    with cuts.watch():
        run(data, tmp_path / "run", Paid())
    assert [place.name for place in cuts.taken if resumed(data, place)[0] != whole] == []


def one_generation(folder: Path, *generations: dict[str, bytes]) -> bool:
    """Whether the finished files in a folder are of one run, and its summary comes with all of them."""
    here = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} if folder.exists() else {}
    finished = {name: data for name, data in here.items() if not name.endswith(".part") and name != ".lock"}
    of = [whole for whole in generations if finished.items() <= whole.items()]
    return bool(of) and ("summary.json" not in finished or finished.keys() == of[0].keys())


@pytest.mark.parametrize("resume", [False, True])
def test_a_new_run_in_the_folder_of_another_never_leaves_results_of_both(
    data: Path, tmp_path: Path, resume: bool
) -> None:
    old, new = undisturbed(data, tmp_path / "old", OLD), undisturbed(data, tmp_path / "new")
    undisturbed(data, tmp_path / "run", OLD)
    again: Callable[[], object] = lambda: run(data, tmp_path / "run", Paid())  # noqa: E731
    taken = pictures(tmp_path / "run", tmp_path / "killed", again, list)
    broken = []
    for step, (place, _) in enumerate(taken if TORTURE else taken[resume::3]):
        if not one_generation(place, old, new) or not one_generation(place / "previous", old):
            broken.append((step, "mixed"))
        if (
            old.items() > {**content(place), **content(place / "previous")}.items()
            and not new.items() <= content(place).items()
        ):
            broken.append((step, "lost"))
        run(data, place, Paid(), resume=resume and (place / "inputs.jsonl.part").exists())
        if content(place) != new:
            broken.append((step, "other bytes"))
    assert broken == []


SCRIPTS = seal(
    RunPlan(
        "1", tuple(Script(name, (ScriptSession(1, (ScriptTurn(1, "one"), ScriptTurn(2, "two"))),)) for name in "ab")
    )
)


class Model:
    """A model that costs something."""

    model, harness = "m", "llm/raw"

    def __init__(self) -> None:
        self.paid: list[tuple[str, int]] = []

    def reply(self, request: TurnRequest) -> ModelAnswer:
        """The number of the turn."""
        self.paid.append((request.conversation, request.turn))
        return ModelAnswer(f"answer {request.turn}", "")


def played(out: Path) -> tuple[dict[str, bytes], Model]:
    model = Model()
    harness.run(SCRIPTS, model, out, resume=True)
    return content(out), model


def test_a_harness_run_killed_at_any_step_asks_no_turn_again(tmp_path: Path) -> None:
    whole, _ = played(tmp_path / "whole")
    model = Model()
    taken = pictures(
        tmp_path / "run",
        tmp_path / "killed",
        lambda: harness.run(SCRIPTS, model, tmp_path / "run"),
        lambda: list(model.paid),
    )
    assert len(taken) > 30
    broken = []
    for step, (place, paid) in enumerate(taken):
        files, again = played(place)
        if files != whole or len(set(paid) & set(again.paid)) > MOST:
            broken.append(step)
    assert broken == []


@pytest.mark.parametrize("stays", [False, True])
def test_a_harness_run_on_a_full_disk_loses_no_turn(tmp_path: Path, stays: bool) -> None:
    whole, _ = played(tmp_path / "whole")
    needed: list[str] = []
    with watched(needed.append):
        played(tmp_path / "count")
    broken = []
    for number in every(2, range(sum(step in NEEDS_ROOM for step in needed)), stays):
        out, model = tmp_path / "full" / str(number), Model()
        with pytest.raises(FullError), watched(full_at(number, stays=stays)):
            harness.run(SCRIPTS, model, out)
        files, again = played(out)
        if files != whole or len(set(model.paid) & set(again.paid)) > MOST:
            broken.append(number)
    assert broken == []


def test_a_power_cut_at_any_step_of_a_harness_run_loses_no_turn_that_was_written(tmp_path: Path) -> None:
    whole, _ = played(tmp_path / "whole")
    cuts = PowerCuts(tmp_path / "run", tmp_path / "cut")
    with cuts.watch():
        played(tmp_path / "run")
    assert [place.name for place in cuts.taken if played(place)[0] != whole] == []


KILLS = 60  # of processes, four in a run before it is left alone
CALLS = 120
MOMENTS = [[random.Random(4 * run + kill).randint(0, CALLS) for kill in range(4)] for run in range(KILLS // 4)]


@pytest.fixture(scope="module")
def long_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long") / "data"
    folder.mkdir()
    for number in range(CALLS // 4):
        write_turns(folder / f"m{number:02}__s.jsonl", f"hello {number}", "I promise")
    return folder


@pytest.fixture(scope="module")
def long_run(long_data: Path) -> tuple[dict[str, bytes], list[str]]:
    """The files of a run in a process of its own that is left alone, and its bill."""
    ended(victim(long_data, long_data.parent / "whole"))
    return content(long_data.parent / "whole"), bill_of(long_data.parent / "whole")


def victim(data: Path, out: Path) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "tests.attack.victim", str(data), str(out), str(out.with_suffix(".bill"))]
    return subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors.decode()


def bill_of(out: Path) -> list[str]:
    bill = out.with_suffix(".bill")
    return bill.read_text().splitlines() if bill.exists() else []


@pytest.mark.parametrize("moments", part(MOMENTS, 1), ids=str)
def test_a_process_killed_at_random_moments_ends_as_if_nothing_had_happened(
    long_data: Path, long_run: tuple[dict[str, bytes], list[str]], tmp_path: Path, moments: list[int]
) -> None:
    whole, bill = long_run
    out = tmp_path / "run"
    for moment in sorted(moments):
        process = victim(long_data, out)
        while process.poll() is None and len(bill_of(out)) < moment:
            time.sleep(0.0005)
        time.sleep(moment % 7 / 2000)
        process.kill()
        process.communicate()
    ended(victim(long_data, out))
    assert content(out) == whole
    assert set(bill_of(out)) == set(bill)
    assert len(bill_of(out)) - len(bill) <= len(moments) * MOST
