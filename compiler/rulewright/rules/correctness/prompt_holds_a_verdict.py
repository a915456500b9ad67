from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, error
from rulewright.documents.check import CheckDocument
from rulewright.load import Scalar, place
from rulewright_runtime.plan.part import VERDICTS

if TYPE_CHECKING:
    from rulewright.documents.scorecard import CaseScorecardDocument

HELP: Final = 'write the form so that it is not valid JSON: {"verdict": "PASS", "FAIL" or "UNCLEAR"}'


def prompt_holds_a_verdict(document: CheckDocument | CaseScorecardDocument) -> Findings:
    """A prompt contains a complete reply with a verdict.

    Why it matters: a judge that repeats the example instead of answering casts that vote, usually a PASS.
    Instead: leave the form out, because every request ends with it, or write it so that it is not valid JSON.
    """
    for prompt in prompts_of(document):
        if prompt is None or not isinstance(prompt.value, str):
            continue
        for start, end in _replies(prompt.value):
            verdict = json.loads(prompt.value[start:end])["verdict"]
            message = f"the prompt contains a reply that counts as {verdict} when a judge repeats it"
            yield error(place(prompt, start, end), message, help=HELP)


def prompts_of(document: CheckDocument | CaseScorecardDocument) -> Iterator[Scalar | None]:
    """The prompts for a judge in a check or a scorecard over cases."""
    if isinstance(document, CheckDocument):
        yield from (document.prompt, document.phases.confirm, document.phases.sweep)
    else:
        yield from (metric.judge_prompt for metric in document.metrics)


def _replies(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each JSON object with a verdict."""
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        end = start + 1
        try:
            found: object
            found, after = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and found.get("verdict") in VERDICTS:
            yield start, after
            end = after
        start = text.find("{", end)
