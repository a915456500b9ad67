"""Random well-typed expressions mean the same here as in Google's C++ engine.

`RULEWRIGHT_TORTURE=1` runs many more. What is known to differ is left out where it is generated, with its reason.
"""

from __future__ import annotations

import datetime as dt
import math
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rulewright import cel as ours

EXAMPLES = 20_000 if os.environ.get("RULEWRIGHT_TORTURE") else 1_200
TYPES = {
    "i": "int",
    "j": "int",
    "u": "uint",
    "d": "double",
    "b": "bool",
    "s": "string",
    "li": "list(int)",
    "ls": "list(string)",
    "m": "map(string, int)",
    "x": "dyn",
}
ERROR = "an error"


@cache
def _engine() -> Any:
    from cel_expr_python import cel  # type: ignore[import-untyped,unused-ignore]
    from cel_expr_python.ext import (  # type: ignore[import-untyped,unused-ignore]
        ext_bindings,
        ext_encoders,
        ext_math,
        ext_optional,
        ext_strings,
    )

    kinds = {
        "int": cel.Type.INT,
        "uint": cel.Type.UINT,
        "double": cel.Type.DOUBLE,
        "bool": cel.Type.BOOL,
        "string": cel.Type.STRING,
        "dyn": cel.Type.DYN,
        "list(int)": cel.Type.List(cel.Type.INT),
        "list(string)": cel.Type.List(cel.Type.STRING),
        "map(string, int)": cel.Type.Map(cel.Type.STRING, cel.Type.INT),
    }
    extensions = [
        next(
            kind()
            for name, kind in vars(module).items()
            if isinstance(kind, type) and issubclass(kind, cel.CelExtensionBase) and kind is not cel.CelExtensionBase
        )
        for module in (ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings)
    ]
    return cel.NewEnv(variables={name: kinds[kind] for name, kind in TYPES.items()}, extensions=extensions)


def theirs(expression: str, bindings: Mapping[str, object]) -> object:
    """What the C++ engine says."""
    try:
        value = _engine().compile(expression).eval(data=dict(bindings))
        if str(value.type()) == "ERROR":
            return ERROR
        return plain(value.plain_value())
    except Exception:
        return ERROR


def mine(expression: str, bindings: Mapping[str, object]) -> object:
    """What we say; only documented errors may escape."""
    try:
        return plain(ours.evaluate(expression, bindings, TYPES))
    except ours.EXPECTED_ERRORS:
        return ERROR


def plain(value: Any) -> object:
    """A value in a form both engines share: C++ gives a uint as an int, bytes as a bytearray."""
    if value is None or isinstance(value, (bool, str, dt.datetime, dt.timedelta)):
        return value
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "items"):
        return sorted(((repr(plain(k)), plain(v)) for k, v in value.items()), key=lambda pair: pair[0])
    name = getattr(value, "name", None)
    return name() if callable(name) else name


Text = st.SearchStrategy[str]
SMALL = st.integers(-3, 5).map(str)
EDGES = st.sampled_from(
    ["9223372036854775807", "-9223372036854775808", "9007199254740993", "-9223372036854775807", "64", "63"]
)
WORDS = st.sampled_from(["''", "'a'", "'ab'", "'abc'", "'B'", "'é'", "'a,b'", "'1'", "'-7'", "'true'", "'aXa'"])
DOUBLES = st.sampled_from(
    ["0.0", "1.0", "-1.0", "0.5", "2.5", "-2.5", "1e300", "0.1", "3.0", "9007199254740992.0", "1e19"]
)
PATTERNS = st.sampled_from(["'a'", "'^a'", "'b$'", "'[a-c]+'", "'a|B'", "'(a)(b)?'", "'['", "'a{2}'", "r'\\w'"])
INSTANTS = st.sampled_from(
    [
        "timestamp('2009-02-13T23:31:30Z')",
        "timestamp('1969-12-31T23:59:59.5Z')",
        "timestamp('9999-12-31T23:59:59Z')",
        "timestamp('0001-01-01T00:00:00Z')",
        "timestamp('2024-02-29T12:00:00+02:00')",
    ]
)
SPANS = st.sampled_from(
    ["duration('1s')", "duration('-1h30m')", "duration('0.000001s')", "duration('200000000000s')", "duration('90m')"]
)
ZONES = st.sampled_from(["'UTC'", "'Australia/Sydney'", "'-09:30'", "'02:00'", "'America/New_York'", "'no/where'"])


def _of(*parts: Text, form: str) -> Text:
    return st.tuples(*parts).map(lambda given: form.format(*given))


def _forms(table: list[tuple[str, tuple[Text, ...]]]) -> list[Text]:
    return [_of(*parts, form=form) for form, parts in table]


@cache
def integers(depth: int) -> Text:
    base = st.one_of(SMALL, EDGES, st.sampled_from(["i", "j"]))
    if depth == 0:
        return base
    n, s, d, u = integers(depth - 1), strings(depth - 1), doubles(depth - 1), uints(depth - 1)
    xs, moment, span = lists(depth - 1), INSTANTS, SPANS
    table: list[tuple[str, tuple[Text, ...]]] = [
        *((f"({{}} {op} {{}})", (n, n)) for op in "+-*/%"),
        ("(-({}))", (n,)),
        ("size({})", (s,)),
        ("{}.size()", (xs,)),
        ("int({})", (d,)),
        ("int({})", (u,)),
        ("int({})", (s,)),
        ("({} ? {} : {})", (booleans(depth - 1), n, n)),
        ("{}[{}]", (xs, n)),
        ("m[{}]", (s,)),
        ("m.?a.orValue({})", (n,)),
        ("{}[?{}].orValue({})", (xs, n, n)),
        ("optional.ofNonZeroValue({}).or(optional.of({})).value()", (n, n)),
        ("math.greatest({}, {})", (n, n)),
        ("math.least({}, {}, {})", (n, n, n)),
        ("math.abs({})", (n,)),
        ("math.sign({})", (n,)),
        ("math.bitAnd({}, {})", (n, n)),
        ("math.bitXor({}, {})", (n, n)),
        ("math.bitNot({})", (n,)),
        ("math.bitShiftLeft({}, {})", (n, n)),
        ("math.bitShiftRight({}, {})", (n, n)),
        ("{}.indexOf({})", (s, s)),
        ("{}.indexOf({}, {})", (s, s, n)),
        ("{}.lastIndexOf({})", (s, s)),
        ("{}.lastIndexOf({}, {})", (s, s, n)),
        ("{}.getHours({})", (moment, ZONES)),
        ("{}.getDayOfWeek({})", (moment, ZONES)),
        ("{}.getDayOfYear()", (moment,)),
        ("{}.getFullYear({})", (moment, ZONES)),
        ("{}.getMilliseconds()", (st.one_of(moment, span),)),
        ("{}.getMinutes()", (st.one_of(moment, span),)),
        ("int({})", (moment,)),
        ("cel.bind(v, {}, v + {})", (n, n)),
    ]
    return st.one_of(base, *_forms(table))


@cache
def uints(depth: int) -> Text:
    base = st.sampled_from(["0u", "1u", "7u", "18446744073709551615u", "u"])
    if depth == 0:
        return base
    n, d, u = integers(depth - 1), doubles(depth - 1), uints(depth - 1)
    table: list[tuple[str, tuple[Text, ...]]] = [
        *((f"({{}} {op} {{}})", (u, u)) for op in "+-*/%"),
        ("uint({})", (n,)),
        ("uint({})", (d,)),
        ("math.bitOr({}, {})", (u, u)),
        ("math.bitNot({})", (u,)),
        ("math.bitShiftRight({}, {})", (u, n)),
    ]
    return st.one_of(base, *_forms(table))


@cache
def doubles(depth: int) -> Text:
    base = st.one_of(DOUBLES, st.just("d"))
    if depth == 0:
        return base
    n, d, u = integers(depth - 1), doubles(depth - 1), uints(depth - 1)
    table: list[tuple[str, tuple[Text, ...]]] = [
        *((f"({{}} {op} {{}})", (d, d)) for op in "+-*/"),
        ("(-({}))", (d,)),
        ("double({})", (st.one_of(n, u),)),
        ("({} ? {} : {})", (booleans(depth - 1), d, d)),
        *((f"math.{f}({{}})", (d,)) for f in ("ceil", "floor", "round", "trunc", "abs", "sign", "sqrt")),
        ("math.greatest({}, {})", (d, d)),
    ]
    return st.one_of(base, *_forms(table))


@cache
def strings(depth: int) -> Text:
    base = st.one_of(WORDS, st.just("s"))
    if depth == 0:
        return base
    n, s, xs = integers(depth - 1), strings(depth - 1), words(depth - 1)
    table: list[tuple[str, tuple[Text, ...]]] = [
        ("({} + {})", (s, s)),
        ("string({})", (st.one_of(n, booleans(depth - 1), uints(depth - 1), INSTANTS, SPANS),)),
        ("string(bytes({}))", (s,)),
        ("{}.charAt({})", (s, n)),
        ("{}.substring({})", (s, n)),
        ("({} + 'zzzzzz').substring({}, {})", (s, n, SMALL)),  # that engine refuses an end at the very end
        ("{}.replace({}, {})", (s, s, s)),
        ("{}.replace({}, {}, {})", (s, s, s, SMALL)),
        ("{}.upperAscii()", (s,)),
        ("{}.lowerAscii()", (s,)),
        ("{}.trim()", (s,)),
        ("{}.reverse()", (s,)),
        ("{}.join({})", (xs, s)),
        ("strings.quote({})", (s,)),
        ("'%s-%d'.format([{}, {}])", (s, n)),
        ("'%x %b %o'.format([{}, {}, {}])", (n, n, n)),
        ("'%.2f %.3e'.format([{}, {}])", (doubles(0), doubles(0))),
        ("base64.encode(bytes({}))", (s,)),
        ("({} ? {} : {})", (booleans(depth - 1), s, s)),
    ]
    return st.one_of(base, *_forms(table))


@cache
def lists(depth: int) -> Text:
    base = st.sampled_from(["[]", "[1, 2, 3]", "[0]", "li"])
    if depth == 0:
        return base
    n, xs = integers(depth - 1), lists(depth - 1)
    table: list[tuple[str, tuple[Text, ...]]] = [
        ("[{}, {}]", (n, n)),
        ("({} + {})", (xs, xs)),
        ("{}.map(e, e * {})", (xs, n)),
        ("{}.map(e, e > {}, e + 1)", (xs, n)),
        ("{}.filter(e, e < {})", (xs, n)),
        ("{}.filter(e, {}.exists(f, f == e))", (xs, xs)),
        ("[?optional.ofNonZeroValue({}), {}]", (n, n)),
    ]
    return st.one_of(base, *_forms(table))


@cache
def words(depth: int) -> Text:
    base = st.sampled_from(["['a', 'b']", "['']", "ls"])
    if depth == 0:
        return base
    s = strings(depth - 1)
    return st.one_of(
        base, *_forms([("[{}, {}]", (s, s)), ("{}.split({})", (s, s)), ("{}.split({}, {})", (s, s, SMALL))])
    )


@cache
def booleans(depth: int) -> Text:
    base = st.sampled_from(["true", "false", "b"])
    if depth == 0:
        return base
    n, d, s, u, b = (make(depth - 1) for make in (integers, doubles, strings, uints, booleans))
    xs, ys = lists(depth - 1), words(depth - 1)
    order = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    anything = st.one_of(n, d, s, u, b, xs, ys, st.just("x"), st.just("null"), st.just("m"))
    table: list[tuple[str, tuple[Text, ...]]] = [
        *(("({} {} {})", (kind, order, kind)) for kind in (n, d, s, u, b, INSTANTS, SPANS)),
        ("(dyn({}) {} dyn({}))", (anything, order, anything)),
        ("(dyn({}) {} {})", (n, order, d)),  # without `dyn` that engine's checker has no order across types
        ("(dyn({}) {} {})", (u, order, n)),
        ("({} == {})", (xs, xs)),
        ("({} && {})", (b, b)),
        ("({} || {})", (b, b)),
        ("!({})", (b,)),
        ("({} && {} / {} > 0)", (b, n, n)),
        ("({} / {} > 0 || {})", (n, n, b)),
        ("({} ? {} : {})", (b, b, b)),
        ("({} in {})", (n, xs)),
        ("({} in {})", (s, ys)),
        ("({} in m)", (s,)),
        ("(dyn({}) in {})", (anything, xs)),
        ("(dyn({}) in m)", (anything,)),
        ("has(m.{})", (st.sampled_from(["a", "b", "zz"]),)),
        ("{}.contains({})", (s, s)),
        ("{}.startsWith({})", (s, s)),
        ("{}.endsWith({})", (s, s)),
        ("{}.matches({})", (s, PATTERNS)),
        ("{}.all(e, e > {})", (xs, n)),
        ("{}.exists(e, {} / e == 1)", (xs, n)),
        ("{}.exists_one(e, e == {})", (xs, n)),
        ("{}.all(e, {} / (e - 1) > 0)", (xs, n)),
        ("{}.exists(e, e == {} || {})", (ys, s, b)),
        ("m.all(k, m[k] > {})", (n,)),
        ("math.isNaN({})", (d,)),
        ("math.isInf({})", (d,)),
        ("bool({})", (s,)),
        ("optional.of({}).hasValue()", (n,)),
        ("m.?{}.hasValue()", (st.sampled_from(["a", "zz"]),)),
        ("({} == optional.of({}))", (st.just("m.?a"), n)),
        ("(type({}) == type({}))", (anything, anything)),
        ("(x == {})", (anything,)),
        ("(x {} {})", (order, n)),
    ]
    return st.one_of(base, *_forms(table))


EXPRESSIONS = st.one_of(*(make(3) for make in (integers, uints, doubles, strings, booleans, lists, words)))
NUMBERS = st.one_of(st.integers(-3, 5), st.sampled_from([2**63 - 1, -(2**63)]))
ANYTHING: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.sampled_from([0.0, 1.5, math.inf, math.nan]),
    st.sampled_from(["", "a"]),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 3), max_size=2),
)
BINDINGS = st.fixed_dictionaries(
    {
        "i": NUMBERS,
        "j": NUMBERS,
        "u": st.sampled_from([0, 1, 2**64 - 1]).map(ours.UInt),
        "d": st.sampled_from([0.0, -0.0, 0.1, 2.5, -7.0, math.inf, math.nan]),
        "b": st.booleans(),
        "s": st.sampled_from(["", "a", "abc", "é😀", "B b"]),
        "li": st.lists(st.integers(-2, 3), max_size=3),
        "ls": st.lists(st.sampled_from(["", "a", "b,c"]), max_size=3),
        "m": st.dictionaries(st.sampled_from(["a", "b", "abc"]), st.integers(-2, 3), max_size=3),
        "x": ANYTHING,
    }
)


def _bound(bindings: Mapping[str, Any]) -> dict[str, Any]:
    """The C++ binding takes a uint as an int."""
    return {name: int(value) if name == "u" else value for name, value in bindings.items()}


@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
@given(EXPRESSIONS, BINDINGS)
def test_random_expressions_mean_the_same_as_in_the_cpp_engine(expression: str, bindings: dict[str, Any]) -> None:
    assert mine(expression, bindings) == theirs(expression, _bound(bindings))
