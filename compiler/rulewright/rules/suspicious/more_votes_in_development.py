from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument


def more_votes_in_development(check: CheckDocument) -> Findings:
    """`dev_repetitions` is larger than the number of votes of other runs.

    Why it matters: development costs more than publication, and the published verdicts rest on fewer votes.
    Instead: swap the two numbers, or lower `dev_repetitions`.
    """
    votes, dev = check.repetitions, check.routing.dev_repetitions
    if votes is not None and dev is not None and dev > votes:
        message = f"development runs have {dev} votes, but other runs have {votes}"
        notes = [(check.repetitions_place, "the votes of other runs")]
        yield warning(check.key_place("routing", "dev_repetitions"), message, notes=notes)
