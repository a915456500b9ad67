"""Cells: one value for every place among the cuts, and none for a place where no value is."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.expression.types import (
    BOOL,
    DYN,
    INT,
    SCORE,
    STRING,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    RecordType,
)
from rulewright.proving.domains import (
    Absent,
    Domain,
    Domains,
    NumberRange,
    between,
    boolean,
    domain_of_parameter,
    number,
    score,
    text,
    whole,
)  # fmt: skip
from rulewright_runtime.plan.scorecard import Parameter
from rulewright_runtime.score import Score
from rulewright_runtime.values import INT_MAX, INT_MIN, NONE, Optional

HALF = Fraction(1, 2)


def test_a_score_has_a_cell_for_every_cut_and_everything_between() -> None:
    assert score().cells([HALF]) == [0, Score(2, 10), HALF, Score(7, 10), 1]
    assert score().cells([Fraction(2), Fraction(-1)]) == [0, Score(1, 2), 1]


def test_a_score_on_pieces_has_no_cell_between_them() -> None:
    pieces = (NumberRange.inside(Fraction(0), Fraction(0)), NumberRange.inside(HALF, Fraction(1)))
    assert score(pieces=pieces).cells([Fraction(1, 4), Fraction(3, 4)]) == [
        0, Score(6, 10), Score(3, 4), Score(8, 10),
    ]  # fmt: skip


def test_ints_between_neighbours_are_not_a_cell() -> None:
    assert whole().cells([Fraction(3), Fraction(4)]) == [0, 3, 4, 5]
    assert whole(3, 3).cells([HALF]) == [3]
    assert whole().cells([Fraction(INT_MAX), Fraction(INT_MIN)]) == [INT_MIN, 0, INT_MAX]
    assert whole(1).cells([Fraction(5, 2)]) == [1, 3]


def test_a_double_may_be_nan_and_infinite_unless_it_has_bounds() -> None:
    cells = number().cells([Fraction(0)])
    assert any(math.isnan(each) for each in cells)
    assert {math.inf, -math.inf} <= set(cells)
    assert number(0.0, 1.0).cells([HALF]) == [0.0, pytest.approx(0.2), 0.5, pytest.approx(0.7), 1.0]


def test_neighbouring_doubles_have_nothing_between_them() -> None:
    low = 0.1
    high = math.nextafter(low, 1)
    cells = number(0.0, 1.0).cells([Fraction(low), Fraction(high)])
    assert [each for each in cells if low <= each <= high] == [low, high]


def test_texts_enums_and_bools() -> None:
    assert text().cells(["b", "a"]) == ["a", "b", "another text"]
    assert text().cells(["another text"]) == ["another text", "another text'"]
    assert Domain("enum", members=("A", "B")).cells([]) == ["A", "B"]
    assert boolean(absent=True).cells([]) == [True, False, Absent(0)]


def test_the_domain_of_a_path_follows_its_types() -> None:
    inner = RecordType("inner", {"z": INT}, frozenset({"z"}))
    domains = Domains(
        {
            "r": RecordType("r", {"a": SCORE, "i": inner, "xs": ListType(INT)}, frozenset({"i"})),
            "m": MapType(STRING, BOOL),
            "o": OptionalType(EnumType("e", ("A",))),
            "d": DYN,
        }
    )
    assert domains.find(("r", "a")) == score()
    assert domains.find(("r", "i", "z")) == Domain("int", absent=frozenset({1, 2}))
    assert domains.find(("m", "k")) == Domain("bool", absent=frozenset({1}))
    found = domains.find(("o",))
    assert found is not None
    assert found.cells([]) == [Optional("A"), NONE]
    for unknown in (("r",), ("r", "xs"), ("r", "nobody"), ("d",), ("d", "x"), ("none",)):
        assert domains.find(unknown) is None


def test_a_parameter_keeps_to_its_bounds() -> None:
    assert domain_of_parameter(Parameter("p", "score", "0.5", 0.25, 0.75)).cells([]) == [
        Fraction(1, 4),
        HALF,
        Fraction(3, 4),
    ]
    assert domain_of_parameter(Parameter("p", "integer", 1, 0, 3)) == whole(0, 3)


@given(st.fractions(), st.fractions())
def test_a_number_between_two_others_is_between_them(one: Fraction, two: Fraction) -> None:
    if one != two:
        assert min(one, two) < between(min(one, two), max(one, two)) < max(one, two)
