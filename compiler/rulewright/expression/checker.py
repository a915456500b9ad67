"""Type checking: the type of every node of an expression, and every mistake that can be found before it runs.

The rules are CEL's, as cel-go's checker applies them: overloads are tried in order; the first match gives the type, and
another match with a different type makes it `dyn`; a mistake inside an argument is reported once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rulewright.diagnostics import Guess
from rulewright.errors import ExpressionError, Reason
from rulewright.expression import calls, macros, scores
from rulewright.expression import syntax_tree as ast
from rulewright.expression.calls import Arguments
from rulewright.expression.checking_context import CheckingContext, did_you_mean
from rulewright.expression.direction import COMPARISONS
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_errors import unknown_name_help
from rulewright.expression.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    Type,
    TypeParam,
)
from rulewright.expression.unify import Substitution
from rulewright.expression.unparse import unparse
from rulewright.spelling import suggest
from rulewright_runtime.english import ticked
from rulewright_runtime.values import UInt, Value

_KEY_DEPTH: Final = 8
MAX_NAMES: Final = 16  # listed in a message
FIELD_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "args": ("arguments",),
    "content": ("text",),
    "index": ("number",),
    "output": ("result",),
    "speaker": ("role",),
    "text": ("content",),
    "turn": ("number",),
}
TOO_DEEP: Final = "the expression is too large or nests too deeply"


@dataclass(frozen=True, slots=True)
class CheckedExpression:
    """A checked expression: its types, and the declarations that its names and calls refer to.

    The tables are keyed by the `id` of the syntax nodes, which `expr` keeps alive.
    """

    expr: ast.Expr
    type: Type
    names: Mapping[int, str]  # a Name or Select that is a variable or a type: its full name
    constants: frozenset[int]  # Names that are members of an enum
    functions: Mapping[int, str]  # a Call of a namespaced function: its full name
    scores: frozenset[int]  # number literals that are exact scores
    doubles: frozenset[int]  # whole-number literals that are doubles because of the operand next to them
    types: Mapping[int, Type] = field(repr=False)
    substitution: Substitution = field(repr=False)

    def type_of(self, e: ast.Expr) -> Type:
        """The type of a node of the expression."""
        return self.substitution.resolve(self.types[id(e)], final=True)


def check(expr: ast.Expr, text: str, environment: Environment, *, expect: Type | None = None) -> CheckedExpression:
    """Check `expr`, which was parsed from `text`. Raises ExpressionError with every mistake, in source order."""
    checker = Checker(text, environment)
    try:
        type_ = checker.visit(expr)
        if expect is not None and not checker.mistakes:
            calls.expect(checker, expr, type_, expect)
        result = checker.known.resolve(type_, final=True)
    except RecursionError:
        checker.report(expr, TOO_DEEP, whole=True)
        result = ERROR
    if checker.mistakes:
        raise ExpressionError(text, sorted(dict.fromkeys(checker.mistakes), key=lambda m: m.start))
    return CheckedExpression(
        expr,
        result,
        checker.names,
        frozenset(checker.constants),
        checker.functions,
        frozenset(checker.scores),
        frozenset(checker.doubles),
        checker.types,
        checker.known,
    )


class Checker(CheckingContext):
    """The type rules, one method for each kind of node."""

    def visit(self, e: ast.Expr) -> Type:
        """The type of `e`; ERROR after a mistake that was reported."""
        type_ = _VISITORS[type(e)](self, e)
        self.types[id(e)] = type_
        return type_

    def literal(self, e: ast.Literal) -> Type:
        return _LITERALS[type(e.value)]

    def name(self, e: ast.Name) -> Type:
        bound = None if e.absolute else self.local(e.name)
        if bound is not None:
            return bound
        found = self.environment.variable(e.name, e.absolute)
        if found is not None:
            self.names[id(e)], t = found
            return t
        if not self.strict and self._is_constant(e):
            self.constants.add(id(e))
            return STRING
        if self.environment.open:
            self.names[id(e)] = e.name
            return DYN
        return self._report_undeclared(e)

    def _is_known(self, name: str) -> bool:
        """Whether a name is declared, or one of a field."""
        declared = self.environment.variable(name, False) is not None or name in self.environment.members
        is_field = declared or self._field_meant(name) is not None
        return is_field or self.environment.open or any(name == local for local, _ in self.locals)

    def _is_constant(self, e: ast.Name) -> bool:
        if e.name in self.environment.members:
            return True
        return self.environment.open and id(e) in self.compared and e.name != e.name.lower()

    def _report_undeclared(self, e: ast.Name) -> Type:
        enum = self.compared.get(id(e))
        environment = self.environment
        literal = unknown_name_help(e.name, (), profile=not environment.strict)
        if literal is not None:
            return self._report_unknown(e, literal)
        if enum is not None:
            return self.no_member(e, e.name, enum)
        if e.name in environment.hints:
            return self._report_unknown(e, self._nearest_item() or environment.hints[e.name])
        if (field := self._field_meant(e.name)) is not None:
            return self._report_unknown(e, Guess(field))
        known = (*environment.variables, *environment.members, *(name for name, _ in self.locals))
        nearest = unknown_name_help(e.name, known, profile=not environment.strict) or did_you_mean(e.name, known)
        if nearest is None and id(e) in self.compared:
            nearest = f'write "{e.name}" in quotes if a text is meant'
        return self._report_unknown(e, nearest or self._list_names())

    def _nearest_item(self) -> Guess | None:
        """The innermost loop variable that is a record: it was meant by the name that an item has elsewhere."""
        items = [name for name, type_ in self.locals if isinstance(self.known.resolve(type_), RecordType)]
        return Guess(items[-1]) if items else None

    def _field_meant(self, name: str) -> str | None:
        """The field that was meant by a name with `_` in place of the dot, or by its own name alone."""
        records = {each: t for each, t in self.environment.variables.items() if isinstance(t, RecordType)}
        for record, type_ in records.items():
            field = name.removeprefix(f"{record}_")
            if field != name and field in type_.fields:
                return f"{record}.{field}"
        holders = [record for record, type_ in records.items() if name in type_.fields]
        return f"{holders[0]}.{name}" if len(holders) == 1 else None

    def _list_names(self) -> str | None:
        """The help that lists the available names; None if there are none or too many."""
        names = {*(name.partition(".")[0] for name in self.environment.variables), *(name for name, _ in self.locals)}
        few = 0 < len(names) <= MAX_NAMES
        return f"the names here are {ticked(sorted(names))}; a text needs quotes" if few else None

    def _report_unknown(self, e: ast.Name, help: str | None) -> Type:
        return self.report(e, f"unknown name `{e.name}`", help, reason=Reason.UNKNOWN_NAME)

    def select(self, e: ast.Select) -> Type:
        """The type of `operand.field`: of the declared dotted name, or else of the field."""
        dotted = None if e.optional else self.qualified(e)
        found = dotted and self.environment.variable(*dotted)
        if found:
            self.names[id(e)], t = found
            return t
        return self.field(e, self.visit(e.operand), e.optional)

    def has(self, e: ast.Has) -> Type:
        """`bool`; reports an operand that can't have fields."""
        self.field(e, self.visit(e.operand), False)
        return BOOL

    def field(self, e: ast.Select | ast.Has, operand: Type, optional: bool) -> Type:
        """The type of the field of an operand of type `operand`."""
        holder = self.known.resolve(operand)
        if isinstance(holder, OptionalType):
            holder, optional = holder.value, True
        found: Type = DYN
        if holder == ERROR:
            return ERROR
        if isinstance(holder, MapType):
            found = holder.value
        elif isinstance(holder, RecordType):
            found = self.record_field(e, holder, e.field)
        elif isinstance(holder, TypeParam):
            self.known.fits(holder, DYN)
        elif holder != DYN:
            json = holder == STRING and "json" in self.environment.overloads
            help = f"write `json({unparse(e.operand)}).{e.field}` if the text is JSON" if json else None
            self.report(e, f"`{holder}` has no fields, so no `{e.field}`; expected a map or a record", help)
        return OptionalType(found) if optional else found

    def record_field(self, e: ast.Expr, record: RecordType, name: str) -> Type:
        found = record.fields.get(name)
        if found is None and not record.open:
            known = ticked(list(record.fields)[:12])
            help: str | None
            if record.name in self.environment.lookups:  # its fields are the ids of other checks
                near = suggest(name, record.fields)
                others = f"the other checks are {known}" if known else "this is the only check"
                help = Guess(near) if near else others
                return self.report(e, f"no other check is called `{name}`", help, subject=record.name)
            meant = next((each for each in FIELD_SYNONYMS.get(name, ()) if each in record.fields), None)
            help = (Guess(meant) if meant else did_you_mean(name, record.fields)) or (
                f"it has {known}" if known else f"nothing is declared under `{record.name}`"
            )
            return self.report(e, f"`{record.name}` has no field `{name}`", help, subject=record.name)
        return DYN if found is None else found

    def index(self, e: ast.Index) -> Type:
        operand, index = self.visit(e.operand), self.visit(e.index)
        holder = self.known.resolve(operand)
        key = self.known.resolve(index)
        if isinstance(key, EnumType) and isinstance(holder, MapType):
            self.conform(e.operand, key)
        if isinstance(holder, RecordType):
            literal = isinstance(e.index, ast.Literal) and isinstance(e.index.value, str)
            found = self.record_field(e.index, holder, e.index.value) if literal else DYN  # type: ignore[union-attr,arg-type]
            return OptionalType(found) if e.optional else found
        return calls.resolve(self, e, Arguments("_[?_]" if e.optional else "_[_]", [operand, index]))

    def unary(self, e: ast.Unary) -> Type:
        return calls.resolve(self, e, Arguments(f"{e.operator}_", [self.visit(e.operand)]))

    def binary(self, e: ast.Binary) -> Type:
        """The type of an operator's result."""
        if e.operator in ("&&", "||"):
            self._must_be_bool(e.left)
            self._must_be_bool(e.right)
            return BOOL
        if (words := _hyphenated(e)) and not any(map(self._is_known, words)):
            text = ast.Name("-".join(words), ast.TextSpan(e.span.start, e.span.end, e.span.start))
            return self._report_unknown(text, f'write "{text.name}" in quotes if a text is meant')
        comparing = e.operator in COMPARISONS or e.operator == "in"
        left = self.visit(e.left)
        right = self.visit(e.right) if self.strict or not comparing else self._visit_right(e, left)
        name = "@in" if e.operator == "in" else f"_{e.operator}_"
        if not self.strict:
            left, right = scores.meet(self, e, left, right)
        return calls.resolve(self, e, Arguments(name, [left, right], nodes=(e.left, e.right)))

    def _must_be_bool(self, e: ast.Expr) -> None:
        earlier = len(self.mistakes)
        type_ = self.visit(e)
        if len(self.mistakes) == earlier and not self.known.fits(type_, BOOL):
            self.report(e, f"expected a `bool`, found `{self.known.resolve(type_, final=True)}`")

    def _visit_right(self, e: ast.Binary, left: Type) -> Type:
        """The type of the right side of a comparison, in which bare words may be constants."""
        resolved = self.known.resolve(left)
        if resolved == ERROR and isinstance(e.right, ast.Name) and e.right.name.isupper():
            return ERROR  # a constant compared with an unknown name: the mistake is on the left
        enum = resolved if isinstance(resolved, EnumType) else None
        self.compared.update((id(word), enum) for word in _bare_words(e.right))
        right = self.visit(e.right)
        other = self.known.resolve(right)
        if enum is not None:
            self.conform(e.right, enum)
        elif isinstance(resolved, ListType) and isinstance(resolved.element, EnumType):
            self.conform(e.right, resolved.element)
        inner = other.element if isinstance(other, ListType) else other
        if isinstance(inner, EnumType) and (inner is not other or e.operator != "in"):  # `in` takes a list
            self.conform(e.left, inner)
        return right

    def conditional(self, e: ast.Conditional) -> Type:
        """The common type of both branches."""
        condition, then, otherwise = self.visit(e.condition), self.visit(e.then), self.visit(e.otherwise)
        if not self.strict:
            then, otherwise = scores.agree(self, (e.then, e.otherwise), (then, otherwise))
        return calls.resolve(self, e, Arguments("_?_:_", [condition, then, otherwise]))

    def list_literal(self, e: ast.ListLiteral) -> Type:
        """`list(element)`; different elements make it `list(dyn)`."""
        joined: Type | None = None
        for i, item in enumerate(e.items):
            joined = self.join(joined, self._present(item, self.visit(item), i in e.optional))
        if not self.strict and joined is not None:
            joined = scores.element(self, e, joined)
        return ListType(self.known.fresh() if joined is None else joined)

    def map_literal(self, e: ast.MapLiteral) -> Type:
        """`map(key, value)`."""
        keys: Type | None = None
        values: Type | None = None
        for i, (key, value) in enumerate(e.entries):
            key_type = self.visit(key)
            if _depth(key_type) > _KEY_DEPTH:
                key_type = self.report(key, "a map key must be a bool, an int, a uint or a string")
            keys = self.join(keys, key_type)
            values = self.join(values, self._present(value, self.visit(value), i in e.optional))
        return MapType(keys or self.known.fresh(), values or self.known.fresh())

    def _present(self, e: ast.Expr, type_: Type, optional: bool) -> Type:
        """The type of an element; for one written with `?`, the type inside its optional."""
        if not optional:
            return type_
        resolved = self.known.resolve(type_)
        if isinstance(resolved, OptionalType):
            return resolved.value
        if resolved in (DYN, ERROR):
            return resolved
        return self.report(e, f"`?` needs an optional value, found `{resolved}`")

    def message(self, e: ast.MessageLiteral) -> Type:
        """Report a message literal, since messages are not supported."""
        for _, value in e.fields:
            self.visit(value)
        return self.report(e, f"`{e.type_name}` is not a type that can be built; messages are not supported")


def _hyphenated(e: ast.Expr) -> list[str]:
    """The names that hyphens join without spaces, as in an id without quotes; empty for another expression."""
    if isinstance(e, ast.Name):
        return [e.name]
    if isinstance(e, ast.Binary) and e.operator == "-" and e.left.span.end + 1 == e.right.span.start:
        before, after = _hyphenated(e.left), _hyphenated(e.right)
        return [*before, *after] if before and after else []
    return []


def _bare_words(e: ast.Expr) -> Iterator[ast.Name]:
    """Yield the identifiers that are a whole value of `e`: its own, of a branch or of a list element."""
    match e:
        case ast.Name():
            yield e
        case ast.ListLiteral(items=parts):
            for part in parts:
                yield from _bare_words(part)
        case ast.Conditional():
            yield from _bare_words(e.then)
            yield from _bare_words(e.otherwise)


def _depth(t: Type) -> int:
    """The nesting depth of a type, counted up to just beyond `_KEY_DEPTH`."""
    depth, layer = 0, [t]
    while layer and depth <= _KEY_DEPTH:
        depth, layer = depth + 1, [p for inner in layer for p in inner.params]
    return depth


_LITERALS: Final[Mapping[type, Type]] = {
    type(None): NULL, bool: BOOL, int: INT, UInt: UINT, float: DOUBLE, str: STRING, bytes: BYTES,
}  # fmt: skip
_VISITORS: Final[Mapping[type, Callable[[Value, Value], Type]]] = {
    ast.Literal: Checker.literal,
    ast.Name: Checker.name,
    ast.Select: Checker.select,
    ast.Has: Checker.has,
    ast.Index: Checker.index,
    ast.Call: calls.check_call,
    ast.Unary: Checker.unary,
    ast.Binary: Checker.binary,
    ast.Conditional: Checker.conditional,
    ast.ListLiteral: Checker.list_literal,
    ast.MapLiteral: Checker.map_literal,
    ast.MessageLiteral: Checker.message,
    ast.Macro: macros.check_macro,
}
