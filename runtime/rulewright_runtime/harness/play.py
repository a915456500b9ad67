"""Playing one conversation: the turns of a script in order, each depending on the replies before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from rulewright_runtime.calls.budget import BudgetError
from rulewright_runtime.english import escape_surrogates
from rulewright_runtime.errors import OutageError
from rulewright_runtime.harness.adapters import Adapter, TurnRequest
from rulewright_runtime.harness.harness_plan import Script, ScriptSession, ScriptTurn
from rulewright_runtime.harness.simulated_user import SimulatedUser
from rulewright_runtime.models.call import ChatMessage, ModelAnswer, ending
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import says_something
from rulewright_runtime.transcripts.messages import Turn
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction
from rulewright_runtime.transcripts.thoughts import separated


class TranscriptLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a transcript. A model's message has its `model` and `harness`; `error` replaces a missing message,
    `finish` says why one is incomplete. `undecided` maps branches with undecidable conditions to the reasons."""

    turn: int
    role: str
    content: str
    branch_id: str | None = None
    error: JsonObject | None = None
    harness: str | None = None
    model: str | None = None
    session: int | None = None
    undecided: dict[str, str] = {}
    usage: JsonObject = {}
    finish: str | None = None
    served_model: str | None = None
    parameters: JsonObject = {}


class EmptyReplyError(Exception):
    """A reply that is empty or has no visible text."""


def play(
    script: Script,
    adapter: Adapter,
    attempts: int = 1,
    recorded: Mapping[tuple[int, str], TranscriptLine] | None = None,
    redaction: Redaction = NOTHING,
    user: SimulatedUser | None = None,
    run: str = "",
) -> Iterator[TranscriptLine]:
    """Yield the lines of the conversation, a user's and an assistant's for every turn.

    The user's message depends on the reply before, so a turn that the model does not answer in `attempts` tries ends
    the conversation with a line that holds the error; so does a message that the simulated `user` does not write. Lines
    in `recorded`, by turn and role, are reused. Messages of models are redacted by `redaction`. `run` is what the
    adapter receives as the run's id.
    """
    recorded = recorded or {}
    several = len(script.sessions) > 1
    so_far: list[TranscriptLine] = []

    def spoken(blank: TranscriptLine, speaker: Adapter, ask: Callable[[], ModelAnswer]) -> TranscriptLine:
        """The line that a model says: as it was recorded, else its answer."""
        line = recorded.get((blank.turn, blank.role)) or _reply_line(ask, speaker, blank, attempts)
        return replace(line, content=redaction.text(line.content), error=redaction.data(line.error))

    for session in script.sessions:
        number = session.number if several else None
        for index, turn in enumerate(session.turns):
            choice = choose(turn, [separated(each.content)[1] for each in so_far if each.role == "assistant"])
            line = TranscriptLine(
                turn.number, "user", choice.message, choice.branch_id, session=number, undecided=choice.undecided
            )
            if user is not None:
                turns = [Turn(each.turn, each.role, each.content) for each in so_far]
                ask = partial(user.message, script, session, turn.number, choice.message, turns)
                line = spoken(replace(line, content="", harness=user.harness, model=user.model), user.speaker, ask)
            so_far.append(line)
            yield line
            if line.error is not None:
                return
            ask = partial(adapter.reply, turn_request(script, session, index, so_far, run))
            blank = TranscriptLine(
                turn.number, "assistant", "", harness=adapter.harness, model=adapter.model, session=number
            )
            line = spoken(blank, adapter, ask)
            so_far.append(line)
            yield line
            if line.error is not None:
                return


class Choice(msgspec.Struct, frozen=True):
    """The user's message, its branch (None: the turn's own message), and the branches with undecidable conditions, with
    the reasons."""

    message: str
    branch_id: str | None = None
    undecided: dict[str, str] = {}


def choose(turn: ScriptTurn, replies: Sequence[str]) -> Choice:
    """Choose the message of `turn` by the assistant's last reply.

    The branches are tried in order, and the first whose condition holds wins. Without a previous reply, or after an
    empty one, the turn's own message is sent. An undecidable condition does not hold (seed 004, conditional branching).
    """
    undecided: dict[str, str] = {}
    reply = replies[-1] if replies else ""
    if reply:
        bindings = {"reply": reply, "replies": list(replies), "turn": turn.number}
        for branch in turn.branches:
            decision = condition(branch.condition, Polarity.PERMITTING)(bindings)
            if decision.holds:
                return Choice(branch.user_message, branch.id, undecided)
            if decision.undecided is not None:
                undecided[branch.id] = decision.undecided
    return Choice(turn.user_message, None, undecided)


def turn_request(
    script: Script, session: ScriptSession, index: int, so_far: Sequence[TranscriptLine | Turn], run: str = ""
) -> TurnRequest:
    """Return the request for the reply to the turn at `index` of a session, after the conversation `so_far`."""
    messages = [ChatMessage("assistant" if each.role == "assistant" else "user", each.content) for each in so_far]
    number = session.turns[index].number
    return TurnRequest(script.id, session.number, number, index == 0, script.context, tuple(messages), run)


def _usage(reply: ModelAnswer) -> JsonObject:
    """What is known of the tokens, the latency in seconds and the cost in USD of a reply."""
    tokens = reply.usage
    known = {
        "input_tokens": tokens.input_tokens,
        "output_tokens": tokens.output_tokens,
        "latency": reply.seconds,
        "cost": reply.usd,
    }
    return {name: value for name, value in known.items() if value is not None}


def _reply_line(
    ask: Callable[[], ModelAnswer], speaker: Adapter, blank: TranscriptLine, attempts: int
) -> TranscriptLine:
    """Fill `blank` with the answer of `speaker`, or with its last error. Raises BudgetError and OutageError."""
    error: JsonObject = {}
    for attempt in range(1, max(attempts, 1) + 1):
        try:
            reply = ask()
            if not isinstance(reply, ModelAnswer) or not says_something(reply.text):
                is_cut = isinstance(reply, ModelAnswer) and not reply.is_whole
                why = f"; {ending(reply.finish)}" if is_cut else ""
                raise EmptyReplyError(f"the reply has no visible text{why}")
        except (BudgetError, OutageError):
            raise  # no other turn would be answered either: the run stops and can be resumed
        except Exception as failure:
            message = escape_surrogates(str(failure))[:500]
            tries = attempt - 1 + getattr(failure, "attempts", 1)  # a model's scheduler retries, too
            error = {"type": type(failure).__name__, "message": message, "attempts": tries}
            continue
        return replace(
            blank,
            content=reply.text,
            usage=_usage(reply),
            finish=None if reply.is_whole else reply.finish,
            served_model=reply.model or None,
            parameters=getattr(speaker, "parameters", {}),
        )
    return replace(blank, error=error)
