"""Random conditions over two scores, a decision and a count, and their truth in every distinct case."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import eq, ge, gt, le, lt, ne
from typing import Any

Case = tuple[Any, ...]
ROOTS = ("metrics.lint_score", "metrics.test_coverage", "review.decision", "loop.iteration")
DECISIONS = ("GO", "NO_GO")
BOUND = 3  # the loop's `max_iterations`
TENTHS = tuple(range(0, 11, 2))
COMPARED = {"<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as an author writes it, and as a function of a case."""

    text: str
    holds: Callable[[Case], bool]


def cases() -> Iterator[Case]:
    """One case for each way in which the comparisons of `comparison` can come out. Scores are in twentieths."""
    near = {2 * tenth + step for tenth in TENTHS for step in (-1, 0, 1)}
    scores = sorted(near & set(range(21)))
    return product(scores, scores, DECISIONS, range(1, BOUND + 1))


def condition(chance: random.Random, depth: int = 2) -> Condition:
    """A comparison, two conditions joined by `&&` or `||`, or a negation."""
    if depth == 0 or chance.random() < 0.2:
        return comparison(chance)
    one, two = condition(chance, depth - 1), condition(chance, depth - 1)
    match chance.choice(("and", "and", "or", "or", "not")):
        case "and":
            return Condition(f"({one.text}) && ({two.text})", lambda case: one.holds(case) and two.holds(case))
        case "or":
            return Condition(f"({one.text}) || ({two.text})", lambda case: one.holds(case) or two.holds(case))
    return Condition(f"!({one.text})", lambda case: not one.holds(case))


def chain(chance: random.Random) -> tuple[str, tuple[Condition, ...]]:
    """Two or three comparisons, and the operator between them."""
    return chance.choice(("&&", "||")), tuple(comparison(chance) for _ in range(chance.choice((2, 2, 3))))


def joined(sign: str, parts: Sequence[Condition]) -> Condition:
    """The comparisons as one condition."""
    meets = all if sign == "&&" else any
    return Condition(
        f" {sign} ".join(part.text for part in parts), lambda case: meets(each.holds(case) for each in parts)
    )


def comparison(chance: random.Random) -> Condition:
    """One value compared with a literal, mostly one of the first score."""
    root = chance.choice((0, 0, 0, 1, 2, 3))
    if root == 2:
        sign, word = chance.choice((("==", eq), ("!=", ne))), chance.choice(DECISIONS)
        return Condition(f"{ROOTS[root]} {sign[0]} {word}", lambda case: bool(sign[1](case[root], word)))
    written, compare = chance.choice(tuple(COMPARED.items()))
    if root == 3:
        count = chance.randint(0, BOUND + 1)
        return Condition(f"{ROOTS[root]} {written} {count}", lambda case: bool(compare(case[root], count)))
    tenth = chance.choice(TENTHS)
    return Condition(f"{ROOTS[root]} {written} {tenth / 10}", lambda case: bool(compare(case[root], 2 * tenth)))
