"""How much a test tries: a few random cases or examples under `make test`, many or all under `make torture`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, TypeVar

TORTURE: Final = bool(os.environ.get("RULEWRIGHT_TORTURE"))
T = TypeVar("T")


def rounds(few: int, many: int) -> int:
    """`few`, or `many` where `make torture` runs the test in its full length."""
    return many if TORTURE else few


def every(step: int, cases: Sequence[T], start: int = 0) -> Sequence[T]:
    """Every so many of the cases, for what must hold of any example; all of them where `make torture` runs the test."""
    return cases if TORTURE else cases[start::step]
