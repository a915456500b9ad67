"""The state of one check, shared by the modules of the checker, and the messages about types and names."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from rulewright.diagnostics import Guess
from rulewright.errors import ExpressionMistake, Reason
from rulewright.expression import syntax_tree as ast
from rulewright.expression.declarations import Overload
from rulewright.expression.environment import Environment
from rulewright.expression.types import DYN, ERROR, EnumType, OptionalType, RecordType, Type
from rulewright.expression.unify import Substitution, most_general
from rulewright.spelling import CloseMatches
from rulewright_runtime.english import either, ticked

_OPERATORS: Final = {
    "_?_:_": "?:", "!_": "!", "-_": "-", "@in": "in", "_[_]": "[]", "_[?_]": "[?]",
    **{f"_{sign}_": sign for sign in ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")},
}  # fmt: skip
_SHOWN: Final = 4


def mistake(
    text: str, e: ast.Expr, message: str, help: str | None = None, *, whole: bool = False, reason: Reason = Reason.OTHER
) -> ExpressionMistake:
    """The mistake `message` at the offset that an error about `e` points to, or with `whole` at the start of `e`."""
    start = e.span.start if whole else e.span.at
    end = start + len(e.operator) if isinstance(e, ast.Binary) and not whole else e.span.end
    return ExpressionMistake.at(text, " ".join(message.splitlines()), start, end, help, reason)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The help with the known name most similar to `name`, or else the only one of which it is a word; or None."""
    by_lower, close = _by_lower(tuple(known))
    near = close.of(name.lower(), 1, 0.65)
    if not near:
        holding = [each for each in by_lower if name.lower() in each.split("_")]
        near = holding if len(holding) == 1 else []
    return Guess(by_lower[near[0]]) if near and by_lower[near[0]] != name else None


@lru_cache(maxsize=64)
def _by_lower(known: tuple[str, ...]) -> tuple[dict[str, str], CloseMatches]:
    by_lower = {k.lower(): k for k in sorted(known) if k.replace("_", "a").replace(".", "a").isalnum()}
    return by_lower, CloseMatches(by_lower)


def one_of(names: Sequence[str]) -> str:
    """`A`, `B` or `C`."""
    return either([f"`{name}`" for name in names])


def operator(name: str) -> str:
    """The function `name` in backticks; an operator as its sign."""
    return f"`{_OPERATORS.get(name, name)}`"


def fields_help(actual: Sequence[Type]) -> str | None:
    """The fields of a record that was written where a value of one of its fields was meant."""
    record = next((each for each in actual if isinstance(each, RecordType) and each.fields), None)
    if record is None:
        return None
    return f"`{record.name}` is a record with the fields " + ticked(record.fields)


def no_overload(name: str, overloads: Sequence[Overload], actual: Sequence[Type], method: bool) -> str:
    """The message that no overload of `name` takes arguments of the types `actual`, with the existing overloads."""
    if name == "!_":
        return f"expected a `bool`, found `{actual[0]}`"
    shown = operator(name)
    if name in ("_==_", "_!=_") and not any(isinstance(t, OptionalType) for t in actual):
        return f"{shown} can't compare `{actual[0]}` with `{actual[1]}`"
    styled = [o for o in overloads if o.method == method]
    near = [o for o in styled if o.arguments[:1] == tuple(actual[:1])] or styled or list(overloads)
    own = name if near and near[0].method != method else ""
    expected = ", ".join(_arguments(o.arguments, o.method, own) for o in near[:_SHOWN]) + (
        " ..." if len(near) > _SHOWN else ""
    )
    found = _arguments(actual, method)
    return f"{shown} does not take {found}; expected {expected}" if expected else f"{shown} does not take {found}"


def _arguments(types: Sequence[Type], method: bool, name: str = "") -> str:
    written = [str(t) for t in types]
    target = f"{written.pop(0)}." if method and written else ""
    return f"{target}{name}({', '.join(written)})"


class CheckingContext(ABC):
    """The state of one check; `visit` returns the type of a node, which may still contain unknown types."""

    def __init__(self, text: str, environment: Environment) -> None:
        self.text = text
        self.environment = environment
        self.strict = environment.strict
        self.known = Substitution()
        self.mistakes: list[ExpressionMistake] = []
        self.locals: list[tuple[str, Type]] = []
        self.ranges: dict[str, ast.Expr] = {}  # the literal list or map that a macro's variable runs over
        self.names: dict[int, str] = {}
        self.constants: set[int] = set()
        self.functions: dict[int, str] = {}
        self.scores: set[int] = set()
        self.doubles: set[int] = set()
        self.types: dict[int, Type] = {}
        self.compared: dict[int, EnumType | None] = {}  # bare words right of a comparison, with the enum compared

    @abstractmethod
    def visit(self, e: ast.Expr) -> Type:
        """The type of `e`; ERROR after a mistake that was reported."""

    def report(
        self,
        e: ast.Expr,
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

    def qualified(self, e: ast.Expr) -> tuple[str, bool] | None:
        """The dotted name that `e` is and whether it is absolute; None for others and if the root is bound."""
        root, fields = ast.selections(e)
        if not isinstance(root, ast.Name) or (not root.absolute and self.local(root.name) is not None):
            return None
        return ".".join((root.name, *fields)), root.absolute

    def join(self, current: Type | None, new: Type) -> Type:
        """The common element type of a list or map with elements of both types; `current` may be None."""
        if current is None:
            return new
        return most_general(current, new) if self.known.fits(current, new) else DYN

    def no_member(self, e: ast.Expr, word: str, enum: EnumType) -> Type:
        """Report that `word` is not a member of `enum`."""
        message = f"unknown value `{word}` for `{enum.name}`; expected {one_of(enum.members)}"
        return self.report(e, message, did_you_mean(word, enum.members), reason=Reason.UNKNOWN_VALUE)

    def conform(self, e: ast.Expr, enum: EnumType) -> None:
        """Report every text or constant in `e` that isn't a member of `enum`; of a map, the keys are checked."""
        match e:
            case ast.Literal(value=str() as word) if word not in enum.members:
                self.no_member(e, word, enum)
            case ast.Name(name=word) if id(e) in self.constants and word not in enum.members:
                self.no_member(e, word, enum)
            case ast.Name(name=word) if self.local(word) is not None and word in self.ranges:
                self.conform(self.ranges[word], enum)
            case ast.ListLiteral():
                for item in e.items:
                    self.conform(item, enum)
            case ast.MapLiteral():
                for key, _ in e.entries:
                    self.conform(key, enum)
            case ast.Conditional():
                self.conform(e.then, enum)
                self.conform(e.otherwise, enum)
