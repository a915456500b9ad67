"""Bounds on the work of an expression: they hold, they grow with the hints, and what is unknown has no bound."""

from __future__ import annotations

from typing import Any

import pytest

from rulewright.expression.cost import UNBOUNDED, Bounds, cost
from rulewright.expression.parser import parse

EXACT = [
    ("1", 0, 0),
    ("n + 1", 2, 2),
    ("true ? n : n + n", 1, 3),
    ("a && n + n > n", 1, 6),
    ("[n, n]", 3, 3),
    ("n in [1, 2, 3]", 3, 5),
    ("has(n.x)", 2, 2),
    ("cel.bind(x, n + n, 1)", 0, 3),
]


@pytest.mark.parametrize(("text", "least", "most"), EXACT, ids=[t for t, _, _ in EXACT])
def test_steps_are_counted(text: str, least: float, most: float) -> None:
    assert cost(parse(text), {"n": 1}) == Bounds(least, most)


SIZED: list[tuple[str, dict[str, Any], float]] = [
    ("xs.all(x, x > 1)", {"xs": 10, "xs[]": 1}, 2 + 10 * 3),
    ("xs.map(x, x.name).exists(y, y == 'ab')", {"xs": 10}, 63),
    ("xs.all(x, ys.all(y, x == y))", {"xs": 10, "ys": 20, "xs[]": 1, "ys[]": 1}, 2 + 10 * (1 + 2 + 20 * 4)),
    ("xs.filter(x, x.ok).all(x, x.n > 1)", {"xs": (0, 5), "xs[].n": 1}, 2 + 5 * 3 + 1 + 5 * 4),
    ("text.contains('abc')", {"text": 1000}, 1 + 1 + 100),
    ("text.lowerAscii().contains('abc')", {"text": 1000}, 1 + 101 + 101),
]


@pytest.mark.parametrize(("text", "sizes", "most"), SIZED, ids=[t for t, _, _ in SIZED])
def test_a_loop_costs_its_body_for_every_element(text: str, sizes: dict[str, Any], most: float) -> None:
    assert cost(parse(text), sizes).most == pytest.approx(most)


@pytest.mark.parametrize("text", ["xs.all(x, true)", "s.contains('a')", "a == b", "n in xs", "xs.map(x, x).size() > 1"])
def test_what_has_no_hint_has_no_bound(text: str) -> None:
    found = cost(parse(text), {})
    assert found.most == UNBOUNDED or text.endswith("size() > 1")
    assert found.least < 10


def test_more_elements_never_cost_less() -> None:
    text = "xs.filter(x, x.a > 1).map(x, x.b).exists(y, y == 2)"
    bounds = [cost(parse(text), {"xs": n, "xs[].a": 1}).least for n in (1, 10, 100)]
    assert bounds == sorted(bounds)
    tops = [cost(parse("xs.exists_one(x, x > 1)"), {"xs": n, "xs[]": 1}).most for n in (1, 10, 100)]
    assert tops == sorted(tops)
    assert tops[0] < tops[-1]
