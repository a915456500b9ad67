"""Chats without a scenario in reports: a group of their own; a reply that only calls a tool; a table read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.shared_data import ROOT

import rulewright
from rulewright.cli import main
from rulewright.serving.open_runs import open_runs

DESK = ROOT / "benchmark" / "service_desk"
CALL = {"id": "c1", "type": "function", "function": {"name": "close_account", "arguments": "{}"}}


def chat(name: str, *replies: dict[str, object]) -> str:
    asked = {"role": "user", "content": "Please close my account."}
    messages = [asked, *({"role": "assistant", **reply} for reply in replies)]
    return json.dumps({"id": name, "model": "m1", "messages": messages}) + "\n"


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_text(
        chat("calls", {"content": None, "tool_calls": [CALL]})
        + chat("talks", {"content": "I can help with that. What is your name?"})
        + chat("silent", {"content": ""}),
        encoding="utf-8",
    )
    return path


def test_only_expressions_judge_a_reply_that_only_calls_a_tool(chats: Path, tmp_path: Path) -> None:
    run = rulewright.scan(str(DESK), chats, tmp_path / "run")
    assert [row["transcript_id"] for row in run.summary["incomplete"]["transcripts"]] == ["silent"]
    routes = {check.id: check.route for check in run.plan.checks}
    found: dict[str, dict[str, tuple[str, str | None]]] = {}
    for row in run.records():
        if row["eligible"]:
            found.setdefault(row["transcript_id"], {})[row["check_id"]] = (row["verdict"], row["code"])
    judged = {check for check, (verdict, _) in found["calls"].items() if verdict != "UNCLEAR"}
    assert {routes[check] for check in judged} == {"expression"}
    assert "identity-not-verified" in judged
    others = {check: found["calls"][check] for check in found["calls"] if routes[check] != "expression"}
    assert others
    assert {verdict for verdict, _ in others.values()} == {"UNCLEAR"}
    assert all(code for _, code in others.values())
    assert {verdict for verdict, _ in found["silent"].values()} <= {"UNCLEAR", "FAIL"}


def test_chats_without_a_scenario_are_a_group_with_a_name(
    chats: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rulewright.scan(str(DESK), chats, tmp_path / "run")
    main(["leaderboard", str(tmp_path / "run"), "--harness", "unrecorded"])
    assert "Rulewright leaderboard: chats without a scenario, profile all" in capsys.readouterr().out
    main(["report", str(tmp_path / "run")])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Scenarios" not in page
    main(["init", str(tmp_path / "project")])
    rulewright.scan(str(tmp_path / "project"), [chats, tmp_path / "project" / "transcripts"], tmp_path / "mixed")
    main(["report", str(tmp_path / "mixed"), "--one-file"])
    page = (tmp_path / "mixed" / "report.html").read_text(encoding="utf-8")
    assert '<code class="soft"></code>' not in page
    assert "<h3>Scenarios</h3>" in page
    assert "without a scenario" in page


def test_a_report_reads_a_table_with_the_columns_of_the_scan(tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text('frage,antwort\n"Was kostet das?","Zwei Euro im Monat, sagt die Liste."\n', encoding="utf-8")
    words = ["--project", str(DESK), "--out", str(tmp_path / "run"), "--columns", "user=frage,assistant=antwort"]
    main(["scan", str(table), *words, "--fail-on", "never"])
    main(["report", str(tmp_path / "run")])
    assert "Zwei Euro im Monat" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    (served,) = open_runs([str(tmp_path / "run")], (), ())
    assert served.conversation(served.load().index.judged(1)) is not None
