from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, Guess, error, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.prompt_prose import explained_verdicts
from rulewright.load import Scalar, place
from rulewright.rules.correctness.prompt_holds_a_verdict import prompts_of
from rulewright_runtime.plan.part import VERDICTS

if TYPE_CHECKING:
    from rulewright.documents.scorecard import CaseScorecardDocument

_OFFER: Final = re.compile(r'"verdict"\s*:\s*((?:"[^"\n]*"\s*(?:\([^()\n]*\)\s*)?(?:\||,|or\b|/)?\s*(?!"\w+"\s*:))+)')
_WORD: Final = re.compile(r'"([^"\n]*)"')
_REQUEST: Final = re.compile(  # at the beginning of a sentence
    r"(?:^|[.:!?])[ \t]*(?:please )?(?:answer|reply|respond|return)\s+(?:(?:with|only|just|in|either|by|a)\s+)*"
    r"([\"'`]?(?:yes[\"'`]?\s*(?:or|/)\s*[\"'`]?no|true[\"'`]?\s*(?:or|/)\s*[\"'`]?false"
    r"|(?:score|number|grade|rating)\s+(?:from|between)\s+\d+\s+(?:to|and)\s+\d+)\b[\"'`]?)",
    re.IGNORECASE | re.MULTILINE,
)
_RATING: Final = re.compile(
    r"(?:^|[.:!?])[ \t]*(?:please )?((?:rate|score|grade|give)\b[^.\n]{0,60}?\b(?:(?:from|between)\s+\d[^.\n]{0,20}?"
    r"\s(?:to|and)\s+\d+|on a scale))",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED: Final = re.compile(r"^[ \t]*(N/A|NA|UNSURE|UNKNOWN|MAYBE|YES|NO|INCONCLUSIVE|FAILED|PASSED):", re.MULTILINE)
_DEFINED: Final = re.compile(r"^[ \t]*(?:PASS|FAIL)\b", re.MULTILINE)
# A JSON object that is asked for: its first key, before one of the verdicts.
_KEYED: Final = re.compile(
    r"(?:^|[.:!?])\s*(?:please )?(?:answer|reply|respond|return)\b[^{}]{0,60}"
    r"\{\s*\"(\w+)\"\s*:\s*\"(?:PASS|FAIL)\b[^}]*\}",
    re.IGNORECASE | re.MULTILINE,
)
# The same in any language, where it offers both verdicts under one key.
_OFFERED: Final = re.compile(r'\{\s*"(\w+)"\s*:\s*"(?:PASS\b[^{}:]*\bFAIL|FAIL\b[^{}:]*\bPASS)\b')
_NUMBER: Final = re.compile(r'"score"\s*:\s*["<]?\d')


def prompt_asks_for_unreadable_reply(document: CheckDocument | CaseScorecardDocument) -> Findings:
    """A prompt asks for an unknown verdict or one under another key, or does not offer one that it explains.

    Why it matters: a judge that follows the prompt gives a reply that is not a vote, so the check is never resolved.
    Instead: offer PASS, FAIL, UNCLEAR and NOT_APPLICABLE, in capitals.
    """
    for prompt in prompts_of(document):
        yield from _offers(prompt, prompt.text)
        for named in _NAMED.finditer(prompt.text) if _DEFINED.search(prompt.text) else ():
            message = f"the reply `{named[1]}` is not a verdict and does not count as a vote"
            yield error(place(prompt, *named.span(1)), message, help=f"the verdicts are {', '.join(VERDICTS)}")
        yield from _requests(prompt, prompt.text, has_fields=document.get("phases") is not None)


def _offers(prompt: Scalar, text: str) -> Findings:
    for offer in _OFFER.finditer(text):
        for word in _WORD.finditer(offer.group(1)):
            offered = [part.strip() for part in word.group(1).split("|")]
            wrong = [part for part in offered if part not in VERDICTS and re.fullmatch(r"[\w /-]+", part)]
            if wrong:
                span = place(prompt, offer.start(1) + word.start(1), offer.start(1) + word.end(1))
                help = f"the verdicts are {', '.join(VERDICTS)}"
                yield error(span, f"the reply `{wrong[0]}` is not a verdict and does not count as a vote", help=help)
                return
        known = set(re.findall("[A-Z_]+", offer[1])) & {*VERDICTS}
        lacking = next((word for word, _ in explained_verdicts(text) if word not in known), None)
        if lacking is not None and len(known) > 1:
            message = f"the prompt explains {lacking}, but does not offer it as a reply"
            yield warning(place(prompt, *offer.span(1)), message)
            return


def _requests(prompt: Scalar, text: str, *, has_fields: bool) -> Findings:
    help = "ask for PASS, FAIL, UNCLEAR or NOT_APPLICABLE; a question needs no words about the form of the reply"
    for request in _REQUEST.finditer(text):
        message = f"a reply of `{request[1]}` is not a verdict and does not count as a vote"
        yield warning(place(prompt, *request.span(1)), message, help=help)
    is_read = has_fields or '"verdict"' in text
    keyed, offered = (None, None) if is_read else (_KEYED.search(text), _OFFERED.search(text))
    if keyed is not None:
        message = f"the reply has no key `verdict`, but `{keyed[1]}`, and does not count as a vote"
        yield error(place(prompt, *keyed.span(1)), message, help=Guess("verdict"))
    elif offered is not None:  # which may be the form of what is judged
        message = f"`{offered[1]}` offers verdicts, but the vote of a judge is read from the key `verdict`"
        yield warning(place(prompt, *offered.span(1)), message, help=Guess("verdict"))
    rating = None if '"verdict"' in text else _RATING.search(text) or _NUMBER.search(text)
    if rating is not None:
        message = "the prompt asks for a number, which is not a verdict and does not count as a vote"
        yield warning(place(prompt, *rating.span(rating.lastindex or 0)), message, help=help)
