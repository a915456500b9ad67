"""Rule: a prompt that asks for another reply than a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error, warning
from rulewright.documents.check import CheckDocument
from rulewright.load import place
from rulewright_runtime.plan.part import VERDICTS

_OFFER: Final = re.compile(r'"verdict"\s*:\s*((?:"[^"\n]*"\s*\|?\s*)+)')
_WORD: Final = re.compile(r'"([^"\n]*)"')
_REQUEST: Final = re.compile(  # at the beginning of a sentence
    r"(?:^|[.:!?])\s*(?:please )?(?:answer|reply|respond|return)\s+(?:(?:with|only|just|in|either|by|a)\s+)*"
    r"([\"'`]?(?:yes[\"'`]?\s*(?:or|/)\s*[\"'`]?no|true[\"'`]?\s*(?:or|/)\s*[\"'`]?false"
    r"|(?:score|number|grade|rating)\s+(?:from|between)\s+\d+\s+(?:to|and)\s+\d+)\b[\"'`]?)",
    re.IGNORECASE | re.MULTILINE,
)


def prompt_asks_for_unreadable_reply(check: CheckDocument) -> Iterator[Diagnostic]:
    """A prompt offers a verdict other than the four that count, or asks for YES or NO, or for a number.

    Why it matters: a judge that follows the prompt gives a reply that is not a vote, so the check is never resolved.
    Instead: offer PASS, FAIL, UNCLEAR and NOT_APPLICABLE, in capitals.
    """
    if check.prompt is None or not isinstance(check.prompt.value, str):
        return
    for offer in _OFFER.finditer(check.prompt.value):
        for word in _WORD.finditer(offer.group(1)):
            offered = [part.strip() for part in word.group(1).split("|")]
            wrong = [part for part in offered if part not in VERDICTS and re.fullmatch(r"[\w /-]+", part)]
            if wrong:
                span = place(check.prompt, offer.start(1) + word.start(1), offer.start(1) + word.end(1))
                help = f"the verdicts are {', '.join(VERDICTS)}"
                yield error(span, f"the reply `{wrong[0]}` is not a verdict and counts as no vote", help=help)
    for request in _REQUEST.finditer(check.prompt.value):
        message = f"a reply of `{request[1]}` is not a verdict and counts as no vote"
        help = "ask for PASS, FAIL, UNCLEAR or NOT_APPLICABLE; a question needs no words about the form of the reply"
        yield warning(place(check.prompt, *request.span(1)), message, help=help)
