"""The published conformance cases of CEL, through the public module: values, types and mistakes, policies; and random
expressions, compared with the engine in C++."""

import collections
import datetime as dt
import importlib.util
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.compiler.expressions_at_random import WHOLE, expressions, mistyped
from tests.rounds import rounds
from tests.shared_data import ROOT, folder

from rulewright import cel as ours
from rulewright.errors import ExpressionError

Case = dict[str, Any]
Result = tuple[Case, str, str]


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_conformance", folder("cel") / "run_conformance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def run(runner: ModuleType, name: str) -> list[Result]:
    """Every case of a file with its status and detail, run in this process."""
    adapter = runner.Adapter("rulewright.cel:evaluate")
    cases: Iterator[Case] = runner.read_cases([folder("cel") / name])
    return [(case, *runner.run_case(case, adapter, False, {})) for case in cases]


def failures(results: list[Result]) -> list[tuple[str, str, str]]:
    return [(case["id"], status, detail) for case, status, detail in results if status != "pass"]


def rate(results: list[Result]) -> float:
    return sum(status == "pass" for _, status, _ in results) / len(results)


def test_values_are_those_of_the_specification(runner: ModuleType) -> None:
    results = run(runner, "open.json")
    assert len(results) > 900
    assert rate(results) >= 0.99, failures(results)
    assert not [r for r in results if r[1] == "crash"]
    suites = collections.defaultdict(list)
    for result in results:
        suites[result[0]["suite"]].append(result)
    for suite, of_suite in suites.items():
        assert len(of_suite) < 20 or rate(of_suite) >= 0.96, (suite, failures(of_suite))


def test_types_and_the_places_of_mistakes_are_those_of_cel_go(runner: ModuleType) -> None:
    results = run(runner, "static_open.json")
    assert len(results) > 1000
    assert rate(results) >= 0.98, failures(results)
    placed = [detail for case, _, detail in results if "errors" in case["expect"] and detail.startswith("position")]
    same = sum(detail.startswith(("position: same", "position: none expected")) for detail in placed)
    assert same / len(placed) >= 0.93


def test_policies_give_what_the_policy_suite_expects(runner: ModuleType) -> None:
    results = [r for r in run(runner, "policy_open.json") if r[1] != "unsupported"]
    assert len(results) >= 30
    assert rate(results) >= 0.95, failures(results)


def test_the_page_about_tests_counts_the_cases(runner: ModuleType) -> None:
    results = [each for name in ("open.json", "static_open.json", "policy_open.json") for each in run(runner, name)]
    counts = collections.Counter(status for _, status, _ in results)
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    shown = f"{counts['pass']:,} of {len(results):,} pass; the other {counts['unsupported']} use parts"
    assert shown in page


def test_the_cases_are_the_published_ones() -> None:
    for name in ("open.json", "static_open.json", "policy_open.json"):
        assert json.loads((folder("cel") / name).read_text(encoding="utf-8"))


EXAMPLES = rounds(80, 20_000)
TYPES = {
    "i": "int", "j": "int", "u": "uint", "d": "double", "b": "bool", "s": "string", "y": "bytes", "t": "timestamp",
    "r": "duration", "li": "list(int)", "ls": "list(string)", "m": "map(string, int)", "x": "dyn",
}  # fmt: skip
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
