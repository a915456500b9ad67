"""Comparisons of two numbers: which of them is greater decides, and nothing else is assumed of them."""

from itertools import product

import pytest

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import DOUBLE, INT, SCORE, Type
from rulewright.proving.atoms import FALSE, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.results import Proved
from rulewright.proving.search import never
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.score import parse_score

OPERATORS = ("<", "<=", ">", ">=", "==", "!=")
VALUES: dict[str, list[object]] = {
    "score": [parse_score(text) for text in ("0", "0.3", "1")],
    "int": [-1, 0, 2],
    "double": [-1.0, 0.0, 2.5, float("nan"), float("inf")],
}
TYPES: dict[str, Type] = {"score": SCORE, "int": INT, "double": DOUBLE}


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_two_comparisons_of_two_numbers_are_constant_exactly_where_they_are(kind: str) -> None:
    environment = Environment(variables={"a": TYPES[kind], "b": TYPES[kind]})
    domains = Domains(environment.variables)
    for one, two, joined, (left, right) in product(OPERATORS, OPERATORS, ("&&", "||"), (("a", "b"), ("b", "a"))):
        text = f"a {one} b {joined} {left} {two} {right}"
        program = build(text, environment).program
        evaluate = prepare(program)
        truths = {evaluate({"a": a, "b": b}) for a, b in product(VALUES[kind], repeat=2)}
        for bits, value in ((TRUE, True), (FALSE, False)):
            is_proved = isinstance(never(program, domains, bits), Proved)
            assert is_proved == (value not in truths), (text, value)
