"""What a run is given from elsewhere - plans, transcripts, replies, cases, settings - edited at random.

It is used, or refused in words, or counted as an error; nothing breaks.
"""

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.compiler.linting.breaking import Breaker, Tree, as_text
from tests.compiler.linting.usage import VERDICTS, HostileReplies
from tests.folders import read_lines
from tests.rounds import rounds
from tests.shipped_plans import shipped_plan

from rulewright.errors import RulewrightError
from rulewright.lower.policy import compile_policy
from rulewright.planning.harness import compile_run_plan
from rulewright.scoring.case_scorecards import CaseScorecard, load_scorecard
from rulewright.scoring.settings_file import settings_of_run
from rulewright.shipped import shipped_root
from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.cases.case_run import score_batches
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.harness import harness_plan as run_plan
from rulewright_runtime.harness.adapters import ScriptedAdapter
from rulewright_runtime.harness.harness_run import run as play
from rulewright_runtime.plan import file as plan_file
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs import store

EXAMPLES = rounds(4, 2_000)
BENCHMARK = shipped_root() / "benchmark"
TRANSCRIPTS = sorted((BENCHMARK / "transcripts").glob("*.jsonl"))
REPLIES = BENCHMARK / "judge_replies" / "replies.json"
CASES = BENCHMARK / "safe" / "cases" / "I25" / "I25_batch_1.json"
SETTINGS = {
    "thresholds": {"CR": {"pass": 0.8, "review": 0.5}}, "weights": {"CR": 1, "AH": 2}, "strictAH": False,
    "archetypes": {"X": {"thresholds": {"CR": {"pass": 0.9}}}}, "metricIds": {"m": {"weights": {"CR": 3}}},
    "reportDir": "./r", "reportFormats": ["json"], "cases": "c", "outputs": "o",
}  # fmt: skip
POLICY = {
    "variables": [{"x": "a > 1"}],
    "rule": {"match": [{"condition": "a > 3", "output": "'y'"}, {"output": "'z'"}]},
}
DECLARED = {"variables": [{"name": "a", "type": {"type_name": "int"}}], "imports": [{"name": "a.b"}]}


@cache
def card() -> CaseScorecard:
    return load_scorecard("safe-v0")


def broken(tree: Tree, chance: random.Random) -> str:
    """The tree as JSON after an edit or three."""
    breaker = Breaker(chance, ("user", "assistant", "PASS", "1"))
    for _ in range(chance.choice([1, 1, 2, 3])):
        tree = breaker.broken(tree, None) if isinstance(tree, dict | list) else tree
    return as_text(tree, "tree.json")


def resealed(text: str, module: Any, kind: type) -> Any:
    """What a plan's text holds, as its author would seal it again: its hash alone refuses no edit."""
    try:
        plan = getattr(module, "seal", seal)(msgspec.json.decode(text, type=kind))
    except msgspec.MsgspecError:
        return module.decode(text.encode())
    return module.decode(encode(plan))


def a_plan(folder: Path, chance: random.Random) -> None:
    text = broken(json.loads(encode(shipped_plan())), chance)
    store.run(resealed(text, plan_file, Plan), TRANSCRIPTS[:2], folder, judge=HostileReplies(VERDICTS, chance))


def a_run_plan(folder: Path, chance: random.Random) -> None:
    text = broken(json.loads(encode(compile_run_plan([BENCHMARK / "scenarios"]))), chance)
    play(resealed(text, run_plan, run_plan.RunPlan), ScriptedAdapter({}), folder, attempts=1)


def a_transcript(folder: Path, chance: random.Random) -> None:
    chosen = chance.choice(TRANSCRIPTS)
    turns = json.loads(broken(read_lines(chosen), chance))
    lines = [json.dumps(turn) for turn in (turns if isinstance(turns, list) else [turns])]
    (folder / chosen.name).write_text("\n".join(lines), encoding="utf-8")
    store.run(shipped_plan(), [folder / chosen.name], folder / "out", judge=HostileReplies(VERDICTS, chance))


def recorded_replies(folder: Path, chance: random.Random) -> None:
    (folder / "replies.json").write_text(broken(json.loads(REPLIES.read_text()), chance), "utf-8", "surrogatepass")
    store.run(shipped_plan(), TRANSCRIPTS[:2], folder / "out", judge=f"replay:{folder / 'replies.json'}")


def cases(folder: Path, chance: random.Random) -> None:
    path = folder / "I25_batch.json"
    path.write_text(broken(json.loads(CASES.read_text()), chance), "utf-8", "surrogatepass")
    prepared = settings_of_run(card().plan, file=None, environment={}, flags={}, assignments=[]).prepared(card().plan)
    score_batches(prepared, CaseReader(card().plan, "I25"), [Batch("b", str(path))], verbose=True)


def settings(folder: Path, chance: random.Random) -> None:
    (folder / "safe.config.json").write_text(broken(SETTINGS, chance), encoding="utf-8")
    found = settings_of_run(
        card().plan, file=str(folder / "safe.config.json"), environment={}, flags={}, assignments=[]
    )
    found.prepared(card().plan)


def a_policy(folder: Path, chance: random.Random) -> None:
    compile_policy(broken(POLICY, chance), broken(DECLARED, chance))


@pytest.mark.parametrize("given", [a_plan, a_run_plan, a_transcript, recorded_replies, cases, settings, a_policy])
def test_what_comes_from_elsewhere_is_refused_or_used(
    given: Callable[[Path, random.Random], Any], tmp_path: Path
) -> None:
    ended = {"used": 0, "refused": 0}
    for seed in range(EXAMPLES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            given(folder, random.Random(seed))
            ended["used"] += 1
        except (RulewrightError, RuntimeFailure):
            ended["refused"] += 1
        except BaseException as failure:
            failure.add_note(f"seed {seed}")
            raise
    assert sum(ended.values()) == EXAMPLES
