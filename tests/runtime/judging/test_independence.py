"""Independence: no judge judges itself or its own family, unless the project allows it in writing."""

import json
from pathlib import Path

import pytest
from tests.model_server import chat, model_server
from tests.runtime.plans import asked, plan
from tests.runtime.runs.test_live import verdicts
from tests.runtime.runs.watched_run import judge, transcripts

from rulewright_runtime.judging.independence import Independence, NotIndependentError
from rulewright_runtime.models.http import HttpModel
from rulewright_runtime.plan.question import TextSegment
from rulewright_runtime.runs.live import JudgeSettings, LiveJudge
from rulewright_runtime.runs.store import run
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.writing import WRITERS

PLAN = plan(asked(prompt=(TextSegment("One?"),)))
PASS = json.dumps({"verdict": "PASS"})


@pytest.mark.parametrize(
    ("judge", "subject"),
    [
        ("gpt-5", "gpt-5"),
        ("gpt-5", "openai/gpt-4o-mini"),
        ("o3", "gpt-4.1"),
        ("claude-opus-4-7", "anthropic/claude-3.5-haiku"),
        ("qwen3:32b", "Qwen2.5-7B-Instruct"),
        ("some-bot", "some-bot"),
        ("some_bot", "vendor/some-bot:latest"),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-1.7b"),
        ("my bot.gguf", "my-bot"),
        ("gpt-5", "gрt-4o"),  # a Cyrillic `р`
        ("some-bοt", "some-bot"),  # a Greek `ο`
        ("модель", "МОДЕЛЬ"),
        *(("gpt-5", f"g{hidden}pt-4o") for hidden in "\u0301\u20dd\u0903\u3164\u2800\x01\u200d\U000e0067"),
        ("gpt-5", "ｇｐｔ-4o"),
        ("gpt-5", "ԍрт-4о"),  # all letters are Cyrillic
        ("gpt-5", "ꓖꓑꓔ-4o"),  # Lisu letters and a Latin one: nobody knows what it is
        ("a-bot", "🅖pt-4o"),
    ],
)
def test_one_model_or_family_is_refused(judge: str, subject: str) -> None:
    assert Independence().refusal(judge, subject) is not None
    assert Independence(allowed=((subject.upper(), "a reason"),)).refusal(judge, subject) is None


@pytest.mark.parametrize(
    ("judge", "subject"),
    [
        ("gpt-5", "claude-opus-4-7"),
        ("gpt-5", "my-bot"),
        ("a-bot", "b-bot"),
        ("a-bot", ""),
        ("модель-а", "模型"),
        ("gpt-5", "通义千问-max"),
        ("gpt-5", "rødgrød"),
        ("gpt-5", "राम-२"),
    ],
)
def test_others_are_not(judge: str, subject: str) -> None:
    assert Independence().refusal(judge, subject) is None


def test_a_project_names_the_family_of_a_name_that_mixes_alphabets() -> None:
    assert "mixes alphabets" in str(Independence().refusal("gpt-5", "модель-7b"))
    assert Independence(families=(("модель*", "модель"),)).refusal("gpt-5", "модель-7b") is None


def test_a_project_names_families_before_the_shipped_ones() -> None:
    independence = Independence(families=(("My-Bot*", "gpt"), ("gpt-oss*", "oss")))
    assert independence.refusal("gpt-5", "my-bot-2") is not None
    assert independence.refusal("gpt-5", "gpt-oss-120b") is None
    assert (independence.is_known("my-bot"), independence.is_known("other")) == (True, False)


def test_a_transcript_of_the_judges_family_is_refused_and_counted_before_anything_is_sent(tmp_path: Path) -> None:
    folder = transcripts(tmp_path / "t", 2)
    (folder / "m0__s.jsonl").rename(folder / "some-model__s.jsonl")
    with model_server(lambda *_: chat(PASS)) as server:
        summary = run(PLAN, [folder], tmp_path / "run", judge=judge(server, tmp_path / "ledger.sqlite3"))
        assert len(server.requests) == 1
    assert [each["path"] for each in summary["refused"]["inputs"]] == [str(folder / "some-model__s.jsonl")]
    assert "judges itself" in summary["refused"]["inputs"][0]["reason"]


def test_what_is_allowed_is_judged_and_the_run_says_why(tmp_path: Path) -> None:
    folder = transcripts(tmp_path / "t", 1)
    (folder / "m0__s.jsonl").rename(folder / "some-model__s.jsonl")
    allowed = Independence(allowed=(("some-*", "one model for everything"),))
    with model_server(lambda *_: chat(PASS)) as server:
        made = judge(server, tmp_path / "ledger.sqlite3", independence=allowed)
        summary = run(PLAN, [folder], tmp_path / "run", judge=made)
    assert [each["verdict"] for each in verdicts(tmp_path / "run")] == ["PASS"]
    assert summary["judge"]["parameters"]["same_family"] == {"some-*": "one model for everything"}


def test_an_endpoint_that_serves_the_subjects_family_under_another_name_ends_the_run(tmp_path: Path) -> None:
    folder = transcripts(tmp_path / "t", 1)
    (folder / "m0__s.jsonl").rename(folder / "gpt-4o__s.jsonl")
    with model_server(lambda *_: chat(PASS, model="gpt-4o-2026")) as server, pytest.raises(NotIndependentError):
        run(PLAN, [folder], tmp_path / "run", judge=judge(server, tmp_path / "ledger.sqlite3"))


TURNS = [{"turn": 1, "role": "user", "content": "Help."}, {"turn": 1, "role": "assistant", "content": "Sorry."}]
CHAT = {"messages": [{"role": "user", "content": "Help."}, {"role": "assistant", "content": "Hi.", "model": "gpt-4o"}]}

CALLING = {
    "role": "assistant",
    "model": "gpt-4o",
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
}
ANSWERED = ({"role": "tool", "tool_call_id": "1", "content": "Fine."}, {"role": "assistant", "content": "Hi."})


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("alias__s.jsonl", [TURNS[0], {**TURNS[1], "model": "alias", "served_model": "gpt-4o-2024"}]),
        ("alias__s.jsonl", [TURNS[0], {**TURNS[1], "model": "gpt-4o", "usage": {}, "parameters": {}}]),
        ("alias__s.jsonl", [{**TURNS[0], "harness": "user:u", "served_model": "gpt-4o"}, TURNS[1]]),
        ("b.jsonl", [{"scenario_id": "s", "model": "alias", "turns": [TURNS[0], {**TURNS[1], "served_model": "o3"}]}]),
        ("chats.jsonl", [{"model": "alias", **CHAT}]),
        ("chats.jsonl", [CHAT]),
        ("chats.jsonl", [{"model": "alias", "messages": [*CHAT["messages"][:1], CALLING, *ANSWERED]}]),
    ],
)
def test_the_judge_may_not_be_the_model_behind_the_name_of_another(
    name: str, lines: list[dict[str, object]], tmp_path: Path
) -> None:
    (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with model_server(lambda *_: chat(PASS)) as server:
        made = LiveJudge(
            HttpModel("openai", "gpt-5", server.base, None), JudgeSettings(str(tmp_path / "ledger.sqlite3"))
        )
        summary = run(PLAN, [tmp_path / name], tmp_path / "run", judge=made)
        assert server.requests == []
    assert "is of the family `gpt`, as the model" in summary["refused"]["inputs"][0]["reason"]


def test_the_names_of_a_turns_model_are_kept_when_it_is_converted(tmp_path: Path) -> None:
    line = {"scenario_id": "s", "model": "alias", "turns": [TURNS[0], {**TURNS[1], "model": "m", "served_model": "o3"}]}
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps(line) + "\n")
    for written in ("turns", "rulewright", "openai", "turns"):
        (found,) = Reader().read([path])
        assert isinstance(found, Transcript)
        assert found.authors == ("alias", "m", "o3")
        path = tmp_path / f"{written}.jsonl"
        path.write_bytes(WRITERS[written](found))
