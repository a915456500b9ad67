"""Tables: rows of a CSV, Parquet or Arrow file as records, and the mapping of their columns to fields.

A row is a record of any format (`messages`), one exchange (`user`, `assistant`), or one message of the conversation
that it names (`conversation`, `role`, `content`). Records of any shape are read by the names of their fields, too,
where a mapping names that of their messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.english import either, ticked
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.containers import is_event
from rulewright_runtime.transcripts.messages import Conversation, Message, Part
from rulewright_runtime.transcripts.readers.message_rows import (
    internal_of,
    refuse_confusion,
    refuse_disorder,
    refuse_unnamed,
)
from rulewright_runtime.transcripts.readers.openai import (
    ANSWERS,
    CONVERSATION_KEYS,
    LINES,
    answer_beside,
    answered,
    conversations,
    instructions,
    listed,
    read_lines,
)
from rulewright_runtime.transcripts.readers.plain_text import PlainText
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    list_at,
    name_of,
    optional,
    parsed,
    record_at,
    rest,
    shown,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import (
    ROLE_WORDS,
    SAYING,
    TIMES,
    Format,
    attempt,
    bot_in,
    calls_in,
    chat,
    columns_hint,
    messages,
    passages,
    record_by_record,
    refuse_agent,
    unknown_speaker,
)

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "messages": (),  # of a record that is not a row: see `mapped_format`
    "conversation": CONVERSATION_KEYS,
    "id": ("id", "example_id", "custom_id"),
    "role": ("role", "speaker", "sender", "author"),
    "content": ("content", "message", "text", "utterance"),
    "system": ("system", "system_prompt", "instructions"),
    "user": ("user", "question", "prompt", "input", "query", "human", "instruction", "user_input"),
    "passages": ("contexts", "retrieved_contexts", "retrieval_context", "context"),
    "assistant": ("assistant", "answer", "response", "output", "completion", "reply", "bot"),
    "expected": ("expected", "expected_output", "ideal", "ground_truth", "reference", "target"),
    "model": ("model", "model_name"),
    "scenario_id": ("scenario_id",),
    "name": ("name",),
    "tool_calls": (),
    "tool_call_id": (),
    "timestamp": (
        "timestamp", "created_at", "createdat", "createdAt", "time", "date", "ts", "timestamp_ms", "date_created",
        "sent_at",
    ),
}  # fmt: skip
_EACH: Final = "[]"  # after a key in a path: all items of its list
_TASK: Final = ("instruction", "input")  # of a data set of instructions
_FULL, _PATTERN, _ANY = 3, 2, 1  # how well the name of a speaker fits
_MEANINGS: Final = {"user": "question", "assistant": "answer"}
SPOKEN: Final = ("system", "user", "passages", "assistant")


class Columns:
    """The mapping of fields to the columns of a table: given explicitly, or else by the usual names."""

    def __init__(self, mapping: Mapping[str, str], used: set[str], labels: set[str]) -> None:
        """`mapping` maps fields (`user`, `content`) to column names; those that a record has are added to `used`, and
        names in a text that may be speakers and are read as text to `labels`.
        An empty name for `conversation` means that all messages of a file are one. Raises RuntimeFailure for an
        unknown field."""
        for field in mapping:
            if field not in FIELDS:
                raise RuntimeFailure(f"unknown field `{field}` in a column mapping; expected {_one_of(FIELDS)}")
        self.mapping = {field: name for field, name in mapping.items() if name}
        self.is_one_conversation = mapping.get("conversation") == ""
        self.used = used
        self._labels = labels
        self._paths = () if "messages" in self.mapping else [path for path in self.mapping.values() if "." in path]

    def text_format(self, record: Record) -> Format | None:
        """The format of a flat record of which one text is a chat, whose lines begin with speakers; else None."""
        texts = (key for key, value in record.items() if is_text(value) and self._plain_text().is_chat(value))
        key, another = next(texts, None), next(texts, None)
        if key is None or another is not None:
            return None
        return mapped_format(Columns({**self.mapping, "messages": key}, self.used, self._labels))

    def spoken_in(self, text: str, where: str) -> list[JsonObject]:
        """The messages of a text whose lines begin with speakers; none in one that may be JSON. Raises ShapeError."""
        if text.lstrip()[:1] in ("[", "{") and not self._plain_text().is_chat(text):
            return []
        try:
            return self._plain_text().of_one(text)
        except InputError as refused:
            raise ShapeError(f"`{where}`, line {refused.line}: {refused.reason}") from None

    def _plain_text(self) -> PlainText:
        return PlainText(self.mapping, "", self.used, self._labels)

    def with_paths(self, record: Record) -> Record:
        """The record with each value that the mapping names by a path as a column of its own."""
        values = {path: value_at(record, path) for path in self._paths if path not in record}
        return {**record, **{path: value for path, value in values.items() if value is not None}} if values else record

    def has_path(self, record: Record) -> bool:
        """Whether a column of the record is a path that the mapping names."""
        return any(path in record for path in self._paths)

    def answer_format(self, record: Record) -> Format | None:
        """The format of a record with a list of messages, if the mapping names the answer next to it."""
        name = self.mapping.get("assistant", "")
        messages = listed(record) if name else None
        if messages is None or _speaks(name, self.mapping, list_at(record[messages], messages)):
            return None
        return Format("openai", lambda _: True, record_by_record(partial(_answered_under, self, name)))

    def lines_format(self, record: Record) -> Format | None:
        """The format of a record with a message, if the mapping names speakers or the conversation that it belongs
        to, or says that all messages are one conversation."""
        if self.mapping.keys().isdisjoint(("conversation", *_SPEAKERS)) and not self.is_one_conversation:
            return None
        name = self.mapping.get("conversation", "")
        if (name and record.get(name) is not None) or self.is_one_conversation:
            self.used.add("conversation")
        usual = () if self.is_one_conversation else CONVERSATION_KEYS
        return replace(LINES, read=partial(self._read_lines, (*([name] if name else []), *usual)))

    def _read_lines(self, keys: Sequence[str], lines: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
        return read_lines([*map(self._with_role, lines)], keys)

    def _with_role(self, line: Record) -> Record:
        """The line with the role of its speaker if the mapping names one."""
        try:
            role = self._named(word(line.get("role")), "role")
        except ShapeError:  # named twice: an unknown role is refused with its line
            return line
        self.used.update([role] if role else [])
        return {**line, "role": role} if role else line

    def value(self, record: Record, field: str, usual: str) -> Json:
        """The value of a field at the path that the mapping has for it, else under its `usual` key; None if there is
        none."""
        value = value_at(record, self.mapping.get(field, usual))
        if value is not None and field in self.mapping:
            self.used.add(field)
        return value

    def role_of(self, value: Json, where: str) -> str:
        """The role of a speaker, which the mapping may name. Raises ShapeError."""
        speaker = word(value)
        named = self._named(speaker, where)
        role = named or speaker.strip()
        if role.lower() not in ROLE_WORDS:
            raise unknown_speaker(speaker, where)
        if named:
            self.used.add(named)
        return role

    def _named(self, speaker: str, where: str) -> str:
        """The role whose names fit a speaker best; empty if there is none, or only the name `*` for a known role.
        Raises ShapeError if those of two roles do."""
        fits = {role: _fit(speaker, self.mapping.get(role, "")) for role in _SPEAKERS}
        best = max(fits.values())
        if best == 0 or (best == _ANY and speaker.lower() in ROLE_WORDS):
            return ""
        first, *more = (role for role in _SPEAKERS if fits[role] == best)
        if more:
            raise ShapeError(f"{where} is {shown(speaker)}, which both `{first}` and `{more[0]}` of `--columns` name")
        return first

    def refuse_agent(self, speakers: Iterable[Json], bot: str = "", option: str = "", *, named: bool = True) -> None:
        """Raise ShapeError where a speaker that the mapping does not name may be a person. `bot` is the assistant
        elsewhere in the file, `named` says whether the mapping names speakers for it, and `option` is what `--columns`
        needs as well."""
        name = self.mapping.get("assistant", "") if named else ""
        refuse_agent(filter(self._is_unnamed, speakers), name or bot, option)

    def speakers(self, record: Record) -> list[Json]:
        """The speakers of the messages that the mapping names; none where there are no messages."""
        try:
            return [*_speakers(self.mapping, _listed_under(record, self.mapping["messages"]))]
        except ShapeError:
            return []

    def bot_in(self, speakers: Iterable[Json]) -> str:
        """The first speaker that the mapping does not name and that can only be the assistant; empty if none is."""
        return bot_in(filter(self._is_unnamed, speakers))

    def _is_unnamed(self, speaker: Json) -> bool:
        return not any(_fit(word(speaker), self.mapping.get(role, "")) for role in _SPEAKERS)

    def of(self, names: Sequence[str]) -> dict[str, str]:
        """Map fields to the columns of these names. Raises ShapeError if they hold no conversation."""
        roles = {name.strip().lower() for name in names}.intersection(FIELDS["role"])
        speakers = _SPEAKERS if "role" in self.mapping or roles else ()
        columns = {field: name for field, name in self.mapping.items() if name in names or field not in speakers}
        self.used.update(field for field, name in columns.items() if name in names)
        for field, name in columns.items():
            if name not in names:
                raise ShapeError(f"unknown column `{name}` for `{field}`; the columns are {_one_of(names, 'and')}")
        taken = set(columns.values())
        fields = columns
        for field, usual in FIELDS.items():
            left = [name for name in names if name not in taken]
            matches = [name for each in usual for name in left if name.strip().lower() == each]
            match = next(iter(matches), None)
            if field not in fields and match is not None:
                several = len(matches) > 1 and {*_TASK} != {each.strip().lower() for each in matches}
                if several and field in _MEANINGS and not {"role", "content"} <= fields.keys():
                    raise ShapeError(
                        f"the columns {_one_of(matches, 'and')} may all hold the {_MEANINGS[field]}; say which one with"
                        f" `--columns {field}={match}`"
                    )
                fields[field] = match
                taken.add(match)
        is_exchange = "assistant" in fields and ("user" in fields or "assistant" in self.mapping)
        if not (is_exchange or {"role", "content"} <= fields.keys()):
            raise ShapeError(
                f"unknown shape: a table with the columns {_one_of(names, 'and')}; expected `user` and `assistant`, or "
                f"`role` and `content` (name yours with {columns_hint(list(names))}; for a "
                "message per row `--columns conversation=NAME,role=NAME,content=NAME,user=SPEAKER,assistant=SPEAKER`)"
            )
        return fields


def _fit(speaker: str, names: str) -> int:
    """How well the best of the names, between bars, fits a speaker: in full, as a pattern with `*`, or as `*` alone; 0
    if none does."""
    if not speaker:
        return 0
    return max(
        _FULL if name == speaker else (_ANY if name == "*" else _PATTERN) * _matches(name, speaker)
        for name in names.split("|")
    )


def _matches(name: str, speaker: str) -> bool:
    """Whether a name in which `*` stands for any text matches a speaker, in time linear in each part of the name."""
    first, *parts = map(re.escape, name.split("*"))
    inner = "".join(f"(?>.*?{part})" for part in parts[:-1])  # the first match of each part is enough
    pattern = first + inner + "".join(f".*{part}" for part in parts[-1:])
    return re.fullmatch(pattern, speaker, re.DOTALL) is not None


def _one_of(names: Mapping[str, object] | Sequence[str], last: str = "or") -> str:
    shown = [f"`{name[:40]}`" for name in list(names)[:20]]
    return either(shown, last) if shown else "none"


def exchange(row: Record, fields: Mapping[str, str]) -> Conversation:
    """The conversation of a row with a question and its answer. Raises ShapeError."""
    if fields.get("user") == _TASK[1] and row.get(_TASK[0]) and _TASK[0] not in fields.values():  # a task, its input
        task, given = (_text_at(row.get(name) or "", f"column `{name}`") for name in _TASK)
        row = {**row, _TASK[1]: f"{task}\n\n{given}".strip()}
    found = [
        message
        for role in SPOKEN
        if role in fields and row.get(fields[role]) is not None and (role != "system" or row[fields[role]])
        for message in _column_messages(role, row[fields[role]], f"column `{fields[role]}`")
    ]
    if not found:
        raise ShapeError("the row has no message")
    name = word(row.get(fields.get("id", fields.get("conversation", ""))))
    return _conversation(row, fields, SPOKEN, found, name)


def _column_messages(role: str, value: object, where: str) -> list[Message]:
    if role == "passages":
        return [*passages(value)]
    return messages({"role": role, "content": _text_at(value, where)}, where)


def _text_at(value: object, where: str) -> str:
    """A text, or a number as text. Raises ShapeError for other values."""
    text = word(value)
    if not text and value != "":
        raise ShapeError(f"{where} is {shown(value)}; expected text")
    return text


def joined(rows: Sequence[Record], fields: Mapping[str, str], columns: Columns) -> Iterator[Conversation | ShapeError]:
    """Yield the conversations of rows with a message each, in the order of their first rows. Other fields are taken
    from the first row of a conversation that has them; `columns` name speakers."""
    by_name: dict[str, dict[int, Record]] = {}
    column = _naming(rows, fields)
    if columns.is_one_conversation:
        columns.used.add("conversation")
        column = None
    bot = columns.bot_in(row.get(fields["role"]) for row in rows)
    for number, row in enumerate(rows):
        by_name.setdefault(name_of(column and row.get(column)), {})[number] = row
    for name, numbered in by_name.items():
        yield _of_rows(by_name, name, numbered, fields, columns, bot)


def _naming(rows: Sequence[Record], fields: Mapping[str, str]) -> str | None:
    """The column that names a row's conversation: an `id` only if it is not that of each message of a dialogue."""
    if "conversation" in fields or "id" not in fields:
        return fields.get("conversation", "")
    names, speakers = ({name_of(row.get(fields[field])) for row in rows} for field in ("id", "role"))
    return fields["id"] if len(names) < len(rows) or len(speakers) == 1 else ""


def _of_rows(
    names: Iterable[str],
    name: str,
    numbered: Mapping[int, Record],
    fields: Mapping[str, str],
    columns: Columns,
    bot: str,
) -> Conversation | ShapeError:
    """The conversation of these rows, or why it is refused. `bot` is the assistant in some rows of the file."""
    first, rows = next(iter(numbered)), [*numbered.values()]
    found: list[list[Message]] = []
    notes = internal_of(rows)
    for at, (number, row) in enumerate(numbered.items()):
        try:
            found.append(_message(row, fields, columns, is_note=at in notes))
        except ShapeError as error:
            return error.at(number)
    try:
        refuse_unnamed(names, name)
        columns.refuse_agent((row.get(fields["role"]) for row in rows), bot)
        refuse_disorder(row.get(fields.get("timestamp", "")) for row in rows)
        certain = bool(name) or columns.is_one_conversation
        refuse_confusion(rows, [each[-1].role for each in found], fields.values(), certain=certain)
    except ShapeError as error:
        return error.at(first)
    merged: JsonObject = {}
    for row in rows:
        merged = {**row, **{key: value for key, value in merged.items() if value not in (None, "")}}
    spoken = (*_OF_MESSAGES, "passages")
    return replace(_conversation(merged, fields, spoken, [*chain.from_iterable(found)], name), record=first)


def _message(row: Record, fields: Mapping[str, str], columns: Columns, *, is_note: bool) -> list[Message]:
    if is_event(row):
        return [Message("system", (Part(text=word(row.get(fields["content"]))),), word(row["subtype"]))]
    record = {key: row.get(fields[key]) for key in _OF_MESSAGES if key in fields}
    role = "system" if is_note else columns.role_of(record["role"], f"row.{fields['role']}")
    retrieved = passages(row.get(fields.get("passages", "")))
    return [*retrieved, *messages({"content": None, **record, "role": role}, "row")]


def _conversation(
    row: Record, fields: Mapping[str, str], spoken: Sequence[str], found: list[Message], name: str
) -> Conversation:
    """The conversation of these messages, which were read from the fields `spoken`; other columns are its metadata."""
    read = {fields[field] for field in (*spoken, *_OF_CONVERSATIONS) if field in fields}
    return Conversation(
        name,
        tuple(found),
        word(row.get(fields.get("scenario_id", ""))) or None,
        row.get(fields.get("expected", "")) or None,
        {key: value for key, value in row.items() if key not in read and value not in (None, "")},
        source="table",
        model=word(row.get(fields.get("model", ""))),
    )


def format_for(fields: Mapping[str, str], columns: Columns) -> Format:
    """The format of rows with these fields, and with the speakers that `columns` name."""
    if {"role", "content"} <= fields.keys():
        return Format("table", lambda _: True, lambda rows: joined(rows, fields, columns), joins=True, local_ids=True)
    return Format("table", lambda _: True, lambda rows: _exchanges(rows, fields), local_ids=True)


def _exchanges(rows: Sequence[Record], fields: Mapping[str, str]) -> Iterator[Conversation | ShapeError]:
    for row in rows:
        yield attempt(exchange, row, fields)


_OF_MESSAGES: Final = ("role", "content", "name", "tool_calls", "tool_call_id", "timestamp")
_OF_CONVERSATIONS: Final = ("conversation", "id", "expected", "model", "scenario_id")
_TYPES: Final = (  # keys of the type of an item
    "type", "event", "kind", "subtype", "event_type", "eventType", "message_type", "messageType", "action", "Type",
)  # fmt: skip
_SPEAKERS: Final = ("system", "user", "assistant")  # fields that name roles


def mapped_format(columns: Columns) -> Format:
    """The format of records whose messages are under the name or path that `columns` have for `messages`."""
    return Format("mapped", lambda _: True, record_by_record(partial(_mapped_conversations, columns)))


def _mapped_conversations(columns: Columns, record: Record) -> Iterator[Conversation]:
    path = columns.mapping["messages"]
    found = _mapped_messages(columns, record, path)
    parts = [path] if path in record else path.split("+")
    about = reduce(_without, parts, rest(record))
    _refuse_beside(about, columns.mapping, path)
    holders = {id(each): each for part in parts if (each := _holder(record, part)) is not record}
    asked = (*instructions(about), *chain.from_iterable(map(instructions, holders.values())), *found)
    names = _answer_names(columns.mapping, record)
    answer = columns.value(record, "assistant", names[0])
    answers = {} if names[0] in ANSWERS else {names[0]: answer}
    name, conversation, model, scenario, expected = (
        columns.value(about, field, field) for field in ("id", "conversation", "model", "scenario_id", "expected")
    )
    yield Conversation(
        word(name) or word(conversation),
        answered({**record, **answers}, (*asked, *answer_beside({**about, **answers}, asked, path, names)), names),
        optional(scenario),
        expected,
        about,
        source="mapped",
        model=word(model),
    )


def _without(record: Record, path: str) -> JsonObject:
    """The record without nulls and without what is at a path; the keys next to that stay."""
    key, _, inner = path.partition(".")
    if key.endswith(_EACH):
        return _without_in_each(record, key.removesuffix(_EACH), inner)
    value = record.get(key)
    if path in record or not inner or not is_record(value):
        return rest(record, path if path in record else key)
    left = _without(value, inner)
    return {each: left if each == key else record[each] for each in rest(record, *([] if left else [key]))}


def _without_in_each(record: Record, key: str, path: str) -> JsonObject:
    """The record without what is at a path in each item of a list; what else an item has, stays."""
    left = [_without(item, path) for item in list_at(record.get(key), key) if path and is_record(item)]
    return {**rest(record, key), **({key: left} if any(left) else {})}


def _holder(record: Record, path: str) -> Record:
    """The object that holds what is at a path."""
    outer = path.rpartition(".")[0]
    holder = value_at(record, outer) if outer and path not in record else record
    return holder if is_record(holder) else record


def _answered_under(columns: Columns, name: str, record: Record) -> Iterator[Conversation]:
    """The conversation of listed messages whose answer is under `name`: it is missing where nothing is there."""
    fields = ("id", "model", "scenario_id", "expected")
    named = {field: columns.value(record, field, field) for field in fields if field in columns.mapping}
    named = {
        field: value if field == "expected" else word(value) for field, value in named.items() if value is not None
    }
    answer = columns.value(record, "assistant", name)
    yield from conversations({**record, **named, name: answer}, (name, *ANSWERS))


def _answer_names(mapping: Mapping[str, str], record: Record) -> Sequence[str]:
    """The names under which a record may hold its answer: what `assistant` names, unless that is a speaker, and the
    usual ones."""
    name = mapping.get("assistant", "")
    if not name or _is_chat_in_text(record, mapping["messages"]):
        return ANSWERS
    return ANSWERS if _speaks(name, mapping, _listed_under(record, mapping["messages"])) else (name, *ANSWERS)


def _is_chat_in_text(record: Record, path: str) -> bool:
    value = value_at(record, path)
    return is_text(value) and parsed(value) is None


def _speaks(names: str, mapping: Mapping[str, str], messages: Sequence[Json]) -> bool:
    """Whether one of the messages has one of these speakers."""
    return any(_fit(word(speaker), names) for speaker in _speakers(mapping, messages))


def _speakers(mapping: Mapping[str, str], messages: Sequence[Json]) -> Iterator[Json]:
    paths = [mapping["role"]] if "role" in mapping else FIELDS["role"]
    return (value_at(item, path) for item in filter(is_record, messages) for path in paths)


def _listed_under(record: Record, path: str) -> list[Json]:
    """The messages under a path, or under several that are joined by a plus. Raises ShapeError."""
    found: list[Json] = []
    for part in [path] if path in record else path.split("+"):
        value = value_at(record, part)
        if value is None:
            raise ShapeError(f"`{part}` is missing for `messages`; {_seen_instead(record, part)}")
        value = (parsed(value) or value) if isinstance(value, str) else value
        found += [value] if is_record(value) else list_at(value, part)
    return found


def _refuse_beside(about: Record, mapping: Mapping[str, str], path: str) -> None:
    """Raise ShapeError where an object next to the messages is a message of the same kind, such as an opening."""
    role, content = mapping.get("role", "role"), mapping.get("content", "content")
    for key, value in about.items():
        if is_record(value) and is_text(value_at(value, role)) and is_text(value_at(value, content)):
            both = f"name both with `messages={key}+{path}`"
            raise ShapeError(f"`{key}` is a message in addition to those in `{path}`; {both}")


def _seen_instead(record: Record, path: str) -> str:
    """What a record has in place of the path of its messages."""
    first, _, inside = path.partition(".")
    if inside and is_list(record.get(first)):
        return (
            f"`{first}` is a list; name what its items hold (`messages={inside}`), or join them to one conversation "
            f"(`messages={first}[].{inside}`)"
        )
    return f"the keys are {ticked(key[:40] for key in [*record][:20])}"


def _mapped_messages(columns: Columns, record: Record, path: str) -> list[Message]:
    """The messages under a path, and before the first of the assistant what was retrieved for the record."""
    text = value_at(record, path)
    if is_text(text) and (spoken := columns.spoken_in(text, path)):
        columns.used.add("messages")
        return [*_retrieved(columns, record), *chat(spoken, path)]
    values = _listed_under(record, path)
    columns.used.add("messages")
    if not values:
        raise ShapeError(f"`{path}` is empty; a conversation needs at least one message")
    events, notes = _events(columns, values), internal_of(values)
    found = [
        message
        for at, each in enumerate(values)
        for message in (
            [_event(columns, record_at(each, path), events[at])]
            if at in events
            else _mapped_message(columns, each, f"{path}[{at}]", is_note=at in notes)
        )
    ]
    refuse_disorder(each.timestamp for each in found)
    if _EACH in path:
        sessions = value_at(record, path.partition(_EACH)[0])
        keys = (columns.mapping.get("timestamp", ""), *TIMES, "started_at", "start_time", "startTime")
        refuse_disorder(first_of(each, keys) for each in sessions or () if is_record(each))
    is_answer = value_at(record, columns.mapping.get("assistant", "")) is not None
    columns.refuse_agent(_speakers(columns.mapping, values), named=not is_answer)
    first = next((at for at, each in enumerate(found) if each.role == "assistant"), len(found))
    return [*found[:first], *_retrieved(columns, record), *found[first:]]


def _retrieved(columns: Columns, record: Record) -> Iterator[Message]:
    return passages(columns.value(record, "passages", "")) if "passages" in columns.mapping else iter(())


def _paths_in(columns: Columns, item: Record) -> dict[str, str]:
    """The fields of a message with the paths under which an item may have them."""
    return {
        field: columns.mapping.get(field) or next(filter(item.__contains__, FIELDS[field]), field)
        for field in _OF_MESSAGES
    }


def _events(columns: Columns, values: Sequence[Json]) -> dict[int, str]:
    """What happened in a list of messages, by position: items without a speaker or a content, of types of their own."""
    items = {at: each for at, each in enumerate(values) if is_record(each)}
    lacking = {at for at, item in items.items() if _lacks(columns, item)}
    for key in _TYPES if lacking else ():
        types = {at: word(item.get(key)) for at, item in items.items()}
        kinds = {types[at] for at in lacking}
        if "" not in kinds and kinds.isdisjoint(types[at] for at in items.keys() - lacking):
            return {at: types[at] for at in lacking}
    return {}


def _lacks(columns: Columns, item: Record) -> bool:
    paths = _paths_in(columns, item)
    has_role, has_content = (value_at(item, paths[field]) is not None for field in ("role", "content"))
    return not (has_role and (has_content or not SAYING.isdisjoint(item)))


def _event(columns: Columns, item: Record, kind: str) -> Message:
    """An event as a message of the system, with its text or else its type."""
    paths = _paths_in(columns, item)
    text, time = (value_at(item, paths[field]) for field in ("content", "timestamp"))
    about = rest(item, *paths.values())
    return Message("system", (Part(text=word(text) or kind),), kind, metadata=about, timestamp=optional(time))


def _mapped_message(columns: Columns, value: Json, where: str, *, is_note: bool) -> list[Message]:
    """The messages of an item, and what was retrieved for it; one of the system for a note that the other side did not
    see. Raises ShapeError for a speaker without a role."""
    item = record_at(value, where)
    paths = _paths_in(columns, item)
    found = {field: each for field, path in paths.items() if (each := columns.value(item, field, path)) is not None}
    if calls_in(found.get("tool_calls")) is None:
        found.pop("tool_calls", None)
    for field in ("role", *(["content"] if SAYING.isdisjoint(item.keys() | found) else [])):
        if field not in found:
            keys = ticked(key[:40] for key in [*item][:20])
            raise ShapeError(f"{where} has no `{paths[field]}` for `{field}`; its keys are {keys}")
    role = "system" if is_note else columns.role_of(found["role"], f"{where}.{paths['role']}")
    message = {**rest(item, *paths.values()), **found, "role": role}
    return [*_retrieved(columns, item), *messages(message, where)]


def _joined_lists(items: Json, path: str) -> Json:
    """The lists under a path in each of the items, one after the other; None if one of them has none."""
    each = items if is_list(items) else []
    lists = [(value_at(item, path) if is_record(item) else None) if path else item for item in each]
    return [*chain.from_iterable(filter(is_list, lists))] if lists and all(map(is_list, lists)) else None


def value_at(record: Record, path: str) -> Json:
    """The value under a key, or under keys that a path joins by dots; None if there is none. `sessions[].messages` is
    all messages of a list of sessions, if each has some."""
    if path in record:
        return record[path]
    first, dot, more = path.partition(".")
    if first.endswith(_EACH):
        return _joined_lists(record.get(first.removesuffix(_EACH)), more)
    inner = record.get(first)
    return value_at(inner, more) if dot and is_record(inner) else None
