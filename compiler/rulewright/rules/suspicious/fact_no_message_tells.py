import re
from typing import Final

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import text_scalars
from rulewright.documents.scenario import ScenarioDocument
from rulewright.documents.spoken_words import SpokenWords, all_known, spoken_words, words_of

NAME: Final = re.compile(r"(?<![^\W_])[^\W\d_a-z][a-z]{2,}(?![^\W_])")  # `Kamala` in `mother_Kamala`


def fact_no_message_tells(scenario: ScenarioDocument) -> Findings:
    """A turn's `facts` state a name that the user has not said yet, or something that is first said in a later turn.

    Why it matters: `facts` record what a turn says. Probes and expectations are written from them, and then expect
    what no answer can know. What only the author knows about the user belongs in `persona`.
    Instead: let the user say it, or move the fact to the turn that says it.
    """
    spoken = spoken_words(scenario)
    for turn in scenario.turns if all_known(scenario) else ():
        for fact in text_scalars(turn.node, "facts") if turn.number is not None else ():
            unknown = _unknown(fact.text.partition("=")[2], spoken, turn.number or 0)
            if unknown is not None:
                yield advice(fact, f"no message up to turn {turn.number} mentions `{unknown}`")


def _unknown(value: str, spoken: SpokenWords, by: int) -> str | None:
    """The name in a fact's value that is not said yet, or a value that is said only later; None if there is none."""
    names = [name for name in NAME.findall(value) if not spoken.is_named(name, by)]
    words = [word for word in words_of(value) if not word.isdecimal()]
    is_new = bool(words) and not any(spoken.is_spoken(word, by) for word in words)
    is_early = is_new and spoken.is_spoken_later(words, by)
    return names[0] if names else value if is_early else None
