"""Where the published data lie that tests compare with: one setting, `RULEWRIGHT_SHARED`, else `../shared`."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """The folder `name` of the published data; without it the test fails in CI and is skipped elsewhere."""
    path = Path(os.environ.get("RULEWRIGHT_SHARED", ROOT.parent / "shared")) / name
    if path.is_dir():
        return path
    lacks(f"the published data `{name}`: set RULEWRIGHT_SHARED to the folder that holds them")


def need_git() -> None:
    """Without a checkout that git can read the test fails in CI and is skipped elsewhere."""
    if shutil.which("git") is None or subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True).returncode:
        lacks("git, and a checkout that it can read")


def lacks(what: str) -> NoReturn:
    """Fail the test in CI and skip it elsewhere: it needs something that is not there."""
    if os.environ.get("CI"):
        pytest.fail(f"needs {what}")
    pytest.skip(f"needs {what}", allow_module_level=True)
