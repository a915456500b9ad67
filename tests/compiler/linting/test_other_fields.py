"""Projects of other fields, written from the documentation alone: nothing in them is a mistake, and much is unusual."""

from pathlib import Path

import pytest
from tests.compiler.linting.sample import FIELDS
from tests.folders import files_of, write

from rulewright.linting.lint_run import lint
from rulewright.render import human


@pytest.mark.parametrize("path", FIELDS, ids=lambda path: path.stem)
def test_a_project_of_another_field_has_no_findings(path: Path, tmp_path: Path) -> None:
    report = lint([write(tmp_path, files_of(path.read_text(encoding="utf-8")))])
    assert human.render(report.diagnostics, report.sources) == ""
