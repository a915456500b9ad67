"""Work counted in executed lines, whose number unlike the time is the same in every run."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_of(work: Callable[[], object]) -> int:
    """How many lines some work executes; that of a loop counts each time."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return seen

    before = sys.gettrace()
    sys.settrace(seen)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def growth_of(prepared: Callable[[int], Callable[[], object]], size: int) -> float:
    """The lines that a third part adds, divided by those that the second part adds: 1 if each part adds as many, more
    if a part is work for the parts before it. `prepared` returns the work of a size."""
    _, one, two, three = (lines_of(prepared(size * parts)) for parts in (1, 1, 2, 3))  # the first time also imports
    return (three - two) / (two - one)
