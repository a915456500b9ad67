"""Where the published data lie that tests compare with: one setting, `RULEWRIGHT_SHARED`, else `../shared`."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """The folder `name` of the published data; without it the test fails in CI and is skipped elsewhere."""
    path = Path(os.environ.get("RULEWRIGHT_SHARED", ROOT.parent / "shared")) / name
    if path.is_dir():
        return path
    if os.environ.get("CI"):
        pytest.fail(f"the published data `{name}` are missing: set RULEWRIGHT_SHARED to the folder that holds them")
    pytest.skip(f"needs the published data `{name}`: set RULEWRIGHT_SHARED", allow_module_level=True)
