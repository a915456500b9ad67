from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Expr,
    ListLiteral,
    Literal,
    Macro,
    Name,
    Select,
    Unary,
    chain,
    children,
    last_name,
)
from rulewright.lower.expressions_of import DocumentWithExpressions, expressions_of, operations_in, parts_of
from rulewright.proving.placed_conditions import placed_conditions
from rulewright.proving.program_parts import written
from rulewright.proving.studies import span_of
from rulewright.rules.suspicious.units_differ import measured_in


def condition_adds_nothing(document: DocumentWithExpressions) -> Findings:
    """A part of a condition is redundant: it repeats another part, or another part decides it.

    Why it matters: only one of the two parts has an effect; a change of the other one changes nothing.
    Instead: remove the part, or correct its value or variable.
    """
    for placed in placed_conditions(document):
        for part, joined in placed.study.idle:
            message = f"`{written(part)}` is redundant: the other side of `{_WORDS[joined]}` already decides it"
            yield warning(span_of(placed, part), message)
    yield from _of_gates(document) if isinstance(document, ScorecardDocument) else ()
    yield from _of_one_value(document)
    yield from _denied_before(document)
    yield from _not_empty(document)
    for expression, each in parts_of(document):
        sides = chain(each, "||") if isinstance(each, Binary) and each.operator == "||" else ()
        if any(isinstance(side, Select) and side.field == "eligible" for side in sides):
            for side in filter(_is_decided, sides):
                message = f"`{expression.text(side)}` is redundant: only an eligible check has such a verdict"
                yield warning(expression.span(side), message, help="did you mean `and`?")


def _of_gates(scorecard: ScorecardDocument) -> Findings:
    """The verdicts that `undecided` of a gate names, and for which `stops` holds."""
    written = {id(each.scalar): each for each in expressions_of(scorecard)}
    for gate in scorecard.gates:
        stops, undecided = (written.get(id(each)) for each in (gate.stops, gate.undecided))
        if stops is None or undecided is None or len(chain(undecided.checked.expr, "||")) < 2:
            continue
        stopped = [name for each in chain(stops.checked.expr, "||") for name in _verdicts(each)]
        for part in chain(undecided.checked.expr, "||"):
            if (named := _verdicts(part)) and all(each in stopped for each in named):
                message = f"`{undecided.text(part)}` is redundant: `stops` holds for this verdict"
                yield warning(undecided.span(part), message, notes=[(gate.stops, "it fails the gate")])


def _verdicts(part: Expr) -> list[str]:
    """The verdicts for which a condition holds, if it only names them."""
    match part:
        case Binary(operator="==", left=Select(field="verdict"), right=Name(name=name)):
            return [name]
        case Binary(operator="in", left=Select(field="verdict"), right=ListLiteral(items=names)):
            return [each.name for each in names if isinstance(each, Name)]
    return []


def _is_decided(part: Expr) -> bool:
    """Whether a part holds for some verdicts other than NOT_APPLICABLE."""
    if not isinstance(part, Binary) or part.operator not in ("==", "in") or last_name(part.left) != "verdict":
        return False
    return Name("NOT_APPLICABLE", part.span) not in (part.right, *children(part.right))


def _denied_before(document: DocumentWithExpressions) -> Findings:
    """The denials of an order of calls next to the denial of one of these calls."""
    for expression, part in operations_in(document, ("&&",)):
        denied = [
            (side, side.operand) for side in chain(part, "&&") if isinstance(side, Unary) and side.operator == "!"
        ]
        for side, wanted in denied:
            is_ordered = isinstance(wanted, Call) and wanted.function == "called_in_order"
            others = denied if is_ordered else ()
            other = next((each for each, needed in others if each is not side and _needs(wanted, needed)), None)
            if other is not None:
                message = f"`{expression.text(side)}` is redundant: `{expression.text(other)}` already decides it"
                yield warning(expression.span(side), message, help="remove one of the negations")
                return


def _needs(wanted: Expr, needed: Expr) -> bool:
    """Whether tools are called in order only where another call is found."""
    match wanted, needed:
        case Call(function="called_in_order", args=(one, ListLiteral(items=names))), Call(
            function="called", args=(other, name)
        ):
            return one == other and name in names
    return False


def _of_one_value(document: DocumentWithExpressions) -> Findings:
    """The comparisons of one value, in one direction, with two settings that are joined by one operator."""
    for expression, part in operations_in(document, _WORDS.values()):
        limit = _limit(part.right, document)
        same = [each for each in chain(part.left, part.operator) if limit and _limit(each, document) == limit]
        if same and part.right not in same:
            message = f"`{expression.text(part.right)}` and `{expression.text(same[0])}` limit one value on one side"
            notes = [(expression.span(same[0]), "the other limit")]
            yield warning(expression.span(part.right), message, notes=notes)


def _not_empty(document: DocumentWithExpressions) -> Findings:
    """The tests that a list is not empty next to an `exists`, which needs an item anyway; `all` does not."""
    for expression, part in operations_in(document, {"&&"}):
        searched = part.right if isinstance(part.right, Macro) and part.right.kind == "exists" else None
        for side in chain(part.left, "&&") if searched is not None else ():
            match side:
                case Binary(operator=">", left=Call(function="size", args=(counted,)), right=Literal(value=0)):
                    if searched is not None and counted == searched.target:
                        message = f"`{expression.text(side)}` is redundant: `exists` needs an item anyway"
                        yield warning(expression.span(side), message, help="did you mean `all` instead of `exists`?")


def _limit(part: Expr, document: DocumentWithExpressions) -> tuple[Expr, str] | None:
    """The value that a part compares with a setting, and the direction and unit."""
    if not isinstance(part, Binary) or part.operator[0] not in "<>" or not _is_setting(part.right, document):
        return None
    return part.left, part.operator[0] + (measured_in(part.right) or "")  # else `units-differ`


def _is_setting(part: Expr, document: DocumentWithExpressions) -> bool:
    if isinstance(part, Select):
        return isinstance(part.operand, Name) and part.operand.name == "params"
    declared = (*getattr(document, "parameters", ()), *getattr(document, "settings", ()))
    return isinstance(part, Name) and any(each.name == part.name for each in declared)


_WORDS = {"and": "&&", "or": "||"}
