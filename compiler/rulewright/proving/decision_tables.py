"""Proofs about decision tables: whether a row always decides, each row can decide, and rows overlap.

Rows are tried in order; the first whose condition holds decides. An undecided condition ends the table with `error`,
which is a result and not a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
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


def survey(rows: Sequence[RowLike], domains: Domains) -> tuple[Result, tuple[Result, ...]]:
    """Whether some row decides every input (the witness is decided by none), and for each row whether it can decide:
    Proved with an input for which it does, or Refuted."""
    run = _TableProof(Search(_conditions(rows), domains))
    return run.total(rows), tuple([run.reached(at) for at in range(len(rows))])


class _TableProof:
    """The possible ends of a table, computed once, each with an input that splitting found for it."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.count = len(search.programs)
        self.witnesses: dict[tuple[int, int], Counterexample] = {}
        self.open: set[tuple[int, int]] = set()  # ends that depend on opaque atoms
        self.complete = False
        with suppress(TooMany, RecursionError):
            self._split()

    def _split(self) -> None:
        space = self.search.space
        if space is None:
            return
        for number, bits, box in space.falls(self.count):
            end = number, bits
            if end not in self.witnesses:
                shown = self.search.shown(self.goal(*end), box)
                if isinstance(shown, Counterexample):
                    self.witnesses[end] = shown
                else:
                    self.open.add(end)
        self.complete = True

    def goal(self, number: int, bits: int) -> Goal:
        """The goal that the table ends at a condition, or after the last one."""
        before = [(at, FALSE) for at in range(number)]
        return [*before, (number, bits)] if number < self.count else before

    def find(self, number: int, bits: int) -> Counterexample | Unknown | None:
        """As `Search.find`, for an end of the table."""
        end = number, bits
        if end in self.witnesses or (self.complete and end not in self.open):
            return self.witnesses.get(end)
        return self.search.find(self.goal(number, bits))

    def total(self, rows: Sequence[RowLike]) -> Result:
        """Whether the table never ends after the last row, nor at a row without output."""
        gaps = [(at, TRUE) for at, row in enumerate(rows) if isinstance(row, TableRow) and row.output is None]
        match first_of(self.find(*end) for end in (*gaps, (self.count, FALSE))):
            case Counterexample() as witness:
                return Refuted(witness)
            case Unknown() as unknown:
                return unknown
        return Proved(remarks=self.errors())

    def errors(self) -> tuple[str, ...]:
        """What is known of inputs for which the table ends with an error: an example, or that they are not excluded."""
        shown = next((self.witnesses[at, ERROR] for at in range(self.count) if (at, ERROR) in self.witnesses), None)
        if shown is not None:
            return (f"with {shown} the table ends with `error`",)
        is_open = not self.complete or any((at, ERROR) in self.open for at in range(self.count))
        return ("no proof excludes that the table ends with `error`",) if is_open else ()

    def reached(self, at: int) -> Result:
        """Whether the table can end at a row."""
        match self.find(at, TRUE):
            case Counterexample() as witness:
                return Proved(witness)
            case Unknown() as unknown:
                return unknown
        return Refuted(None, _why_dead(self.search, at))


def _why_dead(search: Search, at: int) -> str:
    if search.excludes([(at, TRUE)]):
        return "its condition never holds"
    for earlier in range(at):
        if search.excludes([(earlier, FALSE), (at, TRUE)]):
            return f"row {earlier + 1} always decides before it"
    return "the rows before it always decide"


def disjoint(rows: Sequence[RowLike], domains: Domains) -> Result:
    """Whether no two rows hold for the same input; the witness is an input for which two do."""
    search = Search(_conditions(rows), domains)
    unknown: Unknown | None = None
    for one, two in combinations(range(len(rows)), 2):
        match search.find([(one, TRUE), (two, TRUE)]):
            case Counterexample() as witness:
                return Refuted(witness, f"rows {one + 1} and {two + 1} both hold")
            case Unknown() as result:
                unknown = unknown or result
    return unknown or Proved()


def _conditions(rows: Sequence[RowLike]) -> list[Program]:
    conditions = [row.condition if isinstance(row, TableRow) else row for row in rows]
    return [all_of(()) if condition is None else condition for condition in conditions]
