"""The paths of the shipped data: checks, benchmark, and pages of rules."""

import sysconfig
from functools import cache
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


@cache
def page_paths() -> dict[str, Path]:
    """Return the pages with bad and good examples by their code; none where this installation lacks them."""
    try:
        pages = (shipped_root() / "docs" / "rules").glob("*.md")
    except UsageError:
        return {}
    return {path.stem: path for path in pages if path.stem != "index"}
