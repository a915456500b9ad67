"""The scorer for Inspect and the assertion for promptfoo, each run by the real tool; run by `make peers`.

Exits 1 where a tool does not say of a good and a bad answer what the checks say.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmark.peers.compare import run

CHECKS = {
    "no-promises": 'id: no-promises\neach: reply\nfail: contains_any(turn.content, ["i promise"])\n',
    "expected": "id: expected\nuse: library/answer-is-expected\n",
    "calls": "id: calls\nuse: library/tool-call-valid\nparams: {tools: {}}\n",
}
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver
from rulewright_runtime.inspect_scorer import checks

@solver
def recorded():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("recorded", state.metadata["answer"])
        state.messages.append(state.output.message)
        return state
    return solve

@task
def support():
    answers = {"good": "It ships today.", "bad": "Today, I *promise*."}
    said = {name: {"answer": answer} for name, answer in answers.items()}
    samples = [Sample(id=name, input="When?", target="It ships today.", metadata=said[name]) for name in said]
    return Task(dataset=samples, solver=recorded(), scorer=checks("plan.json"))
"""
ASSERTION = "from rulewright_runtime.promptfoo_assertion import get_assert\n__all__ = ['get_assert']\n"
CONFIG: dict[str, Any] = {
    "prompts": ["{{answer}}"],
    "providers": ["echo"],
    "defaultTest": {"assert": [{"type": "python", "value": "file://checks.py", "config": {"plan": "plan.json"}}]},
    "tests": [
        {"vars": {"answer": "It ships today.", "expected": "It ships today."}},
        {"vars": {"answer": "Today, I promise.", "expected": "It ships today."}},
    ],
}
WANTED = {
    "good": {"no-promises": "PASS", "expected": "PASS", "calls": "NOT_APPLICABLE"},
    "bad": {"no-promises": "FAIL", "expected": "FAIL", "calls": "NOT_APPLICABLE"},
}


def main(peers: Path) -> int:
    """Compile a project, and give its plan to both tools."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "checks").mkdir()
        (folder / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
        for name, text in CHECKS.items():
            (folder / "checks" / f"{name}.yaml").write_text(text, encoding="utf-8")
        run([str(Path(sys.executable).with_name("rulewright")), "compile", "--out", "plan.json"], folder)
        found = {"Inspect": of_inspect(folder, peers), "promptfoo": of_promptfoo(folder, peers)}
    for name, told in found.items():
        print(f"{name}: {'as the checks say' if told == WANTED else told}")
    return 0 if all(told == WANTED for told in found.values()) else 1


def of_inspect(folder: Path, peers: Path) -> dict[str, Any]:
    """The verdicts by sample, where the values and the means agree with them."""
    (folder / "support.py").write_text(TASK, encoding="utf-8")
    words = ["eval", "support.py", "--model", "none", "--log-format", "json", "--log-dir", "logs"]
    run([str(peers / "python" / "bin" / "inspect"), *words], folder)
    (path,) = (folder / "logs").glob("*.json")
    log = json.loads(path.read_bytes())
    means = {each["name"]: each["metrics"]["mean"]["value"] for each in log["results"]["scores"]}
    assert means["no-promises"] == 0.5, means  # of two samples; `calls` applies to none, and has no mean
    assert log["samples"][0]["scores"]["checks"]["explanation"].startswith("calls: NOT_APPLICABLE")
    return {each["id"]: each["scores"]["checks"]["metadata"]["verdicts"] for each in log["samples"]}


def of_promptfoo(folder: Path, peers: Path) -> dict[str, Any]:
    """The verdicts by test, as the components of the assertion tell them."""
    (folder / "checks.py").write_text(ASSERTION, encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    os.environ["PROMPTFOO_PYTHON"] = str(peers / "python" / "bin" / "python")
    words = ["eval", "-c", "config.json", "-o", "out.json", "--no-table", "--no-progress-bar", "--no-write"]
    run([str(peers / "node_modules" / ".bin" / "promptfoo"), *words, "--no-cache"], folder, (0, 100))
    results = json.loads((folder / "out.json").read_bytes())["results"]["results"]
    graded = {each["vars"]["answer"]: each for each in results}
    found = {}
    for name, test in zip(WANTED, CONFIG["tests"], strict=True):
        each = graded[test["vars"]["answer"]]
        assert each["success"] is (name == "good"), each["gradingResult"]
        parts = [part for part in _parts(each["gradingResult"]) if ": " in part["reason"]]
        told = [part["reason"].partition(" (")[0].partition(": ") for part in parts]
        found[name] = {check: verdict for check, _, verdict in told if check in CHECKS and ";" not in verdict}
    return found


def _parts(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Every component, however deep."""
    below = [part for each in result.get("componentResults") or () for part in _parts(each)]
    return [*below, *(result.get("componentResults") or ())]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
