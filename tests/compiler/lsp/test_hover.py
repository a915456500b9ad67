"""What the editor shows of the word under the pointer, and where it is defined."""

from pathlib import Path

import pytest
from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor

CHECK = "checks/promises-presence.yaml"


def hover_text(editor: Editor, path: Path, text: str, word: str) -> str:
    """What hovering over a word of a text gives."""
    editor.show(path, text)
    at = text.index(word) + 1
    line = text.count("\n", 0, at)
    found = editor.at("hover", path, line, at - (text.rfind("\n", 0, at) + 1))
    return "" if found is None else str(found["contents"]["value"])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("severity", "**severity**: the severity of a failure"),
        ("S2", "one of `S1`, `S2`, `S3`, `S4`, `S4_GATE`, `S5`"),
        ("route:", "*read by: routing*"),
        ("pass_rule", "*documentation: nothing reads it*"),
        ("deterministic_precheck", "for `hybrid_llm`, `lexicon_only`"),
        ("presence_promise\n", "lexicon `presence_promise`: promises to be there for ever"),
        ("scenario.tags", "scenario: scenario {"),
        ("tags &&", "tags: list(string)"),
        ("category ==", "category: category: confidential | context | continuity | empathy | safety"),
        ("empathy", "empathy: a constant"),
    ],
)
def test_a_word_is_explained(editor: Editor, project: Path, word: str, expected: str) -> None:
    assert expected in hover_text(editor, project / CHECK, a_project.CHECK, word)


def test_a_key_is_explained_with_the_words_of_the_project(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "rulewright.yaml").write_text(
        "project: desk\nvocabulary: {severities: [minor, major]}\n", encoding="utf-8"
    )
    path = tmp_path / "checks" / "brief.yaml"
    path.parent.mkdir()
    path.write_text("", encoding="utf-8")
    found = hover_text(editor, path, "id: brief\nseverity: minor\nfail: size(answer) > 80\n", "severity")
    assert "one of `minor`, `major`" in found
    assert "S4" not in found.partition("one of")[2]


def test_a_function_is_explained(editor: Editor, project: Path) -> None:
    text = "id: brief\nfail: word_count(answer) > 80\n"
    found = hover_text(editor, project / "checks" / "brief.yaml", text, "word_count")
    assert "word_count(string) -> int" in found
    assert "words" in found.partition("```\n\n")[2]


@pytest.mark.parametrize("word", ["\n  type", "The assistant"])
def test_between_words_there_may_be_nothing(editor: Editor, project: Path, word: str) -> None:
    assert "list(" not in hover_text(editor, project / CHECK, a_project.CHECK, word)


def test_a_code_in_a_comment_shows_its_page(editor: Editor, project: Path) -> None:
    text = f"{a_project.CHECK}# rulewright: allow dead-key, unknown-key because it is old\n"
    found = hover_text(editor, project / CHECK, text, "unknown-key")
    assert found.startswith("**unknown-key**\n\nA key is unknown, so nothing reads it.")
    assert "Instead:" in found


def test_an_expression_in_a_block_is_explained_at_its_place(editor: Editor, project: Path) -> None:
    when = "\"'lonely' in scenario.tags && scenario.category == empathy\""
    folded = ">-\n    '😀' in scenario.tags &&\n    scenario.category == empathy"
    assert when in a_project.CHECK
    text = a_project.CHECK.replace(when, folded)
    assert "category: category" in hover_text(editor, project / CHECK, text, "category ==")


def test_a_value_of_a_prompt_is_explained(editor: Editor, project: Path) -> None:
    text = f"{a_project.CHECK}prompt: |\n  Question {{{{ check.severity | upper }}}}?\n"
    assert "severity: severity: S1" in hover_text(editor, project / CHECK, text, "severity | upper")
    assert "severity" not in hover_text(editor, project / CHECK, text, "Question")


def test_a_condition_of_a_workflow_is_explained(editor: Editor, project: Path) -> None:
    text = a_project.WORKFLOW
    assert "decision: decision: GO | NO_GO" in hover_text(editor, project / "workflow.yaml", text, "decision")
    assert "agent `critic`" in hover_text(editor, project / "workflow.yaml", text, "critic")


def test_a_name_of_the_authors_own_is_explained_by_what_it_is_one_of(editor: Editor, project: Path) -> None:
    assert hover_text(editor, project / "workflow.yaml", a_project.WORKFLOW, "code:").startswith("**tasks**: ")
    assert hover_text(editor, project / "workflow.yaml", a_project.WORKFLOW, "path: code.md").startswith("**path**: ")


def test_a_broken_document_is_not_explained(editor: Editor, project: Path) -> None:
    assert hover_text(editor, project / CHECK, f"{a_project.CHECK}broken: [\n", "severity") == ""


def place_of(editor: Editor, path: Path, word: str) -> tuple[str, int, int] | None:
    """The file, line and column that a word of a file leads to."""
    text = path.read_text(encoding="utf-8")
    at = text.index(word) + 1
    editor.show(path, text)
    found = editor.at("definition", path, text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1))
    if found is None:
        return None
    start = found["range"]["start"]
    return Path(found["uri"]).name, start["line"], start["character"]


@pytest.mark.parametrize(
    ("file", "word", "expected"),
    [
        ("checks/promises-presence.yaml", "presence_promise]", ("presence_promise.yaml", 0, 6)),
        ("checks/promises-presence.yaml", "presence_promise\n", ("presence_promise.yaml", 0, 6)),
        ("workflow.yaml", "critic", ("critic.yaml", 0, 6)),
        ("workflow.yaml", "plan]", ("workflow.yaml", 3, 2)),
    ],
)
def test_a_name_leads_to_what_it_names(
    editor: Editor, project: Path, file: str, word: str, expected: tuple[str, int, int]
) -> None:
    assert place_of(editor, project / file, word) == expected


def test_a_check_is_found_from_the_project_file(editor: Editor, project: Path) -> None:
    path = project / "rulewright.yaml"
    path.write_text(f"{path.read_text()}system:\n  exempt: [promises-presence]\n", encoding="utf-8")
    assert place_of(editor, path, "promises-presence") == ("promises-presence.yaml", 0, 4)


def test_agents_and_contracts_of_the_workflow_itself_are_found(editor: Editor, project: Path) -> None:
    own = "agents:\n  dev:\n    display_name: D\n    extends: pe\ncontracts:\n  spec: {required_sections: [A]}\n"
    path = project / "workflow.yaml"
    outputs = a_project.WORKFLOW.replace("{path: code.md}", "{path: code.md, contract: spec}")
    path.write_text(own + outputs, encoding="utf-8")
    assert place_of(editor, path, "spec}") == ("workflow.yaml", 5, 2)
    assert place_of(editor, path, "dev\n    dependencies") == ("workflow.yaml", 1, 2)


@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("checks/promises-presence.yaml", "S2"),
        ("checks/promises-presence.yaml", "severity"),
        ("workflow.yaml", "architect"),  # it is one of those that are always there
    ],
)
def test_what_has_no_document_leads_nowhere(editor: Editor, project: Path, file: str, word: str) -> None:
    assert place_of(editor, project / file, word) is None
