"""The connection to a model: compression, errors, timeouts, redirects and keys."""

import gzip
import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.model_server import Response, chat, model_server
from tests.runtime.models.asking import CALL, ask, failure, run

from rulewright_runtime.models import ModelError, http, open_model
from rulewright_runtime.models.call import (
    CallFailure,
)
from rulewright_runtime.models.http import HttpModel


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
    assert "interrupted its answer" in str(dropped)


def test_a_dropped_answer_is_not_used_even_if_it_looks_complete() -> None:
    whole = chat('{"verdict": "PASS"}')
    assert failure(Response(body=whole.body, declared=len(whole.body) + 1)).kind == "network"


@pytest.mark.parametrize("missing", range(1, 30))
def test_a_truncated_compressed_answer_or_one_with_a_wrong_checksum_is_refused(missing: int) -> None:
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
def test_an_error_page_is_recognized_by_its_status(status: int, kind: str) -> None:
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
def test_an_error_of_tls_that_waiting_does_not_cure_ends_therun(
    reason: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise httpx2.ConnectError(reason)

    monkeypatch.setattr(httpx2.AsyncClient, "stream", refuse)
    model = HttpModel("openai", "m", "https://127.0.0.1:9/v1", None)
    with pytest.raises(CallFailure) as found:
        run(model, lambda: model.answer(CALL))
    assert found.value.kind == kind


def test_an_endpoint_that_is_not_there_is_a_network_failure() -> None:
    with model_server(lambda *_: chat("x")) as server:
        base = server.base
    model = HttpModel("openai", "m", base, None)
    with pytest.raises(CallFailure) as caught:
        run(model, lambda: model.answer(CALL))
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
        (301, "http://[::1", "redirects, and"),
        (404, "", "/v1/chat/completions"),
    ],
)
def test_a_wrong_address_is_reported(status: int, location: str, said: str) -> None:
    found = str(failure(Response(status, b"", {"Location": location})))
    assert said in found
    assert "secret" not in found
    assert "token" not in found


@pytest.mark.parametrize(
    ("kind", "path", "said"),
    [
        ("openai", "", "ends in `/v1`: `{}/v1`)"),
        ("openai", "/v2", "list their models at {}/v2/models)"),
        ("openai", "/v1/chat/completions", "ends before `/chat/completions`"),
        ("anthropic", "/v1", "ends before `/v1/messages`"),
        ("anthropic", "/v1/messages", "ends before `/v1/messages`"),
        ("anthropic", "/proxy", "asked: {}/proxy/v1/messages"),
    ],
)
def test_a_base_url_with_too_little_or_too_much_is_reported(kind: str, path: str, said: str) -> None:
    with model_server(lambda *_: Response(404, b'{"detail": "Not Found"}')) as server:
        root = server.base.removesuffix("/v1")
        model = open_model(f"{kind}:m@{root}{path}")
        assert isinstance(model, HttpModel)
        with pytest.raises(CallFailure) as raised:
            run(model, lambda: model.answer(CALL))
    assert said.format(root) in str(raised.value)


def test_a_key_goes_only_to_the_host_it_was_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "RULEWRIGHT_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    with model_server(lambda *_: chat("x")) as server:

        def sent() -> str | None:
            model = open_model(f"openai:m@{server.base}")
            assert isinstance(model, HttpModel)
            run(model, lambda: model.answer(CALL))
            return server.headers[-1].get("authorization")

        assert sent() is None
        monkeypatch.setenv("RULEWRIGHT_API_KEY", "theirs")
        assert sent() == "Bearer theirs"
        monkeypatch.setenv("RULEWRIGHT_API_KEY", " theirs\n")
        assert sent() == "Bearer theirs"
        monkeypatch.setenv("OPENAI_BASE_URL", server.base)
        assert sent() == "Bearer mine"


def test_a_key_that_an_error_repeats_is_not_kept() -> None:
    echo = b'{"error": {"message": "invalid key sk-0123456789 given", "header": "Bearer sk-0123456789"}}'
    for status in (200, 401):
        found = failure(Response(status, echo), key="sk-0123456789")
        assert "0123" not in f"{found} {found.raw}"
        assert "invalid key [key] given" in str(found)
    answer, _ = ask(lambda *_: chat("You sent sk-0123456789."), key="sk-0123456789")
    assert (answer.text, "0123" in answer.raw) == ("You sent [key].", False)
    assert ask(lambda *_: chat("none of it"), key="none")[0].text == "none of it"


def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_what_is_sent_to_this_machine_passes_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    _without_proxies(monkeypatch)
    with model_server(lambda *_: chat("x")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base.removesuffix("/v1"))
        ask(lambda *_: chat("y"))
        assert proxy.requests == []
        model = HttpModel("openai", "m", "http://models.example/v1", None)
        assert run(model, lambda: model.answer(CALL)).text == "x"
        assert len(proxy.requests) == 1


@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1:1", "gopher://user:hidden@127.0.0.1:1", "127.0.0.1:99999"])
def test_a_proxy_that_can_not_be_used_is_reported(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_proxies(monkeypatch)
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(ModelError, match="the proxy that the environment names can't be used") as refused:
        open_model("openai:m@https://models.example/v1")
    assert "hidden" not in str(refused.value)


def test_certificates_that_can_not_be_read_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    http._certificates.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ModelError, match=r"none\.pem`, which `SSL_CERT_FILE` names, can't be read: no such file"):
        open_model("openai:m@https://models.example/v1")


_KEY = "sk-01234/56789"


@pytest.mark.parametrize(
    "response",
    [
        Response(302, b"", {"Location": f"https://elsewhere.test/{_KEY}"}),
        Response(headers={f"not a header {_KEY}": "x"}),
        Response(body=b"{}", headers={"Content-Encoding": _KEY}),
        Response(401, b'{"error": {"message": "invalid key sk-01234\\/56789"}}'),
        Response(401, b'{"error": {"message": "invalid key sk-\\u00301234\\u002f5\\u0036789"}}'),
        Response(401, b"not JSON: sk-\\u00301234\\u002F56789 " + b"x" * 400),
    ],
)
@pytest.mark.parametrize("given", [{"key": _KEY}, {"headers": {"Authorization": f"Bearer {_KEY}"}}])
def test_a_key_that_any_part_of_a_response_repeats_is_not_told(response: Response, given: dict[str, Any]) -> None:
    found = failure(response, **given)
    assert "01234" not in f"{found} {found.raw}"
    assert "[key]" in str(found)


def test_a_key_in_the_pieces_of_a_text_is_not_kept() -> None:
    pieces = [{"type": "text", "text": text} for text in ("You sent sk-012", "34/56789.")]
    message = {"choices": [{"message": {"content": pieces}, "finish_reason": "stop"}]}
    answer, _ = ask(lambda *_: Response(body=json.dumps(message).encode()), key=_KEY)
    assert answer.text == "You sent [key]."


def test_a_key_where_a_long_message_is_cut_is_not_told() -> None:
    message = f"{'x' * 290} {_KEY}"
    refused = json.dumps({"error": {"message": message}}).encode()
    for response in (Response(400, refused), Response(200, refused), Response(500, f"{'x' * 195}{_KEY}".encode())):
        assert "sk-0" not in str(failure(response, key=_KEY))


def test_the_words_of_a_header_are_kept_in_answers() -> None:
    headers = {"X-Title": "Customer satisfaction in conversations"}
    assert ask(lambda *_: chat("No satisfaction."), headers=headers)[0].text == "No satisfaction."
