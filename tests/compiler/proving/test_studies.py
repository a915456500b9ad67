"""Studies of conditions: an expression is taken apart once, also when its document is linted again."""

import random

import pytest
from tests.rounds import rounds

from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, INT, SCORE, Type
from rulewright.load import Scalar, load_text
from rulewright.proving import intervals, studies
from rulewright.proving.studies import MOST_ALONE, Study, placed


def studied(text: str, **variables: Type) -> Study:
    """The study of a condition in an environment made for it."""
    root = load_text(text, "x.yaml").root
    assert isinstance(root, Scalar)
    (found,) = placed([root], Environment(variables=variables))
    return found.study


def test_equal_environments_share_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    first = studied("rate >= 0.8151", rate=SCORE)
    monkeypatch.setattr(studies, "_study", None)
    assert studied("rate >= 0.8151", rate=SCORE) is first


def test_another_type_or_name_is_another_study() -> None:
    assert not studied("rate <= 1.0", rate=DOUBLE).always
    assert studied("rate <= 1.0", rate=SCORE).always
    assert not studied("rate <= 1.0", rate=DOUBLE, other=SCORE).always


def test_values_of_variables_that_a_condition_does_not_read_make_no_other_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = load_text("rate >= 0.8152", "x.yaml").root
    assert isinstance(root, Scalar)
    environment = Environment(variables={"rate": SCORE, "other": SCORE})
    (first,) = placed([root], environment)
    monkeypatch.setattr(studies, "_study", None)
    (second,) = placed([root], environment, usual=((("other",), 0.5),))
    assert second.study is first.study


TESTS = ("n == {}", "n > {}", "n < {}", "b && n > {}", "b || n == {}", "!(n == {})")
TYPES: dict[str, Type] = {"n": INT, "b": BOOL}


def holds(form: str, number: int, n: int, b: bool) -> bool:
    outcomes = n == number, n > number, n < number, b and n > number, b or n == number, n != number
    return outcomes[TESTS.index(form)]


def reached(tests: list[tuple[str, int]]) -> set[int]:
    """The tests of a chain that decide for some input."""
    inputs = [(n, b) for n in range(-3, 30) for b in (True, False)]
    firsts = (next((at for at, test in enumerate(tests) if holds(*test, *each)), len(tests)) for each in inputs)
    return set(firsts)


def test_what_a_long_chain_never_reaches_no_input_reaches() -> None:
    chance = random.Random(8)
    unreached = 0
    for _ in range(rounds(12, 300)):
        tests = [("n == {}", k) for k in chance.sample(range(25), MOST_ALONE + 2)]
        tests += [(chance.choice(TESTS), chance.randrange(25)) for _ in range(6)]
        chance.shuffle(tests)
        text = " : ".join(f"{form.format(k)} ? {at}" for at, (form, k) in enumerate(tests)) + " : 99"
        root = load_text(f'"{text}"', "x.yaml").root
        assert isinstance(root, Scalar)
        found = [each.study.never for each in placed([root], Environment(variables=TYPES))]
        assert [at for at, is_never in enumerate(found) if is_never] == [
            at for at in range(len(found)) if at not in reached(tests)
        ]
        unreached += sum(found)
    assert unreached > 10


def test_a_chain_with_too_many_cases_is_not_said_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " : ".join(f"n == {at} ? {at}" for at in (*range(30), 3)) + " : 99"
    root = load_text(f'"{text}"', "x.yaml").root
    assert isinstance(root, Scalar)
    assert [each.study.never for each in placed([root], Environment(variables={"n": INT}))] == [False] * 30 + [True]
    monkeypatch.setattr(intervals, "_MOST_DECISIONS", 100)
    studies._studies_of.cache_clear()
    assert not any(each.study.never for each in placed([root], Environment(variables={"n": INT})))
