"""JSON Schemas and guarded reads: what is proved of them is what validation and evaluation say."""

import itertools
import random
from typing import Any

import pytest
from tests.rounds import rounds

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DYN, INT, STRING, ListType, MapType, RecordType
from rulewright.proving.atoms import FALSE, TRUE, bits_of
from rulewright.proving.domains import Domains
from rulewright.proving.schemas import accepts_all_of, is_plain
from rulewright.proving.static_types import typed
from rulewright_runtime.functions.json_texts import valid_against
from rulewright_runtime.interpreter import prepare

PAIRS = rounds(80, 20_000)
VALUES: tuple[Any, ...] = (0, 1, 2, 3, 1.5, True, False, None, "", "a", "abc", "1", [], [1], ["a", True], {})
WORDS: tuple[Any, ...] = (1, True, "a", 2.0, None, False, 0)


def schema(chance: random.Random, depth: int = 2) -> dict[str, Any]:
    """A schema of a few keywords at random."""
    below = [schema(chance, depth - 1) if depth else {} for _ in range(2)]
    words: dict[str, Any] = {
        "type": chance.choice(["number", "integer", "string", ["string", "null"], "object", "array"]),
        "enum": chance.sample(WORDS, chance.randint(1, 4)),
        "const": chance.choice(WORDS),
        "minimum": chance.randint(0, 2),
        "maxLength": chance.randint(0, 2),
        "required": chance.sample(("a", "b"), chance.randint(0, 2)),
        "properties": dict(zip(chance.sample("ab", chance.randint(1, 2)), below, strict=False)),
        "items": below[0],
    }
    return {key: words[key] for key in chance.sample(sorted(words), 2)}


def test_what_accepts_more_accepts_every_value_that_the_other_one_accepts() -> None:
    chance, found = random.Random(3), 0
    values = [*VALUES, *({"a": one} for one in VALUES), *({"a": 1, "b": each} for each in VALUES)]
    for _ in range(PAIRS):
        one = schema(chance)
        two = chance.choice([schema(chance), {key: each for key, each in one.items() if chance.random() < 0.6}])
        if accepts_all_of(two, one):
            found += 1
            assert is_plain(one)
            accepted = [each for each in values if valid_against(each, one)]
            assert all(valid_against(each, two) for each in accepted), (one, two)
    assert found > PAIRS // 10


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ({"enum": ["EUR", "CHF"]}, {"enum": ["EUR", "CHF", "GBP"]}),
        ({"required": ["a", "b"]}, {"required": ["b"], "type": ["object", "string"]} | {"description": "any"}),
        ({"properties": {"a": {"minimum": 2}}}, {"properties": {"a": {"minimum": 1}}}),
        ({"type": "integer", "const": 1}, {"type": "number", "enum": [1, 2]}),
    ],
)
def test_a_looser_keyword_accepts_more_and_not_the_other_way_round(narrow: Any, wide: Any) -> None:
    narrow = {"type": "object", **narrow}
    assert accepts_all_of(wide, narrow)
    assert not accepts_all_of(narrow, wide)


def test_a_number_is_not_a_truth_value() -> None:
    assert not accepts_all_of({"enum": [True]}, {"enum": [1]})
    assert not accepts_all_of({"properties": {"a": {"const": True}}}, {"properties": {"a": {"const": 1}}})


CALL = RecordType("c", {"name": STRING, "result": STRING, "n": INT, "arguments": MapType(STRING, DYN)},
                  frozenset({"result", "n", "arguments"}))  # fmt: skip
TYPES = {"c": CALL, "cs": ListType(CALL), "b": BOOL}
ENVIRONMENT = Environment(variables=TYPES)
PARTS = (
    "has(c.result)", "!has(c.result)", "has(c.n)", "c.result.contains('a')", "c.n > 1", "c.name == 'a'", "b",
    "has(c.arguments)", "valid_against(c.arguments, {'required': ['a']})", "!has(c.n)", "c.result == c.name",
    "cs.exists(x, has(x.result) && x.result == 'a')", "cs.all(x, !has(x.n) || x.n > 1)", "c.arguments.a == 1",
    "cs.exists(x, has(c.result) && x.result == 'a')", "cs.exists(x, has(x.result) && c.result == 'a')",
    "cs.all(x, has(x.n) || x.n > 1)",
)  # fmt: skip
CALLS = [
    {"name": "a", **{key: value for key, value in given.items() if value is not None}}
    for given in (
        {"result": result, "n": n, "arguments": arguments}
        for result, n, arguments in itertools.product((None, "a", "b"), (None, 1, 2), (None, {}, {"a": 1}))
    )
]
INPUTS = [{"c": c, "cs": cs, "b": b} for c in CALLS for b in (True, False) for cs in ([], CALLS[:1], CALLS[9:12])]


def condition(chance: random.Random, depth: int = 2) -> str:
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(PARTS)
    one, two = condition(chance, depth - 1), condition(chance, depth - 1)
    return chance.choice((f"({one} && {two})", f"({one} || {two})", f"!({one})"))


@pytest.mark.parametrize(
    "schema", ["{'properties': 5}", "{'required': 5}", "{'properties': {'a': 1}}", "{'items': [1]}"]
)
def test_an_invalid_schema_has_no_value(schema: str) -> None:
    program = build(f"valid_against(c.name, {schema})", ENVIRONMENT, expect=BOOL).program
    assert typed(program, Domains(TYPES))[-1] != (BOOL, True)


def test_what_is_read_only_where_it_is_there_has_a_value() -> None:
    chance, guarded = random.Random(4), 0
    for _ in range(PAIRS):
        source = condition(chance)
        program = build(source, ENVIRONMENT, expect=BOOL).program
        if typed(program, Domains(TYPES))[-1] == (BOOL, True):
            guarded += "has" in source
            evaluate = prepare(program)
            assert all(bits_of(evaluate, given) in (TRUE, FALSE) for given in INPUTS), source
    assert guarded > PAIRS // 20
