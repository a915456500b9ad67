"""Checks a decision table row by row and lowers it to one program, and to a program for each row.

The first row whose condition holds decides. A nested table under a condition decides alone, even when none of its rows
matches; without a condition the rows after it are tried next. A table that may match nothing gives an optional value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, error
from rulewright.errors import DocumentError, ExpressionError
from rulewright.expression.build import VARIABLES, ExpressionLowering, Inlined
from rulewright.expression.checker import CheckedExpression, check
from rulewright.expression.compose import all_of
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Literal
from rulewright.expression.types import BOOL, DYN, STRING, ListType, OptionalType, Type
from rulewright.expression.unify import Substitution, most_general
from rulewright.load import Mapping as MappingNode
from rulewright.load import Node, Scalar
from rulewright.load import Sequence as ListNode
from rulewright.lower.expressions import mistakes_of
from rulewright.lower.table_syntax import ROW_KEYS, RULE_KEYS, TableReader, TableRow
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate


class Table(Struct, frozen=True):
    """A checked table. `program` gives the output; when not `total`, an optional that is empty where no row matches."""

    rows: tuple[TableRow, ...]
    program: Program
    type: Type
    total: bool


class _TableCell(Struct, frozen=True):
    """A checked expression with the names of its place."""

    checked: CheckedExpression
    environment: Environment
    scalar: Scalar
    text: str

    @property
    def is_true(self) -> bool:
        """Whether it is the literal `true`."""
        e = self.checked.expr
        return isinstance(e, Literal) and e.value is True


class _Row(Struct, frozen=True):
    """A checked row; without a condition it always applies."""

    condition: _TableCell | None
    output: _TableCell | None
    rule: _Rule | None
    explanation: _TableCell | None
    node: MappingNode

    @property
    def total(self) -> bool:
        """Whether the row always gives a value when it is reached."""
        return self.condition is None and (self.rule is None or self.rule.total)

    @property
    def type(self) -> Type:
        if self.rule is not None:
            return self.rule.type
        assert self.output is not None
        return self.output.checked.type


class _Rule(Struct, frozen=True):
    """A checked table; `environment` declares its variables."""

    variables: tuple[tuple[str, _TableCell], ...]
    rows: tuple[_Row, ...]
    aggregate: bool
    type: Type
    environment: Environment

    @property
    def total(self) -> bool:
        """Whether the table always gives a value: one row must, and no nested table before it may give none."""
        if self.aggregate:
            return True
        for row in self.rows:
            if row.total:
                return True
            if row.condition is not None and row.rule is not None and not row.rule.total:
                return False
        return False


_ScopedCell: TypeAlias = tuple[_TableCell, Mapping[str, Inlined]]


def build_table(node: Node, environment: Environment, found: Iterable[Diagnostic] = ()) -> Table:
    """Read, check and lower the table that `node` holds.

    Variables are read as `variables.name`, in the profile also by their name alone. Raises DocumentError with every
    finding at its span in the file, and with those that were `found` before.
    """
    building = _Building(found)
    checked = building.rule(node, environment)
    if checked is None or building.findings:
        raise DocumentError(building.findings)
    total = checked.total
    emission = _Emission(environment)
    try:
        emission.rule(checked, not total)
        program = emission.program()
        validate(program)
        rows = () if checked.aggregate else tuple(_flat_rows(checked, (), {}))
    except (PlanError, RecursionError):
        message = "the table is too large or nests too deeply, its variables written out"
        raise DocumentError([error(node, message, code="malformed-table")]) from None
    return Table(rows, program, checked.type if total else OptionalType(checked.type), total)


class _Building(TableReader):
    """Reads and checks the cells of a table and collects the findings."""

    def __init__(self, findings: Iterable[Diagnostic]) -> None:
        super().__init__(findings)
        self.substitution = Substitution()

    def rule(self, node: Node, environment: Environment) -> _Rule | None:
        """The checked table, or None when it can't be read."""
        mapping = self.mapping(node, RULE_KEYS, "a table")
        kind = None if mapping is None else self.either(mapping, RULE_KEYS, "a table", ("match", "aggregate"))
        if mapping is None or kind is None:
            return None
        variables, environment = self.variables(mapping, environment)
        items, is_aggregate = self.items(mapping, kind), kind == "aggregate"
        if not items and isinstance(mapping.get(kind), ListNode):
            self.report(mapping.key_span(kind), f"`{kind}` needs at least one row")
        rows = tuple(row for item in items if (row := self.row(item, environment)) is not None)
        self.unreachable(rows, is_aggregate)
        return _Rule(variables, rows, is_aggregate, self.joined(rows, is_aggregate), environment)

    def variables(
        self, mapping: MappingNode, environment: Environment
    ) -> tuple[tuple[tuple[str, _TableCell], ...], Environment]:
        """The checked variables in order, and the environment that declares them."""
        variables: dict[str, _TableCell] = {}
        for written in map(self.variable, self.items(mapping, "variables")):
            if written is None:
                continue
            name = written[0].text
            if name in variables:
                self.report(written[0], f"the variable `{name}` is given twice")
            cell = self.cell(written[1], environment)
            t = DYN if cell is None else cell.checked.type
            if cell is not None:
                variables[name] = cell
            names = {f"{VARIABLES}{name}": t}
            environment = environment.having(names if environment.strict else {**names, name: t})
        return tuple(variables.items()), environment

    def row(self, node: Node, environment: Environment) -> _Row | None:
        """The checked row, or None when it has a finding."""
        mapping = self.mapping(node, ROW_KEYS, "a row")
        if mapping is None or self.either(mapping, ROW_KEYS, "a row", ("output", "rule")) is None:
            return None
        nested = mapping.get("rule")
        if nested is not None and "explanation" in mapping:
            message = "an `explanation` belongs to an `output`, not to a `rule`"
            self.report(mapping.key_span("explanation"), message)
        condition = self.cell_at(mapping, "condition", environment, BOOL)
        explanation = self.cell_at(mapping, "explanation", environment, STRING)
        output = self.cell_at(mapping, "output", environment)
        rule = None if nested is None else self.rule(nested, environment)
        if (output is None and rule is None) or ("condition" in mapping and condition is None):
            return None
        always = condition is not None and condition.is_true
        return _Row(None if always else condition, output, rule, explanation, mapping)

    def joined(self, rows: Sequence[_Row], aggregate: bool) -> Type:
        """Return the common type of the rows; a list of it when the rows are collected."""
        joined: Type | None = None
        for row in rows:
            t = row.type
            if aggregate and row.rule is not None and row.rule.aggregate and isinstance(t, ListType):
                t = t.element
            if joined is None or self.substitution.fits(t, joined):
                joined = t if joined is None else most_general(joined, t)
            else:
                message = f"incompatible output types: this row gives `{t}`, the rows before it `{joined}`"
                place = row.output.scalar if row.output else row.node
                self.findings.append(error(place, message, code="bad-table-output"))
        return ListType(joined or DYN) if aggregate else joined or DYN

    def unreachable(self, rows: Sequence[_Row], aggregate: bool) -> None:
        """Report the row after the first that always decides."""
        for row, after in pairwise(rows):
            if row.total and not aggregate:
                note = (row.node, "this row always decides")
                self.findings.append(
                    error(after.node, "this row is never reached", code="unreachable-row", notes=[note])
                )
                return

    def cell_at(
        self, mapping: MappingNode, key: str, environment: Environment, expect: Type | None = None
    ) -> _TableCell | None:
        """Return the checked expression under a key, or None where there is none or it has mistakes."""
        scalar = self.scalar(mapping, key)
        return None if scalar is None else self.cell(scalar, environment, expect)

    def cell(self, scalar: Scalar, environment: Environment, expect: Type | None = None) -> _TableCell | None:
        """Return the checked expression of one value, or None with its mistakes reported."""
        text = _text(scalar)
        try:
            expression = check(parse(text, environment.dialect), text, environment, expect=expect)
        except ExpressionError as failure:
            self.findings += mistakes_of(failure, scalar)
            return None
        return _TableCell(expression, environment, scalar, text)


def _text(scalar: Scalar) -> str:
    """The source of an expression; a YAML boolean or number is an expression too."""
    if isinstance(scalar.value, bool):
        return "true" if scalar.value else "false"
    return scalar.value if isinstance(scalar.value, str) else scalar.raw


class _Emission:
    """Lowers the cells of a table into one program; its source is the texts of the cells, one per line."""

    def __init__(self, environment: Environment, inlined: Mapping[str, Inlined] | None = None) -> None:
        self.lowering = ExpressionLowering(environment, None, True)
        self.lowering.inlined = inlined or {}
        self.texts: list[str] = []

    def program(self) -> Program:
        """Return the program emitted so far."""
        return Program(tuple(self.lowering.nodes), "\n".join(self.texts), self.lowering.environment.strict)

    def cell(self, cell: _TableCell) -> int:
        lowering = self.lowering
        lowering.environment, lowering.checked = cell.environment, cell.checked
        lowering.offset = sum(len(t) + 1 for t in self.texts)
        self.texts.append(cell.text)
        return lowering.whole()

    def rule(self, rule: _Rule, optional: bool) -> int:
        """Lower a table with its variables. Without `optional` the table must be total."""
        bound: list[tuple[int, int]] = []
        for name, cell in rule.variables:
            bound.append((self.cell(cell), len(self.lowering.bound)))
            self.lowering.bound.append(f"{VARIABLES}{name}")
        if rule.aggregate:
            result = self._wrapped(self.collected(rule.rows), optional)
        else:
            result = self.first_match(rule.rows, optional)
        for value, slot in reversed(bound):
            result = self.lowering.emit("bind", (value, result), [slot])
            self.lowering.bound.pop()
        return result

    def first_match(self, rows: Sequence[_Row], optional: bool) -> int:
        """Emit conditions and values in row order, then the conditionals from the last row up."""
        parts: list[tuple[int | None, int, bool]] = []  # condition, value, whether the rows after it may decide
        for row in rows:
            condition = None if row.condition is None else self.cell(row.condition)
            undecided = condition is None and not row.total and row is not rows[-1]
            parts.append((condition, self.value(row, optional or undecided), undecided))
            if row.total:
                break
        last_condition, result, _ = parts[-1]
        if last_condition is not None:
            result = self.lowering.emit("cond", (last_condition, result, self._none()))
        for condition, value, _ in reversed(parts[:-1]):
            if condition is not None:
                result = self.lowering.emit("cond", (condition, value, result))
            else:
                result = self.lowering.emit("call", (value, result), "or" if optional else "orValue")
        return result

    def value(self, row: _Row, optional: bool) -> int:
        """Emit a row's value."""
        if row.rule is not None:
            return self.rule(row.rule, optional)
        assert row.output is not None
        return self._wrapped(self.cell(row.output), optional)

    def collected(self, rows: Sequence[_Row]) -> int:
        """Emit the list of the rows' values; lists of nested collections are concatenated with it."""
        joined: int | None = None
        pending: list[int] = []
        for row in rows:
            if row.rule is not None and row.rule.aggregate:
                joined = self._join(joined, pending)
                pending = []
                part = self._list_when(row)
                joined = part if joined is None else self.lowering.emit("call", (joined, part), "_+_")
            else:
                condition = None if row.condition is None else self.cell(row.condition)
                value = self.value(row, True)
                if condition is not None:
                    value = self.lowering.emit("cond", (condition, value, self._none()))
                pending.append(value)
        final = self._join(joined, pending)
        assert final is not None
        return final

    def _join(self, joined: int | None, pending: list[int]) -> int | None:
        if not pending:
            return joined
        part = self.lowering.emit("list", tuple(pending), list(range(len(pending))))
        return part if joined is None else self.lowering.emit("call", (joined, part), "_+_")

    def _list_when(self, row: _Row) -> int:
        """Emit a nested collection, empty when its condition does not hold."""
        condition = None if row.condition is None else self.cell(row.condition)
        assert row.rule is not None
        part = self.rule(row.rule, False)
        if condition is None:
            return part
        return self.lowering.emit("cond", (condition, part, self.lowering.emit("list", (), [])))

    def _wrapped(self, value: int, optional: bool) -> int:
        return self.lowering.emit("call", (value,), "optional.of") if optional else value

    def _none(self) -> int:
        return self.lowering.emit("call", (), "optional.none")


def _flat_rows(rule: _Rule, conditions: tuple[_ScopedCell, ...], inlined: Mapping[str, Inlined]) -> Iterator[TableRow]:
    """The rows of a table and of its nested tables, in evaluation order."""
    for name, cell in rule.variables:
        inlined = {**inlined, f"{VARIABLES}{name}": Inlined(cell.environment, cell.checked, inlined)}
    for row in rule.rows:
        guards = conditions if row.condition is None else (*conditions, (row.condition, inlined))
        condition = all_of([_cell_program(cell, scope) for cell, scope in guards]) if guards else None
        explanation = None if row.explanation is None else _cell_program(row.explanation, inlined)
        if row.output is not None:
            yield TableRow(condition, _cell_program(row.output, inlined), explanation, row.node.span)
            continue
        assert row.rule is not None
        if row.rule.aggregate:
            emission = _Emission(rule.environment, inlined)
            emission.rule(row.rule, False)
            yield TableRow(condition, emission.program(), explanation, row.node.span)
            continue
        yield from _flat_rows(row.rule, guards, inlined)
        if row.condition is not None and not row.rule.total:
            yield TableRow(condition, None, explanation, row.node.span)


def _cell_program(cell: _TableCell, inlined: Mapping[str, Inlined]) -> Program:
    emission = _Emission(cell.environment, inlined)
    emission.cell(cell)
    return emission.program()
