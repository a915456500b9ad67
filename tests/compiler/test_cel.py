"""The public CEL module: native values in and out, declared names, its errors, the examples in its documentation."""

import contextlib
import datetime as dt
import doctest
from itertools import cycle
from typing import Any

import pytest

from rulewright import cel
from rulewright.errors import DocumentError, ExpressionError, UsageError
from rulewright_runtime.errors import EvaluationError

MOMENT = dt.datetime(2026, 5, 4, 3, 2, 1, 500_000, tzinfo=dt.UTC)


def test_the_examples_in_the_documentation_are_true() -> None:
    assert doctest.testmod(cel).failed == 0
    assert doctest.testmod(cel).attempted >= 5


@pytest.mark.parametrize(
    "value",
    [
        None, True, 1, -1.5, "text", b"bytes", [1, [2]], {"a": {"b": 1}}, MOMENT, dt.timedelta(seconds=90),
        cel.UInt(7), cel.TypeValue("int"), {1: "a", 2: "b"}, {True: 1},
    ],
)  # fmt: skip
def test_a_value_goes_in_and_comes_out_the_same(value: object) -> None:
    found = cel.evaluate("x", {"x": value})
    assert found == value
    assert type(found) is type(value) or isinstance(value, dict)


RESULTS: list[tuple[str, object]] = [
    ("timestamp('2026-05-04T03:02:01.5Z')", MOMENT),
    ("duration('90s')", dt.timedelta(seconds=90)),
    ("18446744073709551615u", cel.UInt(2**64 - 1)),
    ("type(1u)", cel.TypeValue("uint")),
    ("{'a': [timestamp('2026-05-04T03:02:01.5Z')]}", {"a": [MOMENT]}),
    ("b'\\xff'", b"\xff"),
]


@pytest.mark.parametrize(("text", "value"), RESULTS)
def test_results_are_native_values(text: str, value: object) -> None:
    found = cel.evaluate(text)
    assert found == value
    assert type(found) is type(value)


def test_an_optional_result_says_whether_it_is_there() -> None:
    assert cel.evaluate("optional.of(1)").value == 1
    assert not cel.evaluate("optional.none()").present


def test_a_map_whose_keys_python_would_merge_keeps_them_apart() -> None:
    found = cel.evaluate("{1: 'int', true: 'bool'}")
    assert sorted((str(k), v) for k, v in found.items()) == [("1", "int"), ("True", "bool")]


def test_edges_of_time_do_not_crash() -> None:
    assert cel.evaluate("timestamp('9999-12-31T23:59:59.999999999Z')").year == 9999
    assert cel.evaluate("timestamp('0001-01-01T00:00:00Z')").year == 1
    assert cel.evaluate("duration('315576000000s')").days == 3652500
    with pytest.raises(EvaluationError):
        cel.evaluate("x", {"x": dt.datetime(2026, 1, 1)})


def test_declared_types_are_checked_before_anything_runs() -> None:
    assert cel.check("x.all(n, n > 1)", {"x": "list(int)"}) == "bool"
    assert cel.evaluate("x", {"x": 1}, {"x": "int"}, check_only=True) == "int"
    with pytest.raises(ExpressionError) as raised:
        cel.evaluate("x + 'a'", {"x": 1}, {"x": "int"})
    assert [(e.line, e.column) for e in raised.value.errors] == [(1, 3)]


def test_names_resolve_in_the_container() -> None:
    assert cel.evaluate("x", {"a.b.x": 1, "x": 2}, container="a.b") == 1
    assert cel.evaluate(".x", {"a.b.x": 1, "x": 2}, container="a.b") == 2
    assert cel.evaluate("b.x", {"a.b.x": 1}, container="a", check=False) == 1
    assert cel.evaluate("a.b.c", {"a.b": {"c": 1}, "a": {"b": {"c": 2}}}, check=False) == 1


def test_without_check_an_error_may_be_absorbed() -> None:
    assert cel.evaluate("nobody(17) || true", check=False) is True
    assert cel.evaluate("1 == 1.0", check=False) is True
    assert cel.evaluate("type(1) == int", check=False) is True
    assert cel.evaluate("math.greatest(1, 2, 3)", check=False) == 3
    with pytest.raises(EvaluationError):
        cel.evaluate("nobody(17)", check=False)


def test_without_macros_a_macro_is_a_call() -> None:
    with pytest.raises(ExpressionError):
        cel.evaluate("[1].all(x, x > 0)", macros=False)


def test_declared_functions_are_known_to_the_checker() -> None:
    declared = {"f": [{"id": "f_T", "params": ["T"], "result": "list(T)", "receiver": False}]}
    assert cel.check("f('a')", functions=declared) == "list(string)"


@pytest.mark.parametrize(
    ("types", "functions"),
    [({"x": "list("}, None), (None, {"f": [{"params": ["int"]}]}), (None, {"f": [{"params": [1], "result": "int"}]})],
)
def test_a_declaration_that_can_not_be_read_is_an_expected_error(types: Any, functions: Any) -> None:
    with pytest.raises(UsageError):
        cel.check("1", types, functions)


HOSTILE = [
    "[" * 300 + "]" * 300, "(" * 5000 + "1" + ")" * 5000, "1" + "+1" * 5000, "!" * 5000 + "true", "a" + ".b" * 5000,
    "[" + "1," * 20_000 + "1]", "x" * 150_000, "'" + "\\" * 1001, "lists.range(1000000000)",
    "[1,2,3,4,5,6,7,8,9,0]" + ".map(x, [x, x])" * 30, "'a'.replace('', 'aaaaaaaaaaaaaaaaaaaaaaaaaa')" * 3, "\x00",
    "\ud800",
]  # fmt: skip


@pytest.mark.parametrize(("text", "check"), list(zip(HOSTILE, cycle((True, False)))), ids=range(len(HOSTILE)))
def test_hostile_text_ends_in_an_expected_error_or_a_value(text: str, check: bool) -> None:
    with contextlib.suppress(*cel.EXPECTED_ERRORS):
        cel.evaluate(text, {"a": 1}, check=check)


def test_a_policy_decides_by_its_first_matching_row() -> None:
    policy = """
name: age
rule:
  variables:
    - name: adult
      expression: person.age >= 18
  match:
    - condition: variables.adult && person.name.startsWith('A')
      output: "'A'"
    - condition: variables.adult
      output: "'other'"
"""
    config = "variables: [{name: person, type: {type_name: map, params: [{type_name: string}, {type_name: dyn}]}}]"
    assert cel.evaluate_policy(policy, config, {"person": {"age": 20, "name": "Ada"}}) == "A"
    assert cel.evaluate_policy(policy, config, {"person": {"age": 20, "name": "Bob"}}) == "other"
    assert not cel.evaluate_policy(policy, config, {"person": {"age": 2, "name": "Bob"}}).present


@pytest.mark.parametrize(
    "policy",
    [
        "", "[]", "name: x", "rule: {}", "rule: {match: []}", "rule: {match: [{condition: 'true'}]}",
        "rule: {match: [{output: '1 +'}]}", "rule: {match: [{output: '1', condition: '1'}]}",
        "rule: {match: [{output: '1'}, {output: '2'}]}", "rule: {match: [{condition: 'x == 1', output: '1'}]}",
        "rule: {match: [{condition: '1 == 1', output: '1'}, {output: \"'a'\"}]}",
        "rule: {match: [{output: '1'}], aggregate: [{output: '1'}]}",
        "rule: {match: [{output: '1', rule: {match: [{output: '1'}]}}]}", "rule: {mach: [{output: '1'}]}",
        "rule: !!python/object:os.system {}", "a: [",
    ],
)  # fmt: skip
def test_a_policy_that_does_not_compile_is_a_document_error(policy: str) -> None:
    with pytest.raises(DocumentError):
        cel.evaluate_policy(policy)


IMPORTING = """
imports:
  - {}
rule:
  match:
    - condition: type(when) == Timestamp && request.user == 'a'
      output: "'yes'"
"""
CONFIG = """
imports: [{name: acme.request}]
variables:
  - {name: when, type_name: timestamp}
  - {name: acme.request, type_name: map, params: [{type_name: string}, {type_name: string}]}
"""


def test_what_a_policy_imports_is_known_by_the_last_part_of_its_name() -> None:
    given = {"when": MOMENT, "acme.request": {"user": "a"}}
    policy = IMPORTING.format("name: google.protobuf.Timestamp")
    assert cel.evaluate_policy(policy, CONFIG, given) == "yes"
    with pytest.raises(DocumentError, match="unknown name `Timestamp`"):
        cel.evaluate_policy(IMPORTING.format("name: google.protobuf.Duration"), CONFIG, given)


@pytest.mark.parametrize(
    "item",
    ["name: Timestamp", "name: .a", "name: a.", "name: a.b!", "name: ' '", "google.protobuf.Timestamp", "name: 3"],
)
def test_an_import_names_something_qualified(item: str) -> None:
    with pytest.raises(DocumentError, match="an import is the name of something qualified"):
        cel.evaluate_policy(IMPORTING.format(item), CONFIG)


@pytest.mark.parametrize(
    "config",
    [
        "variables: [{name: x, type: int}]",
        "variables: [x]",
        "variables: [{name: x, type_name: map, params: [{type_name: int}]}]",
        "functions: [{name: f, overloads: [{return: 1}]}]",
        "functions: [{name: f, overloads: 4}]",
    ],
)
def test_a_declaration_nobody_can_read_is_shown_how_to_write(config: str) -> None:
    with pytest.raises(DocumentError, match=r"is declared as in `\{name: ") as caught:
        cel.evaluate_policy("rule: {match: [{output: '1'}]}", config)
    assert "indices" not in str(caught.value)


def test_two_imports_of_one_last_part_are_a_mistake() -> None:
    with pytest.raises(DocumentError, match=r"the imports `other.request` and `acme.request` are both abbreviated"):
        cel.evaluate_policy(IMPORTING.format("name: other.request"), CONFIG)


def test_what_is_too_large_to_run_is_said_in_the_same_words_everywhere() -> None:
    items = "[" + "x," * 21_000 + "1]"
    policy = "rule: {match: [{output: '" + items.replace("x", "y") + "'}]}"
    with pytest.raises(ExpressionError, match="the expression is too large or nests too deeply"):
        cel.evaluate(items, {"x": 1})
    with pytest.raises(DocumentError, match="the table is too large or nests too deeply"):
        cel.evaluate_policy(policy, "variables: [{name: y, type_name: int}]")


NESTED = {
    "bind": ("".join(f"cel.bind(x{i}, 1, " for i in range(248)), "1", ")" * 248),
    "exists": ("".join(f"[1].exists(i{i}, x{i}, " for i in range(248)), "true", ")" * 248),
    "map": ("[1].map(x, " * 248, "x", ")" * 248),
    "map of maps": ("{1: 1}.transformMap(k, x, " * 248, "x", ")" * 248),
    "optMap": ("", "optional.of(1)", ".optMap(x, optional.of(x)" * 247 + ")" * 247),
    "lists": ("[" * 249, "1", "]" * 249),
    "maps": ("{'a': " * 249, "1", "}" * 249),
    "calls": ("dyn(" * 248, "1", ")" * 248),
    "format": ("'%s'.format([" + "[" * 246, "1", "]" * 246 + "])"),
    "equality": ("[" * 248 + "1" + "]" * 248 + " == ", "[" * 248 + "1", "]" * 248),
}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("parts", NESTED.values(), ids=list(NESTED))
def test_what_nests_as_deep_as_an_expression_may_runs(parts: tuple[str, str, str], check: bool) -> None:
    assert cel.evaluate("".join(parts), check=check) is not None
    with pytest.raises(ExpressionError, match=r"nested more than 250 deep|more than 250 levels deep"):
        cel.evaluate("[[[" + "".join(parts) + "]]]", check=check)


def test_a_value_that_nests_deeper_than_expressions_is_refused() -> None:
    deep: object = 1
    for _ in range(252):
        deep = [deep]
    with pytest.raises(EvaluationError, match="nested too deeply"):
        cel.evaluate("x", {"x": deep})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("dyn(9223372036854775807) < 9223372036854775808.0", False),
        ("dyn(9223372036854775807) < 9223372036854777857.0", True),
        ("dyn(9223372036854775807) >= 9223372036854775808.0", True),
        ("dyn(9007199254740993) == dyn(9007199254740992.0)", True),
        ("dyn(18446744073709551615u) == 18446744073709551616.0", True),
        ("math.greatest(9007199254740993, 9007199254740992.0)", 9007199254740993),
    ],
)
def test_an_integer_next_to_a_double_counts_as_the_nearest_double(text: str, value: object) -> None:
    assert cel.evaluate(text) == value


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_sum_of_spans_fits_in_64_bits_of_nanoseconds(sign: str) -> None:
    with pytest.raises(EvaluationError, match="overflow"):
        cel.evaluate(f"duration('{sign}9223372036s') + duration('{sign}1s')")


def test_line_ends_in_base64_do_not_count() -> None:
    assert cel.evaluate(r"base64.decode('aGVs\r\nbG8=')") == b"hello"


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("limit", ["9007199254740992.0", "9223372036854775808.0", "-9223372036854775808.0"])
@pytest.mark.parametrize("number", [2**53 + 1, 2**63 - 1, -(2**63), 2**53 - 1, 7])
def test_a_bound_number_compares_as_a_written_one(operator: str, limit: str, number: int) -> None:
    written = cel.evaluate(f"dyn({number}) {operator} {limit}")
    assert cel.evaluate(f"x {operator} {limit}", {"x": number}) is written
    assert cel.evaluate(f"xs.exists(i, i.x {operator} {limit})", {"xs": [{"x": number}]}) is written
