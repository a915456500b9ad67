"""Counts of verdicts, and the share of FAIL among PASS and FAIL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rulewright_runtime.plan.part import VERDICTS


@dataclass(slots=True)
class RunTally:
    """The counts of a check's verdicts where it applied."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))

    def add(self, verdict: str) -> None:
        """Count one verdict of a check that applied."""
        self.counts[verdict] = self.counts.get(verdict, 0) + 1

    @property
    def decided(self) -> int:
        """The number of PASS and FAIL."""
        return self.counts["PASS"] + self.counts["FAIL"]

    @property
    def fail_rate(self) -> float | None:
        """The share of FAIL among PASS and FAIL, in [0, 1]; None without either."""
        return self.counts["FAIL"] / self.decided if self.decided else None

    def result(self) -> dict[str, Any]:
        """`{PASS, FAIL, UNCLEAR, NOT_APPLICABLE, fail_rate}`."""
        return {**self.counts, "fail_rate": self.fail_rate}
