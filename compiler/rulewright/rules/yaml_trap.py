"""Rule: an unquoted word that other YAML readers take for something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, replace, warning
from rulewright.load import Node, Scalar, Sequence, walk
from rulewright.load.load_errors import shorten

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.lexicon import LexiconDocument, MarkerSet
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.workflow import TaskDocument

TRAPS: Final = (
    (re.compile(r"(?i:yes|no|on|off|y|n)"), "a truth value"),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "a date"),
    (re.compile(r"[-+]?[0-9]{1,3}(?::[0-5]?[0-9])+(?:\.[0-9]*)?"), "a number to the base of 60"),
    (re.compile(r"[-+]?[1-9][0-9]*(?:_[0-9]+)+"), "a number"),
)
LONE_QUOTE: Final = re.compile(r"[^\"]*\"|[^']*[^'s]'", re.DOTALL)  # `the carers'` is English
STARTS: Final = frozenset("+-0123456789ynoYNO")
LONGEST: Final = 40  # characters of a word that may be one: a paragraph is none
OCTAL: Final = re.compile(r"[-+]?0[0-7]+")


def yaml_trap(
    document: CheckDocument
    | LexiconDocument
    | MarkerSet
    | Profile
    | ScenarioDocument
    | ScorecardDocument
    | TaskDocument,
) -> Iterator[Diagnostic]:
    """A text is something else to other readers of YAML, ends with a lone quote or a comma, or holds a backspace.

    Why it matters: here `no` is the word and `010` is ten; a script beside this project reads `false` and eight, and
    both look right. A quote that opens nowhere is a part of the text, as is a comma behind it; `\\b` in double quotes
    is no border of a word.
    Instead: put the word into quotes, or write the number without its leading zero; write expressions in single quotes.
    """
    if document.path.endswith((".json", ".jsonl")):
        return
    for node in walk(document.node):
        if type(node) is Sequence:
            yield from _commas(node)
        if type(node) is not Scalar or node.style:
            yield from _backspaces(node)
            continue
        if isinstance(node.value, str):
            if node.value[-1:] in ("'", '"') and LONE_QUOTE.fullmatch(node.value):
                help = "open it as well, or take it away"
                yield warning(node, f"the text ends with `{node.value[-1]}`, which opens nowhere", help=help)
            if len(node.value) > LONGEST or node.value[:1] not in STARTS:
                continue  # most texts, at no cost
            what = next((what for trap, what in TRAPS if trap.fullmatch(node.value)), None)
            if what is not None:
                fix = replace(node, f'"{node.value}"', "put it into quotes", safe=True)
                yield warning(node, f"`{node.value}` is a text here, but {what} in YAML 1.1", fix=fix)
        elif isinstance(node.value, int) and OCTAL.fullmatch(node.raw) and int(node.raw, 8) != node.value:
            fix = replace(node, str(node.value), "write it without the zero", safe=True)
            yield warning(node, f"`{node.raw}` is {node.value} here, but {int(node.raw, 8)} in YAML 1.1", fix=fix)


def _commas(node: Sequence) -> Iterator[Diagnostic]:
    """The texts of a list, each on a line of its own, that end as those of a list in JSON do."""
    for item in node.items:
        if type(item) is not Scalar or item.style or node.source.text[node.start] != "-":
            continue
        if isinstance(item.value, str) and item.raw.endswith(","):
            fix = replace(item, item.raw.rstrip(","), "remove the comma", safe=False)
            yield warning(item, f"the comma is a part of the text `{shorten(item.raw)}`", fix=fix)


def _backspaces(node: Node) -> Iterator[Diagnostic]:
    """A text in double quotes with `\\b`, which is a backspace there."""
    if type(node) is Scalar and node.style == '"' and isinstance(node.value, str) and "\b" in node.value:
        help = "write the expression in single quotes, or `\\\\b`"
        yield warning(node, "`\\b` in double quotes is a backspace, no border of a word", help=help)
