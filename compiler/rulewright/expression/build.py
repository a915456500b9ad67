"""Lowers a checked expression to the instruction set, computing constants; parses, checks and lowers in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from rulewright.errors import ExpressionError
from rulewright.expression import syntax_tree as ast
from rulewright.expression.checker import TOO_DEEP, CheckedExpression, check
from rulewright.expression.checking_context import mistake
from rulewright.expression.environment import TYPE_NAMES, Environment
from rulewright.expression.parser import parse
from rulewright.expression.scores import exact
from rulewright.expression.types import SCORE, ListType, MapType, OptionalType, Type
from rulewright_runtime.errors import PlanError, RuntimeFailure
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, literal, validate

_MACROS: Final = {
    "map": "map_list", "transformList": "map_list", "transformMap": "map_values", "transformMapEntry": "map_entries",
    "optMap": "opt_map", "optFlatMap": "opt_flat_map", "sortBy": "sort_by",
}  # fmt: skip
_FOLDED: Final = frozenset(("call", "index", "not", "and", "or"))
VARIABLES: Final = "variables."  # the prefix of a decision table's variables
MAX_INLINED: Final = 10_000
_FOLDED_TEXT: Final = 1000  # characters; calls with longer results are not folded


def lower(
    checked: CheckedExpression, source: str, environment: Environment, *, fold: bool = True, score: bool = False
) -> Program:
    """The program of a checked expression.

    With `fold` constant parts are computed now, unless they fail; with `score` the result is converted to a score.
    Raises ExpressionError.
    """
    lowering = ExpressionLowering(environment, checked, fold)
    try:
        lowering.whole(score)
    except RecursionError:
        raise ExpressionError(source, [mistake(source, checked.expr, TOO_DEEP, whole=True)]) from None
    return Program(tuple(lowering.nodes), source, environment.strict)


def lower_unchecked(expr: ast.Expr, source: str, environment: Environment) -> Program:
    """The program of an unchecked expression: names and functions are resolved at run time. Raises ExpressionError."""
    lowering = ExpressionLowering(environment, None, False)
    try:
        lowering.value(expr)
    except RecursionError:
        raise ExpressionError(source, [mistake(source, expr, TOO_DEEP, whole=True)]) from None
    return Program(tuple(lowering.nodes), source, environment.strict)


class Inlined(Struct, frozen=True):
    """The expression that replaces a name, with its environment and the expressions of the names in it."""

    environment: Environment
    checked: CheckedExpression
    inlined: Mapping[str, Inlined]


class ExpressionLowering:
    """The nodes emitted so far, and the variables bound around the current node; a variable's slot is its depth.

    Several expressions may be lowered into one program: set `environment`, `checked` and `offset`, the start of the
    expression in the program's source, then call `whole`. A variable `variables.x` that is `bound` is read from its
    slot; one that is `inlined` is computed where it is read.
    """

    def __init__(self, environment: Environment, checked: CheckedExpression | None, fold: bool) -> None:
        self.environment = environment
        self.checked = checked
        self.fold = fold
        self.offset = 0
        self.nodes: list[Node] = []
        self.bound: list[str] = []
        self.inlined: Mapping[str, Inlined] = {}

    def whole(self, score: bool = False) -> int:
        """Lower the `checked` expression; with `score` convert its result. Returns the index of the result."""
        assert self.checked is not None
        result = self.value(self.checked.expr)
        return self.emit("call", (result,), "score") if score else result

    def emit(self, op: str, args: tuple[int, ...], value: object = None, e: ast.Expr | None = None) -> int:
        """Append a node, or the constant it computes; returns its index."""
        if self.fold and op in _FOLDED and self._constant(args):
            folded = self._folded(op, args, value)
            if folded is not None:
                del self.nodes[args[0] :]
                op, args, value = "const", (), folded
        at = () if e is None else (e.span.start + self.offset, e.span.end + self.offset)
        self.nodes.append(Node(op, args, value, at))
        return len(self.nodes) - 1

    def _constant(self, args: tuple[int, ...]) -> bool:
        """Whether these arguments are the last nodes, and all constants."""
        first = len(self.nodes) - len(args)
        return (
            bool(args)
            and args == tuple(range(first, len(self.nodes)))
            and all(self.nodes[a].op == "const" for a in args)
        )

    def _folded(self, op: str, args: tuple[int, ...], value: object) -> list[object] | None:
        indices = tuple(range(len(args)))
        nodes = (*(self.nodes[a] for a in args), Node(op, indices, value))
        try:
            result = prepare(Program(nodes, strict=self.environment.strict))({})
        except RuntimeFailure:
            return None
        too_long = isinstance(result, (str, bytes)) and len(result) > _FOLDED_TEXT
        if too_long or isinstance(result, (list, tuple, Mapping)):
            return None
        return literal(result)

    def value(self, e: ast.Expr) -> int:
        """Lower `e`, converted if its declared type is a score or contains scores. Returns its index."""
        index = _LOWER[type(e)](self, e)
        if (
            self.checked is not None
            and isinstance(e, (ast.Name, ast.Select, ast.Index))
            and not self.environment.strict
        ):
            index = self._read_scores(index, self.checked.type_of(e))
        return index

    def raw(self, e: ast.Expr) -> int:
        """Lower `e` without conversion, since a part of it is read and converted there. Returns its index."""
        return _LOWER[type(e)](self, e)

    def _read_scores(self, index: int, t: Type) -> int:
        if t == SCORE:
            return self.emit("call", (index,), "score")
        slot = len(self.bound)
        match t:
            case ListType(element=inner) if holds_scores(inner):
                op, slots = "map_list", [slot]
            case OptionalType(value=inner) if holds_scores(inner):
                op, slots = "opt_map", [slot]
            case MapType(value=inner) if holds_scores(inner):
                op, slots = "map_values", [slot, slot + 1]
            case _:
                return index
        self.bound += [""] * len(slots)
        body = self._read_scores(self.emit("local", (), slots[-1]), inner)
        del self.bound[slot:]
        return self.emit(op, (index, body), slots)

    def literal(self, e: ast.Literal) -> int:
        if self.checked is not None and id(e) in self.checked.scores:
            value = exact(e)
            assert value is not None
            return self.emit("const", (), ["score", f"{value.numerator}/{value.denominator}"], e)
        if self.checked is not None and id(e) in self.checked.doubles and isinstance(e.value, int):
            return self.emit("const", (), literal(float(e.value)), e)
        return self.emit("const", (), literal(e.value), e)

    def name(self, e: ast.Name) -> int:
        if not e.absolute and e.name in self.bound:
            return self.emit("local", (), self._slot(e.name), e)
        if self.checked is None:
            return self._unresolved(e, [])
        if id(e) in self.checked.constants:
            return self.emit("const", (), ["string", e.name], e)
        return self._resolved(e, self.checked.names[id(e)])

    def _resolved(self, e: ast.Expr, full: str) -> int:
        if full in TYPE_NAMES and full not in self.environment.variables:
            return self.emit("const", (), ["type", full], e)
        variable = full if full.startswith(VARIABLES) else f"{VARIABLES}{full}"
        if variable in self.bound:
            return self.emit("local", (), self._slot(variable), e)
        if variable in self.inlined:
            return self._inline(variable)
        return self.emit("name", (), [[full, []]], e)

    def _inline(self, variable: str) -> int:
        """Lower the expression of a variable here; it can't see the names bound here."""
        outer = self.environment, self.checked, self.inlined, self.bound
        inlined = self.inlined[variable]
        if len(self.nodes) > MAX_INLINED:
            raise PlanError(f"its variables, written out, take more than {MAX_INLINED} operations")
        self.environment, self.checked, self.inlined = inlined.environment, inlined.checked, inlined.inlined
        self.bound = [""] * len(self.bound)
        index = self.value(inlined.checked.expr)
        self.environment, self.checked, self.inlined, self.bound = outer
        return index

    def _slot(self, name: str) -> int:
        """The slot of the innermost variable of that name."""
        return len(self.bound) - 1 - self.bound[::-1].index(name)

    def _unresolved(self, e: ast.Name, fields: list[str]) -> int:
        """A dotted name resolved at run time: the longest name first, in each enclosing namespace."""
        parts = [e.name, *fields]
        if ".".join(parts) in TYPE_NAMES and parts[0] not in self.environment.variables:
            return self.emit("const", (), ["type", ".".join(parts)], e)
        candidates = [
            [full, parts[count:]]
            for count in range(len(parts), 0, -1)
            for full in self.environment.candidates(".".join(parts[:count]), e.absolute)
        ]
        return self.emit("name", (), candidates, e)

    def select(self, e: ast.Select) -> int:
        if self.checked is not None and id(e) in self.checked.names:
            return self._resolved(e, self.checked.names[id(e)])
        if self.checked is None and not e.optional:
            root, fields = ast.selections(e)
            if isinstance(root, ast.Name) and (root.absolute or root.name not in self.bound):
                return self._unresolved(root, fields)
        return self.emit("opt_select" if e.optional else "select", (self.raw(e.operand),), e.field, e)

    def has(self, e: ast.Has) -> int:
        return self.emit("has", (self.raw(e.operand),), e.field, e)

    def index(self, e: ast.Index) -> int:
        operand = self.raw(e.operand)
        return self.emit("opt_index" if e.optional else "index", (operand, self.value(e.index)), None, e)

    def unary(self, e: ast.Unary) -> int:
        operand = self.value(e.operand)
        return self.emit("not", (operand,), None, e) if e.operator == "!" else self.emit("call", (operand,), "-_", e)

    def binary(self, e: ast.Binary) -> int:
        if e.operator in ("&&", "||"):
            operands = ast.chain(e, e.operator)
            args = tuple([self.value(o) for o in operands])
            return self.emit("and" if e.operator == "&&" else "or", args, None, e)
        left = self.value(e.left)
        name = "@in" if e.operator == "in" else f"_{e.operator}_"
        return self.emit("call", (left, self.value(e.right)), name, e)

    def conditional(self, e: ast.Conditional) -> int:
        condition = self.value(e.condition)
        node = self.nodes[condition]
        if self.fold and condition == len(self.nodes) - 1 and node.op == "const" and node.value[0] == "bool":
            self.nodes.pop()
            return self.value(e.then if node.value[1] else e.otherwise)
        then = self.value(e.then)
        return self.emit("cond", (condition, then, self.value(e.otherwise)), None, e)

    def call(self, e: ast.Call) -> int:
        full, target = self._function(e)
        args = tuple([self.value(a) for a in ([target, *e.args] if target is not None else e.args)])
        return self.emit("call", args, full, e)

    def _function(self, e: ast.Call) -> tuple[str, ast.Expr | None]:
        """The full name of the function, and the target of a method."""
        if self.checked is not None:
            full = self.checked.functions.get(id(e))
            return (e.function, e.target) if full is None else (full, None)
        root, fields = ast.selections(e.target) if e.target is not None else (None, [])
        if e.target is None or (isinstance(root, ast.Name) and root.name not in self.bound):
            qualified = ".".join((*((root.name, *fields) if isinstance(root, ast.Name) else ()), e.function))
            declared = self.environment.function(qualified, e.absolute)
            if declared is not None:
                return declared[0], None
        return e.function, e.target

    def list_literal(self, e: ast.ListLiteral) -> int:
        args = tuple([self.value(item) for item in e.items])
        if self.fold and not e.optional and self._constant(args):
            items = [self.nodes[a].value for a in args]
            del self.nodes[args[0] :]
            return self.emit("const", (), ["list", items], e)
        return self.emit("list", args, list(e.optional), e)

    def map_literal(self, e: ast.MapLiteral) -> int:
        args = tuple([self.value(part) for entry in e.entries for part in entry])
        return self.emit("map", args, list(e.optional), e)

    def message(self, e: ast.MessageLiteral) -> int:
        """An unchecked message literal, which becomes a call of an unknown function."""
        return self.emit("call", tuple([self.value(v) for _, v in e.fields]), e.type_name, e)

    def macro(self, e: ast.Macro) -> int:
        converts_target = e.kind in ("filter", "sortBy", "bind", "optMap", "optFlatMap")
        target = self.value(e.target) if converts_target else self.raw(e.target)
        slots = list(range(len(self.bound), len(self.bound) + len(e.variables)))
        self.bound += e.variables
        bodies = [self.value(b) for b in e.bodies]
        del self.bound[slots[0] :]
        return self.emit(_MACROS.get(e.kind, e.kind), (target, *bodies), slots, e)


def holds_scores(t: Type) -> bool:
    """Whether `t` is a score, or a list, map or optional of scores."""
    return t == SCORE or (isinstance(t, (ListType, MapType, OptionalType)) and holds_scores(t.params[-1]))


_LOWER: Final[Mapping[type, Callable[[ExpressionLowering, Any], int]]] = {
    ast.Literal: ExpressionLowering.literal,
    ast.Name: ExpressionLowering.name,
    ast.Select: ExpressionLowering.select,
    ast.Has: ExpressionLowering.has,
    ast.Index: ExpressionLowering.index,
    ast.Call: ExpressionLowering.call,
    ast.Unary: ExpressionLowering.unary,
    ast.Binary: ExpressionLowering.binary,
    ast.Conditional: ExpressionLowering.conditional,
    ast.ListLiteral: ExpressionLowering.list_literal,
    ast.MapLiteral: ExpressionLowering.map_literal,
    ast.MessageLiteral: ExpressionLowering.message,
    ast.Macro: ExpressionLowering.macro,
}


_SURELY_SMALL: Final = 100  # nodes; a program of that size is far below the limits of the instruction set


class Built(Struct, frozen=True):
    """A valid expression: its program, its type and the paths it reads, such as
    `("review", "decision")`."""

    program: Program
    type: Type
    reads: frozenset[tuple[str, ...]]


def build(text: str, environment: Environment, *, expect: Type | None = None, fold: bool = True) -> Built:
    """Parse, check and lower `text`.

    With `expect` the expression must have that type: `expect=BOOL` rejects a condition that is only `dyn`, an enum
    accepts the texts that are its members, and `expect=SCORE` reads any number as a score. Without `fold` constants are
    computed at run time. Raises ExpressionError with every mistake.
    """
    checked = check(parsed(text, environment), text, environment, expect=expect)
    as_score = expect == SCORE and checked.type != SCORE
    program = lower(checked, text, environment, fold=fold, score=as_score)
    if len(program.nodes) > _SURELY_SMALL:
        try:
            validate(program)
        except PlanError:
            raise ExpressionError(text, [mistake(text, checked.expr, TOO_DEEP, whole=True)]) from None
    return Built(program, SCORE if as_score else checked.type, frozenset(_reads(checked, environment)))


def parsed(text: str, environment: Environment) -> ast.Expr:
    """The syntax tree of `text`, with calls of the environment's lookups as index nodes. Raises ExpressionError."""
    tree = parse(text, environment.dialect)
    try:
        return with_lookups(tree, environment)
    except RecursionError:
        raise ExpressionError(text, [mistake(text, tree, TOO_DEEP, whole=True)]) from None


def with_lookups(tree: ast.Expr, environment: Environment) -> ast.Expr:
    """The tree with calls of the environment's lookups as index nodes."""
    pending, lookups = [tree], environment.lookups
    for each in pending if lookups else ():  # grows; a deep tree without such calls needs no recursion
        if _is_lookup(each, lookups):
            return _with_lookups(tree, lookups)
        pending += ast.children(each)
    return tree


def _with_lookups(tree: ast.Expr, lookups: frozenset[str]) -> ast.Expr:
    tree = ast.with_children(tree, lambda child: _with_lookups(child, lookups))
    if isinstance(tree, ast.Call) and _is_lookup(tree, lookups):
        name = ast.TextSpan(tree.span.start, tree.span.start + len(tree.function), tree.span.start)
        return ast.Index(ast.Name(tree.function, name), tree.args[0], tree.span)
    return tree


def _is_lookup(tree: ast.Expr, lookups: frozenset[str]) -> bool:
    return isinstance(tree, ast.Call) and tree.target is None and tree.function in lookups and len(tree.args) == 1


def _reads(checked: CheckedExpression, environment: Environment) -> Iterator[tuple[str, ...]]:
    """Yield the longest paths that start at a variable."""
    pending: list[ast.Expr] = [checked.expr]
    while pending:
        e = pending.pop()
        fields: list[str] = []
        at = e
        while id(at) not in checked.names and (step := _step(at)) is not None:
            field, at = step
            fields.append(field)
        if isinstance(at, (ast.Name, ast.Select)):
            name = checked.names.get(id(at))
            if name is not None and (name in environment.variables or name not in TYPE_NAMES):
                yield (*name.split("."), *reversed(fields))
        else:
            pending += ast.children(at)


def _step(e: ast.Expr) -> tuple[str, ast.Expr] | None:
    """The field that `e` selects and its operand; None if `e` doesn't select a constant field."""
    match e:
        case ast.Select() | ast.Has():
            return e.field, e.operand
        case ast.Index(index=ast.Literal(value=str() as key)):
            return key, e.operand
    return None
