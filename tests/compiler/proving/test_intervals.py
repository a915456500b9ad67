"""The splitter against inputs nobody chose, and against the evaluator."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiler.proving.conditions_at_random import DOMAINS, conditions, inputs, narrowed, program
from tests.rounds import rounds

from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.domains import Domains
from rulewright.proving.intervals import Goal, Space
from rulewright.proving.results import Counterexample, Unknown, bindings_of
from rulewright.proving.search import Search
from rulewright_runtime.interpreter import prepare

INPUTS = list(inputs())
_bits = st.sampled_from((TRUE, FALSE, ERROR, FALSE | ERROR, TRUE | ERROR))


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[str], Goal]:
    """A few conditions, and what each of them is to be."""
    texts = draw(st.lists(conditions, min_size=1, max_size=4))
    return texts, [(number, draw(_bits)) for number in range(len(texts))]


@settings(max_examples=rounds(30, 2_500))
@given(questions(), st.one_of(st.just(DOMAINS), narrowed()))
def test_every_question_is_answered_and_its_witness_replays(question: tuple[list[str], Goal], domains: Domains) -> None:
    texts, goal = question
    programs = [program(text) for text in texts]
    found = Search(programs, domains).find(goal)
    assert not isinstance(found, Unknown)
    if isinstance(found, Counterexample):
        assert all(bits_of(prepare(programs[number]), found.bindings) & bits for number, bits in goal)


@settings(max_examples=60)
@given(questions())
def test_no_input_at_all_meets_a_goal_that_is_proved_out_of_reach(question: tuple[list[str], Goal]) -> None:
    texts, goal = question
    programs = [program(text) for text in texts]
    if Search(programs, DOMAINS).find(goal) is None:
        evaluators = [prepare(each) for each in programs]
        assert not any(all(bits_of(evaluators[n], given_) & bits for n, bits in goal) for given_ in INPUTS[::7])


@settings(max_examples=rounds(25, 2_000))
@given(conditions)
def test_what_is_known_of_every_cell_is_what_the_evaluator_says(text: str) -> None:
    """True, false and undecided divide all inputs: no box belongs to two of them, and together they are everything."""
    space, evaluate = Space([program(text)], DOMAINS), prepare(program(text))
    sizes = 0
    for bits in (TRUE, FALSE, ERROR):
        for box in space.boxes([(0, bits)]):
            sizes += math.prod(cells.bit_count() for cells in box)
            for pick in (min, max):
                chosen = {
                    each.path: each.values[pick(n for n in range(box[each.at].bit_length()) if box[each.at] >> n & 1)]
                    for each in space.variables
                    if each.path
                }
                bindings = bindings_of(chosen)
                assert bindings is None or bits_of(evaluate, bindings) == bits
    assert sizes == math.prod(cells.bit_count() for cells in space.everything)


def test_a_choice_inside_a_comparison_is_split() -> None:
    search = Search([program("(b ? x : 1 - x) < 0.25"), program("(x < 0.5 ? x : (b ? 1 - x : 2 * x)) > 1.5")], DOMAINS)
    found = [search.find([(number, bits)]) for number in (0, 1) for bits in (TRUE, FALSE)]
    assert [str(each) for each in found] == ["b = true, x = 0.0", "b = true, x = 0.25", "b = false, x = 0.8", "x = 0.0"]


def test_hundreds_of_rows_do_not_take_long() -> None:
    rows = [program(f"x >= 0.{k:03} && y < 0.{999 - k:03}") for k in range(200)]
    search = Search(rows, DOMAINS)
    assert isinstance(search.find([(n, FALSE) for n in range(200)]), Counterexample)
    assert search.find([(0, FALSE), (5, TRUE)]) is None


@pytest.mark.parametrize("inner", ["x > 0.5", "x > y"])
@pytest.mark.parametrize("layer", ["!({})", "b && ({} || x < 0.5)", "(b ? {} : !b)"])
def test_deep_nesting_ends_in_an_answer(layer: str, inner: str) -> None:
    text = inner
    for _ in range(60):
        text = layer.format(text)
    found = Search([program(text)], DOMAINS).find([(0, TRUE)])
    assert isinstance(found, (Counterexample, Unknown))


def test_many_choices_inside_one_comparison_do_not_multiply_without_end() -> None:
    text = " + ".join(["(b ? x : y)"] * 16) + " > 20"
    assert isinstance(Search([program(text)], DOMAINS).find([(0, TRUE)]), Unknown)


def test_what_splits_into_too_many_cases_is_unknown_and_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rulewright.proving.intervals.MAX_BOXES", 3)
    found = Search([program("x > 0.3 || y > 0.3 || n > 3 || b"), program("!b && x < 0.2")], DOMAINS).find(
        [(0, TRUE), (1, TRUE)]
    )
    assert isinstance(found, (Unknown, Counterexample))
    text = " || ".join(f"(x > 0.{k} && y < 0.{k} && n > {k})" for k in range(1, 9))
    never = Search([program(f"({text}) && (x > 0.95 || n < 0) && (y > 0.95 || n < -1)")], DOMAINS).find([(0, TRUE)])
    assert isinstance(never, Unknown)
