"""Fast closures for conditions made of leaves: as many tests as one Python call can hold, then whatever follows.

Every closure here answers `no` when a leaf is false, and when all are true `yes`, or what `rest` says if there is one.
What is neither (absent, or of another type) goes to `slow`, which knows the whole meaning.

A call costs what a test costs, asking whether there is a test a tenth of one. Hence one closure for each kind of leaf,
and three whose tests may be missing: a step asks for a number, and one record for a text and a flag; a search does so
for every record of a list; the numbers of one record are asked in threes. A bool would pass for a number in Python, so
that it is ruled out by identity; anything else that is no number fails to compare and is left to `slow`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.rows.building import Closure
from rulewright_runtime.rows.leaves import Flag, Items, Leaf, Member, Number, Text, three
from rulewright_runtime.rows.own import own

ABSENT: Final = (LookupError, TypeError)
_UNDECIDED: Final = (*ABSENT, EvaluationError)
_NO_NUMBER: Final = Number((None,), float, None, None, None, None)
_NO_TEXT: Final = Text((None,), "")
_NO_FLAG: Final = Flag((None,), True)


def fits(leaf: Leaf) -> bool:
    """Whether a chain can ask it: it has one to three subscripts, or is the number itself."""
    return (not isinstance(leaf, Number)) <= len(leaf.keys) <= 3


def chain(leaves: Sequence[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    """The closure for leaves that fit, made from the last to the first."""
    near = [leaf for leaf in leaves if 1 <= len(leaf.keys) <= 2] if len(leaves) > 1 else []
    steps = _steps(near)
    groups = _groups([leaf for leaf in near if isinstance(leaf, Number) and not any(leaf in step for step in steps)])
    inside = [leaf for part in (*steps, *groups) for leaf in part]
    for leaf in reversed(leaves):
        if leaf not in inside:
            rest = own(_SINGLES[type(leaf)](leaf, rest, yes, no, slow))
    for group in reversed(groups):
        rest = own(_numbers(*group, rest, yes, no, slow))
    for step in reversed(steps):
        rest = own(_step(*step, rest, yes, no, slow))
    assert rest is not None
    return rest


def _steps(leaves: Sequence[Leaf]) -> list[tuple[Number, Text, Flag]]:
    """What can be asked together: a number, a text and a flag, of which two at least are there. The number is true only
    above 0, where of the bools just True would pass for one."""
    numbers = [leaf for leaf in leaves if isinstance(leaf, Number) and leaf.low > 0]
    found: list[tuple[Number, Text, Flag]] = []
    for way in dict.fromkeys(leaf.keys[:-1] for leaf in leaves):
        here = [leaf for leaf in leaves if leaf.keys[:-1] == way]
        texts = [leaf for leaf in here if isinstance(leaf, Text)]
        flags = [leaf for leaf in here if isinstance(leaf, Flag)]
        for text, flag in zip_longest(texts, flags):
            if numbers or (text and flag):
                number = numbers.pop(0) if numbers else _NO_NUMBER
                found.append((number, text or _NO_TEXT, flag or _NO_FLAG))
    return found


def _groups(numbers: Sequence[Number]) -> list[tuple[Number, Number, Number]]:
    """Two or three numbers of one record each."""
    found = []
    for way in dict.fromkeys(leaf.keys[:-1] for leaf in numbers):
        here = [leaf for leaf in numbers if leaf.keys[:-1] == way]
        threes = [(*here[at : at + 3], _NO_NUMBER)[:3] for at in range(0, len(here) - 1, 3)]
        found += [(one, two, other) for one, two, other in threes]
    return found


def _number(leaf: Number, rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    first, second, third = three(leaf.keys)
    low, high, under, over = leaf.low, leaf.high, leaf.other_low, leaf.other_high

    def test(a: Any) -> Any:
        try:
            v = a if first is None else a[first] if second is None else a[first][second]
            if third is not None:
                v = v[third]
            if v is not True and v is not False:
                if low <= v <= high:
                    return yes if rest is None else rest(a)
                if under <= v <= over:
                    return no
        except ABSENT:
            pass
        return slow(a)

    return test


def _flag(leaf: Flag, rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    first, second, third = three(leaf.keys)
    good, bad = leaf.good, not leaf.good

    def test(a: Any) -> Any:
        try:
            v = a[first] if second is None else a[first][second] if third is None else a[first][second][third]
            if v is good:
                return yes if rest is None else rest(a)
            if v is bad:
                return no
        except ABSENT:
            pass
        return slow(a)

    return test


def _text(leaf: Text, rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    first, second, third = three(leaf.keys)
    text = leaf.text

    def test(a: Any) -> Any:
        try:
            v = a[first] if second is None else a[first][second] if third is None else a[first][second][third]
            if v == text:
                return yes if rest is None else rest(a)
            return no
        except ABSENT:
            return slow(a)

    return test


def _member(leaf: Member, rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    first, second, third = three(leaf.keys)
    texts, wanted = leaf.texts, leaf.wanted

    def test(a: Any) -> Any:
        try:
            v = a[first] if second is None else a[first][second] if third is None else a[first][second][third]
            if (v in texts) is wanted:
                return yes if rest is None else rest(a)
            return no
        except ABSENT:
            return slow(a)

    return test


def _items(leaf: Items, rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    first, second, third = three(leaf.keys)
    asks, wanted = leaf.asks, leaf.wanted

    def test(a: Any) -> Any:
        try:
            v = a[first] if second is None else a[first][second] if third is None else a[first][second][third]
            if v.__class__ is list or v.__class__ is dict:
                if asks(v) is wanted:
                    return yes if rest is None else rest(a)
                return no
        except ABSENT:
            pass
        return slow(a)

    return test


_SINGLES: Final[Mapping[type, Callable[[Any, Closure | None, Any, Any, Closure], Closure]]] = {
    Number: _number,
    Flag: _flag,
    Text: _text,
    Member: _member,
    Items: _items,
}


def _step(number: Number, text: Text, flag: Flag, rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    first, second, _ = three(number.keys)
    low, high, other = number.low, number.high, (number.other_low, number.other_high)
    root, _, _ = three(text.keys[:-1] or flag.keys[:-1])
    wanted, text_key = text.text, text.keys[-1]
    good, flag_key = flag.good, flag.keys[-1]

    def test(a: Any) -> Any:
        try:
            if first is not None:
                v = a[first] if second is None else a[first][second]
                if not low <= v <= high or v is True:
                    under, over = other
                    return no if under <= v <= over and v is not True and v is not False else slow(a)
            record = a if root is None else a[root]
            if text_key is not None and record[text_key] != wanted:
                return no
            if flag_key is not None:
                v = record[flag_key]
                if v is not good:
                    return no if v is True or v is False else slow(a)
            return yes if rest is None else rest(a)
        except ABSENT:
            return slow(a)

    return test


def _numbers(
    one: Number, two: Number, other: Number, rest: Closure | None, yes: Any, no: Any, slow: Closure
) -> Closure:
    root, _, _ = three(one.keys[:-1])
    first, low, high, below = one.keys[-1], one.low, one.high, (one.other_low, one.other_high)
    second, low_2, high_2, below_2 = two.keys[-1], two.low, two.high, (two.other_low, two.other_high)
    third, low_3, high_3, below_3 = other.keys[-1], other.low, other.high, (other.other_low, other.other_high)

    def test(a: Any) -> Any:
        try:
            record = a if root is None else a[root]
            v, other = record[first], below
            if low <= v <= high and v is not True and v is not False:
                v, other = record[second], below_2
                if low_2 <= v <= high_2 and v is not True and v is not False:
                    if third is None:
                        return yes if rest is None else rest(a)
                    v, other = record[third], below_3
                    if low_3 <= v <= high_3 and v is not True and v is not False:
                        return yes if rest is None else rest(a)
            under, over = other
            if under <= v <= over and v is not True and v is not False:
                return no
        except ABSENT:
            pass
        return slow(a)

    return test


def search(
    over: Closure, leaves: Sequence[Leaf], others: Closure | None, hit: bool, step: Closure, general: Closure
) -> Closure:
    """`exists` (hit) or `all` (not hit) over a list: an element decides when all the leaves are true and the others
    answer `hit`. `step` is the whole body, `general` the whole loop."""
    near = [leaf for leaf in leaves if len(leaf.keys) <= 1]
    number = next((leaf for leaf in near if isinstance(leaf, Number) and leaf.low < leaf.high), _NO_NUMBER)
    text = next((leaf for leaf in near if isinstance(leaf, Text)), _NO_TEXT)
    flag = next((leaf for leaf in near if isinstance(leaf, Flag)), _NO_FLAG)
    left = [leaf for leaf in leaves if leaf not in (number, text, flag)]
    rest = chain(left, others, hit, not hit, step) if left else others
    return _search(over, number, text, flag, rest, hit, general)


def _search(
    over: Closure, number: Number, text: Text, flag: Flag, rest: Closure | None, hit: bool, general: Closure
) -> Closure:
    """The text is asked for first, because few values equal it; a number without a key is the element itself."""
    wanted, text_key = text.text, text.keys[-1]
    good, bad, flag_key = flag.good, not flag.good, flag.keys[-1]
    low, high, under, above = number.low, number.high, number.other_low, number.other_high
    number_key, _, _ = three(number.keys)
    miss = not hit

    def decide(a: Any) -> Any:
        try:
            items = over(a)
            if items.__class__ is list:
                for item in items:
                    if text_key is not None and item[text_key] != wanted:
                        continue
                    if flag_key is not None:
                        v = item[flag_key]
                        if v is bad:
                            continue
                        if v is not good:
                            return general(a)
                    if low is not None:
                        v = item if number_key is None else item[number_key]
                        if v is True or v is False:
                            return general(a)
                        if under <= v <= above:
                            continue
                        if not low <= v <= high:
                            return general(a)
                    if rest is None or rest(item) is hit:
                        return hit
                return miss
        except _UNDECIDED:
            pass
        return general(a)

    return decide
