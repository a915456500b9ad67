"""Whatever stands in a document while it is being typed, it can be looked at, explained and completed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol.types import CompletionItem, Position, Range
from tests.compiler.lsp import a_project

from rulewright.load import unsaved
from rulewright.lsp.actions import actions
from rulewright.lsp.completion import completions
from rulewright.lsp.desk import Desk, Sheet
from rulewright.lsp.findings import shown
from rulewright.lsp.hover import hover
from rulewright.lsp.positions import UTF16, position_at
from rulewright.lsp.references import target
from rulewright.lsp.spots import spot_at

SPICE = (
    "x",
    "\n  ",
    ": ",
    '"',
    "'",
    "{",
    "[",
    "|",
    "😀",
    ".",
    "- ",
    "#",
    "&a ",
    "*a ",
    "!t ",
    "\t",
    "\u2028",
    "(",
    ",\n",
)
WHOLE = Range(Position(0, 0), Position(10_000, 0))


def everything_at(desk: Desk, sheet: Sheet, offset: int) -> list[CompletionItem]:
    """Ask all that an editor may ask about a place; gives what may be written there."""
    desk.glance(sheet)
    source, place = sheet.loaded.source, position_at(sheet.loaded.source, offset)
    around = desk.around(sheet)
    for finding in desk.findings[sheet.path]:
        shown(finding, desk.sources, desk.uri, UTF16)
    actions(desk, sheet, WHOLE, None, UTF16)
    with unsaved(desk.held()):
        hover(sheet.loaded, place, around, UTF16)
        kind, spot = around.kind(sheet.loaded.root), spot_at(sheet.loaded.root, offset)
        if kind and spot:
            target(kind, spot, around)
        return completions(source, place, around, UTF16)


def edits(text: str, seed: int, count: int) -> list[tuple[str, int]]:
    """Texts with something inserted, taken out or cut off, and where."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        at = chance.randrange(len(text) + 1)
        spice = chance.choice(SPICE)
        gone = text[:at] + text[at + chance.randrange(20) :]
        found.append(chance.choice([(text[:at], at), (text[:at] + spice + text[at:], at + len(spice)), (gone, at)]))
    return found


@pytest.mark.parametrize("name", a_project.FILES)
def test_typing_from_the_first_letter_to_the_last(project: Path, name: str) -> None:
    path, text, desk = project / name, a_project.FILES[name], Desk()
    desk.look(desk.put(path.as_uri(), text, 0), project, search=True)
    answered = 0
    for end in range(0, len(text) + 1, 5):
        answered += bool(everything_at(desk, desk.put(path.as_uri(), text[:end], end), end))
    assert answered
    desk.look(desk.put(path.as_uri(), text, 0), project, search=False)
    assert desk.findings[str(path)] == ()


@pytest.mark.parametrize("name", a_project.FILES)
def test_edits_without_sense(project: Path, name: str) -> None:
    path, text, desk = project / name, a_project.FILES[name], Desk()
    desk.look(desk.put(path.as_uri(), text, 0), project, search=True)
    for number, (edited, at) in enumerate(edits(text, seed=7, count=60)):
        everything_at(desk, desk.put(path.as_uri(), edited, number), at)
    desk.look(desk.put(path.as_uri(), text, 0), project, search=False)
    assert desk.findings[str(path)] == ()
