"""Long chains of conditionals: what each test leaves to those after it is found once for all of them."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from rulewright.proving.box_variables import Box, TooMany
from rulewright.proving.domains import Domains
from rulewright.proving.intervals import MAX_BOXES, Space
from rulewright.proving.search import Search
from rulewright_runtime.ir import Program

# The tests around one, from the outside, and the test itself, each by its node with the results it may have.
Course: TypeAlias = "tuple[tuple[int, int], ...]"


class Cascade:
    """The tests of a value's conditionals, by their nodes. No claim is made where there are too many cases."""

    def __init__(self, tests: Mapping[int, Program], domains: Domains) -> None:
        self.numbers = {test: number for number, test in enumerate(tests)}
        self.space = Search(list(tests.values()), domains).space
        self.left: dict[Course, _Kept] = {}
        self.asked = 0

    def excludes(self, course: Course) -> bool:
        """Whether no input takes this course; False also where it can't be decided."""
        if self.space is None:
            return False
        try:
            return next(iter(self._boxes(course, self.space)), None) is None
        except (TooMany, RecursionError):
            return False

    def _boxes(self, course: Course, space: Space) -> "_Kept":
        if course not in self.left:
            self.left[course] = _Kept(self._found(course, space))
        return self.left[course]

    def _found(self, course: Course, space: Space) -> Iterator[Box]:
        """The boxes on which every input takes a course, those on which the tests around the last are taken divided
        further. Raises TooMany."""
        if not course:
            yield space.everything
            return
        (test, bits) = course[-1]
        for box in self._boxes(course[:-1], space):
            self.asked += 1
            for inner in space.boxes([(self.numbers[test], bits)], box):
                self.asked += 1
                yield inner
            if self.asked > MAX_BOXES:
                raise TooMany


class _Kept:
    """Boxes that are found when they are first asked for. What ended the search ends it for everyone who asks."""

    def __init__(self, boxes: Iterator[Box]) -> None:
        self.boxes = boxes
        self.found: list[Box] = []
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[Box]:
        at = 0
        while at < len(self.found) or self._has_another():
            yield self.found[at]
            at += 1

    def _has_another(self) -> bool:
        if self.failure is not None:
            raise self.failure
        try:
            box = next(self.boxes, None)
        except (TooMany, RecursionError) as failure:
            self.failure = failure
            raise
        if box is not None:
            self.found.append(box)
        return box is not None
