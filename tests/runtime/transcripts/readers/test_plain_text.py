"""Plain text: lines that begin with a speaker, and what is refused because it may be read in two ways."""

import json
from pathlib import Path
from shlex import quote

import pytest
from tests.runtime.plans import check, plan
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import unread_note
from rulewright_runtime.runs.store import run
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.readers import plain_text
from rulewright_runtime.transcripts.transcript_reader import Reader

CHAT = "User: hi\nAssistant: yo\n"
SAID = ["user: hi", "assistant: yo"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CHAT, SAID),
        ("User : hi\nAssistant\u00a0: yo\n", SAID),
        ("**User :** hi\n**Assistant** : yo\n", SAID),
        ("\ufeff\n# A chat\n\n**user:** hi\r\n\r\n__Assistant__: yo\r\n", SAID),
        ("### Human: hi\n### AI:\nyo\n", SAID),
        ("# A chat\n\n## User\n\nhi\n\n## Assistant\n\nyo\n", SAID),
        ("**User**\nhi\n\n**Assistant**\n\nyo\n", SAID),
        ("User: hi\nAssistant: yo\n\n## User\n**Bot**\n", ["user: hi", "assistant: yo\n\n## User\n**Bot**"]),
        ("## User\nhi\n## Assistant\nyo\n## Steps\nUser\n", ["user: hi", "assistant: yo\n## Steps\nUser"]),
        ("[12.05.24, 10:31:12] Customer: hi\n[12.05.24, 10:32] Bot: yo\n", SAID),
        ("12/5/24, 3:07\u202fPM - Customer: hi\n2024-05-12 15:08 - Bot: yo\n", SAID),
        ("\u200e[12.05.24, 10:31:12] Customer: hi\n\u200e[12.05.24, 10:32] \u200eBot: yo\n", SAID),
        (
            "12/5/24, 15:07 - No calls.\n12/5/24, 15:07 - User: hi\n12/5/24, 15:08 - AI: yo\n12:30 - is: it\n",
            ["system: No calls.", "user: hi", "assistant: yo\n12:30 - is: it"],
        ),
        ("User: hi\n---\nAssistant: yo\n---\nUser: more\n", [*SAID, "user: more"]),
        (
            "System: Help.\nUser: hi\nNote: a gift.\n\nUser : x\nASSISTANT:\n\n[1] Li: Life\n\n---\nand so on\n---\n",
            ["system: Help.", "user: hi\nNote: a gift.", "user: x", "assistant: [1] Li: Life\n\n---\nand so on"],
        ),
        (
            "User: hi\nAssistant: like this\n```yaml\nuser: root\n```\n# Sum\nuser:pw@host\n",
            ["user: hi", "assistant: like this\n```yaml\nuser: root\n```\n# Sum\nuser:pw@host"],
        ),
    ],
)
@pytest.mark.parametrize("name", ["chat.txt", "chat.MD", "pasted"])
def test_a_message_continues_up_to_the_next_speaker(tmp_path: Path, text: str, said: list[str], name: str) -> None:
    (found,) = conversations(written(tmp_path, text, name))
    assert (found.id.partition(":")[0], found.source, lines(found)) == (Path(name).stem, "text", said)


def test_other_words_before_a_colon_are_text(tmp_path: Path) -> None:
    text = "User: hi\nUsed: 1\nAgents: 3\nUrgent: yes\nAgent 2025: a film\nAgent: yo\nUses: 2\nAge: 4\n"
    (found,) = conversations(written(tmp_path, text, "chat.txt"))
    said = ["user: hi\nUsed: 1\nAgents: 3\nUrgent: yes\nAgent 2025: a film", "assistant: yo\nUses: 2\nAge: 4"]
    assert lines(found) == said


TEAMS = "[Gestern 10:31] Anna M\u00fcller\n    hi\n[2] is text\n\u200b[12.05.2024 10:32] Help Bot\nyo\n\n12:30 - is\n"


@pytest.mark.parametrize("name", ["chat.txt", "chat.md", "pasted"])
def test_a_time_and_a_speaker_on_a_line_of_their_own_begin_a_message(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, TEAMS, name)
    (found,) = conversations(path, columns={"user": "Anna M\u00fcller", "assistant": "Help Bot"})
    assert lines(found) == ["user: hi\n[2] is text", "assistant: yo\n\n12:30 - is"]
    assert [each.timestamp for each in found.messages] == ["Gestern 10:31", "12.05.2024 10:32"]


def test_a_speaker_after_a_time_that_is_not_named_is_refused_and_not_taken_for_text(tmp_path: Path) -> None:
    path = written(tmp_path, TEAMS + "[10:33] Ben\nwait\n", "chat.txt")
    (refused,) = map(str, Reader(columns={"user": "Anna M\u00fcller", "assistant": "Help Bot"}).read([path]))
    assert "chat.txt:8: `Ben` is not a known speaker; the speakers seen are `Anna M\u00fcller`" in refused
    (refused,) = map(str, Reader().read([path]))
    assert "chat.txt:1: `Anna M\u00fcller` is not a known speaker; the speakers seen are" in refused


def test_a_line_that_begins_with_a_time_is_text_where_speakers_have_a_colon(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, "[10:31] User: hi\n[10:32] call me\n[10:33] Bot: yo\n", "chat.txt"))
    assert lines(found) == ["user: hi\n[10:32] call me", "assistant: yo"]


WITH_TIMES = [  # how transcripts of calls and chats write the time beside the speaker
    "{time} {name}: {text}",
    "({time}) {name}: {text}",
    "{time} - {name}: {text}",
    "2026-11-02 {time} {name}: {text}",
    "2026-11-02T{time}:05Z **{name}:** {text}",
    "{name} ({time}): {text}",
    "{name} [{time}]: {text}",
    "{name} (2.11.2026, {time} PM): {text}",
    "**{name}** ({time}): {text}",
    "**{name} ({time}):** {text}",
    "{name}  {time}\n{text}\n",
    "{name} - {time}\n{text}\n",
    "**{name}** [2026-11-02 {time}]\n{text}\n",
]
SPOKEN = (("User", "hi"), ("Bot", "yo\nNote: at 10:30 it is\n10:30 sharp"), ("User", "bye"))


def with_times(form: str, *spoken: tuple[str, str]) -> str:
    return (
        "\n".join(form.format(time=f"10:3{at}", name=name, text=text) for at, (name, text) in enumerate(spoken)) + "\n"
    )


@pytest.mark.parametrize("form", WITH_TIMES)
def test_a_time_may_stand_before_and_after_the_speaker(tmp_path: Path, form: str) -> None:
    (found,) = conversations(written(tmp_path, with_times(form, *SPOKEN), "call.md"))
    assert lines(found) == ["user: hi", "assistant: yo\nNote: at 10:30 it is\n10:30 sharp", "user: bye"]
    assert ["10:3" in str(each.timestamp) for each in found.messages] == [True] * 3
    named = with_times(form, *((name.replace("User", "Ann Li"), text) for name, text in SPOKEN))
    assert len(conversations(written(tmp_path, named, "call.md"), columns={"user": "Ann Li"})) == 1
    (refused,) = map(str, Reader().read([written(tmp_path, named, "call.md")]))
    assert "call.md:1: `Ann Li` is not a known speaker; the speakers seen are `Ann Li`, `Bot`" in refused


@pytest.mark.parametrize("form", WITH_TIMES)
def test_nothing_said_with_times_becomes_text_of_another_message(tmp_path: Path, form: str) -> None:
    third = with_times(form, *SPOKEN[:2], ("Ben", "I take over"), *SPOKEN[2:])
    headed = f"User: Ann Li\nBot: shop-2\n{with_times(form, *SPOKEN)}"
    for text in (third, headed):
        assert all(isinstance(each, InputError) for each in Reader().read([written(tmp_path, text, "call.md")])), text
    (refused,) = map(str, Reader().read([written(tmp_path, headed, "call.md")]))
    assert "call.md:1: `User` is not written as most speakers of the text are; write all of them alike" in refused
    reader = Reader()
    (found,) = reader.read([written(tmp_path, f"{with_times(form, *SPOKEN)}Bot: one more\n", "call.md")])
    assert isinstance(found, Transcript)
    assert found.turns[-1].content.endswith("Bot: one more")
    assert reader.labels == {"Bot", *(["10:30 sharp"] if form.startswith("{time} {name}") else [])}


@pytest.mark.parametrize("between", ["---\n", "\n======\n\n", "\n# Second\n", "\n---\n## Second\n\n"])
def test_rules_and_headings_separate_conversations(tmp_path: Path, between: str) -> None:
    text = f"{CHAT}{between}User: and now?\nAssistant: bye\n"
    first, second = conversations(written(tmp_path, text, "chat.md"))
    assert (lines(first), lines(second)) == (SAID, ["user: and now?", "assistant: bye"])
    assert (first.id, second.id) == ("chat:1", f"chat:{text[: text.index('User: and')].count(chr(10)) + 1}")
    assert second.messages[0].metadata == ({"title": "Second"} if "Second" in between else {})


def test_the_time_and_the_name_of_a_mapped_speaker_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path, "[10:31] Anna: hi\n[10:32] Help: yo\n[10:33] Ben Li: I take over\n", "chat.txt")
    (found,) = conversations(path, columns={"user": "anna", "assistant": "Help|Ben Li"})
    assert [(each.role, each.name, each.timestamp) for each in found.messages] == [
        ("user", "Anna", "10:31"),
        ("assistant", "Help", "10:32"),
        ("assistant", "Ben Li", "10:33"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nAnna: hi\nBot: yo\na(b): c\nAnna: ok", "a known speaker; the speakers seen are `Anna`, `Bot`; expected"),
        ("Just a note.\n", "1: the text does not begin with a known speaker; expected"),
        ("User: hi\nHelp: yo\n", "1: no message of the assistant; the speakers seen are `User`, `Help`; expected"),
        ("Bot: Hello\nAnna: hi\nBot: yo\n", "1: no message of the user; the speakers seen are `Bot`, `Anna`; expected"),
        ("[10:31] Anna: hi\n[10:32] Bot: yo\n", "1: `Anna` is not a known speaker; the speakers seen are `Anna`"),
        (f"{CHAT}[10:30] Anna: and I?\n", "3: `Anna` is not a known speaker; the speakers seen are"),
        ("12.05.24, 15:07 - Anna: hi\n12.05.24, 15:08 - Bot: yo\n", "1: `Anna` is not a known speaker"),
        ("Bot: Hello\nAnna M: hi\nBot: yo\n", "such as `--columns 'user=Anna M,assistant=Bot'`"),
        ("User: hi\nAssistent: yo\nUser: no\nAssistant: ok\n", "2: `Assistant` is the assistant, so `Assistent` may"),
        ("User: hi\nAssistant: yo\nAsistant: ok\n", "3: `Assistant` is the assistant, so `Asistant` may be another"),
        ("Human: hi\nAgent: yo\nAgetn: yo\n", "3: `Agent` is the assistant, so `Agetn` may be another one or a part"),
        ("User: hi\nAgent: yo\nAgent 2: ok\n", "3: `Agent` is the assistant, so `Agent 2` may be another"),
        ("User: hi\nAgent: yo\nАgent: ok\n", "3: `Agent` is the assistant, so `Аgent` may be another one or a part"),
        (f"{CHAT}Customer: Miller\n", "3: `User` is the user, so `Customer` may be another one or a part"),
        (f"{CHAT}---\nAssistant: and more\n", "4: a rule or heading comes before `Assistant`; keep them"),
        ("User: hi\nAssistant: yo\n```\nUser: never closed\n", "3: the block of code is not closed"),
        ("User: hi\nAssistant: \0yo\n", "2: this is a binary file"),
    ],
)  # fmt: skip
def test_text_that_may_be_read_in_two_ways_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (found,) = refusals(tmp_path, text, "chat.txt")
    assert told in found


@pytest.mark.parametrize("text", [CHAT + "\n" * 40 + "x", CHAT + "x" * 3000])
def test_a_text_takes_limited_memory(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "MAX_DOCUMENT", 2600)
    (found,) = refusals(tmp_path, text, "chat.txt")
    assert "the text has more than 2600 bytes" in found


def test_a_line_that_looks_like_a_long_time_is_text(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, f"{CHAT}[{'1:11' * 200_000}\n", "chat.txt"))
    assert len(found.messages[1].text) == 800_004


def test_a_conversation_that_is_refused_does_not_stop_the_others(tmp_path: Path) -> None:
    first, second = refusals(tmp_path, f"User: hi\nUser: anyone?\n---\n{CHAT}", "chat.txt")
    assert (first.startswith("1: no message of the assistant"), second) == (True, "chat:4")


def test_the_name_of_a_mapped_role_is_text_elsewhere(tmp_path: Path) -> None:
    path = written(tmp_path, "User: hi\nBot: Your data:\nCustomer: Miller\n", "chat.txt")
    (found,) = conversations(path, columns={"user": "User"})
    assert lines(found) == ["user: hi", "assistant: Your data:\nCustomer: Miller"]


def test_of_the_texts_in_a_folder_the_chats_are_read(tmp_path: Path) -> None:
    for name, text in {"a.txt": CHAT, "README.md": "# About\n\nUser: see below\n", "notes.txt": "User: hi\n"}.items():
        written(tmp_path, text, name)
    (tmp_path / "b.txt").write_text(CHAT, encoding="utf-16")
    *_, refused = Reader().read([tmp_path])
    assert "this is UTF-16 text; save it as UTF-8" in str(refused)
    (tmp_path / "b.txt").unlink()
    reader = Reader()
    assert [getattr(chat, "id", "") for chat in reader.read([tmp_path])] == ["a:1"]
    assert unread_note(reader.unread) == ["note: 2 files not read as chats: 1 `.md`, 1 `.txt`"]


def test_code_within_a_line_does_not_hide_the_next_speaker(tmp_path: Path) -> None:
    text = "User: how?\nBot: run\n```one```\nUser: and then?\nBot: run\n```two```\nUser: thanks\n"
    (found,) = conversations(written(tmp_path, text, "chat.txt"))
    assert [each.role for each in found.messages] == ["user", "assistant", "user", "assistant", "user"]


@pytest.mark.parametrize("text", ["# Stop taking it", "---", "# A\n\nB"])
def test_a_heading_next_to_its_speaker_was_said(text: str, tmp_path: Path) -> None:
    said = f"User: {text}\nBot: {text}\nUser: {text}\nBot: {text}\n"
    (found,) = conversations(written(tmp_path, said, "chat.txt"))
    assert [each.text for each in found.messages] == [text] * 4


def test_all_headings_before_a_speaker_are_kept(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, "# One\n\n# Two\n\nUser: a\nBot: b\n", "chat.txt"))
    assert found.messages[0].metadata["title"] == "One\nTwo"


GREETING = "User: Hi\nAssistant: Hello\n"
THIRD = (
    "say who it is with `--columns 'user=User|{0}'`, `'assistant=Assistant|{0}'` or, if neither, `{1}`, or that it is"
)


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        (f"{GREETING}Visitor: hello\nAssistant: How can I help?\n", 3, "Visitor"),
        (f"{GREETING}Dr. Lee: I am here\nAssistant: Welcome\nUser: ok\nDr. Lee: so\nUser: and?\n", 3, "Dr. Lee"),
        (f"{GREETING}User: and\nSupport: yes?\nUser: a\nAssistant: b\nSupport: c\nUser: d\n", 4, "Support"),
        ("user: Hi\nassistant: Hello\nvisitor: hello\nassistant: yes\n", 3, "visitor"),
        ("**User:** Hi\n\n**Assistant:** Hello\nYes\n\n**Ben:** hello\n\n**Assistant:** yes\n", 6, "Ben"),
        (f"{GREETING}Name: x\nBen: hello\nAssistant: yes\n", 4, "Ben"),
    ],
)
def test_another_name_between_two_messages_of_one_side_may_be_a_speaker(
    tmp_path: Path, text: str, line: int, name: str
) -> None:
    (found,) = refusals(tmp_path, text, "chat.txt")
    assert f"{line}: `{name}` begins a line as a speaker does, between two messages of one side" in found
    if text.startswith(GREETING):
        assert THIRD.format(name, "system=Visitor" if name == "Visitor" else f"{quote('system=' + name)}") in found


def test_who_another_name_is_or_that_it_is_text_can_be_said(tmp_path: Path) -> None:
    path = written(tmp_path, f"{GREETING}Visitor: hello\nAssistant: yes\n", "chat.txt")
    hi, hello, yes = "user: Hi", "assistant: Hello", "assistant: yes"
    text = "assistant: Hello\nVisitor: hello"
    for columns, said, notes in (
        ({"user": "User|Visitor"}, [hi, hello, "user: hello", yes], 0),
        ({"system": "Visitor"}, [hi, hello, "system: hello", yes], 0),
        ({"assistant": "Assistant"}, [hi, text, yes], 1),
    ):
        reader = Reader(columns=columns)
        (found,) = reader.read([path])
        assert isinstance(found, Transcript)
        assert (lines(found.conversation), len(reader.notes())) == (said, notes)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (f"{GREETING}Reviewer: good\nUser: And?\nAssistant: Yes\nReviewer: bad\n", ["Reviewer"]),
        (f"{GREETING}Support: Hi\nUser: And?\nUser: so\n", ["Support"]),
        (f"{GREETING}Supervisor: I take over.\nUser: Thanks\nAssistant: Bye\n", ["Supervisor"]),
        (f"{GREETING}Dr. Lee: never\nUser: And?\nAssistant: so\n", ["Dr. Lee"]),
        (f"{GREETING}User: And?\nBen: so\nUser: then\n", ["Ben"]),
        (f"{GREETING}Note: take one pill\n", []),
        (f"{GREETING}Note: take one pill\nUser: and?\nAssistant: yes\nNote: take two\nAssistant: now\n", []),
        (f"{GREETING}Pros: cheap\nCons: slow\nUser: and the other?\nAssistant: fast\n", ["Cons", "Pros"]),
        (f"{GREETING}What you can do: walk\nhttps://x.org: a\nAssistant: so\n", []),
        (f"{GREETING}**Item:** shoes\nAssistant: Anything else?\n", []),
        (f"{GREETING}\nItem: shoes\nAssistant: Anything else?\n", []),
        (f"{GREETING}item: shoes\nAssistant: Anything else?\n", []),
        (f"{GREETING}Items:\nshoes\nAssistant: Anything else?\n", []),
        (f"{GREETING}```\nItem: shoes\n```\nAssistant: Anything else?\n", []),
        (f"{GREETING}Item: shoes\nAssistant: Anything else?\nAssistant: Tell me.\n", ["Item"]),
        ("[10:31] User: hi\n[10:32] Bot: a\nItem: x\n[10:33] Bot: b\nItem: y\n", []),
    ],
)
def test_a_name_that_is_written_as_speakers_are_is_noted_and_any_other_is_text(
    tmp_path: Path, text: str, labels: list[str]
) -> None:
    reader = Reader()
    assert all(isinstance(item, Transcript) for item in reader.read([written(tmp_path, text, "chat.txt")]))
    assert sorted(reader.labels) == labels
    notes = (
        [f"note: {', '.join(f'`{label}:`' for label in labels)} at the beginning of lines was read as text; name"]
        if labels
        else []
    )
    assert [each.partition(" other speakers")[0] for each in reader.notes()] == notes


def test_names_that_were_read_as_text_are_noted_by_runs_of_any_number_of_processes(tmp_path: Path) -> None:
    text = f"{GREETING}Reviewer: good\nUser: And?\nAssistant: Yes\nReviewer: bad\n"
    path = written(tmp_path, text, "chat.txt")
    for jobs in (1, 2):
        summary = run(plan(check()), [path], tmp_path / str(jobs), jobs=jobs)
        assert summary["labels_read_as_text"] == ["Reviewer"]


def test_an_agent_next_to_a_bot_of_another_conversation_may_be_a_person(tmp_path: Path) -> None:
    text = "User: Hi\nAgent: Ann here.\n---\nUser: Hi\nBot: Wait.\n"
    refused, found = refusals(tmp_path, text, "chat.txt")
    assert refused.startswith("2: `Bot` is the assistant, so `Agent` may be another one or a part of the message; say")
    assert found == "chat:4"
    assert len(conversations(tmp_path / "chat.txt", columns={"assistant": "Bot|Agent"})) == 2


@pytest.mark.parametrize("form", ["csv", "jsonl", "array"])
@pytest.mark.parametrize("bot", ["Bot:", "[10:31] **Bot**:"])
def test_an_agent_next_to_a_bot_in_the_text_of_another_record_may_be_a_person(
    tmp_path: Path, form: str, bot: str
) -> None:
    texts = ["User: Hi\nAgent: Ann here.", f"{'[10:30] ' * ('[' in bot)}User: Hi\n{bot} Wait."]
    rows = [{"id": str(number), "log": text} for number, text in enumerate(texts)]
    if form == "csv":
        path = written(tmp_path, "id,log\n" + "".join(f'{row["id"]},"{row["log"]}"\n' for row in rows), "calls.csv")
    else:
        path = written(
            tmp_path,
            rows if form == "jsonl" else json.dumps(rows, indent=1),
            "calls.jsonl" if form == "jsonl" else "calls.json",
        )
    first, second = Reader().read([path])
    assert isinstance(first, InputError)
    assert "`Bot` is the assistant, so `Agent` may be another one" in first.reason
    assert isinstance(second, Transcript)
    assert len(conversations(path, columns={"messages": "log", "assistant": "Bot|Agent"})) == 2


CALLS = [("1", "Caller: Where?\n\nBot: Here.\nNote: it is\nlate\nCaller: ok"), ("2", "Caller: x\nBot: y")]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_text_of_a_record_is_read_as_a_chat_if_it_is_one(tmp_path: Path, suffix: str) -> None:
    rows = [{"id": number, "agent_name": "Tom", "transcript": text} for number, text in CALLS]
    csv = "id,agent_name,transcript\n" + "".join(f'{number},Tom,"{text}"\n' for number, text in CALLS)
    path = written(tmp_path, csv if suffix == "csv" else rows, f"calls.{suffix}")
    for columns in ({}, {"messages": "transcript"}):
        first, second = conversations(path, columns=columns)
        assert lines(first) == ["user: Where?", "assistant: Here.\nNote: it is\nlate", "user: ok"]
        assert (first.id, lines(second), first.metadata["agent_name"]) == ("1", ["user: x", "assistant: y"], "Tom")


@pytest.mark.parametrize("key", ["conversation", "id"])
def test_the_text_of_a_chat_is_not_its_name(tmp_path: Path, key: str) -> None:
    found = conversations(written(tmp_path, [{key: CHAT}, {key: CHAT}]))
    assert [(each.id, lines(each)) for each in found] == [("chat:1", SAID), ("chat:2", SAID)]


def test_a_text_of_a_record_that_is_no_chat_is_refused_with_its_line_and_speakers_may_be_named(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "call": {"text": "Anna: Hi\nBen: yo\n"}},
        {"id": "2", "call": {"text": "Anna: Hi\n---\nAnna: a"}},
    ]
    path = written(tmp_path, rows)
    named = {"messages": "call.text", "user": "Anna", "assistant": "Ben"}
    found, refused = Reader(columns=named).read([path])
    assert isinstance(found, Transcript)
    assert lines(found.conversation) == ["user: Hi", "assistant: yo"]
    assert "`call.text`, line 1: no message of the assistant; the speakers seen are `Anna`; expected" in str(refused)
    refused, _ = Reader(columns={"messages": "call.text"}).read([path])
    assert "`call.text`, line 1: the text does not begin with a known speaker; the speakers seen are" in str(refused)
    twice = written(tmp_path, [{"id": "3", "log": "User: a\nBot: b\n---\nUser: c\nBot: d"}])
    (refused,) = Reader().read([twice])
    assert "`log`, line 4: a rule or heading begins another conversation" in str(refused)


def test_what_a_messenger_says_first_under_a_name_is_of_the_system(tmp_path: Path) -> None:
    text = "[12.05.24, 10:31:12] Bot: \u200eMessages are encrypted.\n[12.05.24, 10:31:15] User: hi\n"
    path = written(
        tmp_path, f"{text}[12.05.24, 10:32:00] Bot: yo\n[12.05.24, 10:33:00] User: \u200eimage omitted\n", "a.txt"
    )
    (found,) = conversations(path)
    assert [each.role for each in found.messages] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("name", ["~ Ben", "~\u202fBen", "+49 170 1234567", "\U0001f338 Mia", "Ben (Desk)"])
@pytest.mark.parametrize("form", ["[12.05.24, 10:3{}:00] {}: {}\n", "12/05/2024, 10:3{} - {}: {}\n"])
def test_a_speaker_whose_name_begins_with_a_sign_is_known_only_by_name(tmp_path: Path, form: str, name: str) -> None:
    rows = ("User", "hi"), ("Bot", "yo"), (name, "and I?"), ("Bot", "ok")
    path = written(tmp_path, "".join(form.format(at, *row) for at, row in enumerate(rows)), "chat.txt")
    (refused,) = Reader().read([path])
    assert f"chat.txt:3: `{name}` is not a known speaker; the speakers seen are" in str(refused)
    (found,) = conversations(path, columns={"system": name})
    assert lines(found) == ["user: hi", "assistant: yo", "system: and I?", "assistant: ok"]


@pytest.mark.parametrize("line", ["User:what", "  User: what", "User\uff1a what", "\tUser :what"])
def test_a_known_speaker_who_is_written_in_another_way_is_no_text_between_two_messages_of_one_side(
    tmp_path: Path, line: str
) -> None:
    (refused,) = refusals(tmp_path, f"{GREETING}{line}\nAssistant: yes\n", "chat.txt")
    reason = "`User` begins a line between two messages of `Assistant`, but not as speakers are written"
    assert refused == f"3: {reason}; write `User: ` at its beginning"
    (found,) = conversations(written(tmp_path, f"{GREETING}{line}\nUser: yes\n", "text.txt"))
    assert lines(found)[1] == f"assistant: Hello\n{line}"


@pytest.mark.parametrize("name", ["Maria de la Cruz", "O\u2019Brien", "Tom & Sue", "2nd Caller", "+49 170 12", "li_x"])
def test_any_name_next_to_a_time_is_a_speaker(tmp_path: Path, name: str) -> None:
    text = f"User  0:01\nhi\n\nAgent  0:05\nyo\n\n{name}  0:09\nwait\n\nAgent  0:12\nok\n"
    assert f"7: `{name}` is not a known speaker" in refusals(tmp_path, text, "chat.txt")[0]
    (found,) = conversations(written(tmp_path, text, "chat.txt"), columns={"system": name})
    assert lines(found) == [*SAID, "system: wait", "assistant: ok"]


@pytest.mark.parametrize(
    "speaker", ["Agent  0:31", "Agent (0:31)", "**Agent**", "## Agent", "[10:31] Agent", "0:31 Agent:", "Agent (0:31):"]
)
def test_a_speaker_in_any_other_way_of_writing_between_two_messages_is_refused(tmp_path: Path, speaker: str) -> None:
    (refused,) = refusals(tmp_path, f"User: hi\n{speaker}\nhello\nUser: x\nAgent: y\n", "chat.txt")
    assert refused.startswith("2: `Agent` begins a line between two messages of `User`")


def test_speakers_in_a_block_of_code_do_not_decide_how_speakers_are_written(tmp_path: Path) -> None:
    code = "```\n10:31 User: a\n10:32 Agent: b\n10:33 User: c\n```"
    (found,) = conversations(written(tmp_path, f"User: hi\n{code}\nAssistant: yo\n{code}\n", "chat.txt"))
    assert lines(found) == [f"user: hi\n{code}", f"assistant: yo\n{code}"]


@pytest.mark.parametrize(
    "time", ["10:31 ", "12.05.24 10:31 ", "[10:31] ", "2024-05-12T10:31:00Z ", "9:31 AM | ", "(9:31) "]
)
def test_a_time_without_a_speaker_is_noted_or_refused_where_speakers_are_after_a_time(
    tmp_path: Path, time: str
) -> None:
    event = f"{time.replace('31', '4').replace('9', '10').replace('AM', 'pm')}*** Ben joined the chat"
    user, agent = f"{time}User: hi\n{time}System: queued\n", f"{time}**Agent**: yo\n"
    (refused,) = refusals(tmp_path, f"{user}{agent}{event}\n{agent}", "chat.txt")
    assert refused.startswith(f"4: `{event[:30]}` begins a line between two messages of `Agent`, but not as speakers")
    assert refused.endswith("; write a speaker after the time, such as `System: `, or a blank before it if it is text")
    for text, notes in ((f"12 users\n {event}\n```\n{event}\n```\n", set()), (f"{event}\n", {event[:30]})):
        reader = Reader()
        (found,) = reader.read([written(tmp_path, f"{user}{agent}{text}", "chat.txt")])
        assert isinstance(found, Transcript)
        assert (reader.labels, found.turns[-1].content) == (notes, f"yo\n{text.rstrip()}")


def test_a_speaker_with_a_colon_is_noted_where_the_others_have_none(tmp_path: Path) -> None:
    reader = Reader()
    path = written(tmp_path, "[10:31] User\nhi\n[10:32] Agent\nyo\n[10:33] Ben: wait\n", "chat.txt")
    assert [isinstance(each, Transcript) for each in reader.read([path])] == [True]
    assert reader.labels == {"[10:33] Ben: wait"}


@pytest.mark.parametrize("end", ["\r", "\x0b", "\u2028", "\x85"])
def test_a_line_ends_where_a_reader_sees_its_end(tmp_path: Path, end: str) -> None:
    text = f"User: hi{end}Agent: yo{end}{end}and\nUser: more{end}"
    (found,) = conversations(written(tmp_path, text, "chat.txt"))
    assert lines(found) == ["user: hi", "assistant: yo\n\nand", "user: more"]


TITLES = ["{name}  {time}\n", "{name} ({time})\n", "## {name} ({time})\n", "{name} ({time}): ", "{time} {name}: "]


@pytest.mark.parametrize("form", TITLES)
def test_a_call_may_be_longer_than_99_minutes(tmp_path: Path, form: str) -> None:
    said = [("User", "98:59", "hi"), ("Agent", "99:59", "yo"), ("User", "100:01", "and"), ("Agent", "1:40:12", "ok")]
    text = "".join(f"{form.format(name=name, time=time)}{words}\n" for name, time, words in said)
    (found,) = conversations(written(tmp_path, text, "chat.txt"))
    assert lines(found) == [*SAID, "user: and", "assistant: ok"]


@pytest.mark.parametrize("form", TITLES[1:-1])
@pytest.mark.parametrize("name", ["Agent", f"Maximiliane van der Berg ({'Support ' * 4}Team)"])
def test_a_time_in_brackets_after_a_speaker_may_begin_with_words(tmp_path: Path, form: str, name: str) -> None:
    times = ["May 12, 2024, 10:31 AM", "Yesterday at 10:31", "9:32", "12. Mai 2024 10:31"]
    text = "".join(
        f"{form.format(name=each, time=time)}{at}\n"
        for at, (each, time) in enumerate(zip(["User", name] * 2, times, strict=True))
    )
    (found,) = conversations(written(tmp_path, text, "chat.txt"), columns={"assistant": name})
    assert lines(found) == ["user: 0", "assistant: 1", "user: 2", "assistant: 3"]
    assert [each.timestamp for each in found.messages] == times


def test_marks_of_direction_before_a_time_hide_no_speaker(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, "\u200f[10:31] User: hi\n[10:32] Agent: yo\n", "chat.txt"))
    assert lines(found) == SAID


def test_many_headings_are_read_in_proportion_to_the_text() -> None:
    utterance = plain_text._Utterance(1, role="user", lines=["", *["", f"# {'a' * 300}"] * 100_000])
    assert utterance.cut() == (True, "\n".join(["a" * 300] * 100_000))


def test_speakers_of_a_messenger_are_told_from_those_of_other_texts(tmp_path: Path) -> None:
    text = "12.05.24, 10:37 - User: hi\n12.05.24, 10:39 - Agent: yo\n10:31 User: more\n"
    (found,) = conversations(written(tmp_path, text, "chat.txt"))
    assert lines(found) == ["user: hi", "assistant: yo\n10:31 User: more"]
    titled = "**User**\nhi\n**Agent**\nyo\n"
    (refused,) = refusals(tmp_path, f"{titled}12.05.24, 10:37 - User: more\n{titled}", "chat.txt")
    assert refused.startswith("5: `User` is not written as most speakers of the text are")


def test_a_time_with_a_date_and_one_without_are_not_of_one_chat(tmp_path: Path) -> None:
    text = "2026-05-12 10:31 User: hi\n2026-05-12 10:32 Agent: yo\n10:31 User: more\n2026-05-12 10:33 User: ok\n"
    (refused,) = refusals(tmp_path, text, "chat.txt")
    assert refused.startswith("3: `User` is not written as most speakers of the text are; write all of them alike")
