from rulewright.diagnostics import Findings, Located, Span, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile


def even_repetitions(check: CheckDocument | Profile) -> Findings:
    """A judge casts an even number of votes, or none.

    Why it matters: a verdict needs more than half of the votes, so a tie gives UNCLEAR. An even number needs as many
    equal votes as the next odd one. Without a vote, the check never runs.
    Instead: use an odd number.
    """
    if isinstance(check, Profile):
        if check.repetitions is not None and check.repetitions > 0:
            yield from _even(check.repetitions, check.place("llm_repetitions"))
        return
    dev = check.routing.dev_repetitions
    for votes, place in (
        (check.repetitions, check.repetitions_place),
        (dev, check.place("routing", "dev_repetitions")),
    ):
        if check.is_judged and votes == 0:
            yield warning(place, "with 0 votes, the check never runs", help="cast at least one vote")
        elif (check.is_judged or check.has_edge) and votes is not None and votes > 0:
            yield from _even(votes, place)


def _even(votes: int, place: Located | Span) -> Findings:
    if votes % 2 == 0:
        help = f"{votes - 1} or {votes + 1} votes can't tie"
        yield warning(place, f"{votes} votes can end in a tie, which is UNCLEAR", help=help)
