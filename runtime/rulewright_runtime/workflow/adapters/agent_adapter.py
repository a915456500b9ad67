"""The interface of adapters: the brief for an agent, its reply, and reading the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, Literal, Protocol

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.task_context import NO_USAGE, AgentUsage

Purpose = Literal["work", "challenge", "review", "judge"]
OnStart = Callable[[int], None]  # called with the id of a command's process before the command starts
NO_ADAPTER: Final = "no adapter; name one under `workflow.adapters` in the project file"
MAX_USAGE: Final = 10**12  # tokens or dollars of one call; more is a mistake, and sums must stay finite
MAX_USAGES: Final = 1000  # usages that are read in a reply that is not JSON
_USAGE: Final = re.compile(r'"usage"\s*:\s*(?=\{)')
_DECODER: Final = json.JSONDecoder()
_DECIDING: Final = frozenset({"decision", "approved"})


class AgentError(RuntimeFailure):
    """A failed call: the agent can't be reached, timed out, or sent no usable reply."""

    def __init__(self, message: str, usage: AgentUsage = NO_USAGE, *, is_final: bool = False) -> None:
        """Store the usage of the call; a failed call costs, too. A final failure is not retried."""
        self.usage, self.is_final = usage, is_final
        super().__init__(message)


class Brief(msgspec.Struct, frozen=True):
    """One call of an agent.

    A retry has the same `operation_id` and a new `attempt_id`; `session_id` is shared by the calls of one agent for one
    task, except those of a judge. `call` counts the calls of this purpose from 0, `retry` the retries of this call.
    `feedback` holds the comments on the work so far, `constitution` the project's rules for every agent. `prompt` is
    the whole question to a judge.
    """

    version: str
    purpose: Purpose
    workflow: str
    run_id: str
    task_id: str
    task_run_id: str
    operation_id: str
    attempt_id: str
    session_id: str
    agent: str
    role: JsonObject
    description: str
    inputs: list[JsonObject]
    outputs: list[JsonObject]
    iteration: int
    call: int
    retry: int
    feedback: list[dict[str, str]]
    prompt: str = ""
    constitution: str = ""

    def as_json(self) -> bytes:
        """Encode the brief as one line of JSON, without the line end."""
        return msgspec.json.encode(self)


class AgentReply(msgspec.Struct, frozen=True):
    """The reply of an agent. Which fields are used depends on the purpose of the call; unknown keys are ignored."""

    summary: str = ""
    decision: str | None = None
    feedback: str = ""
    approved: bool | None = None
    critique: str = ""
    quality_checks: dict[str, bool] = msgspec.field(default_factory=dict)
    usage: AgentUsage = NO_USAGE
    text: str = ""  # the whole reply


class AgentAdapter(Protocol):
    """Sends briefs to an agent."""

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """Return the agent's reply within `timeout` seconds. Raises AgentError."""


def read_reply(text: str, purpose: Purpose) -> AgentReply:
    """Read a reply: a JSON object, or for `work` and `judge` any text. Raises AgentError for an unusable reply: a
    review without GO or NO_GO, a challenge without a verdict, or invalid usage."""
    usage = NO_USAGE
    try:
        value = _object(text)
        if value is not None:
            usage = _usage(value.get("usage", {}))
        return _reply(text, value, usage, purpose)
    except AgentError as error:
        raise AgentError(str(error), usage if usage != NO_USAGE else _usage_within(text)) from None


def _reply(text: str, value: JsonObject | None, usage: AgentUsage, purpose: Purpose) -> AgentReply:
    decides = purpose in {"review", "challenge"}
    if value is None:
        if decides:
            raise AgentError("the reply is not a JSON object")
        return AgentReply(summary=text.strip()[:2000], usage=_usage_within(text), text=text)
    try:
        reply = msgspec.convert({**value, "usage": usage, "text": text}, AgentReply)
    except msgspec.ValidationError as error:
        raise AgentError(f"the reply can't be used: {strict_json.type_message(error) or error}") from None
    if decides:
        _check_decision(reply, value, purpose)
    return reply


def _check_decision(reply: AgentReply, value: JsonObject, purpose: Purpose) -> None:
    """Raise AgentError unless a review or a challenge holds its decision, and no other."""
    words = {word for word in value.values() if word in ("GO", "NO_GO")}
    if len(words) > 1 or sum(_decisions(value)) > len(_DECIDING & value.keys()):
        raise AgentError("the reply contains more than one decision")
    if purpose == "review" and reply.decision not in {"GO", "NO_GO"}:
        found = "the reply has none" if reply.decision is None else f"found `{reply.decision}`"
        raise AgentError(f"a review must answer with `decision` GO or NO_GO, {found}")
    if purpose == "challenge" and reply.approved is None:
        raise AgentError("a challenger must answer with `approved` true or false")
    if None not in (reply.approved, reply.decision) and reply.approved != (reply.decision == "GO"):
        raise AgentError("the reply contradicts itself: `decision` and `approved` say different things")


def _object(text: str) -> JsonObject | None:
    """Return the text as a JSON object, or None when it is not one. Raises AgentError for duplicate keys, and for an
    object that only lenient readers accept: read as a text it would lose its usage."""
    value: object = None
    try:
        value = strict_json.decode(text)
    except strict_json.DoubledKeyError as error:
        raise AgentError(f"the reply can't be used: {error}") from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        with suppress(ValueError, RecursionError):
            if isinstance(json.loads(text), dict):
                why = "it contains NaN, an infinite number or an unpaired surrogate"
                raise AgentError(f"the reply is not JSON: {why}") from None
    return value if isinstance(value, dict) else None


def _usage_within(text: str) -> AgentUsage:
    """Return the highest usage stated in a reply that is not one JSON object, so that text around the object, or a
    truncated object, does not hide its cost from the budget."""
    usages = [NO_USAGE]
    for match in islice(_USAGE.finditer(text), MAX_USAGES):
        with suppress(ValueError, AgentError, RecursionError):
            usages.append(_usage(_DECODER.raw_decode(text, match.end())[0]))
    return AgentUsage(max(usage.tokens for usage in usages), max(usage.cost_usd for usage in usages))


def _usage(value: object) -> AgentUsage:
    try:
        usage = msgspec.convert(value, AgentUsage)
    except msgspec.ValidationError as error:
        reason = strict_json.type_message(error, ("usage",)) or error
        raise AgentError(f"the reply can't be used: {reason}") from None
    if not (0 <= usage.tokens <= MAX_USAGE and 0 <= usage.cost_usd <= MAX_USAGE):
        raise AgentError(f"`usage` must not be negative, nor more than {MAX_USAGE:.0e}")
    return usage


def _decisions(value: object) -> Iterator[int]:
    """Yield the number of decision keys of each object in a reply, in any case and at any depth."""
    if isinstance(value, dict):
        yield sum(key.strip().casefold() in _DECIDING for key in value)
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _decisions(child)
