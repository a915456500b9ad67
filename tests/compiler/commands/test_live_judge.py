"""Live judging from the command line: settings, limits, and what is said before anything is sent."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.folders import json_lines, write, write_lines
from tests.model_server import Response, Server, chat, model_server

from rulewright.arguments.shared_options import how_to_continue
from rulewright.cli import main
from rulewright_runtime.calls import scheduler

CHECK = """\
id: A-1
name: a
primary_bucket: C
severity: S3
hard_fail: false
scope: universal
scorer: {type: llm_verifier, repetitions: 3, require_evidence_span: true, unclear_policy: adjudicate}
routing: {route: llm_primary, unit_of_analysis: local_exchange, llm_required: true, repetitions: 3}
prompt: Does the assistant ask?
"""


def project(folder: Path, judge: str, more: str = "") -> Path:
    """A project with one check, an open scenario and one conversation, and this part `judge`."""
    files = {
        "rulewright.yaml": f"project: p\nscorecard: two-tier\npricing: pricing.yaml\n{more}judge:\n{judge}",
        "pricing.yaml": "priced-model: [1.0, 2.0]\n",
        "checks/A-1.yaml": CHECK,
        "scenarios/chat.json": '{"scenario_id": "chat", "title": "t", "category": "empathy", "open": true}',
        "t/my-bot__chat.jsonl": json_lines(
            {"turn": 1, "role": role, "content": said}
            for role, said in (("user", "I am tired."), ("assistant", "What would help?"))
        ),
    }
    return write(folder, files)


def scan(folder: Path, *options: str) -> int:
    return main(
        ["scan", str(folder / "t"), "--project", str(folder), "--out", str(folder / "run"), "--overwrite", *options]
    )


def source(server: Server, model: str = "a-model") -> str:
    return f"  source: openai:{model}@{server.base}\n"


def test_a_plan_says_how_many_questions_the_ledger_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server))
        plan = ["plan", str(tmp_path / "t"), "--project", str(tmp_path)]
        assert main(plan) == 0
        assert "ledger" not in capsys.readouterr().out
        scan(tmp_path)
        assert main(plan) == 0
        assert "ledger         answers 2 of the 2 questions asked first" in capsys.readouterr().out
        assert main([*plan, "--ledger", str(tmp_path / "other.sqlite3")]) == 0
        assert "ledger" not in capsys.readouterr().out
        write(tmp_path, {"checks/A-1.yaml": CHECK.replace("ask?", "answer?")})
        asked = len(server.requests)
        assert main(plan) == 0
        assert "ledger         answers 0 of the 2 questions asked first" in capsys.readouterr().out
        assert len(server.requests) == asked


def test_the_project_says_who_judges_and_how(tmp_path: Path) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server) + "  concurrency: 2\n  timeout_seconds: 9\n  max_calls: 9\n")
        assert scan(tmp_path) == 0
        assert 1 < len(server.requests) <= 3


def test_a_limit_of_calls_below_the_least_refuses_before_anything_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server) + "  max_calls: 1\n")
        assert scan(tmp_path) == 3
        assert server.requests == []
        assert "at least 2 calls" in capsys.readouterr().err
        assert scan(tmp_path, "--max-calls", "9") == 0  # the command line comes first
        asked = len(server.requests)
        assert scan(tmp_path) == 0  # the ledger answers: no call is needed
        assert len(server.requests) == asked


@pytest.mark.parametrize("limit", ["max_tokens: 4000", "max_usd: 0.008"])
def test_a_limit_that_no_single_call_fits_into_refuses_before_anything_is_sent(
    limit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reply may have 4000 tokens, which cost 0.008 USD; the prompt comes on top."""
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server, "priced-model") + f"  {limit}\n")
        assert scan(tmp_path) == 3
        assert server.requests == []
        assert f"allowed (`{limit.partition(':')[0]}`)" in capsys.readouterr().err
        project(
            tmp_path, source(server, "priced-model") + f"  {limit.replace('4000', '20000').replace('0.008', '0.1')}\n"
        )
        assert scan(tmp_path) == 0


@pytest.mark.parametrize(("model", "said"), [("priced-model", "under 0.0001 USD"), ("a-model", "unknown price")])
def test_a_report_says_what_the_judge_cost_or_that_its_price_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, said: str
) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server, model))
        assert scan(tmp_path) == 0
    assert main(["report", str(tmp_path / "run"), "--out", "-"]) == 0
    (line,) = re.findall(r"<dt>cost</dt><dd>(.*)</dd>", capsys.readouterr().out)
    assert said in line


def test_replies_recorded_as_lines_answer_no_question_that_has_changed(tmp_path: Path) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server))
        assert scan(tmp_path) == 0
    for name in ("lines.jsonl", "votes.json"):
        assert main(["record", str(tmp_path / "run"), "-o", str(tmp_path / name)]) == 0
    lines, votes = (f"replay:{tmp_path / name}" for name in ("lines.jsonl", "votes.json"))
    assert (scan(tmp_path, "--judge", lines), scan(tmp_path, "--judge", votes)) == (0, 0)
    chat_file = tmp_path / "t" / "my-bot__chat.jsonl"
    chat_file.write_text(chat_file.read_text(encoding="utf-8").replace("What would help?", "Pull yourself together."))
    assert (scan(tmp_path, "--judge", lines), scan(tmp_path, "--judge", votes)) == (2, 0)


def test_a_limit_in_dollars_needs_a_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server) + "  max_usd: 5\n")
        assert scan(tmp_path) == 3
        assert "needs a price for `a-model`" in capsys.readouterr().err
        assert server.requests == []
        project(tmp_path, source(server, "priced-model") + "  max_usd: 5\n")
        assert scan(tmp_path) == 0
        project(tmp_path, source(server) + "  max_usd: 5\n  model: priced-model\n")
        assert scan(tmp_path, "--overwrite") == 0


def test_a_profile_without_judged_checks_needs_neither_the_key_nor_the_price_of_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    project(tmp_path, "  source: openai:a-model\n  max_usd: 1\n", "profiles: profiles.yaml\n")
    check = "id: A-2\nprimary_bucket: C\nseverity: S3\nfail: size(answer) > 80\n"
    write(
        tmp_path,
        {
            "profiles.yaml": "ci: {include_all: true, llm_repetitions: 0}\nfull: {include_all: true}\n",
            "checks/A-2.yaml": check,
        },
    )
    assert scan(tmp_path, "--profile", "full") == 3
    for _ in ("compiled", "cached"):
        assert scan(tmp_path, "--profile", "ci") < 3


def test_families_that_nobody_knows_are_reported_and_one_family_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server))
        assert scan(tmp_path) == 0
        told = capsys.readouterr().err
        assert "warning: the families of `a-model` and `my-bot` are unknown" in told
        assert 'write `families: {"a-model": FAMILY, "my-bot": FAMILY}` under `judge` in the project file' in told
        (tmp_path / "t" / "my-bot__chat.jsonl").unlink()
        (tmp_path / "t" / "chats.jsonl").write_text(json.dumps({"messages": [_HI, *_SAYS]}), encoding="utf-8")
        assert scan(tmp_path) == 0
        assert "family" not in capsys.readouterr().err  # the chat names no model, which no family would tell
        named = json.dumps({"messages": [_HI, *({**each, "model": "their-bot"} for each in _SAYS)]})
        (tmp_path / "t" / "chats.jsonl").write_text(named, encoding="utf-8")
        assert scan(tmp_path) == 0
        assert "warning: the families of `a-model` and `their-bot` are unknown" in capsys.readouterr().err
        (tmp_path / "t" / "chats.jsonl").write_text(json.dumps({"messages": [_HI, *_SAYS]}), encoding="utf-8")
        project(tmp_path, source(server) + '  families: {"my-*": mine, a-model: mine}\n')
        assert scan(tmp_path) == 3
        told = capsys.readouterr().err
        assert "is of the family `mine`" in told
        assert "is unknown" not in told


def test_questions_that_nobody_answered_are_counted_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "FIRST_PAUSE", 0.001)
    replies = iter([chat('{"verdict": "PASS"}')])
    with model_server(lambda *_: next(replies, Response(body=b"<html>log in</html>"))) as server:
        project(tmp_path, source(server))
        assert scan(tmp_path) == 2
    assert re.search(
        r"warning: \d questions? without an answer; the last failure: the response is not JSON", capsys.readouterr().err
    )


@pytest.mark.parametrize(("refused", "said"), [(3, "warning: 1 question without an answer; the"), (1, "")])
def test_the_attempts_at_one_question_are_one_unanswered_question_or_none(
    refused: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(_: object, number: int) -> Response:
        return Response(400, b'{"error": "filtered"}') if 0 < number <= refused else chat('{"verdict": "PASS"}')

    with model_server(answer) as server:
        project(tmp_path, source(server) + "  concurrency: 1\n")
        assert scan(tmp_path) == 0  # two of three votes decide
    told = capsys.readouterr().err
    assert said in told
    assert ("without an answer" in told) == bool(said)


def test_a_question_that_was_asked_again_is_named_with_the_command_that_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = iter(["It passes."] + ['{"verdict": "PASS", "evidence": []}'] * 9)
    with model_server(lambda *_: chat(next(replies))) as server:
        project(tmp_path, source(server) + "  concurrency: 1\n")
        assert scan(tmp_path) == 0
    command = f"rulewright why {tmp_path / 'run'} my-bot__chat A-1"
    assert f"asked again 1 time, because a reply was missing or unusable; for example `{command}`" in (
        " ".join(capsys.readouterr().err.split())
    )
    assert main(command.split()[1:]) == 0
    assert "not a vote: the reply contains no JSON object" in " ".join(capsys.readouterr().out.split())


def test_what_leaves_the_machine_is_said_before_it_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path, "  source: openai:a-model@http://nowhere.invalid/v1\n  max_calls: 1\n")
    assert scan(tmp_path) == 3  # refused for its limit; the note comes first
    assert "note: transcripts and prompts are sent to nowhere.invalid (openai:a-model at " in capsys.readouterr().err


def test_a_project_redacts_what_it_names(tmp_path: Path) -> None:
    with model_server(lambda *_: chat('{"verdict": "PASS"}')) as server:
        project(tmp_path, source(server), "redact:\n  - pattern: tired\n")
        assert scan(tmp_path) == 0
        assert "I am [redacted]." in json.dumps(server.requests)


@pytest.mark.parametrize(
    ("reply", "finish", "said"),
    [
        ('{"verdict": "PASS"}', "length", "not a vote: it is incomplete: it ended with `length`"),
        (
            '{"verdict": "PASS"}',
            "null",
            "not a vote: it is incomplete: its `finish_reason` does not say that it is whole",
        ),
        ('{"verdict": "PASS", "decision": "FAIL"}', "stop", "not a vote: the reply's keys give two verdicts"),
        ("I think it passes.", "stop", "not a vote: the reply contains no JSON object"),
        ('{"verdict": "FAIL"}', "stop", "the judge's FAIL has no quote, so it counts as UNCLEAR"),
        (
            '{"verdict": "FAIL", "evidence": ["What would help?"]}',
            "stop",
            "no item of the judge's evidence is an object",
        ),
        (
            '{"verdict": "FAIL", "evidence": [{"role": "user", "turn": 1, "quote": "What would help?"}]}',
            "stop",
            "no quote of the judge's FAIL occurs in the judged turns in the role and turn that it names",
        ),
    ],
)
def test_why_says_why_a_reply_is_not_a_vote_or_its_fail_does_not_count(
    reply: str, finish: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server(lambda *_: chat(reply, finish=finish)) as server:
        project(tmp_path, source(server))
        assert scan(tmp_path) == 2
    again = "warning: no reply of the judge is a verdict, so the next run asks again: "
    assert (again in capsys.readouterr().err) == ("not a vote" in said)
    assert main(["why", str(tmp_path / "run"), "my-bot__chat", "A-1"]) == 0
    story = " ".join(capsys.readouterr().out.split())
    assert said in story
    assert main(["why", str(tmp_path / "run")]) == 0
    row = capsys.readouterr().out.splitlines()[0].split(maxsplit=4)
    assert row[0] == "UNCLEAR"
    usual = (
        "the judge gave no usable reply" if "not a vote" in said else "the judge's FAIL quotes nothing that was said"
    )
    assert row[4] == usual
    assert main(["report", str(tmp_path / "run"), "--out", "-"]) == 2
    page = capsys.readouterr().out
    assert ("not a vote" in page) == ("not a vote" in said)


_ONE = "PASS, FAIL, UNCLEAR or NOT_APPLICABLE, in capitals"


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (chat('{"verdict": "PASS"}'), 0, "follows a schema, counts tokens"),
        (chat('Yes.\n{"verdict": "PASS", "rationale": "four"}'), 0, "does not follow a schema, counts tokens"),
        (chat("Sure!\nIt is four."), 3, "judge: the reply contains no JSON object; it begins: `Sure! It is four.`"),
        (chat('{"answer": "yes"}'), 3, f"can't judge: the reply's object has no `verdict` that is {_ONE}; it begins"),
        (chat('{"verdict": "pass"}'), 3, f'has no `verdict` that is {_ONE}; it begins: `{{"verdict": "pass"}}`'),
        (
            chat('{"verdict": "PASS"}', finish="length"),
            3,
            "can't judge: the reply is incomplete: it ended with `length`",
        ),
        (chat(""), 3, "it is empty"),
    ],
)
def test_models_check_says_whether_a_reply_is_a_verdict(
    reply: Response, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server(lambda *_: reply) as server:
        assert main(["models", "check", f"openai:m@{server.base}"]) == status
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (chat("", finish="length"), "help: a judge has 4000 tokens for its first attempt; a model that thinks longer"),
        (chat('{"verdict": "PASS"}', finish=""), "help: the server must name `stop` as the `finish_reason` of a whole"),
        (chat(None, refusal="No."), "help: the model refused to answer"),
        (chat("", finish="content_filter"), "help: a filter of the provider held the reply back"),
        (chat('A {}? </think>{"verdict": "PASS"}'), "help: the chat template opens `<think>`, which the reply"),
        (chat('<think>A {"verdict": "PASS"}'), "help: the reply opens `<think>` and does not close it; let the server"),
        (
            chat('<thinking>FAIL?</thinking>{"verdict": "PASS"}'),
            "help: reasoning is only read in `<think>`, not in `<thinking>`; let the server separate",
        ),
        (chat("Sure! It is four."), ""),
    ],
)
def test_models_check_says_what_to_do_about_a_reply_without_a_verdict(
    reply: Response, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server(lambda *_: reply) as server:
        assert main(["models", "check", f"openai:m@{server.base}"]) == 3
    told = capsys.readouterr().err
    assert said in told
    assert bool(said) == bool(told)


_BUSY = b'{"error": {"message": "slow down"}}'


@pytest.mark.parametrize(
    ("status", "wait", "refusals", "asked", "said"),
    [
        (429, None, 1, 2, "answers as served-1"),
        (400, None, 9, 1, "does not answer: the endpoint answered 400: slow down\n"),
        (429, "0", 2, 3, "answers as served-1"),
        (503, "0", 1, 2, "answers as served-1"),
        (429, "0", 9, 3, "does not answer: the endpoint answered 429: slow down (asked 3 times)\n"),
        (503, "86400", 9, 1, "does not answer: the endpoint answered 503: slow down; it asks to wait 86400 s\n"),
        (401, "0", 9, 1, "does not answer: the endpoint answered 401: slow down"),
    ],
)
def test_models_check_asks_a_busy_model_again_as_it_says(
    status: int, wait: str | None, refusals: int, asked: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def busy(_: object, number: int) -> Response:
        refusal = Response(status, _BUSY, {"Retry-After": wait} if wait else {})
        return refusal if number < refusals else chat('{"verdict": "PASS"}')

    with model_server(busy) as server:
        assert main(["models", "check", f"openai:m@{server.base}"]) == (0 if refusals < 9 else 3)
    assert len(server.requests) == asked
    out, told = capsys.readouterr()
    assert said in out
    assert told.count("note: the endpoint answered") == asked - 1


def test_a_run_that_stopped_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = [{"id": f"c{n}", "messages": [{"role": "user", "content": f"Hi, {n}."}, *_SAYS]} for n in range(9)]
    cases = [
        (
            chat("Sure!"),
            "help: once `rulewright models check JUDGE` says that it can judge, "
            "continue with `SCAN --resume`, which asks all remaining questions",
        ),
        (
            Response(404, b"{}"),
            "help: start the model or correct its name and address, then scan with `ANEW --overwrite`",
        ),
        (Response(401, b"{}"), "help: continue with `SCAN --resume`"),
    ]
    for number, (response, said) in enumerate(cases):
        (tmp_path / str(number)).mkdir()
        monkeypatch.chdir(tmp_path / str(number))
        with model_server(lambda *_, response=response: response) as server:
            folder = project(Path("F"), "  concurrency: 2\n")
            write_lines(folder / "t" / "more.jsonl", chats)
            judge = f"openai:m@{server.base}"
            words = [
                "scan",
                str(folder / "t"),
                "--project",
                str(folder),
                "--judge",
                judge,
                "--out",
                str(folder / "run"),
            ]
            monkeypatch.setattr("sys.argv", ["rulewright", *words])
            assert main(words) == 3
        line = capsys.readouterr().err.splitlines()[-1]
        again = "rulewright scan F/t --project F --judge openai:m@URL --out F/run"
        said = (
            said.replace("SCAN", again)
            .replace("ANEW", again.replace(":m@", ":MODEL@"))
            .replace("JUDGE", "openai:m@URL")
        )
        assert line.replace(server.base, "URL") == said


@pytest.mark.parametrize("judge", ["python:mine:answer", "command:python3 judge.py"])
def test_a_judge_of_the_users_own_that_never_answers_is_to_be_corrected(judge: str) -> None:
    assert how_to_continue("name", "scan again", judge) == f"correct `{judge}`, then scan again"


def test_a_harness_run_that_never_got_an_answer_is_played_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "shop"]) == 0
    for end in (["--out", "s"], ["-os"], ["--out=s"]):
        with model_server(lambda *_: Response(404, b"{}")) as server:
            words = ["harness", "shop/scenarios", "--model", f"openai:m@{server.base}", *end]
            monkeypatch.setattr("sys.argv", ["rulewright", *words])
            assert main(words) == 3
        again = f"rulewright harness shop/scenarios --model openai:MODEL@URL {' '.join(end)[:-1]}FOLDER"
        assert f"then play into another folder with `{again}`" in capsys.readouterr().err
        shutil.rmtree("s")


_HI = {"role": "user", "content": "Hi."}
_SAYS = [{"role": "assistant", "content": "Hello."}]


@pytest.mark.parametrize("limit", ["nan", "inf", "-1", "0"])
def test_a_time_limit_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], limit: str) -> None:
    assert main(["models", "check", "openai:m@http://127.0.0.1:1/v1", f"--timeout={limit}"]) == 3
    assert "argument --timeout: must be more than 0 and at most 86400" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["models", "check", "m", "--timeout", "soon"], "argument --timeout: `soon` is not a number\n"),
        (["serve", "--port", "https"], "argument --port: `https` is not a whole number\n"),
        (["serve", "--port", "70000"], "argument --port: must be at most 65535\n"),
        (["diff", "a", "b", "--margin", "5%"], "argument --margin: `5%` is not a number\n"),
        (["gold", "--draw", "1.5"], "argument --draw: `1.5` is not a whole number\n"),
    ],
)
def test_a_value_that_is_not_a_number_is_quoted(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 3
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("judge", ["replay:replies.json", "plugin:mine"])
def test_a_judge_that_is_no_model_can_not_be_checked(judge: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "check", judge]) == 3
    assert f"error: `{judge}` names recorded replies or a plug-in; name a model" in capsys.readouterr().err
