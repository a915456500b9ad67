import re
from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import text_scalars
from rulewright.documents.scenario import ScenarioDocument
from rulewright.documents.spoken_words import all_known, shown, words_of
from rulewright.load import scalars_below

AMOUNT: Final = re.compile(
    r"(?<![\w.$\u20ac\u00a3-])(?:[$\u20ac\u00a3]\d[\d.,]*k?|\d[\d.,]*(?:%| (?:years?|months?|weeks?|mg)\b))",
    re.IGNORECASE,
)


def expectation_of_an_unstated_fact(scenario: ScenarioDocument) -> Findings:
    """An expected behaviour rests on an amount of money, a share or a period that only the persona or a branch states.

    Why it matters: the assistant does not see the persona, nor the message of a branch that is not taken. An answer
    that is expected to name `$40K in savings`, `25%` or `7 years` would have to guess it.
    Instead: let the user say it first, or leave it out of the expectation.
    """
    known = _numbers(shown(scenario))
    hidden = _numbers(each.text for each in scalars_below(scenario.get("persona")))
    for turn in scenario.turns if all_known(scenario) else ():
        own = _numbers(turn.messages) - _numbers([turn.user_message])
        known |= _numbers([turn.user_message])
        for item in text_scalars(turn.node, "expected_behaviors"):
            for amount in AMOUNT.findall(item.text):
                number = _numbers([amount])
                if number.isdisjoint(known) and not number.isdisjoint(hidden | own):
                    place = "a branch" if number & own else "the persona"
                    yield advice(item, f"the user has not said `{amount}`, only {place} states it")
        known |= own


def _numbers(texts: Iterable[str]) -> set[str]:
    """The numbers in texts; `ten` is one, and `40K` another than `40`."""
    return {word for each in texts for word in words_of(each) if word[0].isdecimal()}
