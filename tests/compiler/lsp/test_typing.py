"""Whatever stands in a document while it is being typed, it can be looked at, explained and completed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol.types import CompletionItem, Position, Range
from tests.compiler.lsp import a_project
from tests.rounds import rounds

from rulewright.load import unsaved
from rulewright.lsp.code_actions import actions
from rulewright.lsp.completions import completions
from rulewright.lsp.cursor import cursor_at
from rulewright.lsp.hover import hover
from rulewright.lsp.positions import UTF16, position_at
from rulewright.lsp.references import target
from rulewright.lsp.shifted_findings import to_protocol
from rulewright.lsp.workspace import TextDocument, Workspace

SPICE = (
    "x", "\n  ", ": ", '"', "'", "{", "[", "|", "😀", ".", "- ", "#", "&a ", "*a ", "!t ", "\t", "\u2028", "(", ",\n",
)  # fmt: skip
WHOLE = Range(Position(0, 0), Position(10_000, 0))


def everything_at(workspace: Workspace, document: TextDocument, offset: int) -> list[CompletionItem]:
    """Ask all that an editor may ask about a place; gives what may be written there."""
    workspace.analyse_single(document)
    source, place = document.loaded.source, position_at(document.loaded.source, offset)
    context = workspace.context_of(document)
    for finding in workspace.findings[document.path]:
        to_protocol(finding, workspace.sources, workspace.uri, UTF16)
    actions(workspace, document, WHOLE, None, UTF16)
    with unsaved(workspace.unsaved_texts()):
        hover(document.loaded, place, context, UTF16)
        kind, cursor = context.kind(document.loaded.root), cursor_at(document.loaded.root, offset)
        if kind and cursor:
            target(kind, cursor, context)
        return completions(source, place, context, UTF16)


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
    path, text, workspace = project / name, a_project.FILES[name], Workspace()
    workspace.analyse(workspace.put(path.as_uri(), text, 0), project, search=True)
    answered = 0
    for end in range(0, len(text) + 1, rounds(10, 5)):
        answered += bool(everything_at(workspace, workspace.put(path.as_uri(), text[:end], end), end))
    assert answered
    workspace.analyse(workspace.put(path.as_uri(), text, 0), project, search=False)
    assert workspace.findings[str(path)] == ()


@pytest.mark.parametrize("name", a_project.FILES)
def test_edits_without_sense(project: Path, name: str) -> None:
    path, text, workspace = project / name, a_project.FILES[name], Workspace()
    workspace.analyse(workspace.put(path.as_uri(), text, 0), project, search=True)
    for number, (edited, at) in enumerate(edits(text, seed=7, count=rounds(30, 60))):
        everything_at(workspace, workspace.put(path.as_uri(), edited, number), at)
    workspace.analyse(workspace.put(path.as_uri(), text, 0), project, search=False)
    assert workspace.findings[str(path)] == ()
