from rulewright.diagnostics import Findings, warning
from rulewright.expression import syntax_tree as ast
from rulewright.expression.direction import ORDERED
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, operations_in


def and_before_or(document: DocumentWithExpressions) -> Findings:
    """A condition joined by `and` applies to only one side of an `or`, because the brackets are missing.

    Why it matters: `and` binds stronger than `or`, so `a and b == 1 or b == 2` holds for every `b == 2`, whatever `a`.
    Instead: write `a and (b == 1 or b == 2)`, or `(a and b == 1) or b == 2` if that is meant.
    """
    for written, part in operations_in(document, {"||"}):
        sides = ast.chain(part, "||")
        mixed = _mixed(written, sides)
        if mixed is not None:
            message = f"`and` joins only `{written.text(mixed)}` of these comparisons, `or` the others"
            yield warning(written.span(part), message, help="did you mean the same operator everywhere?")
            return
        for at, side in enumerate(sides):
            joined = ast.chain(side, "&&")
            if len(joined) < 2 or _is_in_brackets(written, side):
                continue
            near = [*((each, True) for each in sides[at + 1 : at + 2]), *((each, False) for each in sides[:at][-1:])]
            bare = next((each for each, follows in near if _belongs(joined, ast.chain(each, "&&"), follows)), None)
            if bare is not None:
                message = f"`{written.text(joined[0])}` is not required where `{written.text(bare)}` holds"
                help = "`and` binds stronger than `or`: put the parts of the `or` in brackets"
                yield warning(written.span(part), message, help=help)
                return


def _mixed(written: WrittenExpression, sides: list[ast.Expr]) -> ast.Expr | None:
    """The only side joined by `and`, where all sides compare different values, each with its own limit of one kind."""
    joined = [each for each in sides if isinstance(each, ast.Binary) and each.operator == "&&"]
    parts = [part for side in sides for part in ast.chain(side, "&&")]
    kinds = {_kind(each) for each in parts}
    values = {repr(_shape(each.left)) for each in parts if isinstance(each, ast.Binary)}
    is_parallel = len(joined) == 1 and len(kinds) == 1 and None not in kinds and len(values) == len(parts)
    return joined[0] if is_parallel and not _is_in_brackets(written, joined[0]) else None


def _kind(part: ast.Expr) -> tuple[str, str] | None:
    """The operator of a comparison and the end of its limit's name: `review` of `recall < recall_review`."""
    if not isinstance(part, ast.Binary) or part.operator not in ORDERED or "_" not in ast.last_name(part.right):
        return None
    return part.operator, ast.last_name(part.right).rpartition("_")[2]


def _belongs(joined: list[ast.Expr], other: list[ast.Expr], follows: bool) -> bool:
    """Whether the other side of an `or` has the form of the parts of an `and` next to it, or reads what it guards."""
    count = len(other)
    guards = [each for each in joined[:-1] if isinstance(each, ast.Has)]
    if any(_reads(each, guard) for guard in guards for each in other) and not {*guards} & {*other}:
        return True
    neighbours = joined[-count:] if follows else joined[:count]
    return len(joined) > count and [_shape(each) for each in other] == [_shape(each) for each in neighbours]


def _reads(part: ast.Expr, guard: ast.Has) -> bool:
    is_it = isinstance(part, ast.Select | ast.Has) and part.operand == guard.operand and part.field == guard.field
    return (is_it and part != guard) or any(_reads(each, guard) for each in ast.children(part))


def _shape(part: ast.Expr) -> object:
    """An expression without its texts, numbers and names, apart from the first name of each path."""
    if isinstance(part, ast.Literal | ast.ListLiteral):
        return "literal"
    if isinstance(part, ast.Name):
        return part.name
    if isinstance(part, ast.Binary) and part.operator in ORDERED:
        return ("order", _shape(part.left), "limit")
    if isinstance(part, ast.Binary) and part.operator == "==" and isinstance(part.left, ast.Select):
        return ("equal", _shape(part.left), "value")
    own = getattr(part, "operator", None) or getattr(part, "function", None) or type(part).__name__
    return (own, *map(_shape, ast.children(part)))


def _is_in_brackets(written: WrittenExpression, part: ast.Expr) -> bool:
    text = written.scalar.text
    before, after = text[: part.span.start].rstrip(), text[part.span.end :].lstrip()
    inner = written.text(part)
    return (before.endswith("(") and after.startswith(")")) or (inner.startswith("(") and inner.endswith(")"))
