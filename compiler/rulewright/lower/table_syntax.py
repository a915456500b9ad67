"""The written form of a decision table: a rule with variables and rows, as nodes of a file.

variables: [{name, expression}]       # or, for short, `- name: EXPR`
match:                        # the first row whose condition holds decides
  - condition: EXPR           # absent: always
    output: EXPR              # or `rule:`, a table in the table
    explanation: EXPR
aggregate: [...]              # instead of `match`: the outputs of all rows that hold, as a list
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from rulewright.diagnostics import Diagnostic, Span, error
from rulewright.expression.checking_context import did_you_mean, one_of
from rulewright.load import Mapping, Node, Scalar, Sequence
from rulewright_runtime.ir import Program

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RULE_KEYS: Final = ("id", "name", "description", "variables", "match", "aggregate")
_ROW_KEYS: Final = ("id", "name", "description", "condition", "output", "rule", "explanation")
_VARIABLE_KEYS: Final = ("name", "description", "display_name", "expression")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A lowered row: its condition (None: always) and its output (None: the table ends without a match).

    The conditions of enclosing tables are included, and variables are inlined.
    """

    condition: Program | None
    output: Program | None
    explanation: Program | None
    span: Span


@dataclass(frozen=True, slots=True)
class RowSyntax:
    """A row: `output` or a nested `rule`."""

    condition: Scalar | None
    output: Scalar | None
    rule: RuleSyntax | None
    explanation: Scalar | None
    span: Span


@dataclass(frozen=True, slots=True)
class RuleSyntax:
    """A table: variables in order, then rows; `aggregate` collects the outputs of all rows that hold."""

    variables: tuple[tuple[Scalar, Scalar], ...]
    rows: tuple[RowSyntax, ...]
    aggregate: bool
    span: Span


def read_rule(node: Node, findings: list[Diagnostic]) -> RuleSyntax | None:
    """Read the table that `node` holds, or return None; structural mistakes are added to `findings`."""
    mapping = _mapping(node, _RULE_KEYS, "a table", findings)
    if mapping is None:
        return None
    kind = _either(mapping, _RULE_KEYS, "a table", ("match", "aggregate"), findings)
    if kind is None:
        return None
    variables = [v for n in _items(mapping, "variables", findings) if (v := _variable(n, findings)) is not None]
    items = _items(mapping, kind, findings)
    if not items and isinstance(mapping.get(kind), Sequence):
        findings.append(error(mapping.key_span(kind), f"`{kind}` needs at least one row", code="malformed-table"))
    rows = [row for item in items if (row := _row(item, findings)) is not None]
    return RuleSyntax(tuple(variables), tuple(rows), kind == "aggregate", mapping.span)


def _variable(node: Node, findings: list[Diagnostic]) -> tuple[Scalar, Scalar] | None:
    if isinstance(node, Mapping) and len(node.entries) == 1 and node.keys[0] not in _VARIABLE_KEYS:
        (entry,) = node.entries
        short = _scalar(node, entry.name, findings)
        return None if short is None else _named(entry.key, short, findings)
    mapping = _mapping(node, _VARIABLE_KEYS, "a variable", findings)
    if mapping is None:
        return None
    name, expression = _scalar(mapping, "name", findings), _scalar(mapping, "expression", findings)
    if name is None or expression is None:
        required = ("name", "expression")
        missing = [key for key in required if key not in mapping and not _misspelt(mapping, _VARIABLE_KEYS, key)]
        if missing:
            findings.append(error(mapping.span, f"a variable needs `{missing[0]}`", code="malformed-table"))
        return None
    return _named(name, expression, findings)


def _named(name: Scalar, expression: Scalar, findings: list[Diagnostic]) -> tuple[Scalar, Scalar] | None:
    if _NAME.fullmatch(str(name.value)):
        return name, expression
    findings.append(error(name, f"`{name.value}` can't be the name of a variable", code="malformed-table"))
    return None


def _row(node: Node, findings: list[Diagnostic]) -> RowSyntax | None:
    mapping = _mapping(node, _ROW_KEYS, "a row", findings)
    if mapping is None:
        return None
    if _either(mapping, _ROW_KEYS, "a row", ("output", "rule"), findings) is None:
        return None
    if "rule" in mapping and "explanation" in mapping:
        message = "an `explanation` belongs to an `output`, not to a `rule`"
        findings.append(error(mapping.key_span("explanation"), message, code="malformed-table"))
    condition, output = _scalar(mapping, "condition", findings), _scalar(mapping, "output", findings)
    nested = mapping.get("rule")
    rule = None if nested is None else read_rule(nested, findings)
    if (output is None and rule is None) or (condition is None and "condition" in mapping):
        return None  # reported already
    return RowSyntax(condition, output, rule, _scalar(mapping, "explanation", findings), mapping.span)


def _mapping(node: Node, keys: Collection[str], what: str, findings: list[Diagnostic]) -> Mapping | None:
    if not isinstance(node, Mapping):
        findings.append(error(node, f"{what} is a mapping with {one_of(list(keys))}", code="malformed-table"))
        return None
    for entry in node.entries:
        if entry.name not in keys:
            near = did_you_mean(entry.name, keys)
            findings.append(error(entry.key, f"{what} has no key `{entry.name}`", code="malformed-table", help=near))
    return node


def _either(
    mapping: Mapping, keys: Collection[str], what: str, two: tuple[str, str], findings: list[Diagnostic]
) -> str | None:
    """Which of two keys a mapping has; None if it has both or neither."""
    kinds = [key for key in mapping.keys if key in two]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        message = f"{what} has `{two[0]}` or `{two[1]}`, not both"
        findings.append(error(mapping.key_span(kinds[1]), message, code="malformed-table"))
    elif not _misspelt(mapping, keys, *two):
        findings.append(error(mapping.span, f"{what} needs `{two[0]}` or `{two[1]}`", code="malformed-table"))
    return None


def _misspelt(mapping: Mapping, keys: Collection[str], *missing: str) -> bool:
    """Whether an unknown key, which is reported already, probably misspells one of the `missing` keys."""
    return any(did_you_mean(key, missing) for key in mapping.keys if key not in keys)


def _items(mapping: Mapping, key: str, findings: list[Diagnostic]) -> tuple[Node, ...]:
    node = mapping.get(key)
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        findings.append(error(node, f"`{key}` is a list", code="malformed-table"))
        return ()
    return node.items


def _scalar(mapping: Mapping, key: str, findings: list[Diagnostic]) -> Scalar | None:
    """Return the scalar under `key`, or None; anything but a scalar is reported, an absent key is not."""
    node = mapping.get(key)
    if node is None or (isinstance(node, Scalar) and node.value is not None):
        return node
    findings.append(error(node, f"`{key}` is a single value", code="malformed-table"))
    return None
