"""A model plays the user: what it is given, what is recorded of it, and that what it fails to say is missing."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.model_server import Response, Server, chat, model_server
from tests.runtime.harness.test_model_adapter import LIMITS, lines
from tests.runtime.harness.test_play import files, plan, read
from tests.runtime.plans import check, judging, talk
from tests.runtime.plans import plan as scan_plan

from rulewright_runtime.calls.budget import Budget, BudgetError
from rulewright_runtime.calls.scheduler import CallPortal
from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import execute
from rulewright_runtime.harness.harness_run import run
from rulewright_runtime.harness.model_adapter import ModelAdapter
from rulewright_runtime.harness.simulated_user import SimulatedUser
from rulewright_runtime.judging.independence import Independence
from rulewright_runtime.models.http import HttpModel
from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.plan.judge_needs import reads_script
from rulewright_runtime.plan.question import AnchoredWindow
from rulewright_runtime.plan.scan import Probe, Scenario, ScriptedTurn
from rulewright_runtime.plan.verifiers import JudgeVerifier, ProbeVerifier, RubricVerifier
from rulewright_runtime.transcripts.completeness import Completeness, ScriptedScenario, message_digest
from rulewright_runtime.transcripts.messages import Transcript, Turn

USER = "the-user"


def answer(asked: dict[str, Any], _: int = 0) -> Response:
    """The user says what it is asked to say in capitals; the model says what it heard."""
    last = asked["messages"][-1]["content"]
    if asked["model"] == USER:
        return chat(last.partition("say in it:\n\n")[2].partition("\n")[0].upper(), model="user-7")
    return chat(f"I heard: {last}")


def played(server: Server, folder: Path, calls: int | None = None, user: str = USER, **how: Any) -> dict[str, Any]:
    """The summary of a run over two scenarios of two sessions."""
    portals: list[CallPortal] = []

    def opened(model: Any) -> CallPortal:
        portals.append(
            portals[0].for_model(model)
            if portals
            else CallPortal(model, str(folder / "ledger.sqlite3"), "run", LIMITS, Budget(calls))
        )
        return portals[-1]

    first, second = (
        ModelAdapter(HttpModel("openai", name, server.base, None), opened, max_tokens=99)
        for name in ("the-model", user)
    )
    made = plan("a", "b", sessions=2)
    persona = (("name", "Ana"), ("role", "carer"))
    made = seal(replace(made, scripts=tuple(replace(each, persona=persona) for each in made.scripts)))
    first.open()
    second.open()
    try:
        return run(made, first, folder / "run", attempts=1, user=SimulatedUser(second, first.model), **how)
    finally:
        second.close()
        first.close()


def untimed(run: Path) -> dict[str, bytes]:
    """The transcripts of a run without the latencies of their replies."""
    return {name: re.sub(rb'"latency":[\d.e-]+', b"", data) for name, data in files(run).items()}


def test_a_model_says_in_its_own_words_what_the_scenario_wants(tmp_path: Path) -> None:
    with model_server(answer) as server:
        summary = played(server, tmp_path)
        asked = [each for each in server.requests if each["model"] == USER]
    assert (summary["turns"], summary["errors"], summary["user"]) == (8, 0, USER)
    first, reply = lines(tmp_path)[:2]
    assert (first["content"], first["harness"], first["model"]) == ("A FIRST 1", "user:the-user", USER)
    assert (first["served_model"], first["usage"]["output_tokens"]) == ("user-7", 7)
    assert first["parameters"] == {"max_tokens": 99}
    assert (reply["content"], reply["harness"]) == ("I heard: A FIRST 1", "llm/raw")
    told = asked[1]["messages"]
    assert [each["role"] for each in told] == ["system", "user"]
    assert "role: carer" in told[0]["content"]
    assert "| I heard: A FIRST 1" in told[1]["content"] or "| I heard: B FIRST 1" in told[1]["content"]
    assert read(tmp_path / "run")["a"].simulated_by == (USER,)
    assert read(tmp_path / "run")["a"].harness == "llm/raw, user:the-user"


def test_the_model_under_evaluation_does_not_learn_who_plays_the_user(tmp_path: Path) -> None:
    with model_server(answer) as server:
        played(server, tmp_path)
        subject = [json.dumps(each["messages"]) for each in server.requests if each["model"] != USER]
    assert not any("carer" in each or "first 1" in each or USER in each for each in subject)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (lambda: Response(400, b'{"error": {"message": "not this"}}'), "not this"),
        (lambda: chat("..."), "no visible text"),
        (lambda: chat(None, refusal="I can't play this."), "refusal"),
        (lambda: chat("Half of", finish="length"), "length"),
        (lambda: chat("x", finish="content_filter"), "filter"),
    ],
)
def test_a_user_that_says_nothing_whole_ends_the_conversation_with_an_error(bad: Any, why: str, tmp_path: Path) -> None:
    failing = [True]

    def handler(asked: dict[str, Any], number: int) -> Response:
        wanted = asked["messages"][-1]["content"]
        fails = failing and asked["model"] == USER and "a then 1" in wanted
        return bad() if fails else answer(asked, number)

    with model_server(handler) as server:
        summary = played(server, tmp_path)
        error = summary["by_scenario"]["a"]["error"]
        assert (summary["errors"], summary["by_scenario"]["a"]["turns"]) == (1, 1)
        assert (error["turn"], error["role"]) == (2, "user")
        assert why in error["message"]
        assert lines(tmp_path)[-1]["content"] == ""
        gaps = of("a", read(tmp_path / "run")["a"]).gaps
        assert next(gap.kind for gap in gaps if gap.turn == 2) == "failed_turn"
        failing.clear()
        before = len(server.requests)
        fresh = bad().status != 200  # an answer stands in the ledger, whatever it says
        assert played(server, tmp_path, resume=True)["errors"] == (0 if fresh else 1)
        assert len(server.requests) == before + (6 if fresh else 0)


def of(name: str, transcript: Transcript) -> Completeness:
    """What a transcript lacks of the scenario that `plan` makes of this name."""
    said = [turn.user_message for script in plan(name, sessions=2).scripts for turn in script.turns]
    turns = tuple(ScriptedTurn(number, {message_digest(text): ("",)}) for number, text in enumerate(said, 1))
    return ScriptedScenario(Scenario(turns=turns)).completeness(transcript.turns)


def test_a_simulated_conversation_is_complete_when_it_has_the_turns_of_the_plan(tmp_path: Path) -> None:
    with model_server(answer) as server:
        played(server, tmp_path)
    transcript = read(tmp_path / "run")["a"]
    assert of("a", transcript).gaps == ()
    kinds = {gap.kind for gap in of("a", replace(transcript, turns=transcript.turns[:-2])).gaps}
    assert kinds == {"missing_turn"}
    unmarked = tuple(replace(turn, harness=None) for turn in transcript.turns)
    assert {gap.kind for gap in of("a", replace(transcript, turns=unmarked)).gaps} == {"other_message"}
    silent = (replace(transcript.turns[0], content="..."), *transcript.turns[1:])
    assert [gap.kind for gap in of("a", replace(transcript, turns=silent)).gaps] == ["other_message"]
    branched = (replace(transcript.turns[0], branch_id="none such"), *transcript.turns[1:])
    assert [gap.kind for gap in of("a", replace(transcript, turns=branched)).gaps] == ["other_branch"]


def test_it_is_resumed_without_asking_again_and_paid_for_once(tmp_path: Path) -> None:
    with model_server(answer) as server:
        played(server, tmp_path / "whole")
        whole, number = untimed(tmp_path / "whole" / "run"), len(server.requests)
        with pytest.raises(BudgetError):
            played(server, tmp_path, calls=5)
        assert len(server.requests) == number + 5  # of both models together
        played(server, tmp_path, resume=True)
        assert len(server.requests) == 2 * number
        assert untimed(tmp_path / "run") == whole
        for path in (tmp_path / "run" / "transcripts").iterdir():
            path.unlink()
        played(server, tmp_path)
        assert (len(server.requests), untimed(tmp_path / "run")) == (2 * number, whole)
        with pytest.raises(PlanError, match="another plan, model, user"):
            played(server, tmp_path, user="another-user", resume=True)


def test_a_check_that_was_written_for_the_scenarios_words_says_who_said_others() -> None:
    said = talk("I lost River.", "I am sorry about River.")
    simulated = replace(said, turns=(replace(said.turns[0], harness="user:gpt-5"), said.turns[1]))
    probing = Scenario(probes=(Probe(1, "recall", expected=("River",)),))
    for transcript, extra in ((said, None), (simulated, ["gpt-5"])):
        made = scan_plan(check(ProbeVerifier(("recall",)), "P"), check(name="L"), scenario=probing)
        (result,) = execute(made, [transcript])
        assert [each.extra.get("simulated_user") for each in result.verdicts] == [extra, None]


def test_checks_of_probes_rubrics_and_anchored_windows_are_written_for_the_scenarios_words() -> None:
    anchored = JudgeVerifier(judging(window=AnchoredWindow()))
    verifiers = (ProbeVerifier(("recall",)), RubricVerifier(judging(), 1, "binary"), anchored, JudgeVerifier(judging()))
    assert [reads_script(check(each)) for each in verifiers] == [True, True, True, False]


def test_a_judge_of_the_family_that_played_the_user_is_not_independent() -> None:
    said = (Turn(1, "user", "hm", harness="user:gpt-5"), Turn(1, "assistant", "So?", harness="llm/raw"))
    played = Transcript("t", "s", "claude-opus-4", said)
    assert played.authors == ("claude-opus-4", "gpt-5")
    assert "`gpt-5`" in (Independence().refusal_among("gpt-4o", played.authors) or "")
    assert Independence().refusal_among("qwen3", played.authors) is None
    assert Independence((), (("gpt-5", "there is no other"),)).refusal_among("gpt-4o", played.authors) is None
