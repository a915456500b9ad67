"""The written form of a decision table: a rule with variables and rows, as nodes of a file.

variables: [{name, expression}]       # or, for short, `- name: EXPR`
match:                        # the first row whose condition holds decides
  - condition: EXPR           # absent: always
    output: EXPR              # or `rule:`, a table in the table
    explanation: EXPR
aggregate: [...]              # instead of `match`: the outputs of all rows that hold, as a list
"""

import re
from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Located, Span, error
from rulewright.expression.checking_context import did_you_mean, one_of
from rulewright.load import Mapping, Node, Scalar, Sequence
from rulewright_runtime.ir import Program

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RULE_KEYS: Final = ("id", "name", "description", "variables", "match", "aggregate")
ROW_KEYS: Final = ("id", "name", "description", "condition", "output", "rule", "explanation")
VARIABLE_KEYS: Final = ("name", "description", "display_name", "expression")
REQUIRED: Final = ("name", "expression")  # of a variable


class TableRow(Struct, frozen=True):
    """A lowered row: its condition (None: always) and its output (None: the table ends without a match).

    The conditions of enclosing tables are included, and variables are inlined.
    """

    condition: Program | None
    output: Program | None
    explanation: Program | None
    span: Span


class TableReader:
    """Reads the parts of a table, and collects the findings about their form."""

    def __init__(self, findings: Iterable[Diagnostic]) -> None:
        self.findings = [*findings]

    def report(self, place: Span | Located, message: str, help: str | None = None) -> None:
        """Add the finding that something is not the form of a table."""
        self.findings.append(error(place, message, code="malformed-table", help=help))

    def variable(self, node: Node) -> tuple[Scalar, Scalar] | None:
        """The name and the expression of a variable; None where one of them can't be read."""
        if isinstance(node, Mapping) and len(node.entries) == 1 and node.keys[0] not in VARIABLE_KEYS:
            (entry,) = node.entries
            name: Scalar | None = entry.key
            expression = self.scalar(node, entry.name)
        elif (mapping := self.mapping(node, VARIABLE_KEYS, "a variable")) is None:
            return None
        else:
            name, expression = self.scalar(mapping, "name"), self.scalar(mapping, "expression")
            missing = [key for key in REQUIRED if key not in mapping and not _misspelt(mapping, VARIABLE_KEYS, key)]
            if missing:
                self.report(mapping.span, f"a variable needs `{missing[0]}`")
        if name is None or expression is None:
            return None
        if _NAME.fullmatch(name.text):
            return name, expression
        self.report(name, f"`{name.value}` can't be the name of a variable")
        return None

    def mapping(self, node: Node, keys: Collection[str], what: str) -> Mapping | None:
        """The node as a mapping; unknown keys are reported, and anything but a mapping."""
        if not isinstance(node, Mapping):
            self.report(node, f"{what} is a mapping with {one_of(list(keys))}")
            return None
        for entry in node.entries:
            if entry.name not in keys:
                near = did_you_mean(entry.name, keys)
                self.report(entry.key, f"{what} has no key `{entry.name}`", near)
        return node

    def either(self, mapping: Mapping, keys: Collection[str], what: str, two: tuple[str, str]) -> str | None:
        """Which of two keys a mapping has; None if it has both or neither."""
        kinds = [key for key in mapping.keys if key in two]
        if len(kinds) == 1:
            return kinds[0]
        if kinds:
            message = f"{what} has `{two[0]}` or `{two[1]}`, not both"
            self.report(mapping.key_span(kinds[1]), message)
        elif not _misspelt(mapping, keys, *two):
            self.report(mapping.span, f"{what} needs `{two[0]}` or `{two[1]}`")
        return None

    def items(self, mapping: Mapping, key: str) -> tuple[Node, ...]:
        """The items of the list under `key`; anything but a list is reported, an absent key is not."""
        node = mapping.get(key)
        if node is None:
            return ()
        if not isinstance(node, Sequence):
            self.report(node, f"`{key}` is a list")
            return ()
        return node.items

    def scalar(self, mapping: Mapping, key: str) -> Scalar | None:
        """Return the scalar under `key`, or None; anything but a scalar is reported, an absent key is not."""
        node = mapping.get(key)
        if node is None or (isinstance(node, Scalar) and node.value is not None):
            return node
        self.report(node, f"`{key}` is a single value")
        return None


def _misspelt(mapping: Mapping, keys: Collection[str], *missing: str) -> bool:
    """Whether an unknown key, which is reported already, probably misspells one of the `missing` keys."""
    return any(did_you_mean(key, missing) for key in mapping.keys if key not in keys)
