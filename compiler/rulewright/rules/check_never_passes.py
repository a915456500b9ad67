"""Rule: an `expression` check that gives PASS for no conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.proving.results import Proved
from rulewright.proving.verdicts import never_given

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument


def check_never_passes(check: CheckDocument) -> Iterator[Diagnostic]:
    """The conditions of a check exclude that it ever passes.

    Why it matters: it says FAIL or UNCLEAR whatever is said, which nobody can improve.
    Instead: look for a `fail` that always holds, or for parts of `pass` that exclude each other or `fail`.
    """
    if not check.verdict_conditions:
        return
    if isinstance(never_given(check, "PASS", solver=False), Proved):
        yield warning(check.passes or check.verdict_conditions[0], "this check can never pass")
