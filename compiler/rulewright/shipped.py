"""Where the data lie that travel with the product: the shipped checks, the benchmark round them, the rules' pages."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from rulewright.errors import UsageError

PROJECT_FILE = Path("benchmark", "rulewright.yaml")
CONFIGS = Path("benchmark", "configs")


def shipped_root() -> Path:
    """The folder that holds `checks/` and `benchmark/`: the checkout this code runs from, else the installed copy.

    Raises `UsageError` where an installation has lost its data.
    """
    checkout = Path(__file__).resolve().parents[2]
    installed = Path(sysconfig.get_path("purelib"), "rulewright_shipped")
    alongside = Path(__file__).resolve().parents[1] / "rulewright_shipped"  # `pip install --target`
    for folder in (checkout, installed, alongside):
        if (folder / PROJECT_FILE).is_file():
            return folder
    raise UsageError("the shipped benchmark is missing from this installation; install rulewright again")


def rule_page(code: str) -> Path | None:
    """The page of a diagnostic with its bad and good examples, or None where this installation has none."""
    try:
        page = shipped_root() / "docs" / "rules" / f"{code}.md"
    except UsageError:
        return None
    return page if page.is_file() else None
