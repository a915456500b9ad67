"""Fixes in files of every form: other newlines, a byte order mark, comments, anchors, quotes, blocks, no last newline.

Files with one slip that a fix mends are written in other forms that say the same. After `--fix` no key but the one
that the finding is about has another value, every comment is where it was, and the second `--fix` changes nothing.
"""

import hashlib
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compiler.linting.fixing import fix_files
from tests.compiler.test_fixes import changes, fixable, meaning
from tests.compiler.test_rules import BAD, name_of
from tests.rounds import every, rounds
from tests.shared_data import ROOT

from rulewright.cli import main
from rulewright.fixes import fixed_texts
from rulewright.linting.lint_run import lint_text
from rulewright_runtime.terminal import visible

ROUNDS: Final = rounds(1, 60)
SHIPPED: Final = sorted(
    [
        *(ROOT / "checks").glob("*.yaml"),
        *(ROOT / "benchmark/workflows").glob("*.yaml"),
        *(ROOT / "benchmark/service_desk/checks").glob("*.yaml"),
    ]
)
KEY_LINE: Final = re.compile(r"^( *(?:- )?)([a-z_]{4,}):(?= |$)", re.MULTILINE)
VALUE_LINE: Final = re.compile(r"^( *(?:- )?[a-z_]+: )([A-Za-z0-9_.\-]{2,})( *)$", re.MULTILINE)
FIX_SHOWN: Final = re.compile(r"^ *= fix: ", re.MULTILINE)
Form = Callable[[str, random.Random], str]


def misspelt(text: str, chance: random.Random) -> str:
    """The text with a letter too much in one key or one value."""
    place = chance.choice([*KEY_LINE.finditer(text), *VALUE_LINE.finditer(text)])
    at = chance.randrange(place.start(2) + 1, place.end(2))
    return text[:at] + text[at] + text[at:]


def with_comment(text: str, chance: random.Random) -> str:
    """Add a comment at the end of a line, or on a line of its own."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    mark = f"# mark {chance.randrange(10**6)}, é"
    if chance.random() < 0.6 and "#" not in lines[at]:  # else it is a part of that comment
        lines[at] += f"  {mark}"
    else:
        lines.insert(at, " " * chance.choice([0, 2, 4]) + mark)
    return "\n".join(lines)


def with_anchor(text: str, chance: random.Random) -> str:
    """An anchor before a value, and an alias in place of the same value elsewhere."""
    places = list(VALUE_LINE.finditer(text))
    if not places:
        return text
    one = chance.choice(places)
    same = [each for each in places if each[2] == one[2] and each.start() > one.start()]
    name = f"a{chance.randrange(10**6)}"
    other = chance.choice(same) if same else None
    if other is not None:
        text = text[: other.start(2)] + f"*{name}" + text[other.end(2) :]
    return text[: one.start(2)] + f"&{name} " + text[one.start(2) :]


def in_a_block(text: str, chance: random.Random) -> str:
    """A value as a block of text, whose header has a comment."""
    return _instead(text, chance, lambda value, indent: f"|-  # mark {chance.randrange(10**6)}\n{indent}  {value}")


def in_quotes(text: str, chance: random.Random) -> str:
    quote = chance.choice("'\"")
    return _instead(text, chance, lambda value, _: f"{quote}{value}{quote}")


def _instead(text: str, chance: random.Random, make: Callable[[str, str], str]) -> str:
    places = list(VALUE_LINE.finditer(text))
    if not places:
        return text
    one = chance.choice(places)
    indent = " " * (len(one[1]) - len(one[1].lstrip(" -")))
    return text[: one.start(2)] + make(one[2], indent) + one[3] + text[one.end(3) :]


def with_markers(text: str, chance: random.Random) -> str:
    """The document between its marks of start and end."""
    return chance.choice(["---\n", "# mark of the head\n---  # mark of the start\n"]) + text + "...\n"


def without_last_newline(text: str, chance: random.Random) -> str:
    return text.rstrip("\n")


FORMS: Final[tuple[Form, ...]] = (
    with_comment, with_comment, with_comment, with_anchor, in_a_block, in_quotes, with_markers, without_last_newline,
)  # fmt: skip


def in_another_form(text: str, path: str, chance: random.Random) -> str:
    """The text after up to six changes of form, none of which changes what it says."""
    said = meaning(text, path)
    for form in chance.choices(FORMS, k=chance.randrange(1, 7)):
        changed = form(text, chance)
        if meaning(changed, path) == said:
            text = changed
    return text


def marks(text: str) -> list[str]:
    return sorted(re.findall(r"# mark[^\r\n]*", text))


def newlines(text: str) -> set[str]:
    return set(re.findall(r"\r\n|\r|\n", text))


def tree(folder: Path) -> str:
    """A hash of every file's name, bytes and time of change."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    state = [(str(path), path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(state).encode()).hexdigest()


def written(folder: Path, name: str, text: str, chance: random.Random) -> tuple[Path, bytes]:
    """A file of the text with some newline, with or without a byte order mark."""
    text = text.replace("\n", chance.choice(["\n", "\n", "\r\n", "\r\n", "\r"]))
    content = (b"\xef\xbb\xbf" if chance.random() < 0.3 else b"") + text.encode()
    (folder / name).write_bytes(content)
    return folder / name, content


def sources() -> list[Any]:
    """The bad files of which what is expected shows a fix, and files without a mistake."""
    bad = [path for path in BAD if path.suffix == ".yaml" and "fix" not in path.stem]
    with_fix = [path for path in bad if FIX_SHOWN.search(path.with_suffix(".out").read_text(encoding="utf-8"))]
    return [pytest.param(path, id=name_of(path)) for path in (*with_fix, *SHIPPED)]


@pytest.mark.parametrize("path", every(4, sources()))
def test_a_fix_keeps_the_form_of_the_file(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(name_of(path))
    for _ in range(ROUNDS):
        text = path.read_text(encoding="utf-8")
        slip = misspelt(text, chance) if path in SHIPPED else text
        text = in_another_form(slip, path.name, chance)
        file, before = written(tmp_path, path.name, text, chance)
        report = lint_text(before, path.name)
        for found in fixable(report):
            assert found.fix is not None
            alone = fixed_texts([found], report.sources, unsafe=True)[0]
            after = meaning(alone[path.name], path.name)
            assert changes(meaning(before.decode("utf-8-sig"), path.name), after) <= len(found.fix.edits), (text, alone)
        fix_files([path.name], unsafe=True)
        once = file.read_bytes()
        assert marks(once.decode()) == marks(before.decode()), text
        assert newlines(once.decode()) <= newlines(before.decode())
        assert once.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
        fix_files([path.name], unsafe=True)
        assert file.read_bytes() == once


@pytest.mark.parametrize("path", every(8, sources()))
def test_a_diff_shows_what_fixing_does_and_writes_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    chance = random.Random(name_of(path))
    for number in range(2):
        text = path.read_text(encoding="utf-8")
        text = in_another_form(misspelt(text, chance) if path in SHIPPED else text, path.name, chance)
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        file, before = written(folder, path.name, text, chance)
        state = tree(folder)
        change = tmp_path / f"{number}.diff"
        main(["lint", "--fix", "--unsafe-fixes", "--diff", "--output-file", str(change), path.name])
        main(["lint", "--fix", "--unsafe-fixes", "--diff", path.name])
        assert tree(folder) == state
        assert capfdbinary.readouterr().out.decode().partition("\n")[2] == visible(change.read_bytes().decode())
        main(["lint", "--fix", "--unsafe-fixes", path.name])
        capfdbinary.readouterr()
        fixed = file.read_bytes()
        assert (change.read_bytes() == b"") == (fixed == before)
        if fixed != before and b"\r" not in before.replace(
            b"\r\n", b""
        ):  # `patch` knows no lines that end with CR alone
            file.write_bytes(before)
            subprocess.run(["patch", "--binary", "-s", "-i", str(change), path.name], check=True)
            assert file.read_bytes() == fixed


@pytest.mark.parametrize(("outer", "inner", "written"), [(None, 3, 3), (None, 8, 5), (8, None, 8), (2, None, 5)])
def test_the_limit_that_a_fix_gives_a_loop_suits_the_other_loop(
    outer: int | None, inner: int | None, written: int
) -> None:
    limits = [f", max_iterations: {each}" if each else "" for each in (outer, inner)]
    text = f"""\
version: "1"
name: notes
tasks:
  write:
    agent: dev
    outputs: [{{path: note.md}}]
    overlays:
      policy_gate: {{enabled: true, risk_tier: T0, evidence: {{acceptance: junit.xml}}}}
      agentic_review: {{enabled: true, reviewer_agent: reviewer{limits[0]}}}
      confidence_loop: {{enabled: true{limits[1]}, metrics: [{{type: checklist_completion, source: ready.md}}]}}
"""
    (found,) = (each for each in lint_text(text, "flow.yaml").diagnostics if each.code == "loop-without-bound")
    assert found.fix is not None
    assert [edit.text.strip(", ") for edit in found.fix.edits] == [f"max_iterations: {written}"]
