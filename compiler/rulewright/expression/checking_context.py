"""The state of one check, shared by the modules of the checker: names, types and mistakes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from rulewright.errors import ExpressionMistake, Reason
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_tree import Conditional, Expr, ListLiteral, Literal, MapLiteral, Name, selections
from rulewright.expression.type_messages import did_you_mean, mistake, one_of
from rulewright.expression.types import DYN, ERROR, EnumType, Type
from rulewright.expression.unify import Substitution, most_general


class CheckingContext(ABC):
    """The state of one check; `visit` returns the type of a node, which may still contain unknown types."""

    def __init__(self, text: str, environment: Environment) -> None:
        self.text = text
        self.environment = environment
        self.strict = environment.strict
        self.known = Substitution()
        self.mistakes: list[ExpressionMistake] = []
        self.locals: list[tuple[str, Type]] = []
        self.ranges: dict[str, Expr] = {}  # the literal list or map that a macro's variable runs over
        self.names: dict[int, str] = {}
        self.constants: set[int] = set()
        self.functions: dict[int, str] = {}
        self.scores: set[int] = set()
        self.doubles: set[int] = set()
        self.types: dict[int, Type] = {}
        self.compared: dict[int, EnumType | None] = {}  # bare words right of a comparison, with the enum compared

    @abstractmethod
    def visit(self, e: Expr) -> Type:
        """The type of `e`; ERROR after a mistake that was reported."""

    def report(
        self,
        e: Expr,
        message: str,
        help: str | None = None,
        *,
        whole: bool = False,
        reason: Reason = Reason.OTHER,
        subject: str = "",
    ) -> Type:
        """Record a mistake about `e`; returns ERROR."""
        found = mistake(self.text, e, message, help, whole=whole, reason=reason)
        self.mistakes.append(replace(found, subject=subject) if subject else found)
        return ERROR

    def local(self, name: str) -> Type | None:
        """The type of the innermost bound variable `name`."""
        for bound, t in reversed(self.locals):
            if bound == name:
                return t
        return None

    def qualified(self, e: Expr) -> tuple[str, bool] | None:
        """The dotted name that `e` is and whether it is absolute; None for others and if the root is bound."""
        root, fields = selections(e)
        if not isinstance(root, Name) or (not root.absolute and self.local(root.name) is not None):
            return None
        return ".".join((root.name, *fields)), root.absolute

    def join(self, current: Type | None, new: Type) -> Type:
        """The common element type of a list or map with elements of both types; `current` may be None."""
        if current is None:
            return new
        return most_general(current, new) if self.known.fits(current, new) else DYN

    def no_member(self, e: Expr, word: str, enum: EnumType) -> Type:
        """Report that `word` is not a member of `enum`."""
        message = f"unknown value `{word}` for `{enum.name}`; expected {one_of(enum.members)}"
        return self.report(e, message, did_you_mean(word, enum.members), reason=Reason.UNKNOWN_VALUE)

    def conform(self, e: Expr, enum: EnumType) -> None:
        """Report every text or constant in `e` that isn't a member of `enum`; of a map, the keys are checked."""
        match e:
            case Literal(value=str() as word) if word not in enum.members:
                self.no_member(e, word, enum)
            case Name(name=word) if id(e) in self.constants and word not in enum.members:
                self.no_member(e, word, enum)
            case Name(name=word) if self.local(word) is not None and word in self.ranges:
                self.conform(self.ranges[word], enum)
            case ListLiteral():
                for item in e.items:
                    self.conform(item, enum)
            case MapLiteral():
                for key, _ in e.entries:
                    self.conform(key, enum)
            case Conditional():
                self.conform(e.then, enum)
                self.conform(e.otherwise, enum)
