"""Rule: a prompt that offers an unknown verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.check import CheckDocument
from rulewright.load import place
from rulewright_runtime.plan.part import VERDICTS

_OFFER: Final = re.compile(r'"verdict"\s*:\s*((?:"[^"\n]*"\s*\|?\s*)+)')
_WORD: Final = re.compile(r'"([^"\n]*)"')


def prompt_asks_for_unreadable_reply(check: CheckDocument) -> Iterator[Diagnostic]:
    """A prompt offers a verdict other than the four that count.

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
