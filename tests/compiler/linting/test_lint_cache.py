"""The lint cache gives the output that linting would give, whatever changes and whatever it contains."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import folders
from tests.compiler.dependencies_of import noted_and_opened
from tests.compiler.small_project import LEXICON_CHECK as CHECK
from tests.compiler.test_rules import BAD, name_of, unpacked
from tests.rounds import every

import rulewright
import rulewright_grammar
import rulewright_runtime
from rulewright import dependencies, result_cache
from rulewright.cli import main
from rulewright.dependencies import DependencyTracker, digest
from rulewright.linting import lint_run
from rulewright.linting.lint_output import LintOutput, known_output
from rulewright.load import load_file
from rulewright.result_cache import CacheEntry

FILES = {
    "checks/X1.yaml": CHECK,
    "checks/_meta.yaml": "notes_ref: docs/notes.md\n",
    "lexicons/x_lexicon.yaml": "patterns:\n- xyzzy\n",
    "rulewright.yaml": "project: p\nchecks: ${CHECKS:-checks}\n",
    "scenarios/deep/s.yaml": "scenario_id: s\nturns:\n- turn_number: 1\n  user_message: hello\n",
}
PROGRAMS = result_cache.programs
HEAVY = ("dataclasses", "pathlib", "rulewright.linting.lint_run", "rulewright.rules", "typing", "yaml")


@pytest.fixture(autouse=True)
def same_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the linter's own files fixed during a test, even while somebody edits them."""
    monkeypatch.setattr(result_cache, "programs", lambda: "these programs")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folders.write(tmp_path / "p", FILES)
    monkeypatch.chdir(tmp_path / "p")
    monkeypatch.delenv("CHECKS", raising=False)
    return tmp_path / "p"


def lint(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["lint", *words])
    return code, capsys.readouterr().out


def is_cached(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str] | None:
    """Return the cached output, or None."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lint_run, "lint", None)
        answer = lint(capsys, *words)
        return None if answer[0] == 3 else answer  # there was something to lint after all


@pytest.mark.parametrize(
    "words", [(), (".",), ("checks",), ("checks/X1.yaml",), ("--format", "json"), ("--statistics",)]
)
def test_unchanged_files_give_the_same_bytes_without_linting(
    words: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = lint(capsys, *words)
    assert is_cached(capsys, *words) == first
    assert lint(capsys, *words, "--no-cache") == first


@pytest.mark.parametrize("path", every(30, BAD), ids=name_of)
def test_a_cached_output_equals_that_of_linting(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "project"  # the folder around test cases is looked at, and must not change meanwhile
    folder.mkdir()
    monkeypatch.chdir(folder)
    words = unpacked(path, folder)
    first = lint(capsys, *words)
    assert is_cached(capsys, *words) == first
    assert lint(capsys, *words, "--no-cache") == first


def write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: folders.write(folder, {name: text})


def remove(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


CHANGES: dict[str, Callable[[Path], object]] = {
    "another value": write("checks/X1.yaml", CHECK.replace("S2", "S9")),
    "as many bytes": write("checks/X1.yaml", CHECK.replace("lexicon_only", "lexicon_onyl")),
    "a file more": write("checks/X2.yaml", CHECK.replace("X1", "X2") + "wrong: 1\n"),
    "a file more, deep": write("scenarios/deep/er/t.yaml", "scenario_id: s\nturns: []\n"),
    "a file less": remove("lexicons/x_lexicon.yaml"),
    "a file that metadata named": write("docs/notes.md", "x"),
    "a place where one looks": write("configs/blindspots.yaml", "- x\n"),
    "no project file": remove("rulewright.yaml"),
    "a workflow": write("workflow.yaml", "name: x\ntasks: []\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_noticed(
    change: Callable[[Path], object], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lint(capsys, ".")
    change(project)
    assert is_cached(capsys, ".") is None
    changed = lint(capsys, ".")
    assert changed == lint(capsys, ".", "--no-cache")
    assert is_cached(capsys, ".") == changed


def test_a_variable_of_the_project_file_is_noticed(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lint(capsys)
    monkeypatch.setenv("OTHER", "x")
    assert is_cached(capsys) is not None
    monkeypatch.setenv("CHECKS", "nowhere")
    assert is_cached(capsys) is None
    assert lint(capsys)[0] == 1


@pytest.mark.parametrize("hidden", [r"\x24{CHECKS:-checks}", r"\u0024{CHECKS:-checks}", "${CHE\\\n  CKS:-checks}"])
def test_a_variable_that_an_escape_may_hide_is_not_trusted(
    hidden: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("rulewright.yaml", f'project: p\nchecks: "{hidden}"\n')(project)
    assert "missing-path" not in lint(capsys)[1]  # the variable's default is read
    assert is_cached(capsys) is None


def test_a_project_with_a_pattern_is_cached(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = r"{pattern: '\b\d{4}\b', replacement: '[card]'}"
    write("rulewright.yaml", f"project: p\nchecks: ${{CHECKS:-checks}}\nredact: [{pattern}]\n")(project)
    assert lint(capsys) == is_cached(capsys)


def test_options_programs_and_folders_have_entries_of_their_own(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lint(capsys, ".")
    assert is_cached(capsys, ".", "--fail-level", "error") is None
    assert is_cached(capsys, "./checks") is None
    monkeypatch.setattr(result_cache, "programs", lambda: "another version")
    assert is_cached(capsys, ".") is None


def test_all_of_our_packages_are_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: set[Path] = set()

    def files(folder: str) -> list[str]:
        looked_at.add(Path(folder).resolve())
        return [folder]

    monkeypatch.setattr(result_cache, "_files", files)
    PROGRAMS()
    packages = (rulewright, rulewright_grammar, rulewright_runtime)
    assert {Path(str(package.__file__)).resolve().parent for package in packages} <= looked_at


def test_a_project_file_found_above_is_noticed(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "scenarios")
    first = lint(capsys)
    assert is_cached(capsys) == first
    (project / "scenarios" / "rulewright.yaml").write_text("project: q\nwrong: 1\n", encoding="utf-8")
    assert is_cached(capsys) is None


def test_every_file_that_lints_has_a_part_in_the_key(tmp_path: Path) -> None:
    (tmp_path / "a" / "__pycache__").mkdir(parents=True)
    (tmp_path / "a" / "b.py").write_text("1", encoding="utf-8")
    before = result_cache._files(str(tmp_path))
    assert [Path(path).name for path, _, _ in before] == ["b.py"]
    (tmp_path / "a" / "b.py").write_text("12", encoding="utf-8")
    assert result_cache._files(str(tmp_path)) != before


def test_a_file_that_changes_while_it_is_read_is_not_cached(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with DependencyTracker() as tracker:
        dependencies.note_content("checks/X1.yaml", b"before")
        assert tracker.has_changed()
        dependencies.note_content("checks/X1.yaml", b"after")
    entry = CacheEntry("lint", ["question"])
    LintOutput(0, "").keep(entry, tracker.states, [])
    assert entry.load() is None


def corrupted(data: bytes) -> list[bytes]:
    body = data.partition(b"\n")[2]
    head, _, content = body.partition(b"\n")
    hostile = [b"", b"\n", b"\xff" * 100, data[:-1], data + b" ", body, data.replace(b'"about": 0', b'"about": 1')]
    texts = [
        b"[" * 100_000,
        b"null",
        b'{"a": NaN}',
        body.replace(b'"about": 0', b'"about": true'),
        body.replace(b'"about": 0', b'"about": "0"'),
        head[:-1] + b', "x": 1}\n' + content,
        head + b"\n\xff",
    ]
    texts += [
        body.replace(b'"environment": {', b'"environment": [{'),
        body.replace(b'"states": [', b'"states": [["read"], '),
    ]
    return hostile + [digest(text).encode() + b"\n" + text for text in texts]


def test_a_corrupt_entry_is_ignored(project: Path, own_cache_folder: Path) -> None:
    entry = CacheEntry("lint", ["question"])
    LintOutput(0, "clean\n").keep(entry, {}, ["HOME"])
    path = Path(entry.path)
    whole = path.read_bytes()
    known = known_output(entry)
    assert known is not None
    assert (known.status, known.text) == (0, "clean\n")
    for data in corrupted(whole):
        path.write_bytes(data)
        assert known_output(entry) is None, data[:80]
    path.write_bytes(whole)
    assert known_output(entry) is not None
    other = CacheEntry("lint", ["another question"])
    Path(other.path).write_bytes(whole)
    assert other.load() is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="who may write to a folder is told by its mode")
def test_a_folder_that_others_may_write_to_is_ignored(project: Path, own_cache_folder: Path) -> None:
    entry = CacheEntry("lint", ["question"])
    LintOutput(0, "clean\n").keep(entry, {}, [])
    assert entry.load() is not None
    own_cache_folder.chmod(0o777)
    assert entry.load() is None


def test_a_cache_that_cannot_be_written_is_ignored(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert lint(capsys, ".") == lint(capsys, ".", "--no-cache")


def test_the_oldest_entries_are_removed_first(
    project: Path, own_cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_cache, "MAX_ENTRIES", {"lint": 4})
    for number in range(5):
        LintOutput(0, "").keep(CacheEntry("lint", [number]), {}, [])
    assert len(list(own_cache_folder.iterdir())) == 2


@pytest.mark.parametrize("words", [(".",), ("checks/X1.yaml",), ("workflow.yaml",)])
def test_every_file_and_folder_that_is_read_is_a_dependency(project: Path, words: tuple[str, ...]) -> None:
    write("workflow.yaml", "name: x\nversion: '1.0'\nagents: {}\ntasks: []\n")(project)
    write("agents/a.yaml", "name: a\n")(project)
    write("scenarios/_SCHEMA.yaml", "x: 1\n")(project)
    write("configs/rules/base.yaml", "a: 1\n")(project)
    noted, opened = noted_and_opened("lint", "--no-cache", *words)
    assert opened <= noted
    assert len(opened) > len(words)


def test_a_dependency_is_recorded_with_its_state(project: Path) -> None:
    with DependencyTracker() as tracker:
        load_file("checks/X1.yaml")
        dependencies.names_in("scenarios")
        assert not dependencies.exists("nothing")
        assert dependencies.is_folder("checks")
        assert not dependencies.is_file("checks")
    assert set(tracker.states) == {
        ("read", "checks/X1.yaml"),
        ("listed", "scenarios"),
        ("probed", "nothing"),
        ("probed", "checks"),
    }
    assert not tracker.has_changed()
    (project / "nothing").touch()
    assert tracker.has_changed()
    load_file("lexicons/x_lexicon.yaml")
    assert len(tracker.states) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_never_a_cacheable_dependency(project: Path) -> None:
    os.mkfifo("pipe")
    with DependencyTracker() as tracker:
        dependencies.exists("pipe")
    entry = CacheEntry("lint", ["question"])
    LintOutput(0, "").keep(entry, tracker.states, [])
    assert entry.load() is None


def test_an_unchanged_project_is_answered_without_importing_the_linter(project: Path) -> None:
    words = (
        "import sys\nfrom rulewright.cli import main\ncode = main(['lint', '.'])\n"
        f"print(code, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    first, second = (output.rsplit("\n", 2) for output in outputs)
    assert first[0] == second[0]
    assert "yaml" in first[1]
    assert second[1].endswith("[]")


@pytest.mark.parametrize(("check", "is_imported"), [(CHECK, False), ("id: X1\nfail: size(answer) > 80\n", True)])
def test_the_expression_language_is_imported_with_the_first_expression(
    tmp_path: Path, check: str, is_imported: bool
) -> None:
    (tmp_path / "X1.yaml").write_text(check, encoding="utf-8")
    words = (
        "import sys\nfrom rulewright.cli import main\nmain(['lint', '--no-cache', 'X1.yaml'])\n"
        "print(any(name.startswith('rulewright.expression.') for name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.endswith(f"{is_imported}\n")


def test_settings_of_the_project_around_a_lone_file_are_noticed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "checks" / "X1.yaml").write_text(CHECK + "wrong: 1\n", encoding="utf-8")
    first = lint(capsys, "checks/X1.yaml")
    assert first[0] == 1
    assert is_cached(capsys, "checks/X1.yaml") == first
    write("rulewright.yaml", "project: p\nlint: {ignore: [unknown-key]}\n")(project)
    assert is_cached(capsys, "checks/X1.yaml") is None
    assert lint(capsys, "checks/X1.yaml")[0] == 0
    write("checks/rulewright.yaml", "project: nearer\n")(project)
    assert is_cached(capsys, "checks/X1.yaml") is None
    assert lint(capsys, "checks/X1.yaml")[0] == 1
