from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, structs

from rulewright.diagnostics import Findings, Located, Span, warning
from rulewright.documents.base import entries, numeric, optional_text, scalar
from rulewright.documents.check import CheckDocument
from rulewright.documents.prose_limits import Limit, limits_in, may_measure, numbers_in, unit_of, units_agree
from rulewright.expression.direction import OPPOSITE, ORDERED, comparisons, denies, unwrapped
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Expr,
    Has,
    Index,
    Literal,
    Macro,
    Name,
    below,
    chain,
    children,
    field_of,
    last_name,
    number_in,
)
from rulewright.load import Scalar, walk
from rulewright.lower.expressions_of import WrittenExpression, expressions_of
from rulewright.rules.suspicious.units_differ import COUNTS, counts_characters

WORDS: Final = ("note", "description", "pass_rule")  # say what is wanted
ROUTED: Final = ("within_replies", "recalled_share", "likeness")
MISSING: Final = re.compile(r"-(?:missing|missed|omitted|absent)$")
# `not-verified`, `not-read`, `without-`, `unconfirmed`
PARTICIPLES: Final = (
    r"asked|done|found|given|kept|known|made|met|named|paid|read|run|said|sent|shown|taken|told|written"
)
LACK: Final = re.compile(rf"(?:^|-)(?:not-(?:\w+ed|{PARTICIPLES})$|without-|un\w+ed(?=-|$))")
LACKING: Final = re.compile(r"(?:-not-|-un|^un)(\w+)$")  # what a name says is not done
WANTED: Final = re.compile(r"(?:^|-)un(?:al|bias|block|chang|harm|modif|prompt|touch)")  # `unchanged`
EXTREME: Final = {
    "too-(?:long|many|much|large|big|slow|late|dear|expensive|high|often)": ">",
    "too-(?:short|few|little|small|early|low|fast|seldom)": "<",
}
# A sentence of one clause.
FORBIDS: Final = re.compile(
    r"^(?:(?:Nobody|No|Nothing|Never|None)\b|[^,;:.\u2013\u2014]*\b(?:neither|never|(?:do|does|may|must) not)\b"
    r"(?! (?:delay|fail|forget|hide|ignore|leave|lose|miss|omit|refuse|skip|withhold)))"
    r"(?!.*\band\b)[^,;:.\u2013\u2014]*\.?$"
)
# `Every passage that is cited was given`
EVERY: Final = re.compile(
    r"^(?:All|Each|Every)(?: one)?(?: of (?:the|these|those))? (\w+)(?: (?:that|which) (?:are|is|was|were) (\w+))?"
)
AMONG: Final = re.compile(r"\b(?:among|from|given|in|known|listed)\b")
# A second negation or condition in a sentence may be what the condition tests.
DENIALS: Final = re.compile(
    r"\b(?:but|cannot|except|lacks?|missing|neither|never|no|nobody|none|not|nothing|unless|until|without)\b|n't | - ",
    re.IGNORECASE,
)
ONLY: Final = re.compile(r"\b(?:only (?:after|if|when|once)|not until)\b")
BEFORE: Final = re.compile(r"^[^,;:.]* before [^,;:.]*\.?$")  # a sentence of one clause that says what comes first
# In a sentence with one of these, a limit may be what fails: `replies under 20 characters are too short`.
JUDGES: Final = re.compile(
    r"\b(?:bad|fail\w*|flag\w*|if|means?|missing|neither|never|no|nobody|none|not|nothing|only|reject\w*|suspicious|too|unless|when|without|wrong)\b",
    re.IGNORECASE,
)
# What follows a limit that is the subject of a sentence: `replies under 40 words count as stubs`.
SUBJECT: Final = re.compile(r"(?! (?:and|but|for|in|or|per)\b) \w")
VERB: Final = re.compile(
    r"\b(?:are|be|contains?|costs?|has|have|is|keeps?|lasts?|needs?|remains?|stays?|takes?|uses?|waits?) $"
)
NO_ORDER: Final = "the note says what comes before what, but `fail` tests for neither an absence nor an order"
ONLY_UNDER: Final = "the note allows something only under a condition, but `fail` does not test for its absence"
NO_ABSENCE: Final = "says that something is missing, but `fail` does not test for an absence"
LISTS: Final = frozenset({"messages", "replies", "tool_calls", "turns"})
JOINS: Final = re.compile(r"\b(and|or|both|either|unless)\b")


class ComparedNumber(Struct, frozen=True):
    """A number of a check: its place, its unit, and the comparison it limits, turned so that it is on the right."""

    value: float
    place: Span
    unit: str
    sign: int = 0
    operator: str = ""
    comparison: Span | None = None
    is_setting: bool = True  # not a number in a condition, where 0 and 1 often only ask whether there is something


def words_contradict_condition(check: CheckDocument) -> Findings:
    """The id or the text of a check contradicts its condition: another number, direction, or `and` for `or`.

    Why it matters: one of the two is wrong, and a reader of the report believes the words. `at most three` is not
    `>= 2`, and a check named after something missing must test for its absence.
    Instead: correct the condition, the number or the words.
    """
    words = " ".join(filter(None, (optional_text(check.node, key) for key in WORDS)))
    note = next((found for key in WORDS if (found := scalar(check.node, key)) is not None), None)
    roots = list(_roots(check))
    numbers = [*_numbers(check, roots), *_settings(check)]
    limits = list(_of_limits(words, note, numbers, optional_text(check.node, "pass_rule") or ""))
    failing = scalar(check.node, "fail_rule")
    if failing is not None and not limits:  # it says what fails
        turned = [structs.replace(each, sign=-each.sign) for each in numbers]
        limits = list(_of_limits(str(failing.value), failing, turned, str(failing.value)))
    yield from limits
    for written, sign in roots if not limits else ():
        message = _against(check, words, written.checked.expr, sign)
        if message is not None:
            place = note if note is not None and "note" in message else check.place("id")
            yield warning(written.span(_at(written.checked.expr, message)), message, notes=[(place, "said here")])


def _at(part: Expr, message: str) -> Expr:
    """The last part of a condition that does not test for what is missing, the inner search, else the whole."""
    if message == NO_ORDER:
        return _found_by_search(part)[-1]
    return chain(part, "&&")[-1] if message == ONLY_UNDER or message.endswith(NO_ABSENCE) else part


def _roots(check: CheckDocument) -> Iterator[tuple[WrittenExpression, int]]:
    """The conditions `fail` and `pass`, the first with the sign -1."""
    for written in expressions_of(check):
        for condition, sign in ((check.fails, -1), (check.passes, 1)):
            if written.scalar is condition and check.verdict_conditions:
                yield written, sign


def _of_limits(words: str, note: Scalar | None, numbers: list[ComparedNumber], rule: str) -> Findings:
    """A limit in the words that no number has, where one number is named by no words; a limit met the other way. A
    `rule` says what `pass` tests, or what `fail` does, never what the other one does."""
    stated = numbers_in(words)
    idle = [each for each in numbers if not any(units_agree(*one, each.value, each.unit) for one in stated)]
    products = {one * other for one, _ in stated for other, _ in stated}  # `two parts of 40 words`
    idle = [each for each in idle if (each.value not in (0, 1) or each.is_setting) and each.value not in products]
    for limit in limits_in(words):
        same = [each for each in numbers if units_agree(limit.number, limit.unit, each.value, each.unit)]
        other = [each for each in idle if may_measure(limit.unit, each.unit)]
        notes: list[tuple[Span | Located, str]] = [] if note is None else [(note, "said here")]
        counted = next((each for each in numbers if each.value == limit.number and each.unit), None)
        if not same and counted is not None and counted.comparison is not None and unit_of(limit.unit):
            message = f"the words say `{limit.text}`, but this counts {counted.unit.split()[0]}"
            yield warning(counted.comparison, message, notes=notes)
        elif not same and len(other) == 1 and limit.number not in (0, 1):
            yield warning(other[0].place, f"the words say `{limit.text}`, but this is {other[0].value:g}", notes=notes)
        elif len(same) == 1 and same[0].sign and limit.operator and not _keeps(limit, same[0], words, rule):
            place = same[0].comparison or same[0].place
            yield warning(place, f"the words say `{limit.text}`, but this comparison does not", notes=notes)


def _keeps(limit: Limit, number: ComparedNumber, words: str, rule: str) -> bool:
    """Whether a comparison keeps a limit: in a `fail` it must be the opposite, unless its sentence, which is no `rule`,
    says what fails."""
    sentence = next((each for each in re.split(r"[.;:]\s", words) if limit.text in each), "")
    before, _, rest = sentence.partition(limit.text)
    if JUDGES.search(sentence.replace(limit.text, "")):
        return True
    is_subject = SUBJECT.match(rest) or not VERB.search(before)
    if limit.operator in "<>" and is_subject and limit.text not in rule:  # may be what fails
        return True
    wanted = limit.operator if number.sign > 0 else {"<=": ">", ">=": "<", "<": ">=", ">": "<="}[limit.operator]
    return number.operator == wanted


def _numbers(check: CheckDocument, roots: list[tuple[WrittenExpression, int]]) -> Iterator[ComparedNumber]:
    """The numbers that conditions compare with, and the parameters."""
    compared: set[str] = set()
    for written, sign in roots:
        decisive = [each for side in _decisive(written.checked.expr, sign) for _, each in comparisons(side, sign)]
        for turned, part in comparisons(written.checked.expr, sign):
            for side, limit, operator in (
                (part.left, part.right, part.operator),
                (part.right, part.left, OPPOSITE[part.operator]),
            ):
                value, unit = _value(check, limit), unit_of(_last(limit)) or unit_of(_last(side))
                compared |= {_last(limit)}
                if value is not None and not _counts_pieces(side):
                    place = value.span if isinstance(value, Scalar) else written.span(limit)
                    turned = turned if part in decisive else 0
                    is_setting, at = isinstance(value, Scalar), written.span(part)
                    yield ComparedNumber(float(str(value.value)), place, unit, turned, operator, at, is_setting)
    for name, value in _parameters(check):
        if name not in compared:
            yield ComparedNumber(float(str(value.value)), value.span, unit_of(name))


def _decisive(part: Expr, sign: int) -> Iterator[Expr]:
    """The parts that decide a condition, without those that say when it applies: `size(replies) < 3 or ...`."""
    outer, inner = ("||", "&&") if sign < 0 else ("&&", "||")
    for side in chain(part, outer):
        own = [each for each in chain(side, inner) if not isinstance(each, Has) and not _names_values([each])]
        yield from own if len(own) == 1 else ()


def _counts_pieces(side: Expr) -> bool:
    """Whether a side is the number of pieces of a text, one more than what the words count."""
    pieces = (
        (side.target or next(iter(side.args), None)) if isinstance(side, Call) and side.function == "size" else None
    )
    return isinstance(pieces, Call) and pieces.function == "split"


def _settings(check: CheckDocument) -> Iterator[ComparedNumber]:
    for key in ROUTED:
        if (found := numeric(check.node, "routing", key)) is not None:
            yield ComparedNumber(float(str(found.value)), found.span, "")


def _parameters(check: CheckDocument) -> Iterator[tuple[str, Scalar]]:
    for key in ("params", "parameters"):
        for entry in entries(check.node, key):
            found = numeric(entry.value, *(() if key == "params" else ("default",)))
            if found is not None:
                yield entry.name, found


def _value(check: CheckDocument, part: Expr) -> Literal | Scalar | None:
    """The number that one side of a comparison is, also converted."""
    part = unwrapped(part)
    if isinstance(part, Literal):
        return None if number_in(part) is None else part
    return dict(_parameters(check)).get(field_of(part, "params") or "")


def _last(part: Expr) -> str:
    """The last name of an expression, also of what is converted: `int(call.arguments.in_days)`."""
    while isinstance(part, Call) and (part.target is not None or part.args):
        if part.function == "call_count" or _counts_items(part):
            return "items"
        if part.function in COUNTS or counts_characters(part):
            return COUNTS.get(part.function, "characters")
        part = part.args[0] if part.args else part.target or part
    return last_name(part)


def _counts_items(part: Call) -> bool:
    """Whether a part is the size of a list, as far as its form says so."""
    sized = [each for each in (part.target, *part.args) if each is not None] if part.function == "size" else []
    return any(isinstance(each, Macro) or (isinstance(each, Name) and each.name in LISTS) for each in sized)


def _against(check: CheckDocument, words: str, part: Expr, sign: int) -> str | None:
    """What contradicts the id or the words, if they and the condition have a plain form."""
    sides = chain(part, "&&")
    searches = list(map(_searches, sides))
    is_presence = not denies(part) and all(searches)
    is_lack = MISSING.search(check.id) or (_says_what_is_lacking(check.id, sides) and not _seeks_a_denial(part))
    if sign < 0 and _names_without_lack(check.id, part):
        return f"`{check.id}` says that something is missing, but `fail` does not test for its absence"
    if sign < 0 and is_lack and not DENIALS.search(words) and not denies(part) and check.get("use") is None:
        return f"`{check.id}` {NO_ABSENCE}"
    if sign > 0 and is_lack and words and not DENIALS.search(words) and _passes_lack(check.id, sides):
        return f"`{check.id}` says that something is missing, but `pass` tests for its absence"
    is_banned = re.search("banned|forbidden|prohibited", check.id) is not None
    stems = _stems(part) | _stems_of_parameters(check, part) | _stems_of_counted(part)
    is_named = any(stem in (f"{check.id} {words}" if is_banned else words).lower() for stem in stems)
    if FORBIDS.search(words) and len(DENIALS.findall(words)) == 1:
        is_search = is_presence or (is_banned and any(searches) and not denies(part))
        if sign > 0 and is_search and is_named:
            return "the note forbids something, but `pass` does not test for its absence"
        if sign < 0 and _one_side_lacks(part):
            return "the note forbids something, but a part of `fail` tests for its absence"
    if (every := EVERY.match(words)) is not None and _against_every(every, words, part, sign):
        return f"the note says `{every[0].split()[0]}`, but `{'fail' if sign < 0 else 'pass'}` tests something else"
    if sign < 0 and _lacks_what_is_forbidden(words, sides):
        return "the note forbids something, but a part of `fail` tests for its absence"
    if sign < 0 and ONLY.search(words) and len(sides) > 1 and is_presence:
        return ONLY_UNDER
    if sign < 0 and BEFORE.search(words) and not DENIALS.search(words) and _is_without_order(part, words):
        return NO_ORDER
    for named, operator in EXTREME.items():
        found = {turned * -1 for turned, each in comparisons(part, sign) if each.operator[0] != operator}
        if re.search(named, check.id) and found == {1} and not _points(part, sign, operator):
            return f"`{check.id}` says the opposite of this comparison"
    return _joined(words, part, sign)


def _searches(part: Expr) -> bool:
    """Whether a condition tests for the presence of something: a call, `exists`, `size(...) > 0`, or one of several."""
    if isinstance(part, Binary) and part.operator == "||":
        return all(map(_searches, chain(part, "||")))
    if isinstance(part, Binary):
        is_size = isinstance(part.left, Call) and part.left.function == "size"
        return is_size and part.operator in (">", "!=") and number_in(part.right) == 0
    return isinstance(part, Call) or (isinstance(part, Macro) and part.kind == "exists")


def _says_what_is_lacking(name: str, sides: list[Expr]) -> bool:
    """Whether a name says that something is not done, which a later side does not test by the name of a value."""
    lacking = LACKING.search(name)
    stems = {lacking[1][:4]} if lacking is not None else set[str]()
    named = [each for each in sides[1:] if not _stems_of_names(each) & stems]
    return LACK.search(name) is not None and len(sides) > 1 and not _names_values(named)


def _seeks_a_denial(part: Expr) -> bool:
    """Whether a text that is searched for says itself that something is not so: `contains(answer, "not found")`."""
    return any(isinstance(each, Literal) and DENIALS.search(str(each.value)) is not None for each in below(part))


def _stems_of_names(part: Expr) -> set[str]:
    """The first letters of the parameters that an expression reads."""
    own = {each[:4] for each in (field_of(part, "params") or "").split("_")} - {""}
    return own.union(*map(_stems_of_names, children(part)))


def _found_by_search(part: Expr) -> list[Expr]:
    """The searches in an expression, outer ones first."""
    return [
        each
        for each in below(part)
        if isinstance(each, Macro) or (isinstance(each, Call) and each.function == "called")
    ]


def _is_without_order(part: Expr, words: str) -> bool:
    """Whether a condition searches for two things at least that the words name, and tests neither for an absence nor
    for an order."""
    texts = {
        each.value: _stems(each) for each in below(part) if isinstance(each, Literal) and isinstance(each.value, str)
    }
    if sum(any(stem in words.lower() for stem in stems) for stems in texts.values()) < 2:
        return False
    parts = list(below(part))
    is_ordered = any(
        isinstance(each, Index)
        or (isinstance(each, Binary) and each.operator in ORDERED)
        or (isinstance(each, Call) and each.function in ("called_in_order", "matches"))
        for each in parts
    )
    return len(_found_by_search(part)) > 1 and not is_ordered and not denies(part)


def _passes_lack(name: str, sides: list[Expr]) -> bool:
    """Whether a condition holds where something is there and, as its last side says, what the name calls missing is
    not; what is there has to be in the name of `price-without-currency`, because `replies-without-jargon` is wanted."""
    *there, lacking = sides
    stems = set[str]().union(*map(_stems, there))
    thing, without, _ = name.partition("-without-")
    is_wanted = WANTED.search(name) is not None or (without and not any(stem in thing for stem in stems))
    return bool(there) and denies(lacking) and not any(map(denies, there)) and not is_wanted


def _names_without_lack(name: str, part: Expr) -> bool:
    """Whether a check named after something missing fails where it is there: `size(citations(answer)) > 0`."""
    subject = MISSING.sub("", name).split("-")[-1][:5] if MISSING.search(name) else ""
    named = [each for each in chain(part, "&&") if subject in _called(each)]
    is_measured = any(isinstance(each, Binary) and isinstance(each.right, Literal) for each in named)
    return bool(subject) and is_measured and not any(map(denies, named))


def _called(part: Expr) -> str:
    """The names of functions and values in an expression, in one text."""
    own = part.function if isinstance(part, Call) else part.name if isinstance(part, Name) else ""
    return " ".join([own, *map(_called, children(part))])


def _one_side_lacks(part: Expr) -> bool:
    """Whether `or` joins the same measure of two things, and only one side tests for nothing: `size(a) == 0 or ...`."""
    sides = [each for each in chain(part, "||") if isinstance(each, Binary) and isinstance(each.left, Call)]
    functions = {each.left.function for each in sides if isinstance(each.left, Call)}
    measured = {_called(each.left) for each in sides}
    return len(sides) == len(measured) > len(functions) == 1 and len({denies(each) for each in sides}) == 2


def _lacks_what_is_forbidden(words: str, sides: list[Expr]) -> bool:
    """Whether a condition searches for none of the phrases that the only negation of the words names."""
    _, negation, forbidden = words.lower().partition(" not ")
    named = {each[:4] for each in re.findall(r"[^\W_]{4,}", forbidden)}
    searches = [each for each in sides if isinstance(each, Call) and each.function == "contains_none"]
    return bool(negation) and len(DENIALS.findall(words)) == 1 and any(_stems(each) & named for each in searches)


def _against_every(every: re.Match[str], words: str, part: Expr, sign: int) -> bool:
    """Whether the quantifier over what the words call `every` is the wrong one, or fails the members in order."""
    stems = {each[:3].lower() for each in every.groups() if each and len(each) > 3}
    clause = re.split("[;,.]", words)[0]
    is_among = AMONG.search(clause) and not DENIALS.search(clause)
    for side in [each for some in chain(part, "||") for each in chain(some, "&&")]:
        if isinstance(side, Macro) and any(stem in _called(side.target) + last_name(side.target) for stem in stems):
            members = chain(side.bodies[-1], "&&") if sign < 0 and side.kind == "exists" else []
            if side.kind == ("all" if sign < 0 else "exists") or (is_among and any(map(_is_member, members))):
                return True
    return False


def _is_member(part: Expr) -> bool:
    """Whether a condition says that a value is in a list: `given.exists(each, each == n)`."""
    return (
        isinstance(part, Macro)
        and part.kind == "exists"
        and isinstance(part.bodies[-1], Binary)
        and (part.bodies[-1].operator == "==")
    )


def _names_values(parts: list[Expr]) -> bool:
    """Whether one of the parts names values of a lack, as in `order.paid == "no"`."""
    return any(isinstance(each, Binary) and each.operator in ("==", "!=", "in") for each in parts)


def _points(part: Expr, sign: int, operator: str) -> bool:
    return any((each.operator[0] == operator) == (turned < 0) for turned, each in comparisons(part, sign))


def _joined(words: str, part: Expr, sign: int) -> str | None:
    """A contradiction between `and` and `or` of the words and of a condition with two parts of one form."""
    joins = set(JOINS.findall(words.lower()))
    if not isinstance(part, Binary) or part.operator not in ("&&", "||") or not joins:
        return None
    if sign < 0 and any(limits_in(words)):  # the words name limits that `fail` turns around
        return None
    sides = chain(part, part.operator)
    lacking = {denies(each) for each in sides}
    if "unless" in joins and (part.operator == "||") == (sign < 0) and True in lacking:
        return f"the note says `unless`, but the condition joins the exception with `{_word(part.operator)}`"
    if len(sides) != 2 or len(lacking) > 1 or _form(sides[0]) != _form(sides[1]):
        return None
    turned = sign < 0 and lacking == {True}
    of_one = joins <= {"or", "either"}
    if not of_one and not joins <= {"and", "both"}:
        return None
    # `A recipe keeps to grams or ounces` fails where both occur; `nobody is asked for a password or a PIN` does not.
    if sign < 0 and not turned and not (of_one and DENIALS.search(words)):
        return None
    meant = "||" if of_one != turned else "&&"
    if part.operator == meant or _stand_together(words, sides):
        return None
    written_word = "or" if of_one else "and"
    return f"the note says `{written_word}`, so `{_word(meant)}` belongs here instead of `{_word(part.operator)}`"


def _stand_together(words: str, sides: list[Expr]) -> bool:
    """Whether the words name the texts of both sides on one side of `and` or `or`, which joins something else."""
    parts = [part.lower() for part in re.split(JOINS, words) if part]
    return any(all(any(stem in part for stem in _stems(side)) for side in sides) for part in parts)


def _stems(part: Expr) -> set[str]:
    """The first letters of the words in the texts and the parameters of an expression."""
    text = str(part.value) if isinstance(part, Literal) else field_of(part, "params") or ""
    return {each[:4] for each in re.findall(r"[^\W_]{4,}", text.lower())}.union(*map(_stems, children(part)))


def _stems_of_counted(part: Expr) -> set[str]:
    """The first letters of what an expression counts: `card` of `size(card_numbers(answer))`."""
    counted = part.args if isinstance(part, Call) and part.function == "size" else ()
    own = {word[:4] for each in counted if isinstance(each, Call) for word in each.function.split("_")}
    return own.union(*map(_stems_of_counted, children(part)))


def _stems_of_parameters(check: CheckDocument, part: Expr) -> set[str]:
    """The first letters of the words in the texts of the parameters that an expression reads."""
    name = field_of(part, "params")
    value = None if name is None else check.get("params", name)
    found = "" if value is None else " ".join(str(each.value) for each in walk(value) if isinstance(each, Scalar))
    own = {each[:4] for each in re.findall(r"(?<!\\)[^\W_]{4,}", found.lower())}
    return own.union(*(_stems_of_parameters(check, each) for each in children(part)))


def _word(operator: str) -> str:
    return "or" if operator == "||" else "and"


def _form(part: Expr) -> object:
    if isinstance(part, Binary):
        operator = "order" if part.operator in ORDERED else part.operator
        return operator, type(part.left).__name__, type(part.right).__name__
    return type(part).__name__
