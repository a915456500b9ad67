"""The files by which others run us in their builds: every step of them is carried out here."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from rulewright.cli import main

ROOT = Path(__file__).resolve().parents[1]
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The starter project in the working folder; its check fails one of two answers."""
    monkeypatch.chdir(tmp_path)
    assert main(["init", "rules"]) == 0
    return tmp_path


def shell(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {"PATH": path, "HOME": os.environ.get("HOME", "/"), "GITHUB_STEP_SUMMARY": "step.md"}
    return subprocess.run(
        [*BASH, script], env={**kept, **variables}, capture_output=True, encoding="utf-8", check=False
    )


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


def steps(**inputs: str) -> dict[str, tuple[str, dict[str, str]]]:
    """The action's steps by name: the script, and its variables with the inputs filled in."""
    known = {name: inputs.get(name, each["default"]) for name, each in action()["inputs"].items()}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: known[found[1]], text)

    return {
        step["name"]: (step["run"], {name: filled(value) for name, value in step.get("env", {}).items()})
        for step in action()["runs"]["steps"]
    }


def test_make_refuses_an_older_python_before_it_creates_an_environment(tmp_path: Path) -> None:
    (tmp_path / "python3.10").symlink_to("/bin/false")
    command = ["make", "-f", str(ROOT / "Makefile"), "VENV=made", "PYTHON=./python3.10", "made/bin/python"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "expected Python 3.11 or newer as `./python3.10`" in done.stderr
    assert not (tmp_path / "made").exists()


def test_no_script_of_the_action_holds_an_input() -> None:
    """An input in a script would be run as part of it; in a variable it stays text."""
    assert [step["name"] for step in action()["runs"]["steps"] if "${{" in step["run"]] == []


def test_the_action_installs_the_version_that_it_belongs_to() -> None:
    script, variables = steps()["Install"]
    assert "GITHUB_ACTION_PATH" in script
    assert variables == {"INSTALL": ""}


def test_the_action_lints_scans_and_writes_its_outputs(project: Path) -> None:
    carried = steps(project="rules", transcripts="\nrules/transcripts\n")
    script, variables = carried["Lint"]
    assert shell(script, **variables).returncode == 0
    script, variables = carried["Scan"]
    done = shell(script, **variables)
    assert done.returncode == 1, done.stderr
    assert "::error file=rules/transcripts/" in done.stdout
    outputs = {name: each["value"] for name, each in action()["outputs"].items()}
    paths = {name: value.replace("${{ inputs.out }}", "rulewright-run") for name, value in outputs.items()}
    assert ET.parse(paths["junit"]).getroot().tag == "testsuites"
    assert json.loads(Path(paths["sarif"]).read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert Path("step.md").read_text(encoding="utf-8") == Path(paths["comment"]).read_text(encoding="utf-8")


def test_the_action_and_the_component_lint_beyond_a_baseline(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)  # where no baseline is written
    check = Path("rules/checks/promises-availability.yaml")
    check.write_text(check.read_text(encoding="utf-8").replace("pass_rule:", "pass_rul:"), encoding="utf-8")
    action_step = steps(project="rules", baseline="baseline.json")["Lint"]
    for script, variables in (action_step, component_lint(baseline="baseline.json")):
        assert shell(script, **variables, CI="true").returncode == 3  # a misspelt name creates no baseline
    assert main(["lint", "rules", "--baseline", "baseline.json"]) == 0
    for script, variables in (action_step, component_lint(baseline="baseline.json")):
        assert shell(script, **variables, CI="true").returncode == 0
    for script, variables in (steps(project="rules")["Lint"], component_lint()):
        assert shell(script, **variables, CI="true").returncode == 1


def test_the_action_passes_on_what_fails(project: Path) -> None:
    script, variables = steps(project="rules", transcripts="rules/transcripts", **{"fail-on": "never"})["Scan"]
    assert shell('rulewright() { echo "$@"; }\n' + script, **variables).stdout.count("--fail-on=never") == 1


def test_the_action_passes_hostile_inputs_as_text(project: Path) -> None:
    script, variables = steps(project="rules", transcripts='"; touch broken; "', judge="$(touch broken)")["Scan"]
    assert shell(script, **variables).returncode == 3
    assert not Path("broken").exists()


@pytest.mark.parametrize("option", ["-h", "--help", "--version"])
def test_the_action_refuses_an_option_in_place_of_a_path(project: Path, option: str) -> None:
    carried = steps(project=option, transcripts=option)
    assert {shell(script, **variables).returncode for script, variables in [carried["Lint"], carried["Scan"]]} == {3}


def test_a_refused_scan_leaves_no_report_of_an_earlier_run(project: Path) -> None:
    script, variables = steps(project="rules", transcripts="rules/transcripts")["Scan"]
    assert shell(script, **variables).returncode == 1
    assert len(list(Path("rulewright-run").glob("*.xml"))) == 1
    Path("step.md").unlink()
    Path("rules/checks/broken.yaml").write_text("id: [", encoding="utf-8")
    assert shell(script, **variables).returncode == 3
    assert not [each for pattern in ("*.xml", "*.sarif", "comment.md") for each in Path("rulewright-run").glob(pattern)]
    assert not Path("step.md").exists()


def component(**chosen: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The component's job for the starter project, and its variables."""
    spec, jobs = yaml.safe_load_all((ROOT / "templates" / "rulewright.yml").read_text(encoding="utf-8"))
    job = jobs["rulewright"]
    inputs = {name: each.get("default", "") for name, each in spec["spec"]["inputs"].items()}
    inputs |= {"project": "rules", "transcripts": "rules/transcripts", **chosen}
    return job, {
        name: re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: inputs[found[1]], value)
        for name, value in job["variables"].items()
    }


def component_lint(**chosen: str) -> tuple[str, dict[str, str]]:
    job, variables = component(**chosen)
    return next(line for line in job["script"] if "rulewright lint" in line), variables


def test_the_gitlab_component_lints_scans_and_reports(project: Path) -> None:
    job, variables = component()
    assert [shell(line, **variables).returncode for line in job["script"]] == [0, 0, 1]
    assert [shell(line, **variables).returncode for line in job["after_script"]] == [0, 0]
    assert job["artifacts"]["reports"]["junit"].replace("$[[ inputs.out ]]", "rulewright-run") == str(
        next(Path("rulewright-run").glob("*.xml"))
    )


def test_the_hooks_run_their_commands(project: Path) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (project / "docker-compose.yml").write_text("services: {db: {image: postgres}}\n", encoding="utf-8")
    for hook in hooks:
        program, *words = hook["entry"].split()
        assert hook["pass_filenames"] is False  # a commit may change files that are no documents
        assert (program, main(words)) == ("rulewright", 0)


def test_the_hooks_install_the_runtime_of_their_own_commit() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for hook in hooks:
        (runtime,) = hook["additional_dependencies"]
        assert 'name = "rulewright-runtime"' in (ROOT / runtime / "pyproject.toml").read_text(encoding="utf-8")
