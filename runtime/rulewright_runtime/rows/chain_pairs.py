"""The closures of `chains` for two leaves at once, in the order of their kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from rulewright_runtime.rows.leaves import Leaf

Closure: TypeAlias = Callable[[Any], Any]
_ABSENT: Final = (LookupError, TypeError)


def _equal_1_equal_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    text1 = one.low
    (key2,) = two.keys
    text2 = two.low

    def test(a: Any) -> Any:
        try:
            if a[key1] == text1:
                if a[key2] == text2:
                    return yes if rest is None else rest(a)
                return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_1_equal_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    text1 = one.low
    key2, sub2 = two.keys
    text2 = two.low

    def test(a: Any) -> Any:
        try:
            if a[key1] == text1:
                if a[key2][sub2] == text2:
                    return yes if rest is None else rest(a)
                return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_1_range_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    text1 = one.low
    (key2,) = two.keys
    low2, high2, under2, over2 = two.low, two.high, two.other_low, two.other_high

    def test(a: Any) -> Any:
        try:
            if a[key1] == text1:
                v = a[key2]
                if v is not True and v is not False:
                    if low2 <= v <= high2:
                        return yes if rest is None else rest(a)
                    if under2 <= v <= over2:
                        return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_1_range_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    text1 = one.low
    key2, sub2 = two.keys
    low2, high2, under2, over2 = two.low, two.high, two.other_low, two.other_high

    def test(a: Any) -> Any:
        try:
            if a[key1] == text1:
                v = a[key2][sub2]
                if v is not True and v is not False:
                    if low2 <= v <= high2:
                        return yes if rest is None else rest(a)
                    if under2 <= v <= over2:
                        return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_1_truth_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    text1 = one.low
    (key2,) = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            if a[key1] == text1:
                v = a[key2]
                if v is good2:
                    return yes if rest is None else rest(a)
                if v is bad2:
                    return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_1_truth_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    text1 = one.low
    key2, sub2 = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            if a[key1] == text1:
                v = a[key2][sub2]
                if v is good2:
                    return yes if rest is None else rest(a)
                if v is bad2:
                    return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_2_equal_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    text1 = one.low
    key2, sub2 = two.keys
    text2 = two.low

    def test(a: Any) -> Any:
        try:
            if a[key1][sub1] == text1:
                if a[key2][sub2] == text2:
                    return yes if rest is None else rest(a)
                return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_2_range_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    text1 = one.low
    (key2,) = two.keys
    low2, high2, under2, over2 = two.low, two.high, two.other_low, two.other_high

    def test(a: Any) -> Any:
        try:
            if a[key1][sub1] == text1:
                v = a[key2]
                if v is not True and v is not False:
                    if low2 <= v <= high2:
                        return yes if rest is None else rest(a)
                    if under2 <= v <= over2:
                        return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_2_range_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    text1 = one.low
    key2, sub2 = two.keys
    low2, high2, under2, over2 = two.low, two.high, two.other_low, two.other_high

    def test(a: Any) -> Any:
        try:
            if a[key1][sub1] == text1:
                v = a[key2][sub2]
                if v is not True and v is not False:
                    if low2 <= v <= high2:
                        return yes if rest is None else rest(a)
                    if under2 <= v <= over2:
                        return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_2_truth_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    text1 = one.low
    (key2,) = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            if a[key1][sub1] == text1:
                v = a[key2]
                if v is good2:
                    return yes if rest is None else rest(a)
                if v is bad2:
                    return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _equal_2_truth_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    text1 = one.low
    key2, sub2 = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            if a[key1][sub1] == text1:
                v = a[key2][sub2]
                if v is good2:
                    return yes if rest is None else rest(a)
                if v is bad2:
                    return no
            else:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_1_range_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    low1, high1, under1, over1 = one.low, one.high, one.other_low, one.other_high
    (key2,) = two.keys
    low2, high2, under2, over2 = two.low, two.high, two.other_low, two.other_high

    def test(a: Any) -> Any:
        try:
            v = a[key1]
            if v is not True and v is not False:
                if low1 <= v <= high1:
                    v = a[key2]
                    if v is not True and v is not False:
                        if low2 <= v <= high2:
                            return yes if rest is None else rest(a)
                        if under2 <= v <= over2:
                            return no
                elif under1 <= v <= over1:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_1_range_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    low1, high1, under1, over1 = one.low, one.high, one.other_low, one.other_high
    key2, sub2 = two.keys
    low2, high2, under2, over2 = two.low, two.high, two.other_low, two.other_high

    def test(a: Any) -> Any:
        try:
            v = a[key1]
            if v is not True and v is not False:
                if low1 <= v <= high1:
                    v = a[key2][sub2]
                    if v is not True and v is not False:
                        if low2 <= v <= high2:
                            return yes if rest is None else rest(a)
                        if under2 <= v <= over2:
                            return no
                elif under1 <= v <= over1:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_1_truth_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    low1, high1, under1, over1 = one.low, one.high, one.other_low, one.other_high
    (key2,) = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key1]
            if v is not True and v is not False:
                if low1 <= v <= high1:
                    v = a[key2]
                    if v is good2:
                        return yes if rest is None else rest(a)
                    if v is bad2:
                        return no
                elif under1 <= v <= over1:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_1_truth_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    low1, high1, under1, over1 = one.low, one.high, one.other_low, one.other_high
    key2, sub2 = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key1]
            if v is not True and v is not False:
                if low1 <= v <= high1:
                    v = a[key2][sub2]
                    if v is good2:
                        return yes if rest is None else rest(a)
                    if v is bad2:
                        return no
                elif under1 <= v <= over1:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_2_range_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    low1, high1, under1, over1 = one.low, one.high, one.other_low, one.other_high
    key2, sub2 = two.keys
    low2, high2, under2, over2 = two.low, two.high, two.other_low, two.other_high

    def test(a: Any) -> Any:
        try:
            v = a[key1][sub1]
            if v is not True and v is not False:
                if low1 <= v <= high1:
                    v = a[key2][sub2]
                    if v is not True and v is not False:
                        if low2 <= v <= high2:
                            return yes if rest is None else rest(a)
                        if under2 <= v <= over2:
                            return no
                elif under1 <= v <= over1:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_2_truth_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    low1, high1, under1, over1 = one.low, one.high, one.other_low, one.other_high
    (key2,) = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key1][sub1]
            if v is not True and v is not False:
                if low1 <= v <= high1:
                    v = a[key2]
                    if v is good2:
                        return yes if rest is None else rest(a)
                    if v is bad2:
                        return no
                elif under1 <= v <= over1:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _range_2_truth_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    low1, high1, under1, over1 = one.low, one.high, one.other_low, one.other_high
    key2, sub2 = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key1][sub1]
            if v is not True and v is not False:
                if low1 <= v <= high1:
                    v = a[key2][sub2]
                    if v is good2:
                        return yes if rest is None else rest(a)
                    if v is bad2:
                        return no
                elif under1 <= v <= over1:
                    return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _truth_1_truth_1(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    good1, bad1 = one.low, one.other_low
    (key2,) = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key1]
            if v is good1:
                v = a[key2]
                if v is good2:
                    return yes if rest is None else rest(a)
                if v is bad2:
                    return no
            elif v is bad1:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _truth_1_truth_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    (key1,) = one.keys
    good1, bad1 = one.low, one.other_low
    key2, sub2 = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key1]
            if v is good1:
                v = a[key2][sub2]
                if v is good2:
                    return yes if rest is None else rest(a)
                if v is bad2:
                    return no
            elif v is bad1:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


def _truth_2_truth_2(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    one, two = leaves
    key1, sub1 = one.keys
    good1, bad1 = one.low, one.other_low
    key2, sub2 = two.keys
    good2, bad2 = two.low, two.other_low

    def test(a: Any) -> Any:
        try:
            v = a[key1][sub1]
            if v is good1:
                v = a[key2][sub2]
                if v is good2:
                    return yes if rest is None else rest(a)
                if v is bad2:
                    return no
            elif v is bad1:
                return no
        except _ABSENT:
            pass
        return slow(a)

    return test


PAIRS: Final[dict[str, Callable[[list[Leaf], Closure | None, Any, Any, Closure], Closure]]] = {
    "e1_e1": _equal_1_equal_1,
    "e1_e2": _equal_1_equal_2,
    "e1_r1": _equal_1_range_1,
    "e1_r2": _equal_1_range_2,
    "e1_t1": _equal_1_truth_1,
    "e1_t2": _equal_1_truth_2,
    "e2_e2": _equal_2_equal_2,
    "e2_r1": _equal_2_range_1,
    "e2_r2": _equal_2_range_2,
    "e2_t1": _equal_2_truth_1,
    "e2_t2": _equal_2_truth_2,
    "r1_r1": _range_1_range_1,
    "r1_r2": _range_1_range_2,
    "r1_t1": _range_1_truth_1,
    "r1_t2": _range_1_truth_2,
    "r2_r2": _range_2_range_2,
    "r2_t1": _range_2_truth_1,
    "r2_t2": _range_2_truth_2,
    "t1_t1": _truth_1_truth_1,
    "t1_t2": _truth_1_truth_2,
    "t2_t2": _truth_2_truth_2,
}
