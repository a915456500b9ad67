"""The questions of a plan: what a scan may ask, a proved upper bound of its cost, and the form for an external judge:
JSON lines, or a batch of chat completions.

All questions are found by an engine that asks them and gets no answers: without one it asks everything that could
follow: every attempt, every window, and the sweep after unconfirmed candidates. A token is at least a byte, so the
bytes of a prompt bound its tokens; `max_tokens` bounds the reply.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from msgspec.structs import replace

from rulewright.documents.project_file import ModelPrice
from rulewright_runtime.calls.budget import MESSAGE_TOKENS, Price, cost
from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.execution import Engine
from rulewright_runtime.judging.judge import JudgeRequest, custom_id
from rulewright_runtime.models.call import ModelCall
from rulewright_runtime.models.capabilities import capabilities_of
from rulewright_runtime.models.wire import WIRES
from rulewright_runtime.plan.question import Judging, Unusable
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.plan.verifiers import PhasedVerifier
from rulewright_runtime.runs.live import ask_of
from rulewright_runtime.transcript_execution import Execution
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verify.judge import FIRST_TEMPERATURE, NEXT_TEMPERATURE

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


def first_questions(plan: Plan, transcripts: Iterable[Transcript], *, gates_only: bool) -> Iterator[JudgeRequest]:
    """Iterate over the questions that a scan asks regardless of the answers: the first ones of every check, with
    `gates_only` of the first check, since it may make the others unnecessary."""
    for started in Engine(plan, gates_only=gates_only).started(transcripts):
        askings = started.askings if isinstance(started, Execution) else ()
        for asking in askings[:1] if gates_only else askings:
            yield from asking.resume() or ()


def _questions(plan: Plan, transcripts: Iterable[Transcript]) -> Iterator[JudgeRequest]:
    for started in Engine(replace(plan, checks=tuple(map(_asking_all, plan.checks)))).started(transcripts):
        for asking in started.askings if isinstance(started, Execution) else ():
            questions = asking.resume()
            while questions is not None:
                yield from questions
                questions = asking.resume((None,) * len(questions))


def _asking_all(check: Check) -> Check:
    """The check, but no unanswered confirmation fails it: after a failure, no further question is asked."""
    if not isinstance(check.verifier, PhasedVerifier):
        return check
    confirm = replace(check.verifier.confirm, unusable=Unusable("UNCLEAR"))
    return replace(check, verifier=replace(check.verifier, confirm=confirm))


class PlannedQuestion(NamedTuple):
    """One vote of one question; `call` is the model call, None where it exceeds the model's context window."""

    request: JudgeRequest
    call: ModelCall | None


def questions(plan: Plan, transcripts: Iterable[Transcript], model: str) -> Iterator[PlannedQuestion]:
    """Iterate over the questions that a scan may ask, one for each planned vote, by transcript and check.

    A batch has one attempt, so every question gets the largest budget of all attempts.
    """
    checks = {check.id: check for check in plan.checks}
    capabilities = capabilities_of("openai", model)
    for question_asked in questions_by_key(plan, transcripts).values():
        judging = _judging(checks[question_asked.check_id], question_asked.purpose)
        for repetition in range(judging.repetitions):
            request = replace(
                question_asked,
                repetition=repetition,
                attempt=0,
                max_tokens=max(judging.budgets),
                temperature=NEXT_TEMPERATURE if repetition else FIRST_TEMPERATURE,
            )
            ask = ask_of(request, capabilities)
            yield PlannedQuestion(request, None if ask is None else ask.call)


def _judging(check: Check, purpose: str) -> Judging:
    """The check's judging for a purpose."""
    if isinstance(check.verifier, PhasedVerifier):
        return check.verifier.confirm if purpose == "confirm" else check.verifier.sweep
    return next(iter(check.verifier.judgings()))


def as_line(question: PlannedQuestion) -> dict[str, object]:
    """Return the question as a JSON line: its key, its prompt, and the schema of the answer."""
    request, call = question
    return {
        "custom_id": custom_id(request),
        "transcript_id": request.transcript_id,
        "check_id": request.check_id,
        "purpose": request.purpose,
        "window": request.window,
        "repetition": request.repetition,
        "prompt": request.prompt,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "schema": None if call is None else call.schema,
    }


def as_batch(question: PlannedQuestion, model: str) -> dict[str, object]:
    """Return the question as a line of a batch of chat completions; `question.call` must not be None."""
    assert question.call is not None, "a call that does not fit is not asked"
    body = WIRES["openai"].body(model, question.call, capabilities_of("openai", model))
    return {"custom_id": custom_id(question.request), "method": "POST", "url": "/v1/chat/completions", "body": body}
