from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile


def adaptive_with_one_repetition(subject: CheckDocument | Profile) -> Findings:
    """`adaptive_repetitions` is on, but there is only one repetition.

    Why it matters: an early stop after the first vote saves nothing when one vote is all there is.
    Instead: turn it off, or set at least three repetitions.
    """
    if isinstance(subject, CheckDocument):
        adaptive, place = subject.routing.adaptive_repetitions, subject.repetitions_place
        key = subject.key_place("routing", "adaptive_repetitions")
    else:
        adaptive, place = subject.adaptive, subject.place("llm_repetitions")
        key = subject.key_place("adaptive_repetitions")
    if adaptive and subject.repetitions == 1:
        message = "`adaptive_repetitions` has no effect: there is only one repetition"
        yield warning(key, message, notes=[(place, "the number is set here")])
