"""A definition under a misspelt name is one finding where it is written."""

from pathlib import Path

from tests.folders import write

from rulewright.linting.lint_run import lint


def found(folder: Path, files: dict[str, str]) -> list[tuple[str, str, int]]:
    write(folder, files)
    return [(each.code, Path(each.span.path).name, each.span.line) for each in lint([folder]).diagnostics]


def test_several_references_to_one_unknown_name_are_a_finding_at_the_definition(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nworkflow: {contracts: contracts.yaml, file: flow.yaml}\n",
        "contracts.yaml": "contracts:\n  note:\n    file_format: markdown\n",
        "flow.yaml": "name: note\ntasks:\n"
        "  write: {agent: dev, outputs: [{path: a.md, contract: note@1}]}\n"
        "  check: {agent: le, dependencies: [write], inputs: [{path: a.md, contract: note@1}]}\n",
    }
    assert found(tmp_path, files) == [("unknown-artifact-type", "contracts.yaml", 2)]


def test_one_reference_to_an_unknown_name_stays_a_finding_at_the_reference(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: p\nworkflow: {contracts: contracts.yaml, file: flow.yaml}\n",
        "contracts.yaml": "contracts:\n  note@1:\n    file_format: markdown\n",
        "flow.yaml": "tasks:\n  write: {agent: dev, outputs: [{path: a.md, contract: notes@1}]}\n",
    }
    assert found(tmp_path, files) == [("unknown-artifact-type", "flow.yaml", 2)]
