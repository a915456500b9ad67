"""Garbage is searched for less often only while a block runs."""

import gc
from collections.abc import Iterator

import pytest

from rulewright_runtime.processes.fast_start import MANY, seldom_collected


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_garbage_is_searched_for_seldom_until_the_block_fails() -> None:
    gc.set_threshold(700, 10, 10)

    @seldom_collected()
    def fail() -> None:
        raise ValueError(gc.get_threshold())

    with pytest.raises(ValueError, match=f"{MANY}, 20, 20"):
        fail()
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("first", [0, 4 * MANY])
def test_a_process_that_searches_less_often_still_does(first: int) -> None:
    gc.set_threshold(first, 10, 10)
    with seldom_collected():
        assert gc.get_threshold()[0] == first
    assert gc.get_threshold() == (first, 10, 10)
