"""The mapping of columns: who the named speakers are, and who an `agent` is."""

import json
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import open_expanded
from rulewright_runtime.transcripts import chats, pieces
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.pieces import Piece
from rulewright_runtime.transcripts.transcript_reader import Reader


@pytest.mark.parametrize(
    ("mapping", "roles"),
    [
        ({"assistant": "Agent *", "user": "*"}, "user assistant user assistant system"),
        ({"assistant": "*", "user": "Ann|B*"}, "user assistant user assistant system"),
        ({"assistant": "Agent *", "user": "Ann|B*b"}, "user assistant user assistant system"),
        ({"assistant": "Agent *", "user": "Ann|Bob", "system": "s*m"}, "user assistant user assistant system"),
    ],
)
def test_a_star_in_the_name_of_a_speaker_stands_for_any_text(
    mapping: dict[str, str], roles: str, tmp_path: Path
) -> None:
    speakers = ("Ann", "Agent 7", "Bob", "assistant", "system")
    path = written(tmp_path, "wer,text\n" + "".join(f"{each},x\n" for each in speakers), "a.csv")
    (found,) = Reader(columns={"role": "wer", "content": "text", **mapping}).read([str(path)])
    assert isinstance(found, Transcript)
    assert [each.role for each in found.conversation.messages] == roles.split()


def test_a_speaker_that_fits_names_of_two_roles_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "wer,text\nAnn,x\nBot,y\n", "a.csv")
    columns = {"role": "wer", "content": "text", "user": "A*", "assistant": "*n|Bot"}
    (refused,) = Reader(columns=columns).read([str(path)])
    assert isinstance(refused, InputError)
    assert "row.wer is `Ann`, which both `user` and `assistant` of `--columns` name" in refused.reason


def test_a_speaker_named_by_a_star_is_found_in_records_of_other_shapes(tmp_path: Path) -> None:
    log = {"log": [{"by": "Ann", "said": "a"}, {"by": "Agent 7", "said": "b"}]}
    path = written(tmp_path, [log])
    columns = {"messages": "log", "role": "by", "content": "said", "user": "*", "assistant": "Agent *"}
    (found,) = Reader(columns=columns).read([str(path)])
    assert isinstance(found, Transcript)
    assert [each.role for each in found.conversation.messages] == ["user", "assistant"]


@pytest.mark.parametrize(("name", "kept"), [("ticket", {"ticket": 7}), ("meta.nr", {"meta": {"nr": 7}})])
def test_the_column_that_names_the_conversation_of_a_line_may_be_said(
    name: str, kept: dict[str, Any], tmp_path: Path
) -> None:
    other = json.loads(json.dumps(kept).replace("7", "8"))
    said = [{"role": role, "content": "a", **about} for about in (kept, other) for role in ("user", "assistant")]
    reader = Reader(columns={"conversation": name})
    found = list(reader.read([str(written(tmp_path, said, "a.jsonl"))]))
    assert [each.id for each in found if isinstance(each, Transcript)] == ["a:7", "a:8"]
    assert reader.unused_columns() == []


def test_stars_in_the_name_of_a_speaker_take_no_time_on_a_long_one(tmp_path: Path) -> None:
    rows = f"chat_id,role,content\n1,{'ab' * 20_000}c,a\n1,Bot,b\n"
    for user in ("*a*a*a*b*b*c", "*a*a*a*b*b*d|*bc"):
        (found,) = conversations(written(tmp_path, rows, "a.csv"), columns={"user": user, "assistant": "Bot"})
        assert found.messages[0].role == "user"


HANDED_OVER = [("user", "Where is it?"), ("Bot", "Wait."), ("Agent", "Ann here.")]
ROWS = "".join(f"c,{who},{text}\n" for who, text in HANDED_OVER)
MESSAGES = [{"conversation_id": "c", "role": who, "content": text} for who, text in HANDED_OVER]
LOGGED = [{"log": [{"who": who, "text": text} for who, text in HANDED_OVER]}]
LISTED = [{"messages": [{"role": who, "content": text} for who, text in HANDED_OVER]}]
LOG = {"messages": "log", "role": "who", "content": "text"}


@pytest.mark.parametrize(
    ("value", "name", "columns"),
    [
        (f"chat,speaker,text\n{ROWS}", "chat.csv", {"conversation": "chat"}),
        (f"conversation_id,role,content\n{ROWS}", "chat.csv", {}),
        (MESSAGES, "chat.jsonl", {}),
        (LOGGED, "chat.jsonl", LOG),
        (LISTED, "chat.jsonl", {"messages": "messages"}),
    ],
)
def test_an_agent_next_to_a_bot_is_not_the_assistant_unless_the_columns_say_so(
    tmp_path: Path, value: Any, name: str, columns: dict[str, str]
) -> None:
    path = written(tmp_path, value, name)
    (refused,) = Reader(columns=columns).read([path])
    assert isinstance(refused, InputError)
    assert "`Bot` is the assistant, so `Agent` may be a person" in refused.reason
    for role, names in (("system", "Agent"), ("assistant", "Bot|Agent")):
        (found,) = conversations(path, columns={**columns, role: names})
        assert lines(found)[1:] == ["assistant: Wait.", f"{role}: Ann here."]


@pytest.mark.parametrize(
    ("value", "name", "columns"),
    [
        (f"chat,speaker,text\n{ROWS}".replace("c,Bot,Wait.\n", ""), "chat.csv", {"conversation": "chat"}),
        ([{"log": [LOGGED[0]["log"][0], LOGGED[0]["log"][2]]}], "chat.jsonl", LOG),
    ],
)
def test_an_agent_alone_is_the_assistant_unless_another_one_is_named(
    tmp_path: Path, value: Any, name: str, columns: dict[str, str]
) -> None:
    path = written(tmp_path, value, name)
    (found,) = conversations(path, columns=columns)
    assert lines(found)[1:] == ["assistant: Ann here."]
    (refused,) = Reader(columns={**columns, "assistant": "Bot"}).read([path])
    assert isinstance(refused, InputError)


def test_a_list_of_messages_with_an_agent_next_to_a_bot_is_refused_with_the_names_that_read_it(tmp_path: Path) -> None:
    (reason,) = refusals(tmp_path, LISTED)
    assert "`--columns messages=messages,system=Agent`" in reason


def test_an_agent_next_to_a_model_in_sharegpt_is_refused_with_the_names_that_read_it(tmp_path: Path) -> None:
    said = [("human", "Where is it?"), ("gpt", "Wait."), ("agent", "Ann here.")]
    path = written(tmp_path, [{"conversations": [{"from": who, "value": text} for who, text in said]}])
    (refused,) = Reader().read([path])
    assert "`--columns messages=conversations,role=from,content=value,system=agent`" in str(refused)
    columns = {"messages": "conversations", "role": "from", "content": "value", "system": "agent"}
    (found,) = conversations(path, columns=columns)
    assert lines(found)[1:] == ["assistant: Wait.", "system: Ann here."]


def test_speakers_of_a_file_with_a_message_per_line_may_be_named(tmp_path: Path) -> None:
    rows = [{"role": "Kunde", "content": "Wo?"}, {"role": "Bot", "content": "Da."}]
    (reason,) = refusals(tmp_path, rows)
    assert reason.startswith("1: message.role is `Kunde`; expected a role, or a speaker that `--columns user=Kunde` or")
    (found,) = conversations(written(tmp_path, rows), columns={"user": "Kunde"})
    assert lines(found) == ["user: Wo?", "assistant: Da."]


ALONE = [("a", "user", "Hi"), ("a", "agent", "Ann here."), ("b", "user", "Hi"), ("b", "bot", "Wait.")]
BY = {"messages": "log", "role": "by.kind", "content": "text"}
_OF_CHATS = [[(who, text) for chat, who, text in ALONE if chat == name] for name in "ab"]


@pytest.mark.parametrize(
    ("value", "name", "columns"),
    [
        ("chat_id,role,content\n" + "".join(f"{','.join(row)}\n" for row in ALONE), "chat.csv", {}),
        ([{"chat_id": chat, "role": who, "content": text} for chat, who, text in ALONE], "chat.jsonl", {}),
        ([{"messages": [{"role": who, "content": text} for who, text in each]} for each in _OF_CHATS], "c.jsonl", {}),
        ([{"conversations": [{"from": who, "value": text} for who, text in each]} for each in _OF_CHATS], "c.json", {}),
        ([{"log": [{"by": {"kind": who}, "text": text} for who, text in each]} for each in _OF_CHATS], "c.jsonl", BY),
    ],
)
def test_what_an_agent_is_does_not_depend_on_the_conversation_of_a_file(
    tmp_path: Path, value: Any, name: str, columns: dict[str, str]
) -> None:
    path = written(tmp_path, value, name)
    refused, found = Reader(columns=columns).read([path])
    assert isinstance(refused, InputError)
    assert "`bot` is the assistant, so `agent` may be a person" in refused.reason
    assert isinstance(found, Transcript)
    assert lines(found.conversation) == ["user: Hi", "assistant: Wait."]
    option = refused.reason.partition("`--columns ")[2].partition("`")[0]
    named = dict(each.split("=") for each in option.split(","))
    assert [lines(each)[1:] for each in conversations(path, columns={**columns, **named})] == [
        ["system: Ann here."],
        ["assistant: Wait."],
    ]


def test_a_bot_is_looked_for_once_in_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[str]()

    def opening(file: str) -> BinaryIO:
        opened.append(file)
        return open_expanded(file)

    monkeypatch.setattr(pieces, "PIECE", 600)
    monkeypatch.setattr(chats, "open_expanded", opening)
    path = written(tmp_path, [{"messages": [{"role": "agent", "content": "x" * 50}]}] * 40)
    reader = Reader()
    found = list(reader.pieces([path]))
    assert len(found) > 2
    assert all(isinstance(each, Transcript) for piece in found for each in reader.read_piece(cast("Piece", piece)))
    assert opened == [str(path)]


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"input": LISTED[0]["messages"]}, "input"),
        ({"prompt": LISTED[0]["messages"], "completion": "x"}, "prompt"),
        (
            {"input": [LISTED[0]["messages"][0], LISTED[0]["messages"][2]], "output": LISTED[0]["messages"][1:2]},
            "input",
        ),
        ({"request": LISTED[0], "response": {"choices": [{"message": LISTED[0]["messages"][1]}]}}, "request.messages"),
    ],
)
def test_an_agent_next_to_a_bot_is_refused_in_every_list_of_messages(
    tmp_path: Path, record: dict[str, Any], path: str
) -> None:
    (reason,) = refusals(tmp_path, [record])
    assert f"`Bot` is the assistant, so `Agent` may be a person; say so with `--columns messages={path}," in reason


@pytest.mark.parametrize(
    ("key", "shown", "hidden"),
    [("Public", "true", "false"), ("is_private", "False", "True"), ("internal", "0", "1"), ("Is Note", "", "yes")],
)
def test_what_the_other_side_did_not_see_is_of_the_system(tmp_path: Path, key: str, shown: str, hidden: str) -> None:
    rows = f"chat_id,role,content,{key}\n1,user,Hi,{shown}\n1,agent,Hello,{shown}\n1,agent,rude,{hidden}\n"
    (found,) = conversations(written(tmp_path, rows, "a.csv"))
    assert lines(found) == ["user: Hi", "assistant: Hello", "system: rude"]
    (found,) = conversations(written(tmp_path, rows.replace(f",{shown}\n", f",{hidden}\n"), "b.csv"))
    assert lines(found)[2] == "assistant: rude"
    log = [{"role": who, "content": who, key: value} for who, value in (("user", shown), ("agent", hidden))]
    (found,) = conversations(written(tmp_path, [{"log": log}]), columns={"messages": "log"})
    assert lines(found) == ["user: user", "system: agent"]


def test_roles_may_have_blanks_and_tool_calls_are_json_text_or_empty(tmp_path: Path) -> None:
    call = json.dumps([{"id": "c", "function": {"name": "f", "arguments": "{}"}}]).replace('"', '""')
    rows = (
        f'conversation_id,role,content,tool_calls\n1,User ,hi,\n1,ASSISTANT,,"{call}"\n1, tool,2,\n1,assistant,two,\n'
    )
    (found,) = conversations(written(tmp_path, rows, "a.csv"))
    assert lines(found) == ["user: hi", "assistant:  -> f {}", "tool: 2", "assistant: two"]


@pytest.mark.parametrize("name", ["Support desk", "Support desk of the branch office " * 3])
def test_an_unknown_speaker_in_a_list_is_refused_with_the_names_that_read_it(tmp_path: Path, name: str) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": name, "content": "yo"}]
    path = written(tmp_path, [{"messages": talk}])
    (refused,) = map(str, Reader().read([path]))
    option = name if len(name) <= 60 else f"{name[:60]}*"
    assert f"name its role with `--columns 'messages=messages,assistant={option}'`" in refused
    (found,) = conversations(path, columns={"messages": "messages", "assistant": option})
    assert lines(found) == ["user: hi", "assistant: yo"]


def test_a_bot_is_found_across_the_blocks_in_which_a_file_is_searched(tmp_path: Path) -> None:
    person = {"messages": [{"role": "user", "content": "Hi"}, {"role": "agent", "content": "Ann here."}]}
    first = json.dumps(person)
    beginning = '{"messages": [{"content": "'
    padding = "x" * (2**20 - len(first) - 1 - len(beginning) - len('", "ro'))  # the key is cut after these letters
    path = written(tmp_path, f'{first}\n{beginning}{padding}", "role": "bot"}}]}}\n', "chats.jsonl")
    refused, _ = Reader().read([path])
    assert "`bot` is the assistant" in str(refused)
