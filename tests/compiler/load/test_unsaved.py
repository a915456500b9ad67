"""What an editor holds stands in place of the files, for everything that loads, as long as it is said so."""

from pathlib import Path

import pytest

from rulewright.load import load_file, plain, unsaved
from rulewright.project import load_project


def test_a_text_replaces_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    with unsaved({str(path): "a: 2\n"}):
        assert plain(load_file(path).root) == {"a": 2}
    assert plain(load_file(path).root) == {"a": 1}


def test_other_files_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    with unsaved({str(tmp_path / "b.yaml"): "a: 2\n"}):
        assert plain(load_file(path).root) == {"a": 1}


def test_a_relative_path_means_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with unsaved({str(tmp_path / "a.yaml"): "a: 2\n"}):
        assert plain(load_file(Path("x/../a.yaml")).root) == {"a": 2}
        assert plain(load_file("a.yaml").root) == {"a": 2}


def test_texts_within_texts_count_together(tmp_path: Path) -> None:
    one, two = tmp_path / "1.yaml", tmp_path / "2.yaml"
    with unsaved({str(one): "a: 1\n", str(two): "a: 2\n"}):
        with unsaved({str(two): "a: 3\n"}):
            assert [plain(load_file(path).root) for path in (one, two)] == [{"a": 1}, {"a": 3}]
        assert plain(load_file(two).root) == {"a": 2}


def test_after_a_failure_files_count_again(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError), unsaved({str(path): "a: 2\n"}):
        raise ZeroDivisionError
    assert plain(load_file(path).root) == {"a": 1}


def test_a_whole_project_is_read_so(tmp_path: Path) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: saved\n", encoding="utf-8")
    with unsaved({str(tmp_path / "rulewright.yaml"): "project: typed\n"}):
        assert load_project(tmp_path).name == "typed"
    assert load_project(tmp_path).name == "saved"
