"""`lint --fix` in one call."""

from collections.abc import Sequence
from pathlib import Path

from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import fixed_files
from rulewright.linting.lint_settings import DEFAULT, RuleSelection


def fix_files(paths: Sequence[Path | str], selection: RuleSelection = DEFAULT, *, unsafe: bool = False) -> Report:
    """Apply the fixes to the files and return the remaining findings."""
    done = fixed_files(paths, selection, unsafe=unsafe)
    done.save()
    return done.left
