"""Sizes of lists and texts: what is proved of them holds for every small list and text."""

import random
from itertools import product
from typing import Final

import pytest
from tests.rounds import rounds

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, STRING, ListType, Type
from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.domains import Domains
from rulewright.proving.studies import is_never
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program

TYPES: Final[dict[str, Type]] = {"s": STRING, "xs": ListType(STRING), "ys": ListType(STRING)}
ENVIRONMENT: Final = Environment(variables=TYPES)
DOMAINS: Final = Domains(TYPES)
LISTS: Final[tuple[list[str], ...]] = ([], ["a"], ["b", "a"], ["a", "a"], ["a,b", "", "a"])
INPUTS: Final = [{"s": s, "xs": xs, "ys": ys} for s, xs, ys in product(("", "a", " a,b", ",,"), LISTS, LISTS)]
OF_LISTS: Final = (
    "{}.distinct()", "{}.sort()", "{}.reverse()", "{}.slice(0, 1)", "{}.slice(1, 3)", "{}.filter(x, x != 'a')",
    "{}.map(x, x.trim())", "{}.map(x, x != 'a', x)", "({} + ys)", "(xs + {})",
)  # fmt: skip
OF_TEXTS: Final = ("{}.trim()", "{}.lowerAscii()", "{}.reverse()", "{}.substring(1)", "({} + s)")
STARTS: Final = ("xs", "s.split(',')", "s.split(',', 2)", "s.split('', 0)", "[s, 'a']", "['a', 'b']")


def program(text: str) -> Program:
    return build(text, ENVIRONMENT, expect=BOOL).program


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("size(s.split('?')) > 0", FALSE),
        ("size(s.split('?', 0)) > 0", TRUE),
        ("size(s.split('?', 2)) > 2", TRUE),
        ("size([s, s]) == 2", FALSE | ERROR),
        ("size(xs) < size(xs.distinct())", TRUE | ERROR),
        ("size(xs.distinct().sort()) <= size(xs)", FALSE | ERROR),
        ("size(xs.filter(x, x != 'a').distinct()) > size(xs)", TRUE | ERROR),
        ("size(xs.map(x, x.trim())) == size(xs)", FALSE | ERROR),
        ("size(s.lowerAscii().reverse()) == size(s)", FALSE | ERROR),
        ("size(s.trim()) - size(s) >= 1", TRUE | ERROR),
    ],
)
def test_laws_of_sizes(text: str, results: int) -> None:
    assert is_never(program(text), DOMAINS, results)
    assert not is_never(program(text), DOMAINS, (TRUE | FALSE) & ~results)


@pytest.mark.parametrize(
    "text", ["size(xs.distinct()) == size(xs)", "size(xs + ys) > size(xs)", "size(['a', ?xs[?0]]) > 1"]
)
def test_sizes_that_may_differ_prove_nothing(text: str) -> None:
    assert not any(is_never(program(text), DOMAINS, bits) for bits in (TRUE, FALSE))


def test_what_is_proved_of_sizes_holds_for_small_lists_and_texts() -> None:
    chance, proved = random.Random(5), 0
    for _ in range(rounds(40, 2_000)):
        forms, start = (OF_LISTS, chance.choice(STARTS)) if chance.random() < 0.7 else (OF_TEXTS, "s")
        other = start
        for form in chance.choices(forms, k=chance.randint(1, 3)):
            other = form.format(other)
        against = f"size({start})" if chance.random() < 0.7 else str(chance.randint(0, 3))
        compiled = program(f"size({other}) {chance.choice(('<', '<=', '==', '>', '>='))} {against}")
        evaluate = prepare(compiled)
        seen = {bits_of(evaluate, each) for each in INPUTS}
        claimed = {bits for bits in (TRUE, FALSE, ERROR) if is_never(compiled, DOMAINS, bits)}
        proved += bool(claimed - {ERROR})
        assert seen.isdisjoint(claimed), compiled.source
    assert proved > 5
