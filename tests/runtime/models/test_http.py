"""Models over HTTP, against a real server: an answer is an answer, and everything else is a failure of a known kind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
import pytest
from tests.model_server import Handler, Response, Server, chat, messages, model_server

from rulewright_runtime.models import ModelError, http, open_model
from rulewright_runtime.models.call import (
    CallFailure,
    CallRequest,
    ChatMessage,
    ModelAnswer,
    ModelCall,
    Usage,
    request_key,
)
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.models.http import HttpModel

CALL = ModelCall((ChatMessage("system", "Be brief."), ChatMessage("user", "Well?")), 400)
SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["PASS", "FAIL"]}}}


def ask(handler: Handler, call: ModelCall = CALL, provider: str = "openai", **made: Any) -> tuple[ModelAnswer, Server]:
    """The answer of a model behind a server that answers by `handler`."""
    with model_server(handler) as server:
        base = server.base if provider == "openai" else server.base.removesuffix("/v1")
        model = HttpModel(provider, made.pop("model", "some-model"), base, made.pop("key", None), **made)
        return _run(model, lambda: model.answer(call)), server


def _run(model: HttpModel, what: Callable[[], Awaitable[ModelAnswer]]) -> ModelAnswer:
    async def whole() -> ModelAnswer:
        try:
            with anyio.fail_after(20):
                return await what()
        finally:
            await model.aclose()

    return anyio.run(whole)


def failure(response: Response, **made: Any) -> CallFailure:
    with pytest.raises(CallFailure) as caught:
        ask(lambda *_: response, **made)
    return caught.value


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
    assert (answer.text, answer.model, answer.usage) == ("Fine.", "claude-served", Usage(11, 7, 3))
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
def test_what_ended_early_is_told_from_a_whole_reply(response: Response, finish: str, text: str) -> None:
    answer, _ = ask(lambda *_: response)
    assert (answer.finish, answer.text) == (finish, text)


@pytest.mark.parametrize("block", ["tool_use", "server_tool_use", "something_new"])
def test_a_message_that_calls_a_tool_is_no_whole_reply(block: str) -> None:
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
def test_an_account_without_credit_ends_the_run(status: int, error: bytes) -> None:
    assert failure(Response(status, error)).is_fatal


@pytest.mark.parametrize("said", ["insufficient_quota", "Your credit balance is too low to access the API."])
@pytest.mark.parametrize("echo", ["Invalid prompt: {}", "{{}} {}", '{{"code": "insufficient_quota"}} {}'])
@pytest.mark.parametrize("status", [400, 422, 429, 500])
def test_a_prompt_that_an_error_echoes_does_not_end_the_run(status: int, echo: str, said: str) -> None:
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
def test_a_conversation_that_is_too_long_is_told_apart(error: dict[str, object]) -> None:
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


def test_a_clock_that_is_wrong_makes_nobody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
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
    "a byte that is no text": Response(body=chat("PASS").body.replace(b"PASS", b"P\xe9SS")),
    "half a surrogate pair": Response(body=chat("PASS").body.replace(b"PASS", b"PASS\\ud800")),
    "two bodies": Response(body=chat("PASS").body * 2),
    "deep": Response(body=b"[" * 100_000),
}


@pytest.mark.parametrize("response", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_answer_is_malformed_and_may_be_asked_again(response: Response) -> None:
    found = failure(response)
    assert (found.kind, found.may_be_retried) == ("malformed", True)


@pytest.mark.parametrize(
    ("error", "kind"),
    [({"message": "slow down", "code": 429}, "limited"), ({"message": "no", "code": 401}, "denied"), ("oh", "server")],
)
def test_an_error_object_under_status_200_is_a_failure(error: object, kind: str) -> None:
    body = json.dumps({"error": error, "choices": [{"message": {"content": '{"verdict": "PASS"}'}}]}).encode()
    assert failure(Response(body=body)).kind == kind


@pytest.mark.parametrize("body", [{"detail": "Not authenticated"}, {"message": "Not authenticated"}])
def test_what_a_response_without_an_answer_says_is_told(body: dict[str, str]) -> None:
    told = "the response has no single entry in `choices`, but says: Not authenticated"
    assert str(failure(Response(body=json.dumps(body).encode()))) == told


def test_an_error_inside_a_choice_is_a_failure() -> None:
    body = json.loads(chat("half").body)
    body["choices"][0]["error"] = {"message": "the upstream died", "code": 502}
    assert failure(Response(body=json.dumps(body).encode())).kind == "server"


@pytest.mark.parametrize(("key", "told"), [(None, "is not set"), ("a-long-secret-key", "is refused")])
def test_a_missing_or_refused_key_is_named_by_its_variable(key: str | None, told: str) -> None:
    with pytest.raises(CallFailure) as found:
        ask(lambda *_: Response(401, json.dumps({"error": {"message": "Who are you?"}}).encode()), key=key)
    said = f"the endpoint answered 401: Who are you?; the key in `RULEWRIGHT_API_KEY` {told}"
    assert str(found.value) == f"{said}; `RULEWRIGHT_HEADERS` holds other headers, as `Name: value`"


def test_a_response_of_another_kind_than_json_is_named() -> None:
    assert str(failure(MALFORMED["an HTML page"])) == "the response is not JSON, but a web page"
    assert str(failure(MALFORMED["a stream of events"])) == "the response is not JSON, but a stream of events"


def _events(*chunks: dict[str, Any], end: bytes = b"data: [DONE]\n\n") -> Response:
    return Response(body=b": hi\n\n" + b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks) + end)


def _delta(text: str | None, finish: str | None = None, **other: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text, **other}, "finish_reason": finish}
    return {"model": "served-1", "choices": [choice]}


COUNTED = {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}


def test_an_answer_that_arrives_as_a_stream_is_joined() -> None:
    stream = _events(_delta("", role="assistant"), _delta("Fi"), _delta("ne."), _delta(None, "stop"), COUNTED)
    answer, _ = ask(lambda *_: stream)
    assert (answer.text, answer.model, answer.finish, answer.usage) == ("Fine.", "served-1", "stop", Usage(11, 7))
    crlf = Response(body=stream.body.replace(b"\n", b"\r\n"))
    assert ask(lambda *_: crlf)[0].text == "Fine."


def test_a_stream_says_how_its_answer_ended() -> None:
    assert ask(lambda *_: _events(_delta("Fi"), _delta(None, "length")))[0].finish == "length"
    assert ask(lambda *_: _events(_delta(None, refusal="I "), _delta(None, "stop", refusal="won't")))[0] == ModelAnswer(
        "I won't",
        "served-1",
        "refusal",
        raw=_events(_delta(None, refusal="I "), _delta(None, "stop", refusal="won't")).body.decode(),
    )
    assert (
        ask(lambda *_: _events(_delta("Fine."), _delta(None, "stop", tool_calls=[{"index": 0}])))[0].finish == "other"
    )


@pytest.mark.parametrize(
    ("stream", "kind"),
    {
        "without its end": (_events(_delta('{"verdict": "PASS"}'), end=b""), "network"),
        "cut in an event": (Response(body=b'data: {"choices": [{"delta": {"content": "a"}, "fini'), "malformed"),
        "an error in an event": (_events(_delta("a"), {"error": {"message": "died", "code": 502}}), "server"),
        "two choices": (_events({"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}), "malformed"),
        "another choice": (_events(_delta("a"), {"choices": [{"index": 1, "delta": {"content": "b"}}]}), "malformed"),
        "text after the end": (_events(_delta("a", "stop"), _delta("b", "stop")), "malformed"),
        "no object": (_events([1]), "malformed"),  # type: ignore[arg-type]
        "content of another type": (_events(_delta(["a"], "stop")), "malformed"),  # type: ignore[arg-type]
    }.values(),
)
def test_a_stream_that_is_not_one_whole_answer_is_a_failure(stream: Response, kind: str) -> None:
    assert failure(stream).kind == kind


def test_a_server_that_only_streams_is_asked_for_a_stream() -> None:
    def answer(body: dict[str, Any], _: int) -> Response:
        said = {"error": {"message": "This model only supports stream mode, please enable the stream parameter."}}
        return (
            _events(_delta("Fine.", "stop"), COUNTED)
            if body.get("stream")
            else Response(400, json.dumps(said).encode())
        )

    with model_server(answer) as server:
        model = HttpModel("openai", "m", server.base, None)

        async def twice() -> ModelAnswer:
            await model.answer(CALL)
            return await model.answer(CALL)

        assert _run(model, twice).text == "Fine."
    assert [request.get("stream") for request in server.requests] == [None, True, True]


def test_a_parameter_that_a_server_refuses_by_name_is_not_sent_again() -> None:
    def answer(body: dict[str, Any], _: int) -> Response:
        refused = next((name for name in ("max_tokens", "temperature", "response_format") if name in body), None)
        said = {"error": {"message": f"Unsupported parameter: '{refused}'", "param": refused}}
        return Response(400, json.dumps(said).encode()) if refused else chat("Fine.")

    call = ModelCall(CALL.messages, 400, 0.3, SCHEMA)
    with model_server(answer) as server:
        model = HttpModel("openai", "gpt-4o", server.base, None)

        async def twice() -> ModelAnswer:
            await model.answer(call)
            return await model.answer(call)

        assert _run(model, twice).text == "Fine."
    assert len(server.requests) == 5
    assert server.requests[-1] == server.requests[-2]
    assert server.requests[-1].keys() == {"path", "model", "messages", "max_completion_tokens"}
    assert server.requests[-1]["max_completion_tokens"] == 400


def test_a_server_that_refuses_every_request_for_the_same_parameter_is_asked_twice() -> None:
    said = Response(400, b'{"error": {"message": "no", "param": "temperature"}}')
    with model_server(lambda *_: said) as server:
        model = HttpModel("openai", "m", server.base, None)
        with pytest.raises(CallFailure):
            _run(model, lambda: model.answer(ModelCall(CALL.messages, 400, 0.3)))
    assert len(server.requests) == 2


def test_a_refusal_of_the_stream_is_a_failure_like_any_other() -> None:
    said = Response(400, b'{"error": {"message": "stream is wrong"}}')
    with pytest.raises(CallFailure) as found:
        ask(lambda *_: said)
    assert found.value.kind == "rejected"


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
        answer = _run(model, lambda: model.answer(CALL))
    assert (server.headers[0]["x-team-key"], server.headers[0]["api-version"]) == ("abcdefghijkl:m", "2")
    assert "abcdef" not in f"{answer} {model.identity}"


@pytest.mark.parametrize("headers", ["secret", ": secret", "X Y: secret", "X-Y: secr\u00e9t", "X-Y:", "Host: secret"])
def test_a_header_that_can_not_be_sent_is_refused_without_showing_it(
    headers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_HEADERS", headers)
    with pytest.raises(ModelError, match="`RULEWRIGHT_HEADERS`") as caught:
        open_model("openai:m@http://127.0.0.1:9/v1")
    assert "secr" not in str(caught.value)


def test_headers_of_a_gateway_are_not_sent_to_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_HEADERS", "X-Team-Key: secret")
    with model_server(lambda *_: chat("x")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base)
        model = open_model("openai:m")
        assert isinstance(model, HttpModel)
        _run(model, lambda: model.answer(CALL))
    assert "x-team-key" not in server.headers[0]


def test_fields_of_a_request_are_sent_and_are_part_of_the_identity() -> None:
    added = 'reasoning_effort=low&seed=7&chat_template_kwargs={"enable_thinking": false, "a&b": "c&d"}'
    with model_server(lambda *_: chat("x")) as server:
        model = open_model(f"openai:m@{server.base}#{added}")
        assert isinstance(model, HttpModel)
        _run(model, lambda: model.answer(CALL))
        plain, other = (open_model(f"openai:m@{server.base}{end}") for end in ("", "#seed=8"))
    sent = server.requests[0]
    assert (sent["model"], sent["reasoning_effort"], sent["seed"]) == ("m", "low", 7)
    assert sent["chat_template_kwargs"] == {"enable_thinking": False, "a&b": "c&d"}
    assert (model.identity.model, model.identity.endpoint) == (plain.identity.model, plain.identity.endpoint)
    assert len({request_key(each.identity, CallRequest(CALL)) for each in (model, plain, other)}) == 3
    assert '"reasoning_effort":"low"' in model.identity.wrapper


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        ("seed", "`seed` is not a field of a request; expected `NAME=VALUE`"),
        ("=7", "`=7` is not a field of a request"),
        ("seed=7&seed=8", "each name once"),
        ("messages=[]", "`messages` can't be added to a request"),
        ("max_tokens=9", "`max_tokens` can't be added to a request"),
        ('extra={"a": 1, "a": 2}', "the field `extra` of a request is not JSON"),
        ("extra={a: 1}", "the field `extra` of a request is not JSON"),
    ],
)
def test_a_field_that_can_not_be_added_to_requests_is_refused(added: str, reason: str) -> None:
    with pytest.raises(ModelError) as caught:
        open_model(f"openai:m@http://127.0.0.1:9/v1#{added}")
    assert reason in str(caught.value)


def test_a_compressed_answer_is_read() -> None:
    whole = chat("Fine.")
    answer, _ = ask(lambda *_: Response(body=gzip.compress(whole.body), headers={"Content-Encoding": "gzip"}))
    assert answer.text == "Fine."


def test_a_small_response_that_holds_a_large_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY", 2**20)
    bomb = gzip.compress(b" " * 2**24)
    found = failure(Response(body=bomb, headers={"Content-Encoding": "gzip"}))
    assert found.kind == "malformed"
    assert "more than" in str(found)


@pytest.mark.parametrize(
    ("error", "scheme", "said"),
    [
        ("", "http", "the connection was closed; an address with TLS begins with `https://`"),
        ("", "https", "the connection was closed"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] own", "https", "own; the environment variable `SSL_CERT_FILE` names"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong", "https", "wrong; an address without TLS begins with `http://`"),
        ("All connection attempts failed", "http", "All connection attempts failed"),
    ],
)
def test_an_error_of_the_connection_says_what_to_do(error: str, scheme: str, said: str) -> None:
    told = http.why_unreachable(OSError(error), f"{scheme}://models.example/v1")
    assert said in told
    assert told.count("://") <= 1
    assert "https://" not in told or scheme == "http"


def test_a_connection_dropped_mid_body_is_a_network_failure() -> None:
    whole = chat("Fine.")
    dropped = failure(Response(body=whole.body[:40], declared=len(whole.body)))
    assert dropped.kind == "network"
    assert "broke off its answer" in str(dropped)


def test_what_was_dropped_is_no_answer_also_where_it_reads_like_one() -> None:
    whole = chat('{"verdict": "PASS"}')
    assert failure(Response(body=whole.body, declared=len(whole.body) + 1)).kind == "network"


@pytest.mark.parametrize("missing", range(1, 30))
def test_a_compressed_answer_without_its_end_or_with_another_checksum_is_no_answer(missing: int) -> None:
    packed = gzip.compress(chat('{"verdict": "PASS"}').body)
    cut = Response(body=packed[:-missing], headers={"Content-Encoding": "gzip"})
    assert failure(cut).kind == "network"
    forged = packed[:-8] + bytes(byte ^ missing for byte in packed[-8:])
    assert failure(Response(body=forged, headers={"Content-Encoding": "gzip"})).kind == "malformed"


@pytest.mark.parametrize("length", [1, 12, 21])
def test_what_follows_the_end_of_a_compressed_answer_is_refused(length: int) -> None:
    packed = gzip.compress(chat('{"verdict": "PASS"}').body) + gzip.compress(b" ", mtime=0)[:length]
    assert failure(Response(body=packed, headers={"Content-Encoding": "gzip"})).kind == "malformed"


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd"])
def test_a_compression_that_was_not_asked_for_is_refused(encoding: str) -> None:
    found = failure(Response(body=chat("Fine.").body, headers={"Content-Encoding": encoding}))
    assert (found.kind, f"`{encoding}`" in str(found)) == ("malformed", True)


def test_an_answer_is_read_whatever_its_content_type_says() -> None:
    answer, _ = ask(lambda *_: Response(body=chat("Fine.").body, headers={"Content-Type": "text/html"}))
    assert answer.text == "Fine."


@pytest.mark.parametrize(("status", "kind"), [(404, "denied"), (429, "limited"), (502, "server")])
def test_an_error_page_is_told_by_its_status(status: int, kind: str) -> None:
    page = b"<html><h1>Sorry</h1> The upstream is <b>PASS</b>ing away.</html>"
    found = failure(Response(status, page, {"Content-Type": "text/html"}))
    assert (found.kind, found.raw) == (kind, page.decode())


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed", "denied"),
        ("[SSL: WRONG_VERSION_NUMBER]", "denied"),
        ("", "network"),
    ],
)
def test_an_error_of_tls_that_waiting_does_not_cure_ends_the_run(
    reason: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise httpx2.ConnectError(reason)

    monkeypatch.setattr(httpx2.AsyncClient, "stream", refuse)
    model = HttpModel("openai", "m", "https://127.0.0.1:9/v1", None)
    with pytest.raises(CallFailure) as found:
        _run(model, lambda: model.answer(CALL))
    assert found.value.kind == kind


def test_an_endpoint_that_is_not_there_is_a_network_failure() -> None:
    with model_server(lambda *_: chat("x")) as server:
        base = server.base
    model = HttpModel("openai", "m", base, None)
    with pytest.raises(CallFailure) as caught:
        _run(model, lambda: model.answer(CALL))
    assert caught.value.kind == "network"


@pytest.mark.parametrize("response", [Response(hangs=True), Response(body=chat("x").body, trickle=0.05)])
def test_a_call_that_hangs_can_be_cancelled(response: Response) -> None:
    with model_server(lambda *_: response) as server:
        model = HttpModel("openai", "m", server.base, None)

        async def cancelled() -> bool:
            with anyio.move_on_after(0.2) as scope:
                await model.answer(CALL)
            await model.aclose()
            return scope.cancelled_caught

        assert anyio.run(cancelled)


def test_silence_ends_in_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT", 0.2)
    assert failure(Response(hangs=True)).kind == "timeout"


def test_a_redirect_is_not_followed_for_a_key_would_follow_it() -> None:
    with model_server(lambda *_: chat("x")) as elsewhere:
        moved = Response(307, b"", {"Location": f"{elsewhere.base}/chat/completions"})
        assert failure(moved, key="secret").kind == "denied"
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("status", "location", "said"),
    [
        (307, "https://elsewhere.test/v2/chat?token=1", "redirects to https://elsewhere.test/v2/chat, and redirects"),
        (301, "https://me:secret@elsewhere.test/", "redirects, and redirects are not followed: name the final address"),
        (302, "/login", "redirects, and"),
        (404, "", "/v1/chat/completions"),
    ],
)
def test_a_wrong_address_is_told(status: int, location: str, said: str) -> None:
    found = str(failure(Response(status, b"", {"Location": location})))
    assert said in found
    assert "secret" not in found
    assert "token" not in found


@pytest.mark.parametrize(
    ("path", "said"), [("", "ends in `/v1`: `{}/v1`)"), ("/v1/chat/completions", "ends before `/chat/completions`")]
)
def test_a_base_url_with_too_little_or_too_much_is_told(path: str, said: str) -> None:
    with model_server(lambda *_: Response(404, b'{"detail": "Not Found"}')) as server:
        root = server.base.removesuffix("/v1")
        model = open_model(f"openai:m@{root}{path}")
        assert isinstance(model, HttpModel)
        with pytest.raises(CallFailure) as raised:
            _run(model, lambda: model.answer(CALL))
    assert said.format(root) in str(raised.value)


def test_a_key_goes_only_to_the_host_it_was_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "RULEWRIGHT_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    with model_server(lambda *_: chat("x")) as server:

        def sent() -> str | None:
            model = open_model(f"openai:m@{server.base}")
            assert isinstance(model, HttpModel)
            _run(model, lambda: model.answer(CALL))
            return server.headers[-1].get("authorization")

        assert sent() is None
        monkeypatch.setenv("RULEWRIGHT_API_KEY", "theirs")
        assert sent() == "Bearer theirs"
        monkeypatch.setenv("RULEWRIGHT_API_KEY", " theirs\n")
        assert sent() == "Bearer theirs"
        monkeypatch.setenv("OPENAI_BASE_URL", server.base)
        assert sent() == "Bearer mine"


@pytest.mark.parametrize(
    ("specification", "reason"),
    [
        ("gpt-5", "unknown model `gpt-5`; did you mean `openai:gpt-5`? expected one of `openai:MODEL"),
        ("OpenAI:gpt-5", "did you mean `openai:gpt-5`?"),
        ("open-ai:m@http://localhost:1/v1", "did you mean `openai:m@http://localhost:1/v1`?"),
        ("llama.gguf", "did you mean `local:llama.gguf`?"),
        ("ollama:qwen3:8b", "did you mean `openai:qwen3:8b@http://127.0.0.1:11434/v1`?"),
        ("LM Studio:m", "did you mean `openai:m@http://127.0.0.1:1234/v1`?"),
        ("together_ai:org/m", "did you mean `openai:org/m@https://api.together.xyz/v1`?"),
        ("xai:m", "did you mean `openai:m@https://api.x.ai/v1`?"),
        ("own:m", "a server with OpenAI's interface is `openai:m@http://HOST:PORT/v1`"),
        ("ollama:llama3@http://localhost:1", "did you mean `openai:llama3@http://localhost:1/v1`?"),
        ("vllm:org/m:7b@http://localhost:1/v1", "did you mean `openai:org/m:7b@http://localhost:1/v1`?"),
        ("qwen3:8b@http://localhost:1/v1", "did you mean `openai:qwen3:8b@http://localhost:1/v1`?"),
        ("llama3@http://localhost:1/v1", "did you mean `openai:llama3@http://localhost:1/v1`?"),
        ("http://localhost:1/v1", "did you mean `openai:MODEL@http://localhost:1/v1`?"),
        ("openai:", "unknown model `openai:`"),
        ("openai:m@http://u:p@host/v1", "a base URL holds no user"),
        ("openai:m@http://host/v1?key=1", "a base URL holds no user"),
        ("openai:m@http://", "is not a base URL"),
        ("openai:m@http://host:8o00/v1", "is not a base URL"),
        ("openai:m@http://[::1/v1", "is not a base URL"),
        ("openai:@http://host/v1", "names no model"),
        ("openai:gpt-5", "needs a key in the environment variable `OPENAI_API_KEY`"),
        ("openai:m@localhost:8000/v1", "an address begins with its scheme: `m@http://localhost:8000/v1`"),
        ("anthropic:claude-x", "needs a key in the environment variable `ANTHROPIC_API_KEY`"),
        ("python:os", "names no callable"),
        ("python:os:no_such", "can't be imported"),
        ("python:os:sep", "is not callable"),
        ("command:", "unknown model `command:`"),
        ("command:'", "can't be split"),
        ("local:none.gguf", "names no file"),
    ],
)
def test_a_model_that_cannot_be_opened_is_refused_in_words(
    specification: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError) as caught:
        open_model(specification)
    assert reason in str(caught.value)


def test_a_key_that_an_error_repeats_is_not_kept() -> None:
    echo = b'{"error": {"message": "invalid key sk-0123456789 given", "header": "Bearer sk-0123456789"}}'
    for status in (200, 401):
        found = failure(Response(status, echo), key="sk-0123456789")
        assert "0123" not in f"{found} {found.raw}"
        assert "invalid key [key] given" in str(found)
    answer, _ = ask(lambda *_: chat("You sent sk-0123456789."), key="sk-0123456789")
    assert (answer.text, "0123" in answer.raw) == ("You sent [key].", False)
    assert ask(lambda *_: chat("none of it"), key="none")[0].text == "none of it"


@pytest.mark.parametrize("key", ["secret\nX-Other: 1", "secr\u00e9t", "secret\u200b", "secret key", "secret\x7f"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_API_KEY", key)
    with pytest.raises(ModelError) as caught:
        open_model("openai:m@http://127.0.0.1:9/v1")
    assert "`RULEWRIGHT_API_KEY`" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_identity_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    model = open_model("openai:gpt-5")
    assert "mine" not in repr(model.identity)
    assert model.host == "api.openai.com"
