"""Proofs about decision tables: whether a row always decides, each row can decide, rows overlap, two tables agree.

Rows are tried in order, the first whose condition holds decides. A condition that can't be decided ends the table with
`error`; that is an answer of its own and no gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rulewright.prove.atoms import ERROR, FALSE, TRUE, shape, written
from rulewright.prove.domains import Domains
from rulewright.prove.intervals import Goal
from rulewright.prove.results import Proved, Refuted, Result, Unknown, Witness
from rulewright.prove.search import Search, refuting
from rulewright.tables.build import Row
from rulewright_runtime.ir import Node, Program

# A row of a table, or its condition alone; None is the condition that always holds.
RowLike: TypeAlias = "Row | Program | None"
_ALWAYS: Final = Program((Node("const", (), ["bool", True]),))


def is_total(rows: Sequence[RowLike], domains: Domains) -> Result:
    """Whether some row decides every input; a witness is an input that falls through."""
    return _total(_searching(rows, domains), rows)


def survey(rows: Sequence[RowLike], domains: Domains, *, solver: bool = True) -> tuple[Result, tuple[Result, ...]]:
    """`is_total` and `reachable` at once, with the `solver` or by exact splitting alone."""
    search = Search(_conditions(rows), domains, solver)
    return _total(search, rows), tuple([_reached(search, at) for at in range(len(rows))])


def _total(search: Search, rows: Sequence[RowLike]) -> Result:
    last = len(rows)
    goals = [_falls_to(at, 0) for at, row in enumerate(rows) if isinstance(row, Row) and row.output is None]
    goals.append(_none(0, last))
    found = refuting(search, goals)
    if found is not None:
        return found
    ended = [search.find([*_none(0, at), (at, ERROR)]) for at in range(last)]
    said = next((each for each in ended if isinstance(each, Witness)), None)
    return Proved(remarks=() if said is None else (f"with {said} the table ends with `error`",))


def reachable(rows: Sequence[RowLike], domains: Domains) -> tuple[Result, ...]:
    """For each row whether it can decide: Proved with an input for which it does, or Refuted because it never does."""
    return survey(rows, domains)[1]


def _reached(search: Search, at: int) -> Result:
    match search.find(_falls_to(at, 0)):
        case Witness() as witness:
            return Proved(witness)
        case Unknown() as unknown:
            return unknown
    return Refuted(None, _why_dead(search, at))


def _why_dead(search: Search, at: int) -> str:
    if search.find([(at, TRUE)]) is None:
        return "its condition never holds"
    for earlier in range(at):
        if search.find([(earlier, FALSE), (at, TRUE)]) is None:
            return f"row {earlier + 1} always decides before it"
    return "the rows before it always decide"


def disjoint(rows: Sequence[RowLike], domains: Domains) -> Result:
    """Whether no two rows hold for the same input; a witness is an input for which two do."""
    search = _searching(rows, domains)
    unknown: Unknown | None = None
    for one in range(len(rows)):
        for two in range(one + 1, len(rows)):
            match search.find([(one, TRUE), (two, TRUE)]):
                case Witness() as witness:
                    return Refuted(witness, f"rows {one + 1} and {two + 1} both hold")
                case Unknown() as found:
                    unknown = unknown or found
    return unknown or Proved()


def equal(one: Sequence[Row], two: Sequence[Row], domains: Domains) -> Result:
    """Whether two tables give the same output for every input, the absence of one included."""
    search = Search([*_conditions(one), *_conditions(two)], domains)
    unknown: Unknown | None = None
    for left, goal in _outcomes(one, 0):
        for right, other in _outcomes(two, len(one)):
            if left.key == right.key:
                continue
            match search.find([*goal, *other]):
                case Witness() as witness if left.settled and right.settled:
                    return Refuted(witness, f"the one table gives {left.said}, the other {right.said}")
                case Witness() as witness:
                    unknown = unknown or Unknown(f"with {witness} both outputs are computed, each in its own way")
                case Unknown() as found:
                    unknown = unknown or found
    return unknown or Proved()


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a table can give; outcomes with the same key are the same, `settled` ones with other keys are not."""

    key: Any
    said: str
    settled: bool = True


_NOTHING: Final = _Outcome("nothing", "nothing")
_ENDED: Final = _Outcome("error", "`error`")


def _outcomes(rows: Sequence[Row], offset: int) -> list[tuple[_Outcome, Goal]]:
    """Everything a table can give, each with the goal of giving it."""
    found: list[tuple[_Outcome, Goal]] = [(_output(row), _falls_to(at, offset)) for at, row in enumerate(rows)]
    found.append((_NOTHING, _none(offset, len(rows))))
    found += [(_ENDED, [*_none(offset, at), (offset + at, ERROR)]) for at in range(len(rows))]
    return found


def _output(row: Row) -> _Outcome:
    if row.output is None:
        return _NOTHING
    said = f"`{written(row.output)}`"
    if len(row.output.nodes) == 1 and row.output.nodes[0].op == "const":
        return _Outcome(("value", shape(row.output)), said)
    return _Outcome(("program", shape(row.output)), said, settled=False)


def _falls_to(at: int, offset: int) -> Goal:
    """Row `at` is the first that holds."""
    return [*_none(offset, at), (offset + at, TRUE)]


def _none(offset: int, count: int) -> list[tuple[int, int]]:
    """None of the first rows holds, and none ends the table."""
    return [(offset + at, FALSE) for at in range(count)]


def _conditions(rows: Sequence[RowLike]) -> list[Program]:
    conditions = [row.condition if isinstance(row, Row) else row for row in rows]
    return [_ALWAYS if condition is None else condition for condition in conditions]


def _searching(rows: Sequence[RowLike], domains: Domains) -> Search:
    return Search(_conditions(rows), domains)
