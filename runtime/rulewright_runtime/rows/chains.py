"""Fast closures for conditions made of leaves: one or two tests in one Python call, then whatever follows.

Each closure answers `no` when a leaf is false, and when all are true `yes`, or what `rest` says if there is one. What
is neither (absent, or of another type) goes to `slow`, which knows the whole meaning.

The cases are written out, by the kind of the leaf (range, equal, truth) and the number of subscripts, because a call, a
loop or a test that serves several types costs more than the test itself. A bool would pass for a number in Python, so
that it is ruled out by identity; anything else that is no number fails to compare and is left to `slow`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from rulewright_runtime.rows.chain_pairs import PAIRS
from rulewright_runtime.rows.leaves import Leaf
from rulewright_runtime.rows.own import own

Closure: TypeAlias = Callable[[Any], Any]
_ABSENT: Final = (LookupError, TypeError)
WIDEST: Final = 2  # leaves in one closure
DEEPEST: Final = 3  # subscripts in one path


def chain(leaves: Sequence[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    """The closure for a leaf, or for two that `pairs` allows."""
    ordered = sorted(leaves, key=_shape)
    return own(_MAKERS["_".join(map(_shape, ordered))](ordered, rest, yes, no, slow))


def pairs(leaf: Leaf) -> bool:
    """Whether the leaf can share a closure with another."""
    return _shape(leaf) in _PAIRED


def _shape(leaf: Leaf) -> str:
    return f"{leaf.test}{len(leaf.keys)}"


def _range_0(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    low, high, under, over = one.low, one.high, one.other_low, one.other_high

    def test(v: Any) -> Any:
        try:
            if v is not True and v is not False:
                if low <= v <= high:
                    return yes if rest is None else rest(v)
                if under <= v <= over:
                    return no
        except TypeError:
            pass
        return slow(v)

    return test


def _range_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    (key,) = one.keys
    low, high, under, over = one.low, one.high, one.other_low, one.other_high

    def test(a: Any) -> Any:
        try:
            v = a[key]
            if v is not True and v is not False:
                if low <= v <= high:
                    return yes if rest is None else rest(a)
                if under <= v <= over:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub = one.keys
    low, high, under, over = one.low, one.high, one.other_low, one.other_high

    def test(a: Any) -> Any:
        try:
            v = a[key][sub]
            if v is not True and v is not False:
                if low <= v <= high:
                    return yes if rest is None else rest(a)
                if under <= v <= over:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_3(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub, last = one.keys
    low, high, under, over = one.low, one.high, one.other_low, one.other_high

    def test(a: Any) -> Any:
        try:
            v = a[key][sub][last]
            if v is not True and v is not False:
                if low <= v <= high:
                    return yes if rest is None else rest(a)
                if under <= v <= over:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _truth_0(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    good, bad = one.low, one.other_low

    def test(v: Any) -> Any:
        if v is good:
            return yes if rest is None else rest(v)
        if v is bad:
            return no
        return slow(v)

    return test


def _truth_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    (key,) = one.keys
    good, bad = one.low, one.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key]
            if v is good:
                return yes if rest is None else rest(a)
            if v is bad:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _truth_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub = one.keys
    good, bad = one.low, one.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key][sub]
            if v is good:
                return yes if rest is None else rest(a)
            if v is bad:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _truth_3(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub, last = one.keys
    good, bad = one.low, one.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key][sub][last]
            if v is good:
                return yes if rest is None else rest(a)
            if v is bad:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_0(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    text = one.low

    def test(v: Any) -> Any:
        if v == text:
            return yes if rest is None else rest(v)
        return no

    return test


def _equal_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    (key,) = one.keys
    text = one.low

    def test(a: Any) -> Any:
        try:
            if a[key] == text:
                return yes if rest is None else rest(a)
            return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub = one.keys
    text = one.low

    def test(a: Any) -> Any:
        try:
            if a[key][sub] == text:
                return yes if rest is None else rest(a)
            return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_3(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub, last = one.keys
    text = one.low

    def test(a: Any) -> Any:
        try:
            if a[key][sub][last] == text:
                return yes if rest is None else rest(a)
            return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _different_0(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    text = one.low

    def test(v: Any) -> Any:
        if v == text:
            return no
        return yes if rest is None else rest(v)

    return test


def _different_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    (key,) = one.keys
    text = one.low

    def test(a: Any) -> Any:
        try:
            if a[key] == text:
                return no
            return yes if rest is None else rest(a)
        except _ABSENT:
            pass
        return slow(a)

    return test


def _different_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub = one.keys
    text = one.low

    def test(a: Any) -> Any:
        try:
            if a[key][sub] == text:
                return no
            return yes if rest is None else rest(a)
        except _ABSENT:
            pass
        return slow(a)

    return test


def _different_3(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    (one,) = leaves
    key, sub, last = one.keys
    text = one.low

    def test(a: Any) -> Any:
        try:
            if a[key][sub][last] == text:
                return no
            return yes if rest is None else rest(a)
        except _ABSENT:
            pass
        return slow(a)

    return test


_PAIRED: Final = frozenset({"e1", "e2", "r1", "r2", "t1", "t2"})
_MAKERS: Final[dict[str, Callable[[list[Leaf], Closure | None, Any, Any, Closure], Closure]]] = {
    "r0": _range_0,
    "r1": _range_1,
    "r2": _range_2,
    "r3": _range_3,
    "t0": _truth_0,
    "t1": _truth_1,
    "t2": _truth_2,
    "t3": _truth_3,
    "e0": _equal_0,
    "e1": _equal_1,
    "e2": _equal_2,
    "e3": _equal_3,
    "d0": _different_0,
    "d1": _different_1,
    "d2": _different_2,
    "d3": _different_3,
    **PAIRS,
}
