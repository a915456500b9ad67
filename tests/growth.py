"""Work counted in calls of functions, which unlike its time is the same in every run."""

import sys
from collections.abc import Callable
from types import FrameType


def calls_of(work: Callable[[], object]) -> int:
    """How often functions are called, and generators resumed, by some work."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def growth_of(prepared: Callable[[int], Callable[[], object]], size: int) -> float:
    """The calls that a third part adds, divided by those that the second part adds: 1 if each part adds as many, more
    if a part is work for the parts before it. `prepared` returns the work of a size."""
    _, one, two, three = (calls_of(prepared(size * parts)) for parts in (1, 1, 2, 3))  # the first time also imports
    return (three - two) / (two - one)
