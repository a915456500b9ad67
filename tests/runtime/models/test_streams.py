"""Answers that arrive as a stream, and parameters that a server refuses by name."""

import json
from time import process_time
from typing import Any

import pytest
from tests.model_server import Response, chat, model_server
from tests.runtime.models.asking import CALL, SCHEMA, ask, failure, run

from rulewright_runtime.models.call import (
    CallFailure,
    ModelAnswer,
    ModelCall,
    Usage,
)
from rulewright_runtime.models.event_stream import joined
from rulewright_runtime.models.http import HttpModel


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


def test_an_event_ends_at_a_line_feed_or_carriage_return_only() -> None:
    event = json.dumps(_delta("one\u2028two\x85three", "stop"), ensure_ascii=False).encode()
    assert ask(lambda *_: Response(body=b"data: " + event + b"\n\n"))[0].text == "one\u2028two\x85three"


def test_a_stream_of_many_pieces_is_joined_in_linear_time() -> None:
    stream = _events(_delta("a" * 5_000_000), *[_delta("b")] * 20_000, _delta(None, "stop"))
    began = process_time()
    answer = joined(stream.body.decode())
    assert process_time() - began < 4
    assert answer["choices"][0]["message"]["content"] == "a" * 5_000_000 + "b" * 20_000


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
        "an event that is an error": (
            _events(_delta("a"), {"object": "error", "message": "died", "code": 503}),
            "server",
        ),
        "an error before the answer goes on": (
            _events(_delta("a"), {"object": "error", "message": "died"}, _delta("b", "stop")),
            "server",
        ),
        "an error after the end": (_events(_delta("a", "stop"), {"object": "error", "message": "died"}), "server"),
        "an event of the type error": (
            Response(
                body=_events(_delta("a"), end=b"event: error\ndata: {}\n\n").body + _events(_delta("b", "stop")).body
            ),
            "server",
        ),
        "two choices": (_events({"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}), "malformed"),
        "another choice": (_events(_delta("a"), {"choices": [{"index": 1, "delta": {"content": "b"}}]}), "malformed"),
        "text after the end": (_events(_delta("a", "stop"), _delta("b", "stop")), "malformed"),
        "another end": (_events(_delta("a", "length"), _delta(None, "stop")), "malformed"),
        "an error in a choice": (
            _events({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop", "error": {"message": "died"}}]}),
            "server",
        ),
        "no object": (_events([1]), "malformed"),  # type: ignore[arg-type]
        "content of another type": (_events(_delta(["a"], "stop")), "malformed"),  # type: ignore[arg-type]
    }.values(),
)
def test_a_stream_that_is_not_one_whole_answer_is_a_failure(stream: Response, kind: str) -> None:
    assert failure(stream).kind == kind


def test_an_event_that_is_an_error_says_why() -> None:
    error = {"object": "error", "message": "The model is overloaded.", "code": 429}
    found = failure(_events(error))
    assert (found.kind, str(found)) == ("limited", "the endpoint answered an error: The model is overloaded.")
    typed = Response(body=b'event: error\ndata: {"message": "Too busy."}\n\n')
    assert str(failure(typed)) == "the endpoint answered an error: Too busy."


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

        assert run(model, twice).text == "Fine."
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

        assert run(model, twice).text == "Fine."
    assert len(server.requests) == 5
    assert server.requests[-1] == server.requests[-2]
    assert server.requests[-1].keys() == {"path", "model", "messages", "max_completion_tokens"}
    assert server.requests[-1]["max_completion_tokens"] == 400


def test_a_server_that_refuses_every_request_for_the_same_parameter_is_asked_twice() -> None:
    said = Response(400, b'{"error": {"message": "no", "param": "temperature"}}')
    with model_server(lambda *_: said) as server:
        model = HttpModel("openai", "m", server.base, None)
        with pytest.raises(CallFailure):
            run(model, lambda: model.answer(ModelCall(CALL.messages, 400, 0.3)))
    assert len(server.requests) == 2


def test_a_refusal_of_the_stream_is_a_failure_like_any_other() -> None:
    said = Response(400, b'{"error": {"message": "stream is wrong"}}')
    with pytest.raises(CallFailure) as found:
        ask(lambda *_: said)
    assert found.value.kind == "rejected"
