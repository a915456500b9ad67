"""Whatever stands in a document while it is being typed, it can be looked at, explained and completed; and whatever an
editor sends, the server stays."""

import random
from pathlib import Path

import pytest
from lsprotocol.types import CompletionItem, Position, Range
from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor, RequestError
from tests.rounds import rounds

from rulewright.load import unsaved
from rulewright.lsp.code_actions import actions
from rulewright.lsp.completions import completions
from rulewright.lsp.cursor import cursor_at
from rulewright.lsp.hover import hover
from rulewright.lsp.positions import UTF16, position_at, to_protocol
from rulewright.lsp.references import target
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


BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
TEXTS = {
    "nothing": "", "nul": "id: a\0b\n", "half of a character": "id: \ud800\n", "bomb": BOMB, "deep": "[" * 5_000,
    "deep blocks": "".join(f"{' ' * n}a:\n" for n in range(300)), "long line": f"id: {'x' * 300_000}\n",
    "many breaks": "\r\n" * 50_000, "odd breaks": "id: a\u2028b\x85c\x0b\x0c\rname: 'x\n",
    "tags": "id: !!python/object/apply:os.system [ls]\n", "wide": "when: '" + "👩‍👩‍👧" * 500 + "\n",
    "deep expression": f"{a_project.CHECK}".replace("'lonely'", "(" * 400 + "'lonely'" + ")" * 400),
    "long expression": f"{a_project.CHECK}".replace("'lonely'", "+".join(["'a'"] * 9_000)),
    "mark": "id: rulewright_cursor\nroutin\n",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_is_answered(editor: Editor, project: Path, name: str) -> None:
    path = project / "checks" / "promises-presence.yaml"
    editor.open(path)
    editor.change(path, TEXTS[name])
    lines = TEXTS[name].split("\n")
    for line, character in ((0, 0), (0, 5), (len(lines) - 1, len(lines[-1])), (7, 20), (10**6, 10**6)):
        for method in ("hover", "completion", "definition"):
            editor.at(method, path, line, character)
    editor.actions(path, 0, 10**6)
    editor.save(path)
    editor.change(path, a_project.CHECK)  # the project may have been analysed with the hostile text before
    assert editor.until(path.as_uri(), lambda found: found == []) == []


def test_a_request_that_nobody_knows_is_an_error(editor: Editor) -> None:
    with pytest.raises(RequestError):
        editor.request("no/such/method", {})


def test_messages_without_sense_are_borne(editor: Editor, project: Path) -> None:
    editor.notify("textDocument/didOpen", {})
    editor.notify("textDocument/didChange", {"textDocument": {"uri": 7}, "contentChanges": "none"})
    editor.notify("no/such/method", {})
    editor.send_raw(b"Content-Length: 7\r\n\r\n{nojson")
    editor.send_raw(b"Content-Length: 2\r\n\r\n[]")
    assert editor.open(project / "workflow.yaml") == []


def test_messages_about_documents_that_are_not_open_are_borne(editor: Editor, project: Path) -> None:
    nowhere = project / "nowhere.yaml"
    editor.close(nowhere)
    editor.save(nowhere)
    assert editor.at("hover", nowhere, 0, 0) is None
    assert editor.at("completion", nowhere, 0, 0) == []
    assert editor.at("definition", nowhere, 0, 0) is None
    assert editor.actions(nowhere, 0, 1) == []
    assert editor.open(project / "workflow.yaml") == []


CRASHING = """
import sys
from rulewright.lsp import hover, language_server, workspace
def crash(*args, **more): raise ZeroDivisionError("of ours")
def crash_and_print(*args, **more):
    print("oops")
    crash()
hover.hover = crash_and_print
whole = workspace.analyse_project
workspace.analyse_project = lambda path: crash() if (path.parent / "crash").exists() else whole(path)
sys.exit(0 if language_server.serve() else 1)
"""


def test_a_crash_is_reported_for_one_request_and_printed_text_does_not_reach_the_protocol(
    tmp_path: Path,
) -> None:
    path = a_project.write(tmp_path) / "workflow.yaml"
    editor = Editor(tmp_path, "-c", CRASHING)
    assert editor.open(path) == []
    with pytest.raises(RequestError, match="of ours"):
        editor.at("hover", path, 0, 0)
    (tmp_path / "crash").touch()
    wrong = a_project.WORKFLOW.replace("critic", "critics")
    assert [each["code"] for each in editor.change(path, wrong)] == ["unknown-agent"]  # looked at alone
    (tmp_path / "crash").unlink()
    assert editor.change(path, a_project.WORKFLOW) == []
    assert editor.quit() == 0
    told = b"".join(editor.errors)
    assert b"ZeroDivisionError: of ours" in told
    assert b"oops" in told
