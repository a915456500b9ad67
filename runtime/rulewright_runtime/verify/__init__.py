"""Verifiers: each answers for one check on one transcript; a verifier is a file here and a line in `VERIFIERS`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.plan.verifiers import (
    CorpusVerifier,
    CueResponse,
    ExpressionVerifier,
    JudgeVerifier,
    JurisdictionRule,
    LexiconVerifier,
    LongitudinalVerifier,
    PhasedVerifier,
    ProbeVerifier,
    RubricVerifier,
    ScenarioRule,
    TraceVerifier,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright_runtime.verify.asking import Verification

# Named, not imported: a run loads the verifiers that its plan uses.
VERIFIERS: Final[dict[type, str]] = {
    LexiconVerifier: "lexicon",
    ScenarioRule: "scenario_rule",
    JudgeVerifier: "judge",
    LongitudinalVerifier: "longitudinal",
    TraceVerifier: "state_machine",
    CorpusVerifier: "corpus",
    JurisdictionRule: "jurisdiction_rule",
    PhasedVerifier: "phased",
    ProbeVerifier: "probes",
    CueResponse: "cue_response",
    RubricVerifier: "rubric",
    ExpressionVerifier: "expression",
}


@cache
def verifier_of(part: type) -> Callable[..., Verification]:
    """The function that verifies what a part of a plan describes: `verify(check, part, context)`."""
    verify: Any = import_module(f"{__name__}.{VERIFIERS[part]}").verify
    found: Callable[..., Verification] = verify
    return found
