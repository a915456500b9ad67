"""Records of any shape, whose keys the caller names."""

from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import OPENAI_CALL, conversations, lines, written

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.transcripts.messages import finish_of
from rulewright_runtime.transcripts.readers.content import text_of_markup
from rulewright_runtime.transcripts.transcript_reader import Reader

COLUMNS = {"messages": "events", "role": "who", "content": "text", "assistant": "desk|voice"}
ASKED = {"who": "customer", "text": "Is there a fee?"}


def refusal(folder: Path, record: Any, **more: str) -> str:
    (found,) = Reader(columns={**COLUMNS, **more}).read([written(folder, [record])])
    assert isinstance(found, InputError)
    return found.reason


def test_messages_are_read_under_the_names_given(tmp_path: Path) -> None:
    events = [
        ASKED,
        {"who": "voice", "text": "", "tool_calls": [OPENAI_CALL]},
        {"who": "tool", "tool_call_id": "c", "text": "0"},
        {"who": "desk", "text": "No.", "timestamp": "10:00", "mood": "calm"},
    ]
    record = {"id": "a", "model": "m", "expected": "No.", "shop": 7, "events": events}
    (chat,) = conversations(written(tmp_path, [record]), columns=COLUMNS)
    assert lines(chat) == [
        "user: Is there a fee?",
        'assistant:  -> balance {"account": "7"}',
        "tool balance: 0",
        "assistant: No.",
    ]
    assert (chat.id, chat.model, chat.expected, chat.source, chat.metadata["shop"]) == ("a", "m", "No.", "mapped", 7)
    assert (chat.messages[3].timestamp, chat.messages[3].metadata) == ("10:00", {"mood": "calm"})


MARKUP = (
    "<!doctype html><style>p {}</style><!-- x --><p>Rembours&eacute; if a&lt;b</p><table><td>1</td><td>2</td></table>"
)


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.csv"])
def test_a_text_that_is_named_as_html_is_read_as_a_page_shows_it(name: str, tmp_path: Path) -> None:
    rows = [{"who": "customer", "text": "<b>Hi</b>"}, {"who": "voice", "text": MARKUP}]
    table = "".join(f"{each['who']},{each['text']}\n" for each in rows)
    path = written(tmp_path, "who,text\n" + table if name.endswith("csv") else [{"events": rows}], name)
    speakers = {"role": "who", "html": "text", "user": "customer", "assistant": "voice"}
    (chat,) = conversations(path, columns=speakers if name.endswith("csv") else COLUMNS | speakers | {"content": ""})
    assert lines(chat) == ["user: Hi", "assistant: Remboursé if a<b\n1\n2"]
    with pytest.raises(RuntimeFailure, match="names `content` and `html`"):
        Reader(columns={**speakers, "content": "text"})


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<!-->Hi", "Hi"),
        ("<!--->Hi", "Hi"),
        ("<!-- a --!>Hi", "Hi"),
        ("<script>a</script x>Hi", "Hi"),
        ("<title-bar>Hi", "<title-bar>Hi"),
    ],
)
def test_what_a_browser_shows_is_not_hidden(markup: str, shown: str) -> None:
    assert text_of_markup(markup, "text") == shown


@pytest.mark.parametrize("shown", ["", "Hi"])
def test_a_comment_that_is_not_closed_hides_the_rest_of_a_page(shown: str, tmp_path: Path) -> None:
    rows = [{"who": "voice", "text": shown + "<!--" * 100_000}]
    columns = {key: name for key, name in COLUMNS.items() if key != "content"} | {"html": "text"}
    (chat,) = conversations(written(tmp_path, [{"events": rows}]), columns=columns)
    assert lines(chat) == [f"assistant: {shown}"]


def test_a_path_leads_into_objects_and_json_text_is_read(tmp_path: Path) -> None:
    given = {"messages": "call.log", "role": "by.kind", "content": "text", "id": "call.nr"}
    log = [{"by": {"kind": "user"}, "text": "Hi"}, {"by": {"kind": "bot"}, "text": "Hello"}]
    (chat,) = conversations(written(tmp_path, [{"call": {"nr": 5, "log": log}}]), columns=given)
    assert (chat.id, lines(chat)) == ("5", ["user: Hi", "assistant: Hello"])
    table = 'nr,log\n7,"[{""who"": ""user"", ""text"": ""Hi""}, {""who"": ""bot"", ""text"": ""Hello""}]"\n'
    (chat,) = conversations(
        written(tmp_path, table, "log.csv"), columns={"messages": "log", "role": "who", "content": "text", "id": "nr"}
    )
    assert (chat.id, lines(chat)) == ("7", ["user: Hi", "assistant: Hello"])


def test_parts_that_a_path_names_as_the_content_are_read_once(tmp_path: Path) -> None:
    said = [{"who": role, "content": {"parts": [text]}} for role, text in (("user", "hi"), ("assistant", "yes"))]
    columns = {"messages": "events", "role": "who", "content": "content.parts"}
    (found,) = conversations(written(tmp_path, [{"events": said}]), columns=columns)
    assert lines(found) == ["user: hi", "assistant: yes"]


def test_a_message_next_to_the_list_is_not_lost_and_can_be_joined_with_it(tmp_path: Path) -> None:
    record = {"opening": ASKED, "log": {"events": [{"who": "desk", "text": "No."}]}}
    assert refusal(tmp_path, record, messages="log.events") == (
        "`opening` is a message in addition to those in `log.events`; name both with `messages=opening+log.events` "
        "(read as mapped)"
    )
    (chat,) = conversations(written(tmp_path, [record]), columns={**COLUMNS, "messages": "opening+log.events"})
    assert lines(chat) == ["user: Is there a fee?", "assistant: No."]
    assert "`log.events` is missing for `messages`" in refusal(
        tmp_path, {"opening": ASKED}, messages="opening+log.events"
    )


def test_what_is_next_to_a_list_inside_of_an_object_is_not_lost(tmp_path: Path) -> None:
    log = {"system": "Be short.", "events": [ASKED, {"who": "desk", "text": "No."}], "settings": {"heat": 0}}
    (chat,) = conversations(
        written(tmp_path, [{"call": {"log": log, "nr": 5}, "none": None}]),
        columns={**COLUMNS, "messages": "call.log.events"},
    )
    assert lines(chat) == ["system: Be short.", "user: Is there a fee?", "assistant: No."]
    assert chat.metadata == {"call": {"log": {"system": "Be short.", "settings": {"heat": 0}}, "nr": 5}}
    joined = {"system": "Be kind.", "opening": ASKED, "call": {"events": [{"who": "desk", "text": "No."}]}}
    (chat,) = conversations(written(tmp_path, [joined]), columns={**COLUMNS, "messages": "opening+call.events"})
    assert lines(chat) == ["system: Be kind.", "user: Is there a fee?", "assistant: No."]
    assert chat.metadata == {"system": "Be kind."}


def test_an_answer_next_to_the_messages_is_not_lost(tmp_path: Path) -> None:
    (chat,) = conversations(written(tmp_path, [{"events": [ASKED], "response": "No."}]), columns=COLUMNS)
    assert lines(chat) == ["user: Is there a fee?", "assistant: No."]
    both = {"events": [ASKED, {"who": "desk", "text": "No."}], "response": "Yes, 5 euros."}
    assert "`response` is not among the messages in `events`" in refusal(tmp_path, both)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"logs": [ASKED]}, "`events` is missing for `messages`; the keys are `logs`"),
        ({"events": []}, "`events` is empty"),
        ({"events": "[5"}, "events is `[5`; expected a list"),
        ({"events": [5]}, "events[0] is `5`; expected an object"),
        (
            {"events": [ASKED, {"who": "boss", "text": "x"}]},
            "events[1].who is `boss`; expected a role, or a speaker that",
        ),
        ({"events": [{"text": "x"}]}, "events[0] has no `who` for `role`; its keys are `text`"),
        ({"events": [{"who": "", "text": "x"}]}, "events[0].who is ``; expected a role"),
        (
            {"events": [{"who": "customer", "mood": "calm"}]},
            "events[0] has no `text` for `content`; its keys are `who`, `mood`",
        ),
        ({"events": [{"who": "voice", "calls": ""}]}, "events[0] has no `text` for `content`"),
        ({"events": [{**ASKED, "message": "Hi"}]}, "has a `content` and another `message`"),
    ],
)
def test_what_the_names_do_not_fit_is_refused(tmp_path: Path, record: Any, reason: str) -> None:
    assert reason in refusal(tmp_path, record, tool_calls="calls")


def test_sessions_are_joined_only_in_the_order_of_their_times(tmp_path: Path) -> None:
    early, late = ([{"role": "user", "content": day, "timestamp": f"2025-03-{day}"}] for day in ("01", "02"))
    given = {"messages": "sessions[].said", "role": "role", "content": "content"}
    record = {"sessions": [{"said": early}, {"said": late}]}
    (chat,) = conversations(written(tmp_path, [record]), columns=given)
    assert lines(chat) == ["user: 01", "user: 02"]
    record["sessions"].reverse()
    assert "are not in the order of their times: `2025-03-01` comes too late" in refusal(tmp_path, record, **given)


def test_sessions_whose_times_are_beside_their_messages_are_joined_only_in_their_order(tmp_path: Path) -> None:
    given = {"messages": "log.sessions[].said", "role": "role", "content": "content"}
    for key, columns in (("date", given), ("started_at", given), ("begun", {**given, "timestamp": "begun"})):
        said = [{"role": "user", "content": "a"}]
        sessions = [{key: day, "said": said} for day in ("2025-03-01", "2025-03-02T10:00:00")]
        record = {"log": {"sessions": sessions}}
        assert len(conversations(written(tmp_path, [record]), columns=columns)) == 1
        sessions.reverse()
        assert "not in the order of their times: `2025-03-01` comes too late" in refusal(tmp_path, record, **columns)


def test_an_empty_speaker_has_no_role_even_if_a_given_name_is_empty(tmp_path: Path) -> None:
    assert "expected a role" in refusal(tmp_path, {"events": [{"who": "", "text": "x"}]}, user="|x")


def test_calls_of_tools_their_results_and_retrieved_texts_have_names_of_their_own(tmp_path: Path) -> None:
    given = {"messages": "log", "role": "by.kind", "content": "body.text", "tool_calls": "did", "tool_call_id": "of"}
    log: list[dict[str, Any]] = [
        {"by": {"kind": "customer"}, "body": {"text": "When?"}},
        {"by": {"kind": "bot"}, "body": {"text": None}, "did": {"id": "c", "name": "visit", "args": {"day": 3}}},
        {"by": {"kind": "tool"}, "body": {"text": "8 to 12"}, "of": "c"},
        {"by": {"kind": "bot"}, "body": {"text": "At 8."}},
    ]
    chunks = [{"text": "Visits are at 8.", "score": 0.8}, "Nothing else."]
    record = {"log": log, "found": {"chunks": chunks}}
    (chat,) = conversations(written(tmp_path, [record]), columns={**given, "passages": "found.chunks"})
    assert lines(chat) == [
        "user: When?",
        "tool retrieval: Visits are at 8.\n\nNothing else.",
        'assistant:  -> visit {"day": 3}',
        "tool visit: 8 to 12",
        "assistant: At 8.",
    ]
    assert chat.messages[1].metadata == {"passages": chunks}
    log[-1]["found"] = {"chunks": "At eight."}
    (chat,) = conversations(written(tmp_path, [{"log": log}]), columns={**given, "passages": "found.chunks"})
    assert lines(chat)[-2:] == ["tool retrieval: At eight.", "assistant: At 8."]


STATE: dict[str, Any] = {
    "values": {
        "messages": [
            {"type": "human", "content": "Pay."},
            {
                "type": "ai",
                "content": "",
                "tool_calls": [{"name": "pay", "args": {"sum": 3}, "id": "a"}],
                "invalid_tool_calls": [{"name": "drop", "args": "{", "id": "b", "error": "no JSON"}],
                "response_metadata": {"finish_reason": "length"},
            },
        ]
    }
}


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("named", [{}, {"role": "type", "content": "content", "user": "human", "assistant": "ai"}])
def test_tool_calls_of_a_state_of_langgraph_are_read(named: dict[str, str], is_nested: bool, tmp_path: Path) -> None:
    said = STATE["values"]["messages"]
    nested = [{"lc": 1, "id": ["messages", f"{each['type']}Message"], "kwargs": each} for each in said]
    record = {"values": {"messages": nested if is_nested else said}}
    inside = {
        key: f"kwargs.{name}" if is_nested and key in ("role", "content") else name for key, name in named.items()
    }
    (found,) = conversations(written(tmp_path, [record]), columns={"messages": "values.messages", **inside})
    assert lines(found) == ["user: Pay.", 'assistant:  -> pay {"sum": 3} -> drop null']
    assert finish_of(found.messages[1].metadata) == "length"


def test_a_retrieved_text_that_is_none_is_refused(tmp_path: Path) -> None:
    record = {"events": [ASKED], "found": [{"score": 0.8}]}
    assert 'a passage is `{"score":0.8}`; expected a text, or an object with a `text`' in refusal(
        tmp_path, record, passages="found"
    )


@pytest.mark.parametrize("more", [{"response": None}, {"output": ""}, {"error": "timeout"}])
def test_an_answer_that_is_missing_after_the_messages_is_no_earlier_one(more: dict[str, Any], tmp_path: Path) -> None:
    events = [ASKED, {"who": "desk", "text": "No."}, ASKED]
    (chat,) = conversations(written(tmp_path, [{"events": events, **more}]), columns=COLUMNS)
    assert chat.messages[-1].metadata == {"error": "the request has no answer"}


@pytest.mark.parametrize("columns", [{"assistant": "generated"}, {"assistant": "generated", "messages": "messages"}])
def test_the_answer_of_listed_messages_may_have_a_name_of_its_own(tmp_path: Path, columns: dict[str, str]) -> None:
    asked = [
        {"role": "user", "content": "A?"},
        {"role": "assistant", "content": "a."},
        {"role": "user", "content": "B?"},
    ]
    records = [{"messages": asked, "generated": each} for each in ("b.", [{"role": "assistant", "content": "b."}])]
    found = conversations(written(tmp_path, records), columns=columns)
    assert [lines(chat) for chat in found] == [["user: A?", "assistant: a.", "user: B?", "assistant: b."]] * 2


@pytest.mark.parametrize("columns", [{"assistant": "out.text"}, {"assistant": "out.text", "messages": "messages"}])
@pytest.mark.parametrize("answer", [{"out": {"text": None}}, {"out": {"text": ""}}, {"out": {}}, {}])
def test_an_answer_that_is_missing_under_its_own_name_is_no_earlier_one(
    tmp_path: Path, answer: dict[str, Any], columns: dict[str, str]
) -> None:
    asked = [
        {"role": "user", "content": "A?"},
        {"role": "assistant", "content": "a."},
        {"role": "user", "content": "B?"},
    ]
    (chat,) = conversations(written(tmp_path, [{"messages": asked, **answer}]), columns=columns)
    assert chat.messages[-1].role == "assistant"
    assert chat.messages[-1].text == ""


@pytest.mark.parametrize("messages", [{}, {"messages": "messages"}])
def test_nothing_else_of_a_record_is_lost_where_its_answer_has_a_name(tmp_path: Path, messages: dict[str, str]) -> None:
    record = {"nr": 0, "system": "Be kind.", "messages": [{"role": "user", "content": "A?"}], "generated": "a."}
    (chat,) = conversations(written(tmp_path, [record]), columns={"assistant": "generated", "id": "nr", **messages})
    assert lines(chat) == ["system: Be kind.", "user: A?", "assistant: a."]
    assert chat.id == "0"


def test_chats_that_convert_wrote_are_read_as_they_are_whatever_the_columns(tmp_path: Path) -> None:
    record = {
        "format": "rulewright-chat",
        "version": 1,
        "id": "a",
        "messages": [{"role": "user", "parts": [{"text": "A?"}]}],
    }
    (chat,) = conversations(written(tmp_path, [record]), columns={"assistant": "generated"})
    assert (lines(chat), chat.id) == (["user: A?"], "a")


def test_a_name_that_a_speaker_has_is_no_answer(tmp_path: Path) -> None:
    events = [ASKED, {"who": "desk", "text": "No."}, ASKED]
    (chat,) = conversations(written(tmp_path, [{"events": events, "desk": "number 7"}]), columns=COLUMNS)
    assert lines(chat) == ["user: Is there a fee?", "assistant: No.", "user: Is there a fee?"]


@pytest.mark.parametrize(
    ("output", "path"),
    [
        ({"output": {"message": {"role": "assistant", "content": [{"text": "No."}]}}}, "output.body.output.message"),
        ({"role": "assistant", "content": [{"type": "text", "text": "No."}]}, "output.body"),
    ],
)
def test_the_mapping_in_the_refusal_of_a_log_of_bedrock_reads_its_question_and_answer(
    output: Any, path: str, tmp_path: Path
) -> None:
    asked = {"messages": [{"role": "user", "content": [{"text": "Is there a fee?"}]}]}
    file = written(tmp_path, [{"operation": "Converse", "input": {"body": asked}, "output": {"body": output}}])
    (refused,) = Reader().read([file])
    assert isinstance(refused, InputError)
    mapping = f"messages=input.body.messages,assistant={path}"
    assert f"`--columns {mapping}`" in refused.reason
    (chat,) = conversations(file, columns=dict(pair.split("=") for pair in mapping.split(",")))
    assert lines(chat) == ["user: Is there a fee?", "assistant: No."]


@pytest.mark.parametrize("key", ["timestamp", "createdAt", "timestamp_ms", "date_created", "sent"])
def test_messages_under_a_named_key_are_read_only_in_the_order_of_their_times(key: str, tmp_path: Path) -> None:
    columns = {"messages": "log", "timestamp": "sent"} if key == "sent" else {"messages": "log"}
    log = [
        {"role": role, "content": role, key: time} for role, time in (("user", 1714557600), ("assistant", 1714557601))
    ]
    assert len(conversations(written(tmp_path, [{"log": log}]), columns=columns)) == 1
    (refused,) = map(str, Reader(columns=columns).read([written(tmp_path, [{"log": log[::-1]}])]))
    assert "the messages are not in the order of their times: `1714557600` comes too late" in refused


HI, YO = ({"type": "message", "role": role, "content": text} for role, text in (("user", "hi"), ("assistant", "yo")))


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"type": "joined", "who": "Tom"}, "joined"),
        ({"type": "closed", "content": "The chat was closed."}, "The chat was closed."),
        ({"type": "typing", "role": "assistant"}, "typing"),
    ],
)
def test_an_event_of_a_type_of_its_own_is_of_the_system(event: dict[str, Any], said: str, tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [{"log": [HI, event, YO]}]), columns={"messages": "log"})
    assert lines(found) == ["user: hi", f"system: {said}", "assistant: yo"]
    assert found.messages[1].name == event["type"]
    for other in ({**event, "type": "message"}, {**event, "type": None}):
        assert "has no `" in refusal(tmp_path, {"log": [HI, other, YO]}, messages="log", role="role", content="content")
