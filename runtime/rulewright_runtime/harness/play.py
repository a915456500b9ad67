"""One conversation: the turns of a script, one after the other, each on what was said before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from rulewright_runtime.calls.budget import BudgetError
from rulewright_runtime.errors import OutageError
from rulewright_runtime.harness.adapters import Reply, TurnRequest
from rulewright_runtime.harness.branches import choose
from rulewright_runtime.models.call import ChatMessage
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import says_something
from rulewright_runtime.transcripts.messages import Turn
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rulewright_runtime.harness.adapters import Adapter
    from rulewright_runtime.harness.harness_plan import Script, ScriptSession, ScriptTurn
    from rulewright_runtime.harness.simulated_user import SimulatedUser


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a transcript. What a model said bears its name, and through which harness it spoke; `error` stands
    where it did not speak, `finish` where what it said is not whole. `undecided` holds the conditions of branches that
    had no answer."""

    turn: int
    role: str
    content: str
    branch_id: str | None = None
    error: JsonObject | None = None
    harness: str | None = None
    model: str | None = None
    session: int | None = None
    undecided: dict[str, str] = {}
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish: str | None = None
    served_model: str | None = None
    parameters: JsonObject = {}


class EmptyReplyError(Exception):
    """The model answered with nothing, or with nothing that anybody would see."""


def play(
    script: Script,
    adapter: Adapter,
    attempts: int = 1,
    recorded: Mapping[tuple[int, str], Line] | None = None,
    redaction: Redaction = NOTHING,
    user: SimulatedUser | None = None,
) -> Iterator[Line]:
    """The lines of the conversation as they come, a user's and an assistant's for every turn.

    What the user says depends on the reply before, so a turn that the model does not answer in `attempts` tries ends
    the conversation with a line that holds the error; so does a message that `user`, who plays the user, does not
    write. Lines in `recorded`, by turn and role, are not asked again. What `redaction` finds in what models say is
    replaced.
    """
    known = recorded or {}
    several = len(script.sessions) > 1
    so_far: list[Line] = []
    for session in script.sessions:
        number = session.number if several else None
        for place, turn in enumerate(session.turns):
            line = _users(script, session, turn, so_far, known, user, attempts)
            so_far.append(_redacted(line, redaction) if user is not None else line)
            yield so_far[-1]
            if so_far[-1].error is not None:
                return
            request = turn_request(script, session, place, so_far)
            blank = Line(turn.number, "assistant", "", harness=adapter.harness, model=adapter.model, session=number)
            answer = known.get((turn.number, "assistant")) or _asked(partial(adapter.reply, request), blank, attempts)
            so_far.append(_redacted(answer, redaction))
            yield so_far[-1]
            if so_far[-1].error is not None:
                return


def _users(
    script: Script,
    session: ScriptSession,
    turn: ScriptTurn,
    so_far: Sequence[Line],
    known: Mapping[tuple[int, str], Line],
    user: SimulatedUser | None,
    attempts: int,
) -> Line:
    """The user's line of a turn: the scenario's own message, or what a model makes of it."""
    choice = choose(turn, [each.content for each in so_far if each.role == "assistant"])
    number = session.number if len(script.sessions) > 1 else None
    line = Line(turn.number, "user", choice.message, choice.branch_id, session=number, undecided=choice.undecided)
    if user is None:
        return line
    before = [Turn(each.turn, each.role, each.content) for each in so_far]
    blank = replace(line, content="", harness=user.harness, model=user.model)
    ask = partial(user.message, script, session, turn.number, choice.message, before)
    return known.get((turn.number, "user")) or _asked(ask, blank, attempts)


def _redacted(line: Line, redaction: Redaction) -> Line:
    return replace(line, content=redaction.text(line.content), error=redaction.data(line.error))


def turn_request(script: Script, session: ScriptSession, place: int, so_far: Sequence[Line | Turn]) -> TurnRequest:
    """The request for the reply to the turn at `place` of a session, after the conversation `so_far`. Its context
    is the persona; empty where the persona shows nothing."""
    context = "\n".join(f"{key.replace('_', ' ')}: {value}" for key, value in script.context)
    messages = [ChatMessage("assistant" if each.role == "assistant" else "user", each.content) for each in so_far]
    return TurnRequest(script.id, session.number, session.turns[place].number, place == 0, context, tuple(messages))


def _asked(ask: Callable[[], Reply], blank: Line, attempts: int) -> Line:
    """The line of a turn with what `ask` gives; whatever it raises becomes an error on it."""
    error: JsonObject = {}
    for attempt in range(1, max(attempts, 1) + 1):
        try:
            reply = ask()
            if not isinstance(reply, Reply) or not says_something(reply.content):
                raise EmptyReplyError("the reply says nothing")
        except (BudgetError, OutageError):
            raise  # no turn of any conversation will be answered now; the run can be resumed
        except Exception as why:
            error = {"type": type(why).__name__, "message": str(why)[:500], "attempts": attempt}
            continue
        return replace(
            blank,
            content=reply.content,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            finish=reply.finish,
            served_model=reply.served_model,
            parameters=reply.parameters,
        )
    return replace(blank, error=error)
