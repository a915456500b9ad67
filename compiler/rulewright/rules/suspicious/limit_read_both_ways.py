import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.expression.direction import ORDERED
from rulewright.expression.syntax_tree import Binary, Conditional, Expr, Name
from rulewright.lower.expressions_of import WrittenExpression, operations_in, parts_of

Comparison = tuple[WrittenExpression, Binary]

REACHING: Final = frozenset({"<", ">="})  # a value that equals the limit has reached it
OTHERWISE: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
UPPER: Final = re.compile(r"(?:^|_)(?:at_most|ceiling|limit|max|maximum|most|upper)(?:_|$)")


def limit_read_both_ways(scorecard: ScorecardDocument | CaseScorecardDocument) -> Findings:
    """A value that equals a limit has reached it in one comparison and not in another.

    Why it matters: with `recall >= recall_pass` here and `recall <= recall_pass` there, a recall of exactly this value
    passes and does not pass; in `x > good ? 'A' : x >= fair ? 'B' : 'C'` one grade starts above its limit.
    Instead: read the limits of a value in one way: `>=` and `<`, or `>` and `<=`.
    """
    odd = {id(part): (written, part) for written, part in (*_of_one_limit(scorecard), *_steps(scorecard))}
    for written, part in odd.values():
        reads, others = ("reaches", "does not") if part.operator in REACHING else ("does not reach", "does")
        value, limit = written.text(part.left), written.text(part.right)
        message = f"here `{value}` {reads} `{limit}` where they are equal, but elsewhere an equal value {others}"
        yield warning(written.span(part), message, help=Guess(OTHERWISE[part.operator]))


def _of_one_limit(scorecard: ScorecardDocument | CaseScorecardDocument) -> Iterator[Comparison]:
    """The comparisons of a value with a parameter that read it unlike most others of the same two."""
    found: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    for written, part in operations_in(scorecard, ORDERED):
        if isinstance(part.right, Name) and scorecard.get("parameters", part.right.name) is not None:
            found[written.text(part.left), part.right.name].append((written, part))
    for group in found.values():
        yield from _odd(group)


def _steps(scorecard: ScorecardDocument | CaseScorecardDocument) -> Iterator[Comparison]:
    """The steps of a choice that compare the same value in the same direction, but read their limit otherwise."""
    below: set[int] = set()
    for written, part in parts_of(scorecard):
        if id(part) in below:
            continue
        conditions: list[Binary] = []
        step: Expr = part
        while isinstance(step, Conditional):
            below.add(id(step))
            conditions += [step.condition] if isinstance(step.condition, Binary) else []
            step = step.otherwise
        groups: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
        for each in conditions:
            if each.operator in ORDERED and UPPER.search(written.text(each.right)) is None:
                groups[written.text(each.left), each.operator[0]].append((written, each))
        for group in groups.values():
            yield from _odd(group)


def _odd(group: list[Comparison]) -> list[Comparison]:
    """The comparisons that read a limit unlike the others of their group; of as many, those that do not reach it."""
    reaching = [each for each in group if each[1].operator in REACHING]
    passing = [each for each in group if each[1].operator not in REACHING]
    return min(passing, reaching, key=len) if reaching and passing else []
