"""What a scan can cost at most, proved: the engine itself says what it would ask, and nobody answers.

An unanswered question is followed by everything that could be asked in its place: every attempt, every window, and the
sweep behind candidates that nobody confirms. A token is at least a byte, so the bytes of a prompt bound its tokens;
`max_tokens` bounds the reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from rulewright_runtime.calls.budget import MESSAGE_TOKENS, Price, cost
from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.execution import Engine, Execution
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.transcripts.messages import Transcript

if TYPE_CHECKING:
    from rulewright.documents.scoring import ModelPrice
    from rulewright_runtime.judging.judge import JudgeRequest

Place = tuple[str, str, str, int]  # transcript, check, purpose, window


class _Most(NamedTuple):
    """What the questions at one place take at most."""

    calls: int
    sent: int
    received: int


def bound_of(plan: Plan, transcripts: Iterable[Transcript], price: ModelPrice | None) -> dict[str, Any]:
    """The bound of a scan, ready for JSON: `calls` that are answered, `attempts` of each, and `tokens` and `cost_usd`
    of all attempts together; the cost is null where the price is unknown."""
    shapes = {check.id: [each for each in check.verifier.judgings() if each.repetitions] for check in plan.checks}
    most = [_most(question, shapes[place[1]]) for place, question in places(plan, transcripts).items()]
    attempts = CallLimits().attempts
    sent, received = (
        attempts * sum(column) for column in ([each.sent for each in most], [each.received for each in most])
    )
    listed = None if price is None else Price(Decimal(str(price.input)), Decimal(str(price.output)))
    usd = cost(listed, sent, received)
    return {
        "calls": sum(each.calls for each in most),
        "attempts": attempts,
        "tokens": sent + received,
        "cost_usd": None if usd is None else float(usd),
    }


def _most(question: JudgeRequest, shapes: list[Any]) -> _Most:
    repetitions = max(each.repetitions for each in shapes)
    budgets = max((each.budgets for each in shapes), key=len)
    calls = repetitions * len(budgets)
    received = repetitions * max(sum(each.budgets) for each in shapes)
    return _Most(calls, calls * (len(question.prompt.encode()) + MESSAGE_TOKENS), received)


def places(plan: Plan, transcripts: Iterable[Transcript]) -> dict[Place, JudgeRequest]:
    """Every question that a scan may ask, with its longest prompt."""
    found: dict[Place, JudgeRequest] = {}
    for question in _questions(plan, transcripts):
        place = (question.transcript_id, question.check_id, question.purpose, question.window)
        known = found.get(place)
        if known is None or len(known.prompt) < len(question.prompt):
            found[place] = question
    return found


def first_questions(
    plan: Plan, transcripts: Iterable[Transcript], *, gates_only: bool = False
) -> Iterator[JudgeRequest]:
    """The questions that a scan asks whatever is answered: the first ones of every check, or of the first check where
    it may spare the others."""
    for started in Engine(plan, gates_only=gates_only).started(transcripts):
        askings = started.askings if isinstance(started, Execution) else ()
        for asking in askings[:1] if gates_only else askings:
            yield from asking.resume() or ()


def _questions(plan: Plan, transcripts: Iterable[Transcript]) -> Iterator[JudgeRequest]:
    for started in Engine(plan).started(transcripts):
        for asking in started.askings if isinstance(started, Execution) else ():
            questions = asking.resume()
            while questions is not None:
                yield from questions
                questions = asking.resume((None,) * len(questions))
