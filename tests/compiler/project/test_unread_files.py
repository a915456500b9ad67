"""What lies next to the documents is found by the places where one looks, and by names that end in `_SCHEMA`."""

from pathlib import Path

from rulewright.project import load_project
from rulewright.project.unread_files import read_unread_files


def write(folder: Path, **files: str) -> Path:
    """Files of a project, `/` in their names written `__` and `.` before the ending `_`."""
    for name, text in files.items():
        parts = name.split("__")
        path = folder.joinpath(*parts[:-1], ".".join(parts[-1].rsplit("_", 1)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "checks").mkdir(exist_ok=True)
    return folder


def test_a_file_in_the_second_default_place_is_a_copy(tmp_path: Path) -> None:
    folder = write(tmp_path, lexicons__x_yaml="patterns: [a]", lexicons_json="{}", model_pricing_json="{}")
    unread = read_unread_files(load_project(folder))
    assert [(copy.kind, copy.taken, copy.source.path) for copy in unread.copies] == [
        ("lexicons", "lexicons", str(folder / "lexicons.json"))
    ]


def test_where_the_project_file_names_the_place_nothing_is_a_copy(tmp_path: Path) -> None:
    folder = write(tmp_path, lexicons__x_yaml="patterns: [a]", lexicons_json="{}")
    (folder / "rulewright.yaml").write_text("name: x\nlexicons: lexicons.json\n", encoding="utf-8")
    assert read_unread_files(load_project(folder)).copies == ()


def test_a_description_need_not_be_yaml(tmp_path: Path) -> None:
    folder = write(tmp_path, scenarios__SCENARIO_SCHEMA_yaml="a: b\n  c: d\n")
    unread = read_unread_files(load_project(folder))
    assert [source.text for source in unread.descriptions] == ["a: b\n  c: d\n"]
    assert len(unread.loaded) == 1
