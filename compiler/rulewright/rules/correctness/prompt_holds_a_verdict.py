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
        for start, end in _replies(prompt.text):
            verdict = json.loads(prompt.text[start:end])["verdict"]
            message = f"the prompt contains a reply that counts as {verdict} when a judge repeats it"
            yield error(place(prompt, start, end), message, help=HELP)


def prompts_of(document: CheckDocument | CaseScorecardDocument) -> Iterator[Scalar]:
    """The prompts for a judge in a check or a scorecard over cases."""
    if isinstance(document, CheckDocument):
        found = [document.prompt, document.phases.confirm, document.phases.sweep]
    else:
        found = [metric.judge_prompt for metric in document.metrics]
    yield from filter(None, found)


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
