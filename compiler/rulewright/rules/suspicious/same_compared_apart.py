import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import claims_of
from rulewright.expression.syntax_tree import Binary, Expr, Macro, Select, chain, last_name, selections
from rulewright.lower.expressions_of import operations_in, parts_of

SAME: Final = re.compile(r"\b(?:duplicate\w*|identical|repeat\w*|repetition\w*|same|twice)\b", re.IGNORECASE)
CALL: Final = re.compile(r"\b(?:identical|same) calls?\b", re.IGNORECASE)
OTHERWISE: Final = re.compile(
    r"\b(?:another|but|conflict\w*|contradict\w*|differ\w*|different|other|unlike)\b", re.IGNORECASE
)


def same_compared_apart(check: CheckDocument) -> Findings:
    """A check for duplicates compares two items by `or`, or by a field in which they differ.

    Why it matters: two calls are the same if the name and the arguments are equal. With `or`, two calls with the same
    name count as duplicates, and with `!=` only those that are not.
    Instead: compare every field by `==`, joined by `and`.
    """
    words = f"{check.id} {claims_of(check).words}"
    if not SAME.search(words) or OTHERWISE.search(words):
        return
    yield from _by_name_only(check, words)
    for written, part in operations_in(check, {"&&", "||"}):
        sides = chain(part, part.operator)
        crossed = next((each for each in sides if _is_crossed(each)), None)
        if crossed is not None and any(map(_pair, sides)):
            yield warning(written.span(crossed), "this compares two different fields of the items")
            return
        pairs = [(_pair(each), each) for each in sides]
        if len({pair for pair, _ in pairs}) != 1 or pairs[0][0] is None:
            continue
        apart = next((each for _, each in pairs if isinstance(each, Binary) and each.operator == "!="), None)
        if part.operator == "||":
            yield warning(
                written.span(part),
                "two items that agree in only one of these count as the same",
                help="did you mean `and`?",
            )
            return
        if apart is not None:
            yield warning(
                written.span(apart), "two items that differ here count as the same", help="did you mean `==`?"
            )
            return


def _by_name_only(check: CheckDocument, words: str) -> Findings:
    """The comparison of two calls by nothing but the name of the tool, where the words speak of the same call."""
    for written, part in parts_of(check) if CALL.search(words) else ():
        if isinstance(part, Macro) and _pair(part.bodies[-1]) is not None:
            compared = part.bodies[-1]
            if isinstance(compared, Binary) and compared.operator == "==" and last_name(compared.left) == "name":
                message = "calls of one tool with different arguments count as the same"
                yield warning(written.span(compared), message, help="compare `raw` as well")


def _is_crossed(side: Expr) -> bool:
    """Whether a side compares one field of an item with another field of the other item."""
    if not isinstance(side, Binary) or side.operator != "==":
        return False
    (left, fields), (right, others) = selections(side.left), selections(side.right)
    names = getattr(left, "name", ""), getattr(right, "name", "")
    return bool(fields and others and fields != others and all(names)) and names[0] != names[1]


def _pair(side: Expr) -> tuple[str, str] | None:
    """The two items whose fields of one name a side compares."""
    if not isinstance(side, Binary) or side.operator not in ("==", "!=") or not isinstance(side.left, Select):
        return None
    (left, fields), (right, others) = selections(side.left), selections(side.right)
    names = getattr(left, "name", ""), getattr(right, "name", "")
    return names if fields and fields == others and all(names) and names[0] != names[1] else None
