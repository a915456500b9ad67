"""Renders findings for people, code scanners and build servers; each format is a module.

The same findings give the same bytes; nothing here reads a clock, a locale or the environment, except `wants_colour`,
which a command calls before it prints to a terminal.
"""

from __future__ import annotations

from rulewright.arguments.write_rules import FORMATS
from rulewright.render.human import summary, wants_colour
from rulewright.render.report import render

__all__ = ["FORMATS", "render", "summary", "wants_colour"]
