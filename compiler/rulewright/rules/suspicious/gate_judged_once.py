from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument


def gate_judged_once(check: CheckDocument) -> Findings:
    """A single vote of a judge decides a gate check, or overrules the lexicon of one.

    Why it matters: one unusual reply of the model fails a transcript or lets it pass.
    Instead: set at least three repetitions.
    """
    if check.is_gate and (check.is_judged or check.has_edge) and check.repetitions == 1:
        yield warning(
            check.repetitions_place,
            "a single vote of a judge decides this gate"
            if check.is_judged
            else "a single vote of a judge can overrule the lexicon of this gate",
            notes=[(check.place("severity"), "the severity makes it a gate check")],
            help="set at least 3 repetitions",
        )
