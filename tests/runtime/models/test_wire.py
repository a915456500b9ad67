"""Requests and answers in the formats of providers: anything but an answer is a failure of a known kind."""

import json
from typing import Any

import pytest
from tests.model_server import Response, chat, messages, model_server
from tests.runtime.models.asking import CALL, SCHEMA, ask, failure, run

from rulewright_runtime.models import http, open_model
from rulewright_runtime.models.call import (
    CallFailure,
    CallRequest,
    ModelCall,
    Usage,
    request_key,
)
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.models.http import HttpModel


def test_a_chat_completion_is_an_answer_with_model_usage_and_raw_body() -> None:
    answer, server = ask(lambda *_: chat("Fine."), key="secret")
    assert (answer.text, answer.model, answer.finish, answer.usage) == ("Fine.", "served-1", "stop", Usage(11, 7))
    assert json.loads(answer.raw)["id"] == "x"
    assert server.requests[0] == {
        "path": "/v1/chat/completions",
        "model": "some-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Well?"}],
        "max_tokens": 400,
    }
    assert server.headers[0]["authorization"] == "Bearer secret"
    assert "secret" not in repr(answer)


def test_a_message_of_the_messages_api_is_an_answer() -> None:
    call = ModelCall(CALL.messages, 400, 0.3, SCHEMA)
    answer, server = ask(lambda *_: messages("Fine."), call, "anthropic", model="claude-3-5-haiku", key="secret")
    assert (answer.text, answer.model, answer.usage) == ("Fine.", "claude-served", Usage(14, 7, 3))
    assert server.requests[0] == {
        "path": "/v1/messages",
        "model": "claude-3-5-haiku",
        "max_tokens": 400,
        "messages": [{"role": "user", "content": "Well?"}],
        "system": "Be brief.",
        "temperature": 0.3,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    assert server.headers[0]["x-api-key"] == "secret"
    assert server.headers[0]["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("provider", "model", "sent"),
    [
        ("openai", "gpt-4.1", {"max_tokens", "temperature"}),
        ("openai", "gpt-5-mini", {"max_completion_tokens"}),
        ("openai", "o3", {"max_completion_tokens"}),
        ("openai", "openai/o4-mini:free", {"max_completion_tokens"}),
        ("openai", "qwen3:8b", {"max_tokens", "temperature"}),
        ("anthropic", "claude-sonnet-4-5", {"max_tokens", "temperature"}),
        ("anthropic", "claude-sonnet-4-20250514", {"max_tokens", "temperature"}),
        ("anthropic", "claude-opus-4-8", {"max_tokens"}),
        ("anthropic", "claude-sonnet-5", {"max_tokens"}),
    ],
)
def test_a_model_is_sent_only_what_it_takes(provider: str, model: str, sent: set[str]) -> None:
    respond = chat if provider == "openai" else messages
    _, server = ask(lambda *_: respond("Fine."), ModelCall(CALL.messages, 400, 0.0), provider, model=model)
    assert set(server.requests[0]) & {"max_tokens", "max_completion_tokens", "temperature"} == sent


@pytest.mark.parametrize(
    ("structured", "wanted"),
    [
        (True, {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}),
        (False, None),
    ],
)
def test_a_schema_is_sent_to_an_endpoint_that_enforces_it(structured: bool, wanted: Any) -> None:
    _, server = ask(
        lambda *_: chat("{}"),
        ModelCall(CALL.messages, 9, schema=SCHEMA),
        capabilities=Capabilities(structured=structured),
    )
    assert server.requests[0].get("response_format") == wanted


@pytest.mark.parametrize(
    ("response", "finish", "text"),
    [
        (chat("half a", finish="length"), "length", "half a"),
        (chat(None, finish="length"), "length", ""),
        (chat(None, finish="content_filter"), "filter", ""),
        (chat("x", finish="max_tokens"), "length", "x"),
        (chat("x", finish="eos_token"), "stop", "x"),
        (chat("x", finish="end_turn"), "stop", "x"),
        (chat("x", finish="STOP"), "stop", "x"),
        (chat("x", finish="MAX_TOKENS"), "length", "x"),
        (chat("x", finish="error"), "other", "x"),
        (chat(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f"}}]), "other", ""),
        (chat(None, refusal="I can't."), "refusal", "I can't."),
        (chat("x", finish="tool_calls"), "other", "x"),
        (chat("x", tool_calls=[{"id": "1", "type": "function", "function": {"name": "f"}}]), "other", "x"),
        (chat("x", function_call={"name": "f", "arguments": "{}"}), "other", "x"),
        (chat("x", refusal={"reason": "policy"}), "refusal", "x"),
        (chat("x", refusal=["policy"]), "refusal", "x"),
        (chat("x", refusal=True), "refusal", "x"),
        (chat(None, refusal=True), "refusal", ""),
        (chat("x", refusal=None, tool_calls=[], function_call=None), "stop", "x"),
        (chat("x", refusal=""), "stop", "x"),
    ],
)
def test_what_ended_early_is_distinguished_from_a_whole_reply(response: Response, finish: str, text: str) -> None:
    answer, _ = ask(lambda *_: response)
    assert (answer.finish, answer.text) == (finish, text)


@pytest.mark.parametrize(("respond", "provider"), [(chat, "openai"), (messages, "anthropic")])
def test_an_answer_next_to_an_error_is_not_an_answer(respond: Any, provider: str) -> None:
    body = json.loads(respond("Fine.").body) | {"error": {"message": "overloaded"}}
    found = failure(Response(body=json.dumps(body).encode()), provider=provider)
    assert (found.kind, str(found)) == ("server", "the endpoint answered an error: overloaded")


@pytest.mark.parametrize("block", ["tool_use", "server_tool_use", "something_new"])
def test_a_message_that_calls_a_tool_is_not_a_whole_reply(block: str) -> None:
    body = json.loads(messages("Fine.").body)
    body["content"].append({"type": block, "id": "1", "name": "f", "input": {}})
    answer, _ = ask(lambda *_: Response(body=json.dumps(body).encode()), provider="anthropic")
    assert (answer.finish, answer.text) == ("other", "Fine.")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, "rejected") for status in (400, 413, 422)),
        *((status, "denied") for status in (301, 401, 402, 404)),
        (403, "forbidden"),
        (429, "limited"),
        *((status, "server") for status in (408, 409, 425, 500, 502, 503, 529)),
    ],
)
def test_a_status_says_whether_another_attempt_may_help(status: int, kind: str) -> None:
    found = failure(Response(status, b'{"error": {"message": "no\\n way", "code": "x"}}'))
    assert (found.kind, found.status) == (kind, status)
    assert str(found).startswith(f"the endpoint answered {status}: no way")
    assert found.may_be_retried == (kind in ("limited", "server", "forbidden"))
    assert found.is_fatal == (kind == "denied")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'),
        (400, b'{"error": {"message": "Your credit balance is too low to access the API."}}'),
    ],
)
def test_an_account_without_credit_ends_therun(status: int, error: bytes) -> None:
    assert failure(Response(status, error)).is_fatal


@pytest.mark.parametrize("said", ["insufficient_quota", "Your credit balance is too low to access the API."])
@pytest.mark.parametrize("echo", ["Invalid prompt: {}", "{{}} {}", '{{"code": "insufficient_quota"}} {}'])
@pytest.mark.parametrize("status", [400, 422, 429, 500])
def test_a_prompt_that_an_error_echoes_does_not_end_therun(status: int, echo: str, said: str) -> None:
    body = {"error": {"message": echo.format(said), "code": "invalid_prompt"}, "request": [{"content": said}]}
    for each in (json.dumps(body).encode(), echo.format(said).encode()):
        assert not failure(Response(status, each)).is_fatal


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "Missing required parameter: 'seat'.", "code": "missing_required_parameter"}}),
        (400, {"error": "seat is required"}),
        (422, {"detail": [{"type": "missing", "loc": ["body", "seat"], "msg": "Field required"}]}),
        (422, {"detail": "seat is missing"}),
    ],
)
def test_a_field_that_the_endpoint_misses_is_named_with_the_way_to_add_it(status: int, body: dict[str, object]) -> None:
    told = str(failure(Response(status, json.dumps(body).encode())))
    assert "seat" in told
    assert told.endswith("; `#NAME=VALUE` after the model and its address adds a field to every request")
    assert "#NAME" not in str(failure(Response(status, b'{"error": "The value of seat is wrong."}')))
    assert "#NAME" not in str(failure(Response(500, json.dumps(body).encode())))


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "No.", "code": "context_length_exceeded"}},
        {"error": {"message": "too large", "type": "exceed_context_size_error", "code": 400}},
        {"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400},
        {"error": {"message": "prompt is too long: 200001 tokens > 200000 maximum", "type": "invalid_request_error"}},
        {"error": "Your input exceeds the context window of this model."},
    ],
)
def test_a_conversation_that_is_too_long_is_distinguished(error: dict[str, object]) -> None:
    assert failure(Response(400, json.dumps(error).encode())).kind == "too_long"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "nan"}, 0.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_the_server_says_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert failure(Response(429, b"{}", headers)).retry_after == seconds


def test_a_wrong_clock_causes_no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "time", lambda: 0.0)
    assert failure(Response(429, b"{}", {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})).retry_after == 0.0


MALFORMED = {
    "an HTML page": Response(body=b"<html>Bad gateway</html>", headers={"Content-Type": "text/html"}),
    "no JSON": Response(body=b'{"choices": ['),
    "a list": Response(body=b"[]"),
    "nothing": Response(body=b""),
    "no choices": Response(body=b'{"choices": []}'),
    "two choices": Response(body=b'{"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]}'),
    "no message": Response(body=b'{"choices": [{}]}'),
    "no text": chat(None),
    "a list of parts": Response(body=b'{"choices": [{"message": {"content": [{"text": "PASS"}]}}]}'),
    "not gzip": Response(body=b"plain", headers={"Content-Encoding": "gzip"}),
    "a stream of events": Response(body=b'data: {"choices": []}\n\ndata: [DONE]\n\n'),
    "a byte that is not text": Response(body=chat("PASS").body.replace(b"PASS", b"P\xe9SS")),
    "half a surrogate pair": Response(body=chat("PASS").body.replace(b"PASS", b"PASS\\ud800")),
    "two bodies": Response(body=chat("PASS").body * 2),
    "deep": Response(body=b"[" * 100_000),
}


@pytest.mark.parametrize("response", MALFORMED.values(), ids=MALFORMED)
def test_a_response_without_an_answer_is_malformed_and_may_be_asked_again(response: Response) -> None:
    found = failure(response)
    assert (found.kind, found.may_be_retried) == ("malformed", True)


@pytest.mark.parametrize(
    ("error", "kind"),
    [({"message": "slow down", "code": 429}, "limited"), ({"message": "no", "code": 401}, "denied"), ("oh", "server")],
)
def test_an_error_object_under_status_200_is_a_failure(error: object, kind: str) -> None:
    body = json.dumps({"error": error, "choices": [{"message": {"content": '{"verdict": "PASS"}'}}]}).encode()
    assert failure(Response(body=body)).kind == kind


def test_an_answer_that_is_an_error_object_is_a_failure() -> None:
    body = {"object": "error", "message": "no", "code": 401, **json.loads(chat("half").body)}
    assert failure(Response(body=json.dumps({**body, "object": "error"}).encode())).kind == "denied"


@pytest.mark.parametrize("nothing", [None, False, "", {}, [], 0])
def test_an_answer_that_says_that_there_was_no_error_is_an_answer(nothing: object) -> None:
    body = json.dumps({**json.loads(chat("fine").body), "error": nothing}).encode()
    assert ask(lambda *_: Response(body=body))[0].text == "fine"


@pytest.mark.parametrize("body", [{"detail": "Not authenticated"}, {"message": "Not authenticated"}])
def test_what_a_response_without_an_answer_says_is_reported(body: dict[str, str]) -> None:
    told = "the response has no single entry in `choices`, but says: Not authenticated"
    assert str(failure(Response(body=json.dumps(body).encode()))) == told


def test_an_error_inside_a_choice_is_a_failure() -> None:
    body = json.loads(chat("half").body)
    body["choices"][0]["error"] = {"message": "the upstream died", "code": 502}
    assert failure(Response(body=json.dumps(body).encode())).kind == "server"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (None, "`RULEWRIGHT_API_KEY` is not set"),
        ("a-long-secret-key", "the key in `RULEWRIGHT_API_KEY` is refused"),
    ],
)
def test_a_missing_or_refused_key_is_named_by_its_variable(key: str | None, told: str) -> None:
    with pytest.raises(CallFailure) as found:
        ask(lambda *_: Response(401, json.dumps({"error": {"message": "Who are you?"}}).encode()), key=key)
    said = f"the endpoint answered 401: Who are you?; {told}"
    assert str(found.value) == f"{said}; other headers belong in `RULEWRIGHT_HEADERS`, as `Name: value`"


def test_a_response_of_another_kind_than_json_is_named() -> None:
    assert str(failure(MALFORMED["an HTML page"])) == "the response is not JSON, but a web page"
    assert str(failure(MALFORMED["a stream of events"])) == "the response is not JSON, but a stream of events"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"choices": [], "choices": []}', "the response is refused: duplicate key `choices`"),
        (b'{"usage": {"prompt_tokens": NaN}}', "JSON has no `NaN`"),
        (b'{"choices": [{"mess', "the response is not JSON: Input data was truncated"),
    ],
)
def test_what_is_wrong_with_the_json_of_a_response_is_reported(body: bytes, said: str) -> None:
    assert said in str(failure(Response(body=body)))


def test_tokens_that_a_provider_counts_apart_are_counted() -> None:
    body = json.loads(chat("Fine.").body)
    body["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 118}  # 100 of them for thoughts
    assert ask(lambda *_: Response(body=json.dumps(body).encode()))[0].usage == Usage(11, 107)
    body = json.loads(messages("Fine.").body)
    body["usage"] |= {"cache_read_input_tokens": 3, "cache_creation_input_tokens": 100}
    answer, _ = ask(lambda *_: Response(body=json.dumps(body).encode()), provider="anthropic")
    assert answer.usage == Usage(114, 7, 3)


def test_an_answer_may_begin_with_a_byte_order_mark() -> None:
    assert ask(lambda *_: Response(body=b"\xef\xbb\xbf" + chat("Fine.").body))[0].text == "Fine."


def test_the_text_parts_of_a_message_are_its_text() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "FAIL?"}]}, {"type": "text", "text": "Fi"}]
    assert ask(lambda *_: chat([*parts, {"type": "text", "text": "ne."}]))[0].text == "Fine."  # type: ignore[arg-type]
    assert failure(chat([*parts, {"type": "image_url"}])).kind == "malformed"  # type: ignore[arg-type]
    assert failure(chat(parts[:1])).kind == "malformed"  # type: ignore[arg-type]


def test_headers_of_a_gateway_are_sent_and_never_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_HEADERS", "X-Team-Key: abcdefghijkl:m\n\n api-version : 2\n")
    with model_server(lambda *_: chat("You sent abcdefghijkl:m.")) as server:
        model = open_model(f"openai:m@{server.base}")
        assert isinstance(model, HttpModel)
        answer = run(model, lambda: model.answer(CALL))
    assert (server.headers[0]["x-team-key"], server.headers[0]["api-version"]) == ("abcdefghijkl:m", "2")
    assert "abcdef" not in f"{answer} {model.identity}"


def test_headers_of_a_gateway_are_not_sent_to_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_HEADERS", "X-Team-Key: secret")
    with model_server(lambda *_: chat("x")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base)
        model = open_model("openai:m")
        assert isinstance(model, HttpModel)
        run(model, lambda: model.answer(CALL))
    assert "x-team-key" not in server.headers[0]


def test_fields_of_a_request_are_sent_and_are_part_of_the_identity() -> None:
    added = 'reasoning_effort=low&seed=7&chat_template_kwargs={"enable_thinking": false, "a&b": "c&d"}'
    with model_server(lambda *_: chat("x")) as server:
        model = open_model(f"openai:m@{server.base}#{added}")
        assert isinstance(model, HttpModel)
        run(model, lambda: model.answer(CALL))
        plain, other = (open_model(f"openai:m@{server.base}{end}") for end in ("", "#seed=8"))
    sent = server.requests[0]
    assert (sent["model"], sent["reasoning_effort"], sent["seed"]) == ("m", "low", 7)
    assert sent["chat_template_kwargs"] == {"enable_thinking": False, "a&b": "c&d"}
    assert (model.identity.model, model.identity.endpoint) == (plain.identity.model, plain.identity.endpoint)
    assert len({request_key(each.identity, CallRequest(CALL)) for each in (model, plain, other)}) == 3
    assert '"reasoning_effort":"low"' in model.identity.wrapper
