"""One conversation: the turns of a script, one after the other, each on what was said before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from rulewright_runtime.calls.budget import BudgetError
from rulewright_runtime.errors import OutageError
from rulewright_runtime.harness.adapters import Message, Reply, Request
from rulewright_runtime.harness.branches import choose
from rulewright_runtime.transcripts.completeness import says_something
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulewright_runtime.harness.adapters import Adapter
    from rulewright_runtime.harness.harness_plan import Script


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a transcript. The assistant's lines say which model spoke and through which harness; `error` stands
    where it did not speak, `finish` where what it said is not whole. `undecided` holds the conditions of branches that
    had no answer."""

    turn: int
    role: str
    content: str
    branch_id: str | None = None
    error: dict[str, Any] | None = None
    harness: str | None = None
    model: str | None = None
    session: int | None = None
    undecided: dict[str, str] = {}
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish: str | None = None
    served_model: str | None = None
    parameters: dict[str, Any] = {}


class EmptyReplyError(Exception):
    """The model answered with nothing, or with nothing that anybody would see."""


def play(
    script: Script,
    adapter: Adapter,
    attempts: int = 1,
    recorded: Mapping[int, Line] | None = None,
    redaction: Redaction = NOTHING,
) -> Iterator[Line]:
    """The lines of the conversation as they come, a user's and an assistant's for every turn.

    What the user says depends on the reply before, so a turn that the model does not answer in `attempts` tries ends
    the conversation with a line that holds the error. Turns in `recorded` are not asked again. What `redaction`
    finds in replies is replaced.
    """
    known = recorded or {}
    several = len(script.sessions) > 1
    messages: list[Message] = []
    replies: list[str] = []
    for session in script.sessions:
        for place, turn in enumerate(session.turns):
            choice = choose(turn, replies)
            number = session.number if several else None
            yield Line(
                turn.number, "user", choice.message, choice.branch_id, session=number, undecided=choice.undecided
            )
            messages.append(Message("user", choice.message))
            line = known.get(turn.number)
            if line is None:
                request = Request(
                    script.id, session.number, turn.number, place == 0, context_of(script), tuple(messages)
                )
                line = _redacted(_asked(request, adapter, attempts, number), redaction)
            yield line
            if line.error is not None:
                return
            messages.append(Message("assistant", line.content))
            replies.append(line.content)


def _redacted(line: Line, redaction: Redaction) -> Line:
    return replace(line, content=redaction.text(line.content), error=redaction.data(line.error))


def context_of(script: Script) -> str:
    """What the model is told of the persona before the first message; empty where the persona shows nothing."""
    return "\n".join(f"{key.replace('_', ' ')}: {value}" for key, value in script.context)


def _asked(request: Request, adapter: Adapter, attempts: int, session: int | None) -> Line:
    """The assistant's line for a turn; whatever the adapter raises becomes an error on it."""
    error: dict[str, Any] = {}
    for attempt in range(1, max(attempts, 1) + 1):
        try:
            reply = adapter.reply(request)
            if not isinstance(reply, Reply) or not says_something(reply.content):
                raise EmptyReplyError("the reply says nothing")
        except (BudgetError, OutageError):
            raise  # no turn of any conversation will be answered now; the run can be resumed
        except Exception as why:
            error = {"type": type(why).__name__, "message": str(why)[:500], "attempts": attempt}
            continue
        return Line(
            request.turn,
            "assistant",
            reply.content,
            harness=adapter.harness,
            model=adapter.model,
            session=session,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            finish=reply.finish,
            served_model=reply.served_model,
            parameters=reply.parameters,
        )
    return Line(
        request.turn, "assistant", "", error=error, harness=adapter.harness, model=adapter.model, session=session
    )
