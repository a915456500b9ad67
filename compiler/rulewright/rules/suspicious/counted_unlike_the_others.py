import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import claims_of
from rulewright.documents.prose_limits import numbers_in
from rulewright.expression.syntax_tree import Binary, Call, Expr, chain, number_in
from rulewright.lower.expressions_of import WrittenExpression, expressions_of

# What a function finds, by the words for it.
FOUND: Final = {
    "card_numbers": re.compile(r"\bcards?\b", re.IGNORECASE),
    "citations": re.compile(r"\b(?:citations?|cites?|cited)\b", re.IGNORECASE),
    "emails": re.compile(r"\b(?:e-?mails?|mail address\w*)\b", re.IGNORECASE),
    "ibans": re.compile(r"\b(?:accounts?|ibans?)\b", re.IGNORECASE),
    "numbers": re.compile(r"\b(?:amounts?|figures?|numbers?)\b", re.IGNORECASE),
    "phone_numbers": re.compile(r"\b(?:tele)?phones?\b", re.IGNORECASE),
}
PERSONAL: Final = frozenset({"card_numbers", "emails", "ibans", "phone_numbers"})


def counted_unlike_the_others(check: CheckDocument) -> Findings:
    """A condition allows more of one kind of data than of the others, or does not look for one that is described.

    Why it matters: a reply with one card number passes `size(ibans(answer)) > 0 or size(card_numbers(answer)) > 1`.
    Instead: count every kind that the description names in the same way.
    """
    words = claims_of(check).words
    for written in expressions_of(check):
        for operator in ("||", "&&"):
            counts = {
                part: found for part in chain(written.checked.expr, operator) if (found := _count(part)) is not None
            }
            limits = sorted(number for _, number in counts.values())
            if len(counts) > 1 and limits[0] == 0 < limits[-1] and not numbers_in(words):
                odd = [part for part, (_, number) in counts.items() if number == limits[-1]]
                message = f"`{written.text(odd[-1])}` compares with {limits[-1]:g}, but another part compares with 0"
                yield warning(written.span(odd[-1]), message)
        sought = {part.function for part in written.parts if isinstance(part, Call)} & {*FOUND, "personal_data"}
        missing = [name for name, spoken in FOUND.items() if spoken.search(words) and name not in sought]
        if (
            sought
            and "personal_data" not in sought
            and missing
            and (_is_of(words, sought & PERSONAL, missing) or _is_of_no(words, sought & _counted(written)))
        ):
            word = FOUND[missing[0]].search(words)
            message = f"the description says `{word[0] if word else ''}`, but no part of this looks for one"
            yield warning(written.span(written.checked.expr), message, help=f"use `{missing[0]}` as well")


def _counted(written: WrittenExpression) -> set[str]:
    """The functions of whose findings an expression reads only the number."""
    sizes = (part.args[0] for part in written.parts if isinstance(part, Call) and part.function == "size" and part.args)
    return {each.function for each in sizes if isinstance(each, Call)}


def _is_of(words: str, sought: set[str], missing: list[str]) -> bool:
    """Whether what is sought and what is missing are personal data that the words name."""
    return any(FOUND[each].search(words) for each in sought) and not PERSONAL.isdisjoint(missing)


def _is_of_no(words: str, sought: set[str]) -> bool:
    """Whether the words name nothing that is sought, as in `size(numbers(answer)) == 0` of `Every answer cites`."""
    return bool(sought) and not any(FOUND[each].search(words) for each in sought & FOUND.keys())


def _count(part: Expr) -> tuple[str, float] | None:
    """The function whose findings a part counts, and from which number on."""
    match part:
        case Binary(operator=">", left=Call(function="size", args=(Call(function=name),)), right=limit):
            number = number_in(limit)
            return None if number is None else (name, number)
    return None
