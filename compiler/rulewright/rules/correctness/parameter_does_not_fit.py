import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Final, TypeAlias

from rulewright.diagnostics import Diagnostic, Findings, Guess, error, replace, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.lexicon import invalid_regex
from rulewright.documents.suggestions import number_meant
from rulewright.expression.direction import ORDERED
from rulewright.expression.syntax_tree import Binary, Call, Expr, Literal, Macro, Name, below, field_of
from rulewright.expression.trial_calls import UNKNOWN, refused
from rulewright.expression.types import BOOL, DOUBLE, DYN, INT, NULL, STRING, ListType, MapType, Type
from rulewright.load import Node, Scalar, Sequence
from rulewright.lower.expression_checks import mistakes_with
from rulewright.lower.expressions_of import WrittenExpression, operations_in, parts_of
from rulewright.proving.static_types import COUNTS
from rulewright.proving.verdicts import SHARES
from rulewright.rules.correctness.empty_list_searched import SEARCHING as OF_PHRASES
from rulewright.rules.suspicious.regex_taken_for_text import OF_REGEX
from rulewright_runtime.values import INT_MAX, INT_MIN

Types: TypeAlias = tuple[Type, ...]  # of which one is enough
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
SEARCHING: Final = OF_PHRASES | {"contains", "contains_ci", "substring_ci", "startsWith", "endsWith"}
ORDERING: Final = re.compile(r"`[<>]=?`")  # where a number is as it should be, and the other side is not
LISTED: Final = re.compile(r"[\w.-]+(?: [\w.-]+)*(?:, *[\w.-]+(?: [\w.-]+)*)+")


def parameter_does_not_fit(check: CheckDocument) -> Findings:
    """A condition of a check can't use the value of a parameter.

    Why it matters: the check compiles, but can't be decided for any conversation: a number in quotes is a text, one
    phrase is not a list of phrases, and a key without a value is null. A regular expression is invalid or searched for
    literally, or a share is compared with a number outside 0 to 1.
    Instead: write a number without quotes, a list in brackets, a valid expression for `matches`, or a value inside the
    range.
    """
    if not check.verdict_conditions or not check.params or check.get("params") is None:
        return
    if mistakes_with(check, {}):
        return
    yield from _refused(check)
    yield from _searched_literally(check)
    yield from _out_of_range(check)
    read = " ".join(each.text for each in check.conversation_conditions)
    values = {name: check.get("params", name) for name in check.params if name in read}
    mistakes = _mistakes(check, [(name, part) for name, value in values.items() for part in _parts(value)])
    for name, value in values.items():
        yield from _unfit(name, value, mistakes)


def _unfit(name: str, value: Node | None, mistakes: Mapping[tuple[str, Types], Diagnostic]) -> Findings:
    """The value of a parameter that the expression can't use, or those items of a list that it can't use."""
    items = value.items if isinstance(value, Sequence) else ()
    parts = [(part, each) for part, each in zip(items or (value,), _parts(value), strict=False) if part is not None]
    unfit = [(part, mistake) for part, each in parts if (mistake := mistakes.get((name, each)))]
    if value is not None and items and len(unfit) == len(items):
        unfit = [(value, unfit[0][1])]
    for part, first in unfit:
        what = f"`{name}`" if part is value else f"this item of `{name}`"
        meant = _meant(part)
        fix = None if meant is None else replace(part, meant, f"write `{meant}`", safe=False)
        is_empty = isinstance(part, Scalar) and part.value is None
        message = f"the expression can't use {what}{', which is empty' if is_empty else ' as it is'}: {first.message}"
        is_number = part is value and isinstance(part, Scalar) and isinstance(part.value, int | float)
        if is_number and ORDERING.match(first.message):
            yield error(first.span, message, notes=[(part, "the parameter")])
            continue
        yield error(part, message, notes=[(first.span, "used here")], fix=fix)


def _parts(value: Node | None) -> list[Types]:
    """The types that a parameter may have: for each item of a list, those of the whole list as the item tells them."""
    if isinstance(value, Sequence) and value.items:
        return [tuple(map(ListType, _types(item))) for item in value.items]
    return [] if value is None else [tuple(_types(value))]


def _mistakes(check: CheckDocument, parts: Iterable[tuple[str, Types]]) -> dict[tuple[str, Types], Diagnostic]:
    """The first mistake of the check's expressions for each parameter and types of which none fits. Most fit, so that
    many parameters are tried at once."""
    by_name: dict[str, list[Types]] = {}
    for name, types in dict.fromkeys(parts):
        if types:
            by_name.setdefault(name, []).append(types)
    found: dict[tuple[str, Types], Diagnostic] = {}
    for together in zip_longest(*([(name, each) for each in types] for name, types in by_name.items())):
        pending = [[each for each in together if each is not None]]
        while pending:
            group = pending.pop()
            refused = all(mistakes_with(check, {name: types[at] for name, types in group}) for at in (0, -1))
            if refused and len(group) == 1:
                found |= _mistake(check, *group[0])
            elif refused:
                pending += [group[: len(group) // 2], group[len(group) // 2 :]]
    return found


def _mistake(check: CheckDocument, name: str, types: Types) -> dict[tuple[str, Types], Diagnostic]:
    refused = [mistakes_with(check, {name: each}) for each in types]
    return {(name, types): refused[0][0]} if all(refused) else {}


def _refused(check: CheckDocument) -> Findings:
    """Parameters, and items of lists, that a function refuses whatever its other arguments are: `9OO`, for a number."""
    for written, part in parts_of(check):
        if isinstance(part, Call):
            yield from _of_call(written, part, partial(_parameter, check))
        elif isinstance(part, Macro):
            yield from _of_items(check, written, part)


def _of_items(check: CheckDocument, written: WrittenExpression, macro: Macro) -> Findings:
    """The items of a list that are refused where a macro over it reads each of them once, so that nothing guards it."""
    name = field_of(macro.target, "params")
    listed = written.node(macro.target) if name is None else check.get("params", name)
    inner = [each for body in macro.bodies for each in below(body)]
    reads = [each for each in inner if isinstance(each, Name) and (each.name,) == macro.variables]
    for item in listed.items if isinstance(listed, Sequence) and len(reads) == 1 else ():
        for call in inner:
            if isinstance(call, Call):
                yield from _of_call(written, call, partial(_item, reads[0], item))


def _item(read: Name, item: Node, part: Expr) -> Scalar | None:
    return item if part is read and isinstance(item, Scalar) else None


def _of_call(written: WrittenExpression, call: Call, given: Callable[[Expr], Scalar | None]) -> Findings:
    """The given operand that a call refuses, or the first one if it is a constant beside it that is refused."""
    name = written.checked.functions.get(id(call))
    operands = call.args if name is not None or call.target is None else (call.target, *call.args)
    scalars = [given(each) for each in operands]
    values = [_constant(*pair) for pair in zip(operands, scalars, strict=True)] if any(scalars) else []
    for at, why in refused(name or call.function, values):
        place = scalars[at] or next(filter(None, scalars))
        notes = [(written.span(call), "used here")]
        is_regex = place is scalars[at] and "regular expression" in why
        message = f"`{values[at]}` is not a valid argument of `{name or call.function}`: {why}"
        yield (is_regex and invalid_regex(place)) or error(place, message, notes=notes)


def _constant(part: Expr, given: Scalar | None) -> object:
    """The value of a literal, or the one given for a part, else `UNKNOWN`."""
    if isinstance(part, Literal):
        return part.value
    value = None if given is None else given.value
    is_too_large = isinstance(value, int) and not INT_MIN <= value <= INT_MAX  # which is reported as such
    return value if isinstance(value, bool | int | float | str) and not is_too_large else UNKNOWN


def _searched_literally(check: CheckDocument) -> Findings:
    """Parameters that look like a regular expression and that a text is searched for."""
    for written, part in parts_of(check):
        if isinstance(part, Call) and part.function in SEARCHING and part.args:
            name = field_of(part.args[-1], "params")
            given = None if name is None else check.get("params", name)
            for value in given.items if isinstance(given, Sequence) else (given,):
                if isinstance(value, Scalar) and (found := OF_REGEX.search(value.text)):
                    notes = [(written.span(part), "searched for here")]
                    message = f"`{found[0]}` is searched for literally: `{part.function}` takes a text"
                    yield warning(value, message, help="use `matches`, or write the words themselves", notes=notes)


def _out_of_range(check: CheckDocument) -> Findings:
    """Parameters outside the range of the share or count they are compared with: 30, for a similarity of 0 to 1."""
    for written, part in operations_in(check, ORDERED):
        for call, limit in ((part.left, part.right), (part.right, part.left)):
            value = _parameter(check, limit)
            number = None if value is None else value.value
            if value is None or not isinstance(call, Call) or isinstance(number, bool):
                continue
            text, notes = written.text(call), [(written.span(part), "compared here")]
            if isinstance(number, int | float) and call.function in COUNTS and number < 0:
                yield error(value, f"`{text}` is never below 0, but is compared with this", notes=notes)
            if isinstance(number, int | float) and call.function in SHARES and _is_never_passed(part, call, number):
                message = f"`{text}` is between 0 and 1, so it is never {'above' if number else 'below'} this"
                yield error(value, message, notes=notes)
            elif isinstance(number, int | float) and call.function in SHARES and not 0 <= number <= 1:
                message = f"`{text}` is between 0 and 1, but is compared with this"
                yield error(value, message, notes=notes, help=_share(value))


def _is_never_passed(part: Binary, call: Call, number: float) -> bool:
    """Whether a share from 0 to 1 can't be above or below a number, although it is compared by `>` or `<`."""
    above = {">": part.left, "<": part.right}.get(part.operator) is call
    below = {"<": part.left, ">": part.right}.get(part.operator) is call
    return (above and number == 1) or (below and number == 0)


def _parameter(check: CheckDocument, part: Expr) -> Scalar | None:
    """The value of the parameter that a part of an expression reads, if it is a scalar."""
    name = field_of(part, "params")
    value = None if name is None else check.get("params", name)
    return value if isinstance(value, Scalar) else None


def _share(value: Scalar) -> Guess | None:
    """The guess that a number far above 1 is a percentage."""
    meant = number_meant("maximum", 1, value.value) if isinstance(value.value, int | float) else None
    return Guess(meant) if meant else None


def _types(value: Node) -> list[Type]:
    """The types that the value may have in an expression; none where that is unknown, as for mixed lists."""
    if isinstance(value, Sequence):
        listed = [_types(item) for item in value.items]
        return [ListType(each) for each in listed[0]] if listed and all(each == listed[0] for each in listed) else []
    if not isinstance(value, Scalar):
        return [MapType(STRING, DYN)]
    if value.value is None or isinstance(value.value, bool):
        return [NULL if value.value is None else BOOL]
    return [STRING] if isinstance(value.value, str) else [INT, DOUBLE] if isinstance(value.value, int | float) else []


def _meant(value: Node) -> str | None:
    """The number or the list that a text was meant to be."""
    word = value.value if isinstance(value, Scalar) else None
    if not isinstance(word, str):
        return None
    return word if NUMBER.fullmatch(word) else f"[{word}]" if LISTED.fullmatch(word) else None
