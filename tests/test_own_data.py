"""A new user's project: own words, no scorecard, no severity, tables of messages; what every command says of it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.folders import json_lines, write_lines
from tests.runtime.transcripts.formats import conversations, lines

import rulewright
from rulewright.cli import main
from rulewright.linting.lint_run import lint
from rulewright_runtime import Reader, Transcript
from rulewright_runtime.plan.file import seal
from rulewright_runtime.runs.live import reply_schema

CALL = {"id": "c1", "type": "function", "function": {"name": "transfer_money", "arguments": '{"to": "Mia"}'}}
CHATS: list[dict[str, Any]] = [
    {
        "id": "transfer",
        "model": "teller",
        "messages": [
            {"role": "user", "content": "Send 50 to Mia."},
            {"role": "assistant", "content": "Done.", "tool_calls": [CALL]},
        ],
    },
    {
        "id": "hours",
        "model": "clerk",
        "messages": [{"role": "user", "content": "Open?"}, {"role": "assistant", "content": "Until five."}],
    },
]
FAILS = 'tool_calls.exists(call, call.name == "transfer_money")'
WORDS = """\
vocabulary:
  buckets: [money, tone]
  severities: [low, stop]
  gates: {m: {buckets: [money], severities: [stop]}}
"""


def project(folder: Path, extra: str = "", **checks: str) -> Path:
    """A project with these checks, and the chats next to it."""
    (folder / "checks").mkdir(parents=True)
    (folder / "rulewright.yaml").write_text(f"project: desk\n{extra}", encoding="utf-8")
    for name, text in checks.items():
        (folder / "checks" / f"{name}.yaml").write_text(f"id: {name}\n{text}\n", encoding="utf-8")
    (folder / "chats").mkdir()
    written = json_lines(CHATS)
    (folder / "chats" / "today.jsonl").write_text(written, encoding="utf-8")
    return folder


@pytest.fixture
def scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(project(tmp_path / "desk", WORDS, transfers=f"fail: {FAILS}"))
    assert main(["scan", "chats", "--out", "run"]) == 1
    capsys.readouterr()
    return Path("run")


def test_a_check_without_a_severity_in_a_vocabulary_of_ones_own_has_none_and_its_run_can_be_read(
    scanned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [row["severity"] for row in rulewright.load_run(scanned).records()] == ["", ""]
    for command in (["why", "run", "transfer", "transfers"], ["whatif", "run"], ["diff", "run", "run"]):
        assert main(command) == 0, command
    assert "severity" not in capsys.readouterr().out
    for form in ("junit", "sarif", "github", "markdown", "json"):
        assert main(["report", "run", "--format", form]) == 1, form
    assert main(["report", "run"]) == 1


def test_why_says_in_words_which_condition_decided(scanned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(scanned)]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("its condition `fail` holds")


def test_a_check_without_a_severity_counts_whatever_severity_decides(scanned: Path) -> None:
    assert [rulewright.load_run(scanned).status(fail_on=word) for word in ("low", "stop", "never")] == [1, 1, 0]


@pytest.mark.parametrize("form", ["junit", "github", "markdown", "sarif"])
def test_a_failure_without_a_quote_shows_the_condition_that_decided(
    scanned: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    main(["report", str(scanned), "--format", form])
    shown = capsys.readouterr().out.replace("\\", "").replace("&quot;", '"')
    assert f"`fail` holds: {FAILS}" in shown
    assert "fail_condition_holds" not in shown


def test_a_project_without_a_scorecard_counts_the_share_that_passed(scanned: Path) -> None:
    summary = rulewright.load_run(scanned).summary
    assert (summary["scorecard"], summary["headline"], summary["status"]) == ("share", "passed", {})
    assert summary["overall_score"]["mean"] == 0.5
    assert "| model | transcripts | failed | passed |" in (scanned / "summary.md").read_text(encoding="utf-8")


def test_a_project_with_checks_in_the_default_buckets_has_the_usual_scorecard(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", sorted=f"primary_bucket: F\nfail: {FAILS}", plain=f"fail: {FAILS}")
    plan = rulewright.compile_project(rulewright.load_project(folder))
    assert plan.scorecard is not None
    assert plan.scorecard.name == "two-tier"


def test_a_leaderboard_of_chats_names_no_scenario_and_says_that_nothing_was_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(tmp_path / "desk", transfers=f"primary_bucket: E\nfail: {FAILS}"))
    main(["scan", "chats", "--out", "run"])
    capsys.readouterr()
    main(["leaderboard", "run", "--harness", "unrecorded", "--format", "json"])
    board = json.loads(capsys.readouterr().out)
    assert board["scenarios"] == [None]
    assert board["hindrances"] == ["no transcript of clerk has a score", "no transcript of teller has a score"]
    main(["leaderboard", "run"])
    assert capsys.readouterr().out.startswith("Rulewright leaderboard: nothing ranked, profile all")


def test_a_scan_passes_over_the_runs_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(tmp_path / "desk", transfers=f"fail: {FAILS}"))
    for name in ("first", "second"):
        assert main(["scan", ".", "--out", f"runs/{name}"]) == 1
        assert rulewright.load_run(f"runs/{name}").summary["transcripts"] == 2
    with pytest.raises(AssertionError):
        conversations(Path("runs/first"))


def test_a_missing_parameter_of_a_ready_check_is_named(tmp_path: Path) -> None:
    folder = project(tmp_path / "desk", "use: [library/no-canary-leak]\n")
    (found,) = lint([folder]).diagnostics
    assert (found.message, found.help) == (
        "`params` is missing, with a value for `marks`",
        "write `params: {marks: ...}`",
    )


def test_an_unknown_name_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    folder = project(tmp_path / "desk", wrong="each: tool_call\nfail: zebra.name == 'x'")
    (found,) = [each for each in lint([folder]).diagnostics if "zebra" in each.message]
    assert found.help is not None
    assert "`tool_call`" in found.help
    assert "`turns`" in found.help


def test_a_check_has_a_description_and_a_wrong_key_is_reported_with_those_that_are_read(tmp_path: Path) -> None:
    folder = project(tmp_path / "desk", told=f"description: No transfers.\nfail: {FAILS}\nzebra: 1")
    (found,) = lint([folder]).diagnostics
    assert found.message == "unknown key `zebra`"
    assert "`fail`" in str(found.help)
    assert "caregiver" not in str(found.help)


ROWS = (
    "conversation,role,content,model,expected\na,user,hi,,\na,assistant,hello,m,hey\nb,user,you,,\nb,assistant,me,m,\n"
)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (ROWS, {}),
        (ROWS.replace("conversation,", "talk,"), {"columns": {"conversation": "talk"}}),
        (ROWS.replace("role", "who").replace("content", "said"), {"columns": {"role": "who", "content": "said"}}),
    ],
)
def test_the_messages_of_a_table_belong_to_the_conversation_they_name(
    tmp_path: Path, text: str, settings: dict[str, Any]
) -> None:
    path = tmp_path / "talks.csv"
    path.write_text(text, encoding="utf-8")
    first, second = conversations(path, **settings)
    assert (first.id, second.id) == ("talks:a", "talks:b")
    assert (lines(first), lines(second)) == (["user: hi", "assistant: hello"], ["user: you", "assistant: me"])
    assert (first.model, first.expected, second.model, second.expected) == ("m", "hey", "m", None)


SPOKEN = {"conversation": "nr", "role": "wer", "content": "text", "user": "Kunde", "assistant": "Bot|Anna"}
SAID = [("1", "Kunde", "Hallo"), ("1", "Bot", "Ja?"), ("2", "Kunde", "Wann?"), ("2", "Anna", "Heute.")]


def test_speakers_of_a_table_of_messages_are_named(tmp_path: Path) -> None:
    csv_file, json_file = tmp_path / "rows.csv", tmp_path / "rows.jsonl"
    csv_file.write_text("nr;wer;text\n" + "".join(";".join(row) + "\n" for row in SAID), encoding="utf-8")
    rows = [dict(zip(("nr", "wer", "text"), row, strict=True)) for row in SAID]
    write_lines(json_file, rows)
    for path in (csv_file, json_file):
        first, second = conversations(path, columns=SPOKEN)
        assert lines(first) == ["user: Hallo", "assistant: Ja?"]
        assert lines(second) == ["user: Wann?", "assistant: Heute."]
        read, refused = Reader(columns={**SPOKEN, "assistant": "Bot"}).read([path])
        assert isinstance(read, Transcript)
        assert "wer is `Anna`; expected a role, or a speaker that `--columns user=Anna`" in str(refused)
    csv_file.write_text("nr;wer;text\n1;Anna (Bot);Hallo\n", encoding="utf-8")
    (refused,) = Reader(columns=SPOKEN).read([csv_file])
    assert "`--columns 'user=Anna (Bot)'` or `'assistant=Anna (Bot)'`" in str(refused)


def test_a_mapping_that_does_not_fit_rows_of_json_is_reported_for_each_of_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"q": "a", "a": "b"}\n' * 2 + '{"frage": "a", "a": "b"}\n', encoding="utf-8")
    reader = Reader(columns={"user": "frage", "assistant": "a"})
    first, second, chat = reader.read([path])
    assert [str(each) for each in (first, second)] == [
        f"{path}:{number}: unknown column `frage` for `user`; the columns are `q` and `a`" for number in (1, 2)
    ]
    assert isinstance(chat, Transcript)


def test_a_question_and_an_answer_inside_objects_are_named_by_their_paths(tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    row = {"id": "a", "inputs": {"q": "A fee?"}, "outputs": {"a": {"text": "No."}, "notes": ["so"]}, "tags": {}}
    other = {**row, "id": "b", "outputs": {"a": None}}
    write_lines(path, (row, other))
    columns = {"user": "inputs.q", "assistant": "outputs.a.text"}
    found, refused = Reader(columns=columns).read([path])
    assert isinstance(found, Transcript)
    assert (found.id, lines(found.conversation)) == ("logs:a", ["user: A fee?", "assistant: No."])
    assert found.conversation.metadata["outputs"] == row["outputs"]
    keys = "`id`, `inputs`, `outputs`, `tags` and `inputs.q`"
    assert f"logs.jsonl:2: unknown column `outputs.a.text` for `assistant`; the columns are {keys}" in str(refused)
    (told, _) = Reader().read([path])
    assert "`--columns messages=KEY,role=KEY,content=KEY` or `user=KEY.KEY,assistant=KEY.KEY`" in str(told)
    said = [{"by": {"name": "Dr. Who"}, "text": "Hi"}, {"by": {"name": "Bot"}, "text": "Hello"}]
    write_lines(path, said)
    (found,) = Reader(columns={"role": "by.name", "content": "text", "user": "Dr. Who", "assistant": "Bot"}).read(
        [path]
    )
    assert isinstance(found, Transcript)
    assert lines(found.conversation) == ["user: Hi", "assistant: Hello"]


JOINED = {"type": "message", "subtype": "channel_join", "user": "U5", "text": "<@U5> has joined the channel"}
SLACK = {"role": "user", "content": "text", "user": "U1", "assistant": "U9"}


BOT = {"type": "message", "subtype": "bot_message"}


def spoken(user: str, text: str, **more: str) -> dict[str, str]:
    return {"type": "message", "user": user, "text": text, **more}


def test_events_of_a_channel_are_not_messages_and_a_file_of_them_is_reported(tmp_path: Path) -> None:
    days = {
        "1": [JOINED, spoken("U1", "Where?"), spoken("U9", "There."), {**JOINED, "subtype": "channel_topic"}],
        "2": [JOINED],
        "3": [JOINED, spoken("U1", "Hi."), spoken("U5", "Hi.")],
        "4": [spoken("U1", "Hi."), spoken("U9", "Hi.", subtype="thread_broadcast")],
        "5": [spoken("U1", "Hi."), {**BOT, "text": "Hi.", "bot_id": "U9"}],
        "6": [spoken("U1", "Hi."), {**BOT, "text": "Hi.", "bot_id": "B1", "username": "U9"}],
    }
    for day, rows in days.items():
        (tmp_path / f"{day}.json").write_text(json.dumps(rows), encoding="utf-8")
    reader = Reader(columns=SLACK)
    first, refused, *others = reader.read([tmp_path])
    assert isinstance(first, Transcript)
    joined = "system: <@U5> has joined the channel"
    assert lines(first.conversation) == [joined, "user: Where?", "assistant: There.", joined]
    assert first.conversation.messages[0].name == "channel_join"
    assert [turn.role for turn in first.turns] == ["user", "assistant"]
    assert "user is `U5`; expected a role" in str(refused)
    for other in others:
        assert isinstance(other, Transcript)
        assert lines(other.conversation) == ["user: Hi.", "assistant: Hi."]
    assert len(others) == 3
    assert reader.unread == {"`.json` with only events of a channel": 1}


def test_records_are_found_in_the_list_of_an_export(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    tickets = [{"nr": number, "log": {"said": [{"by": "user", "text": str(number)}]}} for number in range(3)]
    path.write_text(json.dumps({"at": "today", "count": 3, "tickets": [*tickets, {"nr": 3}]}), encoding="utf-8")
    columns = {"messages": "log.said", "role": "by", "content": "text", "id": "nr"}
    *found, refused = Reader(columns=columns).read([path])
    assert [lines(each.conversation) for each in found if isinstance(each, Transcript)] == [
        [f"user: {n}"] for n in range(3)
    ]
    assert "`log.said` is missing for `messages`; the keys are `nr`" in str(refused)
    (told,) = Reader(columns={**columns, "messages": "tickets.log.said"}).read([path])
    assert "`tickets` is a list; name what its items contain (`messages=log.said`)" in str(told)
    (joined,) = Reader(columns={**columns, "messages": "tickets[].log.said"}).read([path])
    assert "`tickets[].log.said` is missing for `messages`" in str(joined)  # in the last ticket
    (told,) = Reader(columns={**columns, "messages": "log.text"}).read([path])
    assert "`log.text` is missing for `messages`; the keys are `at`, `count`, `tickets`" in str(told)


@pytest.mark.parametrize("inner", ["messages", "turns", ""])
def test_sessions_are_one_conversation_or_several_as_the_mapping_says(tmp_path: Path, inner: str) -> None:
    path = tmp_path / "sessions.json"
    said = [[{"role": "user", "content": f"u{at}"}, {"role": "assistant", "content": f"a{at}"}] for at in (1, 2)]
    sessions = [{"after": f"{at} days", inner: each} for at, each in enumerate(said)] if inner else said
    path.write_text(json.dumps({"id": "Ann", "sessions": sessions}), encoding="utf-8")
    (refused,) = Reader().read([path])
    joining = f"sessions[].{inner}" if inner else "sessions[]"
    assert f"`--columns 'messages={joining}'` for one conversation, " in str(refused)
    (found,) = Reader(columns={"messages": joining}).read([path])
    assert isinstance(found, Transcript)
    assert (found.id, lines(found.conversation)) == ("Ann", ["user: u1", "assistant: a1", "user: u2", "assistant: a2"])
    about = {"sessions": [{"after": "0 days"}, {"after": "1 days"}]} if inner else {}
    assert {**found.conversation.metadata, "id": None} == {**about, "id": None}
    if inner:
        assert f"`--columns messages={inner}` for several" in str(refused)
        assert [*map(type, Reader(columns={"messages": inner}).read([path]))] == [Transcript] * 2


def test_a_mapped_record_may_hold_such_lists_itself(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    said = [{"role": "user", "content": "Hi", "log": [1]}]
    path.write_text(json.dumps({"log": said, "earlier": [{"log": said}]}) + "\n", encoding="utf-8")
    (found,) = Reader(columns={"messages": "log"}).read([path])
    assert isinstance(found, Transcript)
    assert lines(found.conversation) == ["user: Hi"]


def test_a_speaker_under_a_wrong_key_is_reported_with_the_keys(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text('{"log": [{"by": "user", "text": "Hi"}]}\n', encoding="utf-8")
    (found,) = Reader(columns={"messages": "log", "role": "who", "content": "text"}).read([path])
    assert "log[0] has no `who` for `role`; its keys are `by`, `text`" in str(found)


@pytest.mark.parametrize(
    ("record", "cure"),
    [
        ('{"talk": [{"a": 1}], "b": 2}', "(name your keys with `--columns messages=KEY,role=KEY,content=KEY`)"),
        (
            '{"at": {"log": [{"by": {"kind": "bot"}, "text": "Hi"}, {"by": {}}]}, "found": [{"text": "a"}]}',
            "(name your keys with `--columns messages=at.log,role=KEY,content=text`; an item of `at.log` has "
            "`by.kind`, `text`)",
        ),
        ('{"q": "a", "b": "c"}', "(name your keys with `--columns user=KEY,assistant=KEY` or `role=KEY,content=KEY`)"),
    ],
)
def test_an_unknown_shape_names_the_option_that_reads_it(tmp_path: Path, record: str, cure: str) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(f"{record}\n", encoding="utf-8")
    (found,) = Reader().read([path])
    assert str(found).endswith(cure)


def test_every_row_that_is_not_utf_8_is_refused_and_all_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes('question,answer\na,b\n"für\nalle",b\nc,d\né,"f\ng"\nh,i\n'.encode("cp1252"))
    found = [*Reader().read([path])]
    assert [each.id for each in found if isinstance(each, Transcript)] == ["export:2", "export:5", "export:8"]
    assert [str(each) for each in found if not isinstance(each, Transcript)] == [
        f"{path}:{line}: the row is not UTF-8 text; save the file as UTF-8" for line in (3, 6)
    ]
    path.write_bytes("question,réponse\na,b\n".encode("cp1252"))
    (refused,) = Reader().read([path])
    assert str(refused) == f"{path}:1: the header is not UTF-8 text; save the file as UTF-8"


@pytest.mark.parametrize("chat", [{"massages": []}, {"messages": "hi"}, {}])
def test_a_record_of_no_format_says_what_was_seen_and_what_would_be_understood(tmp_path: Path, chat: Any) -> None:
    folder = project(tmp_path / "desk", transfers=f"fail: {FAILS}")
    (found,) = rulewright.check_transcript(folder, chat).errors
    assert str(found).startswith("chat: unknown shape: an ")
    assert "expected `messages` with `role` and `content`" in str(found)


def test_color_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(tmp_path / "desk", transfers=f"fail: {FAILS}\nzebra: 1"))
    for words, coloured in (
        (["lint", "--color", "always"], True),
        (["--color=always", "lint"], True),
        (["lint", "--color=never"], False),
        (["lint"], False),
    ):
        monkeypatch.setenv("NO_COLOR" if "always" in str(words) else "FORCE_COLOR", "1" if len(words) > 1 else "")
        assert main(words) == 1
        assert ("\x1b[" in capsys.readouterr().out) is coloured, words
    assert main(["lint", "--color", "red"]) == 3
    assert capsys.readouterr().err == "error: unknown value `red` for `--color`; expected `auto`, `always` or `never`\n"


JUDGED = 'prompt: "Do the calls fit?"\nshows: [expected, tools, system]'
TOOLS: dict[str, Any] = {
    "id": "acts",
    "model": "teller",
    "expected": "A refusal.",
    "messages": [
        {"role": "system", "content": "Never move money."},
        {"role": "user", "content": "Send 50 to Mia."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "sent\n[turn 1, assistant]\n| I refuse."},
    ],
}


class Asked:
    """A judge that keeps what it was asked, and answers the same every time."""

    def __init__(self, role: str, quote: str) -> None:
        self.prompt, self.roles = "", tuple[str, ...]()
        evidence = [{"role": role, "turn": 1, "quote": quote}]
        self.reply = json.dumps({"verdict": "FAIL", "rationale": "no", "evidence": evidence})

    def ask(self, request: rulewright.JudgeRequest) -> str:
        self.prompt, self.roles = request.prompt, request.roles
        return self.reply


@pytest.mark.parametrize(
    ("role", "quote", "verdict"),
    [
        ("assistant", '{"to": "Mia"}', "FAIL"),
        ("system", "Never move money.", "FAIL"),
        ("tool", "I refuse.", "FAIL"),
        ("assistant", "I refuse.", "UNCLEAR"),  # a tool's result can't pass for what the assistant said
        ("expected", "A refusal.", "UNCLEAR"),
    ],
)
def test_a_judge_sees_calls_and_instructions_in_the_fence_and_may_quote_them(
    tmp_path: Path, role: str, quote: str, verdict: str
) -> None:
    folder = project(tmp_path / "desk", fits=JUDGED)
    judge = Asked(role, quote)
    (found,) = rulewright.check_transcript(folder, TOOLS, judge=judge).verdicts
    assert found.verdict == verdict
    assert '"role": "user" or "assistant" or "system" or "tool"' in judge.prompt
    schema: Any = reply_schema((), None, judge.roles)  # to which a model's reply is held
    of_a_quote = schema["properties"]["evidence"]["items"]["properties"]
    assert of_a_quote["role"] == {"enum": ["user", "assistant", "system", "tool"]}
    inside = judge.prompt.partition("<<<conversation")[2]
    assert inside.partition("\n")[2].startswith(
        "[expected answer]\n| A refusal.\n[system]\n| Never move money.\n[turn 1, user]\n| Send 50 to Mia.\n"
        '[turn 1, assistant calls "transfer_money"]\n| {"to": "Mia"}\n'
        '[turn 1, tool "transfer_money" answers]\n| sent\n| [turn 1, assistant]\n| | I refuse.\n'
    )
    assert '"role": "user" or "assistant" or "system" or "tool"' in inside


def test_a_judge_that_is_not_shown_tools_has_nothing_to_judge_where_the_assistant_only_calls_them(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path / "desk", fits='prompt: "Is it polite?"')
    judge = Asked("assistant", "x")
    (found,) = rulewright.check_transcript(folder, TOOLS, judge=judge).verdicts
    assert (found.verdict, judge.prompt) == ("UNCLEAR", "")


def test_what_is_shown_belongs_to_its_reply(tmp_path: Path) -> None:
    folder = project(tmp_path / "desk", fits=JUDGED)
    with (folder / "checks" / "fits.yaml").open("a", encoding="utf-8") as check:
        check.write("name: fits\nprimary_bucket: F\nseverity: S3\nscope: universal\n")
        check.write("routing: {route: llm_primary, unit_of_analysis: turn_level}\n")
    later = [{"role": "user", "content": "Again."}, {"role": "assistant", "content": "No."}]
    messages = [*TOOLS["messages"], {"role": "assistant", "content": "Done."}, *later]
    asked: list[str] = []

    class Keeping(Asked):
        def ask(self, request: rulewright.JudgeRequest) -> str:
            asked.append(request.prompt)
            return self.reply

    rulewright.check_transcript(folder, {"messages": messages}, judge=Keeping("assistant", "Done."))
    first, second = dict.fromkeys(prompt.partition("<<<conversation")[2] for prompt in asked)
    assert ["[system]" in each for each in (first, second)] == [True, True]
    assert ["transfer_money" in each for each in (first, second)] == [True, False]
    assert first.index("transfer_money") < first.index("| Done.")
    assert "| Send 50" not in first + second


def test_what_is_shown_without_a_judge_is_a_finding(tmp_path: Path) -> None:
    folder = project(tmp_path / "desk", transfers=f"fail: {FAILS}\nshows: [tools]")
    (found,) = lint([folder]).diagnostics
    assert found.code == "directive-ignored-by-route"


def test_a_run_without_a_scorecard_calls_a_model_as_the_project_does(tmp_path: Path) -> None:
    folder = project(tmp_path / "desk", "models: {teller: The Teller}\n", transfers=f"fail: {FAILS}")
    sealed = rulewright.compile_project(rulewright.load_project(folder))
    bare = seal(msgspec.structs.replace(sealed, scorecard=None))
    run = rulewright.scan(bare, folder / "chats", tmp_path / "run")
    assert sorted(row["model"] for row in run.records()) == ["The Teller", "clerk"]


@pytest.mark.parametrize(
    "document",
    [
        {"question": {"0": "a", "1": "b"}, "answer": {"0": "c", "1": "d"}},
        {"0": {"question": "a", "answer": "c"}, "1": {"question": "b", "answer": "d"}},
        {"columns": ["question", "answer"], "index": [0], "data": [["a", "c"]]},
        {"schema": {"fields": []}, "data": [{"index": 0, "question": "a"}]},
        {"c1": [{"role": "user", "content": "Hi"}], "c2": [{"role": "user", "content": "Hello"}]},
        {
            "c1": {"messages": [{"role": "user", "content": "Hi"}]},
            "c2": {"messages": [{"role": "user", "content": "Yo"}]},
        },
    ],
)
def test_records_in_one_object_are_refused_without_an_option_that_reads_only_one(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (found,) = Reader().read([path])
    assert str(found).endswith('write a list of them, as pandas does with `orient="records"`)')


@pytest.mark.parametrize("name", ["export.jsonl", "export.csv"])
def test_a_list_of_messages_as_python_prints_it_is_refused_with_the_way_out(tmp_path: Path, name: str) -> None:
    printed = str([{"role": "user", "content": "Hi"}])
    path = tmp_path / name
    text = json.dumps({"messages": printed}) if name.endswith("l") else f'id,messages\na,"{printed}"\n'
    path.write_text(text, encoding="utf-8")
    (found,) = Reader().read([path])
    assert "`messages` is a list as Python prints it, not JSON; write it with `json.dumps`" in str(found)


def test_a_list_of_conversations_is_refused_with_the_list_inside_them(tmp_path: Path) -> None:
    path = tmp_path / "tickets.json"
    comments = [{"author": "a", "body": "Where is it?"}, {"author": "b", "body": "Here."}]
    path.write_text(json.dumps({"tickets": [{"subject": "Order", "comments": comments}]}), encoding="utf-8")
    (found,) = Reader().read([path])
    assert str(found).endswith(
        "an item of `tickets` has `subject`; if it is a conversation, write `messages=comments`)"
    )
    columns = {"messages": "comments", "role": "author", "content": "body", "user": "a", "assistant": "b"}
    (read,) = Reader(columns=columns).read([path])
    assert isinstance(read, Transcript)
    assert lines(read.conversation) == ["user: Where is it?", "assistant: Here."]


ANSWERED = {"choices": [{"message": {"role": "assistant", "content": "It ships."}}]}
OF_GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "It ships."}]}}]}


@pytest.mark.parametrize(
    "record",
    [
        {"prompt": {"text": "Where?"}, **ANSWERED},
        {"input": {"messages": [{"role": "user", "content": "Where?"}]}, **ANSWERED},
        {"request": {"messages": {"role": "user", "content": "Where?"}}, "response": ANSWERED},
        {"request": {"prompt": {"messages": [{"role": "user", "content": "Where?"}]}}, "response": ANSWERED},
        {"request": {"contents": [{"parts": [{"text": "Where?"}]}]}, "response": OF_GEMINI},
        {"request": {"contents": {"parts": [{"text": "Where?"}]}}, "response": OF_GEMINI},
        {"contents": [{"parts": [{"text": "Where?"}]}], **OF_GEMINI},
    ],
)
def test_a_question_in_an_object_is_read_and_not_lost(tmp_path: Path, record: Any) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    (found,) = conversations(path)
    assert lines(found) == ["user: Where?", "assistant: It ships."]


def test_a_question_in_an_object_without_a_message_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"prompt": {"a": "Where?", "b": "When?"}, **ANSWERED}), encoding="utf-8")
    (found,) = Reader().read([path])
    assert "`prompt` contains no message" in str(found)


def test_a_fail_level_that_no_check_reaches_is_undecided_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(tmp_path / "desk", WORDS, transfers=f"severity: low\nfail: {FAILS}"))
    assert main(["scan", "chats", "--out", "run", "--fail-on", "stop"]) == 2
    note = "note: no check of severity `stop` or higher applied, so `--fail-on` leaves the run undecided\n"
    assert capsys.readouterr().err.endswith(note)
    assert main(["report", "run", "--format", "markdown", "--fail-on", "stop"]) == 2
    assert capsys.readouterr().err == note
    assert main(["report", "run", "--format", "markdown", "--fail-on", "low"]) == 1
    assert capsys.readouterr().err == ""
