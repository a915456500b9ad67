"""Models behind HTTP: OpenAI-compatible servers and Anthropic's API."""

from __future__ import annotations

import os
import re
import ssl
import zlib
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache
from time import time
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies

import httpx2
import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.english import reason_of
from rulewright_runtime.models import ModelError, event_stream, web_address
from rulewright_runtime.models.call import CallFailure, Identity, ModelAnswer, ModelCall
from rulewright_runtime.models.capabilities import Capabilities, capabilities_of
from rulewright_runtime.models.wire import WIRES, ChatCompletions, Messages, decode_body, response_failure
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject

WRAPPER: Final = "1"  # raised whenever requests to the same model change
BASES: Final = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
BASE_VARIABLES: Final = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}
KEY_VARIABLES: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
OTHER_KEY: Final = "RULEWRIGHT_API_KEY"  # for servers given as @BASE_URL
OTHER_HEADERS: Final = "RULEWRIGHT_HEADERS"  # likewise
# What Rulewright itself decides in a request.
OUR_FIELDS: Final = frozenset({
    "max_completion_tokens", "max_tokens", "messages", "model", "n", "output_config", "response_format", "stream",
    "stream_options", "system", "temperature", "tool_choice", "tools",
})  # fmt: skip
OUR_HEADERS: Final = frozenset({"accept-encoding", "content-length", "content-type", "host", "transfer-encoding"})
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FIELD: Final = re.compile(r"[A-Za-z_]\w*")
_HEADER_VALUE: Final = re.compile(r"[ -~]+")
SHORTEST_KEY: Final = 12  # characters
MAX_BODY: Final = 2**24  # bytes of a response, after decompression
TIMEOUT: Final = httpx2.Timeout(None, connect=10.0)  # seconds; the caller limits the whole call
GZIP: Final = 16 + zlib.MAX_WBITS  # the window bits by which zlib expects the gzip format
LOCAL: Final = frozenset({"127.0.0.1", "::1", "localhost"})


# What to do about an error of TLS that waiting does not cure, by its name in the error's text.
_TLS: Final = {
    "CERTIFICATE_VERIFY_FAILED": "; the environment variable `SSL_CERT_FILE` names a file of certificates to trust",
    "WRONG_VERSION_NUMBER": "; an address without TLS begins with `http://`",
}


def why_unreachable(error: Exception, url: str) -> str:
    """Return the reason of an error of the connection to `url`, and what to do."""
    reason = str(error)
    if not reason:
        may_need_tls = url.startswith("http:")
        return "the connection was closed" + "; an address with TLS begins with `https://`" * may_need_tls
    return reason + next((cure for name, cure in _TLS.items() if name in reason), "")


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates that are trusted here: reading them takes longer than a call. Raises ModelError."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        named = f"`{os.environ.get('SSL_CERT_FILE', '')}`, which `SSL_CERT_FILE` names,"
        raise ModelError(f"the file of certificates {named} can't be read: {reason_of(error)}") from None


def client_for(url: str, headers: Mapping[str, str], timeout: httpx2.Timeout | None) -> httpx2.AsyncClient:
    """Return a client for one address, which follows no redirect. What is sent to this machine passes no proxy.

    Raises ModelError if the certificates or the proxy that the environment names can't be used.
    """
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    is_elsewhere = urlsplit(url).hostname not in LOCAL
    verified = _certificates()
    try:
        client = httpx2.AsyncClient(
            headers=headers,
            timeout=timeout,
            limits=limits,
            follow_redirects=False,
            verify=verified,
            trust_env=is_elsewhere,
        )
        proxies = getproxies() if is_elsewhere else {}
        for proxy in filter(None, map(proxies.get, ("http", "https", "all"))):
            _ = urlsplit(proxy if "://" in proxy else f"http://{proxy}").port  # which the library does not check
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise ModelError(f"the proxy that the environment names can't be used: {error}") from None
    return client


def _in_json(char: str) -> str:
    """The pattern of a character, which JSON may escape."""
    return rf"(?:\\?{re.escape(char)}|\\u{ord(char):04x})"


class HttpModel:
    """A model behind an HTTP endpoint."""

    def __init__(
        self,
        provider: str,
        model: str,
        base: str,
        key: str | None,
        capabilities: Capabilities | None = None,
        headers: Mapping[str, str] | None = None,
        fields: JsonMapping | None = None,
    ) -> None:
        """`base` is the endpoint's base URL; the key and the headers are sent only there and stored nowhere else. The
        `fields` are part of every request and of the model's identity. Raises what `client_for` raises."""
        headers, self._fields = headers or {}, fields or {}
        self._wire = WIRES[provider]
        self._model = model
        self._refused: frozenset[str] = frozenset()  # what the endpoint does not accept in a request
        values = [key or "", *headers.values()]
        values += [value.partition(" ")[2].strip() for value in values]  # a header may hold `Bearer KEY`
        secrets = [value for value in values if len(value) >= SHORTEST_KEY]
        self._secrets = [re.compile("".join(map(_in_json, secret)), re.IGNORECASE) for secret in secrets]
        self.capabilities = capabilities or capabilities_of(provider, model)
        self.host = "" if urlsplit(base).hostname in LOCAL else str(urlsplit(base).hostname)
        added = msgspec.json.encode(self._fields, order="deterministic").decode()
        wrapper = f"{WRAPPER} {added}" if self._fields else WRAPPER
        self.identity = Identity(provider, model, base, self._wire.version, wrapper)
        self._url = base.rstrip("/") + self._wire.path
        variable = _key_variable(provider, base)
        others = f"; other headers belong in `{OTHER_HEADERS}`, as `Name: value`" * (variable == OTHER_KEY)
        self._key_hint = f"; {f'the key in `{variable}` is refused' if key else f'`{variable}` is not set'}{others}"
        sent = httpx2.Headers({**self._wire.headers(key), "Accept-Encoding": "gzip"})
        sent.update(headers)
        self._client = client_for(base, sent, TIMEOUT)

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the endpoint's answer. Raises CallFailure for any other response, and without one."""
        body = {**self._fields, **self._wire.body(self._model, call, self.capabilities)}
        refused = self._refused
        while True:
            try:
                answer = await self._answer(self._wire.without(body, refused))
            except CallFailure as failure:
                part = self._wire.refused_part(failure)
                if part is None or part in refused:
                    raise
                refused |= {part}
            else:
                self._refused = refused
                return answer

    async def _answer(self, body: JsonObject) -> ModelAnswer:
        """The answer or failure without the key, which some servers and proxies repeat."""
        try:
            answer = await self._sent(body)
        except CallFailure as failure:
            raise failure.rewritten(self._without_key, self._without_key) from None
        texts = {key: self._without_key(getattr(answer, key)) for key in ("text", "model", "raw")}
        return msgspec.structs.replace(answer, **texts)

    async def _sent(self, body: JsonObject) -> ModelAnswer:
        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                body_text = (await read_body(response, MAX_BODY)).decode("utf-8", "surrogateescape")
        except httpx2.TimeoutException as error:
            raise CallFailure(f"the endpoint did not answer in time ({type(error).__name__})", "timeout") from None
        except httpx2.RemoteProtocolError as error:
            raise CallFailure(f"{self.identity.endpoint} interrupted its answer: {error}", "network") from None
        except (httpx2.TransportError, httpx2.StreamError) as error:
            reason = f"{self.identity.endpoint} can't be reached: {why_unreachable(error, self._url)}"
            raise CallFailure(reason, "denied" if any(name in reason for name in _TLS) else "network") from None
        data = self._without_key(body_text).encode("utf-8", "surrogateescape")  # before a message is cut within the key
        if response.status_code != 200:
            hint = self._key_hint if response.status_code == 401 else ""
            hint = hint or _hint(response.status_code, response.headers.get("Location"), self._url)
            raise response_failure(response.status_code, data, _retry_after(response.headers), hint)
        raw = data.decode("utf-8", "replace")
        is_joined = self._wire.may_stream and event_stream.is_stream(raw)
        return self._wire.answer(event_stream.joined(raw) if is_joined else decode_body(data), raw)

    def _without_key(self, text: str) -> str:
        """A text without the key; shorter ones are words or placeholders such as `none`."""
        for secret in self._secrets:
            text = secret.sub("[key]", text)
        return text

    async def aclose(self) -> None:
        await self._client.aclose()


def open_model(provider: str, rest: str) -> HttpModel:
    """Open the model `MODEL[@BASE_URL][#NAME=VALUE&...]`, or the one in a file. Raises ModelError for an invalid base
    URL or field, for a missing key and for a missing file.

    A key is sent only to its own host: `OPENAI_API_KEY` to OpenAI and to `OPENAI_BASE_URL`, `RULEWRIGHT_API_KEY`, if
    set, to a server given as `@BASE_URL`.
    """
    rest, _, added = rest.partition("#")
    model, scheme, base = rest.partition("@http")
    base = _base(scheme[1:] + base) if scheme else _configured(provider)
    if not model:
        raise ModelError(f"`{provider}:{rest}` names no model; expected `{provider}:MODEL[@BASE_URL]`")
    variable = _key_variable(provider, base)
    key = (os.environ.get(variable) or "").strip() or None
    if key is not None and not all("!" <= char <= "~" for char in key):
        raise ModelError(f"the key in `{variable}` contains a space, a line break or a non-ASCII letter; copy it again")
    if key is None and base == BASES[provider]:
        raise ModelError(f"`{provider}:{model}` needs a key in the environment variable `{variable}`")
    headers = _headers() if variable == OTHER_KEY else None
    return HttpModel(provider, model, base, key, headers=headers, fields=_fields(added))


def _fields(added: str) -> JsonObject:
    """The fields `NAME=VALUE&...` of every request. A value is JSON, or else a text. Raises ModelError."""
    fields: JsonObject = {}
    for part in filter(None, re.split(r"&(?=\w+=)", added)):
        name, equals, value = part.partition("=")
        if not _FIELD.fullmatch(name) or not equals or name in fields:
            raise ModelError(f"`{part}` is not a field of a request; expected `NAME=VALUE`, each name once")
        if name in OUR_FIELDS:
            raise ModelError(f"`{name}` can't be added to a request, because Rulewright sets it")
        fields[name] = _value(name, value)
    return fields


def _value(name: str, text: str) -> Json:
    try:
        return strict_json.decode(text.encode())
    except strict_json.UNDECODED as error:
        if text.startswith(("{", "[", '"')):
            raise ModelError(f"the field `{name}` of a request is not JSON: {error}") from None
        return text


def _headers() -> dict[str, str]:
    """The headers in the environment for a server given as `@BASE_URL`, one `Name: value` per line."""
    headers = {}
    for line in filter(None, map(str.strip, (os.environ.get(OTHER_HEADERS) or "").splitlines())):
        name, _, value = (part.strip() for part in line.partition(":"))
        if not _HEADER.fullmatch(name) or name.lower() in OUR_HEADERS or not _HEADER_VALUE.fullmatch(value):
            raise ModelError(
                f"`{OTHER_HEADERS}` contains a line that can't be added as a header; expected `Name: value`"
            )
        headers[name] = value
    return headers


def _configured(provider: str) -> str:
    return _base(os.environ.get(BASE_VARIABLES[provider]) or BASES[provider])


def _key_variable(provider: str, base: str) -> str:
    """Return the variable with the key for the endpoint at `base`."""
    return KEY_VARIABLES[provider] if base in (_configured(provider), BASES[provider]) else OTHER_KEY


def _base(url: str) -> str:
    parts = web_address(url)
    if parts is None:
        raise ModelError(f"`{url}` is not a base URL; expected `http://HOST:PORT/v1` or `https://...`")
    if parts.username or parts.password or parts.query:
        azure = "; that of Azure is `https://RESOURCE.openai.azure.com/openai/v1`" * ("api-version=" in parts.query)
        raise ModelError(
            f"a base URL must not contain a user, password or query; keys are read from the environment{azure}"
        )
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


async def read_body(response: httpx2.Response, most: int) -> bytes:
    """Return the decompressed body. Raises CallFailure above `most` bytes: a small response may expand to a large one.

    A compressed body must be complete with its checksum, which the library does not check: a truncated one can look
    like an answer.
    """
    encoding = response.headers.get("Content-Encoding", "identity").strip()
    if encoding.lower() not in ("identity", "gzip"):
        raise CallFailure(f"the response is compressed by `{encoding}`, and only gzip was asked for", "malformed")
    decompressor = zlib.decompressobj(GZIP) if encoding.lower() == "gzip" else None
    data = bytearray()
    try:
        async for part in response.aiter_raw():
            data += part if decompressor is None else decompressor.decompress(part, most + 1 - len(data))
            if len(data) > most:
                raise CallFailure(f"the response has more than {most} bytes", "malformed")
    except zlib.error as error:
        raise CallFailure(f"the response can't be decompressed: {error}", "malformed") from None
    if decompressor is not None and not decompressor.eof:
        raise CallFailure("the compressed response ends early", "network")
    if decompressor is not None and decompressor.unused_data:
        raise CallFailure("the compressed response has data after its end", "malformed")
    return bytes(data)


def _hint(status: int, location: str | None, url: str) -> str:
    """What a status says about the address that was asked; empty for most."""
    if status == 404:
        for path, repeated in ((ChatCompletions.path, ChatCompletions.path), (Messages.path, "/v1")):
            if url.endswith((path * 2, repeated + path)):
                return f"; asked: {url}, but a base URL ends before `{path}`"
        base = url.removesuffix(ChatCompletions.path)
        is_bare = base != url and not urlsplit(base).path
        if base == url or is_bare:
            return f"; asked: {url}" + f" (the base URL of most servers ends in `/v1`: `{base}/v1`)" * is_bare
        return f"; asked: {url} (most servers list their models at {base}/models)"
    return redirect_hint(status, location, url)


def redirect_hint(status: int, location: str | None, url: str) -> str:
    """Return what a status says about a redirect, and what to do; empty for any other status."""
    if not 300 <= status < 400:
        return ""
    where = ""
    with suppress(ValueError):  # half of an IPv6 address
        target = urlsplit(location or "")._replace(query="", fragment="")
        where = f" to {target.geturl()}" if target.hostname and not target.username else ""
    return f"; {url} redirects{where}, and redirects are not followed: name the final address"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, from `Retry-After` (seconds, or a date by the server's clock) or
    `retry-after-ms`; else None."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdecimal():
            return float(value)
        now = parsedate_to_datetime(headers["date"]).timestamp() if "date" in headers else time()
        return max(parsedate_to_datetime(value).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError):
        return None
