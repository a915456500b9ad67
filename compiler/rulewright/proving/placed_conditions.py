"""The valid conditions of a document, with their locations and what is known of their inputs."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from rulewright.lower.expressions_of import DocumentWithExpressions
from rulewright.lower.scopes import scoped_expressions
from rulewright.proving.studies import LocatedCondition, placed

SCORECARDS: Final = frozenset({"ScorecardDocument", "CaseScorecardDocument"})  # know more than their conditions say


@lru_cache(maxsize=64)  # several rules read the same document in turn
def placed_conditions(document: DocumentWithExpressions) -> tuple[LocatedCondition, ...]:
    """The valid conditions of a document; mistakes in the others are reported elsewhere."""
    if type(document).__name__ not in SCORECARDS:
        return tuple(_conditions(document))
    from rulewright.proving.scorecard_conditions import of_scorecard  # imported with the first scorecard

    return tuple(of_scorecard(document))


def _conditions(document: DocumentWithExpressions) -> Iterator[LocatedCondition]:
    rows = {id(scalar) for scalar in getattr(document, "verdict_conditions", ())}
    loops = {id(each): loop for loop in getattr(document, "loops", ()) for each in loop.conditions}
    params = getattr(document, "params", {})
    usual = tuple([(("params", name), value) for name, value in params.items() if type(value) in (int, float)])
    replies = dict(_replies_before(document))
    for scalar, environment in scoped_expressions(document):
        loop = loops.get(id(scalar))
        iterations = None if loop is None else loop.max_iterations
        given = (" in this turn", replies.get(id(scalar), ()))
        yield from placed([scalar], environment, iterations, in_table=id(scalar) in rows, usual=usual, given=given)


def _replies_before(document: DocumentWithExpressions) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The condition of each branch of a scenario, by id, with what holds of the replies before its turn."""
    for before, turn in enumerate(getattr(document, "turns", ())):
        known = ["size(replies) > 0", f"size(replies) <= {before}"]
        known += [] if turn.number is None else [f"turn == {turn.number}"]
        yield from ((id(each.when), tuple(known)) for each in turn.branches)
