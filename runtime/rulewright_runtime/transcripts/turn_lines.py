"""The native formats: a turn per line, or a conversation `{transcript_id, scenario_id, model, turns}` per line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

import msgspec

from rulewright_runtime.errors import InputError
from rulewright_runtime.strict_json import UNDECODED, Decoder, Json, colons_in, why_not
from rulewright_runtime.transcripts.containers import without_compression
from rulewright_runtime.transcripts.messages import SPEAKERS, TURNS, Conversation, Transcript, Turn, repeats

NO_TURNS: Final = "a conversation needs the key `turns`, a list of turns"


class ForeignContent(msgspec.Struct):
    """The keys under which other formats store what was said or done in a message or a conversation."""

    text: Json = None
    value: Json = None
    message: Json = None
    parts: Json = None
    reply: Json = None
    response: Json = None
    answer: Json = None
    output: Json = None
    completion: Json = None
    refusal: Json = None
    tool_calls: Json = None
    function_call: Json = None
    choices: Json = None
    messages: Json = None
    conversation: Json = None
    conversations: Json = None


class _ForeignContentInTurns(ForeignContent):
    turns: list[ForeignContent] = []


_FOREIGN: Final = msgspec.json.Decoder(_ForeignContentInTurns)


class Loose(ForeignContent, omit_defaults=True):
    """A line of either format, with values of any type."""

    turn: Json = msgspec.UNSET
    role: Json = msgspec.UNSET
    content: Json = msgspec.UNSET
    branch_id: Json = None
    error: Json = None
    harness: Json = None
    finish: Json = None
    usage: Json = None
    transcript_id: Json = None
    scenario_id: Json = None
    model: Json = None
    served_model: Json = None
    turns: Json = msgspec.UNSET


class Batched(msgspec.Struct):
    """A line with a conversation whose values have the right types."""

    scenario_id: str
    model: str
    turns: list[Turn]
    transcript_id: str | None = None


_NO_MORE: Final = (None, None, None, None)
_UNSET: Final = (msgspec.UNSET, msgspec.UNSET, msgspec.UNSET)


def colons_in_turns(turns: Iterable[Turn]) -> int:
    """The number of colons of turns in JSON, without those of keys with their default, which may be missing there."""
    return sum(map(_colons_in_turn, turns))


def _colons_in_turn(turn: Turn) -> int:
    nullable = (turn.branch_id, turn.error, turn.harness, turn.finish)
    if nullable != _NO_MORE or (turn.usage, turn.model, turn.served_model) != _UNSET:
        return colons_in(turn) - nullable.count(None)
    return 3 + turn.role.count(":") + turn.content.count(":")


def _colons(records: list[Batched]) -> int:
    return sum(map(_colons_in_record, records))


def _colons_in_record(record: Batched) -> int:
    names = [name for name in (record.transcript_id, record.scenario_id, record.model) if name is not None]
    return len(names) + "".join(names).count(":") + 1 + colons_in_turns(record.turns)


def refuse_foreign_content(line: bytes) -> None:
    """Raise ValidationError if a line may say something under a key of another format."""
    record = _FOREIGN.decode(line)
    if any(foreign_keys(each) for each in (record, *record.turns)):
        raise msgspec.ValidationError("the line says something under the key of another format")


def foreign_keys(record: ForeignContent) -> list[str]:
    """The keys of another format that are not empty; numbers and truths are annotations."""
    return [
        key
        for key in ForeignContent.__struct_fields__
        if isinstance(each := getattr(record, key), str | list | dict) and each
    ]


_BATCHED: Final[Decoder[Batched]] = Decoder(Batched, colons=_colons, others=refuse_foreign_content)
_LOOSE: Final[Decoder[Loose]] = Decoder(Loose)


def printable(path: str) -> str:
    """The path as printable text: bytes of a name that are not UTF-8 become `\\xff`, in any locale."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def stem(path: str) -> str:
    """The name of a file without folder and suffixes."""
    return os.path.splitext(os.path.basename(without_compression(path)))[0]


def well_formed(line: bytes | InputError) -> Batched | None:
    """The conversation in a well-formed line, else None."""
    if isinstance(line, InputError) or b'"turns"' not in line:
        return None
    try:
        record = _BATCHED.decode(line)
    except UNDECODED:
        return None
    is_named = record.scenario_id and record.model and record.transcript_id != ""
    return record if is_named and record.turns and not broken_sequence(record.turns) else None


def loose_line(line: bytes | InputError, path: str, number: int) -> Loose | InputError:
    """A line of either format, or why it is refused."""
    if isinstance(line, InputError):
        return line
    try:
        return _LOOSE.decode(line)
    except UNDECODED as error:
        return InputError(why_not(error, line), path, number)


def turn_of(loose: Loose, path: str, number: int) -> Turn | InputError:
    """The turn in a line of a file, or in an item of a batch record."""
    if loose.turn is msgspec.UNSET:
        return InputError("the turn number is missing", path, number)
    if not isinstance(loose.turn, int) or isinstance(loose.turn, bool) or loose.turn < 0:
        return InputError(f"the turn number is {_shown(loose.turn)}; expected a whole number from 0 up", path, number)
    if loose.role not in SPEAKERS:
        return InputError(f"the role is {_shown(loose.role)}; expected `user` or `assistant`", path, number)
    content = "" if loose.error is not None and loose.content in (None, msgspec.UNSET) else loose.content
    if not isinstance(content, str):
        return InputError(f"the content is {_shown(content)}; expected text", path, number)
    for key in foreign_keys(loose):
        if not (isinstance(value := getattr(loose, key), str) and repeats(content, value)):
            reason = f"`{key}` is not read with `content`; write the conversation with `messages` in place of `turns`"
            return InputError(reason, path, number)
    branch, harness, finish = (
        each if isinstance(each, str) else None for each in (loose.branch_id, loose.harness, loose.finish)
    )
    usage = loose.usage if isinstance(loose.usage, dict) else msgspec.UNSET
    authors = (each if isinstance(each, str) else msgspec.UNSET for each in (loose.model, loose.served_model))
    return Turn(loose.turn, loose.role, content, branch, loose.error, harness, finish, usage, *authors)


def _shown(value: Json) -> str:
    if value is msgspec.UNSET:
        return "missing"
    text = msgspec.json.encode(value).decode()
    return f"`{value if isinstance(value, str) and len(value) <= 40 else text[:40]}`"


def conversation_of(record: Loose | Batched, path: str, number: int, *, several: bool) -> Transcript | InputError:
    """The conversation in a record of a batch, or why it is refused; with `several` per file the default id includes
    the line."""
    batched = _batched(record, path, number) if isinstance(record, Loose) else record
    if isinstance(batched, InputError):
        return batched
    name = batched.transcript_id or (f"{stem(path)}:{number}" if several else stem(path))
    return Transcript(name, batched.scenario_id, batched.model, tuple(batched.turns), path, number)


def transcript_of(chat: Conversation, path: str, number: int) -> Transcript | InputError:
    """The transcript of a conversation. Turns that `convert` wrote as messages are the turns again, with the numbers,
    branches and harnesses that were recorded, or are refused as in a batch."""
    if chat.source != TURNS:
        return Transcript.of(chat, path, number)
    turns = [
        {**each.metadata, "role": each.role, "content": each.text, "usage": each.usage or None}
        for each in chat.messages
    ]
    record = Loose(scenario_id=chat.scenario_id, model=chat.model, transcript_id=chat.id, turns=turns)
    found = conversation_of(record, path, number, several=True)
    if isinstance(found, InputError) or found.conversation == chat:
        return found
    return msgspec.structs.replace(found, recorded=chat)


def _batched(record: Loose, path: str, number: int) -> Batched | InputError:
    for key, value in (("scenario_id", record.scenario_id), ("model", record.model)):
        if not isinstance(value, str) or not value:
            return InputError(f"a conversation needs the key `{key}`, a text", path, number)
    if record.transcript_id is not None and (not isinstance(record.transcript_id, str) or not record.transcript_id):
        return InputError("the `transcript_id` must be a text", path, number)
    for key in foreign_keys(record):
        return InputError(f"`turns` and `{key}` both contain a conversation; remove one of them", path, number)
    if not isinstance(record.turns, list) or not record.turns:
        return InputError("a conversation needs the key `turns`, a list of at least one turn", path, number)
    turns: list[Turn] = []
    for index, item in enumerate(record.turns):
        try:
            turn = turn_of(msgspec.convert(item, Loose), path, number)
        except msgspec.ValidationError:
            turn = InputError("a turn must be an object", path, number)
        if isinstance(turn, InputError):
            return InputError(f"turns[{index}]: {turn.reason}", path, number)
        turns.append(turn)
    problem = broken_sequence(turns)
    if problem:
        return InputError(f"turns[{problem[0]}]: {problem[1]}", path, number)
    return Batched(record.scenario_id, record.model, turns, record.transcript_id)


def broken_sequence(turns: list[Turn]) -> tuple[int, str] | None:
    """The index of the first turn whose role or number is out of sequence, and why; None if there is none."""
    before, roles = -1, ""  # the previous number, and the roles with that number
    for index, turn in enumerate(turns):
        number, role = turn.turn, turn.role
        if role not in SPEAKERS:
            return index, f"the role is `{role}`; expected `user` or `assistant`"
        if number == before:
            if role in roles:
                return index, f"turn {number} of the {role} is repeated"
            roles += role
            continue
        if index == 0 and number not in (0, 1):
            return index, f"turn 1 is missing: the first turn has the number {number}"
        if index and number < before:
            return index, _repeated(turns[:index], turn) or f"turn {number} comes after turn {before}"
        if index and number > before + 1:
            return index, f"turn {before + 1} is missing"
        before, roles = number, role
    return None


def _repeated(earlier: list[Turn], turn: Turn) -> str | None:
    is_repeated = any(one.turn == turn.turn and one.role == turn.role for one in earlier)
    return f"turn {turn.turn} of the {turn.role} is repeated" if is_repeated else None
