"""Turns the text of an expression into syntax nodes, or into every mistake that can soundly be told apart.

The parser runs the LALR(1) tables of the grammar. A reduction of one symbol that builds nothing, of which each operand
would cost ten, is followed once for each state, left side and next token, and remembered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rulewright.expression.actions import ACTIONS, PROFILE_NAMES, Builder
from rulewright.expression.lexer import Dialect, tokens
from rulewright.expression.nodes import children
from rulewright.expression.syntax_errors import OPENERS, Mistakes, Trouble, explain
from rulewright.expression.tables import load
from rulewright.expression.token import END, OPERAND_ENDS, Token

if TYPE_CHECKING:
    from rulewright.expression import nodes

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "Dialect", "parse"]

MAX_LENGTH = 100_000  # code points, as in cel-go
MAX_DEPTH = 250  # of brackets, and of the tree: whoever walks it may recurse

_HALF = re.compile("[\ud800-\udfff]")
_tables = load()
_STATES = _tables["states"]
_START = _tables["start"]
_RULES = tuple((left, ACTIONS[alias] if alias else None, length) for left, alias, length in _tables["rules"])
TERMINALS = (*_tables["patterns"], *_tables["words"].values(), *_tables["signs"].values())
_after: dict[tuple[int, str, str], int] = {}  # (state, left side, next token) -> state behind the one-symbol reductions


def parse(text: str, dialect: Dialect = Dialect.PROFILE, *, macros: bool = True) -> nodes.Expr:
    """The syntax tree of `text`, at most 250 levels deep; without `macros` a macro is an ordinary call.

    Raises `ExpressionError` with every mistake found, in source order.
    """
    mistakes = Mistakes(text)
    if len(text) > MAX_LENGTH:
        mistakes.add(f"the expression has {len(text)} characters, more than {MAX_LENGTH}", 0, 0)
        raise mistakes.error()
    if not text.isascii() and (half := _HALF.search(text)):
        mistakes.add("half of a character stands in the text", half.start(), half.end(), "it isn't valid Unicode")
        raise mistakes.error()
    found = tokens(text, dialect, mistakes)
    if len(found) > MAX_DEPTH and not _brackets_are_shallow(found, mistakes):
        raise mistakes.error()
    builder = Builder(mistakes, macros=macros)
    tree = _Run(found, builder, dialect).run()
    if builder.reserved:
        builder.finish(PROFILE_NAMES if dialect is Dialect.PROFILE else frozenset())
    if tree is not None and len(found) > MAX_DEPTH:
        _check_depth(tree, mistakes)
    if tree is None or mistakes.found:
        raise mistakes.error()
    return tree


class _Run:
    """One pass over the tokens; the stacks hold a state, a value and a starting offset for each symbol read so far."""

    __slots__ = ("builder", "dialect", "mended", "starts", "states", "tokens", "values")

    def __init__(self, found: list[Token], builder: Builder, dialect: Dialect) -> None:
        self.tokens = found
        self.builder = builder
        self.dialect = dialect
        self.states = [_START]
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.mended: dict[int, list[Token]] = {}  # position -> what was read instead of the token there

    def run(self) -> nodes.Expr | None:
        """The tree, or None when parsing had to stop; `builder.mistakes` says why."""
        end = 0
        for position, token in enumerate(self.tokens):
            if not self._take(token, end) and not self._recover(position, end):
                return None
            end = token.end
        tree: nodes.Expr = self.values[0]
        return tree

    def _take(self, token: Token, end: int) -> bool:
        """Reduce what ends before `token`, at `end`, and shift it; False where it can't stand."""
        states, values, starts, builder = self.states, self.values, self.starts, self.builder
        kind = token[0]
        while True:
            action = _STATES[states[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                states.append(action)
                values.append(token)
                starts.append(token[2])
                return True
            left, build, length = _RULES[-1 - action]
            if length == 1:
                if build is not None:
                    values[-1] = build(builder, values[-1:], starts[-1], end)
                states.pop()
            else:
                kids = values[-length:]
                del values[-length:], states[-length:], starts[-length + 1 :]
                values.append(build(builder, kids, starts[-1], end))  # type: ignore[misc]
            key = (states[-1], left, kind)
            state = _after.get(key)
            states.append(_follow(key) if state is None else state)

    def _recover(self, position: int, end: int) -> bool:
        """Report the token that can't stand and mend the tokens where that is sound; False where it isn't."""
        token, mistakes = self.tokens[position], self.builder.mistakes
        if mistakes.full or (token.kind == END and position == 0 and mistakes.found):
            return False  # nothing is left of a text that held no token
        trouble = self._trouble(position)
        message, help = explain(trouble)
        mistakes.add(message, token.start, token.end, help)
        instead = self._instead(token, trouble)
        if instead is None:
            if trouble.operator_due:  # what is complete may hold mistakes of its own
                self._take(Token("OR", "||", end, end), end)
            return False
        self.mended[position] = instead
        return all(self._take(each, end) for each in instead)

    def _instead(self, token: Token, trouble: Trouble) -> list[Token] | None:
        """What to read instead of `token`; None where no guess is sound."""
        blank = Token("IDENT", "_", token.start, token.start)
        if trouble.value_due:
            return [] if token.kind in ("NOT", "BANG", "MINUS", "PLUS") else [blank, token]
        if trouble.operator_due:
            meant = trouble.is_word("and", "or")
            return [token._replace(kind=str(token.value).upper())] if meant else None
        if "IDENT" in trouble.expected:
            named = token.kind in ("TRUE", "FALSE", "NULL", "IN")
            return [token._replace(kind="IDENT", value="_")] if named else [blank, token]
        return None

    def _trouble(self, position: int) -> Trouble:
        """The token and its neighbourhood, for the words."""
        opened: list[Token] = []
        for token in self.tokens[:position]:
            if token.kind in OPENERS or token.kind == "QUESTION":
                opened.append(token)
            elif token.kind == "COLON" and opened and opened[-1].kind == "QUESTION":
                opened.pop()
            elif token.kind in OPENERS.values():
                while opened and opened.pop().kind == "QUESTION":
                    pass
        waiting = self._is_conditional(opened[-1]) if opened and opened[-1].kind == "QUESTION" else False
        brackets = [token for token in opened if token.kind != "QUESTION"]
        return Trouble(
            text=self.builder.text,
            profile=self.dialect is Dialect.PROFILE,
            before=self.tokens[position - 1] if position else None,
            token=self.tokens[position],
            after=self.tokens[position + 1] if position + 1 < len(self.tokens) else None,
            expected=self._expected(position),
            opened=brackets[-1] if brackets else None,
            conditional=waiting,
        )

    def _is_conditional(self, question: Token) -> bool:
        """Whether `?` stands after a value; elsewhere it marks an optional field, element or entry."""
        index = self.tokens.index(question)
        return index > 0 and self.tokens[index - 1].kind in OPERAND_ENDS

    def _expected(self, position: int) -> frozenset[str]:
        """The terminals that can stand at `position`. The stack won't tell: a wrong token may have made it shrink."""
        states = [_START]
        for index in range(position):
            for token in self.mended.get(index, self.tokens[index : index + 1]):
                _advance(states, token.kind)
        return frozenset(kind for kind in (*TERMINALS, END) if _advance(states.copy(), kind))


def _advance(states: list[int], kind: str) -> bool:
    """Take a token on a stack of states alone; False where it can't stand."""
    while True:
        action = _STATES[states[-1]].get(kind)
        if action is None:
            return False
        if action >= 0:
            states.append(action)
            return True
        left, _, length = _RULES[-1 - action]
        del states[-length:]
        states.append(_STATES[states[-1]][left])


def _follow(key: tuple[int, str, str]) -> int:
    """The state after `left` in `state`, once every one-symbol rule that builds nothing has been reduced."""
    state, left, kind = key
    row = _STATES[state]
    after = row[left]
    while (action := _STATES[after].get(kind, 0)) < 0:
        left, build, length = _RULES[-1 - action]
        if length != 1 or build is not None:
            break
        after = row[left]
    _after[key] = after
    return after


def _brackets_are_shallow(found: list[Token], mistakes: Mistakes) -> bool:
    depth = 0
    for token in found:
        if token.kind in OPENERS:
            depth += 1
            if depth > MAX_DEPTH:
                mistakes.add(f"brackets are nested more than {MAX_DEPTH} deep", token.start, token.end)
                return False
        elif token.kind in OPENERS.values():
            depth -= 1
    return True


def _check_depth(tree: nodes.Expr, mistakes: Mistakes) -> None:
    """Refuse a tree that whoever recurses on it could not walk; walks it without recursion itself."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in children(node)]
        if not level:
            return
    help = "a chain of `&&` or `||` may be of any length; split others, for instance with `cel.bind`"
    mistakes.add(f"the expression is more than {MAX_DEPTH} levels deep", level[0].place.at, level[0].place.end, help)
