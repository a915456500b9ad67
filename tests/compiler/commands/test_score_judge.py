"""`rulewright score` with a judge: what its verdicts change, how its silence is reported, and what it may spend."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.commands.score_in_place import batch, elsewhere, score
from tests.model_server import Response, chat, model_server
from tests.safe_cases import case
from tests.shared_data import ROOT

__all__ = ["elsewhere"]

JUDGED = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text("utf-8")
JUDGED = JUDGED.replace("      of: questions\n", "      of: questions\n      count: true\n      unclear: Review\n")


def test_a_judge_that_makes_a_score_zero_says_why_in_every_report(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2"), case("T3"))
    Path("card.yaml").write_text(JUDGED)
    verdicts = {"T1": "FAIL", "T2": "PASS", "T3": "UNCLEAR"}
    reply = {name: {"verdict": verdict, "rationale": f"They |blame| {name}"} for name, verdict in verdicts.items()}
    replies = {name: {"AH": [[json.dumps(each)]]} for name, each in reply.items()}
    Path("replies.json").write_text(json.dumps(replies))
    words = ["--batch", "b", "--scorecard", "card.yaml", "--judge", "replay:replies.json"]
    assert score(*words) == 1
    shown = capsys.readouterr().out
    assert "\nJudged:\n  T1  AH 0.00  FAIL: They |blame| T1\n  T3  AH 1.00  UNCLEAR: They |blame| T3\n" in shown
    for form in ("md", "html", "xml"):
        score(*words, "--output", f"r.{form}")
    assert "| T1 | AH 0.00 | FAIL | They \\|blame\\| T1 |" in Path("r.md").read_text("utf-8")
    assert "<tr><td>T1</td><td>AH 0.00</td><td>FAIL</td><td>They |blame| T1</td></tr>" in Path("r.html").read_text(
        "utf-8"
    )
    assert "AH 0.00 judged FAIL: They |blame| T1" in Path("r.xml").read_text("utf-8")
    assert score("--batch", "b", "--judge", "replay:replies.json") == 0
    assert "  T1  AH 1.00  FAIL (a hint): They |blame| T1\n" in capsys.readouterr().out


def test_a_judge_may_be_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2"))
    with model_server(lambda *_: chat('{"verdict": "FAIL", "rationale": "They blame"}')) as server:
        for _ in range(2):
            assert score("--batch", "b", "--judge", f"openai:a-model@{server.base}") == 0
            assert "  T1  AH 1.00  FAIL (a hint): They blame\n" in capsys.readouterr().out
        assert len(server.requests) == 1  # both cases ask the same, and the second run finds it in the ledger


def test_a_reason_is_not_repeated_from_case_to_case(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"), case("T2", questions=["Is it?"]), case("T3", questions=["Was it?"]))
    reply = [[json.dumps({"verdict": "FAIL", "rationale": "They blame"})]]
    Path("replies.json").write_text(json.dumps({name: {"AH": reply} for name in ("T1", "T2", "T3")}))
    score("--batch", "b", "--judge", "replay:replies.json")
    shown = capsys.readouterr().out.partition("Judged:\n")[2]
    assert shown == "".join(
        f"  {name}  AH 1.00  FAIL (a hint): {why}\n"
        for name, why in (("T1", "They blame"), ("T2", "as above"), ("T3", "as above"))
    )


def test_an_abandoned_judge_is_reported_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", *(case(f"T{number}", questions=[f"Is it {number}?"]) for number in range(20)))
    with model_server(lambda *_: chat("Sure!")) as server:
        assert score("--batch", "b", "--judge", f"openai:a-model@{server.base}") == 2
        assert len(server.requests) == 16
    told = capsys.readouterr().err
    assert "judge to 20 of 20 questions about AH: the judge failed: none of the first 16 replies of the judge" in told
    assert f"help: once `rulewright models check openai:a-model@{server.base}` says that it can judge, " in told
    assert told.strip().endswith("--resume`, which asks all remaining questions")
    with model_server(lambda *_: chat('{"verdict": "PASS"}', finish="length")) as server:
        batch("one", case("T1"))
        words = ("--format", "junit", "--output", "one.xml")
        assert score("--batch", "one", "--judge", f"openai:a-model@{server.base}", *words) == 2
    assert "help: " not in capsys.readouterr().err
    assert "1 question without a usable reply of the judge" in Path("one.xml").read_text(encoding="utf-8")


def test_a_judge_that_refuses_the_first_cases_is_asked_to_the_end_with_resume_and_paid_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch("b", *(case(f"T{number:02}", questions=[f"Is it {number}?"]) for number in range(20)))

    def answer(body: dict[str, Any], _: int) -> Response:
        refused = any(f"Is it {number}?" in json.dumps(body) for number in range(16))
        return chat(None, refusal="No.") if refused else chat('{"verdict": "PASS"}')

    with model_server(answer) as server:
        judge = ["--batch", "b", "--judge", f"openai:a-model@{server.base}"]
        assert score(*judge) == 2
        stopped = len(server.requests)
        assert stopped == 16
        capsys.readouterr()
        assert score(*judge, "--resume") == 2
        assert "16 of 20 questions about AH" in capsys.readouterr().err
        finished = len(server.requests)
        for words in (judge, [*judge, "--resume"]):
            assert score(*words) == 2
            assert "16 of 20 questions about AH" in capsys.readouterr().err
        assert len(server.requests) == finished  # every answer is in the ledger


def test_resume_without_a_judge_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1"))
    assert score("--resume") == 3
    assert "error: `--resume` asks a judge the remaining questions; name it with `--judge`" in capsys.readouterr().err


def test_a_limit_below_what_the_cases_ask_refuses_before_anything_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    batch("b", case("T1", questions=["Who?"]), case("T2", questions=["Why?"]))
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        judge = ["--batch", "b", "--judge", f"openai:a-model@{server.base}"]
        for limit, said in (
            ("--max-calls=1", "at least 2 calls are needed, and no more than 1"),
            ("--max-tokens=4000", "tokens are needed"),  # a reply may have as many
            ("--max-usd=5", "needs a price for `a-model`"),
        ):
            assert score(*judge, limit) == 3
            assert said in capsys.readouterr().err
        assert server.requests == []
        assert score(*judge, "--max-calls", "2", "--max-tokens", "9000") == 0
        assert len(server.requests) == 2
        assert score(*judge, "--max-calls", "0") == 0  # the ledger answers
