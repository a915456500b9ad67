"""Decision tables in the shape of CEL Policy: read from YAML, checked row by row, lowered to one program."""

from __future__ import annotations

from rulewright.tables.build import Table, build_table
from rulewright.tables.row import Row
from rulewright.tables.syntax import RowSyntax, RuleSyntax, read_labels, read_rule

__all__ = ["Row", "RowSyntax", "RuleSyntax", "Table", "build_table", "read_labels", "read_rule"]
