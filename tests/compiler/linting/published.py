"""What lint finds in the published corpus: each process lints it once for all tests that read it."""

from functools import cache

from tests import shared_data

from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint
from rulewright.linting.lint_settings import RuleSelection


@cache
def reported(*select: str) -> Report:
    """What lint finds in the corpus, by default or with the codes of `select`."""
    return lint([shared_data.folder("invisiblebench")], RuleSelection(select))
