"""A proved upper bound of a scan's cost: the engine asks its questions and gets no answers.

Without an answer the engine asks everything that could follow: every attempt, every window, and the sweep after
unconfirmed candidates. A token is at least a byte, so the bytes of a prompt bound its tokens; `max_tokens` bounds the
reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from rulewright.documents.project_file import ModelPrice
from rulewright_runtime.calls.budget import MESSAGE_TOKENS, Price, cost
from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.execution import Engine
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.transcript_execution import Execution
from rulewright_runtime.transcripts.messages import Transcript

QuestionKey = tuple[str, str, str, int]  # transcript, check, purpose, window


def exact_price(price: ModelPrice | None) -> Price | None:
    """A price as its decimals are written, so that nothing is rounded."""
    return None if price is None else Price(Decimal(str(price.input)), Decimal(str(price.output)))


def bound_of(plan: Plan, transcripts: Iterable[Transcript], price: ModelPrice | None) -> dict[str, Any]:
    """Return the bound of a scan as JSON data: answered `calls`, `attempts` of each, and `tokens` and `cost_usd` of all
    attempts; the cost is null where the price is unknown."""
    judgings = {check.id: [each for each in check.verifier.judgings() if each.repetitions] for check in plan.checks}
    attempts, calls, sent, received = CallLimits().attempts, 0, 0, 0
    for key, question in questions_by_key(plan, transcripts).items():
        repetitions = max(each.repetitions for each in judgings[key[1]])
        asked = repetitions * max(len(each.budgets) for each in judgings[key[1]])
        calls += asked
        sent += attempts * asked * (len(question.prompt.encode()) + MESSAGE_TOKENS)
        received += attempts * repetitions * max(sum(each.budgets) for each in judgings[key[1]])
    usd = cost(exact_price(price), sent, received)
    return {
        "calls": calls,
        "attempts": attempts,
        "tokens": sent + received,
        "cost_usd": None if usd is None else float(usd),
    }


def questions_by_key(plan: Plan, transcripts: Iterable[Transcript]) -> dict[QuestionKey, JudgeRequest]:
    """Return every question that a scan may ask, with its longest prompt."""
    questions: dict[QuestionKey, JudgeRequest] = {}
    for question in _questions(plan, transcripts):
        key = (question.transcript_id, question.check_id, question.purpose, question.window)
        longest = questions.get(key)
        if longest is None or len(longest.prompt) < len(question.prompt):
            questions[key] = question
    return questions


def first_questions(
    plan: Plan, transcripts: Iterable[Transcript], *, gates_only: bool = False
) -> Iterator[JudgeRequest]:
    """Iterate over the questions that a scan asks regardless of the answers: the first ones of every check, with
    `gates_only` of the first check, since it may make the others unnecessary."""
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
