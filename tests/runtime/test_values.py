"""Values keep apart what CEL keeps apart and compare as CEL compares."""

import datetime as dt
import math
from collections.abc import Callable
from typing import Any

import pytest

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.score import Score
from rulewright_runtime.values import (
    NONE,
    Duration,
    Map,
    Optional,
    Timestamp,
    TypeValue,
    UInt,
    cel_type_name,
    equal,
    find,
    from_host,
    less,
    make_map,
    to_host,
)

NAN = math.nan
EQUAL: list[tuple[Any, Any, bool]] = [
    (1, 1.0, True),
    (1, UInt(1), True),
    (UInt(1), 1.0, True),
    (1, True, False),
    (1.0, True, False),
    (0, False, False),
    (2**53 + 1, float(2**53), True),  # an integer counts as the nearest double
    (2**63 - 1, float(2**63), True),
    (2**53 + 2, float(2**53), False),
    (UInt(2**64 - 1), -1, False),
    (NAN, NAN, False),
    ([NAN], [NAN], False),
    ([1, 2], (1.0, UInt(2)), True),
    ([1], [True], False),
    ([1], [1, 1], False),
    ({"a": 1}, {"a": 1.0}, True),
    ({"a": 1}, {"b": 1}, False),
    (Map([(1, "x")]), Map([(UInt(1), "x")]), True),
    (Map([(True, "x")]), {1: "x"}, False),
    ("1", 1, False),
    ("a", b"a", False),
    (None, False, False),
    (None, None, True),
    (0.0, -0.0, True),
    (Timestamp(0), Duration(0), False),
    (Timestamp(5), Timestamp(5), True),
    (TypeValue("int"), TypeValue("int"), True),
    (TypeValue("int"), "int", False),
    (NONE, NONE, True),
    (NONE, Optional(None), False),
    (Optional(1), Optional(1.0), True),
    (Optional(1), 1, False),
]


@pytest.mark.parametrize(("left", "right", "same"), EQUAL)
def test_equality_is_what_the_specification_says_both_ways_round(left: Any, right: Any, same: bool) -> None:
    assert equal(left, right) is same
    assert equal(right, left) is same


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *[(1, 1.5), (UInt(1), 2), (-1, UInt(0)), (2**53, 2.0**53 + 2), ("a", "b"), (b"a", b"b"), (False, True)],
        *[(Timestamp(1), Timestamp(2)), (Duration(-1), Duration(0)), ("Z", "a"), ("z", "é"), (-math.inf, 0)],
    ],
)
def test_order_runs_across_numbers_and_within_types(left: Any, right: Any) -> None:
    assert less(left, right) is True
    assert less(right, left) is False


@pytest.mark.parametrize(
    ("left", "right"), [(1, "1"), (True, 1), (None, None), ([1], [2]), ({}, {}), (Timestamp(0), 1), (NONE, NONE)]
)
def test_types_without_a_common_order_have_no_overload(left: Any, right: Any) -> None:
    with pytest.raises(EvaluationError) as caught:
        less(left, right)
    assert caught.value.code == "no_such_overload"


def test_nothing_is_less_or_greater_than_nan() -> None:
    assert less(NAN, 1) is False
    assert less(1, NAN) is False


def test_a_map_keeps_keys_that_python_would_merge() -> None:
    mixed = Map([(1, "int"), (UInt(1), "uint"), (True, "bool"), ("1", "string"), (2, "two")])
    assert len(mixed) == 5
    assert mixed[1] == "int"
    assert mixed[UInt(1)] == "uint"
    assert mixed[True] == "bool"
    assert mixed["1"] == "string"
    assert mixed[1.0] == "int"
    assert mixed[UInt(2)] == "two"
    assert 2.5 not in mixed
    assert NAN not in mixed
    assert False not in mixed
    assert [type(key).__name__ for key, _ in mixed.items()] == ["int", "UInt", "bool", "str", "int"]
    with pytest.raises(KeyError):
        mixed[b"1"]


def test_equality_of_maps_is_symmetric_though_1_and_1u_are_two_keys() -> None:
    both, one = Map([(1, "a"), (UInt(1), "a")]), Map([(1, "a"), (2, "b")])
    assert not equal(both, one)
    assert not equal(one, both)
    assert equal(both, Map([(UInt(1), "a"), (1, "a")]))
    three = Map([(1, "a"), (UInt(1), "a"), (2, "x")])
    other = Map([(1, "a"), (2, "x"), (UInt(2), "y")])
    assert not equal(three, other)
    assert not equal(other, three)


@pytest.mark.parametrize("pairs", [[(1.0, 1)], [(None, 1)], [(b"a", 1)], [("a", 1), ("a", 2)], [(1, 1), (1, 2)]])
def test_a_map_refuses_keys_that_are_repeated_or_of_another_type(pairs: list[tuple[Any, Any]]) -> None:
    with pytest.raises(EvaluationError):
        make_map(pairs)


def test_a_dict_from_outside_is_searched_like_a_map() -> None:
    assert find({1: "x"}, True) is NONE
    assert find({True: "x"}, 1) is NONE
    assert find({True: "x"}, True) == Optional("x")
    assert find({0: "x"}, UInt(0)) == Optional("x")
    assert find({3: "x"}, 3.0) == Optional("x")
    assert find({"a": None}, "a") == Optional(None)
    assert find({"a": 1}, "b") is NONE
    assert find({"a": 1}, [1]) is NONE


def test_every_value_has_the_name_of_its_type() -> None:
    named: dict[str, Any] = {
        "null_type": None, "bool": True, "int": 1, "uint": UInt(1), "double": 1.0, "string": "", "bytes": b"",
        "list": [], "map": {}, "type": TypeValue("int"), "optional_type": NONE, "score": Score(1),
        "google.protobuf.Timestamp": Timestamp(0), "google.protobuf.Duration": Duration(0),
    }  # fmt: skip
    assert {name: cel_type_name(value) for name, value in named.items()} == {name: name for name in named}
    assert cel_type_name(Map()) == "map"
    assert cel_type_name(object()) == "unknown"


def test_moments_and_spans_stay_in_their_range() -> None:
    first = dt.datetime(1, 1, 1, tzinfo=dt.UTC)
    assert Timestamp.from_datetime(first).to_datetime() == first
    last = dt.datetime(9999, 12, 31, 23, 59, 59, 999999, dt.UTC)
    assert Timestamp.from_datetime(last).to_datetime() == last
    with pytest.raises(EvaluationError):
        Timestamp(Timestamp.from_datetime(first).nanos - 1)
    with pytest.raises(EvaluationError):
        Timestamp.from_datetime(dt.datetime(2024, 1, 1))
    with pytest.raises(EvaluationError):
        Duration(315_576_000_001 * 10**9)
    assert Duration(-1500).to_timedelta() == dt.timedelta(microseconds=-1)


def test_values_of_python_go_in_and_come_out() -> None:
    moment, span = dt.datetime(2024, 2, 29, tzinfo=dt.UTC), dt.timedelta(seconds=1.5)
    given = {"t": moment, "d": [span], "m": {1: UInt(2)}, "n": None, "b": bytearray(b"x")}
    inside = from_host(given)
    assert isinstance(inside, dict)
    assert inside["t"] == Timestamp.from_datetime(moment)
    assert inside["d"] == [Duration(1_500_000_000)]
    assert isinstance(inside["m"], Map)
    outside = to_host(inside)
    assert isinstance(outside, dict)
    assert outside["t"] == moment
    assert outside["d"] == [span]
    assert outside["b"] == b"x"
    assert to_host(Score(4, 5)) == 0.8
    assert to_host(Optional(Duration(1000))) == Optional(dt.timedelta(microseconds=1))
    assert to_host(NONE) is NONE


def test_values_nested_without_end_are_a_limit_not_a_crash() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    other: list[Any] = []
    for _ in range(5000):
        other = [other]
    assert equal(deep, other)
    convert: Callable[[object], object]
    for convert in (from_host, to_host):
        with pytest.raises(EvaluationError) as caught:
            convert(deep)
        assert caught.value.code == "limit"


def test_values_that_share_their_parts_without_end_are_a_limit_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rulewright_runtime.values._STEPS", 10_000)
    one: list[Any] = [1]
    two: list[Any] = [1]
    for _ in range(60):
        one, two = [one, one], [two, two]
    attempts: list[Callable[[], object]] = [lambda: equal(one, two), lambda: to_host(one)]
    for attempt in attempts:
        with pytest.raises(EvaluationError) as caught:
            attempt()
        assert caught.value.code == "limit"
