"""Proofs about decision tables: whether a row always decides, each row can decide, and rows overlap.

Rows are tried in order, the first whose condition holds decides. A condition that can't be decided ends the table with
`error`; that is an answer of its own and no gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TypeAlias

from rulewright.expression.compose import all_of
from rulewright.lower.table_syntax import TableRow
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.intervals import Goal, TooMany
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown
from rulewright.proving.search import Search, first_of
from rulewright_runtime.ir import Program

# A row of a table, or its condition alone; None is the condition that always holds.
RowLike: TypeAlias = "TableRow | Program | None"


def survey(rows: Sequence[RowLike], domains: Domains, *, solver: bool = True) -> tuple[Result, tuple[Result, ...]]:
    """Whether some row decides every input (a witness falls through), and of each row whether it can decide: Proved
    with an input for which it does, or Refuted; with the `solver` or by exact splitting alone."""
    run = _Run(Search(_conditions(rows), domains, solver))
    return run.total(rows), tuple([run.reached(at) for at in range(len(rows))])


class _Run:
    """All ways through a table, gone once: an input for each way it can end, where one is found by splitting."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.count = len(search.programs)
        self.found: dict[tuple[int, int], Counterexample] = {}
        self.open: set[tuple[int, int]] = set()  # ways that lead through what is opaque
        self.complete = False
        with suppress(TooMany, RecursionError):
            self._go()

    def _go(self) -> None:
        space = self.search.space
        if space is None:
            return
        for number, bits, box in space.falls(self.count):
            way = number, bits
            if way not in self.found:
                shown = self.search.shown(self.goal(*way), box)
                if isinstance(shown, Counterexample):
                    self.found[way] = shown
                else:
                    self.open.add(way)
        self.complete = True

    def goal(self, number: int, bits: int) -> Goal:
        """The goal of ending at a condition, or after the last of them."""
        return [*_none(0, number), (number, bits)] if number < self.count else _none(0, number)

    def find(self, number: int, bits: int) -> Counterexample | Unknown | None:
        """As `Search.find`, for a way to end."""
        way = number, bits
        if way in self.found or (self.complete and way not in self.open):
            return self.found.get(way)
        return self.search.find(self.goal(number, bits))

    def total(self, rows: Sequence[RowLike]) -> Result:
        """Whether no way ends after the last row, nor at a row that stands for no output."""
        gaps = [(at, TRUE) for at, row in enumerate(rows) if isinstance(row, TableRow) and row.output is None]
        match first_of(self.find(*way) for way in (*gaps, (self.count, FALSE))):
            case Counterexample() as witness:
                return Refuted(witness)
            case Unknown() as unknown:
                return unknown
        said = next((self.found[at, ERROR] for at in range(self.count) if (at, ERROR) in self.found), None)
        return Proved(remarks=() if said is None else (f"with {said} the table ends with `error`",))

    def reached(self, at: int) -> Result:
        """Whether a way ends at a row."""
        match self.find(at, TRUE):
            case Counterexample() as witness:
                return Proved(witness)
            case Unknown() as unknown:
                return unknown
        return Refuted(None, _why_dead(self.search, at))


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
                case Counterexample() as witness:
                    return Refuted(witness, f"rows {one + 1} and {two + 1} both hold")
                case Unknown() as found:
                    unknown = unknown or found
    return unknown or Proved()


def _none(offset: int, count: int) -> list[tuple[int, int]]:
    """None of the first rows holds, and none ends the table."""
    return [(offset + at, FALSE) for at in range(count)]


def _conditions(rows: Sequence[RowLike]) -> list[Program]:
    conditions = [row.condition if isinstance(row, TableRow) else row for row in rows]
    return [all_of(()) if condition is None else condition for condition in conditions]


def _searching(rows: Sequence[RowLike], domains: Domains) -> Search:
    return Search(_conditions(rows), domains)
