"""Reading transcripts: what is accepted, and one clear error with file and line for what is not."""

import gzip
import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.shared_data import folder

from rulewright_runtime.errors import InputError
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader, from_record

USER = '{"turn": 1, "role": "user", "content": "hello"}\n'
REPLY = '{"turn": 1, "role": "assistant", "content": "good day"}\n'
TURNS = [json.loads(USER), json.loads(REPLY)]


def read(path: Path, text: str | bytes, name: str = "m__s.jsonl", **settings: Any) -> list[Transcript | InputError]:
    file = path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(Reader(["s"], **settings).read([file]))


def record(**changes: Any) -> str:
    usual = {"transcript_id": "one", "scenario_id": "s", "model": "m", "turns": TURNS}
    return json.dumps({key: value for key, value in {**usual, **changes}.items() if value is not None}) + "\n"


def summary(items: list[Transcript | InputError]) -> list[str]:
    """Ids of what was read and lines with reasons of what was not."""
    return [f"{item.line}: {item.reason}" if isinstance(item, InputError) else item.id for item in items]


def test_a_file_s_name_gives_model_and_scenario_split_at_the_first_pair_of_underscores(tmp_path: Path) -> None:
    (tmp_path / "m__s__variant.jsonl").write_text(USER + REPLY)
    (found,) = Reader().read([tmp_path])
    assert isinstance(found, Transcript)
    assert (found.id, found.model, found.scenario_id, len(found.turns)) == ("m__s__variant", "m", "s__variant", 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "1: the file is empty"),
        ("\n \n", "1: the file is empty"),
        (USER + REPLY[:-20], "2: the line is not JSON"),
        (USER + REPLY.replace("assistant", "system"), "2: the role is `system`; expected `user` or `assistant`"),
        (USER + '{"role": "assistant", "content": "x"}\n', "2: the turn number is missing"),
        (USER + REPLY.replace("1", '"1"'), "2: the turn number is `1`; expected a whole number"),
        (USER + REPLY.replace("1", "true"), "2: the turn number is `true`"),
        (USER + REPLY + USER, "3: turn 1 of the user is repeated"),
        (USER + REPLY + USER.replace("1", "3"), "3: turn 2 is missing"),
        (USER.replace("1", "2"), "1: turn 1 is missing"),
        (USER + REPLY.replace("1", "2") + REPLY, "3: turn 1 comes after turn 2"),
        (USER + '{"turn": 1, "role": "assistant"}\n', "2: the content is missing"),
        (USER + '{"turn": 1, "role": "assistant", "content": 5}\n', "2: the content is `5`; expected text"),
        ("[1]\n", "1: item 1 must be one JSON object"),
        ("[" * 200_000, "1: "),
        ('{"a":' * 200_000, "1: "),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "1: "),
        (USER.encode() + b"\0\0\0", "2: this is a binary file"),
        (USER.encode() + REPLY.encode().replace(b"good", b"g\xfcd"), "2: the line is not UTF-8 text"),
        (USER + '{"turn": 1, "role": "assistant", "content": "\\ud800"}\n', "2: the line is not JSON"),
    ],
)
def test_a_bad_transcript_is_refused_once_with_its_line(tmp_path: Path, text: str | bytes, reason: str) -> None:
    (found,) = summary(read(tmp_path, text))
    assert found.startswith(reason)


def test_a_huge_line_is_refused_and_the_rest_of_a_batch_is_read(tmp_path: Path) -> None:
    huge = record(transcript_id="huge", turns=[{"turn": 1, "role": "user", "content": "x" * 3000}])
    items = read(tmp_path, record() + huge + record(transcript_id="two"), max_line=2000)
    assert summary(items) == ["one", f"2: the line has {len(huge)} bytes; at most 2000 are read", "two"]


def test_a_user_and_an_assistant_share_a_number_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + (USER + "\n" + REPLY).replace("\n", "\r\n").encode()
    assert summary(read(tmp_path, text)) == ["m__s"]


def test_a_file_without_model_and_scenario_in_its_name_is_refused(tmp_path: Path) -> None:
    assert summary(read(tmp_path, USER, "talk.jsonl")) == ["1: the file's name must be `<model>__<scenario_id>.jsonl`"]


def test_an_unknown_scenario_is_refused(tmp_path: Path) -> None:
    assert summary(read(tmp_path, USER, "m__other.jsonl")) == ["1: unknown scenario `other`"]
    assert summary(read(tmp_path, record(scenario_id="other"))) == ["1: unknown scenario `other`"]
    (refused,) = Reader([]).read([tmp_path / "m__other.jsonl"])
    assert str(refused).endswith("unknown scenario `other`; the project has no scenarios, and a chat needs none")


def test_a_batch_names_its_transcripts_by_id_else_by_file_and_line(tmp_path: Path) -> None:
    several = record(transcript_id=None) + "\n" + record() + record(transcript_id=None)
    assert summary(read(tmp_path, several, "batch.jsonl")) == ["batch:1", "one", "batch:4"]
    assert summary(read(tmp_path, record(transcript_id=None), "batch.jsonl")) == ["batch"]


def test_a_lone_record_next_to_a_broken_line_is_still_named_by_its_line(tmp_path: Path) -> None:
    assert summary(read(tmp_path, "{broken\n" + record(transcript_id=None), "b.jsonl"))[1] == "b:2"
    assert summary(read(tmp_path, record(transcript_id=None) + "{broken\n", "b.jsonl"))[0] == "b:1"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken\n", "the line is not JSON"),
        ("User: Hello\n", 'the line is not JSON; expected a chat such as `{"messages": ['),
        (record(model=None), "a conversation needs the key `model`"),
        (record(scenario_id=7), "a conversation needs the key `scenario_id`"),
        (record(transcript_id=7), "the `transcript_id` must be a text"),
        (record(transcript_id="two", turns=[]), "a conversation needs the key `turns`"),
        (record(transcript_id="two", turns={"a": 1}), "a conversation needs the key `turns`"),
        (record(transcript_id="two", turns=[TURNS[0], 5]), "turns[1]: a turn must be an object"),
        (record(transcript_id="two", turns=[TURNS[0]] * 2), "turns[1]: turn 1 of the user is repeated"),
        (record(transcript_id="two", turns=[{**TURNS[0], "role": "bot"}]), "turns[0]: the role is `bot`"),
        (USER, "a conversation needs the key `turns`"),
        (record(), "transcript `one` was already read from "),
    ],
)
def test_a_bad_record_is_refused_and_its_neighbours_are_read(tmp_path: Path, line: str, reason: str) -> None:
    first, second, third = summary(read(tmp_path, record() + line + record(transcript_id="three")))
    assert (first, third) == ("one", "three")
    assert second.startswith(f"2: {reason}")


def test_an_id_seen_twice_is_an_error_across_files_and_for_one_file_given_twice(tmp_path: Path) -> None:
    file = tmp_path / "m__s.jsonl"
    file.write_text(USER)
    items = summary(list(Reader(["s"]).read([file, file])))
    cure = "scan two versions of a chat into two runs, or rename one with `rulewright convert --id-suffix`"
    assert items == ["m__s", f"1: transcript `m__s` was already read from {file}:1; {cure}"]


def test_what_is_not_there_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "m__s.jsonl").write_text(USER)
    (tmp_path / "empty").mkdir()
    items = list(Reader(["s"]).read([tmp_path / "none.jsonl", tmp_path / "empty", tmp_path / "m__s.jsonl"]))
    assert [type(item).__name__ for item in items] == ["InputError", "InputError", "Transcript"]


def test_a_turn_that_a_harness_recorded_as_failed_needs_no_content(tmp_path: Path) -> None:
    (found,) = read(tmp_path, USER + '{"turn": 1, "role": "assistant", "error": "timeout"}\n')
    assert isinstance(found, Transcript)
    assert (found.turns[1].content, found.turns[1].error) == ("", "timeout")


def test_every_line_of_a_batch_is_reported_whatever_is_first(tmp_path: Path) -> None:
    lines = [USER, "{broken\n", '{"role": "user"}\n', record(), "\0\0\n", record(transcript_id="two"), REPLY]
    found = summary(read(tmp_path, "".join(lines)))
    assert [each.partition(": ")[0] for each in found] == ["1", "2", "3", "one", "5", "two", "7"]


def test_a_binary_file_is_reported_once_and_by_its_kind(tmp_path: Path) -> None:
    assert summary(read(tmp_path, b"\0\n\0\n")) == ["1: this is a binary file, not JSON lines"]
    zipped = gzip.compress(b"PK\x03\x04\0\n\0\n")
    assert summary(read(tmp_path, zipped)) == ["1: this is a zip archive, not JSON lines"]


@pytest.mark.parametrize(
    "line",
    [
        '{"turn": 1, "role": "assistant", "content": "I promise", "content": "Hm"}\n',
        '{"turn": 1, "role": "assistant", "cont\\u0065nt": "I promise", "content": "Hm"}\n',
        '{"turn": 1, "role": "assistant", "content": "", "error": {"type": "x"}, "error": null}\n',
        '{"turn": 1, "role": "user", "role": "assistant", "content": "Hm"}\n',
    ],
)
def test_a_turn_with_a_doubled_key_is_refused(tmp_path: Path, line: str) -> None:
    (found,) = summary(read(tmp_path, USER + line))
    assert found.startswith("2: the line is refused: duplicate key `")
    (found,) = summary(read(tmp_path, record(turns=None)[:-2] + f', "turns": [{USER.strip()}, {line.strip()}]}}\n'))
    assert found.startswith("1: the line is refused: duplicate key `")


def test_words_like_keys_in_a_message_are_not_repeated_keys(tmp_path: Path) -> None:
    said = json.dumps({"turn": 1, "role": "assistant", "content": '"content" "error": "turn"', "branch_id": "role"})
    assert summary(read(tmp_path, USER + said + "\n")) == ["m__s"]


def test_a_folder_that_links_to_itself_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "data" / "inner").mkdir(parents=True)
    (tmp_path / "data" / "inner" / "m__s.jsonl").write_text(USER)
    (tmp_path / "data" / "inner" / "up").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "also").symlink_to(tmp_path / "data" / "inner")
    assert summary(list(Reader(["s"]).read([tmp_path / "data"]))) == ["m__s"]


def test_a_folder_behind_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "m__s.jsonl").write_text(USER)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link").symlink_to(tmp_path / "elsewhere")
    assert summary(list(Reader(["s"]).read([tmp_path / "data"]))) == ["m__s"]


def test_a_folder_that_can_not_be_listed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "m__s.jsonl").write_text(USER)
    usual = os.scandir

    def listed(path: str) -> Any:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return usual(path)

    monkeypatch.setattr(os, "scandir", listed)
    items = list(Reader(["s"]).read([str(tmp_path)]))
    assert [str(item) for item in items if isinstance(item, InputError)] == [
        f"{tmp_path / 'closed'}: the folder can't be read: permission denied"
    ]
    assert len(items) == 2


def test_the_folder_of_a_harness_run_is_read_for_its_conversations(tmp_path: Path) -> None:
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts" / "m__s.jsonl").write_text('{"turn": 1, "role": "user", "content": "Hi"}\n')
    for name in ("header.json", "run_plan.json", "harness.json"):
        (tmp_path / name).write_text('{"plan": "0", "model": "m", "scenarios": 1, "turns": 2}')
    assert [item.id for item in Reader().read([tmp_path]) if isinstance(item, Transcript)] == ["m__s"]
    assert not [item for item in Reader().read([tmp_path]) if isinstance(item, InputError)]


def test_a_conversation_that_its_harness_has_not_finished_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m__s.jsonl.part").write_text(USER)
    (tmp_path / "verdicts.jsonl.part").write_text("")
    (found,) = summary(list(Reader(["s"]).read([tmp_path])))
    assert "not finished" in found


@pytest.mark.parametrize("below", ["", "transcripts"])
def test_a_harness_run_that_was_killed_between_two_conversations_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts" / "m__s.jsonl").write_text(USER)
    for name in ("header.json", "run_plan.json"):
        (tmp_path / name).write_text("{}")
    read = list(Reader().read([tmp_path / below]))
    assert [each.reason for each in read if isinstance(each, InputError)] == [
        "the harness run is not finished; continue it with `--resume`"
    ]
    assert [each.id for each in read if isinstance(each, Transcript)] == ["m__s"]


def test_files_of_a_harness_run_that_has_not_ended_are_one_refused_input(tmp_path: Path) -> None:
    (tmp_path / "transcripts").mkdir()
    files = [tmp_path / "transcripts" / f"m__{name}.jsonl" for name in "ab"]
    for file in [*files, tmp_path / "header.json", tmp_path / "run_plan.json"]:
        file.write_text(USER if file.suffix == ".jsonl" else "{}")
    for found in (Reader().read(files), Reader().pieces(files)):
        refused = [each for each in found if isinstance(each, InputError)]
        assert [str(each) for each in refused] == [
            f"{tmp_path}: the harness run is not finished; continue it with `--resume`"
        ]


def test_every_published_transcript_is_read() -> None:
    items = list(Reader().read([folder("invisiblebench") / "transcripts"]))
    assert len(items) == 277
    assert all(isinstance(item, Transcript) for item in items)


def test_every_broken_line_of_a_file_of_conversations_is_refused(tmp_path: Path) -> None:
    text = 'not JSON\n{"messages": [\n{"turns": [\n'
    found = read(tmp_path, text, "chats.jsonl")
    assert [each.line for each in found if isinstance(each, InputError)] == [1, 2, 3]
    (single,) = read(tmp_path, text, "m__s.jsonl")  # a file that is named as one conversation
    assert isinstance(single, InputError)


def test_chats_next_to_the_files_of_a_harness_run_are_read(tmp_path: Path) -> None:
    for name in ("header.json", "run_plan.json", "harness.json"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "m__s.jsonl").write_text(USER + REPLY)
    assert summary(list(Reader(["s"]).read([tmp_path]))) == ["m__s"]


def test_a_json_file_next_to_chats_is_skipped_only_when_none_of_its_records_is_a_chat(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", **chat}))
    (tmp_path / "b.json").write_text(json.dumps([{"exported": "today"}, {"id": "b", **chat}]))
    (tmp_path / "c.json").write_text(json.dumps([{"exported": "today"}, {"version": 1}]))
    first, unknown, second = Reader().read([tmp_path])
    assert [each.id for each in (first, second) if isinstance(each, Transcript)] == ["a", "b"]
    assert isinstance(unknown, InputError)
    assert unknown.reason.startswith("unknown shape")


def test_a_record_of_python_data_is_read_as_one_of_a_file() -> None:
    exchange = from_record({"question": "hi", "answer": "yo"})
    assert [turn.content for turn in exchange.turns] == ["hi", "yo"]
    with pytest.raises(InputError, match=r"^T1: a conversation needs the key `scenario_id`"):
        from_record({"transcript_id": "T1", "turns": []})


def test_a_record_of_python_data_holds_tuples_as_lists_and_is_refused_where_it_is_not_json() -> None:
    said = {"messages": ({"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"})}
    assert [turn.content for turn in from_record({**said, "at": date(2026, 1, 2)}).turns] == ["hi", "yo"]
    for value, why in (("\ud800", "surrogates not allowed"), (b"yo", "`bytes`"), (10**5000, "4300 digits")):
        with pytest.raises(InputError, match=f"^chat: the record is not JSON: .*{why}"):
            from_record({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": value}]})


def test_a_row_of_a_data_frame_is_read_with_its_arrays_and_numbers_and_nothing_for_what_is_missing() -> None:
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    said = numpy.array([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}], dtype=object)
    other = {"n": numpy.int64(3), "share": numpy.float32("nan"), "at": pandas.NaT, "pair": (float("inf"), 1)}
    read = from_record({"messages": said, **other})
    assert [turn.content for turn in read.turns] == ["hi", "yo"]
    assert read.recorded is not None
    assert read.recorded.metadata == {"n": 3, "pair": [None, 1]}
