from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument


def trigger_without_condition(check: CheckDocument) -> Findings:
    """A check has `scope: trigger`, but neither tags nor a condition.

    Why it matters: it applies to every scenario without a list of checks, although its scope says otherwise.
    Instead: set tags or a condition under `eligibility`, or write `scope: universal`.
    """
    if (
        check.get("scope") is not None
        and not check.is_universal
        and not check.tags
        and check.get("eligibility", "when") is None
    ):
        message = f"`scope: {check.scope}` without tags or a condition: the check applies to every scenario"
        yield warning(check.place("scope"), message)
