"""`--add-allow` suppresses findings with a reason and keeps the content of the documents."""

import re
import shutil
from itertools import cycle
from pathlib import Path

import pytest
from tests.compiler.test_rules import BAD, code_of, name_of, unpacked
from tests.rounds import every

from rulewright.cli import main
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint
from rulewright.load import load_file, plain
from rulewright.load.suppressions import SUPPRESSION_CODES

REASON = "it is known, and fixed next week"
READABLE = [path for path in BAD if path.parent.name != "not_utf_8"]
WORLDS_OF_SEVERAL = [path for path in READABLE if path.suffix == ".txtar"]
WORLDS = [
    path for suffix in (".txtar", ".yaml") for path in every(40, [each for each in READABLE if each.suffix == suffix])
]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def codes(report: Report) -> list[str]:
    return sorted(each.code for each in report.diagnostics)


def named(value: Path | bytes) -> str:
    return name_of(value) if isinstance(value, Path) else {b"\n": "unix", b"\r\n": "windows"}[value]


@pytest.mark.parametrize(("path", "end"), list(zip(WORLDS, cycle([b"\n", b"\r\n"]))), ids=named)
def test_suppressing_a_finding_keeps_the_content_and_hides_the_finding(
    path: Path, end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    entry = unpacked(path, tmp_path)
    for file in (each for each in tmp_path.rglob("*") if each.is_file()):
        file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", end))
    before = tree(tmp_path)
    status = main(["lint", "--add-allow", REASON, *map(str, entry)])
    after, rest = tree(tmp_path), lint(entry)
    assert set(after) == set(before)
    left = re.findall(r"`([a-z-]+)` can't be allowed", capsys.readouterr().err)
    assert status == (1 if left else 0)
    assert codes(rest) == sorted(left)  # also what the allowed finding hid
    for name, old in before.items():
        new = after[name]
        if old == new or Path(name).name == "rulewright.yaml":
            continue
        assert b"\n" not in new.replace(b"\r\n", b"") if end == b"\r\n" else b"\r" not in new
        kept = new.decode()
        assert kept.count(REASON) >= 1
        lines = [line for line in kept.splitlines() if not line.lstrip().startswith("# rulewright: allow")]
        stripped = [line.partition("  # rulewright: allow")[0] for line in lines]
        assert stripped == [line.partition("  # rulewright: allow")[0] for line in old.decode().splitlines()]
    main(["lint", "--add-allow", REASON, *map(str, entry)])
    assert tree(tmp_path) == after


def test_uses_of_a_misspelt_declaration_are_suppressed_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entry = unpacked(next(path for path in WORLDS_OF_SEVERAL if path.parent.name == "misspelt_name"), tmp_path)
    assert codes(lint(entry)) == ["misspelt-name"]
    assert main(["lint", "--add-allow", REASON, *entry]) == 0
    report = lint(entry)
    assert codes(report) == []
    assert [each.code for each in report.allowed] == ["misspelt-name"]


def test_a_reason_is_required(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init", str(tmp_path / "project")])
    before = tree(tmp_path)
    assert main(["lint", "--add-allow", "  ", str(tmp_path / "project")]) == 3
    assert "needs a reason" in capsys.readouterr().err
    assert tree(tmp_path) == before


def test_a_finding_in_json_becomes_an_entry_of_the_project_file(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    main(["init", str(folder)])
    scenario = folder / "scenarios" / "late_evening.json"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace('"empathy"', '"empthy"'), encoding="utf-8")
    project = folder / "rulewright.yaml"
    first = project.read_text(encoding="utf-8")
    assert main(["lint", "--add-allow", REASON, str(folder)]) == 0
    written = project.read_text(encoding="utf-8")
    assert written.startswith(first)
    assert plain(load_file(project).root)["accept"] == [
        {"rule": "unknown-value", "path": "scenarios/late_evening.json", "reason": REASON}
    ]
    assert main(["lint", str(folder)]) == 0
    other = folder / "scenarios" / "other.json"
    shutil.copy(scenario, other)
    other.write_text(other.read_text(encoding="utf-8").replace("late_evening", "other"), encoding="utf-8")
    assert main(["lint", "--add-allow", "this one too", str(folder)]) == 0
    assert project.read_text(encoding="utf-8").startswith(written)
    assert main(["lint", str(folder)]) == 0


def test_the_examples_cover_comments_of_many_codes() -> None:
    assert len({code_of(path) for path in WORLDS} - SUPPRESSION_CODES) > 20
