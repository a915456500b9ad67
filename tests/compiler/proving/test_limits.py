"""Where a proof reaches one of its limits, it claims nothing; what it can still tell is true."""

from unittest.mock import patch

import pytest
from tests.compiler.proving.conditions_at_random import DOMAINS, ENVIRONMENT, program, truth
from tests.rounds import TORTURE

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, STRING, EnumType
from rulewright.load import Scalar, load_text
from rulewright.policies.regions import Comparison, compare
from rulewright.proving.atoms import TRUE, bits_of
from rulewright.proving.domains import Domains
from rulewright.proving.intervals import Space
from rulewright.proving.program_parts import reading, with_paths, with_program
from rulewright.proving.results import Proved, Refuted, Unknown
from rulewright.proving.search import TOO_DEEP, TOO_MANY, Search
from rulewright.proving.studies import placed
from rulewright.proving.tables import disjoint, survey
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.score import Score

LAYERS = "".join(f"(n > {number} && (b || " for number in range(115)) + "b" + "))" * 115


def excluded(*texts: str, domains: Domains = DOMAINS) -> bool:
    """Whether it is proved that the conditions never hold together."""
    environment = Environment(variables=domains.types)
    programs = [build(each, environment, expect=BOOL).program for each in texts]
    return Search(programs, domains, by_terms=True).excludes([(number, TRUE) for number in range(len(texts))])


@pytest.mark.parametrize("times", [1, 2])
def test_conditions_that_get_too_deep_by_their_variables_are_unknown(times: int) -> None:
    deep = layers = program(LAYERS)
    for _ in range(times):
        deep = with_program(deep, "b", layers)
    search = Search([deep], DOMAINS)
    assert search.find([(0, TRUE)]) == Unknown(TOO_DEEP)
    assert not search.excludes([(0, TRUE)])
    if times > 1 and not TORTURE:
        return  # each of the others makes the same search again, which takes seconds
    one, two = truth("c", deep, "yes", "no"), truth("c", program("false"), "yes", "no")
    assert compare(one, two, DOMAINS) == Comparison((), TOO_DEEP)
    assert survey([deep], DOMAINS)[0] == Unknown(TOO_DEEP)


def test_more_atoms_than_can_be_decided_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = "x > 0.5", "x < 0.25"
    rows = [program(each) for each in texts]
    assert excluded(*texts)
    assert disjoint(rows, DOMAINS) == Proved()
    monkeypatch.setattr("rulewright.proving.intervals._MOST_DECISIONS", 1)
    assert not excluded(*texts)
    assert disjoint(rows, DOMAINS) == Unknown(TOO_MANY)
    assert survey(rows, DOMAINS)[0] == Unknown(TOO_MANY)
    one, two = (truth("c", each, "yes", "no") for each in rows)
    assert compare(one, two, DOMAINS) == Comparison((), TOO_MANY)


def test_rows_that_no_proof_understands_may_hold_together() -> None:
    unclear, other = program("n * n > 3"), program("n * n * n < -8")
    assert isinstance(disjoint([unclear, other, program("b")], DOMAINS), Unknown)
    assert isinstance(disjoint([unclear, program("b"), program("b && n > 3")], DOMAINS), Refuted)


def test_more_results_for_items_of_a_list_than_are_looked_at_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = "ts.exists(t, t.contains('a'))", "ts.all(t, !t.contains('a'))"
    assert excluded(*texts)
    monkeypatch.setattr("rulewright.proving.intervals._MOST_RESULTS", 1)
    assert not excluded(*texts)


def test_many_independent_conditions_on_the_items_of_a_list_are_given_up_early() -> None:
    texts = [f"ts.exists(t, t.contains('w{number}'))" for number in range(40)]
    with patch.object(Space, "ask", autospec=True, side_effect=Space.ask) as asked:
        assert not excluded(*texts)
    assert asked.call_count < 10_000  # not for all 40 in each of 5,000 boxes


def test_two_words_of_many_are_equal_only_where_they_are_the_same() -> None:
    words = tuple(f"w{number}" for number in range(9))  # 81 pairs, more than are tabled at once
    domains = Domains({"e": EnumType("e", words), "f": EnumType("e", words)})
    for one in words[::4]:
        for two in words[::4]:
            assert excluded("e == f", f"e == '{one}'", f"f == '{two}'", domains=domains) == (one != two)
    assert excluded("e == f", "e != f", domains=domains)
    assert excluded("e == f", "e in ['w1', 'w2']", "!(f in ['w1', 'w2', 'w3'])", domains=domains)


def test_lengths_are_left_out_where_they_make_a_search_too_long() -> None:
    texts = Domains({"s": STRING})
    ending = "s.matches('^[ab]*a[ab]{5}$')"
    assert excluded("size(s) > 150", "s == 'b'", domains=texts)
    assert excluded(ending, "size(s) > 150", "s.contains('c')", domains=texts)
    assert not excluded(ending, "size(s) > 150", domains=texts)
    assert not excluded(f"s.matches('^{'a?' * 900}$')", "size(s) > 2", domains=texts)


def studied(text: str, given: tuple[str, ...] = ()) -> list[tuple[str, bool, bool, str]]:
    root = load_text(f'"{text}"', "x.yaml").root
    assert isinstance(root, Scalar)
    found = placed([root], ENVIRONMENT, given=(" where it is read", given))
    return [(each.study.program.source, each.study.never, each.study.always, each.study.given) for each in found]


def test_a_test_below_one_that_never_holds_is_not_judged() -> None:
    assert len(studied("n > 5 && n < 3 ? (n > 2 ? 1 : 2) : 3")) == 1
    assert len(studied("n > 5 ? (n > 2 ? 1 : 2) : 3")) == 2
    assert studied("true ? n : 2") == []


def test_conditions_that_contradict_each_other_prove_nothing_of_another_one() -> None:
    assert studied("n > 3", ("n > 5",))[0][1:] == (False, True, " where it is read")
    assert studied("n > 3", ("n < 2",))[0][1:] == (True, False, " where it is read")
    assert studied("n > 3", ("n > 5", "n < 4"))[0][1:] == (False, False, "")


@pytest.mark.parametrize("text", ["has(r.p)", "r.?p.hasValue()", "has(r.p) && r.p > 0.5", "r['p'] > 0.5"])
def test_a_path_takes_the_place_of_another_in_every_form(text: str) -> None:
    moved = with_paths(program(text), {("r", "p"): reading(("other", "p"))})
    for value in ({}, {"p": Score(1, 4)}, {"p": Score(3, 4)}):
        assert bits_of(prepare(moved), {"other": value, "r": {}}) == bits_of(prepare(program(text)), {"r": value})
