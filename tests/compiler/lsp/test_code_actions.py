"""What a finding offers to do about itself, and what is safe to do about all of a file."""

from pathlib import Path
from typing import Any

from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor

from rulewright.linting.lint_run import lint
from rulewright.lsp.workspace import Workspace

IDLE = "  # rulewright: allow unknown-key because it was there once"


def carried_out(text: str, action: dict[str, Any], path: Path) -> str:
    """The text after an action that changes ASCII on single lines or as a whole."""
    (edits,) = [action["edit"]["changes"][path.as_uri()]]
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    places = [[starts[at["line"]] + at["character"] for at in edit["range"].values()] for edit in edits]
    for (start, end), edit in sorted(zip(places, edits, strict=True), key=lambda pair: pair[0], reverse=True):
        text = text[:start] + edit["newText"] + text[end:]
    return text


def test_a_slip_can_be_fixed(editor: Editor, project: Path) -> None:
    path = project / "checks" / "promises-presence.yaml"
    editor.open(path)
    wrong = a_project.CHECK.replace("severity:", "severty:")
    editor.change(path, wrong)
    (action,) = editor.actions(path, 3, 4)
    assert action["title"] == "write `severity` (unsafe)"
    assert action["kind"] == "quickfix"
    assert not action["isPreferred"]
    assert action["diagnostics"][0]["code"] == "unknown-key"
    assert carried_out(wrong, action, path) == a_project.CHECK


def test_elsewhere_nothing_is_offered(editor: Editor, project: Path) -> None:
    path = project / "checks" / "promises-presence.yaml"
    editor.open(path)
    editor.change(path, a_project.CHECK.replace("severity:", "severty:"))
    assert editor.actions(path, 6, 9) == []


def test_a_safe_fix_says_so_and_is_preferred(editor: Editor, project: Path) -> None:
    path = project / "checks" / "promises-presence.yaml"
    wrong = a_project.CHECK.replace("severity: S2", f"severity: S2{IDLE}")
    editor.open(path)
    editor.change(path, wrong)
    (action, everything) = editor.actions(path, 3, 4)
    assert action["title"].endswith("(safe)")
    assert action["isPreferred"]
    assert everything["kind"] == "source.fixAll.rulewright"
    assert carried_out(wrong, action, path) == carried_out(wrong, everything, path) == a_project.CHECK


def test_all_safe_fixes_of_a_file_are_one_action(editor: Editor, project: Path) -> None:
    path = project / "checks" / "promises-presence.yaml"
    wrong = a_project.CHECK.replace("severity: S2", f"severity: S2{IDLE}").replace("scope:", "scpe:")
    editor.open(path)
    editor.change(path, wrong)
    (action,) = editor.actions(path, 0, 1, only=["source.fixAll"])
    assert carried_out(wrong, action, path) == a_project.CHECK.replace("scope:", "scpe:")


def test_only_what_is_asked_for_is_offered(editor: Editor, project: Path) -> None:
    path = project / "checks" / "promises-presence.yaml"
    editor.open(path)
    editor.change(path, a_project.CHECK.replace("severity: S2", f"severity: S2{IDLE}"))
    assert {action["kind"] for action in editor.actions(path, 3, 4)} == {"quickfix", "source.fixAll.rulewright"}
    assert {action["kind"] for action in editor.actions(path, 3, 4, only=["quickfix"])} == {"quickfix"}
    assert editor.actions(path, 3, 4, only=["refactor"]) == []


def test_findings_of_an_earlier_text_offer_nothing(project: Path) -> None:
    workspace = Workspace()
    uri = (project / "checks" / "promises-presence.yaml").as_uri()
    wrong = a_project.CHECK.replace("severity:", "severty:")
    document = workspace.put(uri, wrong, 1)
    workspace.analyse(document, None, search=True)
    assert workspace.is_up_to_date(document)
    assert workspace.findings[document.path]
    assert not workspace.is_up_to_date(workspace.put(uri, f"\n{wrong}", 2))


def test_what_is_offered_leaves_the_project_clean(editor: Editor, project: Path) -> None:
    path = project / "checks" / "promises-presence.yaml"
    wrong = a_project.CHECK.replace("severity: S2", f"severity: S2{IDLE}")
    editor.open(path)
    editor.change(path, wrong)
    (action,) = editor.actions(path, 0, 1, only=["source.fixAll"])
    path.write_text(carried_out(wrong, action, path), encoding="utf-8")
    assert lint([project]).diagnostics == ()
