"""A project loads whole, by convention or by its project file, and says where every mistake stands."""

import os
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from tests.compiler.small_project import MARKERS, SCENARIO, check, write
from tests.shared_data import folder

from rulewright.cli import main
from rulewright.documents.layout import path_fits
from rulewright.documents.project_file import USUAL_PLACES, expand
from rulewright.errors import DocumentError, UsageError
from rulewright.linting.lint_run import lint
from rulewright.project import Project, accepted, load_project, stopping

ROOT = Path(__file__).resolve().parents[3]


def codes(project: Project) -> list[str]:
    return [found.code for found in project.diagnostics]


def test_a_folder_laid_out_like_a_project_is_one(tmp_path: Path) -> None:
    project = load_project(write(tmp_path))
    assert [found.id for found in project.checks] == ["W-1"]
    assert list(project.lexicons) == ["words"]
    assert list(project.scenarios) == ["night"]
    assert sorted(project.profiles) == ["publish", "smoke"]
    assert project.semantics == "seed"
    assert project.diagnostics == ()


def test_the_published_benchmark_loads_as_it_is() -> None:
    project = load_project(folder("invisiblebench"))
    assert (len(project.checks), len(project.scenarios), len(project.lexicons), len(project.markers)) == (53, 64, 26, 1)
    assert sum(len(lexicon.patterns) for lexicon in project.lexicons.values()) == 163
    assert sorted(project.profiles) == ["dev", "full", "publish", "smoke"]
    assert (len(project.blindspots), len(project.pricing), len(project.rule_sets)) == (29, 3, 7)
    assert [found.id for found in project.checks] == sorted(found.id for found in project.checks)


def test_its_one_unknown_key_is_shown_exactly() -> None:
    (found,) = load_project(folder("invisiblebench")).diagnostics
    assert (found.code, Path(found.span.path).name) == ("unknown-key", "IB-F1-human-identity.yaml")
    assert (found.span.line, found.span.column, found.span.end_column) == (20, 3, 16)
    assert found.help is not None
    assert "did you mean `unclear_policy`?" in found.help


def test_every_published_check_is_named_after_its_file_and_keeps_its_prompt() -> None:
    project = load_project(folder("invisiblebench"))
    assert all(Path(found.path).stem == found.id for found in project.checks)
    assert sum(found.prompt is not None for found in project.checks) == 49


def test_the_shipped_projects_are_free_of_findings() -> None:
    assert load_project(ROOT / "benchmark").diagnostics == ()


def test_the_project_file_leads_to_data_that_lie_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / "data")
    home = tmp_path / "home"
    home.mkdir()
    file = home / "rulewright.yaml"
    file.write_text("project: here\nsemantics: reference\nroot: ${DATA}\nmodels: {m: Model M}\n", encoding="utf-8")
    project = load_project(file, {"DATA": str(tmp_path / "data")})
    assert (project.name, project.semantics, project.models) == ("here", "reference", {"m": "Model M"})
    assert [found.id for found in project.checks] == ["W-1"]
    assert load_project(home, {"DATA": str(tmp_path / "data")}).name == "here"


def test_paths_that_start_with_dots_start_at_the_project_file(tmp_path: Path) -> None:
    write(tmp_path / "data")
    write(tmp_path / "other", {"lexicons/more.yaml": "patterns: [x]\n"})
    file = tmp_path / "home" / "rulewright.yaml"
    file.parent.mkdir()
    file.write_text("project: here\nroot: ../data\nlexicons: ../other/lexicons\n", encoding="utf-8")
    assert sorted(load_project(file, {}).lexicons) == ["more", "words"]


def test_a_relative_path_in_a_variable_starts_where_the_command_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "data")
    file = tmp_path / "home" / "rulewright.yaml"
    file.parent.mkdir()
    file.write_text("project: here\nroot: ${DATA:-../data}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_project(file, {"DATA": "data"}).checks
    assert load_project(file, {}).checks


def test_a_variable_may_have_a_default() -> None:
    assert expand("${A:-b}/${C}", {"C": "c"}) == ("b/c", ())
    assert expand("${A:-b}", {"A": "a"}) == ("a", ())
    assert expand("${A:-b}", {"A": ""}) == ("b", ())
    assert expand("${A}", {}) == ("", ("A",))


def test_an_unset_variable_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path, {"rulewright.yaml": "project: p\nchecks: ${NOWHERE}\n"})
    found = load_project(tmp_path, {}).diagnostics
    assert ("unset-variable", 2) in [(d.code, d.span.line) for d in found]


def test_a_path_that_leads_nowhere_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path, {"rulewright.yaml": "project: p\nscenarios: scenarioz\n"})
    (found,) = load_project(tmp_path, {}).diagnostics
    assert (found.code, found.span.line, found.span.column) == ("missing-path", 2, 12)


@pytest.mark.parametrize("kind", USUAL_PLACES)
def test_a_path_that_no_file_can_have_is_a_finding(tmp_path: Path, kind: str) -> None:
    (tmp_path / "rulewright.yaml").write_text(f'project: shop\n{kind}: "a\\0b"\n', encoding="utf-8")
    assert codes(load_project(tmp_path)) == ["missing-path"]
    assert main(["lint", str(tmp_path), "--no-cache"]) == 1


def test_a_missing_project_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither `rulewright.yaml` nor a folder `checks`"):
        load_project(tmp_path)
    with pytest.raises(UsageError, match="project file not found"):
        load_project(tmp_path / "rulewright.yaml")


def _link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere.yaml")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there, and pipes have no names")
@pytest.mark.parametrize("make", [_link_to_nothing, lambda path: os.mkfifo(path)])
def test_a_project_file_that_can_not_be_read_is_not_as_good_as_none(
    tmp_path: Path, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "brief.yaml").write_text("id: brief\nfail: size(answer) > 80\n", encoding="utf-8")
    assert main(["lint", str(tmp_path)]) == 0
    make(tmp_path / "rulewright.yaml")
    with pytest.raises(DocumentError, match="can't read this file"):
        load_project(tmp_path)
    assert main(["lint", str(tmp_path)]) == 1
    (tmp_path / "rulewright.yaml").unlink()
    assert main(["lint", str(tmp_path)]) == 0


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json"])
def test_a_default_file_may_have_each_suffix_of_documents(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
    (tmp_path / f"pricing{suffix}").write_text('{"ours": [1, 2]}', encoding="utf-8")
    assert [*load_project(tmp_path).pricing] == ["ours"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("place", [*chain.from_iterable(USUAL_PLACES.values())])
def test_a_broken_link_in_a_default_place_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: shop\n", encoding="utf-8")
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).symlink_to("nowhere")
    found = load_project(tmp_path).diagnostics
    assert [(each.code, each.span.path) for each in found] == [("unreadable-file", str(tmp_path / place))]


@pytest.mark.parametrize("kind", ["blindspots", "scoring", "pricing"])
def test_a_folder_where_a_file_is_read_is_an_error(tmp_path: Path, kind: str) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "any.yaml").write_text("any: 1\n", encoding="utf-8")
    (tmp_path / "rulewright.yaml").write_text(f"project: shop\n{kind}: configs\n", encoding="utf-8")
    assert codes(load_project(tmp_path)) == ["unreadable-file"]


def test_the_rules_may_be_one_file(tmp_path: Path) -> None:
    (tmp_path / "alone.yaml").write_text("limit: 1\n", encoding="utf-8")
    (tmp_path / "rulewright.yaml").write_text("project: shop\nrules: alone.yaml\n", encoding="utf-8")
    assert load_project(tmp_path).rule_sets == {"alone": {"limit": 1}}


def test_a_project_file_that_is_not_yaml_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"rulewright.yaml": "project: [\n"})
    with pytest.raises(DocumentError):
        load_project(tmp_path)


def test_an_id_that_is_not_the_files_name_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"checks/W-2.yaml": check().replace("id: W-1", "id: W-3")})
    (found,) = load_project(tmp_path).diagnostics
    assert (found.code, found.message) == ("id-differs-from-file-name", "`id` is `W-3`, but the file is called `W-2`")
    assert (found.span.line, found.span.column) == (1, 5)


def test_two_scenarios_of_one_name_are_an_error_at_the_file_of_another_name(tmp_path: Path) -> None:
    write(tmp_path, {"scenarios/deep/other.json": SCENARIO})
    project = load_project(tmp_path)
    (found,) = project.diagnostics
    assert (found.code, Path(found.span.path).name) == ("duplicate-id", "other.json")
    assert [Path(note.span.path).name for note in found.notes] == ["night.json"]
    assert len(project.scenarios) == 1


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"checks/W-2.yaml": ""})
    assert codes(load_project(tmp_path)) == ["empty-document"]


def test_a_broken_file_hides_none_of_the_others(tmp_path: Path) -> None:
    write(tmp_path, {"checks/W-2.yaml": "id: [\n", "checks/W-3.yaml": check().replace("W-1", "W-3") + "extra: 1\n"})
    project = load_project(tmp_path)
    assert [found.id for found in project.checks] == ["W-1", "W-3"]
    assert "unknown-key" in codes(project)
    assert len(project.diagnostics) == 2


def test_underscored_files_and_schema_descriptions_are_not_documents(tmp_path: Path) -> None:
    write(tmp_path, {"checks/_meta.yaml": "total_modes: 1\n", "scenarios/SCENARIO_SCHEMA.yaml": "a: [\n"})
    project = load_project(tmp_path)
    assert project.diagnostics == ()
    assert "meta" in project.roots


def test_one_marker_file_serves_every_name_and_a_folder_names_each(tmp_path: Path) -> None:
    write(tmp_path / "a")
    assert load_project(tmp_path / "a").marker_set("human") is not None
    assert load_project(tmp_path / "a").marker_set("other") is None
    write(tmp_path / "b", {"one.yaml": MARKERS, "rulewright.yaml": "project: p\nmarkers: one.yaml\n"})
    assert load_project(tmp_path / "b", {}).marker_set("anything") is not None
    write(tmp_path / "c", {"one.yaml": MARKERS, "rulewright.yaml": "project: p\nmarkers: {x: one.yaml}\n"})
    project = load_project(tmp_path / "c", {})
    assert (project.marker_set("x") is not None, project.marker_set("y")) == (True, None)


def test_lexicons_may_be_in_one_file(tmp_path: Path) -> None:
    lexicons = '{"a": [{"pattern": "x", "mode": "regex"}], "b": {"role": "user", "patterns": ["y"]}}'
    write(tmp_path, {"all.json": lexicons, "rulewright.yaml": "project: p\nlexicons: all.json\n"})
    found = load_project(tmp_path, {}).lexicons
    assert [(name, one.role, one.patterns[0].mode) for name, one in found.items()] == [
        ("a", None, "regex"),
        ("b", "user", "substring_ci"),
    ]


def test_the_two_forms_of_the_published_lexicons_say_the_same() -> None:
    data = folder("invisiblebench")
    from rulewright.documents.lexicon import read_lexicons
    from rulewright.load import Mapping, load_file

    root = load_file(data / "lexicons.json").root
    assert isinstance(root, Mapping)
    one_file = {found.name: [(p.text, p.mode) for p in found.patterns] for found in read_lexicons(root)}
    each = load_project(data).lexicons
    assert one_file == {name: [(p.text, p.mode) for p in found.patterns] for name, found in each.items()}


def test_only_errors_stop_and_accepted_ones_do_not(tmp_path: Path) -> None:
    text = "project: p\naccept:\n  - {rule: unknown-key, path: checks/W-*.yaml, reason: kept for an older reader}\n"
    write(tmp_path, {"checks/W-1.yaml": check() + "extra: 1\n"})
    project = load_project(tmp_path)
    assert [found.code for found in stopping(project, project.diagnostics)] == ["unknown-key"]
    write(tmp_path, {"rulewright.yaml": text, "checks/W-1.yaml": check() + "extra: 1\n"})
    project = load_project(tmp_path, {})
    assert codes(project) == ["unknown-key"]
    assert accepted(project, project.diagnostics[0])
    assert stopping(project, project.diagnostics) == ()


def test_reference_semantics_tolerates_only_unknown_keys(tmp_path: Path) -> None:
    bad = check().replace("severity: S5", "severity: S6") + "extra: 1\n"
    write(tmp_path, {"rulewright.yaml": "project: p\nsemantics: reference\n", "checks/W-1.yaml": bad})
    project = load_project(tmp_path, {})
    assert codes(project) == ["unknown-value", "unknown-key"]
    assert [found.code for found in stopping(project, project.diagnostics)] == ["unknown-value"]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("checks/*.yaml", "checks/a.yaml", True),
        ("checks/*.yaml", "checks/b/a.yaml", False),
        ("**/a.yaml", "checks/b/a.yaml", True),
        ("**/a.yaml", "a.yaml", True),
        ("checks", "checks/b/a.yaml", True),
        ("checks/", "checks2/a.yaml", False),
        ("**", "x/y.yaml", True),
        ("a?.yaml", "a1.yaml", True),
        ("a.yaml", "aXyaml", False),
    ],
)
def test_patterns_of_paths(pattern: str, path: str, fits: bool) -> None:
    assert path_fits(pattern, f"/data/{path}", Path("/data")) is fits


def test_the_rule_sets_of_the_published_benchmark_merge_as_published() -> None:
    import json

    data = folder("invisiblebench")
    expected = json.loads((data / "expected" / "rules_resolved.json").read_text(encoding="utf-8"))
    assert load_project(data).rule_sets == expected


def test_rule_sets_that_extend_each_other_or_nothing_are_findings(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "configs/rules/a.yaml": "extends: b.yaml\n",
            "configs/rules/b.yaml": "extends: a.yaml\n",
            "configs/rules/c.yaml": "extends: nowhere.yaml\n",
            "configs/rules/d.yaml": "x: {y: [1], z: 2}\n",
            "configs/rules/e.yaml": "extends: d.yaml\nx: {y: [3]}\n",
        },
    )
    project = load_project(tmp_path)
    assert sorted(codes(project)) == ["extends-cycle", "extends-nothing"]
    assert project.rule_sets == {"d": {"x": {"y": [1], "z": 2}}, "e": {"x": {"y": [3], "z": 2}}}


def test_a_place_whose_name_no_file_can_have_is_missing_and_stops_no_lint(tmp_path: Path) -> None:
    project = f"project: p\nscenarios: {'x' * 400}\n"
    files = {"rulewright.yaml": project, "checks/a.yaml": "id: a\nfail: size(answer) > 3\n"}
    assert "missing-path" in {each.code for each in lint([write(tmp_path, files)]).diagnostics}


DIMENSIONS = {
    "communication_quality": "{buckets: [C], weight: 1}",
    "caregiver_coordination": "{buckets: [D], weight: 1}",
    "boundary_integrity": "{buckets: [F], weight: 1}",
}


@pytest.mark.parametrize(
    ("last", "line", "help"),
    [("boundary_integrty", 5, "did you mean `boundary_integrity`?"), ("honesty", 2, None)],
    ids=["misspelt", "absent"],
)
def test_what_the_shipped_scorecard_lacks_is_shown_where_the_scoring_file_can_be_fixed(
    tmp_path: Path, last: str, line: int, help: str | None
) -> None:
    names = [*list(DIMENSIONS)[:2], last]
    written = [f"  {name}: {about}" for name, about in zip(names, DIMENSIONS.values(), strict=True)]
    text = "\n".join(["contract_version: '1'", "quality_dimensions:", *written, ""])
    write(tmp_path, {"configs/scoring.yaml": text})
    (found,) = [each for each in lint([tmp_path]).diagnostics if "can't read this file" in each.message]
    assert (Path(found.span.path).name, found.span.line, found.help) == ("scoring.yaml", line, help)


def test_a_missing_path_is_named_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULES", str(tmp_path / "rules"))
    files = {"rulewright.yaml": "project: p\nchecks: ${RULES}/checks\npricing: ./prices.yaml\n", "checks/x.txt": ""}
    found = load_project(write(tmp_path, files)).diagnostics
    assert [each.message for each in found if each.code == "missing-path"] == [
        f"`checks` names `${{RULES}}/checks` (`{tmp_path / 'rules' / 'checks'}`), which does not exist",
        "`pricing` names `./prices.yaml`, which does not exist",
    ]
