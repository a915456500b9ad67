import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import optional_text
from rulewright.documents.check import CheckDocument
from rulewright.expression.syntax_tree import Call, Expr, ListLiteral, field_of
from rulewright.load import Sequence
from rulewright.lower.expressions_of import parts_of

WORDS: Final = ("note", "description", "pass_rule", "fail_rule")
TOGETHER: Final = re.compile(
    r"\b(?:all|and|both|complete|each|entire|every|everything|together|whole)\b|,", re.IGNORECASE
)
FEW: Final = 3  # phrases; two may well stand in one text


def all_of_alternatives(check: CheckDocument) -> Findings:
    """One message is searched for all phrases of a list, although the check does not say that all are needed.

    Why it matters: wordings of the same thing rarely occur in one message, so `contains_all` finds nothing.
    Instead: write `contains_any`, or say in the description that all have to be there.
    """
    words = " ".join(filter(None, (optional_text(check.node, key) for key in WORDS)))
    for written, part in parts_of(check) if words and not TOGETHER.search(words) else ():
        if isinstance(part, Call) and part.function == "contains_all" and len(part.args) == 2:
            phrases = _phrases(check, part.args[1])
            if phrases >= FEW:
                message = f"`{written.text(part)}` needs all {phrases} phrases in one message"
                yield warning(written.span(part), message, help="did you mean `contains_any`?")


def _phrases(check: CheckDocument, part: Expr) -> int:
    """The number of phrases in a list, also of a parameter."""
    if isinstance(part, ListLiteral):
        return len(part.items)
    name = field_of(part, "params")
    listed = None if name is None else check.get("params", name)
    return len(listed.items) if isinstance(listed, Sequence) else 0
