"""Parses one text with Lark, and continues after mistakes if a reliable guess is possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from lark import Lark, Token, UnexpectedToken

import rulewright_grammar
from rulewright.errors import ExpressionError, Reason
from rulewright.expression.ast_builder import MACRO_NAMES, AstBuilder, misuse
from rulewright.expression.expression_mistakes import Mistakes
from rulewright.expression.lexer import OPERAND_ENDS, ExpressionLexer, ExpressionText, token
from rulewright.expression.syntax_errors import CLOSERS, END, OPENERS, Trouble, end_of, explain, start_of
from rulewright.expression.syntax_tree import PROFILE_NAMES, RESERVED, Call, Dialect, Expr, Macro, Name, children
from rulewright_runtime.values import Value

if TYPE_CHECKING:
    from lark.parsers.lalr_interactive_parser import InteractiveParser

_CHECKED_NAMES: Final = MACRO_NAMES | RESERVED  # names that may be misused
# Tokens that complete an unfinished text, the shortest completion first; `_` is a missing value or name.
_ENDINGS: Final = {END: "", "RPAR": ")", "RSQB": "]", "RBRACE": "}", "COLON": ":", "IDENT": "_"}


@cache
def expression_parser(macros: bool = True) -> Lark:
    """Lark's parser, from the LALR(1) tables that are shipped with the grammar and that `make expected` writes. It
    returns syntax trees; without `macros` a macro is an ordinary call."""
    tables: dict[str, Value] = rulewright_grammar.grammar_tables()
    data = tables["data"]
    data["options"] |= {"lexer": ExpressionLexer, "transformer": AstBuilder(macros)}
    data["parser"]["lexer_conf"]["lexer_type"] = ExpressionLexer
    data["parser"]["parser"]["states"] = _numbered(tables["states"])
    return Lark.load({"data": data, "memo": _numbered(tables["memo"])})


def _numbered(rows: dict[str, Value]) -> dict[int, Value]:
    """The rows by number, which is a string in JSON."""
    return {int(number): row for number, row in rows.items()}


class Recovery:
    """The parse of one text, with at most `depth` levels of brackets and tree; mistakes are added to `mistakes`."""

    def __init__(self, text: str, dialect: Dialect, mistakes: Mistakes, depth: int, *, macros: bool) -> None:
        self.source = ExpressionText(text, dialect, mistakes, depth)
        self.mistakes = mistakes
        self.macros = macros
        self.parser = expression_parser(macros)

    def whole(self) -> Expr | None:
        """The tree; None if a mistake leaves none."""
        try:
            tree: Value = self.parser.parse(self.source)
        except UnexpectedToken:
            tree = self._recovered()
        except ExpressionError:
            return None
        return None if tree is None else self._checked(tree)

    def unfinished(self) -> Expr | None:
        """The tree of a text that ends too early, completed with placeholders."""
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
            return self.whole()  # which reports the mistakes
        except ExpressionError:
            return None
        return self._checked(tree)

    def _checked(self, tree: Expr) -> Expr:
        """The tree, after misused names and too great a depth are reported."""
        self._check_names([tree])
        if len(self.source.tokens) > self.source.depth:
            self._check_depth(tree)
        return tree

    def _recovered(self) -> object:
        """The tree of a text with mistakes, or None if no reliable guess is possible. The text is parsed again, from
        one unexpected token to the next: each is reported and replaced."""
        tokens, position = self.source.tokens, 0
        cursor = self.parser.parse_interactive()
        while True:
            count, tree = _fed(cursor.copy(deepcopy_values=False), tokens[position:])
            if tree is not None:
                return tree
            _fed(cursor, tokens[position : position + count])  # not the copy, whose stack may be reduced
            position += count
            replacement = self._replacement(position, cursor)
            count, tree = (0, None) if replacement is None else _fed(cursor, replacement)
            if replacement is None or count < len(replacement):
                self._check_names(cursor.parser_state.value_stack)
                return None
            if tree is not None:
                return tree
            position += 1

    def _replacement(self, position: int, cursor: InteractiveParser) -> list[Token] | None:
        """Report the token at `position`; returns the tokens that replace it, or None without a reliable guess."""
        unexpected = self.source.tokens[position]
        if self.mistakes.full or (unexpected.type == END and position == 0 and self.mistakes.by_start):
            return None  # a text without tokens: its mistakes are already reported
        trouble = self._trouble(position, frozenset(cursor.accepts()))
        message, help, reason = explain(trouble)
        is_open = unexpected.type == END and reason is Reason.UNCLOSED and trouble.profile  # cel-go: at the end
        place = (trouble.opened if is_open else None) or unexpected
        self.mistakes.add(message, start_of(place), end_of(place), help, reason)
        replacement = _guess(unexpected, trouble)
        if replacement is None and trouble.operator_due:  # so that the complete part is checked as well
            _fed(cursor, [token("OR", "||", start_of(unexpected), start_of(unexpected))])
        return replacement

    def _trouble(self, position: int, expected: frozenset[str]) -> Trouble:
        """The token with its context, for the message."""
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
        """Report misused macros and reserved words used as names, the innermost first."""
        if not any(each.type == "IDENT" and each in _CHECKED_NAMES for each in self.source.tokens):
            return
        reserved = RESERVED - PROFILE_NAMES if self.source.dialect is Dialect.PROFILE else RESERVED
        for node in reversed(list(_parts(values))):
            if isinstance(node, Call) and self.macros and (error := misuse(node)) is not None:
                start, at, end = error.span.start, error.span.at, error.span.end
                if not any(start <= other <= end for other in self.mistakes.by_start):  # else it contains a placeholder
                    self.mistakes.add(error.message, at, end)
            for word, start in _names(node, self.source.text):
                if word in reserved:
                    help = f"it may be a field after a dot, as in `x.{word}`"
                    message = f"`{word}` is a reserved word and can't be a name"
                    self.mistakes.add(message, start, start + len(word), help)

    def _check_depth(self, tree: Expr) -> None:
        """Report a tree that is too deep for a recursive walk; walks it without recursion itself."""
        level = [tree]
        for _ in range(self.source.depth):
            level = [child for node in level for child in children(node)]
            if not level:
                return
        help = "a chain of `&&` or `||` may be of any length; split others, for instance with `cel.bind`"
        span = level[0].span
        self.mistakes.add(f"the expression is more than {self.source.depth} levels deep", span.at, span.end, help)


def _fed(cursor: InteractiveParser, tokens: Sequence[Token]) -> tuple[int, object]:
    """Feed tokens; returns how many were accepted, and the tree if the end was one of them."""
    tree = None
    for count, each in enumerate(tokens):
        try:
            tree = cursor.feed_token(each)
        except UnexpectedToken:
            return count, None
    return len(tokens), tree


def _guess(unexpected: Token, trouble: Trouble) -> list[Token] | None:
    """The tokens that replace an unexpected one; None without a reliable guess."""
    start, end = start_of(unexpected), end_of(unexpected)
    blank = token("IDENT", "_", start, start)
    if trouble.value_due:
        return [] if unexpected.type in ("NOT", "BANG", "MINUS", "PLUS") else [blank, unexpected]
    if trouble.operator_due:
        return [token(unexpected.upper(), unexpected, start, end)] if trouble.is_word("and", "or") else None
    if "IDENT" in trouble.expected:
        return (
            [token("IDENT", "_", start, end)]
            if unexpected.type in ("TRUE", "FALSE", "NULL", "IN")
            else [blank, unexpected]
        )
    return None


def _opened(tokens: Sequence[Token]) -> list[Token]:
    """The brackets, and the `?` of conditionals, that are still open after these tokens."""
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
    """Yield every node on the parser's value stack, outer ones first; the stack also holds tokens and lists."""
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, Expr):
            yield value
            pending.extend(children(value))


def _names(node: Expr, text: str) -> Iterator[tuple[str, int]]:
    """Yield the names that a node reads, calls or binds, each with its start or that of the dot before it."""
    if isinstance(node, Name):
        yield node.name, text.rfind(".", 0, node.span.at) if node.absolute else node.span.at
    elif isinstance(node, Call) and node.target is None:
        start = text.rfind(node.function, 0, node.span.at)
        yield node.function, text.rfind(".", 0, start) if node.absolute else start
    elif isinstance(node, Macro):
        yield from ((name, span.at) for name, span in zip(node.variables, node.variable_spans, strict=True))
