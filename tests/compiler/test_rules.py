"""Every rule catches what its `bad` files show, word for word, and leaves its `good` files alone.

A folder of `tests/compiler/rules` bears a rule's name. A `.yaml` or `.json` file is a document that stands alone, a
`.txtar` file a whole project: its files follow each other, each under a line `-- path --`. What is expected of
`bad.yaml` stands in `bad.out`. Setting RULEWRIGHT_WRITE_EXPECTED writes what is expected, and the pages of the docs.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rulewright.linting.run import Report, Selection, lint, lint_text
from rulewright.manual import explain, pages
from rulewright.render import human
from rulewright.rules import every_rule

FOLDER = Path(__file__).parent / "rules"
DOCS = Path(__file__).parents[2] / "docs" / "rules"
BAD = sorted(path for path in FOLDER.glob("*/bad*") if path.suffix != ".out")
GOOD = sorted(FOLDER.glob("*/good*"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def findings(path: Path, scratch: Path) -> Report:
    """What the rule of the file's folder finds in it."""
    only = Selection(select=(path.parent.name.replace("_", "-"),))
    if path.suffix != ".txtar":
        return lint_text(path.read_bytes(), path.name, only)
    return lint(unpacked(path, scratch), only)


def unpacked(path: Path, scratch: Path) -> list[str]:
    """Write the document or project to a folder; what to lint there."""
    if path.suffix != ".txtar":
        (scratch / path.name).write_bytes(path.read_bytes())
        return [path.name]
    parts = re.split(r"^-- (.+) --\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        file = scratch / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [os.curdir]


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
    shown = {path.parent.name for path in BAD}
    assert {path.parent.name for path in GOOD} == shown
    assert {rule.__name__ for rule in every_rule()} <= shown
    assert shown <= {code.replace("-", "_") for code in pages()}


def example(path: Path) -> str:
    """A file of a rule's folder as a block of Markdown."""
    text = path.read_bytes().decode(errors="backslashreplace")
    shown = "".join(char if char in "\n\t" or char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    return f"```{path.suffix.removeprefix('.').replace('txtar', 'text')}\n{shown}```\n"


def manual_page(code: str) -> str:
    """The page of a code for `docs/rules`: the manual, a bad example with its findings, a good example."""
    folder = FOLDER / code.replace("-", "_")
    page = f"# {code}\n\n{explain(code)}\n"
    bad = next((path for path in BAD if path.parent == folder), None)
    if bad is None:
        return page
    good = next(path for path in GOOD if path.parent == folder)
    found = bad.with_suffix(".out").read_text(encoding="utf-8")
    return f"{page}\n## Bad\n\n{example(bad)}\n```text\n{found}```\n\n## Good\n\n{example(good)}"


@pytest.mark.parametrize("code", sorted(pages()))
def test_the_manual_in_the_docs_is_what_the_tests_show(code: str) -> None:
    path = DOCS / f"{code}.md"
    page = manual_page(code)
    if os.environ.get("RULEWRIGHT_WRITE_EXPECTED"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page


def test_the_docs_list_every_code() -> None:
    path = DOCS / "index.md"
    rows = "".join(f"| [{code}]({code}.md) | {page.splitlines()[0]} |\n" for code, page in pages().items())
    head = "# Findings\n\nEvery code a finding can have; `rulewright explain CODE` prints its page.\n\n"
    index = f"{head}| code | what it means |\n|---|---|\n{rows}"
    if os.environ.get("RULEWRIGHT_WRITE_EXPECTED"):
        path.write_text(index, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == index
    assert {each.stem for each in DOCS.glob("*.md")} == {*pages(), "index"}
