"""How much a test tries: a few random cases or examples under `make test`, many or all under `make torture`."""

import os
import random
from collections.abc import Sequence
from typing import Final, TypeVar

TORTURE: Final = bool(os.environ.get("RULEWRIGHT_TORTURE"))
SEED: Final = 20_261_122
T = TypeVar("T")


def rounds(few: int, many: int) -> int:
    """`few`, or `many` where `make torture` runs the test in its full length."""
    return many if TORTURE else few


def every(step: int, cases: Sequence[T], start: int = 0) -> Sequence[T]:
    """Every so many of the cases, for what must hold of any example; all of them where `make torture` runs the test."""
    return cases if TORTURE else cases[start::step]


def part(cases: Sequence[T], size: int) -> list[T]:
    """So many of the cases, the same ones in every run and spread over the whole; all of them under `make torture`."""
    if TORTURE or len(cases) <= size:
        return list(cases)
    chosen = random.Random(SEED).sample(range(len(cases)), size)
    return [cases[index] for index in sorted(chosen)]
