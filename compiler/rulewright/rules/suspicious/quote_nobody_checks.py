import re
from typing import Final

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import scalar
from rulewright.documents.check import CheckDocument

QUOTE: Final = re.compile(r"\bquote\b[^.\n]{0,300}\b(?:words|exactly|verbatim|word for word)\b", re.IGNORECASE)


def quote_nobody_checks(check: CheckDocument) -> Findings:
    """A prompt asks for exact quotes, but with `require_evidence_span: false` a FAIL counts without one.

    Why it matters: a judge that points at nothing is believed.
    Instead: write `require_evidence_span: true`, or do not ask for quotes.
    """
    required, prompt = check.get("scorer", "require_evidence_span"), scalar(check.node, "prompt")
    if prompt is not None and getattr(required, "value", None) is False and QUOTE.search(prompt.text):
        yield advice(
            check.place("scorer", "require_evidence_span"), "the prompt asks for quotes, but a FAIL counts without one"
        )
