"""Every rule catches what its `bad` files show, word for word, and leaves its `good` files alone.

A folder of `tests/compiler/rules` bears a rule's name. A `.yaml` or `.json` file is a document that stands alone, a
`.txtar` file a whole project: its files follow each other, each under a line `-- path --`. What is expected of
`bad.yaml` stands in `bad.out`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rulewright.linting import Report, Selection, lint, lint_text
from rulewright.render import human
from rulewright.rules import RULES, code_of

FOLDER = Path(__file__).parent / "rules"
BAD = sorted(path for path in FOLDER.glob("*/bad*") if path.suffix != ".out")
GOOD = sorted(FOLDER.glob("*/good*"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def findings(path: Path, scratch: Path) -> Report:
    """What the rule of the file's folder finds in it."""
    only = Selection(select=(path.parent.name.replace("_", "-"),))
    if path.suffix != ".txtar":
        return lint_text(path.read_bytes(), path.name, only)
    parts = re.split(r"^-- (.+) --\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        file = scratch / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return lint([os.curdir], only)


@pytest.mark.parametrize("path", BAD, ids=name_of)
def test_a_bad_file_gives_its_findings_word_for_word(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = findings(path, tmp_path)
    written = human.render(report.diagnostics, report.sources)
    expected = path.with_suffix(".out")
    if os.environ.get("RULEWRIGHT_WRITE_EXPECTED"):
        expected.write_text(written, encoding="utf-8")
    assert report.diagnostics
    assert written == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", GOOD, ids=name_of)
def test_a_good_file_is_left_alone(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = findings(path, tmp_path)
    assert human.render(report.diagnostics, report.sources) == ""


def test_every_rule_has_a_bad_and_a_good_file() -> None:
    names = {rule.__name__ for rule in RULES}
    assert {path.parent.name for path in BAD} == names
    assert {path.parent.name for path in GOOD} == names
    assert {code_of(rule).replace("-", "_") for rule in RULES} == names
