"""The questions of a plan, to be answered elsewhere: as lines of JSON, and as a batch of chat completions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from rulewright.planning.bounds import places
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
    """One vote of one question; `call` is what a model is sent, None where it does not fit into its window."""

    request: JudgeRequest
    call: ModelCall | None


def questions(plan: Plan, transcripts: Iterable[Transcript], model: str) -> Iterator[PlannedQuestion]:
    """Every question that a scan may ask, once for each planned vote, in the order of its transcripts and checks.

    A batch asks once: every question has the largest budget that a further attempt would have.
    """
    checks = {check.id: check for check in plan.checks}
    capabilities = capabilities_of("openai", model)
    for asked in places(plan, transcripts).values():
        judging = _judging(checks[asked.check_id], asked.purpose)
        for repetition in range(judging.repetitions):
            request = replace(
                asked,
                repetition=repetition,
                attempt=0,
                max_tokens=max(judging.budgets),
                temperature=NEXT_TEMPERATURE if repetition else FIRST_TEMPERATURE,
            )
            ask = ask_of(request, capabilities)
            yield PlannedQuestion(request, None if ask is None else ask.call)


def _judging(check: Check, purpose: str) -> Judging:
    """How the check asks for this purpose."""
    if isinstance(check.verifier, PhasedVerifier):
        return check.verifier.confirm if purpose == "confirm" else check.verifier.sweep
    return next(iter(check.verifier.judgings()))


def as_line(question: PlannedQuestion) -> dict[str, object]:
    """The question with its place, its text, and the form of the answer."""
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
    """The question as a line of a batch of chat completions; its call must fit."""
    assert question.call is not None, "what does not fit is not asked"
    body = WIRES["openai"].body(model, question.call, capabilities_of("openai", model))
    return {"custom_id": custom_id(question.request), "method": "POST", "url": "/v1/chat/completions", "body": body}
