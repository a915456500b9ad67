import re
from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ProbeDocument, ScenarioDocument, TurnDocument
from rulewright.documents.spoken_words import all_known, is_name, plain, shown
from rulewright_runtime.matching.pronouns import parse

SHORT: Final = 6  # names up to this length have no ending to leave out
STATED: Final = r"\W+(?:[^\W.!?]+[^\w.!?]+){0,3}?((?:she|he|they)/(?:her|him|them))\b"  # after a name


def probe_expects_an_unstated_name(scenario: ScenarioDocument) -> Findings:
    """A probe expects a name that the user has not said, or other pronouns than the user states.

    Why it matters: an answer can't recall a name it never saw: every honest one is marked as forgetful, and only an
    invented name would pass. The assistant sees `system`, but not `facts` and `persona`, except what
    `persona.visible` names.
    Instead: let the user mention the name first, or expect something else.
    """
    for probe in scenario.probes if all_known(scenario) else ():
        if probe.turn is None:
            continue
        yield from _other_pronouns(probe, scenario)
        before = [message for turn in _until(probe.turn, scenario) for message in turn.messages]
        known = [*shown(scenario), *before]
        for item in probe.written:
            name = item.text
            if probe.kind == "recall" and is_name(name) and known and not _contain(known, name):
                later = next((turn for turn in scenario.turns if _contain(turn.messages, name)), None)
                yield warning(
                    item,
                    f"no message up to turn {probe.turn} mentions `{name}`, so no answer can recall it",
                    help=f"the user first mentions it in turn {later.number}" if later else None,
                )


def _other_pronouns(probe: ProbeDocument, scenario: ScenarioDocument) -> Findings:
    """Findings for people of a probe whom a message up to its turn names next to other pronouns."""
    for item in probe.written if probe.kind == "pronoun_continuity" else ():
        person = parse(item.text)
        for turn in _until(probe.turn or 0, scenario) if person is not None else ():
            stated = None if person is None else re.search(re.escape(person.name) + STATED, turn.user_message, re.I)
            if person is not None and stated and person.pronouns.isdisjoint(stated[1].casefold().split("/")):
                notes = [(turn.place("user_message"), "the user's message")]
                yield warning(item, f"`{person.name}` has the pronouns {stated[1]} in turn {turn.number}", notes=notes)


def _until(number: int, scenario: ScenarioDocument) -> list[TurnDocument]:
    return [turn for turn in scenario.turns if turn.number is None or turn.number <= number]


def _contain(messages: Iterable[str], name: str) -> bool:
    """Whether a message contains the name in any case, with any apostrophes and ending (`Nigeria`, `Nigerian`)."""
    stem = plain(name)
    stem = stem[:-2] if len(stem) > SHORT else stem
    return any(stem in plain(words) for words in messages)
