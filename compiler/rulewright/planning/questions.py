"""The questions of a plan for an external judge: as JSON lines, and as a batch of chat completions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from rulewright.planning.cost_bound import questions_by_key
from rulewright_runtime.judging.judge import JudgeRequest, custom_id
from rulewright_runtime.models.call import ModelCall
from rulewright_runtime.models.capabilities import capabilities_of
from rulewright_runtime.models.wire import WIRES
from rulewright_runtime.plan.question import Judging
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.plan.verifiers import PhasedVerifier
from rulewright_runtime.runs.live import ask_of
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verify.judge import FIRST_TEMPERATURE, NEXT_TEMPERATURE


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
