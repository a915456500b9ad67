"""Evaluate one expression on a JSON or YAML context.

The roots of the context need no declaration: an unknown path is an absent value, and an unknown word with an
upper-case letter on the right of a comparison is a constant. `--as` decides an absent value as that kind of place
would: permitting and exempting places answer no, guarding places answer yes.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from rulewright.errors import DocumentError, UsageError
from rulewright.expression.build import build
from rulewright.expression.decompile import decompile
from rulewright.expression.environment import Environment
from rulewright.expression.nodes import Dialect
from rulewright.expression.types import BOOL
from rulewright.expression.unparse import unparse
from rulewright.load import load_file, load_text, plain
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, literal
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.terminal import complain, say

PLACES = ("permitting", "guarding", "exempting")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("expression", help="the expression, for instance 'review.decision == GO'")
    parser.add_argument("--context", metavar="FILE", help="a JSON or YAML file of values; - reads JSON from stdin")
    parser.add_argument("--strict", action="store_true", help="plain CEL, without the profile")
    parser.add_argument("--as", dest="place", choices=PLACES, help="decide it as a condition of such a place")
    parser.add_argument("--format", choices=("human", "json"), default="human")


def run(args: argparse.Namespace) -> int:
    """Build the expression, evaluate it, print the value."""
    dialect = Dialect.STRICT if args.strict else Dialect.PROFILE
    context = _context(args.context)
    built = build(args.expression, Environment(dialect=dialect, open=True), expect=BOOL if args.place else None)
    if args.place:
        return _decide(built.program, args.place, context, args.format)
    return _value(built.program, context, args.format)


def _context(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}

    loaded = load_text(sys.stdin.buffer.read(), "stdin.json") if path == "-" else load_file(Path(path))
    if loaded.root is None:
        raise DocumentError(loaded.diagnostics) if loaded.diagnostics else UsageError(f"`{path}` holds no values")
    values = plain(loaded.root)
    if not isinstance(values, dict):
        raise UsageError(f"`{path}` must hold a mapping of names to values")
    return values


def _decide(program: Any, place: str, context: dict[str, Any], style: str) -> int:
    decision = condition(program, Polarity(place))(context)
    if style == "json":
        print(json.dumps({"holds": decision.holds, "undecided": decision.undecided}, ensure_ascii=False))
    else:
        why = f" (could not be decided: {decision.undecided})" if decision.undecided else ""
        say(("met" if decision.holds else "not met") + why)
    return 0 if decision.holds else 1


def _value(program: Any, context: dict[str, Any], style: str) -> int:
    try:
        value = prepare(program)(context)
    except EvaluationError as error:
        if style == "json":
            print(json.dumps({"error": str(error), "code": error.code}, ensure_ascii=False))
        else:
            complain(f"error: {error}")
        return 1
    text = _text(value)
    if style == "json":
        print(json.dumps({"value": _plain(value), "text": text}, ensure_ascii=False))
    else:
        say(text)
    return 0


def _text(value: Any) -> str:
    """The value as the expression that a person would write for it."""
    return unparse(decompile(Program((Node("const", (), literal(value)),))))


def _plain(value: Any) -> Any:
    """The value as JSON, and what JSON can't hold as text."""
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "items") and all(isinstance(key, str) for key, _ in value.items()):
        return {key: _plain(item) for key, item in value.items()}
    return _text(value)
