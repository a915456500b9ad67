"""The functions of CEL, by example: what the specification and its extensions say."""

import math
from functools import partial
from typing import Any

import pytest
from tests.runtime.programs import value_of

from rulewright_runtime.functions.conversions import format_double
from rulewright_runtime.functions.language import STRICT
from rulewright_runtime.functions.table import MAX_LIST, MAX_TEXT
from rulewright_runtime.values import NONE, Duration, Map, Optional, Timestamp, TypeValue, UInt, equal

S = 10**9
U = UInt
MOMENT = Timestamp(1_234_567_890_123_456_789)  # 2009-02-13T23:31:30.123456789Z
TOP, BOTTOM = 2**63 - 1, -(2**63)


run = partial(value_of, strict=True)


ARITHMETIC: list[tuple[Any, ...]] = [
    ("_+_", 1, 2, 3), ("_+_", TOP, 1, "error overflow"), ("_-_", BOTTOM, 1, "error overflow"),
    ("_*_", TOP, 2, "error overflow"), ("_+_", U(2**64 - 1), U(1), "error overflow"),
    ("_-_", U(0), U(1), "error overflow"), ("_/_", -7, 2, -3), ("_%_", -7, 2, -1), ("_%_", 7, -2, 1),
    ("_/_", BOTTOM, -1, "error overflow"), ("_%_", BOTTOM, -1, "error overflow"), ("_/_", 1, 0, "error divide_by_zero"),
    ("_%_", U(1), U(0), "error divide_by_zero"), ("_/_", 1.0, 0.0, math.inf), ("_/_", -1.0, 0.0, -math.inf),
    ("_/_", 1.0, -0.0, -math.inf), ("_+_", 1, 1.0, "error no_such_overload"),
    ("_+_", 1, U(1), "error no_such_overload"), ("_+_", True, True, "error no_such_overload"),
    ("_%_", 1.0, 1.0, "error no_such_overload"), ("_+_", "a", "b", "ab"), ("_+_", b"a", b"b", b"ab"),
    ("_+_", [1], [2], [1, 2]), ("_+_", "a", b"b", "error no_such_overload"),
    ("_+_", Timestamp(0), Duration(S), Timestamp(S)), ("_+_", Duration(S), Timestamp(0), Timestamp(S)),
    ("_-_", Timestamp(S), Timestamp(0), Duration(S)), ("_-_", Timestamp(S), Duration(S), Timestamp(0)),
    ("_-_", Timestamp(253402300799 * S), Timestamp(-62135596800 * S), "error overflow"),
    ("_+_", Timestamp(253402300799 * S), Duration(S), "error range"),
    ("_-_", Duration(S), Timestamp(0), "error no_such_overload"), ("@in", 1, [3, 1.0], True), ("@in", 1, [True], False),
    ("@in", 1, {"a": 1}, False), ("@in", 2.0, Map([(2, "x")]), True), ("@in", 1, "abc", "error no_such_overload"),
    ("_[_]", [1, 2], 1.0, 2), ("_[_]", [1, 2], 2, "error index_out_of_bounds"),
    ("_[_]", [1, 2], -1, "error index_out_of_bounds"), ("_[_]", [1, 2], True, "error no_such_overload"),
    ("_[_]", {"a": 1}, "b", "error no_such_key"),
]  # fmt: skip

CONVERSIONS: list[tuple[Any, ...]] = [
    ("int", -7.9, -7), ("int", math.nan, "error range"), ("int", 2.0**63, "error range"),
    ("int", U(2**63), "error range"), ("int", "-0042", -42), ("int", " 1", "error invalid_argument"),
    ("int", "1_000", "error invalid_argument"), ("int", "١", "error invalid_argument"),
    ("int", "9223372036854775808", "error range"), ("int", True, "error no_such_overload"), ("int", Timestamp(-1), -1),
    ("uint", -1, "error range"), ("uint", 3.99, U(3)), ("uint", -0.5, "error range"),
    ("uint", "-1", "error invalid_argument"), ("double", "1e3", 1000.0), ("double", "Infinity", math.inf),
    ("double", "1e999", "error range"), ("double", "1_0", "error invalid_argument"),
    ("double", True, "error no_such_overload"), ("bool", "TRUE", True), ("bool", "yes", "error invalid_argument"),
    ("bool", 1, "error no_such_overload"), ("string", b"\xc3\xa9", "é"), ("string", b"\xff", "error invalid_argument"),
    ("string", None, "error no_such_overload"), ("string", Duration(-1), "-0.000000001s"),
    ("string", Duration(1_500_000_000), "1.500s"), ("string", MOMENT, "2009-02-13T23:31:30.123456789Z"),
    ("bytes", "é", b"\xc3\xa9"), ("bytes", "\ud800", "error invalid_argument"),
    ("timestamp", "2009-02-13T23:31:30.123456789Z", MOMENT),
    ("timestamp", "2009-02-14T01:31:30+02:00", Timestamp(1_234_567_890 * S)),
    ("timestamp", "2023-02-29T00:00:00Z", "error invalid_argument"),
    ("timestamp", "2023-01-01T00:00:00+24:00", "error invalid_argument"),
    ("timestamp", "2023-01-01", "error invalid_argument"), ("timestamp", "0000-12-31T23:59:59Z", "error range"),
    ("timestamp", "9999-12-31T23:59:59-01:00", "error range"), ("timestamp", 253402300800, "error range"),
    ("duration", "1h30m0.5s", Duration(5400 * S + S // 2)), ("duration", "-1.5ms", Duration(-1_500_000)),
    ("duration", "1µs", Duration(1000)), ("duration", "0", Duration(0)), ("duration", "1", "error invalid_argument"),
    ("duration", "1d", "error invalid_argument"), ("duration", "320000000000s", "error range"),
    ("type", Optional(1), TypeValue("optional_type")), ("dyn", 1, 1),
]  # fmt: skip

TEXTS: list[tuple[Any, ...]] = [
    ("charAt", "tacocat", 7, ""),
    ("charAt", "tacocat", 8, "error index_out_of_bounds"),
    ("indexOf", "tacocat", "a", 3, 5),
    ("indexOf", "tacocat", "", 7, 7),
    ("indexOf", "tacocat", "", 8, "error index_out_of_bounds"),
    ("lastIndexOf", "bananananana", "nana", 7, 6),
    ("lastIndexOf", "tacocat", "a", -1, "error index_out_of_bounds"),
    ("join", ["a", "b"], "-", "a-b"),
    ("join", ["a", 1], "error no_such_overload"),
    ("strings.quote", 'a\n"\\\x07', '"a\\n\\"\\\\\\a"'),
    ("replace", "aaa", "a", "b", 2, "bba"),
    ("replace", "aaa", "", "b", "bababab"),
    ("split", "a,b,c", ",", 2, ["a", "b,c"]),
    ("split", "abc", "", 2, ["a", "bc"]),
    ("split", "abc", "", ["a", "b", "c"]),
    ("split", "ab", "", 9, ["a", "b"]),
    ("split", "abc", ",", 0, []),
    ("split", "", "", [""]),
    ("substring", "tacocat", 4, 3, "error index_out_of_bounds"),
    ("substring", "ta©o", 2, "©o"),
    ("trim", "\u0085\u00a0text\u2028\u180e", "text\u2028\u180e"),
    ("upperAscii", "aé", "Aé"),
    ("reverse", "ab©", "©ba"),
    ("matches", "banana", "ba(na)*", True),
    ("matches", "a", "(?=a)", "error invalid_argument"),
    ("matches", "a", r"(a)\1", "error invalid_argument"),
    ("matches", "a\n", "^a$", False),
    ("matches", "a" * 5000 + "b", "(a|aa)+$", False),
    ("contains", "abc", 1, "error no_such_overload"),
    ("startsWith", "abc", "ab", True),
    ("endsWith", "abc", "bc", True),
    ("base64.decode", "aGVsbG8", b"hello"),
    ("base64.decode", "a$b", "error invalid_argument"),
    ("base64.encode", b"hello", "aGVsbG8="),
    ("regex.replace", "abc-abd", r"ab(.)", r"<\1>", "<c>-<d>"),
    ("regex.replace", "aaa", "a", "b", 2, "bba"),
    ("regex.replace", "00", r"\B", "x", "0x0"),
    ("regex.replace", "baac", "a*", "-", "-b-c-"),
    ("regex.replace", "a", "b", r"\1", "error invalid_argument"),
    ("regex.replace", "a", "a", "\\", "error invalid_argument"),
    ("regex.replace", "a", "a", r"\\", "\\"),
    ("regex.replace", "a", "[", "b", 0, "a"),
    ("regex.extractAll", "ab", r"\z", [""]),
    ("regex.extract", "id:12", r"id:(\d+)", Optional("12")),
    ("regex.extract", "none", r"id:(\d+)", NONE),
    ("regex.extractAll", "id:1 id:2", r"id:(\d)", ["1", "2"]),
    ("regex.extract", "ab", "(a)(b)", "error invalid_argument"),
    ("format", "%s %d %.2f %e", ["a", 1, 1.005, 2.0], "a 1 1.00 2.000000e+00"),
    ("format", "%b %o %x %X %%", [5, 8, "é", -255], "101 10 c3a9 -FF %"),
    ("format", "%s", [{"b": [1.5, None], "a": True}], "{a: true, b: [1.5, null]}"),
    ("format", "%s %s", [MOMENT, Duration(S)], "2009-02-13T23:31:30.123456789Z 1s"),
    ("format", "%s", [math.inf], "Infinity"),
    ("format", "%d", ["x"], "error invalid_argument"),
    ("format", "%s %s %s", [1e21, 1e-7, -0.0], "1000000000000000000000 0.0000001 -0"),
    ("format", "%s", [[1234567.25, math.nan, -math.inf]], "[1234567.25, NaN, -Infinity]"),
    ("format", "%s %s", [Duration(1_500_000_000), Duration(-1)], "1.5s -0.000000001s"),
    ("format", "%s", [b"a\xc0\x80\xffb\xff"], "a\ufffdb\ufffd"),
    ("format", "%d %d %d", [1.5, 1e21, math.inf], "1.5 1000000000000000000000 Infinity"),
    ("format", "%s", [], "error invalid_argument"),
    ("format", "%q", [1], "error invalid_argument"),
    ("format", "%", [], "error invalid_argument"),
    ("format", "%.f", [1.0], "error invalid_argument"),
    ("format", "%.9999f", [1.0], "error invalid_argument"),
    ("format", "%s", [NONE], "error invalid_argument"),
]

NUMBERS: list[tuple[Any, ...]] = [
    ("math.greatest", 1, 2.5, U(2), 2.5), ("math.greatest", [1, 1.0], 1), ("math.least", [], "error invalid_argument"),
    ("math.least", 1, "a", "error no_such_overload"), ("math.round", -2.5, -3.0),
    ("math.round", 0.49999999999999994, 0.0), ("math.ceil", 1, "error no_such_overload"), ("math.floor", -1.5, -2.0),
    ("math.trunc", -1.9, -1.0), ("math.abs", BOTTOM, "error overflow"), ("math.sign", U(7), U(1)),
    ("math.sqrt", 16, 4.0), ("math.isNaN", math.nan, True), ("math.isInf", -math.inf, True),
    ("math.isFinite", math.inf, False), ("math.bitNot", U(0), U(2**64 - 1)),
    ("math.bitAnd", 1, U(1), "error no_such_overload"), ("math.bitShiftLeft", 1, 63, BOTTOM),
    ("math.bitShiftLeft", 1, 64, 0), ("math.bitShiftRight", -1024, 3, 2305843009213693824),
    ("math.bitShiftRight", 1, -1, "error invalid_argument"),
]  # fmt: skip

LISTS: list[tuple[Any, ...]] = [
    ("distinct", [1, 1.0, "a", U(1), "a", True], [1, "a", True]), ("flatten", [[1], [2, [3]]], [1, 2, [3]]),
    ("flatten", [[1], [2, [3]]], 2, [1, 2, 3]), ("flatten", [1], -1, "error invalid_argument"),
    ("lists.range", 3, [0, 1, 2]), ("lists.range", MAX_LIST + 1, "error limit"), ("reverse", [1, 2], [2, 1]),
    ("slice", [1, 2, 3], 1, 2, [2]), ("slice", [1, 2, 3], 2, 1, "error index_out_of_bounds"),
    ("sort", [3, 1, 2], [1, 2, 3]), ("sort", ["b", 1], "error no_such_overload"),
    ("sort", [[1], [0]], "error no_such_overload"), ("first", [], NONE), ("last", [1, 2], Optional(2)),
    ("sets.contains", [1, 2], [1.0], True), ("sets.equivalent", [1, 1], [U(1)], True),
    ("sets.intersects", [], [1], False), ("optional.ofNonZeroValue", "", NONE),
    ("optional.ofNonZeroValue", Duration(0), NONE), ("optional.of", None, Optional(None)),
    ("value", NONE, "error no_value"), ("hasValue", 1, "error no_such_overload"),
    ("optional.unwrap", [NONE, Optional(1)], [1]), ("size", "©😀", 2), ("size", 1, "error no_such_overload"),
]  # fmt: skip

TIMES: list[tuple[Any, ...]] = [
    ("getFullYear", MOMENT, 2009), ("getMonth", MOMENT, 1), ("getDate", MOMENT, "Australia/Sydney", 14),
    ("getDayOfMonth", MOMENT, 12), ("getDayOfWeek", MOMENT, 5), ("getDayOfYear", MOMENT, "-09:30", 43),
    ("getHours", MOMENT, "02:00", 1), ("getMinutes", MOMENT, "Asia/Kathmandu", 16), ("getSeconds", MOMENT, 30),
    ("getMilliseconds", MOMENT, 123), ("getHours", MOMENT, "No/Where", "error invalid_argument"),
    ("getHours", MOMENT, "../etc/passwd", "error invalid_argument"),
    ("getHours", MOMENT, "25:00", "error invalid_argument"), ("getHours", MOMENT, "Z", "error invalid_argument"),
    ("getHours", MOMENT, 1, "error no_such_overload"), ("getFullYear", Timestamp(253402300799 * S), "+14:00", 10000),
    ("getFullYear", Timestamp(-62135596800 * S), "-01:00", 0),
    ("getFullYear", Timestamp(-62135596800 * S), "America/New_York", 0), ("getHours", Duration(-3730 * S), -1),
    ("getMinutes", Duration(3730 * S), 62), ("getMilliseconds", Duration(123_321_456_789), 321),
    ("getFullYear", Duration(1), "error no_such_overload"),
]  # fmt: skip

CASES = [*ARITHMETIC, *CONVERSIONS, *TEXTS, *NUMBERS, *LISTS, *TIMES]


def test_every_function_answers_as_specified() -> None:
    answers = [(case, run(*case[:-1])) for case in CASES]
    assert [(case, found) for case, found in answers if type(found) is not type(case[-1])] == []
    assert [(case, found) for case, found in answers if not equal(found, case[-1])] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"), (-0.0, "-0"), (1e6, "1e+06"), (123456.5, "123456.5"), (1234567.5, "1.2345675e+06"),
        (0.1 + 0.2, "0.30000000000000004"), (1e-5, "1e-05"), (0.0001, "0.0001"), (5e-324, "5e-324"), (1e100, "1e+100"),
        (math.inf, "+Inf"), (math.nan, "NaN"),
    ],
)  # fmt: skip
def test_a_double_is_written_as_cel_go_writes_it(value: float, text: str) -> None:
    assert format_double(value) == text


GROWTH: list[tuple[Any, ...]] = [
    ("_+_", "a" * MAX_TEXT, "b"), ("replace", "a" * 100_000, "a", "b" * 1000),
    ("replace", "a" * 100_000, "", "b" * 1000), ("join", ["a" * 1_000_000] * 11), ("split", "a" * (MAX_LIST + 1), ""),
    ("_+_", [0] * MAX_LIST, [1]), ("flatten", [[0] * 1000] * 1001), ("format", "%s" * 11, ["a" * 1_000_000] * 11),
    ("format", "%s", [[["a" * 100_000] * 100] * 100]), ("regex.replace", "a" * 100_000, "a", "b" * 1000),
    ("sets.contains", list(range(10_000)), list(range(10_000))),
]  # fmt: skip


@pytest.mark.parametrize("case", GROWTH, ids=lambda case: str(case[0]))
def test_growth_without_end_is_a_limit(case: tuple[Any, ...]) -> None:
    assert run(*case) == "error limit"


ODD: list[Any] = [
    None, True, 1, U(1), 1.5, math.nan, "a", "a\ud800", b"a", [], {}, Timestamp(0), Duration(0), NONE, TypeValue("int"),
]  # fmt: skip


@pytest.mark.parametrize("function", sorted(STRICT))
def test_any_function_takes_any_values_and_raises_only_evaluation_errors(function: str) -> None:
    _, least, most = STRICT[function]
    for count in range(least, min(most, 3) + 1):
        for first in ODD:
            for second in ODD if count > 1 else [None]:
                run(function, *[first, second, second][:count])
