"""The longitudinal verifier: a judge looks at the whole trace of turns and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright_runtime.verify.judge import ask

if TYPE_CHECKING:
    from rulewright_runtime.plan import Check, LongitudinalVerifier
    from rulewright_runtime.verdicts import Finding
    from rulewright_runtime.verify.scene import Scene


def verify(check: Check, verifier: LongitudinalVerifier, scene: Scene) -> Finding:
    """What the judge says of the trace."""
    return ask(check, verifier.judging, scene)
