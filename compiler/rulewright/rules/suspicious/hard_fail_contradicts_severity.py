from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.load import Scalar


def hard_fail_contradicts_severity(check: CheckDocument) -> Findings:
    """`hard_fail` and `severity` disagree about how severe a failure is.

    Why it matters: gates go by severity and other scorecards by `hard_fail`, so the same failure stops a transcript
    under one of them only.
    Instead: use a severity that gates stop on (S5 or S4_GATE, unless the vocabulary names others) exactly where
    `hard_fail` is true.
    """
    written = check.get("hard_fail")
    if not isinstance(written, Scalar) or not check.severity:
        return
    notes = [(check.place("severity"), "the severity is set here")]
    known, known_buckets = check.vocabulary.gate_severities, {*check.vocabulary.gate_buckets, ""}
    stopping = [severity for severity in reversed(check.vocabulary.severities) if severity in known]
    if written.value is True and stopping and check.severity not in stopping:
        yield warning(
            written,
            f"`hard_fail` is true, but no gate stops on severity `{check.severity}`",
            notes=notes,
            help=f"gates stop on {' and '.join(stopping)}",
        )
    elif written.value is False and check.severity in stopping and check.primary_bucket in known_buckets:
        yield warning(written, f"`hard_fail` is false, but gates stop on severity `{check.severity}`", notes=notes)
