from collections.abc import Iterator
from functools import partial
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Call, Expr, Index, Literal, texts_compared, texts_sought
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of
from rulewright.proving.placed_conditions import placed_conditions
from rulewright.proving.program_parts import written
from rulewright.proving.studies import span_of
from rulewright.spelling import did_you_mean
from rulewright_runtime.functions.texts import SCRIPTS

SEARCHES: Final = frozenset({"contains", "startsWith", "endsWith"})


def comparison_out_of_range(document: DocumentWithExpressions) -> Findings:
    """A comparison has the same result for every value that its variable or function can have.

    Why it matters: a score is between 0 and 1, and a counter starts at 1, so a limit outside decides nothing. A text
    without capitals never equals one with capitals.
    Instead: compare with a value for which the result may differ: a score of 80% is 0.8, and a counter is at least 1.
    """
    for placed in placed_conditions(document):
        for part, holds in placed.study.decided:
            outcome = "can never fail" if holds else "can never hold"
            yield warning(span_of(placed, part), f"`{written(part)}` {outcome}")
    yield from _never_given(document)


def _never_given(document: DocumentWithExpressions) -> Findings:
    """The texts that a function never gives."""
    for expression, part in parts_of(document):
        for literal in (*texts_compared(part, _is_script), *texts_sought(part, _are_scripts)):
            if literal.value not in SCRIPTS:
                help = did_you_mean(str(literal.value), SCRIPTS)
                yield warning(expression.span(literal), f"`scripts` never gives `{literal.value!s}`", help=help)
        for literal, function in _compared_with_case(part):
            text = str(literal.value)
            if text != (text.lower() if function == "lowerAscii" else text.upper()):
                yield warning(expression.span(literal), f"`{function}` never gives `{text}`")


def _is_script(part: Expr) -> bool:
    return isinstance(part, Index) and _are_scripts(part.operand)


def _are_scripts(part: Expr) -> bool:
    return isinstance(part, Call) and part.function == "scripts"


def _compared_with_case(part: Expr) -> Iterator[tuple[Literal, str]]:
    """The texts that a text is compared with, or searched for, after all of its letters were changed, and how."""
    for function in ("lowerAscii", "upperAscii"):
        yield from ((each, function) for each in texts_compared(part, partial(_changes, function)))
        if isinstance(part, Call) and part.function in SEARCHES and part.target and _changes(function, part.target):
            yield from ((each, function) for each in part.args if isinstance(each, Literal))


def _changes(function: str, part: Expr) -> bool:
    return isinstance(part, Call) and part.function == function
