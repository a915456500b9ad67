"""Attacks with doubled keys: a reader that takes the first and one that takes the last disagree, so neither is taken.

Every door for JSON gets a document that it accepts, and then the same with one key of one of its objects twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import part
from tests.runtime.harness.test_play import plan as run_plan
from tests.runtime.plans import check, plan
from tests.runtime.workflow.test_workflow_plan import plan as workflow_plan
from tests.safe_cases import case, safe

from rulewright.errors import UsageError
from rulewright.load import load_file
from rulewright.reporting.run_reader import rows
from rulewright_runtime import ir
from rulewright_runtime.cases import case_plan as case_plan
from rulewright_runtime.cases.baseline import Baseline
from rulewright_runtime.cases.case_reader import Batch, Case, CaseReader
from rulewright_runtime.cases.outputs import Outputs
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.harness import harness_plan as harness_plan
from rulewright_runtime.harness.adapters import open_adapter
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.judging.replies import only_object
from rulewright_runtime.models.wire import decode_body
from rulewright_runtime.plan import file as plan_file
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.runs.manifest import read_manifest
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.workflow import workflow_plan as flow_plan
from rulewright_runtime.workflow.adapters.agent_adapter import read_reply
from rulewright_runtime.workflow.collectors.report_reading import read_json

SAFE = seal(safe().plan)
Reads = Callable[[Path], object]  # raises, or gives something false, where the file is refused


def _cases(path: Path) -> object:
    return all(
        isinstance(each, Case) and each.problem is None for each in CaseReader(SAFE).cases(Batch("b", str(path)))
    )


def _outputs(path: Path) -> object:
    record = {key: value for key, value in case("T1").items() if key != "engine_output"}
    (path.parent / "cases.json").write_text(json.dumps([record]))
    reader = CaseReader(SAFE, None, outputs := Outputs(str(path)))
    found = list(reader.cases(Batch("cases", str(path.parent / "cases.json"))))
    return not outputs.errors and all(isinstance(each, Case) and each.problem is None for each in found)


def _transcripts(path: Path) -> object:
    return all(isinstance(each, Transcript) for each in Reader().read([path]))


def _report(path: Path) -> object:
    return read_json(path.parent, path.name)


def _rows(path: Path) -> object:
    return list(rows(path))


def _data(read: Callable[[bytes], object]) -> Reads:
    return lambda path: read(path.read_bytes()) is not None


def _text(read: Callable[[str], object]) -> Reads:
    return lambda path: read(path.read_text()) is not None


TURNS = [
    {"turn": 1, "role": "user", "content": "Hello"},
    {"turn": 1, "role": "assistant", "content": "x", "error": None},
]
TALK = {"transcript_id": "t", "scenario_id": "s", "model": "m", "turns": TURNS}
RESULT = {"test_id": "T1", "label": "Pass", "scores": {"CR": 1.0}, "details": {"CR": {"found": []}}}
REPORT = {"generated_at": "now", "batch_id": "b", "configuration": {"hash": "x"}, "results": [RESULT, RESULT]}
MANIFEST = {"run": "r", "plan": "p", "language": "1", "files": [{"name": "a", "bytes": 1, "sha256": "x"}]}
DOORS: dict[str, tuple[str, Any, Reads]] = {
    "cases": ("b.json", {"batch_id": "b", "test_cases": [case("T1"), case("T2")]}, _cases),
    "cases in a list": ("b.json", [case("T1"), case("T2")], _cases),
    "cases with metadata": ("b.json", [case("T1") | {"metadata": {"by": {"name": "x"}, "at": 1}}], _cases),
    "outputs": ("o.json", [{"test_id": "T1", "engine_output": case("T1")["engine_output"]}], _outputs),
    "a baseline": ("r.json", REPORT, lambda path: Baseline(str(path))),
    "a plan of cases": ("p.json", json.loads(encode(SAFE)), _data(case_plan.decode)),
    "a plan of checks": ("p.json", json.loads(encode(plan(check()))), _data(plan_file.decode)),
    "a plan of a workflow": ("p.json", json.loads(encode(workflow_plan())), _data(flow_plan.decode)),
    "a plan of a harness": ("p.json", json.loads(encode(run_plan("s"))), _data(harness_plan.decode)),
    "an expression": ("e.json", json.loads(ir.encode(SAFE.composite)), _data(ir.decode)),
    "a transcript": ("m__s.jsonl", TURNS[0], _transcripts),
    "a conversation": ("batch.jsonl", TALK, _transcripts),
    "recorded replies": ("r.json", {"T1": {"AH": [["{}"]]}, "T2": {}}, lambda path: open_judge(f"replay:{path}")),
    "scripted replies": ("s.json", {"replies": {"s": ["x"]}}, lambda path: open_adapter(f"scripted:{path}")),
    "a judge's reply": ("r.txt", {"verdict": "PASS", "evidence": [{"quote": "x", "turn": 1}]}, _text(only_object)),
    "a response of a model": ("r.json", {"choices": [{"message": {"content": "x"}}], "usage": {}}, _data(decode_body)),
    "an agent's answer": (
        "a.json",
        {"decision": "GO", "approved": True, "usage": {"tokens": 1}},
        _text(lambda text: read_reply(text, "review")),
    ),
    "a report of a tool": ("r.json", {"totals": {"percent": 3}, "a": [{}]}, _report),
    "a manifest": ("manifest.json", MANIFEST, lambda path: read_manifest(path.parent)),
    "rows of a run": ("rows.jsonl", {"transcript_id": "t", "engine": {"gates": {"g": {}}}}, _rows),
    "settings": ("safe.config.json", {"thresholds": {"CR": {"pass": 1}}}, lambda path: not load_file(path).diagnostics),
}  # fmt: skip


def doubled(value: Any) -> Iterator[str]:
    """Every way to write `value` as JSON with one key of one object twice."""
    if isinstance(value, list):
        for at, each in enumerate(value):
            for text in doubled(each):
                items = [text if at == other else json.dumps(item) for other, item in enumerate(value)]
                yield f"[{', '.join(items)}]"
    if isinstance(value, dict):
        pairs = [f"{json.dumps(key)}: {json.dumps(each)}" for key, each in value.items()]
        for at, (key, each) in enumerate(value.items()):
            for text in doubled(each):
                yield "{" + ", ".join([*pairs[:at], f"{json.dumps(key)}: {text}", *pairs[at + 1 :]]) + "}"
            for other in (json.dumps(key), f'"\\u{ord(key[:1] or "x"):04x}{key[1:]}"' if key else '""'):
                for written in (json.dumps(each), "null", '"a:\\":b"'):
                    yield "{" + ", ".join([*pairs, f"{other} : {written}"]) + "}"
                    yield "{" + ", ".join([f"{other}:{written}", *pairs]) + "}"


@pytest.mark.parametrize("name", DOORS)
def test_no_door_for_json_takes_a_document_with_a_doubled_key(name: str, tmp_path: Path) -> None:
    file, document, reads = DOORS[name]
    path = tmp_path / file
    path.write_text(json.dumps(document))
    assert reads(path)
    taken = []
    for text in part(list(doubled(document)), 30):
        path.write_text(text)
        with suppress(RuntimeFailure, UsageError):
            taken += [text] * bool(reads(path))
    assert taken == []


@pytest.mark.parametrize("name", DOORS)
def test_no_door_for_json_breaks_under_a_value_that_is_nested_too_deeply(name: str, tmp_path: Path) -> None:
    file, document, reads = DOORS[name]
    path = tmp_path / file
    first = document[0] if isinstance(document, list) else document
    deep = json.dumps({"deep": 0, **first}).replace("0", "[" * 100_000 + "]" * 100_000, 1)
    path.write_text(f"[{deep}]" if isinstance(document, list) else deep)
    refused = True
    with suppress(RuntimeFailure, UsageError):
        refused = not reads(path)
    assert refused
