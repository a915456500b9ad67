"""Describes a box as the condition, in the terms of the source, that holds exactly for its inputs."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.box_variables import Box, BoxVariable
from rulewright.proving.domains import Absent, Domain, NumberRange, Path
from rulewright.proving.intervals import Space
from rulewright.proving.program_parts import unabridged
from rulewright.proving.results import in_words
from rulewright.proving.sums import Terms
from rulewright_runtime.aggregate.outcome import NO_RECORD
from rulewright_runtime.ir import NUMBERS
from rulewright_runtime.score import Score
from rulewright_runtime.values import Optional, UInt, Value

_UNWRITTEN: Final = frozenset({"", NO_RECORD})  # enum words that documents can't contain


def condition_of(space: Space, box: Box) -> str:
    """The condition for a box; `true` for the whole space."""
    return " && ".join(_condition(each, box[each.at]) for each in space.constrained(box)) or "true"


def _condition(variable: BoxVariable, bits: int) -> str:
    """The condition that a variable is in some of its cells."""
    if variable.path:
        return _variable(variable, bits)
    if variable.terms:
        return _sums(variable.terms, variable.values, bits)
    if variable.order is not None:
        one, two = map(_name, variable.order.pair)
        return " && ".join(part.format(one, two) for part in _ORDERS[bits])
    text = unabridged(variable.program)
    words = {TRUE: f"({text})", FALSE: f"!({text})", ERROR: f"(`{text}` can't be decided)"}
    return _any([words[bit] for place, bit in enumerate((TRUE, FALSE, ERROR)) if bits >> place & 1])


def _sums(terms: Terms, spans: Sequence[NumberRange], bits: int) -> str:
    """The condition that a sum is in some of its ranges; neighbouring ranges are joined."""
    phrases = []
    for start, end in _runs([number for number in range(len(spans)) if bits >> number & 1]):
        low, high = spans[start], spans[end]
        if low.low == high.high:
            phrases.append(_sum_beside(terms, "==", low.low))
            continue
        parts = [_sum_beside(terms, ">" if low.low_open else ">=", low.low)] * (start > 0)
        parts += [_sum_beside(terms, "<" if high.high_open else "<=", high.high)] * (end + 1 < len(spans))
        phrases.append(" && ".join(parts))
    return phrases[0] if len(phrases) == 1 else f"({' || '.join(f'({each})' for each in phrases)})"


def _sum_beside(terms: Terms, relation: str, number: Fraction) -> str:
    """The comparison of a sum with a number, or of two variables with each other if they are subtracted."""
    if len(terms) == 2 and terms[1][1] == -1 and number == 0:
        return f"{_name(terms[0][0])} {relation} {_name(terms[1][0])}"
    total = "".join(_term(path, each) for path, each in terms).removeprefix(" + ")
    return f"{total} {relation} {in_words(Score(number.numerator, number.denominator))}"


def _term(path: Path, factor: Fraction) -> str:
    times = f"{abs(factor.numerator)} * " * (abs(factor.numerator) != 1)
    over = f" / {factor.denominator}" * (factor.denominator != 1)
    return f" {'-' if factor < 0 else '+'} {times}{_name(path)}{over}"


# The relation of two numbers, in bits of LESS, EQUAL, GREATER and UNORDERED, as conditions.
_ORDERS: Final = {
    1: ["{} < {}"], 2: ["{} == {}"], 3: ["{} <= {}"], 4: ["{} > {}"], 5: ["{} != {}"], 6: ["{} >= {}"],
    7: ["({0} <= {1} || {0} > {1})"], 8: ["!({0} <= {1} || {0} > {1})"], 9: ["!({} >= {})"],
    10: ["!({} < {})", "!({} > {})"], 11: ["!({} > {})"], 12: ["!({} <= {})"], 13: ["{} != {}"], 14: ["!({} < {})"],
}  # fmt: skip


def merged(boxes: Sequence[Box]) -> list[Box]:
    """The same boxes with neighbours joined."""
    found = list(dict.fromkeys(boxes))
    size = len(found[0]) if found else 0
    before = -1
    while before != len(found):
        before = len(found)
        for at in range(size):
            groups: dict[Box, int] = {}
            for box in found:
                rest = (*box[:at], 0, *box[at + 1 :])
                groups[rest] = groups.get(rest, 0) | box[at]
            found = [(*rest[:at], cells, *rest[at + 1 :]) for rest, cells in groups.items()]
    return found


def _variable(variable: BoxVariable, bits: int) -> str:
    """The condition that an input or a part in its place is in some of its cells."""
    path, domain, cells, cuts = variable.path, variable.domain, variable.values, variable.cuts
    name = _name(path)
    plain = [at for at, cell in enumerate(cells) if not (cell is None or isinstance(cell, Absent) or _empty(cell))]
    chosen = [at for at in plain if bits >> at & 1]
    phrases = [_special(path, cells[at]) for at in range(len(cells)) if bits >> at & 1 and at not in plain]
    if chosen:
        value = f"{name}.value()" if domain.optional else name
        values = [_bare(cell) for cell in cells]
        if len(chosen) == len(plain):
            phrases.append(_there(path, domain))
        elif domain.kind in NUMBERS:
            phrases += _numbers(value, domain, [values[at] for at in plain], [values[at] for at in chosen], cuts)
        elif domain.kind == "bool":
            phrases.append(value if values[chosen[0]] else f"!{value}")
        elif domain.kind == "texts":
            phrases.append(_lists(value, domain, [values[at] for at in plain], [values[at] for at in chosen]))
        else:
            phrases.append(_words(value, domain, [values[at] for at in plain], [values[at] for at in chosen]))
    return _any(phrases)


def _name(path: Path) -> str:
    return path[0] + "".join(f".{part}" if part.isidentifier() else f"[{in_words(part)}]" for part in path[1:])


def _empty(cell: Value) -> bool:
    return isinstance(cell, Optional) and not cell.present


def _bare(cell: Value) -> Value:
    return cell.value if isinstance(cell, Optional) else cell


def _special(path: Path, cell: Value) -> str:
    if cell is None:
        return f"{_name(path)} == null"
    if not isinstance(cell, Absent):
        return f"!{_name(path)}.hasValue()"
    missing = path[: cell.part + 1]
    return f"!has({_name(missing)})" if cell.part else f"`{_name(missing)}` is absent"


def _there(path: Path, domain: Domain) -> str:
    """The condition that an optional variable has a value."""
    parts = [f"{_name(path)}.hasValue()"] * domain.optional + [f"{_name(path)} != null"] * domain.null
    parts += [f"has({_name(path[: part + 1])})" for part in sorted(domain.absent) if part]
    return " && ".join(parts) or "true"


def _any(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"


def _words(name: str, domain: Domain, known: Sequence[Value], chosen: Sequence[Value]) -> str:
    """The condition that a text is one of some words, or none of the others if one of them can't be written."""
    bare = domain.kind == "enum"
    others = _UNWRITTEN if bare else {known[-1]}
    rest = [word for word in known if word not in chosen]
    if not others.isdisjoint(chosen) or (bare and len(rest) == 1 and others.isdisjoint(known)):
        quoted = [in_words(word, bare=bare) for word in rest]
        return f"{name} != {quoted[0]}" if len(quoted) == 1 else f"!({name} in [{', '.join(quoted)}])"
    quoted = [in_words(word, bare=bare) for word in chosen]
    return f"{name} == {quoted[0]}" if len(quoted) == 1 else f"{name} in [{', '.join(quoted)}]"


def _lists(name: str, domain: Domain, known: Sequence[list[str]], chosen: Sequence[list[str]]) -> str:
    """The condition on the contents of a list, text by text; the last text stands for any other one."""
    texts = max(known, key=len)
    named = texts if domain.members else texts[:-1]
    listed = f"[{', '.join(map(in_words, named))}]"

    def holds(text: str) -> str:
        return f"{in_words(text)} in {name}" if text in named else f"{name}.exists(t, !(t in {listed}))"

    def condition(left: Sequence[str], among: frozenset[frozenset[str]]) -> str | None:
        """The condition; None if it always holds."""
        if len(among) == 1 << len(left):
            return None
        text, rest = left[0], left[1:]
        with_it = frozenset(each - {text} for each in among if text in each)
        without = frozenset(each for each in among if text not in each)
        if with_it == without:
            return condition(rest, without)
        parts = []
        for answer, below in ((holds(text), with_it), (f"!({holds(text)})", without)):
            if below:
                deeper = condition(rest, below)
                parts.append(answer if deeper is None else f"{answer} && {deeper}")
        return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"

    return condition(texts, frozenset(frozenset(each) for each in chosen)) or "true"


def _real(value: Value) -> bool:
    return not (isinstance(value, float) and math.isnan(value))


def _exact(value: Value) -> Value:
    if isinstance(value, Score):
        return Fraction(value.numerator, value.denominator)
    return value if isinstance(value, float) and math.isinf(value) else Fraction(value)


def _numbers(
    name: str, domain: Domain, known: Sequence[Value], among: Sequence[Value], cuts: Iterable[Value]
) -> list[str]:
    """The condition that a number is in the chosen cells, as intervals of neighbouring cells."""
    line = sorted((value for value in known if _real(value)), key=_exact)
    cut = sorted(each for each in cuts if isinstance(each, Fraction))
    chosen = {value for value in among if _real(value)}
    with_nan = len(chosen) < len(among)
    phrases = [f"{name} != {name}"] * with_nan
    left_out = [value for value in line if value not in chosen]
    if len(left_out) == 1 and _exact(left_out[0]) in cut and not with_nan and len(line) > 2:
        return [f"{name} != {in_words(left_out[0])}"]
    runs = _runs([at for at, value in enumerate(line) if value in chosen])
    return [*phrases, *(_run(name, domain, line, start, end, cut) for start, end in runs)]


def _runs(chosen: Sequence[int]) -> Iterable[tuple[int, int]]:
    """The first and the last of each of the numbers that follow each other."""
    starts = [number for number in chosen if number - 1 not in chosen]
    return zip(starts, [number for number in chosen if number + 1 not in chosen], strict=True)


def _run(name: str, domain: Domain, line: Sequence[Value], start: int, end: int, cuts: Sequence[Fraction]) -> str:
    if start == end and _exact(line[start]) in cuts:
        return f"{name} == {in_words(line[start])}"
    ends = []
    if start:
        ends.append(_end(name, domain, ">", _between(cuts, line[start - 1], line[start]), line[start]))
    if end + 1 < len(line):
        ends.append(_end(name, domain, "<", _between(cuts, line[end], line[end + 1]), line[end]))
    if len(ends) == 2 and ends[0].partition(" >= ")[2] == ends[1].partition(" <= ")[2] != "":
        return f"{name} == {ends[0].partition(' >= ')[2]}"
    return " && ".join(ends) or f"{name} == {name}"


def _between(cuts: Sequence[Fraction], low: Value, high: Value) -> Fraction:
    """The cut between two neighbours."""
    return next(each for each in cuts if _exact(low) <= each <= _exact(high))


def _end(name: str, domain: Domain, order: str, cut: Fraction, inner: object) -> str:
    """The bound of an interval whose last cell inside is `inner`."""
    if _exact(inner) == cut:
        return f"{name} {order}= {in_words(inner)}"
    if domain.kind == "score":
        return f"{name} {order} {in_words(Score(cut.numerator, cut.denominator))}"
    if domain.kind == "double":
        if Fraction(float(cut)) == cut:
            return f"{name} {order} {in_words(float(cut))}"
        toward = math.inf if order == ">" else -math.inf
        nearest = float(cut)
        inside = nearest if (nearest > cut) == (order == ">") else math.nextafter(nearest, toward)
        return f"{name} {order}= {in_words(inside)}"
    whole: int = math.floor(cut) + 1 if order == ">" else math.ceil(cut) - 1
    return f"{name} {order}= {in_words(UInt(whole) if domain.kind == 'uint' else whole)}"
