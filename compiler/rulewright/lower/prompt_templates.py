"""Lowers prompt templates: Jinja's syntax tree becomes segments and programs of our language.

Prompts may use text, `{{ value | filter }}`, `if`, `for` and comments; any other syntax is a finding.
Jinja only parses; it never renders an author's text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from jinja2 import Environment as Templates
from jinja2 import TemplateSyntaxError, nodes

from rulewright.diagnostics import Diagnostic, Span, error
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_tree import NOWHERE, Binary, Expr, Index, ListLiteral, Literal, Name, Select, Unary
from rulewright.expression.types import BOOL, DYN, ListType, Type
from rulewright.expression.unparse import unparse
from rulewright.load import Scalar, Source, place
from rulewright.spelling import did_you_mean
from rulewright_runtime.english import ticked
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.question import FILTERS, ForSegment, IfSegment, Segment, TextSegment, ValueSegment

COMPARISONS: Final = {
    "eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=", "in": "in", "notin": "in",
}  # fmt: skip
TRANSCRIPTS: Final = frozenset(
    {"answer", "chat", "conversation", "dialogue", "messages", "output", "reply", "response", "transcript", "turns"}
)
FENCED: Final = "the conversation follows the prompt by itself, inside a fence that says not to obey it"


def lower_template(
    scalar: Scalar, environment: Environment, findings: list[Diagnostic]
) -> tuple[tuple[Segment, ...], frozenset[tuple[str, ...]]] | None:
    """Lower the template of `scalar` to its segments and the paths that its values read; None where it can't be parsed.
    Mistakes are added to `findings` and their part is omitted."""
    template = scalar.text
    templates = Templates(autoescape=False, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)
    lowering = _PromptLowering(scalar, findings)
    try:
        segments = lowering.block(templates.parse(template).body, environment)
    except TemplateSyntaxError as failure:
        message = f"{_lower_first(failure.message or 'a syntax error')} in line {failure.lineno} of the prompt"
        findings.append(error(_line_place(scalar, failure.lineno), message, code="bad-prompt"))
        return None
    except RecursionError:
        findings.append(error(scalar, "the prompt nests too deeply", code="bad-prompt"))
        return None
    return segments, frozenset(lowering.reads)


class _Unsupported(Exception):  # noqa: N818  it never leaves this module
    """Template syntax that prompts may not use."""

    def __init__(self, message: str, word: str = "") -> None:
        self.message, self.word = message, word
        super().__init__(message)


@dataclass(slots=True)
class _PromptLowering:
    scalar: Scalar
    findings: list[Diagnostic]
    reads: set[tuple[str, ...]] = field(default_factory=set)

    def block(self, body: Iterable[nodes.Node], environment: Environment) -> tuple[Segment, ...]:
        segments: list[Segment] = []
        for node in body:
            try:
                segments.extend(self.statement(node, environment))
            except _Unsupported as failure:
                self.report(failure.message, node.lineno, failure.word)
        return _joined(segments)

    def statement(self, node: nodes.Node, environment: Environment) -> Iterable[Segment]:
        if isinstance(node, nodes.Output):
            return self.parts(node, environment)
        if isinstance(node, nodes.If):
            return self.branches(node, environment)
        if isinstance(node, nodes.For):
            return self.loop(node, environment)
        word = type(node).__name__.lower()
        raise _Unsupported(f"`{word}` is not available in prompts; they use `if` and `for`", word)

    def parts(self, node: nodes.Output, environment: Environment) -> list[Segment]:
        """Lower adjacent texts and values; a mistake in one does not hide mistakes in the others."""
        segments: list[Segment] = []
        for part in node.nodes:
            try:
                segment = self.output(part, environment)
            except _Unsupported as failure:
                self.report(failure.message, part.lineno, failure.word)
            else:
                segments += [] if segment is None else [segment]
        return segments

    def output(self, node: nodes.Node, environment: Environment) -> Segment | None:
        if isinstance(node, nodes.TemplateData):
            return TextSegment(node.data)
        filters: list[str] = []
        while isinstance(node, nodes.Filter) and node.node is not None:
            filters.append(self.filter(node))
            node = node.node
        program = self.program(node, environment)
        return None if program is None else ValueSegment(program[0], cast("Any", tuple(reversed(filters))))

    def filter(self, node: nodes.Filter) -> str:
        if node.name not in FILTERS:
            hint = did_you_mean(node.name, FILTERS) or f"expected {ticked(FILTERS)}"
            raise _Unsupported(f"unknown filter `{node.name}`; {hint}", node.name)
        if node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
            raise _Unsupported(f"the filter `{node.name}` takes no arguments in prompts", node.name)
        return node.name

    def branches(self, node: nodes.If, environment: Environment) -> Iterable[Segment]:
        otherwise = self.block(node.else_, environment)
        for branch in reversed(node.elif_):
            otherwise = self.choice(branch, otherwise, environment)
        return self.choice(node, otherwise, environment)

    def choice(self, node: nodes.If, otherwise: tuple[Segment, ...], environment: Environment) -> tuple[Segment, ...]:
        condition = self.program(node.test, environment, BOOL)
        then = self.block(node.body, environment)
        return () if condition is None else (IfSegment(condition[0], then, otherwise),)

    def loop(self, node: nodes.For, environment: Environment) -> Iterable[Segment]:
        if not isinstance(node.target, nodes.Name):
            raise _Unsupported("a `for` binds one name in prompts", "for")
        if node.else_ or node.test is not None or node.recursive:
            raise _Unsupported("`else`, `if` and `recursive` are not available in a `for` of a prompt", "for")
        items = self.program(node.iter, environment)
        if items is None:
            return ()
        element = items[1].element if isinstance(items[1], ListType) else DYN
        body = self.block(node.body, environment.having({node.target.name: element}))
        return (ForSegment(node.target.name, items[0], body),)

    def program(
        self, node: nodes.Node, environment: Environment, expect: Type | None = None
    ) -> tuple[Program, Type] | None:
        text = _text_of(node)
        try:
            built = build(text, environment, expect=expect)
        except ExpressionError as failure:
            for mistake in failure.errors:
                word = text[mistake.start : mistake.end]
                self.report(mistake.message, node.lineno, word, FENCED if word in TRANSCRIPTS else mistake.help)
            return None
        self.reads |= built.reads
        return built.program, built.type

    def report(self, message: str, line: int, word: str, help: str | None = None) -> None:
        self.findings.append(error(_word_place(self.scalar, line, word), message, code="bad-prompt", help=help))


def _syntax(node: nodes.Node | None) -> Expr:
    """Translate a template's expression to our syntax tree; raises `_Unsupported` for nodes without a counterpart."""
    match node:
        case nodes.Name():
            return Name(node.name, NOWHERE)
        case nodes.Getattr():
            return Select(_syntax(node.node), node.attr, NOWHERE)
        case nodes.Getitem():
            return Index(_syntax(node.node), _syntax(node.arg), NOWHERE)
        case nodes.Const():
            return Literal(node.value, NOWHERE)
        case nodes.List():
            return ListLiteral(tuple(map(_syntax, node.items)), NOWHERE)
        case nodes.Not():
            return Unary("!", _syntax(node.node), NOWHERE)
        case nodes.And():
            return Binary("&&", _syntax(node.left), _syntax(node.right), NOWHERE)
        case nodes.Or():
            return Binary("||", _syntax(node.left), _syntax(node.right), NOWHERE)
        case nodes.Compare() if len(node.ops) == 1:
            operand = node.ops[0]
            test = Binary(COMPARISONS[operand.op], _syntax(node.expr), _syntax(operand.expr), NOWHERE)
            return Unary("!", test, NOWHERE) if operand.op == "notin" else test
        case nodes.Filter():
            raise _Unsupported("in prompts, a filter is only allowed at the end of a value", node.name)
    word = type(node).__name__.lower()
    raise _Unsupported(f"`{word}` is not available in the values and conditions of prompts", word)


def _text_of(node: nodes.Node) -> str:
    """Translate a template's expression to source text; raises `_Unsupported` where that is impossible."""
    try:
        return unparse(_syntax(node))
    except ValueError as failure:  # a name or number that our language can't express
        raise _Unsupported(str(failure)) from None


def _joined(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Merge adjacent text segments and drop empty ones."""
    joined: list[Segment] = []
    for segment in segments:
        if isinstance(segment, TextSegment) and joined and isinstance(joined[-1], TextSegment):
            joined[-1] = TextSegment(joined[-1].text + segment.text)
        elif not (isinstance(segment, TextSegment) and not segment.text):
            joined.append(segment)
    return tuple(joined)


def _line_place(scalar: Scalar, line: int) -> Span:
    template = Source("", scalar.text)
    start = template.offset(line, 1)
    return place(scalar, start, start + len(template.line_text(line)))


def _word_place(scalar: Scalar, line: int, word: str) -> Span:
    """The span of the first occurrence of a word from that line on, else of the whole line."""
    template = Source("", scalar.text)
    alone = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    match = alone.search(template.text, template.offset(line, 1)) if word else None
    return place(scalar, match.start(), match.end()) if match else _line_place(scalar, line)


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
