"""Rule: a recall probe for a name that nobody has said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import text, text_scalars
from rulewright.documents.scenario import ScenarioDocument, TurnDocument

SHORT: Final = 6  # names up to this length have no ending to leave out
APOSTROPHES: Final = str.maketrans("", "", "'\u2019")


def probe_expects_an_untold_name(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """A recall probe expects a name that no message of the user says, up to the probed turn.

    Why it matters: an answer can't recall what it was never told; every honest one is counted as forgetful, and only
    an invented name would pass. `facts` and `persona` are not told, except what `persona.visible` names.
    Instead: let the user say the name first, or expect something else.
    """
    if not scenario.turns or any("user_message" not in turn.node for turn in scenario.turns):
        return  # not all that is said can be read
    shown = [text(scenario.persona.node, key) for key in scenario.persona.visible] if scenario.persona else []
    for probe in scenario.probes:
        if probe.kind != "recall" or probe.turn is None:
            continue
        told = [*shown, *(said for turn in _until(probe.turn, scenario) for said in _messages(turn))]
        for item in text_scalars(probe.node, "expected"):
            name = str(item.value)
            if _is_name(name) and told and not _says(told, name):
                later = next((turn for turn in scenario.turns if _says(_messages(turn), name)), None)
                yield warning(
                    item,
                    f"no message up to turn {probe.turn} says `{name}`, so no answer can recall it",
                    help=f"the user first says it in turn {later.number}" if later else None,
                )


def _until(number: int, scenario: ScenarioDocument) -> list[TurnDocument]:
    return [turn for turn in scenario.turns if turn.number is None or turn.number <= number]


def _messages(turn: TurnDocument) -> list[str]:
    """What the user may say in a turn."""
    return [turn.user_message, *(branch.user_message for branch in turn.branches)]


def _says(messages: list[str], name: str) -> bool:
    """Whether a message holds the name, whatever its case, apostrophes and ending (`Nigeria`, `Nigerian`)."""
    stem = _plain(name)
    stem = stem[:-2] if len(stem) > SHORT else stem
    return any(stem in _plain(words) for words in messages)


def _plain(text: str) -> str:
    return text.translate(APOSTROPHES).casefold()


def _is_name(item: str) -> bool:
    """Whether every word starts with a capital: what else is expected may be put in other words."""
    return all(word[:1].isupper() for word in item.split()) and bool(item.strip())
