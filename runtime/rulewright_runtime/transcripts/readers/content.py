"""The content of a message: text, reasoning, tool calls and their results, media, refusals."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable
from typing import Final

import msgspec

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import KINDS, Kind, Message, Part, ToolCall, digest_of
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    list_at,
    object_in,
    optional,
    parsed,
    record_at,
    rest,
    shown,
    text_at,
    word,
)

_CALL_IDS: Final = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "id")
_RUNS: Final = frozenset((
    "bank_card", "blockquote", "bold", "bot_command", "cashtag", "code", "custom_emoji", "email", "hashtag", "italic",
    "link", "mention", "mention_name", "phone", "plain", "pre", "spoiler", "strikethrough", "text_link", "underline",
))  # fmt: skip
_CALL_NAMES: Final = ("name", "function_name", "tool_name", "toolName")
_ARGUMENTS: Final = ("arguments", "input", "args", "parameters", "rawInput")
_RESULTS: Final = ("content", "output", "response", "result", "errorText", "error")


# What a page does not show; like a browser, up to the end of the text if it is not closed.
_HIDDEN: Final = re.compile(
    r"<!--(?:-?>|(?s:.*?)(?:--!?>|\Z))|<!doctype\b[^<>]*>"
    r"|<(style|script|title)(?=[\s/>])(?s:.*?)(?:</\1(?:[\s/][^<>]*)?>|\Z)",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/t[dhr])\b[^<>]*>", re.IGNORECASE)
_IMAGE: Final = re.compile(r"<(img|emoji)\b[^<>]*>", re.IGNORECASE)
_ALT: Final = re.compile(r"""\salt=(["'])([^<>]*?)\1""", re.IGNORECASE)
_TAG: Final = re.compile(  # of markup in messages; anything else between angle brackets was said
    r"</?(?:a|at|attachment|b|big|blockquote|body|br|center|code|codeblock|div|em|emoji|figure|font|h[1-6]|head|hr|html|i"
    r"|img|label|li|link|mark|meta|ol|p|pre|s|section|small|span|strong|sub|sup|systemeventmessage|table|tbody|td|th"
    r"|thead|tr|u|ul)(?:\s[^<>=]*+=[^<>]*+|\s*+/?)>",
    re.IGNORECASE,
)


def text_of_markup(markup: object, where: str) -> str:
    """The text that HTML shows. Raises ShapeError for a value that is not text."""
    shown = _BREAK.sub("\n", _IMAGE.sub(_image, _HIDDEN.sub("", text_at(markup, where))))
    return html.unescape(_TAG.sub("", shown)).strip()


def is_markup(text: str) -> bool:
    """Whether a text begins and ends with markup."""
    return text.rstrip().endswith(">") and _TAG.match(text.lstrip()) is not None


def _image(tag: re.Match[str]) -> str:
    """An image in words; an emoji is a character."""
    alt = _ALT.search(tag[0])
    words = alt[2].strip() if alt else ""
    return words if words and tag[1].lower() == "emoji" else f"[image: {words}]" if words else "[image]"


def tool_call(value: object, where: str) -> ToolCall:
    """A tool call in any common form: `{id, function: {name, arguments}}`, `{id, function, arguments}`,
    `{id, name, arguments}` or `{id, name, input}`. Raises ShapeError."""
    record = record_at(value, where)
    function = first_of(record, ("function", "custom"))
    inner = function if is_record(function) else record
    name = function if isinstance(function, str) else first_of(inner, _CALL_NAMES)
    if not isinstance(name, str) or not name:
        raise ShapeError(f"{where} has no name")
    return ToolCall(word(first_of(record, _CALL_IDS)), name, *arguments(first_of(inner, _ARGUMENTS)))


def arguments(value: Json) -> tuple[Json, str]:
    """The arguments of a call: the parsed value, and the text if they were written as text."""
    if isinstance(value, str):
        return parsed(value) if value.strip() else {}, value
    return ({} if value is None else value), ""


def _are_runs(pieces: list[Json]) -> bool:
    """Whether they are the runs of one text, whose words may be partly bold, as Telegram exports it."""
    runs = [is_record(piece) and piece.get("type") in _RUNS for piece in pieces]
    return any(runs) and all(is_run or is_text(piece) for is_run, piece in zip(runs, pieces, strict=True))


class Content:
    """The content of one message, by kind: parts, tool calls, tool results, reasoning, refusals."""

    def __init__(self, where: str, *, of_result: bool = False) -> None:
        """In the content `of_result`, what is of an unknown kind becomes text."""
        self.where = where
        self.of_result = of_result
        self.parts: list[Part] = []
        self.calls: list[ToolCall] = []
        self.results: list[Message] = []
        self.reasoning: list[str] = []
        self.refusals: list[str] = []
        self.more: JsonObject = {}

    def add(self, content: Json) -> None:
        """Add content: a text, a list of parts, or one part."""
        if content is None:
            return
        if isinstance(content, str):
            self.parts.append(Part(text=content))
            return
        pieces, before = [content] if is_record(content) else list_at(content, f"{self.where}.content"), len(self.parts)
        for index, piece in enumerate(pieces):
            self._piece(piece, f"{self.where}.content[{index}]" if is_list(content) else f"{self.where}.content")
        if len(self.parts) > before + 1 and _are_runs(pieces):
            self.parts[before:] = [Part(text="".join(part.text for part in self.parts[before:]))]

    def _piece(self, value: Json, where: str) -> None:
        if isinstance(value, str):
            self.parts.append(Part(text=value))
            return
        piece = _unwrapped(record_at(value, where))
        kind = piece.get("type", "text" if "text" in piece else None)
        reader = _reader_of(kind) if isinstance(kind, str) else None
        if self.of_result and reader not in (Content.text, Content.medium):
            reader = None
        if reader is not None:
            reader(self, piece, where)
        elif isinstance(kind, str) and is_text(first_of(piece, ("text", "content"))):
            self.text(piece, where)  # of an unknown kind: what it says may have been shown
        elif self.of_result:
            self.parts.append(Part(text=as_json(value)))
        elif isinstance(kind, str):
            raise ShapeError(f"{where} has the unknown type {shown(kind)} and no text")
        else:
            raise ShapeError(f"{where} has no `type`")

    def text(self, piece: Record, where: str) -> None:
        """Add a text part, or a thought that is marked as such. Raises ShapeError."""
        value = first_of(piece, ("text", "content"))
        if is_text(piece.get("content")) and piece["content"] not in ("", value):
            raise ShapeError(f"{where} has a `text` and another `content`")
        if piece.get("thought") is True:
            self.thought(piece, where)
            return
        if value is None and "text" not in piece and "content" not in piece:
            raise ShapeError(f"{where} has no `text`")
        value = value["value"] if is_record(value) and "value" in value else value  # of OpenAI's threads
        self.parts.append(Part(text=text_at(value, f"{where}.text")))
        annotations = piece.get("annotations") or piece.get("citations")
        if annotations:
            self.more.setdefault("annotations", []).append(annotations)

    def thought(self, piece: Record, where: str) -> None:
        """Add the model's reasoning, or its summary if only that is recorded."""
        value = first_of(piece, ("thinking", "reasoning", "reasoningText", "text", "content"))
        self.reasoning.append(_words(value) or _words(piece.get("summary")))

    def refused(self, piece: Record, where: str) -> None:
        """Add a refusal."""
        self.refusals.append(text_at(piece.get("refusal"), f"{where}.refusal"))

    def hosted(self, piece: Record, where: str) -> None:
        """Add a call that the provider executed."""
        if is_text(first_of(piece, _CALL_NAMES)):
            self.call(piece, where)
        else:
            more = rest(piece, "type", "id", "call_id")
            self.calls.append(ToolCall(word(first_of(piece, _CALL_IDS)), piece["type"].removesuffix("_call"), more))

    def call(self, piece: Record, where: str) -> None:
        """Add a tool call and its result if it is recorded in the same part."""
        inner = record_at(piece.get("toolInvocation", piece), where)
        is_named_by_type = piece["type"] not in _PIECES and piece["type"].startswith("tool-")
        named = {"toolName": piece["type"].removeprefix("tool-"), **inner} if is_named_by_type else inner
        self.calls.append(tool_call(named, where))
        if first_of(named, _RESULTS) is not None:
            self.result(rest(named, "type", "state", "step", "function", *_ARGUMENTS), where)

    def result(self, piece: Record, where: str) -> None:
        """Add a tool result, which is a separate message."""
        inner = Content(where, of_result=True)
        value = first_of(piece, _RESULTS)
        if is_record(value) and value.keys() <= {"type", "value"} and "value" in value:  # of the AI SDK
            value = value["value"]
        inner.add(value if isinstance(value, str | list) or value is None else as_json(value))
        known = ("type", *_RESULTS[:4], *_CALL_IDS, *_CALL_NAMES)
        metadata = {**rest(piece, *known), **inner.more}
        name = optional(first_of(piece, _CALL_NAMES))
        identity = optional(first_of(piece, _CALL_IDS))
        self.results.append(Message("tool", tuple(inner.parts), name, (), identity, metadata=metadata))

    def medium(self, piece: Record, where: str) -> None:
        """Add an image, a sound or a file, by its address or its bytes; of a sound also what it says."""
        sound = {**piece, **object_in(first_of(piece, ("input_audio", "audio")))}
        transcript = sound.get("transcript")
        if is_text(transcript):
            self.parts.append(Part(text=transcript))
        if not is_text(transcript) or first_of(sound, (*_ADDRESSES, *_BYTES)) is not None:
            self.parts.append(_referred(_medium_of(piece), piece, where))

    def data(self, piece: Record, where: str) -> None:
        """Add data that the application showed, such as a chart, as a file."""
        self.parts.append(Part("file", reference=piece["type"], digest=digest_of(msgspec.json.encode(piece))))
        self.more.setdefault("data", []).append(piece)

    def mark(self, piece: Record, where: str) -> None:
        """Keep a part that says nothing."""
        self.more.setdefault("parts", []).append(piece)

    def elsewhere(self, piece: Record, where: str) -> None:
        """Refuse a part whose content is stored elsewhere. Raises ShapeError."""
        raise ShapeError(f"{where} is stored elsewhere, as {shown(piece.get('id'))}; export the whole conversation")


def _words(value: object) -> str:
    """The text of a thought: a text, an object with one, or a list of either."""
    if is_list(value):
        return "\n".join(filter(None, map(_words, value)))
    return _words(value.get("text")) if is_record(value) else word(value)


def as_json(value: object) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


_KINDS: Final = {
    Content.text: ("text", "input_text", "output_text", "summary_text"),
    Content.thought: ("thinking", "redacted_thinking", "reasoning", "reasoning_text"),
    Content.call: (
        "tool_call", "tool-call", "function_call", "server_tool_call", "custom_tool_call", "dynamic-tool",
        "tool-invocation",
    ),
    Content.data: ("data",),
    Content.result: ("tool-result", "tool-error"),
    Content.medium: (
        "image", "image_url", "input_image", "output_image", "audio", "input_audio", "output_audio", "audio_url",
        "file", "input_file", "document", "blob", "uri", "video", "video_url", "container_upload",
    ),
    Content.refused: ("refusal",),
    Content.elsewhere: ("item_reference",),
    Content.mark: (
        "step-start", "source", "source-url", "source-document", "mcp_list_tools", "mcp_approval_request",
        "mcp_approval_response", "tool-approval-request", "tool-approval-response", "input_json_delta", "compaction",
        "ghost_snapshot", "cachePoint",
    ),
}  # fmt: skip
_PIECES: Final = {kind: reader for reader, kinds in _KINDS.items() for kind in kinds}
_ENDINGS: Final = (
    ("tool_use", Content.call),
    ("_call", Content.hosted),
    ("_result", Content.result),
    ("_output", Content.result),
    ("_response", Content.result),
)
_BEGINNINGS: Final = (("tool-", Content.call), ("data-", Content.data))
# The parts of Gemini and Bedrock, which name their kind by their only key.
_WRAPPED: Final = {
    "functionCall": "function_call", "function_call": "function_call", "toolUse": "tool_use",
    "functionResponse": "tool_result", "function_response": "tool_result", "toolResult": "tool_result",
    "codeExecutionResult": "tool_result", "executableCode": "executable_code_call",
    "reasoningContent": "reasoning", "inlineData": "blob", "inline_data": "blob", "fileData": "uri",
    "file_data": "uri", "image": "image", "audio": "audio", "video": "video", "document": "document",
    "cachePoint": "cachePoint",
}  # fmt: skip


def _reader_of(kind: str) -> Callable[[Content, Record, str], None] | None:
    """The reader of the parts of a kind; None if it is unknown."""
    by_ending = (reader for ending, reader in _ENDINGS if kind.endswith(ending))
    by_beginning = (reader for beginning, reader in _BEGINNINGS if kind.startswith(beginning))
    return _PIECES.get(kind) or next(by_ending, None) or next(by_beginning, None)


def _unwrapped(piece: JsonObject) -> JsonObject:
    """A part with its kind under `type`."""
    kind = next((key for key in _WRAPPED if is_record(piece.get(key))), None) if "type" not in piece else None
    return piece if kind is None else {**piece[kind], "type": _WRAPPED[kind]}


_ADDRESSES: Final = (
    "url", "uri", "fileUri", "file_url", "image_url", "file_id", "filename", "name", "path", "title", "id",
)  # fmt: skip
_MEDIA_TYPES: Final = (
    "media_type", "mime_type", "mediaType", "mimeType", "mimetype", "contentType", "content_type", "format",
)  # fmt: skip
_BYTES: Final = (
    "data", "file_data", "content", "image", "audio", "document", "video", "bytes", "url", "uri", "image_url",
)  # fmt: skip


def attached(record: Record) -> list[Part]:
    """The media that are attached to a message, as messengers list them, by their addresses or names."""
    values = (record.get(key) for key in ("attachments", "files"))
    items = [each for value in values if is_list(value) for each in value if is_record(each)]
    media = ({**each, "type": "file"} for each in items if first_of(each, _ADDRESSES) is not None)
    return [Part(_medium_of(each), reference=_named(each)) for each in media]


def _medium_of(piece: Record) -> Kind:
    named = f"{piece.get('type')} {piece.get('modality', '')} {word(first_of(piece, _MEDIA_TYPES))}"
    return next((kind for kind in KINDS if kind in named and kind != "text"), "file")


def _referred(kind: Kind, piece: Record, where: str) -> Part:
    """A medium by its address and, if its bytes are in the record, their digest."""
    inner = next((piece[key] for key in (str(piece["type"]), "image_url", "input_audio", "source", "file")
                  if is_record(piece.get(key))), piece)  # fmt: skip
    if is_text(piece.get("digest")):  # as `convert` writes it
        return Part(kind, reference=word(first_of(inner, _ADDRESSES)), digest=piece["digest"])
    fields = [value for key in _BYTES if isinstance(value := inner.get(key), str)]
    for value in fields:
        if value.startswith("data:"):
            head, _, data = value.partition(",")
            return Part(kind, reference=_named(inner) or head, digest=digest_of(_decoded(data)))
    reference = _named(inner)
    content = next((inner[key] for key in _BYTES[:-3] if isinstance(inner.get(key), str | bytes)), None)
    if content is None:
        if not reference:
            raise ShapeError(f"{where} has neither an address nor data")
        return Part(kind, reference=reference)
    if isinstance(content, str) and "://" in content[:20]:
        return Part(kind, reference=content)
    media = word(first_of(inner, _MEDIA_TYPES))
    return Part(kind, reference=reference or media, digest=digest_of(_decoded(content)))


def _named(inner: Record) -> str:
    """The address of a medium, other than a `data:` address; empty if there is none."""
    words = (word(inner.get(key)) for key in _ADDRESSES)
    return next((each for each in words if each and not each.startswith("data:")), "")


def _decoded(data: str | bytes) -> bytes:
    """The decoded bytes of a base64 text; the text's own bytes if it is not base64."""
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(raw, validate=True) if isinstance(data, str) else raw
    except ValueError:
        return raw
