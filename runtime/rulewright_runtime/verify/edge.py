"""The edge: a judge is asked about what a deterministic verifier found but should not decide alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from rulewright_runtime.verify.judge import ask

if TYPE_CHECKING:
    from rulewright_runtime.plan import Check, Judging
    from rulewright_runtime.verdicts import Finding
    from rulewright_runtime.verify.scene import Scene


def confirm(check: Check, judging: Judging, scene: Scene, first: Finding, why: str) -> Finding:
    """The judge's verdict on `first`; its evidence stays in front of a confirmed FAIL, and `extra.edge` says why."""
    if judging.repetitions == 0:
        return first
    asked = ask(check, judging, scene, purpose="edge", given=first.evidence)
    extra = {**first.extra, **asked.extra, "edge": {"asked_on": why, "verdict_before": first.verdict}}
    return replace(asked, extra=extra)
