"""`rulewright score` run in an empty folder, for tests of the command."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.safe_cases import write

from rulewright.cli import main
from rulewright_runtime.cases import json_report


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1736937000")
    for name in [name for name in os.environ if name.startswith("SAFE_V0_")]:
        monkeypatch.delenv(name)


def batch(name: str, *cases: Any) -> None:
    write(Path("cases", f"{name}.json"), list(cases))


def score(*words: str) -> int:
    json_report.generation_time.cache_clear()
    return main(["score", "--concern", "I25", *words])


def report(*words: str) -> dict[str, Any]:
    score("--format", "json", "--output", "out.json", *words)
    result: dict[str, Any] = json.loads(Path("out.json").read_text())
    return result
