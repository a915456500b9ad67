"""Two wire formats as pure functions, from a call to a request body and from a response body to an answer.

Chat completions is the format of OpenAI-compatible servers (hosted ones, vLLM, Ollama, llama.cpp), Messages that of
Anthropic's API.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Set
from typing import Final

from rulewright_runtime import strict_json
from rulewright_runtime.models.call import TOO_LONG, WHOLE, CallFailure, Finish, ModelAnswer, ModelCall, Usage
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.models.event_stream import is_stream, stated_error
from rulewright_runtime.strict_json import JsonMapping, JsonObject

ANTHROPIC_VERSION: Final = "2023-06-01"
SCHEMA_NAME: Final = "reply"
STREAMED: Final[JsonMapping] = {"stream": True, "stream_options": {"include_usage": True}}  # added to a request


class ChatCompletions:
    """OpenAI's chat completions."""

    path = "/chat/completions"
    version = "chat-completions/1"
    may_stream = True

    def headers(self, key: str | None) -> dict[str, str]:
        """Return a bearer token, if there is a key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, call: ModelCall, capabilities: Capabilities) -> JsonObject:
        """Return messages and token limit, with temperature and schema if the model accepts them."""
        body: JsonObject = {
            "model": model,
            "messages": [{"role": message.role, "content": message.content} for message in call.messages],
            capabilities.limit: call.max_tokens,
        }
        if call.temperature is not None and capabilities.temperature:
            body["temperature"] = call.temperature
        if call.schema is not None and capabilities.structured:
            schema = {"name": SCHEMA_NAME, "schema": call.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def refused_part(self, failure: CallFailure) -> str | None:
        """Return the part of a request for which the endpoint refused it, and without which it may accept it."""
        if failure.status != REFUSED_STATUS:
            return None
        named = _as_mapping(_decoded(failure.raw).get("error")).get("param")
        if named in _OPTIONAL:
            return str(named)
        return "whole" if _STREAM.search(str(failure)) else None

    def without(self, body: JsonObject, refused: Set[str]) -> JsonObject:
        """Return a body without the parts that were refused; without a whole answer, it asks for a stream."""
        changed = {key: value for key, value in body.items() if key not in refused}
        if "max_tokens" in refused & body.keys():
            changed["max_completion_tokens"] = body["max_tokens"]
        return {**changed, **STREAMED} if "whole" in refused else changed

    def answer(self, data: JsonMapping, raw: str) -> ModelAnswer:
        """Return the message of the only choice. An error object in a response of status 200, as some routers send, is
        a CallFailure. Raises CallFailure."""
        _refuse_error(data, raw)
        choices = data.get("choices")
        if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
            detail = _message(data) or _message({"message": data.get("detail")})
            detail = f", but says: {detail[:300]}" if detail else ""
            raise CallFailure(f"the response has no single entry in `choices`{detail}", "malformed", raw=raw)
        _refuse_error(choices[0], raw)
        message = choices[0].get("message")
        if not isinstance(message, dict):
            raise CallFailure("the response has no `message`", "malformed", raw=raw)
        refusal, content = message.get("refusal"), message.get("content")
        finish = _CHAT_FINISH.get(str(choices[0].get("finish_reason")).lower(), "other")
        if message.get("tool_calls") or message.get("function_call"):
            finish = "other"  # no tool was offered, and what the text is without the call's result is unknown
        if refusal:
            content, finish = refusal if isinstance(refusal, str) else content or "", "refusal"
        if content is None and finish != WHOLE:
            content = ""
        if isinstance(content, list):
            content = _joined_parts(content)
        if not isinstance(content, str):
            raise CallFailure("the response's message has no text under `content`", "malformed", raw=raw)
        usage = _as_mapping(data.get("usage"))
        cached = _as_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
        sent, received, total = (_count(usage.get(f"{part}_tokens")) for part in ("prompt", "completion", "total"))
        if sent is not None and received is not None and total is not None:
            received = max(received, total - sent)  # some servers count thoughts only in the total
        counts = Usage(sent, received, _count(cached))
        return ModelAnswer(content, _text(data.get("model")), finish, counts, raw)


class Messages:
    """Anthropic's Messages."""

    path = "/v1/messages"
    version = f"messages/{ANTHROPIC_VERSION}"
    may_stream = False

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the version of the API, and the key if there is one."""
        return {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})

    def body(self, model: str, call: ModelCall, capabilities: Capabilities) -> JsonObject:
        """As for chat completions, with system messages separate from the conversation."""
        system = "\n\n".join(message.content for message in call.messages if message.role == "system")
        body: JsonObject = {
            "model": model,
            "max_tokens": call.max_tokens,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in call.messages
                if message.role != "system"
            ],
        }
        if system:
            body["system"] = system
        if call.temperature is not None and capabilities.temperature:
            body["temperature"] = call.temperature
        if call.schema is not None and capabilities.structured:
            body["output_config"] = {"format": {"type": "json_schema", "schema": call.schema}}
        return body

    def refused_part(self, failure: CallFailure) -> str | None:
        """No error names the part of a request for which it was refused."""

    def without(self, body: JsonObject, refused: Set[str]) -> JsonObject:
        """Return the body: nothing was refused."""
        return body

    def answer(self, data: JsonMapping, raw: str) -> ModelAnswer:
        """Return the joined text blocks of the content, without thinking. Raises CallFailure."""
        _refuse_error(data, raw)
        content = data.get("content")
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise CallFailure("the response has no list under `content`", "malformed", raw=raw)
        texts = [block.get("text") for block in content if block.get("type") == "text"]
        calls = any(block.get("type") not in _BLOCKS for block in content)
        finish = "other" if calls else _MESSAGES_FINISH.get(str(data.get("stop_reason")), "other")
        if not all(isinstance(text, str) for text in texts) or (not texts and finish == "stop"):
            raise CallFailure("the response's content has no text", "malformed", raw=raw)
        usage = _as_mapping(data.get("usage"))
        sent, *of_cache = (_count(usage.get(f"{part}input_tokens")) for part in ("", "cache_read_", "cache_creation_"))
        sent = None if sent is None else sum(filter(None, of_cache), sent)  # which does not include those of the cache
        counts = Usage(sent, _count(usage.get("output_tokens")), of_cache[0])
        return ModelAnswer("".join(map(str, texts)), _text(data.get("model")), finish, counts, raw)


def _joined_parts(parts: list[object]) -> str | None:
    """The text of a message in parts, as some models that think send it; None if a part is neither text nor thought."""
    known = [part for part in parts if isinstance(part, dict) and part.get("type") in _PARTS]
    texts = [part.get("text") for part in known if part.get("type") == "text"]
    are_whole = len(known) == len(parts) and texts and all(isinstance(text, str) for text in texts)
    return "".join(map(str, texts)) if are_whole else None


_CHAT_FINISH: Final[dict[str, Finish]] = {
    **dict.fromkeys(("stop", "eos_token", "stop_sequence", "end_turn"), "stop"),  # of compatible servers, too
    **dict.fromkeys(("length", "max_tokens"), "length"),
    "content_filter": "filter",
}
_MESSAGES_FINISH: Final[dict[str, Finish]] = {
    "end_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "stop_sequence": "stop",
}
_PARTS: Final = frozenset({"text", "thinking", "reasoning"})
_BLOCKS: Final = frozenset({"text", "thinking", "redacted_thinking"})  # other blocks call tools
# Errors for a prompt and reply that do not fit into the model's context window.
_TOO_LONG: Final = re.compile(
    r"(context_length_exceeded|exceed_context_size|.{0,60}(maximum context length|prompt is too long|context window))"
)
# Errors of a server that only streams. A message may echo the prompt: the second request is then refused, too.
_STREAM: Final = re.compile(r"stream", re.IGNORECASE)
REFUSED_STATUS: Final = 400
_OPTIONAL: Final = ("max_tokens", "response_format", "temperature")  # `max_tokens` has a newer name
# Errors for an exhausted account: OpenAI's code with 429, Anthropic's message with 400. A message may echo the prompt.
_NO_CREDIT: Final = re.compile(r"insufficient_quota\Z|your credit balance is too low", re.IGNORECASE)
# Errors for a field that the endpoint wants and Rulewright does not know.
_MISSING: Final = re.compile(r"\b(missing|required)\b", re.IGNORECASE)
_ADD_A_FIELD: Final = "; `#NAME=VALUE` after the model and its address adds a field to every request"
WIRES: Final[dict[str, ChatCompletions | Messages]] = {"anthropic": Messages(), "openai": ChatCompletions()}


def decode_body(body: bytes) -> JsonObject:
    """Decode a response's body as a JSON object. Raises CallFailure for anything else."""
    body = body.removeprefix(codecs.BOM_UTF8)
    raw = body.decode("utf-8", "replace")
    try:
        data = strict_json.decode(body)
    except strict_json.UNDECODED as error:
        is_page = raw.lstrip().startswith("<")
        what = ", but a stream of events" if is_stream(raw) else ", but a web page" * is_page
        is_object = raw.lstrip().startswith("{")
        reason = strict_json.why_not(error, body, "the response") if is_object else f"the response is not JSON{what}"
        raise CallFailure(reason, "malformed", raw=raw) from None
    if not isinstance(data, dict):
        raise CallFailure("the response is not a JSON object", "malformed", raw=raw)
    return data


def response_failure(status: int, body: bytes, retry_after: float | None, hint: str) -> CallFailure:
    """Return the failure for a response of another status than 200; `hint` ends its message."""
    raw = body.decode("utf-8", "replace")
    try:
        data = decode_body(body)
        error = data.get("error") or data
    except CallFailure:
        error = raw[:200]
    detail = _message(error)
    codes = [str(error.get(key)) for key in ("code", "type")] if isinstance(error, dict) else []
    explanation = (detail or " ".join(raw.split()) * bool(error))[:300].rstrip(".")
    if any(map(_NO_CREDIT.match, (*codes, detail))):
        kind = "denied"
    elif status in (400, 413) and any(map(_TOO_LONG.match, (*codes, detail))):
        kind = TOO_LONG
    else:
        kind = kind_of(status)
        hint = hint or _ADD_A_FIELD * (kind == "rejected" and bool(_MISSING.search(explanation)))
    message = f"the endpoint answered {status}" + f": {explanation}" * bool(explanation) + hint
    return CallFailure(message, kind, status=status, retry_after=retry_after, raw=raw)


def kind_of(status: int) -> str:
    if status in (400, 413, 422):
        return "rejected"
    if status == 429:
        return "limited"
    if status in (408, 409, 425) or status >= 500:
        return "server"
    return "forbidden" if status == 403 else "denied"  # 401, 402, 404, a redirect: until the settings are changed


def _refuse_error(data: Mapping[str, object], raw: str) -> None:
    error = stated_error(data)
    if not error:
        return
    code = error.get("code") if isinstance(error, dict) else None
    kind = kind_of(code) if isinstance(code, int) and 400 <= code < 600 else "server"
    detail = f": {_message(error)[:300]}" if _message(error) else ""
    raise CallFailure(f"the endpoint answered an error{detail}", kind, status=200, raw=raw)


def _message(error: object) -> str:
    """Return the message of an error object or string; empty for any other value."""
    text = error.get("message") if isinstance(error, dict) else error
    return " ".join(text.split()) if isinstance(text, str) else ""


def _decoded(raw: str) -> JsonObject:
    try:
        return decode_body(raw.encode())
    except CallFailure:
        return {}


def _as_mapping(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
