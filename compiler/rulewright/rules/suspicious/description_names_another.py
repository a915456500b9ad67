import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import items, scalar, text
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Scalar, is_text, place, scalars_below

STATES: Final = {
    "Arizona": "az", "California": "ca", "Colorado": "co", "Florida": "fl", "Illinois": "il", "Massachusetts": "ma",
    "Michigan": "mi", "New Jersey": "nj", "New York": "ny", "North Carolina": "nc", "Ohio": "oh", "Pennsylvania": "pa",
    "Texas": "tx", "Virginia": "va",
}  # fmt: skip
STATE: Final = re.compile(rf"\b(?<!West )(?:{'|'.join(STATES)})\b")
PRONOUNS: Final = re.compile(r"\b(?:he/him|she/her|they/them)\b", re.IGNORECASE)


def description_names_another(scenario: ScenarioDocument) -> Findings:
    """A scenario describes somebody in another state than its jurisdiction, or a probe expects other pronouns.

    Why it matters: the rules and programmes of the wrong place decide, or the probe fails every answer that is right.
    Instead: correct the jurisdiction, the expected pronouns or the description.
    """
    texts = [*filter(is_text, scalars_below(scenario.get("description"), scenario.get("persona")))]
    yield from _in_another_state(scenario, texts)
    yield from _with_other_pronouns(scenario, texts)


def _in_another_state(scenario: ScenarioDocument, texts: list[Scalar]) -> Findings:
    written = scalar(scenario.node, "jurisdiction")
    code = "" if written is None else written.text.lower()
    named = [(each, part) for each in texts for part in STATE.finditer(each.text)] if code in STATES.values() else []
    others = [(each, part) for each, part in named if STATES[part[0]] != code]
    for each, part in others[:1]:
        where = place(each, *part.span())
        if written is not None and len(others) == len(named):
            message = f"the jurisdiction is `{written.value}`, but the scenario is about {part[0]}"
            yield warning(written, message, notes=[(where, "said here")])
        elif written is not None and each is texts[0] and all(part in others for part in named if part[0] is each):
            message = f"{part[0]} is not in the jurisdiction `{written.value}`"
            yield warning(where, message, notes=[(written, "the jurisdiction")])


def _with_other_pronouns(scenario: ScenarioDocument, texts: list[Scalar]) -> Findings:
    named = {found.lower(): each for each in texts for found in PRONOUNS.findall(each.text)}
    for probe in items(scenario.node, "probes") if named else ():
        for expected in items(probe, "expected") if text(probe, "kind") == "pronoun_continuity" else ():
            found = PRONOUNS.search(expected.text) if isinstance(expected, Scalar) else None
            if found is not None and found[0].lower() not in named:
                message = f"the probe expects `{found[0]}`, but the description says `{min(named)}`"
                yield warning(expected, message, notes=[(named[min(named)], "said here")])
