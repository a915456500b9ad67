"""What the checker accepts, what it refuses, where it points and what it advises."""

from collections.abc import Mapping

import pytest

from rulewright.errors import ExpressionError, ExpressionMistake
from rulewright.expression.build import build
from rulewright.expression.checker import check
from rulewright.expression.checking_context import did_you_mean
from rulewright.expression.declarations import parse_signature
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    SCORE,
    STRING,
    EnumType,
    ListType,
    MapType,
    RecordType,
    Type,
    parse_type,
)

DECISION = EnumType("decision", ("GO", "NO_GO"))
VERDICT = EnumType("verdict", ("PASS", "FAIL", "UNCLEAR"))
PLACE = Environment(
    variables={
        "review": RecordType("review", {"decision": DECISION, "feedback": STRING}, optional=frozenset({"feedback"})),
        "verdicts": ListType(RecordType("verdict", {"verdict": VERDICT, "eligible": BOOL})),
        "anything": RecordType("anything", {"known": INT}, open=True),
        "confidence_score": SCORE,
        "metrics": MapType(STRING, SCORE),
        "scores": ListType(SCORE),
        "count": INT,
        "weight": DOUBLE,
        "name": STRING,
        "loose": DYN,
    },
    hints={"pair": "`pair` exists only where `paired_workflow` is enabled"},
)


def strictly(text: str, variables: Mapping[str, str] | None = None, functions: Mapping[str, str] | None = None) -> str:
    declared = {name: tuple(parse_signature(s) for s in text.split("|")) for name, text in (functions or {}).items()}
    types = {name: parse_type(t) for name, t in (variables or {}).items()}
    environment = Environment(variables=types, functions=declared, dialect=Dialect.STRICT)
    return str(check(parse(text, Dialect.STRICT), text, environment).type)


def mistakes(text: str, environment: Environment = PLACE, expect: Type | None = None) -> tuple[ExpressionMistake, ...]:
    with pytest.raises(ExpressionError) as raised:
        build(text, environment, expect=expect)
    return raised.value.errors


TYPES = [
    ("[1, 2].map(n, n * 2 > 1 ? 'a' : 'b')", "list(string)"), ("[1, 'a', true]", "list(dyn)"),
    ("{'a': 1, 'b': 2}", "map(string, int)"), ("{'a': 1, 2: 'b'}", "map(dyn, dyn)"), ("[]", "list(dyn)"),
    ("[[], [1]]", "list(list(int))"), ("[1, null]", "list(dyn)"), ("[duration('1s'), null][0]", "duration"),
    ("[null, duration('1s')][0]", "duration"), ("true ? null : optional.of(1)", "optional_type(int)"),
    ("[null, null]", "list(null_type)"), ("[dyn(1), 1]", "list(dyn)"), ("{'a': [1]}.a[0]", "int"),
    ("{'a': 1}.?a", "optional_type(int)"), ("{'a': {'b': 1}}.?a.b", "optional_type(int)"),
    ("[1][?0].orValue(2)", "int"), ("[?optional.of(1), 2]", "list(int)"), ("optional.none()", "optional_type(dyn)"),
    ("optional.of(1).optMap(x, string(x))", "optional_type(string)"),
    ("optional.of(1).optFlatMap(x, optional.of(x > 0))", "optional_type(bool)"),
    ("[1, 2].transformList(i, x, i + x)", "list(int)"),
    ("{'a': 1}.transformMap(k, v, k + string(v))", "map(string, string)"),
    ("{'a': 1}.transformMapEntry(k, v, {v: k})", "map(int, string)"), ("['b', 'a'].sortBy(x, x)", "list(string)"),
    ("[1, 2].filter(x, x > 1)", "list(int)"), ("{'a': 1}.filter(k, k == 'a')", "list(string)"),
    ("cel.bind(x, [1], x + [2])", "list(int)"), ("math.greatest(1, 2)", "int"), ("math.greatest(1, 2, 3)", "int"),
    ("math.greatest(1, 2.0)", "dyn"), ("math.greatest(1, 2.0, 3u)", None), ("math.least([1.5, 2.0])", "double"),
    ("type(1)", "type(int)"), ("type(type(1))", "type(type(int))"),
    ("timestamp('2020-01-01T00:00:00Z') - duration('1s')", "timestamp"), ("[1, 2].first()", "optional_type(int)"),
    ("'%d'.format([1])", "string"), ("true ? optional.of(dyn(1)) : optional.of(1)", "optional_type(dyn)"),
    ("dyn(1) + 2", "int"), ("dyn(1) + dyn(2)", "dyn"), ("null == optional.none()", "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TYPES, ids=[t for t, _ in TYPES])
def test_the_type_of_an_expression(text: str, expected: str | None) -> None:
    found = strictly(text)
    assert expected is None or found == expected


def test_a_nullable_number_says_more_than_a_number() -> None:
    declared = {"w": "wrapper(int)"}
    for text in ("[w, 1][0]", "[1, w][0]", "[w, null][0]", "true ? 1 : w", "true ? w : 1"):
        assert strictly(text, declared) == "wrapper(int)"
    assert strictly("w + 1", declared) == "int"


def test_declared_functions_infer_their_parameters() -> None:
    assert strictly("pair(1, 'a')", functions={"pair": "(A, B) -> map(A, B)"}) == "map(int, string)"
    assert strictly("[1].second('a')", functions={"second": "list(T).(V) -> map(T, V)"}) == "map(int, string)"
    assert strictly("a.b.f(1)", functions={"a.b.f": "(int) -> bool"}) == "bool"


REFUSED = [
    ("1 + 'a'", 1, 3), ("nope", 1, 1), ("nope(1)", 1, 5), ("'a'.nope()", 1, 9), ("(1).a", 1, 4),
    ("[1, 2].map(n, n + 'a')", 1, 17), ("1.all(n, true)", 1, 1), ("[1].filter(n, n)", 1, 11), ("[1].all(n, n)", 1, 12),
    ("true &&\n 'a'", 2, 2), ("{'a': 1}['a']['b']", 1, 14), ("!1", 1, 1), ("1 ? 2 : 3", 1, 3), ("[?1]", 1, 3),
    ("{?'a': 1}", 1, 8), ("x.y.z", 1, 1), ("size(1, 2)", 1, 5), ("1.optMap(x, x)", None, None),
    ("['a'].sortBy(x, [x])", 1, 13), ("1.sortBy(x, x)", 1, 1), ("math.least()", 1, 1), ("math.greatest([])", 1, 15),
    ("math.greatest([1, 'a'])", 1, 15), ("math.greatest('a')", 1, 15), ("math.greatest(1, [2])", 1, 18),
    ("math.greatest(1, string(2))", 1, 14), ("[1].transformMapEntry(i, v, v)", 1, 29),
    ("optional.of(1).optFlatMap(x, x)", 1, 26), ("Message{a: 1}", None, None), ("'%d'.format(['a'])", 1, 14),
    ("'%d %d'.format([1])", 1, 15), ("'%d'.format([1, 2])", 1, 12), ("'%z'.format([1])", 1, 12),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column"), REFUSED, ids=[t for t, _, _ in REFUSED])
def test_a_mistake_is_shown_where_cel_go_shows_it(text: str, line: int | None, column: int | None) -> None:
    with pytest.raises(ExpressionError) as raised:
        strictly(text)
    first = raised.value.errors[0]
    assert line is None or (first.line, first.column) == (line, column)


def test_every_mistake_is_reported_once_and_in_order() -> None:
    found = mistakes("nope > 1 and review.decison == GO and count > 'a' and nope > 1")
    assert [m.column for m in found] == [1, 20, 45, 55]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("revew.decision == GO", ["revew"]),
        ("pair.a.b != NO_WAY && count > 1", ["pair"]),
        ("nothing == GO", ["nothing"]),
        ("has(pair.a) && pair.a == YES", ["pair", "pair"]),
        ("revew.decision == other", ["revew", "other"]),
    ],
)
def test_a_constant_next_to_an_unknown_name_is_not_a_second_mistake(text: str, words: list[str]) -> None:
    expected = [f"unknown name `{word}`" for word in words]
    assert [found.message for found in mistakes(text)] == expected


def test_a_text_sought_in_a_word_in_place_of_a_list_is_one_mistake() -> None:
    (found,) = mistakes("'soon' in review.decision")
    assert found.message.startswith("`in` does not take (string, decision)")


ADVICE = [
    ("not count", 1, "expected a `bool`, found `int`", None),
    (
        "review.decision == GOO",
        20,
        "unknown value `GOO` for `decision`; expected `GO` or `NO_GO`",
        "did you mean `GO`?",
    ),
    (
        "review.decision == 'Go'",
        20,
        "unknown value `Go` for `decision`; expected `GO` or `NO_GO`",
        "did you mean `GO`?",
    ),
    ("review.decison == GO", 7, "`review` has no field `decison`", "did you mean `decision`?"),
    ("review['decison'] == GO", 8, "`review` has no field `decison`", "did you mean `decision`?"),
    (
        "verdicts.exists(v, v.verdict in [FAIL, PASSED])",
        40,
        "unknown value `PASSED` for `verdict`; expected `PASS`, `FAIL` or `UNCLEAR`",
        None,
    ),
    ("counts > 1", 1, "unknown name `counts`", "did you mean `count`?"),
    ("pair.approved", 1, "unknown name `pair`", "`pair` exists only where `paired_workflow` is enabled"),
    ("confidence_score >= 80", 21, "`80` is outside the range of a score, 0 to 1", "did you mean `0.8`?"),
    ("confidence_score >= 1.01", 21, "`1.01` is outside the range of a score, 0 to 1", None),
    ("confidence_score < -0.1", 20, "`-0.1` is outside the range of a score, 0 to 1", None),
    ("strtsWith(name, 'a')", 1, "unknown function `strtsWith`", "did you mean `startsWith`?"),
    (
        "minilm.similarity(name, 'a') > 0.5",
        1,
        "unknown function `minilm.similarity`",
        "it is a function of a plug-in: write `plugins: [rulewright-runtime]` in the project file",
    ),
    ("name.beginsWith('a')", 6, "unknown method `beginsWith`", None),
    ("regex(name, 'a')", 1, "unknown function `regex`", "write `text.matches(pattern)`"),
    (
        "contains(name, 'a')",
        9,
        "`contains` does not take (string, string); expected string.contains(string)",
        "write `name.contains('a')`",
    ),
    ("name.first == 'a'", 5, "`string` has no fields, so no `first`; expected a map or a record", None),
    ("['a'] == 'a'", 7, None, "write `'a' in ['a']`"),
    ("count == name", 7, "`==` can't compare `int` with `string`", None),
    (
        "review == true",
        8,
        "`==` can't compare `review` with `bool`",
        "`review` is a record with the fields `decision`, `feedback`",
    ),
    ("name.matches('(')", 14, None, None),
    ("name == 'a' and timestamp('yesterday') > timestamp(0)", 27, None, None),
    ("duration('5 minutes') > duration('1s')", 10, None, None),
    ("review.decision == rewiew.x", 20, "unknown name `rewiew`", "did you mean `review`?"),
    (
        "name.matches('?')",
        14,
        "`?` is not a valid argument of `matches`: invalid regular expression: no argument for repetition operator: ?",
        None,
    ),
    (
        "size(regex.extractAll(name, '(a)(b)')) > 1",
        29,
        "`(a)(b)` is not a valid argument of `regex.extractAll`: a pattern to extract with has one group at most: "
        "write `(?:` for the others",
        None,
    ),
    ("regex.replace(name, '(a)', r'\\2') == ''", 28, None, None),
    ("timestamp(name).getHours('Europe/Berlim') > 8", 26, None, None),
    ("quantile(scores, 95.0).orValue(1.0) > 0.5", 18, None, None),
    ("int('9OO') > count", 5, "`9OO` is not a valid argument of `int`: can't read `9OO` as an int", None),
    ("int('99999999999999999999') > count", 5, None, None),
    ("duration('9999999999h') > duration('1s')", 10, None, None),
    ("duration(count) > duration('1s')", 9, None, None),
    ("math.min(2, count) > 1", 1, "unknown function `math.min`", "write `math.least(a, b)`"),
    (
        "scores.exists(size(name) > 1)",
        8,
        "`exists` needs a variable for the items, and then a condition",
        "write `xs.exists(x, ...)`",
    ),
    ("contains_any(['a'], name)", 13, None, "swap the two arguments"),
    ("['a'] in 'a'", 7, None, "swap the two sides"),
    ("'a' in name", 5, None, "write `text.contains(part)`"),
    ("['a'].contains(name)", 15, None, "write `item in list`, or `list.exists(item, ...)` for a part of an item"),
    ("scores > 1", 8, None, "compare the number of its items, as in `size(list) > 0`"),
    ("review_decision == 'a'", 1, "unknown name `review_decision`", "did you mean `review.decision`?"),
    ("feedback == 'a'", 1, "unknown name `feedback`", "did you mean `review.feedback`?"),
    ("contains_any(name, 'sorry')", 13, None, "write the text in a list, as in `['sorry']`"),
    ("contains_any(name, name)", 13, None, "write the text in a list, as in `[name]`"),
    ("count > '10'", 7, None, "write the number without quotes, as in `10`"),
    ("'10' == count", 6, "`==` can't compare `string` with `int`", "write the number without quotes, as in `10`"),
    (
        "name == null",
        6,
        None,
        "it is never null here; `size(x) == 0` tests whether it is empty, `has(x.f)` whether a field exists",
    ),
    ("called('transfer')", 7, None, "`rulewright explain called` shows its arguments"),
    ("name == unquoted", 9, "unknown name `unquoted`", 'write "unquoted" in quotes if a text is meant'),
]


@pytest.mark.parametrize(("text", "column", "message", "advice"), ADVICE, ids=[row[0] for row in ADVICE])
def test_a_mistake_says_what_was_found_and_what_was_expected(
    text: str, column: int, message: str | None, advice: str | None
) -> None:
    first = mistakes(text)[0]
    assert first.column == column
    assert message is None or first.message == message
    assert advice is None or first.help == advice


def test_messages_keep_to_one_line_and_begin_in_lower_case() -> None:
    for text, _, _, _ in ADVICE:
        for m in mistakes(text):
            assert "\n" not in m.message
            assert m.message[0] in "`" or m.message[0].islower()


def test_a_condition_must_be_bool_when_it_is_compiled() -> None:
    assert build("loose == 1", PLACE, expect=BOOL).type == BOOL
    (unknown,) = mistakes("loose", expect=BOOL)
    assert unknown.message == "expected a `bool`, but the type of this is only known at run time"
    (number,) = mistakes("count", expect=BOOL)
    assert number.message == "expected a `bool`, found `int`"


def test_a_statistic_must_say_what_holds_without_a_value() -> None:
    (absent,) = mistakes("mean(scores) >= 0.8")
    assert absent.message == "`>=` needs values, but one of type `optional_type(score)` may be absent"
    assert absent.help is not None
    assert ".orValue(0)" in absent.help
    assert build("mean(scores).orValue(0.0) >= 0.8", PLACE).type == BOOL


PROFILE_TYPES = [
    ("count * weight", "double"), ("count == weight", "bool"), ("count < 2.5", "bool"), ("1u + 1", "int"),
    ("confidence_score * 2", "score"), ("1 - confidence_score", "score"), ("confidence_score + weight", "score"),
    ("[confidence_score, 0.5]", "list(score)"), ("[1, 2.5]", "list(double)"),
    ("count in [0.5, 3.0] or weight in [1, 2]", "bool"), ("count > 1 ? weight : 1", "double"),
    ("count > 1 ? 1 : weight", "double"), ("[optional.of(1), 2.5]", "list(dyn)"), ("sum([1, 2])", "optional_type(int)"),
    ("mean([1, 2])", "optional_type(double)"), ("mean(scores)", "optional_type(score)"),
    ("mean(scores.filter(x, x > 0.5))", "optional_type(score)"),
    ("mean([?optional.of(confidence_score)])", "optional_type(score)"),
    ("wmean(scores, [1, 2.5])", "optional_type(score)"), ("quantile(scores, 0.5)", "optional_type(score)"),
    ("count > 1 ? confidence_score : 0.5", "score"), ("metrics.a", "score"), ("metrics.?a", "optional_type(score)"),
    ("review.decision", "decision"), ("review.decision.size()", "int"), ("anything.known", "int"),
    ("anything.whatever", "dyn"), ("rate([true])", "optional_type(score)"),
    ("has(review.feedback) and review.decision in [GO]", "bool"), ("not (count > 1) or count == 2", "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PROFILE_TYPES, ids=[t for t, _ in PROFILE_TYPES])
def test_the_profile_promotes_numbers_and_keeps_scores_exact(text: str, expected: str) -> None:
    assert str(build(text, PLACE).type) == expected


def test_arithmetic_on_scores_may_leave_the_interval() -> None:
    assert build("confidence_score + confidence_score > 1.5", PLACE).type == BOOL
    assert build("sum(scores).orValue(0.0) > 2", PLACE).type == BOOL


def test_a_bound_variable_hides_a_constant_and_a_declared_name() -> None:
    assert build("[1].exists(GO, GO == 1)", PLACE).type == BOOL
    assert build("['a'].exists(count, count == 'a')", PLACE).type == BOOL


def test_a_namespace_is_not_taken_for_a_constant_of_the_same_name() -> None:
    place = Environment(variables={"kind": EnumType("kind", ("regex", "other"))})
    with pytest.raises(ExpressionError, match=r"unknown function `regex.find`"):
        build("regex.find('a', 'b') == 'b' and kind == regex", place)


def test_an_expected_enum_admits_its_members_only() -> None:
    assert build("count > 1 ? 'PASS' : FAIL", PLACE, expect=VERDICT).type == STRING
    assert "PASSED" in mistakes("count > 1 ? 'PASSED' : FAIL", expect=VERDICT)[0].message


def test_words_of_the_profile_mean_nothing_in_plain_cel() -> None:
    with pytest.raises(ExpressionError):
        strictly("1 + 1.0")
    with pytest.raises(ExpressionError):
        strictly("mean([1.0])")


def test_hostile_types_do_not_explode() -> None:
    text = "x"
    for _ in range(60):
        text = f"cel.bind(x, {{x: x}}, {text})"
    with pytest.raises(ExpressionError):
        strictly(text, {"x": "int"})


def test_the_deepest_expression_the_parser_takes_is_checked() -> None:
    assert strictly("[" * 200 + "]" * 200).startswith("list(list(")
    assert strictly("-" + "(-" * 100 + "1" + ")" * 100) == "int"
    assert strictly("1" + " + 1" * 200) == "int"


def test_a_word_of_one_name_only_suggests_this_name() -> None:
    assert did_you_mean("bucket", ["primary_bucket", "severity"]) == "did you mean `primary_bucket`?"
    assert did_you_mean("bucket", ["primary_bucket", "secondary_bucket"]) is None
