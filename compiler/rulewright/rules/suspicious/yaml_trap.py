from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, replace, warning
from rulewright.load import Mapping, Node, Scalar, Sequence, walk
from rulewright.load.load_errors import shorten
from rulewright.lower.scopes import scoped_expressions

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.lexicon import LexiconDocument, MarkerSet
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.workflow import TaskDocument

TRAPS: Final = (
    (re.compile(r"(?i:yes|no|on|off)"), "a boolean"),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "a date"),
    (re.compile(r"[-+]?[0-9]{1,3}(?::[0-5]?[0-9])+(?:\.[0-9]*)?"), "a number in base 60"),
    (re.compile(r"[-+]?[1-9][0-9]*(?:_[0-9]+)+"), "a number"),
)
LONE_QUOTE: Final = re.compile(r"[^\"]*\"|[^']*[^'s]'", re.DOTALL)  # `the carers'` is English
COMMENT: Final = re.compile(r" +#([^\r\n]+)")
OPEN_END: Final = re.compile(r"[A-Z].* (?:a|an|and|of|or|our|the|their|your)")  # a sentence goes on
CONTINUED: Final = re.compile(r" ?(?:and|but|or|that|which|who)\b[^#]*\.$")  # the rest of a sentence
STARTS: Final = frozenset("+-0123456789ynoYNO")
LONGEST: Final = 40  # characters; longer texts are prose
ITEM_BELOW: Final = re.compile(r"[\r\n] *(- [^\r\n]*)")
OCTAL: Final = re.compile(r"[-+]?0[0-7]+")


def yaml_trap(
    document: CheckDocument
    | LexiconDocument
    | MarkerSet
    | Profile
    | ScenarioDocument
    | ScorecardDocument
    | TaskDocument,
) -> Findings:
    """Other YAML parsers read a text differently, or it holds a stray quote, comma, list item or backspace.

    Why it matters: here `no` is a word and `010` is ten; a script that reads the same file gets `false` and eight, and
    both look right. A quote without an opening one is part of the text, as is a trailing comma; `\\b` in double quotes
    is a backspace, not a word boundary.
    Instead: quote the word, or write the number without its leading zero; write expressions in single quotes.
    """
    is_json = document.path.endswith((".json", ".jsonl"))
    if is_json and "\\b" not in document.node.source.text:
        return
    for node in walk(document.node):
        if not is_json and type(node) is Sequence:
            yield from _commas(node)
            yield from _swallowed(node)
        elif not is_json and type(node) is Mapping:
            yield from _without_dash(node)
        elif is_json or type(node) is not Scalar or node.style:
            yield from _backspaces(node, document)
        elif isinstance(node.value, str):
            yield from _unquoted(node, node.value)
        elif isinstance(node.value, int) and OCTAL.fullmatch(node.raw) and int(node.raw, 8) != node.value:
            fix = replace(node, node.text, "write it without the zero", safe=True)
            yield warning(node, f"`{node.raw}` is {node.value} here, but {int(node.raw, 8)} in YAML 1.1", fix=fix)


def _unquoted(node: Scalar, text: str) -> Findings:
    """A text that YAML 1.1 does not read as a text, that lacks its opening quote, or that a comment cuts."""
    rest = COMMENT.match(node.source.text, node.end)
    if (
        rest is not None
        and " " in text
        and (OPEN_END.fullmatch(text) or (text[-1].isalpha() and CONTINUED.match(rest[1])))
    ):
        message = f"a comment begins after `{shorten(text)}`: ` #{shorten(rest[1])}` is not part of the text"
        yield warning(node, message, help="quote the whole text")
    if text[-1:] in ("'", '"') and LONE_QUOTE.fullmatch(text):
        help = "add the opening quote, or remove this one"
        yield warning(node, f"the text ends with `{text[-1]}` without an opening quote", help=help)
    if len(text) > LONGEST or text[:1] not in STARTS:
        return  # fast path for most texts
    what = next((what for trap, what in TRAPS if trap.fullmatch(text)), None)
    if what is not None:
        fix = replace(node, f'"{text}"', "quote it", safe=True)
        yield warning(node, f"`{text}` is text here, but {what} in YAML 1.1", fix=fix)


def _swallowed(node: Sequence) -> Findings:
    """The items of a block list that are indented more than the item above, and so belong to its text."""
    for item in node.items:
        if type(item) is Scalar and not item.style and (found := ITEM_BELOW.search(item.raw)):
            place = node.source.span(item.start + found.start(1), item.start + found.end(1))
            yield warning(place, f"`{shorten(found[1])}` is part of the text above it", help="indent it like that item")


def _without_dash(node: Mapping) -> Findings:
    """Texts that begin on a line of their own, with a list item below that is indented like them."""
    for key, item in ((each.key, each.value) for each in node.entries):
        if type(item) is Scalar and not item.style and (found := ITEM_BELOW.search(item.raw)):
            below = node.source.span(item.start + found.start(1), item.start + found.end(1))
            if item.span.line > key.span.line and item.span.column == below.column:
                help = "begin the first line with a dash as well, or write `|` after the key to keep the lines"
                yield warning(below, f"`{shorten(found[1])}` is part of the text above it", help=help)


def _commas(node: Sequence) -> Findings:
    """The unquoted entries of a block list that end with a comma, as in JSON."""
    for item in node.items:
        if type(item) is not Scalar or item.style or node.source.text[node.start] != "-":
            continue
        if isinstance(item.value, str) and item.raw.endswith(","):
            fix = replace(item, item.raw.rstrip(","), "remove the comma", safe=False)
            yield warning(item, f"the comma is part of the text `{shorten(item.raw)}`", fix=fix)


def _backspaces(node: Node, document: object) -> Findings:
    """A text in double quotes with `\\b`, which is a backspace there; `backspace-in-expression` reports expressions."""
    if type(node) is not Scalar or node.style not in ('"', "j") or "\b" not in node.text:
        return
    if all(node is not expression for expression, _ in scoped_expressions(document)):
        help = "write `\\\\b`" if node.style == "j" else "write the expression in single quotes, or `\\\\b`"
        yield warning(node, "`\\b` in double quotes is a backspace, not a word boundary", help=help)
