"""A ledger, and pauses that a test can wait for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rulewright_runtime.calls import breaker, scheduler
from rulewright_runtime.calls.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(tmp_path / "ledger.sqlite3")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that a test can wait for."""
    for module, name, value in (
        (scheduler, "FIRST_PAUSE", 0.001),
        (scheduler, "MAX_PAUSE", 0.02),
        (scheduler, "POLL", 0.01),
        (breaker, "FIRST_COOLING", 0.01),
        (breaker, "MAX_COOLING", 0.02),
    ):
        monkeypatch.setattr(module, name, value)
