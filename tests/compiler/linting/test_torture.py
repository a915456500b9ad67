"""Broken and moved documents: linting never crashes, and findings move with the text they are about."""

import os
import random
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.compiler.test_rules import name_of
from tests.folders import files_of, write
from tests.rounds import TORTURE, every, rounds

from rulewright.check.project_check import compile_project
from rulewright.diagnostics import Diagnostic, Span
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import fix, lint, lint_text
from rulewright.project import load_project

FOLDER = Path(__file__).parents[1] / "rules"
LONE = sorted(path for path in FOLDER.glob("*/*") if path.suffix in (".yaml", ".json"))
PROJECTS = sorted(FOLDER.glob("*/*.txtar"))
ROUNDS = rounds(1, 60)
ENDS = {"unix": "\n", "windows": "\r\n", "old": "\r"}
VALUES = [
    "null", "[]", "{}", "[[]]", "3", "-1", "1e9", "1e999", "true", '"x"', '""', '"', "[null]", '{"a": [1]}', "[3, {}]",
    ".nan", "~", ": ", "- ", "? ", "&a ", "*a", "!!binary x", "<<: *a", "\t", "[[[[", "{a: {a: 1}}", " |", ">-", "..",
    "9" * 40, "9" * 400, "{id: x}", "\N{MATHEMATICAL SCRIPT CAPITAL X}",
]  # fmt: skip
NAME = "document"
ABOUT_WHOLE_FILES = ("control_character", "empty_document", "not_utf_8", "unknown_document")  # or about bytes


def broken(text: str, chance: random.Random) -> str:
    """The text with one line removed, repeated, moved, shifted or given another value, or one character changed."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    match chance.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines.insert(chance.randrange(len(lines)), lines.pop(at))
        case 3:
            lines[at] = " " * chance.randrange(8) + lines[at].lstrip()
        case 4 | 5:
            lines[at] = re.sub(r"(:\s+).*?(,?)$", lambda found: found[1] + chance.choice(VALUES) + found[2], lines[at])
        case _:
            place = chance.randrange(len(text) + 1)
            return text[:place] + chance.choice("\x00\t\"'[]{}:#&*!|>%@`,\u2028é\n ") + text[place + 1 :]
    return "\n".join(lines)


def check_places(report: Report) -> None:
    """Every place lies in its file, and every message fits one line."""
    for found in report.diagnostics:
        for span in (found.span, *(note.span for note in found.notes)):
            source = report.sources[span.path]
            assert 1 <= span.line <= len(source.starts)
            assert (span.line, span.column) <= (span.end_line, span.end_column)
            assert span.column <= len(source.line_text(span.line)) + 1
        assert "\n" not in found.message
        assert found.code


@pytest.mark.parametrize("path", every(15, LONE), ids=name_of)
def test_no_broken_document_crashes_the_linter(path: Path) -> None:
    text = path.read_bytes().decode(errors="replace")
    chance = random.Random(name_of(path))
    for _ in range(ROUNDS):
        report = lint_text(broken(broken(text, chance), chance), f"{NAME}{path.suffix}")
        check_places(report)
        fix(report, unsafe=True)


@pytest.mark.parametrize("path", every(15, PROJECTS), ids=name_of)
def test_no_broken_project_crashes_the_linter(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = files_of(path.read_text(encoding="utf-8"))
    chance = random.Random(name_of(path))
    for _ in range(rounds(1, 30)):
        unlucky = chance.choice(list(files))
        write(tmp_path, {**files, unlucky: broken(broken(files[unlucky], chance), chance)})
        report = lint([os.curdir])
        check_places(report)
        if (tmp_path / "checks").is_dir() and not report.errors().diagnostics:
            compile_project(tmp_path, profile=next(iter(load_project(tmp_path).profiles), None))


def moved(span: Span, lines: int) -> Span:
    return replace(span, line=span.line + lines, end_line=span.end_line + lines)


def moved_finding(found: Diagnostic, lines: int, end: str) -> Diagnostic:
    """The finding as it must be when its file begins `lines` later and its lines end with `end`."""
    notes = tuple(replace(note, span=moved(note.span, lines)) for note in found.notes)
    edits = found.fix and replace(
        found.fix,
        edits=tuple(
            replace(edit, span=moved(edit.span, lines), text=edit.text.replace("\n", end)) for edit in found.fix.edits
        ),
    )
    return replace(found, span=moved(found.span, lines), notes=notes, fix=edits)


@pytest.mark.parametrize(
    "path", every(15, [path for path in LONE if path.parent.name not in ABOUT_WHOLE_FILES], 1), ids=name_of
)
def test_findings_move_with_the_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    name = f"{NAME}{path.suffix}"
    head = "# one, é and \u2028\n\n" if path.suffix == ".yaml" else "\n \n"
    here = lint_text(text, name).diagnostics
    drawn = ENDS if TORTURE else (random.Random(name_of(path)).choice(sorted(ENDS)),)
    for end in (ENDS[each] for each in drawn):
        found = lint_text("\ufeff" + (head + text).replace("\n", end), name).diagnostics
        assert list(found) == [moved_finding(each, 2, end) for each in here]
