"""`rulewright lint` as somebody meets it who has no project yet: folders, single files, pipes and fixes."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from rulewright.cli import main

LEXICON = "patterns: [you must]\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "here")


def lint(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit status, and what was printed to the standard output and next to it."""
    return main(["lint", *words]), *capsys.readouterr()


def test_without_a_project_the_working_folder_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("words.yaml").write_text(LEXICON, encoding="utf-8")
    assert lint(capsys) == (0, "no findings in 1 file\n", "")


@pytest.mark.parametrize("words", [[], ["."], ["checks"]])
def test_where_nothing_can_be_checked_nothing_passes(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("checks").mkdir()
    Path("notes.txt").write_text("notes", encoding="utf-8")
    status, out, complaints = lint(capsys, *words)
    assert (status, out) == (3, "")
    assert "no document to check in" in complaints


def test_a_link_that_leads_nowhere_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gone.yaml").symlink_to("moved.yaml")
    status, out, _ = lint(capsys)
    assert status == 1
    assert "error[unreadable-file]: can't read this file" in out


def test_fixing_says_which_files_it_changed(capsys: pytest.CaptureFixture[str]) -> None:
    Path("trap.yaml").write_text("patterns: [you must, yes]\n", encoding="utf-8")
    Path("words.yaml").write_text(LEXICON, encoding="utf-8")
    assert "1 can be fixed with `--fix`" in lint(capsys, "--select", "yaml-trap")[1]
    assert lint(capsys, "--fix", "--select", "yaml-trap") == (0, "no findings in 2 files\n", "changed trap.yaml\n")
    assert Path("trap.yaml").read_text(encoding="utf-8") == 'patterns: [you must, "yes"]\n'


def test_a_diff_mentions_the_fixes_that_it_does_not_show(capsys: pytest.CaptureFixture[str]) -> None:
    Path("words.yaml").write_text("patterns: [you must]\nfol: [apostrophes]\n", encoding="utf-8")
    assert lint(capsys)[1].endswith("\n1 can be fixed with `--fix --unsafe-fixes`\n")
    assert lint(capsys, "--diff") == (0, "", "`--unsafe-fixes` shows 1 more\n")
    status, out, complaints = lint(capsys, "--diff", "--unsafe-fixes")
    assert (status, complaints) == (1, "")
    assert "-fol: [apostrophes]\n+fold: [apostrophes]\n" in out


@pytest.mark.parametrize("words", [["--diff"], ["--fix", "--diff"], ["--fix", "--diff", "--unsafe-fixes"]])
def test_with_a_diff_nothing_is_written(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("trap.yaml").write_text("patterns: [you must, yes]\nfol: [apostrophes]\n", encoding="utf-8")
    before = tree()
    status, out, _ = lint(capsys, *words)
    assert (status, tree()) == (1, before)
    assert '+patterns: [you must, "yes"]\n' in out


def tree() -> dict[Path, tuple[str, int]]:
    """The content of every file and when it was written."""
    files = (path for path in Path().rglob("*") if path.is_file())
    return {path: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in files}


@pytest.fixture
def old_corpus(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three findings."""
    monkeypatch.delenv("CI", raising=False)
    Path("old.yaml").write_text("patterns: [ai, yes]\nfol: 1\n", encoding="utf-8")
    return Path("baseline.json")


def test_a_baseline_is_written_once_shrinks_and_never_grows(
    old_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("old.yaml", "--baseline", str(old_corpus))
    assert lint(capsys, *words) == (0, "no findings in 1 file\n", "wrote baseline.json with 3 findings\n")
    Path("old.yaml").write_text("# moved\npatterns: [ai, yes]\nfol: 1\nnew: 2\n", encoding="utf-8")
    before = old_corpus.read_bytes()
    status, out, beside = lint(capsys, *words)
    assert (status, beside, old_corpus.read_bytes()) == (1, "", before)
    assert "unknown key `new`" in out
    assert "unknown key `fol`" not in out
    Path("old.yaml").write_text("patterns: [ai, yes]\n", encoding="utf-8")
    assert lint(capsys, *words) == (0, "no findings in 1 file\n", "1 of the baseline is gone\n")
    Path("old.yaml").write_text("patterns: [ai, yes]\nfol: 1\n", encoding="utf-8")
    assert lint(capsys, *words)[0] == 1


def test_a_finding_that_was_a_note_of_a_fixed_one_is_not_new_to_a_baseline(
    old_corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("old.yaml").unlink()
    Path("checks").mkdir()
    Path("rulewright.yaml").write_text("project: shop\nprofiles: profiles.yaml\n", encoding="utf-8")
    Path("checks/no-x.yaml").write_text("id: no-x\nfail: answer.contains('x')\n", encoding="utf-8")
    Path("profiles.yaml").write_text("publish: {include_buckets: [Q, W]}\n", encoding="utf-8")
    words = ("--baseline", str(old_corpus))
    assert lint(capsys, *words)[2] == "wrote baseline.json with 1 finding\n"
    monkeypatch.setenv("CI", "true")
    for buckets in ("A, W", "Q, A"):
        Path("profiles.yaml").write_text(f"publish: {{include_buckets: [{buckets}]}}\n", encoding="utf-8")
        assert lint(capsys, *words)[0] == 0


def test_a_baseline_keeps_what_this_run_did_not_look_at(old_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.yaml").write_text("patterns: [you must]\nfol: 1\n", encoding="utf-8")
    lint(capsys, "--baseline", str(old_corpus))
    before = old_corpus.read_bytes()
    assert lint(capsys, "other.yaml", "--baseline", str(old_corpus))[0] == 0
    assert lint(capsys, "--baseline", str(old_corpus), "--select", "yaml-trap")[0] == 0
    assert old_corpus.read_bytes() == before


def test_in_continuous_integration_a_baseline_is_only_read(
    old_corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    words = ("old.yaml", "--baseline", str(old_corpus))
    status, _, beside = lint(capsys, *words)
    assert (status > 1, old_corpus.exists()) == (True, False)
    assert "baseline not found: `baseline.json`" in beside
    monkeypatch.delenv("CI")
    lint(capsys, *words)
    monkeypatch.setenv("CI", "true")
    before = old_corpus.read_bytes()
    Path("old.yaml").write_text("patterns: [you must]\n", encoding="utf-8")
    assert lint(capsys, *words)[0] == 0
    assert old_corpus.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 1, "findings": [{"path": 1}]}', '{"version": 2}'])
def test_what_is_not_a_baseline_hides_nothing(text: str, old_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old_corpus.write_text(text, encoding="utf-8")
    status, out, beside = lint(capsys, "old.yaml", "--baseline", str(old_corpus))
    assert (status > 1, out) == (True, "")
    assert "baseline" in beside
    assert old_corpus.read_text(encoding="utf-8") == text


def test_quiet_shows_errors_and_exit_zero_never_fails(old_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lint(capsys, "old.yaml", "--quiet")
    assert (status, "warning" in out, "error" in out) == (1, False, True)
    assert lint(capsys, "old.yaml", "--quiet", "--ignore", "unknown-key") == (0, "no findings in 1 file\n", "")
    assert lint(capsys, "old.yaml", "--exit-zero")[0] == 0
    assert lint(capsys, "nowhere.yaml", "--exit-zero")[0] > 1


@pytest.mark.parametrize("words", [["--output-file", "out.json"], ["--output-file=out.json"]])
def test_findings_can_be_written_to_a_file(
    words: list[str], old_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):  # nothing of it is remembered
        Path("out.json").unlink(missing_ok=True)
        assert lint(capsys, "old.yaml", "--format", "json", *words) == (1, "1 error, 2 warnings in 1 file\n", "")
        assert json.loads(Path("out.json").read_text(encoding="utf-8"))["summary"]["error"] == 1


def test_unsafe_fixes_alone_fix_nothing_and_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("words.yaml").write_text(LEXICON, encoding="utf-8")
    status, _, complaints = lint(capsys, "--unsafe-fixes")
    assert status == 3
    assert "needs `--fix`, which applies them" in complaints


def test_in_a_pipe_a_long_line_is_cut_round_the_caret(capsys: pytest.CaptureFixture[str]) -> None:
    words = ", ".join(f"word number {number}x" for number in range(400))
    Path("words.yaml").write_text(f"patterns: [{words}, word number 3x]\n", encoding="utf-8")
    lines = lint(capsys, "--select", "duplicate-pattern")[1].splitlines()
    assert max(map(len, lines)) <= 160
    marked = {
        sign: at
        for at, line in enumerate(lines)
        for sign in ("^", "---")
        if line.startswith(f"  | {' ' * 8}") and sign in line
    }
    for sign, at in marked.items():
        shown = lines[at - 1]
        assert shown[lines[at].index(sign[0]) :].startswith("word number 3x")
    assert marked.keys() == {"^", "---"}


@pytest.mark.parametrize("folder", ["checks", "scenarios/deep", "lexicons"])
def test_a_folder_that_can_not_be_listed_is_an_error(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
    for name in ("checks", "scenarios/deep", "lexicons"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "checks" / "a.yaml").write_text("id: a\nfail: size(turns) > 90\n", encoding="utf-8")
    assert main(["lint", str(tmp_path)]) == 0
    real = os.scandir

    def scandir(path: str = ".") -> Any:
        if os.fspath(path) == str(tmp_path / folder):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert main(["lint", str(tmp_path)]) == 1  # the cached result is of a folder that could be listed
    monkeypatch.undo()
    assert main(["lint", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("error[unreadable-file]") == 1


def test_a_check_whose_suffix_is_in_capitals_is_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "a.YAML").write_text("id: a\nfail: nope\n", encoding="utf-8")
    assert main(["lint", str(tmp_path)]) == 1
    assert "unknown name `nope`" in capsys.readouterr().out


def test_installed_packages_are_not_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("env/lib", "web/node_modules/left-pad", "checks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for name in ("env/lib/package.json", "web/node_modules/left-pad/package.json"):
        (tmp_path / name).write_text('{"name": "left-pad"}')
    (tmp_path / "checks" / "brief.yaml").write_text("id: brief\nfail: size(answer) > 80\n")
    assert main(["lint", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "no findings in 1 file\n"
