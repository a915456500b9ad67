"""Two packages from one repository: both are built, and the runtime alone carries out a compiled plan."""

import json
import zipfile
from pathlib import Path

import release
from tests.shared_data import ROOT, need_git

import rulewright
import rulewright_runtime
from rulewright.cli import main


def test_a_compiled_plan_runs_where_only_the_wheel_of_the_runtime_is_installed(tmp_path: Path) -> None:
    need_git()
    wheels = {}
    for name, (folder, sources) in release.PACKAGES.items():
        (wheels[name],) = release.build(folder, tmp_path / "dist", "wheel")
        assert release.misplaced(wheels[name], sources) == []
    with zipfile.ZipFile(wheels["rulewright"]) as archive:
        metadata = archive.read(f"rulewright-{release.project(ROOT)['version']}.dist-info/METADATA").decode()
    assert f"Requires-Dist: rulewright-runtime=={release.project(release.RUNTIME)['version']}\n" in metadata
    python = release.empty_environment(tmp_path / "empty")
    release.install(python, wheels["rulewright-runtime"])
    assert main(["compile", str(ROOT / "benchmark"), "-o", str(tmp_path / "plan.json")]) == 0
    data, replies = ROOT / "benchmark" / "transcripts", ROOT / "benchmark" / "judge_replies" / "replies.json"
    assert release.run_alone(python, tmp_path / "plan.json", data, replies, tmp_path / "run") is None
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["totals"]["transcripts"] == summary["totals"]["judged"] == len(list(data.iterdir()))


def test_the_packages_say_the_version_that_they_are_built_with() -> None:
    assert rulewright.__version__ == release.project(ROOT)["version"]
    assert rulewright_runtime.__version__ == release.project(release.RUNTIME)["version"]


def test_reasons_against_a_release_are_listed() -> None:
    need_git()
    assert "0.0.7, as `pyproject.toml` does" in next(release.complaints("0.0.7"))
    assert not [each for each in release.complaints(release.project(ROOT)["version"]) if "pyproject" in each]
