"""What an agent is asked and what it answers, whatever adapter carries it there."""

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
from rulewright_runtime.workflow.events import EventDraft
from rulewright_runtime.workflow.task_context import NO_USAGE, Usage

Purpose = Literal["work", "challenge", "review", "judge"]
Started = Callable[[int], None]  # is given the id of the process under which a command runs, before the command starts
MOST_USAGE: Final = 10**12  # tokens or dollars of one call; more is not a bill but a mistake, and sums must stay finite
MOST_USAGES: Final = 1000  # usages that are looked for in a reply that is not JSON
_USAGE: Final = re.compile(r'"usage"\s*:\s*(?=\{)')
_DECODER: Final = json.JSONDecoder()


class AgentError(RuntimeFailure):
    """A call that failed: the agent can't be reached, took too long, or answered nothing that can be used."""

    def __init__(self, message: str, events: tuple[EventDraft, ...] = (), usage: Usage = NO_USAGE) -> None:
        """Keep the events of the call, and its usage: a call that failed costs, too."""
        self.events, self.usage = events, usage
        super().__init__(message)


class Brief(msgspec.Struct, frozen=True):
    """One call of an agent.

    `operation_id` stays the same when a call is repeated, `attempt_id` never does; `session_id` is shared by the calls
    one agent gets for one task to do its work, and by no judge. `call` counts the calls of this purpose from 0, `retry`
    the repetitions of this one. `feedback` holds the comments on the work so far, `constitution` the project's rules
    for every agent. A judge is given the whole `prompt`.
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
        """The brief as one line of JSON."""
        return msgspec.json.encode(self)


class _Answer(msgspec.Struct, frozen=True):
    """The object an agent may write; keys we do not know are the agent's own."""

    summary: str = ""
    decision: str | None = None
    feedback: str = ""
    approved: bool | None = None
    critique: str = ""
    subtask_completed: bool = False
    quality_checks: dict[str, bool] = msgspec.field(default_factory=dict)
    usage: Usage = NO_USAGE


class AgentReply(_Answer, frozen=True):
    """What an agent answered. Which fields count depends on what it was asked."""

    text: str = ""
    events: tuple[EventDraft, ...] = ()  # what the call adds to the log


class AgentAdapter(Protocol):
    """Carries a brief to an agent."""

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """The agent's reply, within `timeout` seconds. Raises AdapterError."""


def read_reply(text: str, purpose: Purpose) -> AgentReply:
    """The reply in `text`: a JSON object, or for `work` and `judge` any text. Raises AdapterError for a reply that
    can't be used: a review without GO or NO_GO, a challenge without a verdict, or usage that is none."""
    try:
        found = _object(text)
    except AgentError as error:
        raise AgentError(str(error), usage=_usage_within(text)) from None
    usage = _usage_within(text) if found is None else _usage(found.get("usage", {}))
    try:
        answer = _answer(text, found, strict=purpose in {"review", "challenge"})
        _check(answer, purpose)
    except AgentError as error:
        raise AgentError(str(error), usage=usage) from None
    return AgentReply(**msgspec.structs.asdict(answer) | {"usage": usage}, text=text)


def _object(text: str) -> JsonObject | None:
    """The JSON object that the text is, or None."""
    try:
        found: object = strict_json.decode(text)
    except strict_json.DoubledKeyError as error:
        raise AgentError(f"the reply can't be used: {error}") from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _usage_within(text: str) -> Usage:
    """What a reply says it used where it is not one JSON object: the dearest of the usages in it, so that text around
    the object, or one that was cut off, does not hide its cost from the budget."""
    usages = [NO_USAGE]
    for place in islice(_USAGE.finditer(text), MOST_USAGES):
        with suppress(ValueError, AgentError, RecursionError):
            usages.append(_usage(_DECODER.raw_decode(text, place.end())[0]))
    return Usage(max(usage.tokens for usage in usages), max(usage.cost_usd for usage in usages))


def _usage(found: object) -> Usage:
    try:
        usage = msgspec.convert(found, Usage)
    except msgspec.ValidationError as error:
        raise AgentError(f"the reply can't be used: {error} - at `usage`") from None
    if not (0 <= usage.tokens <= MOST_USAGE and 0 <= usage.cost_usd <= MOST_USAGE):
        raise AgentError(f"`usage` must not be negative, nor more than {MOST_USAGE:.0e}")
    return usage


def _check(answer: _Answer, purpose: Purpose) -> None:
    if purpose == "review" and answer.decision not in {"GO", "NO_GO"}:
        raise AgentError(f"a review must answer with `decision` GO or NO_GO, found `{answer.decision}`")
    if purpose == "challenge" and answer.approved is None:
        raise AgentError("a challenger must answer with `approved` true or false")
    both = answer.approved is not None and answer.decision is not None
    if purpose in {"review", "challenge"} and both and answer.approved != (answer.decision == "GO"):
        raise AgentError("the reply contradicts itself: `decision` and `approved` say different things")


def _answer(text: str, found: JsonObject | None, *, strict: bool) -> _Answer:
    if found is None:
        if strict:
            raise AgentError("the reply is not a JSON object")
        return _Answer(summary=text.strip()[:2000])
    if strict and sum(_decisions(found)) > len({"decision", "approved"} & found.keys()):
        raise AgentError("the reply holds more than one decision")
    try:
        return msgspec.convert(found, _Answer)
    except msgspec.ValidationError as error:
        raise AgentError(f"the reply can't be used: {error}") from None


def _decisions(value: object) -> Iterator[int]:
    """How often a reply decides, at any depth."""
    if isinstance(value, dict):
        yield len({"decision", "approved"} & value.keys())
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _decisions(below)
