from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.proving.verdicts import never_given


def check_never_passes(check: CheckDocument) -> Findings:
    """The conditions of a check can never give PASS.

    Why it matters: the check gives FAIL or UNCLEAR whatever the assistant does.
    Instead: look for a `fail` that always holds, or for parts of `pass` that contradict each other or `fail`.
    """
    if not check.verdict_conditions:
        return
    if never_given(check, "PASS"):
        yield warning(check.passes or check.verdict_conditions[0], "this check can never pass")
