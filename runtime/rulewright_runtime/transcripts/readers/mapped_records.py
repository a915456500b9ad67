"""Records of any shape whose messages, speakers or answers are named by a mapping of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import InputError
from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, finish_of
from rulewright_runtime.transcripts.readers.columns import EACH, FIELDS, OF_MESSAGES, SPEAKERS, Columns, fit, value_at
from rulewright_runtime.transcripts.readers.message_rows import internal_of, refuse_disorder
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
from rulewright_runtime.transcripts.readers.payloads import are_of_langchain, talk
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    list_at,
    optional,
    parsed,
    record_at,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import (
    SAYING,
    TIMES,
    Format,
    calls_in,
    chat,
    messages,
    passages,
    record_by_record,
)

_TYPES: Final = (  # keys of the type of an item
    "type", "event", "kind", "subtype", "event_type", "eventType", "message_type", "messageType", "action", "Type",
)  # fmt: skip


def mapped_format(columns: Columns) -> Format:
    """The format of records whose messages are under the name or path that `columns` have for `messages`."""
    return Format("mapped", lambda _: True, record_by_record(partial(_mapped_conversations, columns)))


def text_format(columns: Columns, record: Record) -> Format | None:
    """The format of a flat record of which one text is a chat, whose lines begin with speakers; else None."""
    texts = (key for key, value in record.items() if is_text(value) and columns.plain_text().is_chat(value))
    key, another = next(texts, None), next(texts, None)
    if key is None or another is not None:
        return None
    mapping = {**columns.mapping, "messages": key}
    return mapped_format(Columns(mapping, columns.used, columns.labels, columns.bot_in_texts))


def answer_format(columns: Columns, record: Record) -> Format | None:
    """The format of a record with a list of messages, if the mapping names the answer next to it."""
    name = columns.mapping.get("assistant", "")
    messages = listed(record) if name else None
    if messages is None or _speaks(name, columns.mapping, list_at(record[messages], messages)):
        return None
    return Format("openai", lambda _: True, record_by_record(partial(_answered_under, columns, name)))


def lines_format(columns: Columns, record: Record) -> Format | None:
    """The format of a record with a message, if the mapping names speakers or the conversation that it belongs
    to, or says that all messages are one conversation."""
    if columns.mapping.keys().isdisjoint(("conversation", *SPEAKERS)) and not columns.is_one_conversation:
        return None
    name = columns.mapping.get("conversation", "")
    if (name and record.get(name) is not None) or columns.is_one_conversation:
        columns.used.add("conversation")
    usual = () if columns.is_one_conversation else CONVERSATION_KEYS
    return replace(LINES, read=partial(_read_lines, columns, (*([name] if name else []), *usual)))


def _read_lines(columns: Columns, keys: Sequence[str], lines: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    return read_lines([*map(columns.with_role, lines)], keys)


def speakers_in(columns: Columns, record: Record) -> list[Json]:
    """The speakers of the messages that the mapping names; none without messages."""
    try:
        return [*_speakers(columns.mapping, _listed_under(record, columns.mapping["messages"]))]
    except ShapeError:
        return []


def _spoken_in(columns: Columns, text: str, where: str) -> list[JsonObject]:
    """The messages of a text whose lines begin with speakers; none in one that may be JSON. Raises ShapeError."""
    if text.lstrip()[:1] in ("[", "{") and not columns.plain_text().is_chat(text):
        return []
    try:
        return columns.plain_text().of_one(text)
    except InputError as refused:
        raise ShapeError(f"`{where}`, line {refused.line}: {refused.reason}") from None


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
    if key.endswith(EACH):
        return _without_in_each(record, key.removesuffix(EACH), inner)
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
    return any(fit(word(speaker), names) for speaker in _speakers(mapping, messages))


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
            f"`{first}` is a list; name what its items contain (`messages={inside}`), or join them to one conversation "
            f"(`messages={first}[].{inside}`)"
        )
    return f"the keys are {ticked(key[:40] for key in [*record][:20])}"


def _mapped_messages(columns: Columns, record: Record, path: str) -> list[Message]:
    """The messages under a path, and before the first of the assistant what was retrieved for the record."""
    text = value_at(record, path)
    if is_text(text) and (spoken := _spoken_in(columns, text, path)):
        columns.used.add("messages")
        return [*_retrieved(columns, record), *chat(spoken, path)]
    values = _listed_under(record, path)
    columns.used.add("messages")
    if not values:
        raise ShapeError(f"`{path}` is empty; a conversation needs at least one message")
    is_named = "role" in columns.mapping or "content" in columns.mapping
    found = _listed_messages(columns, values, path) if is_named or not are_of_langchain(values) else talk(values, path)
    refuse_disorder((each.timestamp for each in found), values)
    if EACH in path:
        sessions = value_at(record, path.partition(EACH)[0])
        keys = (columns.mapping.get("timestamp", ""), *TIMES, "started_at", "start_time", "startTime")
        refuse_disorder(first_of(each, keys) for each in sessions or () if is_record(each))
    is_answer = value_at(record, columns.mapping.get("assistant", "")) is not None
    columns.refuse_agent(_speakers(columns.mapping, values), named=not is_answer)
    first = next((at for at, each in enumerate(found) if each.role == "assistant"), len(found))
    return [*found[:first], *_retrieved(columns, record), *found[first:]]


def _listed_messages(columns: Columns, values: Sequence[Json], path: str) -> Sequence[Message]:
    events, notes = _events(columns, values), internal_of(values)
    return [
        message
        for at, each in enumerate(values)
        for message in (
            [_event(columns, record_at(each, path), events[at])]
            if at in events
            else _mapped_message(columns, each, f"{path}[{at}]", is_note=at in notes)
        )
    ]


def _retrieved(columns: Columns, record: Record) -> Iterator[Message]:
    return passages(columns.value(record, "passages", "")) if "passages" in columns.mapping else iter(())


def _paths_in(columns: Columns, item: Record) -> dict[str, str]:
    """The fields of a message with the paths under which an item may have them."""
    return {
        field: columns.mapping.get(field) or next(filter(item.__contains__, FIELDS[field]), field)
        for field in OF_MESSAGES
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


def _beside_content(item: Record, path: str) -> JsonObject:
    """What else an inner object that holds the content says, such as tool calls, and how its answer was cut."""
    holder = _holder(item, path)
    if holder is item:
        return {}
    cut, content = finish_of(holder), path.rpartition(".")[2]
    beside = {key: each for key, each in holder.items() if key in SAYING and key != content and each}
    return {**beside, "finish": cut} if cut else beside


def _mapped_message(columns: Columns, value: Json, where: str, *, is_note: bool) -> list[Message]:
    """The messages of an item, and what was retrieved for it; one of the system for a note that the other side did not
    see. Raises ShapeError for a speaker without a role."""
    item = record_at(value, where)
    paths = _paths_in(columns, item)
    item = {**_beside_content(item, paths["content"]), **item}
    found = {field: each for field, path in paths.items() if (each := columns.value(item, field, path)) is not None}
    if calls_in(found.get("tool_calls")) is None:
        found.pop("tool_calls", None)
    for field in ("role", *(["content"] if SAYING.isdisjoint(item.keys() | found) else [])):
        if field not in found:
            keys = ticked(key[:40] for key in [*item][:20])
            raise ShapeError(f"{where} has no `{paths[field]}` for `{field}`; its keys are {keys}")
    role = "system" if is_note else columns.role_of(found["role"], f"{where}.{paths['role']}")
    if "content" in found:
        found["content"] = columns.text_of(found["content"], f"{where}.{paths['content']}")
    message = {**rest(item, *paths.values()), **found, "role": role}
    return [*_retrieved(columns, item), *messages(message, where)]
