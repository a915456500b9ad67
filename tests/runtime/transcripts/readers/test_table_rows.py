"""Tables: the rows that are conversations, and headers that say too little."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.transcripts.messages import Transcript
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


@pytest.mark.parametrize("named", [{}, {"user": "question", "assistant": "answer"}])
def test_a_question_and_an_answer_in_columns_of_html_are_read_as_a_page_shows_them(
    named: dict[str, str], tmp_path: Path
) -> None:
    path = written(tmp_path, "question,answer\n<p>Caf&eacute;?</p>,<b>No</b>\n", "chat.csv")
    (chat,) = conversations(path, columns={"html": "question|answer", **named})
    assert lines(chat) == ["user: Café?", "assistant: No"]
    (chat,) = conversations(path, columns={"html": "answer", **named})
    assert lines(chat) == ["user: <p>Caf&eacute;?</p>", "assistant: No"]
    (refused,) = Reader(columns={"html": "answers"}).read([path])
    assert "unknown column `answers` for `html`" in str(refused)


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


def test_columns_that_differ_within_a_conversation_are_kept_with_its_messages(tmp_path: Path) -> None:
    heads = "call,who,said,finish_reason,flag,soll,bot,paid\n"
    rows = "1,user,hi,,no,,,\n1,assistant,yes,stop,no,a,m-1,\n1,user,go,,yes,,,3\n1,assistant,on,length,no,b,gpt-4o,\n"
    columns = {"conversation": "call", "role": "who", "content": "said", "expected": "soll", "model": "bot"}
    (found,) = conversations(written(tmp_path, heads + rows, "chat.csv"), columns=columns)
    assert (found.metadata, found.expected, found.model) == ({"paid": "3"}, "b", "m-1")
    assert [message.metadata.get("flag") for message in found.messages] == ["no", "no", "yes", "no"]
    chat = Transcript.of(found)
    assert [turn.finish for turn in chat.turns] == [None, None, None, "length"]
    assert "gpt-4o" in chat.authors


def test_the_expected_answer_of_lines_is_that_of_the_last_one(tmp_path: Path) -> None:
    said = [{"role": role, "content": text, "expected": text} for role, text in (("user", "hi"), ("assistant", "yes"))]
    assert conversations(written(tmp_path, said))[0].expected == "yes"
    assert conversations(written(tmp_path, [said[0], {**said[1], "expected": ""}]))[0].expected == "hi"


def test_a_column_of_tool_calls_may_be_empty(tmp_path: Path) -> None:
    call = json.dumps([{"id": "c", "name": "visit", "args": {"day": 3}}]).replace('"', '""')
    rows = f'id,speaker,utterance,did\n1,user,When?,\n1,assistant,,"{call}"\n1,assistant,At 8.,\n'
    (found,) = conversations(written(tmp_path, rows, "chat.csv"), columns={"tool_calls": "did"})
    assert lines(found) == ["user: When?", 'assistant:  -> visit {"day": 3}', "assistant: At 8."]
    (found,) = conversations(written(tmp_path, rows.replace("did", "Tool Calls"), "chat.csv"))
    assert lines(found) == ["user: When?", 'assistant:  -> visit {"day": 3}', "assistant: At 8."]


def test_tool_calls_next_to_an_answer_are_read_or_the_row_is_refused(tmp_path: Path) -> None:
    row = {"question": "When?", "answer": "At 8.", "tool_calls": [{"name": "visit", "args": {"day": 3}}]}
    path = tmp_path / "chat.parquet"
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([row, {**row, "answer": None}, {**row, "tool_calls": []}]), path
    )
    read = [lines(each)[1] for each in conversations(path)]
    assert read == ['assistant: At 8. -> visit {"day": 3}', 'assistant:  -> visit {"day": 3}', "assistant: At 8."]
    text = "question,answer,tool_calls\nWhen?,At 8.,\nWhen?,At 8.,2\nWhen?,At 8.,visit(3)\nWhen?,At 8.,2.0\n"
    text += "".join(f"When?,At 8.,{none}\n" for none in ("[]", "{}", "nan", "None"))
    read = refusals(tmp_path, text, "chat.csv")
    assert [each for each in read if not each.startswith("chat:")] == [
        "4: column `tool_calls` is `visit(3)`; expected a list (read as table)"
    ]


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


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("When", "03.11.2026 10:05:00", "03.11.2026 10:04:00"),
        ("Updated", "2026-11-03T10:05:00Z", "2026-11-03T10:04:00Z"),
    ],
)
def test_messages_whose_times_run_backwards_are_refused_whatever_their_column(
    name: str, first: str, second: str, tmp_path: Path
) -> None:
    rows = [f"1,assistant,Hello,{first}", f"1,user,Hi,{second}"]
    header = f"chat_id,role,content,{name}"
    (found,) = refusals(tmp_path, "\n".join([header, *rows]), "chat.csv")
    assert f"not in the order of `{name}`: the newest is the first; sort them" in found
    assert refusals(tmp_path, "\n".join([header, *reversed(rows)]), "chat.csv") == ["chat:1"]
    for other in ("1,assistant,Hello,", f"1,assistant,Hello,{second}"):
        assert refusals(tmp_path, "\n".join([header, other, rows[1]]), "chat.csv") == ["chat:1"]
    log = [{"role": "assistant", "text": "Hello", "on": first}, {"role": "user", "text": "Hi", "on": second}]
    (mapped,) = Reader(columns={"messages": "log", "content": "text"}).read([written(tmp_path, [{"log": log}])])
    assert "not in the order of `on`" in str(mapped)
    listed = [{"role": each["role"], "content": each["text"], "on": each["on"]} for each in log]
    assert "not in the order of `on`" in refusals(tmp_path, [{"messages": listed}])[0]


def test_dates_that_run_backwards_beside_those_of_the_messages_say_nothing_about_their_order(tmp_path: Path) -> None:
    header = "role,content,Member since,Said"
    rows = ("user,Hi,2026-05-01 09:00,2026-11-03 10:04", "assistant,Hello,2020-01-01 09:00,2026-11-03 10:05")
    assert refusals(tmp_path, "\n".join([header, *rows]), "a.csv") == ["a"]
    (found,) = refusals(tmp_path, "\n".join([header, *reversed(rows)]).replace("2026-05", "2020-01"), "a.csv")
    assert "not in the order of `Said`" in found


def test_the_name_of_a_column_may_have_spaces_and_capitals(tmp_path: Path) -> None:
    header = "Conversation ID,Role,Content,Sent At\n"
    rows = ("7,user,Hi,2026-11-03 10:04\n", "7,assistant,Hello,2026-11-03 10:05\n")
    (found,) = conversations(written(tmp_path, header + "".join(rows), "chat.csv"))
    assert (found.id, found.messages[0].timestamp) == ("chat:7", "2026-11-03 10:04")
    (refused,) = refusals(tmp_path, header + "".join(reversed(rows)), "chat.csv")
    assert "not in the order of their times" in refused
