"""A product behind HTTP, which keeps the conversation itself and receives one message at a time (experimental)."""

from __future__ import annotations

from typing import Final

import anyio
import httpx2
import msgspec
from anyio.from_thread import start_blocking_portal

from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256
from rulewright_runtime.harness.adapters import AdapterError, TurnRequest
from rulewright_runtime.models import web_address
from rulewright_runtime.models.call import WHOLE, CallFailure, ModelAnswer
from rulewright_runtime.models.event_stream import stated_error
from rulewright_runtime.models.http import client_for, read_body, redirect_hint, why_unreachable
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import finish_of

MAX_REPLY: Final = 2**20  # bytes of a product's answer
TIMEOUT: Final = 120.0  # seconds for a product's whole answer


class ProductAdapter:
    """Sends a POST `{conversation, session, turn, opens_session, context, message}`, answered by `{reply}`.

    `conversation` is a digest of the run and the scenario: new in every run, and without a name. A turn that is tried
    again, also by a resumed run, has the same `conversation`, `session` and `turn`, by which the product can recognise
    it. An answer may say in `finish_reason` that it is not whole, and must not hold tool calls. Redirects are not
    followed: the answer would be that of another product.
    """

    experimental = True
    keeps_conversations = True

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        """Send turns to `url`, and wait `timeout` seconds for each answer. Raises AdapterError unless it is an http or
        https address without user and password."""
        parts = web_address(url)
        if parts is None or parts.hostname is None:
            raise AdapterError(f"`{url}` is not a web address; expected `product-http:https://...`")
        if parts.username or parts.password:
            raise AdapterError("the address of a product must not contain a user or password")
        self.model = parts.hostname
        self.harness = f"product/{parts.hostname}"
        self._url, self._timeout = url, timeout
        self._shown = parts._replace(query="", fragment="").geturl()  # a query may hold a key

    def reply(self, request: TurnRequest) -> ModelAnswer:
        """Return the product's reply. Raises AdapterError without one."""
        body: JsonObject = {
            "conversation": sha256(f"{request.run} {request.conversation}".encode()).hexdigest()[:16],
            "session": request.session,
            "turn": request.turn,
            "opens_session": request.opens_session,
            "context": request.context,
            "message": request.messages[-1].content,
        }
        try:
            with start_blocking_portal() as portal:  # the caller's thread may have an event loop of its own
                answer = strict_json.decode(portal.call(self._answer, body), type=JsonObject)
        except TimeoutError:
            raise AdapterError(f"the product did not answer within {self._timeout:g} seconds") from None
        except httpx2.HTTPError as error:
            raise AdapterError(f"the product did not answer: {why_unreachable(error, self._url)}") from None
        except (CallFailure, httpx2.InvalidURL) as error:
            raise AdapterError(f"the product did not answer: {error}") from None
        except strict_json.UNDECODED as error:
            raise AdapterError(f"the product's answer is not a JSON object: {error}") from None
        if stated_error(answer):
            raise AdapterError("the product's answer is an error")
        reply = answer.get("reply")
        if not isinstance(reply, str):
            raise AdapterError("the product's answer has no text under `reply`")
        if calls := next((key for key in ("tool_calls", "function_call") if answer.get(key)), None):
            raise AdapterError(
                f"the product's answer has `{calls}`, which is not recorded; scan the product's own logs"
            )
        return ModelAnswer(reply, "", finish_of(answer) or WHOLE)

    async def _answer(self, body: JsonObject) -> bytes:
        """Return the body of a response of status 2xx. Raises AdapterError for any other status."""
        headers = {"Accept-Encoding": "gzip", "Content-Type": "application/json"}
        client = client_for(self._url, headers, None)
        with anyio.fail_after(self._timeout):
            async with client, client.stream("POST", self._url, content=msgspec.json.encode(body)) as response:
                if not response.is_success:
                    hint = redirect_hint(response.status_code, response.headers.get("Location"), self._shown)
                    raise AdapterError(f"the product answered {response.status_code}{hint}")
                return await read_body(response, MAX_REPLY)
