"""Captions: what is said in WebVTT and SRT, and by whom."""

from pathlib import Path

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.transcripts.transcript_reader import Reader

VTT = """WEBVTT - a call

STYLE
::cue(v[voice="Bot"]) { color: red }

NOTE recorded
by the switchboard

1
00:01.000 --> 00:04.000 align:start
<v Caller>I forgot my &amp; pill.</v>

00:04.500 --> 00:07.000
<v.loud Bot>Just double
Caller: the <i>dose</i>

5-0
01:00:07.000 --> 01:00:09.000
<v Bot>tonight.</v>
"""
SRT = "1\n00:00:01,000 --> 00:00:04,000\nUser: When do\nyou open?\n\n\n2\n00:00:04,500 --> 00:00:07,000\nAI: At 8,\n\n"
SRT += "3\n00:00:07,500 --> 00:00:09,000\nAI: or at\n9.\n\n4\n00:00:09,500 --> 00:00:10,000\n10\n"


@pytest.mark.parametrize("name", ["call.vtt", "call.txt", "call"])
def test_the_cues_of_a_voice_are_one_message_with_the_time_of_the_first(tmp_path: Path, name: str) -> None:
    (found,) = conversations(written(tmp_path, VTT, name))
    assert lines(found) == ["user: I forgot my & pill.", "assistant: Just double\nCaller: the dose\ntonight."]
    assert [each.timestamp for each in found.messages] == ["00:01.000", "00:04.500"]


@pytest.mark.parametrize("text", [SRT, SRT.replace("\n", "\r\n"), "\ufeff" + SRT])
def test_a_speaker_before_a_colon_is_read_from_subtitles_and_numbers_are_text_only_in_a_cue(
    tmp_path: Path, text: str
) -> None:
    (found,) = conversations(written(tmp_path, text, "call.srt"))
    assert lines(found) == ["user: When do\nyou open?", "assistant: At 8,\nor at\n9.\n10"]


def test_voices_are_named_and_an_unnamed_one_is_refused(tmp_path: Path) -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Maria Lopez>Hi</v> <v Bot_7>Hello</v>\n"
    (refused,) = refusals(tmp_path, text, "call.vtt")
    assert "`Maria Lopez` is not a known speaker; the speakers seen are `Maria Lopez`, `Bot 7`" in refused
    names = {"user": "Maria Lopez", "assistant": "Bot 7"}
    (found,) = conversations(tmp_path / "call.vtt", columns=names)
    assert lines(found) == ["user: Hi", "assistant: Hello"]
    for name in ("(off)", "\U0001f916"):
        (refused,) = refusals(tmp_path, text.replace("Maria Lopez", "User").replace("Bot_7", name), "call.vtt")
        assert "is not a known speaker" in refused
    (refused,) = refusals(tmp_path, "WEBVTT\n\n00:01.000 --> 00:04.000\nhi\n", "call.vtt")
    assert "the text does not begin with a known speaker" in refused


def test_a_name_in_captions_that_all_begin_with_one_is_a_speaker(tmp_path: Path) -> None:
    cues = ("Anna Li: Hello", "Help Bot: Hi", "Anna Li: My card\nNote: it is blue", "Ben: me too")
    text = "WEBVTT\n\n" + "".join(f"0{at}:00.000 --> 0{at}:09.000\n{cue}\n\n" for at, cue in enumerate(cues))
    path = written(tmp_path, text, "call.vtt")
    names = {"user": "Anna Li", "assistant": "Help Bot"}
    (refused,) = Reader(columns=names).read([path])
    assert "call.vtt:14: `Ben` is not a known speaker" in str(refused)
    (found,) = conversations(path, columns={**names, "system": "Ben"})
    assert lines(found)[2:] == ["user: My card\nNote: it is blue", "system: me too"]


def test_captions_in_a_folder_are_read(tmp_path: Path) -> None:
    written(tmp_path, VTT, "a.vtt")
    written(tmp_path, SRT, "b.srt")
    assert [len(lines(found)) for found in conversations(tmp_path)] == [2, 2]


def test_nothing_that_is_said_is_taken_for_a_note_a_name_or_markup(tmp_path: Path) -> None:
    first, second = "00:00:01,000 --> 00:00:04,000", "00:00:05,000 --> 00:00:06,000"
    text = f"1\n{first}\nUser: Hi\n\n2\n{second}\nAI: If a<b and c>d\n\nNOTE double <i>it</i>\n"
    (found,) = conversations(written(tmp_path, text, "call.srt"))
    assert lines(found) == ["user: Hi", "assistant: If a<b and c>d\nNOTE double it"]
    close = f"WEBVTT\n\n{first}\n<v User>Hi\n{second}\n<v Bot>Double it\n{second}\nnow\n"
    (found,) = conversations(written(tmp_path, close, "close.vtt"))
    assert lines(found) == ["user: Hi", "assistant: Double it\nnow"]
    for tag in ("<v\tBot>", "<V Bot>", "<v.loud\tBot>"):
        tabs = close.replace("<v Bot>", tag).replace(" --> ", "\t-->\t")
        (found,) = conversations(written(tmp_path, tabs, "tabs.vtt"))
        assert lines(found) == ["user: Hi", "assistant: Double it\nnow"]
    (found,) = conversations(
        written(tmp_path, close.replace("now", "<00:01.500>take <5> now, at <12:30>"), "pills.vtt")
    )
    assert lines(found)[1] == "assistant: Double it\ntake <5> now, at <12:30>"
    (found,) = conversations(written(tmp_path, f"{text}\nNo, wait\n{second}\nnow\n", "unnumbered.srt"))
    assert lines(found)[1] == "assistant: If a<b and c>d\nNOTE double it\nNo, wait\nnow"


def test_a_cue_that_begins_with_another_name_does_not_continue_the_speaker_before(tmp_path: Path) -> None:
    cues = ("User: When?", "AI: At 8.", "Dr. Lee: At 9.", "AI: At 9,\nso: early", "Note: bring it")
    time = "00:00:0{0},000 --> 00:00:0{0},500"
    text = "".join(f"{at}\n{time.format(at)}\n{cue}\n\n" for at, cue in enumerate(cues, 1))
    (refused,) = refusals(tmp_path, text, "call.srt")
    assert refused.startswith("11: `Dr. Lee` begins a line as a speaker does, between two messages of one side")
    (found,) = conversations(tmp_path / "call.srt", columns={"system": "Dr. Lee"})
    assert lines(found)[1:] == ["assistant: At 8.", "system: At 9.", "assistant: At 9,\nso: early\nNote: bring it"]


def test_captions_that_are_not_in_the_order_of_their_times_are_refused(tmp_path: Path) -> None:
    cues = "1\n00:00:01,000 --> 00:00:04,000\nAI: Hi.\n\n2\n{} --> 00:00:09,000\nUser: Hello.\n"
    (found,) = conversations(written(tmp_path, cues.format("00:00:03,900"), "call.srt"))  # they speak at once
    assert lines(found) == ["assistant: Hi.", "user: Hello."]
    (refused,) = Reader().read([written(tmp_path, cues.format("00:00:00,900"), "call.srt")])
    assert str(refused).endswith(
        "call.srt:6: the caption begins before the one above it; sort the captions by their times"
    )
