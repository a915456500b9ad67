"""Chat apps: the conversations that ChatGPT and Claude export for their users.

An edited message or a repeated answer begins a branch. Each branch is a conversation, from the first message to its
last: an answer that somebody saw is not lost because it was asked for again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    is_list,
    is_record,
    list_at,
    object_in,
    optional,
    record_at,
    rest,
    shown,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, messages, record_by_record, related

MAX_BRANCHES: Final = 100  # of a conversation
# What is in a message of ChatGPT in place of `parts`: code, what a tool found, what the app knows of its user.
_TEXTS: Final = ("text", "result", "user_profile", "user_instructions", "model_set_context")
_MEDIA: Final = {"image": "image", "audio": "audio", "video": "file"}  # by a word in the type of a part

# For each message of an app by its id: the id of the message before it, and what it says.
Nodes: TypeAlias = dict[str, tuple[str | None, list[Message]]]


def _chatgpt(record: Record) -> Iterator[Conversation]:
    nodes: Nodes = {}
    for name, value in record_at(record["mapping"], "mapping").items():
        node = record_at(value, f"mapping.{name}")
        found = [] if node.get("message") is None else _chatgpt_messages(node["message"], f"mapping.{name}.message")
        nodes[name] = optional(node.get("parent")), found
    about = rest(record, "mapping", "id", "conversation_id", "current_node", "default_model_slug")
    name = word(record.get("conversation_id")) or word(record.get("id"))
    model = word(record.get("default_model_slug"))
    yield from _branches(nodes, Conversation(name, (), metadata=about, source="chatgpt", model=model), "mapping")


def _chatgpt_messages(value: Json, where: str) -> list[Message]:
    """What a message of ChatGPT says. A hidden message of the user tells the model what the app knows: it is the
    system's. A message of the assistant to anybody but its user is a tool call."""
    message = record_at(value, where)
    author = record_at(message.get("author"), f"{where}.author")
    about = object_in(message.get("metadata"))
    is_hidden = about.get("is_visually_hidden_from_conversation") is True and author.get("role") == "user"
    pieces = _pieces(record_at(message.get("content"), f"{where}.content"), f"{where}.content")
    shown: JsonObject = {
        "role": "system" if is_hidden else author.get("role"),
        "content": pieces,
        "name": author.get("name"),
        "timestamp": message.get("create_time"),
        "model": about.get("model_slug"),
        "finish_reason": object_in(about.get("finish_details")).get("type"),
        "status": "incomplete" if message.get("status") == "in_progress" else None,
    }
    if author.get("role") == "assistant" and word(message.get("recipient")) not in ("", "all"):
        text = "\n".join(word(each.get("text")) for each in pieces)
        shown |= {"content": None, "tool_calls": [{"name": message["recipient"], "arguments": text}]}
    return messages(shown, where)


def _pieces(content: Record, where: str) -> list[JsonObject]:
    """The parts of a message of ChatGPT, in the form of OpenAI."""
    kind = word(content.get("content_type"))
    if kind == "reasoning_recap":  # such as `Thought for 5 seconds`, which the app says
        return []
    if kind == "thoughts":
        thoughts = list_at(content.get("thoughts"), f"{where}.thoughts")
        return [{"type": "reasoning", "text": record_at(each, f"{where}.thoughts").get("content")} for each in thoughts]
    if "parts" in content:
        parts = list_at(content["parts"], f"{where}.parts")
        return [_piece(each, f"{where}.parts[{index}]") for index, each in enumerate(parts)]
    texts = [text_at(content[key], f"{where}.{key}") for key in _TEXTS if key in content]
    if not texts:
        raise ShapeError(f"{where} has the unknown type {shown(kind)} and no text")
    return [{"type": "text", "text": text} for text in texts]


def _piece(value: Json, where: str) -> JsonObject:
    """A part: a text, what was said aloud, or a medium, which is stored in another file."""
    if isinstance(value, str):
        return {"type": "text", "text": value}
    part = record_at(value, where)
    if "text" in part:
        return {"type": "text", "text": part["text"]}
    kind = word(part.get("content_type"))
    medium = next((_MEDIA[each] for each in _MEDIA if each in kind), None)
    if medium is None:
        raise ShapeError(f"{where} has the unknown type {shown(kind)} and no text")
    return {"type": medium, "uri": word(part.get("asset_pointer")) or kind}


def _claude(record: Record) -> Iterator[Conversation]:
    nodes: Nodes = {}
    before = None
    for index, value in enumerate(list_at(record["chat_messages"], "chat_messages")):
        where = f"chat_messages[{index}]"
        message = record_at(value, where)
        name = word(message.get("uuid")) or where
        if name in nodes:
            raise ShapeError(f"{where} has the `uuid` of another message")
        nodes[name] = optional(message.get("parent_message_uuid")) or before, _claude_messages(message, where)
        before = name
    name, about = word(record.get("uuid")), rest(record, "chat_messages", "uuid", "model")
    model = word(record.get("model"))
    yield from _branches(nodes, Conversation(name, (), metadata=about, source="claude", model=model), "chat_messages")


def _claude_messages(message: Record, where: str) -> list[Message]:
    """What a message of Claude says: its content, in the form of Anthropic, or in old exports its text."""
    content = message.get("content") or [{"type": "text", "text": message.get("text")}]
    held = [
        {"type": "file", "filename": word(each.get("file_name")) or key, "data": each.get("extracted_content")}
        for key in ("attachments", "files", "files_v2")
        for each in map(object_in, list_at(message.get(key) or [], f"{where}.{key}"))
    ]
    shown = {"role": message.get("sender"), "content": [*list_at(content, f"{where}.content"), *held]}
    return messages({**shown, "timestamp": message.get("created_at")}, where)


def _branches(nodes: Nodes, about: Conversation, where: str) -> Iterator[Conversation]:
    """Yield the conversation that ends with each last message. Raises ShapeError if a message before is missing."""
    befores = {before for before, _ in nodes.values()}
    missing = befores - nodes.keys()  # a name for the beginning, if anything
    if len(missing) > 1:
        raise ShapeError(f"`{where}` lacks messages that others reply to; export the whole conversation")
    leaves = [name for name in nodes if name not in befores]
    if len(leaves) > MAX_BRANCHES:
        raise ShapeError(f"`{where}` has {len(leaves)} branches; at most {MAX_BRANCHES} are read")
    paths = [_path(nodes, leaf) for leaf in leaves]
    if nodes.keys() - {name for path in paths for name in path}:
        raise ShapeError(f"`{where}` has messages that follow each other in a circle")
    for index, path in enumerate(paths):
        # An empty message says nothing, except at the end, where an answer is missing.
        found = [each for name in path for each in nodes[name][1] if name == path[-1] or _says_something(each)]
        if not found:
            raise ShapeError(f"`{where}` contains no message")
        models = [word(each.metadata.get("model")) for each in found]
        name = f"{about.id}#{index}" if len(paths) > 1 else about.id
        yield replace(about, id=name, messages=related(found), model=next(filter(None, models[::-1]), about.model))


def _path(nodes: Nodes, leaf: str) -> list[str]:
    """The ids from the first message to a last one."""
    path = {}
    name: str | None = leaf
    while name in nodes and name not in path:
        path[name] = True
        name = nodes[name][0]
    if name in path:
        return []
    return [*path][::-1]


def _says_something(message: Message) -> bool:
    return bool(message.shown.strip() or message.tool_calls or message.reasoning)


CHATGPT: Final = Format(
    "chatgpt", lambda record: is_record(record.get("mapping")) and "current_node" in record, record_by_record(_chatgpt)
)
CLAUDE: Final = Format("claude", lambda record: is_list(record.get("chat_messages")), record_by_record(_claude))
