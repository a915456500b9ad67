"""`eval`: evaluate one expression, or decide it as a condition."""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from rulewright.commands.output import answer
from rulewright.diagnostics import error
from rulewright.errors import DocumentError, UsageError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import BOOL
from rulewright.expression.unparse import unparse_value
from rulewright.load import load_file, load_text, plain, scalars_below
from rulewright_runtime.english import some
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import complain


def run(args: argparse.Namespace) -> int:
    """Compile the expression, evaluate it, print the value; return the exit code."""
    dialect = Dialect.STRICT if args.strict else Dialect.PROFILE
    context = _context(args.context)
    built = build(args.expression, Environment(dialect=dialect, open=True), expect=BOOL if args.place else None)
    if args.place:
        return _decide(built.program, args.place, context, args.format)
    return _value(built.program, context, args.format)


def _context(path: str | None) -> dict[str, object]:
    if path is None:
        return {}

    loaded = load_text(sys.stdin.buffer.read(), "stdin.json") if path == "-" else load_file(Path(path))
    if loaded.root is None:
        if loaded.diagnostics:
            raise DocumentError(loaded.diagnostics)
        if not loaded.is_table:
            raise UsageError(f"`{path}` contains no values")
    values = None if loaded.root is None else plain(loaded.root)
    if loaded.root is None or not isinstance(values, dict):
        raise UsageError(f"`{path}` must be a mapping of names to values")
    for each in scalars_below(loaded.root):
        if isinstance(each.value, float) and not math.isfinite(each.value):
            raise DocumentError([error(each, f"a value must be a finite number, not `{each.raw}`", code="wrong-type")])
    return values


def _decide(program: Any, place: str, context: JsonObject, style: str) -> int:
    decision = condition(program, Polarity(place))(context)
    why = f" (could not be decided: {decision.undecided})" if decision.undecided else ""
    result = ("met" if decision.holds else "not met") + why
    answer(style, {"holds": decision.holds, "undecided": decision.undecided}, [result])
    return 0 if decision.holds else 1


def _value(program: Any, context: JsonObject, style: str) -> int:
    try:
        value = prepare(program)(context)
    except EvaluationError as error:
        if style == "json":
            print(json.dumps({"error": str(error), "code": error.code}, ensure_ascii=False))
        else:
            complain(f"error: {error}")
            if error.code == "no_such_name":
                given = (
                    f"the context has {some([f'`{name}`' for name in context])}"
                    if context
                    else "give its value in a file: `--context FILE`"
                )
                complain(f"help: {given}")
        return 1
    text = unparse_value(value)
    answer(style, {"value": _plain(value), "text": text}, [text])
    return 0


def _plain(value: Any) -> Any:
    """The value as JSON; values that JSON can't represent as text."""
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "items") and all(isinstance(key, str) for key, _ in value.items()):
        return {key: _plain(item) for key, item in value.items()}
    return unparse_value(value)
