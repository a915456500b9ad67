"""Findings reach the editor while one types: at once from the text alone, and a moment later from the project."""

import shutil
from pathlib import Path

import pytest
from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor, RequestError

from rulewright.lsp import workspace
from rulewright.lsp.workspace import Workspace


def codes(found: list[dict[str, object]]) -> list[object]:
    return [each["code"] for each in found]


def the_check(project: Path) -> Path:
    return project / "checks" / "promises-presence.yaml"


def test_a_sound_document_has_no_findings(editor: Editor, project: Path) -> None:
    assert editor.open(the_check(project)) == []


def test_the_server_says_what_it_can(editor: Editor) -> None:
    published = editor.capabilities
    assert published["positionEncoding"] == "utf-16"
    assert published["hoverProvider"]
    assert published["definitionProvider"]
    assert published["completionProvider"]["triggerCharacters"]
    assert published["codeActionProvider"]["codeActionKinds"] == ["quickfix", "source.fixAll.rulewright"]


def test_the_server_subscribes_to_changes_of_files(editor: Editor, project: Path) -> None:
    editor.open(the_check(project))
    assert editor.asked == ["client/registerCapability"]


def test_a_slip_is_found_in_the_unsaved_text(editor: Editor, project: Path) -> None:
    path = the_check(project)
    editor.open(path)
    (unknown,) = editor.change(path, a_project.CHECK.replace("severity:", "severty:"))
    assert unknown["code"] == "unknown-key"
    assert unknown["range"] == {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 7}}
    assert unknown["message"] == "unknown key `severty`\ndid you mean `severity`?"
    assert unknown["severity"] == 1
    assert unknown["source"] == "rulewright"
    assert Path(unknown["codeDescription"]["href"]).name == "unknown-key.md"
    assert editor.change(path, a_project.CHECK) == []


def test_the_project_sees_the_unsaved_text(editor: Editor, project: Path) -> None:
    path = the_check(project)
    editor.open(path)
    editor.change(path, a_project.CHECK.replace("presence_promise", "other_words"))
    editor.until(path.as_uri(), lambda found: "unknown-lexicon" in codes(found))
    editor.change(path, "id: promises-presence\nname: promises_presence\nfail: size(answer) > 80\n")
    lexicon = project / "lexicons" / "presence_promise.yaml"
    (unused,) = editor.until(lexicon.as_uri(), bool)  # nobody has opened it
    assert unused["code"] == "unused-lexicon"
    assert unused["tags"] == [1]


def test_findings_that_need_the_project_stay_in_place_while_typing(editor: Editor, project: Path) -> None:
    path = the_check(project)
    broken = a_project.CHECK.replace("precheck: presence_promise", "precheck: gone")
    path.write_text(broken, encoding="utf-8")
    before = [each for each in editor.open(path) if each["code"] == "unknown-lexicon"]
    at_once = [each for each in editor.change(path, f"# a remark\n\n{broken}") if each["code"] == "unknown-lexicon"]
    assert at_once[0]["range"]["start"]["line"] == before[0]["range"]["start"]["line"] + 2


def test_a_second_place_is_shown_next_to_the_first(editor: Editor, project: Path) -> None:
    path = the_check(project)
    editor.open(path)
    (found,) = editor.change(path, a_project.CHECK.replace("name: p", "id: again\nname: p"))
    assert found["code"] == "duplicate-key"
    (note,) = found["relatedInformation"]
    assert note["location"]["uri"] == path.as_uri()
    assert note["location"]["range"]["start"] == {"line": 0, "character": 0}


def test_severities_are_those_of_the_findings(editor: Editor, project: Path) -> None:
    path = project / "lexicons" / "presence_promise.yaml"
    editor.open(path)
    wrong = a_project.LEXICON.replace("fold: [apostrophes]", "fold: [apostrophe]") + "  - Always here for you\n"
    found = editor.change(path, wrong)
    assert {each["code"]: each["severity"] for each in found} == {"unknown-value": 1, "duplicate-pattern": 2}


def test_columns_are_counted_in_utf16(editor: Editor, project: Path) -> None:
    path = the_check(project)
    editor.open(path)
    words = "\"'😀漢' in scenario.tags && scenario.categry == empathy\""
    found = editor.change(path, a_project.CHECK.replace(a_project.CHECK.split("when: ")[1].splitlines()[0], words))
    (wrong,) = [each for each in found if each["code"] == "bad-expression"]
    line = f"  when: {words}"
    column = len(line[: line.index(".categry")].encode("utf-16-le")) // 2
    assert wrong["range"]["start"] == {"line": 7, "character": column}


def test_an_editor_may_count_columns_otherwise_and_leave_without_goodbye(tmp_path: Path) -> None:
    path = the_check(a_project.write(tmp_path))
    editor = Editor(tmp_path, encodings=("utf-8", "utf-16"))
    assert editor.capabilities["positionEncoding"] == "utf-8"
    (found,) = editor.open(path, a_project.CHECK.replace("name: p", "'😀': 1\nname: p"))
    assert found["range"]["end"]["character"] == 2 + 4
    editor.notify("exit", None)
    assert editor.wait() == 1


def test_a_workflow_is_looked_at_with_its_agents(editor: Editor, project: Path) -> None:
    path = project / "workflow.yaml"
    assert editor.open(path) == []
    found = editor.change(path, a_project.WORKFLOW.replace("agent: critic", "agent: critics"))
    assert codes(found) == ["unknown-agent"]


def test_another_files_unsaved_text_counts_too(editor: Editor, project: Path) -> None:
    check, lexicon = the_check(project), project / "lexicons" / "presence_promise.yaml"
    editor.open(check)
    editor.open(lexicon)
    editor.change(lexicon, a_project.LEXICON.replace("name: presence_promise", "name: renamed"))
    assert codes(editor.until(lexicon.as_uri(), bool)) == ["id-differs-from-file-name"]


def test_a_document_of_two_projects_belongs_to_the_one_it_was_opened_for(project: Path, tmp_path: Path) -> None:
    other = project / "other" / "rulewright.yaml"
    other.parent.mkdir()
    other.write_text("project: other\nroot: ..\nchecks: checks\nlexicons: none\n", encoding="utf-8")
    workspace = Workspace()
    check = workspace.put(the_check(project).as_uri(), a_project.CHECK, 1)
    workspace.analyse(check, tmp_path, search=True)
    second = workspace.put(other.as_uri(), other.read_text(encoding="utf-8"), 1)
    assert str(other) in workspace.analyse(second, tmp_path, search=True)
    assert check.project == project / "rulewright.yaml"
    assert workspace.findings[check.path] == ()


def test_a_broken_project_file_is_reported(editor: Editor, project: Path) -> None:
    path = project / "rulewright.yaml"
    assert editor.open(path) == []
    assert codes(editor.change(path, "project: small\nchecks: [\n")) == ["yaml-syntax"]
    editor.change(path, "project: small\nchecks: nowhere\n")
    assert "missing-path" in codes(editor.until(path.as_uri(), lambda found: "missing-path" in codes(found)))


def test_accepted_findings_are_not_shown_while_typing(editor: Editor, project: Path) -> None:
    accept = "accept:\n  - {rule: unknown-key, path: checks, reason: tried out}\n"
    (project / "rulewright.yaml").write_text(a_project.FILES["rulewright.yaml"] + accept, encoding="utf-8")
    path = the_check(project)
    path.write_text(f"remarks: none\n{a_project.CHECK}", encoding="utf-8")
    assert editor.open(path) == []
    assert codes(editor.change(path, f"remarks: none\n{a_project.CHECK}".replace("S2", "S22"))) == ["unknown-value"]


def test_saving_looks_at_the_project_again(editor: Editor, project: Path) -> None:
    path = the_check(project)
    editor.open(path)
    (project / "lexicons" / "presence_promise.yaml").unlink()
    editor.save(path)
    assert "unknown-lexicon" in codes(editor.until(path.as_uri(), bool))


def test_a_file_that_changes_without_the_editor_is_noticed(editor: Editor, project: Path) -> None:
    path = the_check(project)
    editor.open(path)
    lexicon = project / "lexicons" / "presence_promise.yaml"
    lexicon.unlink()
    event = {"uri": lexicon.as_uri(), "type": 3}
    editor.notify("workspace/didChangeWatchedFiles", {"changes": [event]})
    assert "unknown-lexicon" in codes(editor.until(path.as_uri(), bool))


@pytest.mark.parametrize("others", [[], ["lexicons/presence_promise.yaml"]], ids=["the only one", "one of two"])
def test_closing_a_document_takes_the_findings_of_its_changes_away(
    editor: Editor, project: Path, others: list[str]
) -> None:
    path = the_check(project)
    for each in (*(project / other for other in others), path):
        editor.open(each)
    editor.change(path, a_project.CHECK.replace("S2", "S22"))
    editor.until(path.as_uri(), bool)
    editor.close(path)
    assert editor.until(path.as_uri(), lambda found: not found) == []


def test_a_document_without_project_is_looked_at_alone(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "alone.yaml"
    path.write_text(a_project.CHECK.replace("S2", "S22"), encoding="utf-8")
    assert codes(editor.open(path)) == ["unknown-value"]


def test_a_document_without_a_file_is_checked(editor: Editor) -> None:
    found = editor.open(Path("/"), a_project.CHECK.replace("S2", "S22"), uri="untitled:Untitled-1")
    assert codes(found) == ["unknown-value"]


def test_a_new_file_of_a_project_is_looked_at_before_it_is_saved(editor: Editor, project: Path) -> None:
    path = project / "checks" / "new.yaml"
    assert codes(editor.open(path, a_project.CHECK.replace("S2", "S22"))) == ["unknown-value"]
    path.write_text(a_project.CHECK, encoding="utf-8")
    editor.change(path, a_project.CHECK)
    editor.save(path)
    assert codes(editor.until(path.as_uri(), bool)) == ["duplicate-id"]


def test_a_file_of_somebody_else_is_left_alone(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "compose.yaml"
    path.write_text("services:\n  a: &a {image: x}\n  b:\n    <<: *a\n    !custom x: [\n", encoding="utf-8")
    assert editor.open(path) == []


def test_a_project_next_to_its_documents_is_found(editor: Editor, project: Path) -> None:
    inner = project / "config"
    inner.mkdir()
    text = "project: small\nroot: ..\nchecks: checks\nlexicons: lexicons\nscenarios: scenarios\n"
    (inner / "rulewright.yaml").write_text(text, encoding="utf-8")
    (project / "rulewright.yaml").unlink()
    shutil.rmtree(project / "lexicons")
    (project / "lexicons").mkdir()
    assert "missing-path" not in codes(editor.open(the_check(project)))
    assert "unknown-lexicon" in codes(editor.findings[the_check(project).as_uri()])


def test_an_editor_without_a_folder_or_with_odd_columns_is_served(project: Path) -> None:
    editor = Editor(None, encodings=("odd",))
    assert editor.capabilities["positionEncoding"] == "utf-16"
    editor.open(the_check(project))
    editor.change(the_check(project), a_project.CHECK.replace("presence_promise", "other_words"))
    assert editor.until(the_check(project).as_uri(), lambda found: "unknown-lexicon" in codes(found))
    assert editor.quit() == 0


def test_a_disconnected_editor_ends_the_server(tmp_path: Path) -> None:
    assert Editor(tmp_path).vanish() == 1


@pytest.mark.parametrize(
    "params", [{}, {"textDocument": 3, "position": {"line": 0, "character": 0}}, [1], None], ids=repr
)
def test_a_request_with_wrong_parameters_is_answered_with_an_error(editor: Editor, params: object) -> None:
    with pytest.raises(RequestError):
        editor.request("textDocument/hover", params)


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"{nonsense", -32700), (b'"\xff"', -32700), (b"[]", -32600), (b'{"id": 7}', -32600), (b"3", -32600)],
    ids=repr,
)
def test_an_invalid_message_is_answered_with_a_json_rpc_error(editor: Editor, body: bytes, code: int) -> None:
    editor.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    answer = editor.until_message(lambda message: "error" in message)
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    here = {"textDocument": {"uri": "untitled:none"}, "position": {"line": 0, "character": 0}}
    assert editor.request("textDocument/completion", here) == []  # the server serves on


def test_a_change_is_analysed_with_its_project_and_not_with_every_open_document_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor_workspace = Workspace()
    opened = [
        editor_workspace.put(each.as_uri(), each.read_text("utf-8"), 1) for each in sorted(project.rglob("*.yaml"))
    ]
    editor_workspace.analyse(opened[0], project, search=True)
    assert {each.project for each in opened} == {project / "rulewright.yaml"}
    monkeypatch.setattr(workspace, "analyse_document", None)
    editor_workspace.analyse(opened[0], project, search=False)
