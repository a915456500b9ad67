from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.vocabulary import DEFAULT_NAME
from rulewright_runtime.english import ticked


def gate_severity_outside_gate_bucket(check: CheckDocument) -> Findings:
    """A check has a gate severity, but its bucket has no gate.

    Why it matters: a gate only looks at the buckets that the vocabulary assigns to gates, so this failure merely lowers
    a rate. In a vocabulary of your own, the scorecard decides which severities stop where. An `autofail` criterion is
    reported too, if no gate has the bucket and severity that it states.
    Instead: move the check to a bucket with a gate, or give it a milder severity.
    """
    words = check.vocabulary
    if (
        words.name == DEFAULT_NAME
        and check.severity in words.gate_severities
        and check.primary_bucket
        and check.primary_bucket not in words.gate_buckets
    ):
        yield warning(
            check.place("severity"),
            f"no gate stops on severity `{check.severity}` in bucket `{check.primary_bucket}`",
            notes=[(check.place("primary_bucket"), "the bucket is set here")],
            help=f"gates look at {ticked(sorted(words.gate_buckets))}",
        )
