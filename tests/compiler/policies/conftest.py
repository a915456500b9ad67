"""A search for an example gives up early: what these tests seek is found soon, and a search without an end is slow."""

from collections.abc import Iterator

import pytest
from tests.rounds import TORTURE

from rulewright.policies import example_rows, executed_checks
from rulewright.witnesses import evolution, example_conversations

MOST = (
    (example_conversations, "MOST", 2_000),
    (example_conversations, "MOST_RECORDS", 2_000),
    (evolution, "MOST", 600),
    (example_rows, "MOST_ROWS", 1_000),
    (executed_checks, "_MOST", 1_000),
)


@pytest.fixture(autouse=True)
def short_searches() -> Iterator[None]:
    """Searches as long as for people under `make torture`."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, most in () if TORTURE else MOST:
            patch.setattr(module, name, most)
        yield
