"""Tables: the rows that are conversations, and headers that say too little."""

import csv
import json
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.files.input_files import open_expanded
from rulewright_runtime.transcripts import chats, pieces
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.pieces import Piece
from rulewright_runtime.transcripts.transcript_reader import Reader


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        ("question,answer,gold\nhi,hello,good day\n", {}, ["user: hi", "assistant: hello"]),
        ("q,a\nhi,hello\n", {"columns": {"user": "q", "assistant": "a"}}, ["user: hi", "assistant: hello"]),
        ("chat_id,role,content\n1,user,hi\n1,assistant,hello\n", {}, ["user: hi", "assistant: hello"]),
        ('system,user,assistant\nBe brief,"hi,\nyou",hello\n', {}, ["system: Be brief", "user: hi,\nyou"]),
    ],
)
def test_the_rows_of_a_table_are_conversations(
    tmp_path: Path, text: str, settings: dict[str, Any], said: list[str]
) -> None:
    (found,) = conversations(written(tmp_path, text, "chat.csv"), **settings)
    assert lines(found)[:2] == said


@pytest.mark.parametrize("task", [["Add."], {"text": "Add."}])
def test_a_task_or_an_input_that_is_not_text_is_refused(tmp_path: Path, task: Any) -> None:
    for row in ({"instruction": task, "input": "1", "output": "2"}, {"instruction": "1", "input": task, "output": "2"}):
        assert refusals(tmp_path, [row, {"instruction": "Add.", "input": None, "output": "2"}])[0].startswith("1: ")


@pytest.mark.parametrize("contexts", [["Two years.", "No returns."], "Two years.\n\nNo returns."])
def test_retrieved_passages_are_what_a_tool_gave_before_the_answer(tmp_path: Path, contexts: Any) -> None:
    row = {"id": "w", "question": "How long?", "answer": "Two years.", "contexts": contexts, "ground_truth": "2"}
    (found,) = conversations(written(tmp_path, [row]))
    assert lines(found) == ["user: How long?", "tool retrieval: Two years.\n\nNo returns.", "assistant: Two years."]
    assert (found.source, found.expected) == ("table", "2")
    assert refusals(tmp_path, [{**row, "contexts": [{"text": "a"}]}])[0].startswith("1: unknown shape")


def test_columns_that_no_message_reads_are_kept_with_the_conversation(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, "question,answer,date\nhi,hello,today\n", "chat.csv"))
    assert found.metadata == {"date": "today"}
    rows = "id,speaker,utterance,prompt\n1,user,hi,be kind\n1,assistant,hello,be kind\n"
    (found,) = conversations(written(tmp_path, rows, "chat.csv"))
    assert found.metadata == {"prompt": "be kind"}


def test_a_column_of_tool_calls_may_be_empty(tmp_path: Path) -> None:
    call = json.dumps([{"id": "c", "name": "visit", "args": {"day": 3}}]).replace('"', '""')
    rows = f'id,speaker,utterance,did\n1,user,When?,\n1,assistant,,"{call}"\n1,assistant,At 8.,\n'
    (found,) = conversations(written(tmp_path, rows, "chat.csv"), columns={"tool_calls": "did"})
    assert lines(found) == ["user: When?", 'assistant:  -> visit {"day": 3}', "assistant: At 8."]


def test_retrieved_passages_of_a_row_come_before_its_message(tmp_path: Path) -> None:
    rows = "id,speaker,utterance,context\n1,user,How long?,\n1,assistant,Two years.,2 years\n"
    (found,) = conversations(written(tmp_path, rows, "chat.csv"))
    assert lines(found) == ["user: How long?", "tool retrieval: 2 years", "assistant: Two years."]


def test_a_column_mapping_names_fields_that_there_are() -> None:
    with pytest.raises(
        RuntimeFailure, match="unknown field `usr` in a column mapping; expected `messages`, `conversation`"
    ):
        Reader(columns={"usr": "q"})


def test_a_table_without_a_column_that_is_known_says_which_would_be(tmp_path: Path) -> None:
    (found,) = refusals(tmp_path, "a,b\n1,2\n3,4\n", "chat.csv")
    assert found.startswith("1: unknown shape: a table with the columns `a` and `b`; expected `user` and `assistant`")
    assert "`--columns user=NAME,assistant=NAME`, such as `--columns user=a,assistant=b`" in found


def test_two_answers_to_compare_are_not_suggested_as_a_question_and_its_answer(tmp_path: Path) -> None:
    (found,) = refusals(tmp_path, "chosen,rejected\nx,y\n", "a.csv")
    assert "such as" not in found


def test_a_table_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    found = refusals(tmp_path, "user,assistant,assistant\nhi,hello,good day\n", "chat.csv")
    assert found == ["1: the header names the column `assistant` twice"]


def test_a_row_with_more_fields_than_the_header_is_refused(tmp_path: Path) -> None:
    assert refusals(tmp_path, 'user,assistant\nhi,"a"b\nhi,"open\nhi,c\n', "chat.csv") == [
        "2: the row is not CSV: ',' expected after '\"'", "3: the row is not CSV: unexpected end of data"
    ]  # fmt: skip
    found = refusals(tmp_path, "user,assistant\nhi,hello\nhi,hello,you\nhi,hello\n", "chat.csv")
    assert found == ["chat:2", "3: the row has 3 fields; the header names 2", "chat:4"]


def test_no_row_after_one_without_messages_is_skipped(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    rows = [None, said, None, [], [None], said]
    table = pyarrow.table({"messages": pyarrow.array(rows), "id": [f"{number}" for number in range(1, 7)]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    found = [
        f"{item.line}: {item.reason}" if isinstance(item, InputError) else item.id
        for item in Reader().read([tmp_path / "a.parquet"])
    ]
    assert [each.partition(";")[0] for each in found] == [
        "1: `messages` is empty",
        "2",
        "3: `messages` is empty",
        "4: `messages` is empty",
        "5: unknown shape: a table with the columns `messages` and `id`",
        "6",
    ]


@pytest.mark.parametrize("answer", [[["x", "y"]], [{"text": "x"}], [b"\xff"], [True]])
def test_an_answer_that_is_not_text_is_refused(answer: list[Any], tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"question": ["a"], "answer": answer}), tmp_path / "a.parquet")
    (found,) = Reader().read([tmp_path / "a.parquet"])
    assert isinstance(found, InputError)
    assert found.reason.startswith("column `answer` is ")
    assert "expected text" in found.reason


def test_a_column_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    columns = [pyarrow.array([text]) for text in ("a", "b", "bad")]
    table = pyarrow.Table.from_arrays(columns, names=["question", "answer", "answer"])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    (found,) = Reader().read([tmp_path / "a.parquet"])
    assert isinstance(found, InputError)
    assert found.reason == "the file has the column `answer` twice"


def test_messages_as_json_text_are_read(tmp_path: Path) -> None:
    said = json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}])
    with (tmp_path / "a.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "messages"], ["1", said]])
    (found,) = conversations(tmp_path / "a.csv")
    assert (found.id, lines(found)) == ("1", ["user: hi", "assistant: yo"])


def test_a_task_and_its_input_are_the_question(tmp_path: Path) -> None:
    tasks = [("Translate.", "Hallo", "Hello"), ("Hi?", "", "Yo")]
    rows = [dict(zip(("instruction", "input", "output"), task, strict=True)) for task in tasks]
    found = conversations(written(tmp_path, rows))
    assert [chat.messages[0].text for chat in found] == ["Translate.\n\nHallo", "Hi?"]


def test_a_field_may_be_as_long_as_its_line(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, f"question,answer\na,{'b' * 200_000}\n", "a.csv"))
    assert len(found.messages[-1].text) == 200_000


def test_a_message_that_was_refused_is_missing_in_its_conversation(tmp_path: Path) -> None:
    said = {"role": "assistant"}
    rows = [{"role": "user", "content": "a"}, {**said, "say": "bad"}, {**said, "content": "b"}]
    found = refusals(tmp_path, rows)
    assert found[0].startswith("2: unknown shape")
    assert found[1].startswith("1: a conversation of this file may lack its line 2")


@pytest.mark.parametrize("role", ["role", "speaker"])
def test_a_conversation_of_several_rows_is_at_its_own_rows(tmp_path: Path, role: str) -> None:
    table = f"conversation,{role},content\na,user,1\nb,user,2\na,assistant,3\nb,{{}},4\n"
    found = [*Reader().read([written(tmp_path, table.format("assistant"), "a.csv")])]
    assert [(each.id, each.line) for each in found if isinstance(each, Transcript)] == [("a:a", 2), ("a:b", 3)]
    first, refused = refusals(tmp_path, table.format("narrator"), "a.csv")
    assert (first, refused.partition(".")[2].partition(";")[0]) == ("a:a", f"{role} is `narrator`")
    assert refused.startswith("5: ")


def test_messages_that_are_not_in_the_order_of_their_times_are_refused(tmp_path: Path) -> None:
    newest_first = (
        "chat_id,role,content,created_at\n1,assistant,b,2025-03-01T10:00:02Z\n1,user,a,2025-03-01T10:00:01Z\n"
    )
    reason = "the messages are not in the order of their times: `2025-03-01T10:00:01Z` comes too late; sort them"
    assert refusals(tmp_path, newest_first, "a.csv") == [f"2: {reason} (read as messages)"]
    said = newest_first.replace("role", "speaker").replace("content", "message")
    assert refusals(tmp_path, said, "a.csv") == [f"2: {reason} (read as table)"]
    table = pyarrow.csv.read_csv(tmp_path / "a.csv")
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    (found,) = Reader().read([tmp_path / "a.parquet"])
    assert isinstance(found, InputError)
    assert "not in the order of their times" in found.reason


@pytest.mark.parametrize("times", ["1,2", "9,10", "2025-01-01,2025-01-01", "2,", "noon,dawn", "1,2025-01-01"])
def test_times_that_agree_or_can_not_be_compared_change_nothing(times: str, tmp_path: Path) -> None:
    first, second = times.split(",")
    rows = f"chat_id,role,content,timestamp\n1,user,a,{first}\n1,assistant,b,{second}\n"
    (found,) = conversations(written(tmp_path, rows, "a.csv"))
    assert lines(found) == ["user: a", "assistant: b"]


def test_the_row_of_a_message_that_cannot_be_read_is_named_and_refuses_its_conversation_only(tmp_path: Path) -> None:
    rows = ["nr,wer,text", "1,Kunde,a", "1,Bot,b", "2,Kunde,c", "2,Zoë,d", "2,Max,e", "3,Kunde,f", "3,Bot,g", "4,Max,h"]
    columns = {"conversation": "nr", "role": "wer", "content": "text", "user": "Kunde", "assistant": "Bot"}
    path = written(tmp_path, "\n".join(rows) + "\n", "chat.csv")
    found = list(Reader(columns=columns).read([str(path)]))
    assert [item.id for item in found if isinstance(item, Transcript)] == ["chat:1", "chat:3"]
    refused = [item for item in found if isinstance(item, InputError)]
    assert [item.line for item in refused] == [5, 9]
    assert refused[0].reason.startswith("row.wer is `Zoë`; expected a role, or a speaker that")


def test_the_row_of_the_first_message_without_a_conversation_is_named(tmp_path: Path) -> None:
    rows = ["conversation_id,role,content", "1,user,a", "1,assistant,b", ",user,c", ",assistant,d"]
    found = list(Reader().read([str(written(tmp_path, "\n".join(rows) + "\n", "chat.csv"))]))
    assert [item.line for item in found if isinstance(item, InputError)] == [4]
    assert [item.id for item in found if isinstance(item, Transcript)] == ["chat:1"]


def test_the_line_of_the_first_of_the_lines_of_a_conversation_that_is_refused_is_named(tmp_path: Path) -> None:
    named = [{"role": role, "content": "a", "conversation_id": "1"} for role in ("user", "assistant")]
    path = written(tmp_path, [*named, {"role": "user", "content": "c"}])
    assert [item.line for item in Reader().read([str(path)]) if isinstance(item, InputError)] == [3]


MERGED = "no row names its conversation, and `{0}` may be its name: say so with `--columns {1}`"


@pytest.mark.parametrize("naming", ["role,content", "wer,said"])
def test_rows_of_several_chats_whose_name_is_in_an_unknown_column_are_refused(naming: str, tmp_path: Path) -> None:
    rows = f"Ticket-Nr,{naming},lang\n7,user,a,de\n7,assistant,b,de\n8,user,c,en\n8,assistant,d,de\n"
    role, content = naming.split(",")
    columns = {} if role == "role" else {"role": role, "content": content}
    path = written(tmp_path, rows, "a.csv")
    (refused,) = Reader(columns=columns).read([str(path)])
    assert isinstance(refused, InputError)
    assert refused.line == 2
    assert refused.reason.startswith(MERGED.format("Ticket-Nr", "conversation=Ticket-Nr"))
    named = Reader(columns={**columns, "conversation": "Ticket-Nr", "role": role, "content": content})
    assert [each.id for each in named.read([str(path)]) if isinstance(each, Transcript)] == ["a:7", "a:8"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_rows_that_a_column_divides_are_one_chat_or_several_as_the_mapping_says(suffix: str, tmp_path: Path) -> None:
    said = zip(("user", "assistant") * 2, "abcd", ("Monday", "Monday", "Tuesday", "Tuesday"), strict=True)
    rows = [{"role": role, "content": content, "day": day} for role, content, day in said]
    csv = "role,content,day\n" + "".join(",".join(row.values()) + "\n" for row in rows)
    path = written(tmp_path, csv if suffix == "csv" else rows, f"a.{suffix}")
    (refused,) = Reader().read([str(path)])
    assert isinstance(refused, InputError)
    assert "`--columns conversation=day`, or with `--columns conversation=` that all rows are one" in refused.reason
    for name, expected in (("day", 2), ("", 1)):
        reader = Reader(columns={"conversation": name})
        found = [*reader.read([str(path)])]
        assert [type(each) for each in found] == [Transcript] * expected
        assert reader.unused_columns() == []


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_rows_of_several_named_chats_are_one_if_the_mapping_says_so(suffix: str, tmp_path: Path) -> None:
    rows = [{"conversation_id": name, "role": role, "content": "a"} for name in "12" for role in ("user", "assistant")]
    csv = "conversation_id,speaker,text\n" + "".join(",".join(row.values()) + "\n" for row in rows)
    path = written(tmp_path, csv if suffix == "csv" else rows, f"a.{suffix}")
    for columns, expected in (({}, 2), ({"conversation": ""}, 1)):
        assert len(conversations(path, columns=columns)) == expected


@pytest.mark.parametrize(
    ("name", "values"),
    [("turn", "1,1,2,2"), ("lang", "de,de,en,de"), ("n", "1,2,3,4"), ("day", "1,2,2,2"), ("shop", "a,a,a,a"),
     ("mood", "x,x,y,"), ("model", "a,a,b,b"), ("part", "1,2,2,2")],
)  # fmt: skip
def test_a_column_that_divides_no_chats_leaves_the_rows_together(name: str, values: str, tmp_path: Path) -> None:
    said = zip(("user", "assistant", "user", "assistant"), "abcd", values.split(","), strict=True)
    rows = f"role,content,{name}\n" + "".join(",".join(row) + "\n" for row in said)
    (found,) = conversations(written(tmp_path, rows, "a.csv"))
    assert lines(found) == ["user: a", "assistant: b", "user: c", "assistant: d"]


@pytest.mark.parametrize(
    ("name", "values", "roles"),
    [
        ("session", "a,b,a,b", "uuaa"),
        ("nr", "a,b,a,b", "uuaa"),
        ("Ticket", "a,a,b,b,a,a", "uauaua"),
        ("supportTicketId", "a,a,b,b,a,a", "uauaua"),
        ("support_call", "a,a,b,b,a,a", "uauaua"),
        ("nr", "a,b,b,a", "uuaa"),
    ],
)
def test_rows_of_chats_that_go_on_at_once_are_refused(name: str, values: str, roles: str, tmp_path: Path) -> None:
    who = {"u": "user", "a": "assistant"}
    said = [
        {"role": who[role], "content": role, name: value} for role, value in zip(roles, values.split(","), strict=True)
    ]
    (reason,) = refusals(tmp_path, said)
    assert reason.startswith(f"1: {MERGED.format(name, f'conversation={name}')}")
    named = conversations(tmp_path / "chat.jsonl", columns={"conversation": name})
    assert {"".join(each.role[0] for each in chat.messages) for chat in named} <= {"ua", "uaua"}


@pytest.mark.parametrize(
    ("name", "values", "roles"),
    [
        *((name, "a,a,b,b,a,a", "uauaua") for name in ("topic", "callback", "recall", "lowercase")),
        ("lang", "de,en,de,en", "uuua"),
        ("chat_message", "a,b,c,d", "uauu"),
    ],
)
def test_a_column_whose_values_return_leaves_the_rows_together(
    name: str, values: str, roles: str, tmp_path: Path
) -> None:
    who = {"u": "user", "a": "assistant"}
    said = [
        {"role": who[role], "content": role, name: value} for role, value in zip(roles, values.split(","), strict=True)
    ]
    (found,) = conversations(written(tmp_path, said))
    assert "".join(each.role[0] for each in found.messages) == roles


def test_an_id_of_each_message_is_not_the_name_of_its_conversation(tmp_path: Path) -> None:
    rows = "id,author,text\n1,user,a\n2,assistant,b\n"
    (found,) = conversations(written(tmp_path, rows, "a.csv"))
    assert lines(found) == ["user: a", "assistant: b"]


def test_rows_that_are_not_in_the_order_of_their_numbers_are_refused(tmp_path: Path) -> None:
    rows = "conversation_id,role,content,turn_index\n1,assistant,b,2\n1,user,a,1\n2,user,c,1\n"
    reason = "the messages are not in the order of `turn_index`: `1` comes too late; "
    reason += "sort them, or name each conversation if the numbers begin again in it"
    assert refusals(tmp_path, rows, "a.csv") == [f"2: {reason} (read as messages)", "a:2"]


def test_rows_of_a_tree_are_refused_and_those_of_a_path_are_read(tmp_path: Path) -> None:
    tree = "message_tree_id,message_id,parent_id,role,text\nt,1,,user,a\nt,2,1,assistant,b\nt,3,1,assistant,c\n"
    path = tree + "s,4,,user,a\ns,5,4,assistant,b\n"
    columns = {"conversation": "message_tree_id", "content": "text"}
    refused, found = Reader(columns=columns).read([str(written(tmp_path, path, "a.csv"))])
    assert isinstance(refused, InputError)
    assert refused.reason.startswith("two messages reply to `1`; keep one branch of each conversation")
    assert isinstance(found, Transcript)


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


THREAD = [("1", "", "user"), ("2", "1", "assistant"), ("3", "1", "user"), ("4", "1", "assistant")]
TOOLS = [("1", "", "user"), ("2", "1", "assistant"), ("3", "2", "tool"), ("4", "2", "tool"), ("5", "4", "assistant")]


@pytest.mark.parametrize("messages", [THREAD, TOOLS])
def test_replies_in_a_thread_and_of_tools_that_were_called_at_once_are_no_branches(
    messages: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    rows = "chat_id,message_id,parent_id,role,content\n" + "".join(f"t,{','.join(each)},a\n" for each in messages)
    (found,) = conversations(written(tmp_path, rows, "a.csv"))
    assert [message.role for message in found.messages] == [role for _, _, role in messages]


def test_rows_of_one_speaker_with_an_id_each_are_a_conversation_each(tmp_path: Path) -> None:
    rows = "id,speaker,text,expected\n1,user,a,x\n2,user,b,y\n"
    assert [found.expected for found in conversations(written(tmp_path, rows, "a.csv"))] == ["x", "y"]


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


def test_an_unknown_speaker_in_a_list_is_refused_with_the_names_that_read_it(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "Support desk", "content": "yo"}]
    path = written(tmp_path, [{"messages": talk}])
    (refused,) = map(str, Reader().read([path]))
    assert "name its role with `--columns 'messages=messages,assistant=Support desk'`" in refused
    (found,) = conversations(path, columns={"messages": "messages", "assistant": "Support desk"})
    assert lines(found) == ["user: hi", "assistant: yo"]


@pytest.mark.parametrize(
    ("times", "is_late"),
    [
        ("02/05/2024 10:00|01/05/2024 10:00", True),
        ("12/01/2024|01/02/2025", False),
        ("01/02/2024|12/01/2024", False),
        ("5/13/2024, 9:00 AM|5/1/2024, 9:00 AM", True),
        ("May 1, 2024 10:05 AM|May 1, 2024 10:00 AM", True),
        ("12:59 PM|1:01 PM", False),
        ("31.05.24, 10:31|31.05.24, 10:30", True),
        ("10:05|10:00", True),
        ("23:59|00:01", False),
        ("9:59|10:00", False),
        ("2024-05-01 10:00|2024-05-01 09:00", True),
        ("2024-05-01T12:00:00+02:00|2024-05-01T10:00:01Z", False),
        ("late|early", False),
    ],
)
def test_rows_are_in_the_order_of_their_times_in_every_common_form(tmp_path: Path, times: str, is_late: bool) -> None:
    first, second = times.split("|")
    rows = f'conversation_id,role,content,date\n1,user,a,"{first}"\n1,assistant,b,"{second}"\n'
    (found,) = refusals(tmp_path, rows, "a.csv")
    assert (f"`{second}` comes too late; sort them" in found) == is_late
    assert is_late or found == "a:1"
