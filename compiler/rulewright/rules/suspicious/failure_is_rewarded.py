from collections.abc import Mapping
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.direction import unwrapped
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Conditional,
    Expr,
    ListLiteral,
    Literal,
    Macro,
    Name,
    Select,
    Unary,
    below,
    chain,
    children,
    field_of,
    number_in,
    selections,
)
from rulewright.lower.expressions_of import WrittenExpression, expressions_of
from rulewright.rules.correctness.outcome_contradicts_condition import is_graded

GRADED: Final = frozenset({"rates", "dimensions", "undecided"})


def failure_is_rewarded(scorecard: ScorecardDocument) -> Findings:
    """A score or an outcome is bad although nothing failed, a failure raises a score, or a failed gate has no effect.

    Why it matters: usually the branches of a choice, `min` and `max`, or `and` and `or` were swapped, so what failed is
    graded as if it had passed.
    Instead: give the failure the lower score: `gates.safety.failed ? score(0) : mean`.
    """
    defined = {id(written.scalar): written for written in expressions_of(scorecard)}
    named = {name: defined[id(scalar)].checked.expr for name, scalar in scorecard.variables if id(scalar) in defined}
    named |= {
        f"counts.{name}": defined[id(scalar)].checked.expr for name, scalar in scorecard.counts if id(scalar) in defined
    }
    named |= {
        f"lists.{each.name}": defined[id(each.of)].checked.expr for each in scorecard.lists if id(each.of) in defined
    }
    gates = sum(_reads_a_gate(part) for written in defined.values() for part in written.parts)
    for _, scalar in (*scorecard.variables, *scorecard.output):
        if id(scalar) in defined:
            written = defined[id(scalar)]
            yield from _rewarded(written, named, gates)


def _rewarded(written: WrittenExpression, named: Mapping[str, Expr], gates: int) -> Findings:
    for part in written.parts:
        if _needs_all_gates(part) and sum(map(_reads_a_gate, below(part))) == gates:
            yield warning(written.span(part), "one failed gate is not enough here", help="write `or`, or `exists`")
        failed = _is_failure(part.condition, named) if isinstance(part, Conditional) else None
        if not isinstance(part, Conditional) or failed is None:
            continue
        worse, better = (part.then, part.otherwise) if failed else (part.otherwise, part.then)
        test = written.text(part.condition)
        if number_in(unwrapped(better)) == 0 and _is_graded(worse, named):
            yield warning(written.span(part.condition), f"`{test}` gives the score 0 to transcripts that did not fail")
        elif not failed and isinstance(better, Literal) and isinstance(worse, Conditional) and _is_graded(worse, named):
            message = (
                f"`{test}` gives `{written.text(better)}` to transcripts that did not fail, and grades the failures"
            )
            yield warning(written.span(part.condition), message)
        elif failed and (good := _for_good_rates(worse, better)) is not None:
            message = f"`{written.text(worse)}` is the outcome after a failure, and with `{written.text(good)}`"
            yield warning(written.span(worse), message)
        elif (raised := _raised(worse, better)) is not None:
            message = f"`{written.text(raised)}` raises the score after a failure"
            yield warning(written.span(raised), message, help="did you mean `min`?")


def _for_good_rates(outcome: Expr, following: Expr) -> Expr | None:
    """The condition among the following steps by which a rate above a limit has the same outcome."""
    while isinstance(following, Conditional):
        test = following.condition
        is_good = isinstance(test, Binary) and test.operator in (">", ">=") and is_graded(test.left)
        if is_good and isinstance(outcome, Literal) and following.then == outcome:
            return test
        following = following.otherwise
    return None


def _reads_a_gate(part: Expr) -> bool:
    return isinstance(part, Select) and part.field == "failed" and Name("gates", part.span) in below(part)


def _needs_all_gates(part: Expr) -> bool:
    """Whether a condition holds only if several gates, or all of them, failed."""
    if isinstance(part, Macro):
        reads = part.kind == "all" and part.target == Name("gates", part.span)
        return reads and all(map(_reads_a_gate, part.bodies))
    joined = chain(part, "&&") if isinstance(part, Binary) and part.operator == "&&" else ()
    failed = [selections(each) for each in joined]
    return sum(root == Name("gates", part.span) and steps[1:] == ["failed"] for root, steps in failed) > 1


def _is_failure(test: Expr, named: Mapping[str, Expr]) -> bool | None:
    """True if a condition holds after a failure, False if without one, None if it tests something else."""
    if isinstance(test, Unary) and test.operator == "!":
        inner = _is_failure(test.operand, named)
        return None if inner is None else not inner
    root, fields = selections(test)
    match test:
        case Name(name=name) if name in named:
            return _is_failure(named[name], named)
        case Select() if root == Name("gates", root.span) and fields[1:] == ["failed"]:
            return True
        case Macro(kind="exists", bodies=(Select(field="failed"),)):
            return True
        case Binary(operator="||"):
            return True if all(_is_failure(each, named) for each in chain(test, "||")) else None
        case Binary(operator=">" | "==" as compared, left=count, right=Literal(value=0)):
            return compared == ">" if _counts_failures(count, named) else None
    return None


def _counts_failures(count: Expr, named: Mapping[str, Expr]) -> bool:
    match count:
        case Call(function="size", args=(Select() as listed,)):
            of = named.get(f"lists.{field_of(listed, 'lists')}")
        case _:
            of = named.get(f"counts.{field_of(count, 'counts')}")
    parts = () if of is None else chain(of, "&&")
    return any(
        isinstance(each, Binary) and each.operator == "==" and selections(each.left)[1][-1:] == ["verdict"]
        and isinstance(each.right, Name) and each.right.name == "FAIL" for each in parts
    )  # fmt: skip


def _raised(after: Expr, otherwise: Expr) -> Expr | None:
    """The `max` of a constant and the score that is given without a failure."""
    for part in (after, *children(after)):
        if isinstance(part, Call) and part.function == "max" and len(part.args) == 1:
            listed = part.args[0].items if isinstance(part.args[0], ListLiteral) else ()
            scores = [each.target if isinstance(each, Call) and each.function == "value" else each for each in listed]
            if any(number_in(unwrapped(each)) is not None for each in listed) and otherwise in scores:
                return part
    return None


def _is_graded(part: Expr, named: Mapping[str, Expr]) -> bool:
    """Whether a value depends on rates, dimensions or undecided gates."""
    if isinstance(part, Name):
        return part.name in GRADED or (part.name in named and _is_graded(named[part.name], named))
    return any(_is_graded(each, named) for each in children(part))
