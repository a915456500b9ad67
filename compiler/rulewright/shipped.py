"""The paths of the shipped data: checks, benchmark, and pages of rules."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from rulewright.errors import UsageError

PROJECT_FILE = Path("benchmark", "rulewright.yaml")
CONFIGS = Path("benchmark", "configs")


def shipped_root() -> Path:
    """Return the folder with `checks/` and `benchmark/`: the checkout of this code, else the installed copy.

    Raises `UsageError` for an installation without its data.
    """
    checkout = Path(__file__).resolve().parents[2]
    installed = Path(sysconfig.get_path("purelib"), "rulewright_shipped")
    alongside = Path(__file__).resolve().parents[1] / "rulewright_shipped"  # `pip install --target`
    for folder in (checkout, installed, alongside):
        if (folder / PROJECT_FILE).is_file():
            return folder
    raise UsageError("the shipped benchmark is missing from this installation; install rulewright again")


def rule_page(code: str) -> Path | None:
    """Return the page of a code with its bad and good examples, or None where this installation lacks it."""
    try:
        page = shipped_root() / "docs" / "rules" / f"{code}.md"
    except UsageError:
        return None
    return page if page.is_file() else None
