"""Thoughts: what a model thinks at the beginning of a reply, in an element such as `<think>`, is not its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.transcripts.messages import Message, Part, Transcript, Turn

_ELEMENT: Final = re.compile(
    r"""\s*(?:<((?:\w+:)?(?:think|thinking|thought))(?:\s[^<>]*)?>(?P<xml>.*?)(?:</\1>|\Z)
    |\[think\](?P<mistral>.*?)(?:\[/think\]|\Z)
    |◁think▷(?P<kimi>.*?)(?:◁/think▷|\Z))""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_END: Final = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)  # of an element that the chat template opened


def separated(reply: str) -> tuple[str, str]:
    """The thoughts at the beginning of a reply, and the answer after them. An element that is not closed is a thought
    to its end."""
    thoughts: list[str] = []
    at = 0
    if "</think>" in reply and "<think>" not in reply and (end := _END.search(reply)):
        thoughts.append(reply[: end.start()])
        at = end.end()
    while element := _ELEMENT.match(reply, at):
        thoughts.append(element[element.lastgroup or 0])
        at = element.end()
    return "\n".join(filter(None, map(str.strip, thoughts))), reply[at:].lstrip() if thoughts else reply


def without_thoughts(transcript: Transcript) -> Transcript:
    """The transcript, whose replies are only the answers; the messages of a recorded conversation keep the thoughts
    as their reasoning, and `inline_reasoning` in their metadata says that they did not stand apart."""
    if not _may_hold_thoughts(transcript.turns):
        return transcript
    if (chat := transcript.recorded) is None:
        turns = tuple(map(_turn, transcript.turns))
        return transcript if turns == transcript.turns else replace(transcript, turns=turns)
    messages = tuple(map(_message, chat.messages))
    if messages == chat.messages:
        return transcript
    return Transcript.of(replace(chat, messages=messages), transcript.path, transcript.line)


def _may_hold_thoughts(turns: Iterable[Turn]) -> bool:
    """Whether a reply may hold thoughts, which is asked about every turn of every chat."""
    for turn in turns:
        if turn.role == "assistant":
            reply = turn.content
            if "<" in reply or reply[:1] in "[\u25c1" or reply[:1].isspace():  # a search for one character is fast
                return True
    return False


def _turn(turn: Turn) -> Turn:
    if turn.role != "assistant" or (answer := separated(turn.content)[1]) == turn.content:
        return turn
    return replace(turn, content=answer)


def _message(message: Message) -> Message:
    if message.role != "assistant" or not message.parts:
        return message
    thoughts, answer = separated(message.parts[0].text)
    if answer == message.parts[0].text:
        return message
    reasoning = "\n".join(filter(None, [message.reasoning, thoughts]))
    metadata = {**message.metadata, "inline_reasoning": True}
    return replace(message, parts=(Part(text=answer), *message.parts[1:]), reasoning=reasoning, metadata=metadata)
