"""An unreadable document exists with unknown content: findings that depend on it are hidden."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rulewright.cli import main
from rulewright.linting.lint_run import lint
from rulewright.linting.lint_settings import RuleSelection

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shipped")
    shutil.copytree(ROOT / "checks", folder / "checks")
    left_out = shutil.ignore_patterns("transcripts", "speed", "workflows", "safe", "invisiblebench", "runs")
    shutil.copytree(ROOT / "benchmark", folder / "benchmark", ignore=left_out)
    return folder


@pytest.mark.parametrize(
    "names",
    [  # two of them depend on each other in no way
        ("benchmark/configs/blindspots.yaml", "checks/RW-D1.yaml"),
        ("benchmark/configs/profiles.yaml", "benchmark/corpora/family_benefits.yaml"),
        ("benchmark/configs/rules/base.yaml", "checks/lexicons/hopelessness_cue.yaml"),
        ("benchmark/configs/scorecards/two-tier.yaml", "benchmark/scenarios/night_shift_alone.json"),
        ("benchmark/configs/scoring.yaml", "checks/state_machines/danger_followed_up.yaml"),
        ("checks/RW-A1.yaml", "checks/markers/human_check.yaml"),
    ],
)
def test_a_lost_quote_is_one_finding(names: tuple[str, str], shipped: Path) -> None:
    texts = {shipped / name: (shipped / name).read_text(encoding="utf-8") for name in names}
    for path, text in texts.items():
        broken = re.sub(r"^(\w+: )(?=\w)|^\{", r'\1"', text, count=1, flags=re.MULTILINE)
        path.write_text(broken if broken != text else f'"{text}', encoding="utf-8")
    try:
        found = lint([shipped / "benchmark"], RuleSelection(("*",))).diagnostics
    finally:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    assert {each.code for each in found} <= {"yaml-syntax", "json-syntax"}
    assert sorted(Path(each.span.path).resolve() for each in found) == sorted(path.resolve() for path in texts)


def test_a_json_file_that_cannot_be_read_ends_no_lint_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", str(tmp_path)]) == 0
    (tmp_path / "answers.json").write_text('{"replies": {}}', encoding="utf-8")
    read = Path.read_text

    def refused(path: Path, **options: str) -> str:
        if path.name == "answers.json":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, **options)

    monkeypatch.setattr(Path, "read_text", refused)
    assert lint([tmp_path]).diagnostics == ()
