"""Redaction: what a project wants replaced is neither judged, nor sent, nor stored."""

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.compiler.commands.test_live_judge import CHECK
from tests.folders import write, write_turns
from tests.model_server import Response, chat, model_server
from tests.runtime.plans import asked, plan
from tests.runtime.runs.watched_run import judge

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.project import load_project
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.plan.file import decode
from rulewright_runtime.runs.store import run
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, ToolCall, Transcript
from rulewright_runtime.transcripts.redaction import Redaction

PROJECT = "project: p\nredact:\n  - pattern: '[\\w.]+@[\\w.]+\\w'\n    replacement: '[a@mail.x]'\n"
SCENARIO = {
    "scenario_id": "s",
    "title": "t",
    "category": "empathy",
    "turns": [{"turn_number": 1, "user_message": "write to ana@b.org"}],
}
MAIL = (r"[\w.]+@[\w.]+\w", r"[\1mail]")


def test_rules_are_applied_in_their_order_and_replacements_are_taken_as_they_are_written() -> None:
    assert Redaction([MAIL, ("secret", "x"), ("x", "y")]).text("ana@b.org, secret") == r"[\1mail], y"
    assert Redaction([]).text("as it is") == "as it is"


def test_a_pattern_that_re2_refuses_is_an_error() -> None:
    with pytest.raises(PlanError, match="is refused"):
        Redaction([(r"(?=x)", "")])


def test_every_text_of_a_recorded_conversation_is_redacted() -> None:
    calls = (ToolCall("c", "send", {"to": ["ana@b.org"], "n": 1}, '{"to": "ana@b.org"}'),)
    parts = (Part(text="ana@b.org"), Part("file", reference="https://ana@b.org/report.pdf"))
    said = Message("assistant", parts, tool_calls=calls, reasoning="ana@b.org", refusal="ana@b.org")
    asked = Message("user", (Part(text="Hello."),), "ana@b.org", usage={"paid_by": "ana@b.org"})
    mail = {"mail": "ana@b.org"}
    conversation = Conversation("x", (asked, said), expected=mail, metadata=mail, usage=mail)
    made = Redaction([MAIL]).transcript(Transcript.of(conversation))
    assert "b.org" not in msgspec.json.encode(made).decode()


def test_nothing_that_is_redacted_leaves_or_stays(tmp_path: Path) -> None:
    turns = [("user", "write to ana@example.org"), ("assistant", "I wrote to ana@example.org just now.")]
    lines = [json.dumps({"turn": 1, "role": role, "content": said}) for role, said in turns]
    (tmp_path / "m0__s.jsonl").write_text("\n".join(lines), encoding="utf-8")
    evidence = [{"role": "assistant", "turn": 1, "quote": "I wrote to [mail] just now."}]
    reply = json.dumps({"verdict": "FAIL", "evidence": evidence})
    with model_server(lambda *_: chat(reply)) as server:
        made = judge(server, tmp_path / "ledger.sqlite3")
        redacting = replace(plan(asked()), redact=((MAIL[0], "[mail]"),))
        run(redacting, [tmp_path / "m0__s.jsonl"], tmp_path / "run", judge=made)
        assert "[mail]" in json.dumps(server.requests)
        assert "example.org" not in json.dumps(server.requests)
    stored = b"".join(path.read_bytes() for path in [*(tmp_path / "run").iterdir(), *tmp_path.glob("ledger*")])
    assert b"example.org" not in stored
    assert b'"unverified_evidence"' not in stored


@pytest.mark.parametrize("conversation", ["as the scenario has it", "as a harness redacted it"])
def test_a_redacted_script_lacks_nothing(conversation: str, tmp_path: Path) -> None:
    """The user's messages are compared with the scenario's after redaction, and with the plan alone."""
    write(tmp_path, {"rulewright.yaml": PROJECT, "checks/A-1.yaml": CHECK, "scenarios/s.json": json.dumps(SCENARIO)})
    said = "write to ana@b.org" if conversation.startswith("as the") else "write to [a@mail.x]"
    write_turns(tmp_path / "m0__s.jsonl", said, "ana@b.org!")
    compiled = decode(encode(compile_project(tmp_path)))
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        run(compiled, [tmp_path / "m0__s.jsonl"], tmp_path / "run", judge=judge(server, tmp_path / "ledger.sqlite3"))
        assert "[[a@mail.x]]" in json.dumps(server.requests) or conversation.startswith("as the")
        assert "b.org" not in json.dumps(server.requests)
    summary = json.loads((tmp_path / "run" / "summary.json").read_bytes())
    assert (summary["incomplete"]["count"], summary["outcomes"]["passed"]) == (0, 1)


def test_a_harness_redacts_what_it_sends_and_what_it_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rulewright.yaml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "s.json").write_text(json.dumps(SCENARIO), encoding="utf-8")
    replies = iter([chat("call me: bot\u0040c.org"), Response(400, b'{"error": {"message": "no bot\\u0040c.org"}}')])
    with model_server(lambda *_: next(replies)) as server:
        for sample in "01":
            command = f"harness scenarios --model openai:m@{server.base} --out run{sample} --sample {sample}"
            assert main(command.split()) == int(sample)
        assert "ana" not in json.dumps(server.requests)
    capsys.readouterr()
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".yaml"]
    stored = b"".join(path.read_bytes() for path in kept if path.parent.name != "scenarios")
    assert b"call me: [a" in stored
    assert b"ana@" not in stored
    assert b"c.org" not in stored


def test_a_refused_pattern_is_reported_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: p\nredact:\n  - pattern: (?=x)\n", encoding="utf-8")
    (found,) = (each for each in load_project(tmp_path).diagnostics if each.code == "invalid-regex")
    assert (found.span.line, found.help is not None) == (3, True)


def test_a_run_is_not_resumed_under_other_rules(tmp_path: Path) -> None:
    (tmp_path / "m0__s.jsonl").write_text(
        json.dumps({"turn": 1, "role": "assistant", "content": "x"}), encoding="utf-8"
    )
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        for rules in ((), (MAIL,)):
            made = judge(server, tmp_path / "ledger.sqlite3")
            arguments = seal(replace(plan(asked()), redact=rules)), [tmp_path / "m0__s.jsonl"], tmp_path / "run"
            if rules:
                with pytest.raises(PlanError):
                    run(*arguments, judge=made, resume=True)
            else:
                run(*arguments, judge=made)
