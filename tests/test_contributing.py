"""CONTRIBUTING.md, carried out to the letter in a copy of the repository: a rule, a route, a collector, a function and
an output format are added by the files that it names, and lint and the affected tests pass after each."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from tests.shared_data import ROOT, need_git

BLOCK: Final = re.compile(r'^( *)```(\w+)(?: title="([^"]+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)
MOST_FILES: Final = {"A rule": 5, "A route": 4, "A collector": 3, "A function": 4, "An output format": 2}
WRITTEN: Final = {"A rule": {"tests/compiler/rules/name_repeats_the_id/bad.out"}}  # by a command, and read by people
WRITING: Final = "RULEWRIGHT_WRITE_EXPECTED=1 "
LINKED: Final = ("compiler", "runtime", "grammar")
IN_FULL: Final = bool(os.environ.get("RULEWRIGHT_TORTURE"))


@dataclass
class Section:
    """What one section does: the files it writes or edits, and the commands it runs."""

    name: str
    files: list[tuple[str, str, str]] = field(default_factory=list)  # language, path, text
    commands: list[str] = field(default_factory=list)

    @property
    def touched(self) -> set[str]:
        return {path for _, path, _ in self.files}


def sections() -> list[Section]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.partition("## Adding something\n")[2].partition("\n## ")[0]
    found = []
    for chunk in part.split("\n### ")[1:]:
        name, _, body = chunk.partition("\n")
        section = Section(name)
        for _, language, path, block in BLOCK.findall(body):
            inner = textwrap.dedent(block) if language != "diff" else undented(block)
            if path:
                section.files.append((language, path, inner))
            else:
                section.commands += [line[2:] for line in inner.splitlines() if line.startswith("$ ")]
        found.append(section)
    return found


def undented(block: str) -> str:
    """A diff without the indentation of its list item: what stands before its first sign is not a part of it."""
    lines = block.splitlines()
    least = min(len(line) - len(line.lstrip()) for line in lines if line.lstrip()[:1] in ("+", "-"))
    return "\n".join(line[least:] for line in lines)


def edited(text: str, change: str) -> str:
    """The text with a change: lines with a blank or `-` are found (those with a blank by how they begin), those with
    `-` go, those with `+` come."""
    steps = [(line[:1] or " ", line[1:]) for line in change.splitlines()]
    wanted = [(sign, line) for sign, line in steps if sign != "+"]
    lines = text.splitlines()
    places = [
        at
        for at in range(len(lines) - len(wanted) + 1)
        if all(
            lines[at + n] == line if sign == "-" else lines[at + n].startswith(line)
            for n, (sign, line) in enumerate(wanted)
        )
    ]
    assert places, f"these lines stand nowhere: {wanted}"
    at = places[0]
    made, old = [], iter(lines[at : at + len(wanted)])
    for sign, line in steps:
        if sign == "+":
            made.append(line)
        else:
            kept = next(old)
            made += [kept] if sign == " " else []
    return "\n".join([*lines[:at], *made, *lines[at + len(wanted) :]]) + "\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as it stands, without what is ignored."""
    need_git()
    folder = tmp_path_factory.mktemp("copy")
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(
        None, subprocess.run(listed, check=True, capture_output=True, encoding="utf-8").stdout.split("\0")
    ):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
            copy_bytecode(name, folder)
    return folder


def copy_bytecode(name: str, folder: Path) -> None:
    """What Python and pytest made of a module before, which holds for a copy of the same age and size."""
    if not name.endswith(".py"):
        return
    for made in (ROOT / name).parent.glob(f"__pycache__/{Path(name).stem}.*.pyc"):
        (folder / name).parent.joinpath("__pycache__").mkdir(exist_ok=True)
        shutil.copyfile(made, folder / made.relative_to(ROOT))


# Runs commands in processes of their own, which find the libraries of others imported.
COMMANDS: Final = """
import json, os, shlex, subprocess, sys
import hypothesis, jsonschema, lark, msgspec, pytest, yaml
def carry_out(words):
    while "=" in words[0]:
        name, _, os.environ[name] = words.pop(0).partition("=")
    if words.pop(0) == "pytest":
        return pytest.main([*words, "-p", "no:cacheprovider"])
    from rulewright.cli import main
    return main(words)
for command in json.loads(sys.argv[1]):
    print("$", command, flush=True)
    if not (child := os.fork()):
        status = subprocess.call(["bash", "-c", command]) if ">" in command else carry_out(shlex.split(command))
        sys.exit(status)
    if status := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(status)
"""


def all_carried_out(commands: list[str], folder: Path) -> None:
    """Run commands of `rulewright` and `pytest` there, each in a fresh copy of one process."""
    carried_out(shlex.join(["python", "-c", COMMANDS, json.dumps(commands)]), folder)


def carried_out(command: str, folder: Path) -> None:
    """Run a command there. Raises AssertionError with what it printed where it fails."""
    path = os.pathsep.join(str(folder / name) for name in LINKED)
    known = {**os.environ, "PYTHONPATH": path, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    known = {name: value for name, value in known.items() if not name.startswith(("PYTEST", "COV", "FORCE_COLOR"))}
    known.setdefault("RULEWRIGHT_SHARED", str(ROOT.parent / "shared"))
    known["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the commands use none of them
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=known, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"


def test_the_commands_see_the_copy(copy: Path) -> None:
    carried_out(f"python -c 'import rulewright as r; assert r.__file__.startswith(\"{copy}/\"), r.__file__'", copy)


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.name)
def test_what_a_section_adds_takes_few_files_and_passes(copy: Path, section: Section) -> None:
    touched = {path for path in section.touched | WRITTEN.get(section.name, set()) if not path.endswith(".md")}
    assert len(touched) <= MOST_FILES[section.name], touched
    for language, path, text in section.files:
        place = copy / path
        place.parent.mkdir(parents=True, exist_ok=True)
        before = place.read_text(encoding="utf-8") if language == "diff" else ""
        place.write_text(edited(before, text) if language == "diff" else text, encoding="utf-8")
    python = " ".join(sorted(path for path in section.touched if path.endswith(".py")))
    carried_out(f"ruff check --no-cache {python} && ruff format --no-cache --check {python}", copy)
    commands = section.commands
    if not IN_FULL:  # what a command has just written it needs no second time to compare with
        commands = [each for each in commands if f"{WRITING}{each}" not in commands]
    all_carried_out(commands, copy)
    if IN_FULL:
        code = " ".join(path for path in python.split() if not path.startswith("tests/"))
        carried_out(f"mypy --cache-dir {copy}/.mypy_cache {code}", copy)


def test_every_section_is_counted() -> None:
    assert [section.name for section in sections()] == list(MOST_FILES)
