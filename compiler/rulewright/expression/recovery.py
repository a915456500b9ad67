"""Reads one text with Lark, and goes on behind mistakes where that is sound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from lark import Token, UnexpectedToken

from rulewright.errors import ExpressionError
from rulewright.expression.expand import MACRO_NAMES, misuse
from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.grammar import expression_parser
from rulewright.expression.lexer import OPERAND_ENDS, ExpressionText, token
from rulewright.expression.nodes import PROFILE_NAMES, RESERVED, Call, Dialect, Expr, Macro, Name, children
from rulewright.expression.syntax_errors import CLOSERS, END, OPENERS, Trouble, end_of, explain, start_of
from rulewright_runtime.values import Value

if TYPE_CHECKING:
    from lark.parsers.lalr_interactive_parser import InteractiveParser

_SUSPECTS: Final = MACRO_NAMES | RESERVED  # names that may be used wrongly
# What may end a text that breaks off, the nearest end first; `_` stands for a value or a name that is missing.
_ENDINGS: Final = {END: "", "RPAR": ")", "RSQB": "]", "RBRACE": "}", "COLON": ":", "IDENT": "_"}


class Recovery:
    """The reading of one text, whose brackets and tree may be `depth` levels deep; mistakes are told to `mistakes`."""

    def __init__(self, text: str, dialect: Dialect, mistakes: Mistakes, depth: int, *, macros: bool) -> None:
        self.source = ExpressionText(text, dialect, mistakes, depth)
        self.mistakes = mistakes
        self.macros = macros
        self.parser = expression_parser(macros)

    def whole(self) -> Expr | None:
        """The tree; None where there is none, after a mistake."""
        try:
            tree: Value = self.parser.parse(self.source)
        except UnexpectedToken:
            tree = self._recovered()
        except ExpressionError:
            return None
        return None if tree is None else self._checked(tree)

    def unfinished(self) -> Expr | None:
        """The tree of a text that breaks off, with what is missing behind it made up."""
        end = len(self.source.text)
        cursor = self.parser.parse_interactive(self.source)
        tree = None
        try:
            cursor.exhaust_lexer()
            while tree is None:
                accepted = cursor.accepts()
                kind = next(kind for kind in _ENDINGS if kind in accepted)
                tree = cursor.feed_token(token(kind, _ENDINGS[kind], end, end))
        except UnexpectedToken:
            return self.whole()  # which says what is wrong
        except ExpressionError:
            return None
        return self._checked(tree)

    def _checked(self, tree: Expr) -> Expr:
        """The tree, after its misused names and its depth were reported."""
        self._check_names([tree])
        if len(self.source.tokens) > self.source.depth:
            self._check_depth(tree)
        return tree

    def _recovered(self) -> object:
        """The tree of a text with mistakes, or None where no guess at what was meant is sound. The text is read once
        more, from one token that can't stand to the next: each is reported, and something else read in its place."""
        tokens, position = self.source.tokens, 0
        cursor = self.parser.parse_interactive()
        while True:
            count, tree = _fed(cursor.copy(deepcopy_values=False), tokens[position:])
            if tree is not None:
                return tree
            _fed(cursor, tokens[position : position + count])  # not the copy: the wrong token may have made it shrink
            position += count
            instead = self._instead(position, cursor)
            count, tree = (0, None) if instead is None else _fed(cursor, instead)
            if instead is None or count < len(instead):
                self._check_names(cursor.parser_state.value_stack)
                return None
            if tree is not None:
                return tree
            position += 1

    def _instead(self, position: int, cursor: InteractiveParser) -> list[Token] | None:
        """Report the token at `position`; what to read in its place, or None where no guess is sound."""
        found = self.source.tokens[position]
        if self.mistakes.full or (found.type == END and position == 0 and self.mistakes.found):
            return None  # nothing is left of a text that held no token
        trouble = self._trouble(position, frozenset(cursor.accepts()))
        message, help = explain(trouble)
        self.mistakes.add(message, start_of(found), end_of(found), help)
        instead = _guess(found, trouble)
        if instead is None and trouble.operator_due:  # what is complete may hold mistakes of its own
            _fed(cursor, [token("OR", "||", start_of(found), start_of(found))])
        return instead

    def _trouble(self, position: int, expected: frozenset[str]) -> Trouble:
        """The token and its neighbourhood, for the words."""
        tokens = self.source.tokens
        opened = _opened(tokens[:position])
        brackets = [each for each in opened if each.type != "QUESTION"]
        return Trouble(
            text=self.source.text,
            profile=self.source.dialect is Dialect.PROFILE,
            before=tokens[position - 1] if position else None,
            token=tokens[position],
            after=tokens[position + 1] if position + 1 < len(tokens) else None,
            expected=expected,
            opened=brackets[-1] if brackets else None,
            conditional=bool(opened) and opened[-1].type == "QUESTION",
        )

    def _check_names(self, values: Sequence[object]) -> None:
        """Report macros that are written wrongly and reserved words in place of names, the innermost first."""
        if not any(each.type == "IDENT" and each in _SUSPECTS for each in self.source.tokens):
            return
        reserved = RESERVED - PROFILE_NAMES if self.source.dialect is Dialect.PROFILE else RESERVED
        for node in reversed(list(_parts(values))):
            if isinstance(node, Call) and self.macros and (wrong := misuse(node)) is not None:
                start, at, end = wrong.span.start, wrong.span.at, wrong.span.end
                if not any(start <= place <= end for place in self.mistakes.found):  # else a guess stands for it
                    self.mistakes.add(wrong.message, at, end)
            for word, start in _names(node, self.source.text):
                if word in reserved:
                    help = f"as a field it may stand after a dot, as in `x.{word}`"
                    message = f"`{word}` is a reserved word and can't be a name"
                    self.mistakes.add(message, start, start + len(word), help)

    def _check_depth(self, tree: Expr) -> None:
        """Report a tree that whoever recurses on it could not walk; walks it without recursion itself."""
        level = [tree]
        for _ in range(self.source.depth):
            level = [child for node in level for child in children(node)]
            if not level:
                return
        help = "a chain of `&&` or `||` may be of any length; split others, for instance with `cel.bind`"
        span = level[0].span
        self.mistakes.add(f"the expression is more than {self.source.depth} levels deep", span.at, span.end, help)


def _fed(cursor: InteractiveParser, tokens: Sequence[Token]) -> tuple[int, object]:
    """Feed tokens: how many of them could stand, and the tree if the end was among these."""
    tree = None
    for count, each in enumerate(tokens):
        try:
            tree = cursor.feed_token(each)
        except UnexpectedToken:
            return count, None
    return len(tokens), tree


def _guess(found: Token, trouble: Trouble) -> list[Token] | None:
    """What to read instead of a token; None where no guess is sound."""
    start, end = start_of(found), end_of(found)
    blank = token("IDENT", "_", start, start)
    if trouble.value_due:
        return [] if found.type in ("NOT", "BANG", "MINUS", "PLUS") else [blank, found]
    if trouble.operator_due:
        return [token(found.upper(), found, start, end)] if trouble.is_word("and", "or") else None
    if "IDENT" in trouble.expected:
        return [token("IDENT", "_", start, end)] if found.type in ("TRUE", "FALSE", "NULL", "IN") else [blank, found]
    return None


def _opened(tokens: Sequence[Token]) -> list[Token]:
    """The brackets, and the `?` behind values, that are still open behind these tokens."""
    opened: list[Token] = []
    before = ""
    for each in tokens:
        if each.type in OPENERS or (each.type == "QUESTION" and before in OPERAND_ENDS):
            opened.append(each)
        elif each.type == "COLON" and opened and opened[-1].type == "QUESTION":
            opened.pop()
        elif each.type in CLOSERS:
            while opened and opened.pop().type == "QUESTION":
                pass
        before = each.type
    return opened


def _parts(values: Sequence[Value]) -> Iterator[Expr]:
    """Every node in what the parser has made so far, outer ones first; among them stand tokens and lists of nodes."""
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, Expr):
            yield value
            pending.extend(children(value))


def _names(node: Expr, text: str) -> Iterator[tuple[str, int]]:
    """The names that a node reads, calls or binds, each with its place or that of the dot before it."""
    if isinstance(node, Name):
        yield node.name, text.rfind(".", 0, node.span.at) if node.absolute else node.span.at
    elif isinstance(node, Call) and node.target is None:
        start = text.rfind(node.function, 0, node.span.at)
        yield node.function, text.rfind(".", 0, start) if node.absolute else start
    elif isinstance(node, Macro):
        yield from ((name, span.at) for name, span in zip(node.variables, node.variable_spans, strict=True))
