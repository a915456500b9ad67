"""JSON in which an object holds a key twice is refused, however it is written and whoever reads it; all else decodes
as before."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.rounds import part
from tests.runtime.harness.test_play import plan as run_plan
from tests.runtime.plans import check, plan
from tests.runtime.workflow.test_workflow_plan import plan as workflow_plan
from tests.safe_cases import case, safe

from rulewright.errors import UsageError
from rulewright.load import load_file
from rulewright.reporting.run_reader import rows
from rulewright_runtime import ir, strict_json
from rulewright_runtime.cases import case_plan as case_plan
from rulewright_runtime.cases.baseline import Baseline
from rulewright_runtime.cases.case_reader import Batch, Case, CaseReader, Outputs
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.harness import harness_plan as harness_plan
from rulewright_runtime.harness.named_adapters import open_adapter
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.judging.replies import only_object
from rulewright_runtime.models.wire import decode_body
from rulewright_runtime.plan import file as plan_file
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.runs.folder import read_manifest
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.workflow import workflow_plan as flow_plan
from rulewright_runtime.workflow.adapters.agent_adapter import read_reply
from rulewright_runtime.workflow.collectors.report_reading import read_json

DOUBLED = {
    "at the top": ('{"a": 1, "a": 2}', "a"),
    "below": ('{"x": {"a": 1, "b": [{"c": 1, "c": 1}]}}', "c"),
    "in a list": ('[1, {"b": 1, "a": 1, "b": 2}]', "b"),
    "written as an escape": ('{"a": 1, "\\u0061": 2}', "a"),
    "beside a colon that is an escape": ('{"a": 1, "a": "\\u003a"}', "a"),
    "with colons in the one that is lost": ('{"a": "::", "a": "x"}', "a"),
    "with an empty name": ('{"": 1, "": 2}', ""),
    "with blanks before the colon": ('{"a" : 1, "a" : "b"}', "a"),
}


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(("text", "key"), DOUBLED.values(), ids=DOUBLED)
def test_a_doubled_key_is_refused_and_named(text: str, key: str, lines: bool) -> None:
    data = text.replace(" ", "\n") if lines else text
    ways: list[Any] = [strict_json.decode, strict_json.Decoder(object).decode]
    for decode in ways:
        with pytest.raises(strict_json.DoubledKeyError, match=f"duplicate key `{key}`") as raised:
            decode(data.encode())
        assert raised.value.key == key
        with pytest.raises(msgspec.DecodeError):
            decode(data)


def test_a_key_that_the_type_leaves_out_may_not_be_doubled_either() -> None:
    class Part(msgspec.Struct):
        a: int = 0

    assert strict_json.decode(b'{"a": 1, "b": {"c": 1}}', type=Part) == Part(1)
    with pytest.raises(strict_json.DoubledKeyError):
        strict_json.decode(b'{"a": 1, "b": {"c": 1, "c": 2}}', type=Part)


class _Known(msgspec.Struct):
    a: str
    b: str | None = None
    c: strict_json.Json = None


def test_a_struct_that_counts_its_colons_refuses_the_same() -> None:
    def colons(values: list[_Known]) -> int:
        return strict_json.colons_in(values) - sum((each.b is None) + (each.c is None) for each in values)

    quick = strict_json.Decoder(_Known, colons=colons)
    slow = strict_json.Decoder(_Known)
    chance = random.Random(12)
    refused = 0
    for _ in range(2000):
        names = chance.choices(["a", "b", "c", "d", "\\u0061"], k=chance.randrange(1, 5))
        texts = ["null", '":"', '"\\u003a"', '{"e": 1}', '{"e": 1, "e": ":"}']
        data = ("{" + ", ".join(f'"{name}": {chance.choice(texts)}' for name in names) + "}").encode()
        outcomes: list[object] = []
        for decode in (slow.decode, quick.decode, quick.decode_lines):
            try:
                found = decode(data)
                outcomes.append(found if isinstance(found, _Known) else found[0])
            except msgspec.MsgspecError as error:
                outcomes.append(type(error))
        assert outcomes == outcomes[:1] * 3
        refused += outcomes[0] is strict_json.DoubledKeyError
    assert refused > 100


def anything(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(7 if depth < 4 else 4)
    if kind < 4:
        return (None, chance.random(), 10 ** chance.randrange(30), "".join(chance.choices(':"\\ é\n', k=4)))[kind]
    if kind == 4:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {f"{at}{chance.choice(':é ')}": anything(chance, depth + 1) for at in range(chance.randrange(4))}


def test_whatever_holds_no_key_twice_decodes_as_before() -> None:
    chance = random.Random(11)
    for _ in range(500):
        data = json.dumps(
            anything(chance), ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1])
        ).encode()
        assert strict_json.decode(data) == msgspec.json.decode(data)


@pytest.mark.parametrize("data", [b"", b"{", b'{"a" 1}', b'{"a": \xff}', b'{"a": NaN}', b"[" * 100_000])
def test_invalid_json_is_refused_as_msgspec_refuses_it(data: bytes) -> None:
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError, RecursionError)):
        strict_json.decode(data)


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
    for text in part(list(doubled(document)), 15):
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
