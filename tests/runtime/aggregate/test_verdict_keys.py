"""Verdict keys: two verdicts share one only where the programs read the same of both."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.runtime.programs import Tree, call, loop, name, op, program

from rulewright_runtime.aggregate.outcome import VerdictKey, fields_of_extra

READ = ("eligible", "verdict", "extra")
HAS_FLAG = op("has", name("v.extra"), value="flag")


def verdict(word: str = "PASS", **extra: Any) -> SimpleNamespace:
    return SimpleNamespace(eligible=True, verdict=word, extra=extra)


def test_fields_of_extra_are_found_wherever_they_are_selected() -> None:
    points = call("_==_", name("v.extra.points"), 1)
    assert fields_of_extra([program(HAS_FLAG), program(op("and", points, name("v.eligible")))]) == ["flag", "points"]
    assert fields_of_extra([program(name("v.verdict"))]) == []


@pytest.mark.parametrize(
    "tree",
    [
        name("v"),
        call("size", name("verdicts")),
        name("v.extra"),
        call("size", name("v.extra")),
        call("size", name("v")),
        call("_==_", op("index", name("v"), "extra"), 1),
        call("_==_", op("index", name("v.extra"), "flag"), 1),
        loop("exists", name("v.extra"), call("_==_", 1, 1)),
        Tree("name", (), [["v.extra", []], ["v", ["extra"]]]),
    ],
)
def test_a_program_that_may_read_all_of_extra_or_of_the_verdict_is_recognized(tree: Tree) -> None:
    assert fields_of_extra([program(HAS_FLAG), program(tree)]) is None


def test_what_no_program_reads_makes_no_other_key() -> None:
    key = VerdictKey(READ, [program(HAS_FLAG)])
    assert key(verdict(flag=True, votes=3)) == key(verdict(flag=True, votes=[1]))
    others = [verdict(), verdict(flag=False), verdict(flag=1), verdict(flag=None), verdict("FAIL", flag=True)]
    assert len({key(each) for each in (verdict(flag=True), *others)}) == len(others) + 1


def test_values_that_can_not_be_compared_have_no_key() -> None:
    assert VerdictKey(READ, [program(HAS_FLAG)])(verdict(flag=[1])) is None
    assert VerdictKey(READ, [program(name("v.extra"))])(verdict(flag=1)) is None
    assert VerdictKey(READ, [program(name("v.extra"))])(verdict()) == (True, "PASS")
