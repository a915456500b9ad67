"""The solver: weighted means, variables against variables, and silence where nothing is known."""

from __future__ import annotations

import sys

import pytest
from tests.compiler.proving.conditions_at_random import DOMAINS, implies, program

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import INT, RecordType
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.conditions import holds_always, holds_never, never
from rulewright.proving.decision_tables import survey
from rulewright.proving.domains import Domains
from rulewright.proving.results import Proved, Refuted, Unknown
from rulewright.proving.search import Search
from rulewright.proving.smt import MISSING


@pytest.mark.parametrize(
    "text",
    [
        "x > y || x <= y",
        "mean([x, y]).value() <= 1.0",
        "wmean([x, y], [2, 1]).value() < 0.8 || x > 0.6",
        "min([x, y]).value() <= max([x, y]).value()",
        "(x + y) / 2 <= 1.0",
        "!(x > y && y > x)",
        "x == y || x != y",
    ],
)
def test_these_hold_for_all_values(text: str) -> None:
    assert holds_always(program(text), DOMAINS) == Proved()


@pytest.mark.parametrize("text", ["x > y && y > x", "mean([x, y]).value() > 0.9 && x < 0.8", "x + y > 2.0"])
def test_these_hold_for_none(text: str) -> None:
    assert holds_never(program(text), DOMAINS) == Proved()


def test_a_weighted_mean_at_its_threshold_is_exact() -> None:
    reached = program("wmean([x, y], [2, 1]).value() >= 0.8 && y <= 0.4")
    result = holds_never(reached, DOMAINS)
    assert isinstance(result, Refuted)
    assert str(result.witness) == "x = 1.0, y = 0.4"
    assert holds_never(program("wmean([x, y], [2, 1]).value() > 0.8 && y <= 0.4"), DOMAINS) == Proved()


def test_weights_that_sum_to_nothing_have_no_mean() -> None:
    assert holds_always(program("!wmean([x, y], [0, 0]).hasValue()"), DOMAINS) == Proved()


def test_a_sum_of_ints_may_overflow() -> None:
    result = holds_always(program("n + 1 > n"), DOMAINS)
    assert isinstance(result, Refuted)
    assert str(result.witness) == "n = 9223372036854775807"


def test_a_quotient_is_undecided_where_the_divisor_is_nothing() -> None:
    result = holds_always(program("x / y >= 0.0"), DOMAINS)
    assert isinstance(result, Refuted)
    assert result.witness is not None
    assert ("y", "0.0") in result.witness.values


def test_absence_is_known_to_the_solver() -> None:
    result = implies(program("x > 0.5"), program("r.p > x || r.p <= x"))
    assert isinstance(result, Refuted)
    assert ("r.p", "absent") in (result.witness.values if result.witness else ())


def test_optional_parts_are_left_to_splitting() -> None:
    inner = RecordType("q", {"z": INT}, frozenset({"z"}))
    types = {"r": RecordType("r", {"q": inner}, frozenset({"q"}))}
    pair = [build(each, Environment(variables=types)).program for each in ("r.?q.?z.hasValue()", "has(r.q.z)")]
    assert isinstance(Search(pair, Domains(types)).solved([(0, FALSE), (1, ERROR)], ""), Unknown)


def test_a_table_over_a_composite_is_proved() -> None:
    whole = "(2 * x + y) / 3"
    assert survey([program(f"{whole} < 0.5"), program(f"{whole} >= 0.5")], DOMAINS)[0] == Proved()
    assert isinstance(survey([program(f"{whole} < 0.5"), program(f"{whole} > 0.5")], DOMAINS)[0], Refuted)


def test_a_part_nobody_understands_is_no_proof_and_no_hindrance() -> None:
    assert isinstance(holds_never(program("x > y && s.contains('a')"), DOMAINS), Unknown)
    assert holds_never(program("x > y && y > x && s.contains('a')"), DOMAINS) == Proved()


def test_without_the_solver_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    result = holds_always(program("x * y > 0.5 || x * y <= 0.5"), DOMAINS)
    assert isinstance(result, Unknown)
    assert result.reason.endswith(MISSING)


def test_splitting_alone_never_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    result = never(program("x * y > 0.5 && x * y < 0.3"), DOMAINS, TRUE, solver=False)
    assert isinstance(result, Unknown)
    assert "solver" not in result.reason
