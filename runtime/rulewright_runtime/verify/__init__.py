"""Verifiers: each answers for one check on one transcript; a verifier is a file here and a line in `VERIFIERS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.plan import JudgeVerifier, LexiconVerifier, LongitudinalVerifier, ScenarioRule
from rulewright_runtime.verify import judge, lexicon, longitudinal, scenario_rule

if TYPE_CHECKING:
    from collections.abc import Callable

VERIFIERS: Final[dict[type, Callable[..., Any]]] = {
    LexiconVerifier: lexicon.verify,
    ScenarioRule: scenario_rule.verify,
    JudgeVerifier: judge.verify,
    LongitudinalVerifier: longitudinal.verify,
}
