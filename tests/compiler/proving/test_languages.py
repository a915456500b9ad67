"""Languages of texts against RE2 itself: what is said of several expressions at once is true of every text."""

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import rounds

from rulewright.proving.languages import (
    ANY,
    Language,
    Outcome,
    complement,
    has_text,
    holding,
    holds,
    intersection,
    is_holding,
    is_part,
    literal,
    outcomes,
    sample_outcomes,
    sequence,
    with_cases,
)
from rulewright.proving.re2_syntax import is_without_match, language_of, samples

ATOMS = ["a", "b", "A", "ab", ".", r"\w", r"\W", r"\s", "[ab]", "[^a]", "[[:upper:]]", r"\x41", "(?i:a)", "(?i:k)"]
ATOMS += [r"\07", r"\141", r"\12", "(?i:\\pL)", "()"]
ASSERTIONS = ["^", "$", r"\b", r"\A", r"\z"]
REPEATS = ["", "*", "+", "?", "{2}", "{1,2}", "{2,}", "*?"]


def expressions() -> st.SearchStrategy[str]:
    """Expressions of a few parts, groups among them."""
    atoms = st.tuples(st.sampled_from(ATOMS), st.sampled_from(REPEATS)).map("".join) | st.sampled_from(ASSERTIONS)

    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        grouped = st.tuples(inner, st.sampled_from(REPEATS)).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
        return grouped | st.lists(inner, min_size=1, max_size=3).map("".join) | st.tuples(inner, inner).map("|".join)

    return st.recursive(atoms, grown, max_leaves=4)


TEXTS = st.text("abAK k\n-_\u212a", max_size=6)


def language(expression: str) -> Language:
    found = language_of(expression)
    assert found is not None, expression
    return holding(found)


def searches(expression: str, text: str) -> bool:
    return re2.search(expression, text) is not None


@given(st.lists(expressions(), min_size=1, max_size=2), st.lists(TEXTS, max_size=20))
@settings(max_examples=rounds(40, 5_000), deadline=None)
def test_every_outcome_has_its_text_and_every_text_its_outcome(several: list[str], texts: list[str]) -> None:
    found = outcomes([language(each) for each in several], [2, 4])
    if found is None:
        return
    for outcome, text in found.items():
        assert outcome.holds == tuple([searches(each, text) for each in several])
        assert outcome.reaches == (len(text) >= 2, len(text) >= 4)
    for text in texts:
        holds = tuple([searches(each, text) for each in several])
        assert Outcome(holds, (len(text) >= 2, len(text) >= 4)) in found


@pytest.mark.parametrize(
    "expression",
    [
        "a", ".", "[a-z]", "[^a-z]", r"[^\s]", "[k-s_]", "[\u00e9-\u0119]", r"\w", r"\W", r"\pL", "[[:^alpha:]]",
        r"[\x{e0}-\x{fe}]", r"[\0-\377]", "(?i:q)", "(?i:s)", "(?i:[k-m])", "(?i:\u00df)", "(?i:\u0130)",
        "(?i:\u0345)", "(?i:\u03c2)", "(?i:\u01c5)", "(?i:\u2167)", "(?i:\u24d0)",
    ],
)  # fmt: skip
def test_a_class_holds_the_characters_that_it_matches(expression: str) -> None:
    texts = "".join(map(chr, range(0x2500)))
    found = language_of(expression)
    assert found is not None
    assert found.kind == "set"
    held = [text for low, high in found.parts[0] for text in texts[low:high]]
    assert held == re2.findall(expression, texts)


@given(expressions(), TEXTS)
@settings(max_examples=rounds(25, 2_000), deadline=None)
def test_cases_are_changed_before_a_text_is_searched(expression: str, text: str) -> None:
    lower = str.maketrans("ABK", "abk")
    for is_lower, changed in ((True, text.translate(lower)), (False, text.translate({v: k for k, v in lower.items()}))):
        changed_first = with_cases(language(expression), lower=is_lower)
        found = outcomes([changed_first, literal(text)])
        assert found is None or Outcome((searches(expression, changed), True), ()) in found


def test_texts_combine() -> None:
    starts, ends = sequence([literal("ab"), ANY]), sequence([ANY, literal("ba")])
    found = outcomes([intersection([starts, ends]), complement(starts)])
    assert found is not None
    assert {outcome.holds: text for outcome, text in found.items()} == {
        (False, True): "",
        (False, False): "ab",
        (True, False): "aba",
    }


def test_an_unreadable_pattern_has_no_language() -> None:
    for expression in (r"(?m)^a", r"\Qa+b\E", r"\C", r"\B", "a(?i)*", "a{500}", "(", "(?=a)"):
        assert language_of(expression) is None, expression


def test_too_many_states_are_given_up() -> None:
    assert outcomes([language("(a|b)*a" + "(a|b)" * 14)]) is None


def test_too_much_work_is_given_up() -> None:
    words = [f"{one}{two}" for one in "abcdefghijklmnop" for two in ("order", "money", "parcel", "refund")]
    assert outcomes([language("|".join(f"{one} {two}" for one in words for two in words))]) is None
    assert outcomes([language("|".join(words))]) is not None


def test_nothing_is_said_of_expressions_that_are_nested_too_deeply() -> None:
    nested, optional = language("(a" * 400 + ")?" * 400), language("a?" * 900)
    assert samples("(a" * 400 + ")?" * 400) == []
    assert not is_without_match(r"x\bb" + "(a" * 400 + ")?" * 400)
    assert outcomes([holding(optional)]) is None
    assert has_text(intersection([holding(optional), complement(ANY), literal("b")])) is False
    assert has_text(intersection([holding(optional), holding(nested)])) in (True, "")
    assert not is_part(optional, language("a?" * 899 + "b?"))


def test_no_text_is_tried_for_more_languages_than_outcomes_are_known() -> None:
    several = tuple([literal(f"w{number}") for number in range(9)])
    assert len(sample_outcomes(several[:8], ())) == 9
    assert (sample_outcomes(several, ()), outcomes(several)) == (frozenset(), None)


@given(expressions(), expressions(), st.sampled_from(REPEATS), st.lists(TEXTS, max_size=20))
@settings(max_examples=rounds(50, 5_000), deadline=None)
def test_a_part_of_another_language_matches_nowhere_else(one: str, two: str, repeat: str, texts: list[str]) -> None:
    wider = f"(?:{one}|{two}){repeat}"
    for narrow, wide in ((one, two), (one, wider), (f"(?:{one}){repeat}", wider), (wider, one), (wider, two)):
        assert not is_part(language(narrow), language(wide)) or all(
            searches(wide, text) for text in texts if searches(narrow, text)
        )


def test_more_repetitions_and_wider_classes_hold_fewer_and_narrower_ones() -> None:
    for narrow, wide in (("a{0,25}b", "a{0,26}b"), ("[0-9]+x", "[0-9_]+x"), ("a{2}", "a{1,2}"), ("ab|c", "c|ab|d")):
        one, two = language(narrow), language(wide)
        assert (is_part(one, two), is_part(two, one)) == (True, False)


@given(st.lists(expressions(), min_size=1, max_size=2), TEXTS, TEXTS, TEXTS)
@settings(max_examples=rounds(60, 5_000), deadline=None)
def test_a_text_around_one_of_the_language_is_in_it_where_declared(
    several: list[str], before: str, text: str, after: str
) -> None:
    found = intersection([language(several[0]), *(complement(language(each)) for each in several[1:])])
    if is_holding(found) and holds(found, text):
        assert holds(found, before + text + after)


def test_only_languages_without_assertions_hold_what_holds_their_texts() -> None:
    assert is_holding(language("a+b"))
    assert is_holding(ANY)
    assert not is_holding(language(r"\ba"))
    assert not is_holding(literal("a"))
    assert not is_holding(complement(language("a")))


def test_a_very_long_expression_is_not_proved_to_match_nothing() -> None:
    assert is_without_match(r"pin\bcode")
    assert not is_without_match(r"pin\bcode" + " of the card" * 200)
