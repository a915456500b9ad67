"""`rulewright harness`, from scenario files to transcripts; and what a model is never sent."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.model_server import Server, chat, model_server
from tests.shared_data import folder

from rulewright.cli import main
from rulewright.documents.project_file import ModelPrice
from rulewright.errors import DocumentError, UsageError
from rulewright.planning.harness import compile_run_plan, run_cost
from rulewright.project import load_project
from rulewright_runtime.__main__ import main as runtime
from rulewright_runtime.harness.adapters import ScriptedAdapter, TurnRequest
from rulewright_runtime.harness.harness_run import run
from rulewright_runtime.models.call import ModelAnswer
from rulewright_runtime.transcripts.chat_files import MAX_LINE
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

ROOT = Path(__file__).parents[3]
SECRET = "XMARKERX"


def criterion(kind: str) -> dict[str, Any]:
    return {"id": f"{SECRET}-{kind}", "question": f"{SECRET}?", "kind": kind, "levels": {"0": SECRET}, "weight": 1}


def marked() -> dict[str, Any]:
    """A scenario with a marker in every text but the user's messages and what the persona shows."""
    probe = {"t": 2, "kind": "recall", "expected": [SECRET], "comment": SECRET}
    branch = {
        "branch_id": SECRET,
        "condition": {"type": "contains_any", "values": [SECRET, "fine"]},
        "user_message": "Then I am glad.",
        "expected_behaviors": [SECRET],
        "autofail_triggers": [SECRET],
        "rubric": [criterion("binary")],
    }
    other = {
        "branch_id": "b2",
        "condition": {"type": "expression", "when": f"reply == '{SECRET}'"},
        "user_message": "x",
    }
    turn: dict[str, Any] = {
        "expected_behaviors": [SECRET],
        "autofail_triggers": [SECRET],
        "rubric": [criterion("autofail"), criterion("ordinal")],
        "facts": [SECRET],
        "updates": [SECRET],
        "probes": [probe],
        "context_notes": SECRET,
        "gray_zone_scoring": {SECRET: SECRET},
        "memory_expectations": {"should_recall": [SECRET]},
    }
    return {
        "scenario_id": "marked",
        "canary": SECRET,
        "title": SECRET,
        "description": SECRET,
        "category": "safety",
        "jurisdiction": SECRET,
        "system": "Help.",
        "persona": {"name": "Ana", "role": SECRET, "context": {"secret": SECRET}, "visible": ["name"]},
        "failure_mode_tags": [SECRET],
        "risk_triggers": [{"t": 1, "cue": SECRET}],
        "eligible_modes": [SECRET],
        "cue_anchors": [{"cue_turn": 1, "cue_label": SECRET, "cue_text_match": SECRET, "source": SECRET}],
        "probes": [probe],
        "calibration_notes": SECRET,
        "contrast_group": SECRET,
        "key_evaluation_points": [SECRET],
        "metadata": {"note": SECRET},
        "sessions": [
            {"session_number": 1, "time_elapsed": SECRET, "session_context": SECRET, "turns": [
                {"turn_number": 1, "user_message": "Hello.", **turn},
                {"turn_number": 2, "user_message": "And now?", "branches": [branch, other], **turn},
            ]}
        ],
    }  # fmt: skip


class Listening:
    """A model that remembers everything it was given."""

    model = "listening"
    harness = "llm/raw"

    def __init__(self) -> None:
        self.asked: list[TurnRequest] = []

    def reply(self, request: TurnRequest) -> ModelAnswer:
        self.asked.append(request)
        return ModelAnswer("All is fine.", "")


def write(folder: Path, *scenarios: dict[str, Any]) -> Path:
    for scenario in scenarios:
        path = folder / f"{scenario['scenario_id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(scenario), encoding="utf-8")
    return folder


def test_no_rubric_probe_label_expectation_or_condition_reaches_the_model(tmp_path: Path) -> None:
    model = Listening()
    run(compile_run_plan([write(tmp_path / "scenarios", marked())]), model, tmp_path / "run")
    assert [request.messages[-1].content for request in model.asked] == ["Hello.", "Then I am glad."]
    assert {request.context for request in model.asked} == {"Help.\n\nname: Ana"}
    assert SECRET not in repr(model.asked)


def replies(folder: Path, **by_scenario: list[Any]) -> str:
    file = folder / "replies.json"
    file.write_text(json.dumps({"model": "told", "replies": by_scenario}), encoding="utf-8")
    return f"scripted:{file}"


def test_a_model_without_its_provider_is_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    assert main(["harness", str(scenarios), "--model", "gpt-5", "--out", str(tmp_path / "run")]) == 3
    assert "unknown model `gpt-5`; did you mean `openai:gpt-5`?" in capsys.readouterr().err


def test_a_dry_run_plans_and_estimates_and_asks_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    out = tmp_path / "run"
    argv = ["harness", str(scenarios), "--model", replies(tmp_path), "--out", str(out), "--dry-run"]
    assert main(argv) == 0
    assert "turns       2 (at most 6 calls)" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["cost_report.json", "run_plan.json"]
    report = json.loads((out / "cost_report.json").read_text(encoding="utf-8"))
    assert (report["pricing_known"], report["cost_usd"]["upper"]) == (False, None)


def test_a_dry_run_does_not_put_another_plan_next_to_transcripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    argv = ["harness", str(scenarios), "--model", replies(tmp_path), "--out", str(tmp_path / "run")]
    main(argv)
    assert main([*argv, "--dry-run"]) == 3
    assert "already contains a run" in capsys.readouterr().err


def test_a_price_bounds_the_cost(tmp_path: Path) -> None:
    plan = compile_run_plan([write(tmp_path / "scenarios", marked())])
    cost = run_cost(plan, "told", ModelPrice(1.0, 10.0), reply_tokens=100, attempts=2)
    # turn 1: (16 + 6) / 4 -> 6 tokens; turn 2: (22 + 1 or 15) / 4 -> 6 or 10, and the first reply
    assert cost["input_tokens"] == {"lower": 6 + 6 + 100, "upper": 2 * (6 + 10 + 100)}
    assert cost["cost_usd"]["upper"] == pytest.approx((232 + 10 * 400) / 1e6)


def test_the_command_plays_and_the_transcripts_can_be_scanned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    out = tmp_path / "run"
    argv = ["harness", str(scenarios), "--model", replies(tmp_path, marked=["Fine.", "Good."]), "--out", str(out)]
    assert main([*argv, "--scenario-parallel", "2"]) == 0
    assert "played      1 scenario, 2 turns answered" in capsys.readouterr().out
    summary = json.loads((out / "harness.json").read_text(encoding="utf-8"))
    assert (summary["model"], summary["harness"]) == ("told", "llm/raw")
    assert summary["by_scenario"]["marked"]["branches"] == {"2": SECRET}


def test_a_message_that_a_scan_refuses_for_its_length_is_named_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    out = tmp_path / "run"
    argv = ["harness", str(scenarios), "--model", replies(tmp_path, marked=["Fine.", "x" * MAX_LINE])]
    assert main([*argv, "--out", str(out)]) == 0
    longest = max(map(len, (out / "transcripts" / "told__marked.jsonl").read_bytes().splitlines()))
    assert f"unless with `--max-line {longest}`" in capsys.readouterr().out
    for limit, is_read in ((longest - 1, False), (longest, True)):
        (found,) = Reader(None, limit).read([out / "transcripts"])
        assert isinstance(found, Transcript) is is_read


def test_a_run_plan_is_played_where_only_the_runtime_is(tmp_path: Path) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    model = replies(tmp_path, marked=["Fine.", "Good."])
    assert main(["harness", str(scenarios), "--model", model, "--out", str(tmp_path / "plan"), "--dry-run"]) == 0
    plan = str(tmp_path / "plan" / "run_plan.json")
    assert runtime(["play", plan, "--model", model, "--out", str(tmp_path / "run"), "--scenario-parallel", "2"]) == 0
    assert (tmp_path / "run" / "transcripts" / "told__marked.jsonl").is_file()
    assert runtime(["play", plan, "--out", str(tmp_path / "other")]) == 3
    assert runtime(["play", plan, "--model", replies(tmp_path), "--out", str(tmp_path / "other")]) == 1


def test_the_progress_is_removed_before_the_result_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", terminal)
    scenarios = write(tmp_path / "scenarios", marked())
    main(["harness", str(scenarios), "--model", replies(tmp_path, marked=["Fine."]), "--out", str(tmp_path / "run")])
    assert "\r1 of 1 scenario\r\x1b[Kplayed " in terminal.getvalue()


def test_a_turn_without_answer_changes_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    argv = ["harness", str(scenarios), "--model", replies(tmp_path, marked=["Fine.", {"error": "overloaded"}])]
    assert main([*argv, "--out", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().out
    assert "marked, turn 2: overloaded" in said
    assert "note        `--resume` continues the conversations that ended with an error\n" in said


def test_a_reply_that_says_nothing_is_not_said_to_be_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = write(tmp_path / "scenarios", marked())
    argv = ["harness", str(scenarios), "--model", replies(tmp_path, marked=["Fine.", " "])]
    assert main([*argv, "--out", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().out
    assert "`--resume` continues" not in said
    assert "a reply without visible text is an answer, not asked again; another `--sample` gets new ones\n" in said


def test_a_scenario_with_mistakes_is_refused_before_anyone_is_asked(tmp_path: Path) -> None:
    broken = marked()
    broken["probes"] = [{"t": 9, "kind": "recall", "expected": ["x"]}]
    broken["sessions"][0]["turns"][1]["branches"][0]["condition"] = {"type": "contains_some", "values": []}
    del broken["sessions"][0]["turns"][0]["rubric"][0]["kind"]
    broken["cue_anchors"][0]["response_window"] = {"from_turn": 2, "to_turn": 7}
    with pytest.raises(DocumentError) as caught:
        compile_run_plan([write(tmp_path, broken)])
    codes = sorted(each.code for each in caught.value.diagnostics)
    assert codes == [*["retired-rubric-dialect"] * 2, *["turn-that-does-not-exist"] * 2, "unknown-value"]
    assert main(["harness", str(tmp_path), "--model", "scripted:none", "--out", str(tmp_path / "run")]) == 3


def test_an_empty_scenario_file_is_refused_and_not_left_out(tmp_path: Path) -> None:
    scenarios = write(tmp_path, marked())
    (scenarios / "empty.yaml").touch()
    with pytest.raises(DocumentError) as caught:
        compile_run_plan([scenarios])
    assert [each.code for each in caught.value.diagnostics] == ["empty-document"]


def test_the_published_conversations_are_played_again_word_for_word(tmp_path: Path) -> None:
    """The recorded answers of two models, given once more: the user says the same and takes the same branches."""
    shared = folder("invisiblebench")
    project = load_project(ROOT / "benchmark" / "invisiblebench", {"RULEWRIGHT_SHARED": str(shared.parent)})
    plan = compile_run_plan([shared / "scenarios"], project)
    recorded: dict[str, dict[str, Transcript]] = {}
    for found in Reader().read([shared / "transcripts" / "real"]):
        assert isinstance(found, Transcript)
        recorded.setdefault(found.model, {})[found.scenario_id] = found
    compared = branched = 0
    for model, conversations in recorded.items():
        answers = {
            name: [turn.content for turn in talk.turns if turn.role == "assistant"]
            for name, talk in conversations.items()
        }
        out = tmp_path / model
        run(plan, ScriptedAdapter(dict(answers), model), out, attempts=1, parallel=2)
        for played in Reader().read([out / "transcripts"]):
            assert isinstance(played, Transcript)
            before = conversations.get(played.scenario_id)
            if before is None:  # one scenario was published without its conversation
                continue
            assert [(t.turn, t.role, t.content, t.branch_id) for t in played.turns] == [
                (t.turn, t.role, t.content, t.branch_id) for t in before.turns
            ]
            compared += 1
            branched += sum(turn.branch_id is not None for turn in played.turns)
    assert compared == 126
    assert branched > 0


def test_the_shipped_scenarios_can_be_played() -> None:
    plan = compile_run_plan([ROOT / "benchmark" / "scenarios"])
    names = [script.id for script in plan.scripts]
    assert "back_after_the_fall" in names
    assert names == sorted(names)
    assert any(turn.branches for script in plan.scripts for turn in script.turns)


def test_an_open_scenario_has_nothing_to_play(tmp_path: Path) -> None:
    text = '{"scenario_id": "chat", "title": "t", "category": "empathy", "open": true}'
    (tmp_path / "chat.json").write_text(text, encoding="utf-8")
    with pytest.raises(
        UsageError, match=f"no scenario to play in `{tmp_path}`; expected one with `turns` or `sessions`"
    ):
        compile_run_plan(iter([tmp_path]))


def needs(folder: Path, server: Server, *options: str) -> int:
    words = ["harness", str(folder / "s"), "--model", f"openai:m@{server.base}", "--user", f"openai:u@{server.base}"]
    return main([*words, "--out", str(folder / "run"), "--ledger", str(folder / "l.sqlite3"), *options])


def test_a_limit_below_what_a_run_needs_refuses_before_anything_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    turns = [{"turn_number": number, "user_message": f"Message {number}."} for number in (1, 2, 3)]
    scenario = {"scenario_id": "a", "title": "t", "category": "empathy", "turns": turns}
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.json").write_text(json.dumps(scenario), encoding="utf-8")
    with model_server(lambda asked, _: chat(f"I am {asked['model']}.")) as server:
        assert needs(tmp_path, server, "--max-calls", "5") == 3
        assert "at least 6 calls are needed, and no more than 5" in capsys.readouterr().err
        assert needs(tmp_path, server, "--max-tokens", "1000") == 3  # a reply may have 1024
        assert needs(tmp_path, server, "--max-usd", "1") == 3
        assert server.requests == []
        assert needs(tmp_path, server, "--max-calls", "6", "--max-tokens", "9000") == 0
        assert len(server.requests) == 6
        for path in (tmp_path / "run").rglob("*.json*"):
            path.unlink()
        assert needs(tmp_path, server, "--max-calls", "0") == 0  # the ledger answers
        other = ["--sample", "1", "--out", str(tmp_path / "other")]
        assert needs(tmp_path, server, "--max-calls", "5", *other) == 3
        assert needs(tmp_path, server, "--max-calls", "5", *other, "--resume") == 3
        assert "at least 6 calls are needed" in capsys.readouterr().err
        assert len(server.requests) == 6
        assert needs(tmp_path, server, "--max-calls", "6", *other) == 0
        (tmp_path / "l.sqlite3").unlink()  # what is played is counted by the run alone
        assert needs(tmp_path, server, "--max-calls", "0", *other, "--resume") == 0
        assert len(server.requests) == 12


@pytest.mark.parametrize("number", ["nan", "inf", "-0.5", "11", "warm"])
def test_an_invalid_temperature_is_refused(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["harness", ".", "--model", "scripted:a.json", "--out", "run", f"--temperature={number}"]) == 3
    assert "argument --temperature: " in capsys.readouterr().err
