"""Nothing that is typed or sent ends the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor, RequestError

BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
TEXTS = {
    "nothing": "",
    "nul": "id: a\0b\n",
    "half of a character": "id: \ud800\n",
    "bomb": BOMB,
    "deep": "[" * 5_000,
    "deep blocks": "".join(f"{' ' * n}a:\n" for n in range(300)),
    "long line": f"id: {'x' * 300_000}\n",
    "many breaks": "\r\n" * 50_000,
    "odd breaks": "id: a\u2028b\x85c\x0b\x0c\rname: 'x\n",
    "tags": "id: !!python/object/apply:os.system [ls]\n",
    "wide": "when: '" + "👩‍👩‍👧" * 500 + "\n",
    "deep expression": f"{a_project.CHECK}".replace("'lonely'", "(" * 400 + "'lonely'" + ")" * 400),
    "long expression": f"{a_project.CHECK}".replace("'lonely'", "+".join(["'a'"] * 9_000)),
    "mark": "id: rulewright_cursor\nroutin\n",
}


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
    assert editor.change(path, a_project.CHECK) == []


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


def test_a_crash_of_ours_is_one_requests_error_and_is_told_and_what_is_printed_by_mistake_is_no_message(
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
