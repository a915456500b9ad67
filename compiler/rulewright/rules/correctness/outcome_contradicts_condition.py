from collections.abc import Collection
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, text
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.expression.direction import LEAST, OPPOSITE, ORDERED, comparisons, meaning, outcome_sign, unwrapped
from rulewright.expression.syntax_tree import (
    NOWHERE,
    Binary,
    Call,
    Conditional,
    Expr,
    Index,
    Literal,
    Name,
    Select,
    chain,
    field_of,
    last_name,
    number_in,
    selections,
)
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, expressions_of, parts_of
from rulewright.rules.suspicious.absent_counts_as_full import reads_failures

# What grows with what passes.
GRADED: Final = frozenset({"rates", "dimensions"})
# The side of a limit on which an answer is like the expected one where the condition is meant.
DIRECTIONS: Final = {"passes": ">", "fails": "<"}
DENYING: Final = ("dis", "non-", "not ", "not-", "not_", "un")
SIMILARITIES: Final = frozenset({"bleu", "edit_similarity", "rouge_l", "similarity", "word_overlap"})


def outcome_contradicts_condition(document: DocumentWithExpressions) -> Findings:
    """A choice gives a good outcome for a bad condition or a bad one for a good condition, or a `fail` asks for a PASS.

    Why it matters: `failed ? 'release' : 'stop'` releases what failed. In `x >= 0.9 ? 'A' : x <= 0.7 ? 'B' : 'C'` the
    values between are the worst. `pass: rouge_l(answer, expected) <= 0.4` wants another answer than the expected one.
    Instead: swap the outcomes, or reverse the condition.
    """
    scores = {each.name for each in entries(document.node, "parameters") if text(each.value, "type") == "score"}
    yield from _labels_below(document)
    for written, part in parts_of(document):
        yield from _mixed(document, written, part)
        if part is written.checked.expr:
            yield from _unlike_expected(document, written)
            yield from _valid_calls_fail(document, written)
        if not isinstance(part, Conditional):
            continue
        yield from _choice_of_two_directions(written, part)
        if (limit := _named_below(part, scores)) and not reads_failures(written.text(part), document):
            message = f"`{written.text(part.condition)}` gives `{limit}` to what is below `{limit}`"
            yield warning(written.span(part.condition), message)
            continue
        direction = 0 if reads_failures(written.text(part.condition), document) else _outcome_sign(part.condition)
        then, otherwise = _worths(part.then, part.otherwise)
        chosen, other = (part.then, part.otherwise) if then == -direction else (part.otherwise, part.then)
        if direction and (then == -direction or (otherwise == direction and not then)):
            is_of_rate = isinstance(part.condition, Binary) and is_graded(part.condition.left)
            if reads_failures(written.text(other), document) or (_is_neutral(other) and not is_of_rate):
                continue
            kind = "bad" if direction < 0 else "good"
            role = "outcome" if chosen is part.then else "outcome otherwise"
            message = f"`{written.text(part.condition)}` is a {kind} sign, but `{written.text(chosen)}` is the {role}"
            yield warning(written.span(part.condition), message)
        elif isinstance(part.otherwise, Conditional):
            yield from _turned_around(written, part, part.otherwise)


def _choice_of_two_directions(written: WrittenExpression, part: Conditional) -> Findings:
    """The choice of a score that rises with a value, where the other branch falls: `s ? (x > 0 ? 1 : 0) : 1 - x`."""
    for inner, other in ((part.then, part.otherwise), (part.otherwise, part.then)):
        if not isinstance(inner, Conditional) or not isinstance(inner.condition, Binary):
            continue
        test, scores = inner.condition, (_score(inner.then), _score(inner.otherwise))
        if test.operator not in ORDERED or scores not in ((0, 1), (1, 0)) or not isinstance(test.left, Name):
            continue
        is_rising = (scores == (1, 0)) == (test.operator[0] == ">")
        if (other == test.left and not is_rising) or (_is_rest(other, test.left) and is_rising):
            way = "rises" if is_rising else "falls"
            message = f"this score {way} with `{test.left.name}`, but the other one does not"
            yield warning(written.span(inner), message, help="did you mean to swap the outcomes?")


def _score(part: Expr) -> int | float | None:
    return number_in(unwrapped(part))


def _is_rest(part: Expr, value: Expr) -> bool:
    return isinstance(part, Binary) and part.operator == "-" and number_in(part.left) == 1 and part.right == value


def _labels_below(document: DocumentWithExpressions) -> Findings:
    """The rows of a label table that give a good label for a bad condition, or a bad one for a good condition."""
    labels = document.labels if isinstance(document, CaseScorecardDocument) else ()
    conditions = {id(each.scalar): each.checked.expr for each in expressions_of(document)} if labels else {}
    for row in labels:
        found = conditions.get(id(row.when))
        if found is not None and outcome_sign(found) * meaning(row.label) < 0:
            kind = "bad" if outcome_sign(found) < 0 else "good"
            yield warning(row.when, f"`{row.when.value}` is a {kind} sign, but the label is `{row.label}`")


def _named_below(part: Conditional, scores: Collection[str]) -> str:
    """The limit, a parameter that is a score, whose name is the outcome below it: `x < good ? 'good' : 'poor'`."""
    test = part.condition
    limit = test.right.name if isinstance(test, Binary) and isinstance(test.right, Name) else ""
    if not isinstance(test, Binary) or test.operator not in ORDERED or limit not in scores or meaning(limit) < 0:
        return ""
    below, above = (part.then, part.otherwise) if test.operator[0] == "<" else (part.otherwise, part.then)
    is_named = isinstance(below, Literal) and below.value == limit
    return limit if is_named and not (isinstance(above, Literal) and above.value == limit) else ""


def _outcome_sign(part: Expr) -> int:
    """What a condition tells, also of a rate or a dimension that is 0 or 1, or above or below a number."""
    if not isinstance(part, Binary) or not is_graded(part.left):
        return outcome_sign(part)
    limit = number_in(unwrapped(part.right))
    if part.operator in ORDERED:
        return outcome_sign(part) if limit is None else 1 if part.operator[0] == ">" else -1
    return (limit == 1) - (limit == 0) if part.operator == "==" else outcome_sign(part)


def is_graded(part: Expr) -> bool:
    """Whether a part is a rate or a dimension, or its value or default."""
    if isinstance(part, Call) and part.function in ("value", "orValue") and part.target is not None:
        return is_graded(part.target)
    root, fields = selections(part)
    return isinstance(root, Name) and root.name in GRADED and bool(fields)


def _mixed(document: DocumentWithExpressions, written: WrittenExpression, part: Expr) -> Findings:
    """The only part of a `fail` that asks for the PASS of another check, where the others ask for a FAIL."""
    wanted = {"fails": "FAIL", "passes": "PASS"}
    key = next((key for key in wanted if getattr(document, key, None) is written.scalar), None)
    if key is None or part is not written.checked.expr:
        return
    asked = [(each, _verdict_asked(each)) for each in chain(part, "||")]
    odd = [each for each, verdict in asked if verdict not in (wanted[key], "")]
    if len(odd) == 1 and any(verdict == wanted[key] for _, verdict in asked):
        message = f"`{written.text(odd[0])}` asks for a different verdict than the other parts"
        yield warning(written.span(odd[0]), message, help=f"the others ask for `{wanted[key]}`")


def _unlike_expected(document: DocumentWithExpressions, written: WrittenExpression) -> Findings:
    """The comparisons by which an answer fails that is like the expected one, or passes that is unlike it."""
    upward = next((up for key, up in DIRECTIONS.items() if getattr(document, key, None) is written.scalar), None)
    if upward is None:
        return
    for sign, part in comparisons(written.checked.expr, 1):
        for call, operator in ((part.left, part.operator), (part.right, OPPOSITE[part.operator])):
            meant = operator if sign > 0 else OPPOSITE[operator]
            if _is_of_usage(call) and meant[0] == upward and not _is_least(call, part):
                who, how = ("expensive or slow", "pass") if upward == ">" else ("cheap or fast", "fail")
                yield warning(written.span(part), f"with `{written.text(part)}`, {who} answers {how}")
            if _is_of_expected(call) and meant[0] != upward:
                who, how = ("unlike", "pass") if upward == ">" else ("like", "fail")
                message = f"with `{written.text(part)}`, answers that are {who} the expected one {how}"
                yield warning(written.span(part), message, help="reverse the comparison")


def _valid_calls_fail(document: DocumentWithExpressions, written: WrittenExpression) -> Findings:
    """An implication in `fail`: `tool_call.name != "book" or valid_against(tool_call.arguments, params.book)`."""
    if getattr(document, "fails", None) is not written.scalar:
        return
    sides = chain(written.checked.expr, "||")
    others = [each for each in sides if isinstance(each, Binary) and each.operator == "!=" and _is_tool(each.left)]
    valid = [each for each in sides if isinstance(each, Call) and each.function == "valid_against"]
    if len(others) == len(valid) == 1 and len(sides) == 2:
        reason = "calls of every other tool fail, and valid calls of this one"
        message = f"with `{written.text(others[0])}` in `fail`, {reason}"
        yield warning(written.span(written.checked.expr), message, help="write `pass` for `fail`")


def _is_tool(part: Expr) -> bool:
    return field_of(part, "tool_call") == "name"


def _is_of_usage(part: Expr) -> bool:
    """Whether a part is the cost or the latency of a chat."""
    return field_of(part, "usage") in ("cost", "latency")


def _is_least(call: Expr, comparison: Binary) -> bool:
    """Whether the other side is 0, or a lower limit by its name."""
    other = comparison.right if call is comparison.left else comparison.left
    return number_in(other) == 0 or LEAST.search(last_name(other)) is not None


def _is_of_expected(part: Expr) -> bool:
    """Whether a part measures how similar an answer is to the expected one."""
    return isinstance(part, Call) and part.function in SIMILARITIES and Name("expected", NOWHERE) in part.args


def _verdict_asked(part: Expr) -> str:
    """The verdict of another check that a part asks for, or the empty text."""
    match part:
        case Binary(
            operator="==", left=Select(operand=Index(operand=Name(name="v")), field="verdict"), right=Name(name=verdict)
        ):
            return verdict if verdict in ("PASS", "FAIL") else ""
    return ""


def _is_neutral(part: Expr) -> bool:
    """Whether an outcome is a word without a meaning, as in `failed ? 'send' : 'none'`, or the 0 of a flag."""
    return isinstance(part, Literal) and not _worth(part)


def _turned_around(written: WrittenExpression, part: Conditional, following: Conditional) -> Findings:
    """A step that compares the same value in the other direction than the step before it."""
    first, second, third = part.condition, following.condition, following.otherwise
    if not isinstance(first, Binary) or not isinstance(second, Binary) or first.left != second.left:
        return
    if first.operator in ORDERED and second.operator in (OPPOSITE[first.operator], OPPOSITE[first.operator][0]):
        after = third.condition if isinstance(third, Conditional) else None
        if not isinstance(after, Binary) and not _descend(part.then, following.then, third):
            return  # outcomes above, below and within a band
        odd = first if isinstance(after, Binary) and after.operator == second.operator else second
        message = f"`{written.text(odd)}` compares in the opposite direction to the step next to it"
        yield warning(written.span(odd), message)


def _descend(*outcomes: Expr) -> bool:
    """Whether outcomes are grades in their order, or the last is a bad one."""
    texts = [str(each.value) for each in outcomes if isinstance(each, Literal)]
    are_grades = len(texts) == len(outcomes) and max(map(len, texts)) == 1 and texts == sorted(texts)
    return are_grades or _worth(outcomes[-1]) < 0


def _worths(then: Expr, otherwise: Expr) -> tuple[int, int]:
    """The worth of two outcomes; the denial of a word without a meaning is worse than it: `uncomfortable`."""
    worth = _worth(then), _worth(otherwise)
    if worth != (0, 0) or not (isinstance(then, Literal) and isinstance(otherwise, Literal)):
        return worth
    one, other = (str(each.value).lower() for each in (then, otherwise))
    return _denies_word(other, one) - _denies_word(one, other), _denies_word(one, other) - _denies_word(other, one)


def _denies_word(word: str, other: str) -> bool:
    """Whether a word is the other one with a prefix or a word that denies it."""
    return len(other) > 1 and word in {f"{before}{other}" for before in DENYING}


def _worth(part: Expr) -> int:
    """1 for a good outcome, -1 for a bad one, 0 if unknown: a word, or the highest or lowest score."""
    is_score, part = isinstance(part, Call), unwrapped(part)
    if isinstance(part, Literal) and isinstance(part.value, str):
        return meaning(part.value)
    if isinstance(part, Literal) and is_score and part.value in (0, 1):
        return 1 if part.value else -1
    return meaning(part.name) if isinstance(part, Name) and part.name.isupper() else 0
