import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.lexicon import LexiconDocument

SLASHED: Final = re.compile(r"/.+/[gimsuy]*")


def regex_between_slashes(lexicon: LexiconDocument) -> Findings:
    """A regular expression is written between slashes, as in JavaScript.

    Why it matters: the slashes and anything after the last one are part of the expression, so the pattern never hits.
    Instead: remove them; `(?i)` at the beginning ignores case.
    """
    for pattern in lexicon.patterns:
        if pattern.mode == "regex" and SLASHED.fullmatch(pattern.text):
            yield warning(pattern.scalar, "the slashes are part of the expression", help="write `(?i)` for `/i`")
