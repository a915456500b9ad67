import re
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct, structs

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, numeric, scalar, text
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import BANNED, DENIALS, Claims, claims_of
from rulewright.documents.prose_limits import (
    NUMBER,
    Limit,
    limits_in,
    may_measure,
    number_of,
    numbers_in,
    unit_of,
    units_agree,
)
from rulewright.expression.direction import comparisons, denies
from rulewright.expression.subjects import (
    STEM,
    counted,
    form,
    found_by_search,
    is_membership,
    is_ordered,
    named_in,
    names_values,
    one_side_lacks,
    parameters,
    searches,
    stems,
    stems_in,
    stems_of_counted,
    stems_of_parameters,
)
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Expr,
    ListLiteral,
    Literal,
    Macro,
    Name,
    Unary,
    below,
    chain,
    field_of,
    last_name,
    number_in,
)
from rulewright.load import Mapping, Scalar, scalars_below, walk
from rulewright.lower.compared_numbers import ComparedNumber, compared_numbers, deciding_conditions
from rulewright.lower.expressions_of import expressions_of
from rulewright.rules.correctness.bad_schema import schemas_of

OF_BOTH: Final = frozenset({"messages", "transcript", "turns"})  # what hold what the user says, too
SEARCHES: Final = frozenset({"contains", "contains_all", "contains_any", "has_any_word", "matches"})
SENTENCE: Final = re.compile(r"[^.;:]+")
COUNTED: Final = re.compile(rf"\b({NUMBER}) [^\W\d_]+", re.IGNORECASE)
ARITHMETIC: Final = frozenset({"+", "-", "*", "/"})
SECONDS: Final = unit_of("seconds")
POSITIVE: Final = re.compile(r"\bpositive (\w+)", re.IGNORECASE)
# `to nobody but the owner`, `not to anyone except staff`; what `everybody but the owner` may, the owner may not.
EXCEPTED: Final = re.compile(
    r"\b(?:no(?:body| ?one|thing|where)|none|(?:never|no|not)\b[^.;:]* any(?:body| ?one|thing|where)) "
    r"(?:but|except) (?:for )?(?:(?:an?|the) )?(\w+)"
)
# What is between two orders, or in a sentence that says which order is wrong.
DISORDERLY: Final = re.compile(r" (?:before|after) |\b(?:cannot|fail\w*|forbidden|late|never|no|not|wrong)\b")
FAILS_OUTSIDE: Final = {"<=": ">", ">=": "<", "<": ">=", ">": "<="}  # what `fail` tests to keep a limit


class Condition(Struct, frozen=True):
    """`fail` (with the sign -1) or `pass` of a check, and the check's parameters that it reads."""

    expr: Expr
    sign: int
    check: CheckDocument

    @property
    def sides(self) -> list[Expr]:
        return chain(self.expr, "&&")

    @property
    def key(self) -> str:
        return "fail" if self.sign < 0 else "pass"

    def number(self, part: Expr) -> float | None:
        """The number that is written, or that a parameter has."""
        name = field_of(part, "params")
        found = None if name is None else numeric(self.check.node, "params", name)
        return number_in(part) if found is None else found.as_float

    @property
    def is_presence(self) -> bool:
        """Whether all sides test for the presence of something."""
        return not denies(self.expr) and all(map(searches, self.sides))

    @property
    def stems(self) -> set[str]:
        """The first letters of what the condition is about."""
        values = (self.check.get("params", name) for name in parameters(self.expr))
        own = stems(self.expr) | stems_of_counted(self.expr)
        return own.union(*(stems_in(each.text) for each in scalars_below(*values)))


class Contradiction(Struct, frozen=True):
    """What contradicts the words or a name of a check, and the part of the condition that does."""

    message: str
    part: Expr
    named_by: str | None = None  # the key of the name that says it
    parameter: str | None = None  # whose name says it


def words_contradict_condition(check: CheckDocument) -> Findings:
    """The id or the text of a check contradicts its condition: another number, direction, or `and` for `or`.

    Why it matters: one of the two is wrong, and a reader of the report believes the words. `at most three` is not
    `>= 2`, and a check named after something missing must test for its absence.
    Instead: correct the condition, the number or the words.
    """
    claims = claims_of(check)
    numbers = list(compared_numbers(check))
    limits = list(_of_limits(claims, numbers))
    failing = scalar(check.node, "fail_rule")
    if failing is not None and not limits:  # it says what fails
        turned = [structs.replace(each, sign=-each.sign) for each in numbers]
        limits = list(_of_limits(Claims(check.id, failing.text, (failing,), failing.text), turned))
    limits = limits or list(_of_named_numbers(claims, check, numbers))
    yield from limits
    yield from _not_positive(check, claims)
    for written, sign in deciding_conditions(check) if not limits else ():
        condition = Condition(written.checked.expr, sign, check)
        found = next((found for test in TESTS if (found := test(claims, condition)) is not None), None)
        if found is not None:
            place = check.place(found.named_by or "id") if found.named_by or claims.place is None else claims.place
            if found.parameter is not None:
                place = check.key_place("params", found.parameter)
            yield warning(written.span(found.part), found.message, notes=[(place, "said here")])


def _of_limits(claims: Claims, numbers: list[ComparedNumber]) -> Findings:
    """A limit in the words that no number has, where one number is named by no words; a limit met the other way."""
    idle = _unnamed(claims.words, numbers)
    for limit in limits_in(claims.words):
        stated = claims.place_of(limit.text)
        notes = [] if stated is None else [(stated, "said here")]
        same = [each for each in numbers if units_agree(limit.number, limit.unit, each.value, each.unit)]
        other = [each for each in idle if may_measure(limit.unit, each.unit)]
        counted = next((each for each in numbers if each.value == limit.number and each.unit), None)
        kind = unit_of(limit.unit).split()[:1]
        if (
            not same
            and counted is not None
            and counted.comparison is not None
            and kind not in ([], counted.unit.split()[:1])
        ):
            message = f"the description says `{limit.text}`, but this counts {counted.unit.split()[0]}"
            yield warning(counted.comparison, message, notes=notes)
        elif not same and len(other) == 1 and limit.number not in (0, 1):
            yield warning(
                other[0].place,
                f"the description says `{limit.text}`, but this number is {other[0].value:g}",
                notes=notes,
            )
        elif len(same) == 1 and same[0].sign and limit.operator and not _keeps(claims, limit, same[0]):
            place = same[0].comparison or same[0].place
            yield warning(place, f"the description says `{limit.text}`, but this comparison does not", notes=notes)


def _of_named_numbers(claims: Claims, check: CheckDocument, numbers: list[ComparedNumber]) -> Findings:
    """A number that the words give otherwise, in any language: of a parameter that they name after a number, as in `80
    palabras`, or of seconds, a thousand times the stated one."""
    idle = {each.place: each for each in _unnamed(claims.words, numbers)}
    stated = [(number_of(found[1]), found[0]) for found in COUNTED.finditer(claims.words)]
    settings = [(entry.name, entry.value) for entry in entries(check.node, "params") if isinstance(entry.value, Scalar)]
    calculated = {*_calculated(check)}
    named = [(name, value) for name, value in settings if name not in calculated]
    pairs = [(number, words, idle.get(value.span)) for name, value in named for number, words in _after(name, stated)]
    pairs += [(n, words, each) for each in idle.values() for n, words in stated if _in_thousands(each, n)]
    for _, wording, number in pairs:
        place = claims.place_of(wording)
        if number is not None and place is not None:
            message = f"the description says `{wording}`, but this number is {number.value:g}"
            yield warning(number.place, message, notes=[(place, "said here")])
            return


def _calculated(check: CheckDocument) -> Iterator[str | None]:
    """The parameters that a condition calculates with, so that its limit is another number: `params.retries + 1`."""
    for written in expressions_of(check):
        for part in written.parts:
            if isinstance(part, Binary) and part.operator in ARITHMETIC:
                yield from (field_of(side, "params") for side in (part.left, part.right))


def _after(name: str, stated: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """The numbers that are followed by the name of a parameter, if there is only one; `no one calls` and `one link is
    fine` have none."""
    named = [each for each in stated if each[1].split()[-1].lower() == name.lower()]
    found = [each for each in named if not each[1].lower().startswith("one ")]
    return found if len(found) == 1 and len(name) > 2 else []


def _in_thousands(number: ComparedNumber, stated: float) -> bool:
    return number.unit == SECONDS and number.value == 1000 * stated


def _not_positive(check: CheckDocument, claims: Claims) -> Findings:
    """The numbers that the words call positive, and of which a schema allows others: `a positive amount`."""
    named = {each.lower() for each in POSITIVE.findall(claims.words)}
    for _, schema in schemas_of(check) if named and claims.place is not None else ():
        for node in (each for each in walk(schema) if isinstance(each, Mapping)):
            for entry in (each for each in entries(node, "properties") if each.name.lower() in named):
                least, above = numeric(entry.value, "minimum"), numeric(entry.value, "exclusiveMinimum")
                is_above = (least is not None and least.as_float > 0) or (above is not None and above.as_float >= 0)
                if text(entry.value, "type") in ("integer", "number") and not is_above and claims.place is not None:
                    message = f"the description says `positive {entry.name}`, but this schema allows others"
                    yield warning(least or above or entry.value, message, notes=[(claims.place, "said here")])


def _unnamed(words: str, numbers: list[ComparedNumber]) -> list[ComparedNumber]:
    """The numbers that no words name, also as the product of two: `two parts of 40 words`."""
    stated = [each for each in numbers_in(words) if each != (1, "of")]  # `one of the next two answers`
    idle = [each for each in numbers if not any(units_agree(*one, each.value, each.unit) for one in stated)]
    products = {one * other for one, _ in stated for other, _ in stated}
    return [each for each in idle if (each.value not in (0, 1) or each.is_setting) and each.value not in products]


def _keeps(claims: Claims, limit: Limit, number: ComparedNumber) -> bool:
    """Whether a comparison keeps a limit: in a `fail` it must be the opposite, unless the words say what fails."""
    wanted = limit.operator if number.sign > 0 else FAILS_OUTSIDE[limit.operator]
    return claims.may_fail(limit) or number.operator == wanted


def _missing_by_id(claims: Claims, condition: Condition) -> Contradiction | None:
    """A check named after something missing fails where it is there: `size(citations(answer)) > 0`."""
    named = [each for each in condition.sides if claims.missing and claims.missing in named_in(each)]
    is_measured = any(isinstance(each, Binary) and isinstance(each.right, Literal) for each in named)
    if condition.sign > 0 or not is_measured or any(map(denies, named)):
        return None
    message = f"`{claims.id}` says that something is missing, but `fail` does not test for its absence"
    return Contradiction(message, condition.expr, named_by="id")


def _lacking_by_id(claims: Claims, condition: Condition) -> Contradiction | None:
    """A check named after a lack does not fail for an absence, or passes for one."""
    if claims.denies or not (claims.missing or _lacks_by_id(claims, condition)):
        return None
    *there, lacking = condition.sides
    if there and claims.wants_lack(set[str]().union(*map(stems, there))):
        return None
    if condition.sign < 0 and not denies(condition.expr) and condition.check.get("use") is None:
        message = f"`{claims.id}` says that something is missing, but `fail` does not test for an absence"
        return Contradiction(message, lacking, named_by="id")
    if condition.sign > 0 and claims.words and there and denies(lacking) and not any(map(denies, there)):
        message = f"`{claims.id}` says that something is missing, but `pass` tests for its absence"
        return Contradiction(message, condition.expr, named_by="id")
    return None


def _lacks_by_id(claims: Claims, condition: Condition) -> bool:
    """Whether the id says that something is not done, which neither a text does, as in `contains(answer, "not found")`,
    nor the value of something else."""
    texts = [str(each.value) for each in below(condition.expr) if isinstance(each, Literal)]
    named = [each for each in condition.sides[1:] if not stems_of_parameters(each) & claims.lacking]
    is_said = any(map(DENIALS.search, texts)) or any(map(names_values, named))
    return claims.lacks and len(condition.sides) > 1 and not is_said


def _forbidden(claims: Claims, condition: Condition) -> Contradiction | None:
    """What the words forbid passes, or a part of `fail` tests for its absence."""
    if not claims.forbids:
        return None
    is_search = claims.is_of_banned and any(map(searches, condition.sides)) and not denies(condition.expr)
    if condition.sign > 0 and (condition.is_presence or is_search) and claims.names(condition.stems):
        message = "the description forbids something, but `pass` does not test for its absence"
        return Contradiction(message, condition.expr)
    if condition.sign < 0 and one_side_lacks(condition.expr):
        message = "the description forbids something, but a part of `fail` tests for its absence"
        return Contradiction(message, condition.expr)
    return None


def _passes_forbidden(claims: Claims, condition: Condition) -> Contradiction | None:
    """What a parameter calls forbidden is required of the assistant: `fail: not answer.matches(params.forbidden)`. What
    the user says may be: a refusal is wrong where the question has no forbidden topic."""
    for side in condition.sides:
        is_denied = isinstance(side, Unary)
        banned = next((each for each in sorted(parameters(side)) if BANNED.search(each)), None)
        searched = side.operand if isinstance(side, Unary) else side
        if banned is None or not isinstance(searched, Call) or searched.function not in SEARCHES:
            continue
        if any(isinstance(each, Name) and each.name in OF_BOTH for each in below(searched)):
            continue
        if is_denied == (condition.sign < 0):
            message = f"`{condition.key}` holds where `params.{banned}` {'does not' if is_denied else 'does'} match"
            return Contradiction(message, side, parameter=banned)
    return None


def _equals_limit(claims: Claims, condition: Condition) -> Contradiction | None:
    """A limit of the words is the only number for which the condition holds: `at most eight`, but `== 8`."""
    match condition.expr:
        case Binary(operator="==", right=limit):
            value = condition.number(limit)
            named = next((each for each in limits_in(claims.words) if each.number == value and each.operator), None)
            if named is not None and value:
                return Contradiction(
                    f"the description says `{named.text}`, but this comparison does not", condition.expr
                )
    return None


def _of_every(claims: Claims, condition: Condition) -> Contradiction | None:
    """The quantifier over what the words call `every` is the wrong one, or fails the members in order."""
    if (every := claims.every) is None:
        return None
    named = {each[:3].lower() for each in every.groups() if each and len(each) > 3}
    wrong = "all" if condition.sign < 0 else "exists"
    for side in (each for some in chain(condition.expr, "||") for each in chain(some, "&&")):
        if isinstance(side, Macro) and any(stem in named_in(side.target) + last_name(side.target) for stem in named):
            fails = chain(side.bodies[-1], "&&") if condition.sign < 0 and side.kind == "exists" else []
            if side.kind == wrong or (claims.is_among and any(map(is_membership, fails))):
                message = f"the description says `{every[0].split()[0]}`, but `{condition.key}` tests something else"
                return Contradiction(message, condition.expr)
    return None


def _of_no_others(claims: Claims, condition: Condition) -> Contradiction | None:
    """One item is enough to pass, although the words allow no others: `pass: urls(answer).exists(...)`."""
    match condition.expr:
        case Macro(kind="exists") if condition.sign > 0 and claims.allows_no_others:
            return Contradiction("the description allows no others, but one is enough for `pass`", condition.expr)
        case Macro(kind="all") if condition.sign < 0 and claims.allows_no_others:
            return Contradiction("the description allows no others, but `fail` holds only for all", condition.expr)
    return None


def _seeks_none_of_forbidden(claims: Claims, condition: Condition) -> Contradiction | None:
    """`fail` tests that there is none of the phrases that the only negation of the words names."""
    calls = [each for each in condition.sides if isinstance(each, Call) and each.function == "contains_none"]
    if condition.sign > 0 or not any(stems(each) & stems_in(claims.forbidden) for each in calls):
        return None
    message = "the description forbids something, but a part of `fail` tests for its absence"
    return Contradiction(message, condition.expr)


def _limits_joined(claims: Claims, condition: Condition) -> Contradiction | None:
    """`fail` holds only where several limits that the words join by `and` are broken together."""
    limits = {
        (each.number, each.unit, FAILS_OUTSIDE[each.operator]) for each in limits_in(claims.words) if each.operator
    }
    kept = [{limit for limit in limits if _is_of(limit, side, condition)} for side in condition.sides]
    if condition.sign > 0 or claims.joins != {"and"} or not len(limits) == len(kept) > 1 or not all(kept):
        return None
    if len(set[tuple[float, str, str]]().union(*kept)) < len(kept):
        return None
    message = "the description sets each of these limits, but `fail` holds only where all are broken"
    return Contradiction(message, condition.expr)


def _is_of(limit: tuple[float, str, str], side: Expr, condition: Condition) -> bool:
    """Whether a comparison is with the number of a limit, and breaks it."""
    stated, unit, operator = limit
    if not isinstance(side, Binary) or side.operator != operator or (number := condition.number(side.right)) is None:
        return False
    return units_agree(stated, unit, number, unit_of(counted(side.left)))


def _only_under(claims: Claims, condition: Condition) -> Contradiction | None:
    """`fail` tests for all that it names, although the words allow the first under a condition."""
    if condition.sign > 0 or not claims.permits_only or len(condition.sides) < 2 or not condition.is_presence:
        return None
    message = "the description allows something only under a condition, but `fail` does not test for its absence"
    return Contradiction(message, condition.sides[-1])


def _without_order(claims: Claims, condition: Condition) -> Contradiction | None:
    """`fail` searches for two things at least that the words order, and tests for neither an absence nor an order."""
    found = found_by_search(condition.expr)
    if (
        condition.sign > 0
        or not claims.orders
        or len(found) < 2
        or denies(condition.expr)
        or is_ordered(condition.expr)
    ):
        return None
    texts = {each.value: each for each in below(condition.expr) if isinstance(each, Literal) if type(each.value) is str}
    if sum(any(stem in claims.words.lower() for stem in stems(each)) for each in texts.values()) < 2:
        return None
    message = "the description says what comes before what, but `fail` tests for neither an absence nor an order"
    return Contradiction(message, found[-1])


def _fails_in_order(claims: Claims, condition: Condition) -> Contradiction | None:
    """`fail` tests that tools are called in an order that the words demand."""
    sides = chain(condition.expr, "||")
    called = [each for each in sides if isinstance(each, Call) and each.function == "called_in_order"]
    if condition.sign > 0 or not claims.orders or len(called) != 1:
        return None
    return Contradiction("the description says what comes before what, and `fail` tests for this order", called[0])


def _order_turned(claims: Claims, condition: Condition) -> Contradiction | None:
    """`pass` demands two tools in the other order than a sentence: `the file is read before a letter is drafted`."""
    sides = (each for some in chain(condition.expr, "||") for each in chain(some, "&&"))
    orders = [each.args[1] for each in sides if isinstance(each, Call) and each.function == "called_in_order"]
    halves = next((found for each in SENTENCE.findall(claims.words.lower()) if (found := _in_order(each))), ())
    for listed in orders if condition.sign > 0 and halves else ():
        names = listed.items if isinstance(listed, ListLiteral) else ()
        counts = [[_words_of_a_tool(each, half) for half in halves] for each in names]
        if len(counts) == 2 and counts[0][0] < counts[0][1] and counts[1][0] > counts[1][1]:
            return Contradiction("the description has these in the other order", listed)
    return None


def _words_of_a_tool(name: Expr, half: str) -> int:
    """How many words of a tool's name a part of a sentence has, in any form."""
    words = re.findall("[a-z]{3,}", str(name.value).lower()) if isinstance(name, Literal) else ()
    return sum(re.search(rf"\b{word[:STEM]}", half) is not None for word in words)


def _in_order(sentence: str) -> tuple[str, ...]:
    """What a sentence says comes first, and what then; empty for one that says no order of two things."""
    first, found, then = sentence.partition(" before ")
    if not found:
        then, found, first = sentence.partition(" after ")
    return (first, then) if found and not DISORDERLY.search(f"{first} {then}") else ()


def _excepted(claims: Claims, condition: Condition) -> Contradiction | None:
    """The condition tests for what the words except: `nobody but the owner`, and `fail: recipient == "owner"`."""
    is_simple = condition.sign < 0 and not denies(condition.expr) and not is_ordered(condition.expr)
    for word in EXCEPTED.findall(claims.words.lower()) if is_simple else ():
        for part in below(condition.expr):
            if isinstance(part, Binary) and part.operator == "==" and str(getattr(part.right, "value", "")) == word:
                return Contradiction(f"the description excepts `{word}`, but `fail` holds for it", part)
    return None


def _opposite_extreme(claims: Claims, condition: Condition) -> Contradiction | None:
    """All comparisons of a check named `too-long` point to what is short."""
    for operator, name in claims.extremes:
        ways = {(each.operator[0] == operator, turned) for turned, each in comparisons(condition.expr, condition.sign)}
        if (False, -1) in ways and ways <= {(False, -1), (True, 1)}:
            message = f"`{name}` says the opposite of this comparison"
            return Contradiction(message, condition.expr, named_by="id" if name == claims.id else "name")
    return None


def _exception_joined(claims: Claims, condition: Condition) -> Contradiction | None:
    """An exception of the words is joined like one more case."""
    if (join := _join(claims, condition)) is None or "unless" not in claims.joins:
        return None
    is_denied = any(map(denies, chain(condition.expr, join)))
    if not is_denied or (join == "||") != (condition.sign < 0):
        return None
    message = f"the description says `unless`, but the condition joins the exception with `{_word(join)}`"
    return Contradiction(message, condition.expr)


def _joined(claims: Claims, condition: Condition) -> Contradiction | None:
    """A contradiction between `and` and `or` of the words and of a condition with two parts of one form."""
    if (join := _join(claims, condition)) is None:
        return None
    sides = chain(condition.expr, join)
    lacking = {denies(each) for each in sides}
    of_one = claims.joins <= {"or", "either"}
    if len(sides) != 2 or len(lacking) > 1 or form(sides[0]) != form(sides[1]):
        return None
    if not of_one and not claims.joins <= {"and", "both"}:
        return None
    turned = condition.sign < 0 and lacking == {True}
    # `A recipe keeps to grams or ounces` fails where both occur; `nobody is asked for a password or a PIN` does not.
    if condition.sign < 0 and not turned and not (of_one and claims.denies):
        return None
    meant = "||" if of_one != turned else "&&"
    if join == meant or claims.stand_together([structs.replace(condition, expr=each).stems for each in sides]):
        return None
    joined_by = "or" if of_one else "and"
    message = f"the description says `{joined_by}`, so `{_word(meant)}` belongs here instead of `{_word(join)}`"
    return Contradiction(message, condition.expr)


def _join(claims: Claims, condition: Condition) -> str | None:
    """The operator that joins a condition, unless the words join nothing or name limits, which `fail` turns around."""
    join = condition.expr.operator if isinstance(condition.expr, Binary) else ""
    is_limited = condition.sign < 0 and any(limits_in(claims.words))
    return join if join in ("&&", "||") and claims.joins and not is_limited else None


def _word(operator: str) -> str:
    return "or" if operator == "||" else "and"


TESTS: Final[tuple[Callable[[Claims, Condition], Contradiction | None], ...]] = (
    _missing_by_id,
    _lacking_by_id,
    _forbidden,
    _passes_forbidden,
    _equals_limit,
    _of_every,
    _of_no_others,
    _seeks_none_of_forbidden,
    _only_under,
    _without_order,
    _fails_in_order,
    _order_turned,
    _excepted,
    _opposite_extreme,
    _exception_joined,
    _limits_joined,
    _joined,
)
