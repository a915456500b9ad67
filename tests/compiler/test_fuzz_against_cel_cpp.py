"""Random well-typed expressions mean the same here as in Google's C++ engine.

`RULEWRIGHT_TORTURE=1` runs many more. What is known to differ is left out where it is generated, with its reason.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.compiler.expressions_at_random import WHOLE, expressions, mistyped
from tests.rounds import rounds

from rulewright import cel as ours
from rulewright.errors import ExpressionError

EXAMPLES = rounds(120, 20_000)
TYPES = {
    "i": "int",
    "j": "int",
    "u": "uint",
    "d": "double",
    "b": "bool",
    "s": "string",
    "y": "bytes",
    "t": "timestamp",
    "r": "duration",
    "li": "list(int)",
    "ls": "list(string)",
    "m": "map(string, int)",
    "x": "dyn",
}
LIBRARIES = ("strings", "math", "lists", "sets", "encoders", "bindings", "optional", "regex", "two-var-comprehensions")
ERROR = "an error"


@cache
def _engine() -> Any:
    from cel_expr_python import cel  # type: ignore[import-untyped,unused-ignore]

    kinds = {kind: getattr(cel.Type, kind.upper(), None) for kind in TYPES.values()}
    kinds["list(int)"] = cel.Type.List(cel.Type.INT)
    kinds["list(string)"] = cel.Type.List(cel.Type.STRING)
    kinds["map(string, int)"] = cel.Type.Map(cel.Type.STRING, cel.Type.INT)
    config = "".join(["name: all\nextensions:\n", *(f"- name: {name}\n" for name in LIBRARIES)])
    variables = {name: kinds[kind] for name, kind in TYPES.items()}
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(config), variables=variables)


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


EXPRESSIONS = st.sampled_from(WHOLE).flatmap(lambda kind: expressions(kind, 3))
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
        "y": st.sampled_from([b"", b"a", b"\xff"]),
        "t": st.sampled_from(
            [dt.datetime(2020, 2, 29, 23, 59, 59, 500_000, dt.UTC), dt.datetime(1969, 1, 1, tzinfo=dt.UTC)]
        ),
        "r": st.sampled_from([dt.timedelta(0), dt.timedelta(hours=-5), dt.timedelta(milliseconds=1500)]),
        "li": st.lists(st.integers(-2, 3), max_size=3),
        "ls": st.lists(st.sampled_from(["", "a", "b,c"]), max_size=3),
        "m": st.dictionaries(st.sampled_from(["a", "b", "abc"]), st.integers(-2, 3), max_size=3),
        "x": ANYTHING,
    }
)


def _bound(bindings: Mapping[str, Any]) -> dict[str, Any]:
    """The C++ binding takes a uint as an int."""
    return {name: int(value) if name == "u" else value for name, value in bindings.items()}


fuzzed = settings(max_examples=EXAMPLES, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@fuzzed
@given(EXPRESSIONS, BINDINGS)
def test_random_expressions_mean_the_same_as_in_the_cpp_engine(expression: str, bindings: dict[str, Any]) -> None:
    assert mine(expression, bindings) == theirs(expression, _bound(bindings))


@fuzzed
@given(mistyped())
def test_random_mistakes_are_found_where_the_cpp_engine_finds_them(expression: str) -> None:
    try:
        _engine().compile(expression)
    except Exception as error:
        places = re.findall(r"<input>:(\d+):(\d+)", str(error))
        with pytest.raises(ExpressionError) as caught:
            ours.check(expression, TYPES)
        first = caught.value.errors[0]
        assert (first.line, first.column) == min((int(line), int(column)) for line, column in places)
    else:
        ours.check(expression, TYPES)
