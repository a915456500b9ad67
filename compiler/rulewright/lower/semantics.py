"""The two semantics `seed` and `reference` as policies of the plan, resolved while compiling.

A plan holds only the results, so that the runtime never asks which semantics it was compiled under.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from rulewright.documents.check import CheckDocument
from rulewright.documents.project_file import Semantics
from rulewright.lower.lexicons import NONE, TEXT, Fold
from rulewright_runtime.plan.part import Verdict
from rulewright_runtime.plan.question import (
    AnchoredWindow,
    EachReplyWindow,
    EvidencePolicy,
    ExchangeWindow,
    LastPairWindow,
    NearbyWindow,
    Unusable,
    Vote,
    WholeWindow,
    Window,
)

if TYPE_CHECKING:
    from rulewright.project import Project

UNDECIDED_UNIT: Final = "turn_level_or_session_state"


class Policies(Struct, frozen=True):
    """The policies that differ between the semantics. `reading`: which replies of a judge are usable; `fold`: the
    folding of literals in lexicons that set none; `unproven`: the effect of an unproven failure on the status."""

    semantics: Semantics
    vote: Vote
    reading: Literal["strict", "lenient"]
    fold: Fold
    unproven: Literal["adjudicate", "keep"]

    @property
    def is_seed(self) -> bool:
        """Whether prompts are templates, a hybrid check's lexicon looks for candidates, a judge may confirm its hits,
        `unclear_policy` applies, a missing unit of analysis comes from the scoring file, unknown names stop the
        compilation, a transcript is compared with its scenario's turns, a scenario rule reads the answer to every
        question, and an empty reply is an error."""
        return self.semantics == "seed"

    def window(self, unit: str | None, cue: str | None, turns: int) -> Window:
        """Return the window of a unit of analysis, of at most `turns` turns; `cue` names the lexicon that finds cues
        without an anchor."""
        return _seed_window(unit, cue, turns) if self.is_seed else _reference_window(unit)

    def unusable(self, check: CheckDocument) -> Unusable:
        """The policy for a check whose judge gives no usable reply."""
        if not self.is_seed:
            return Unusable("FAIL", record=False)
        return Unusable("FAIL" if check.is_gate else "UNCLEAR")

    def evidence(self, check: CheckDocument) -> EvidencePolicy:
        """The policy for a judge's quotes."""
        if not self.is_seed:
            return EvidencePolicy(verify=False, required=False, unverified_fail="keep", malformed="exception")
        unverified: Literal["keep", "unclear"] = "keep" if check.is_gate else "unclear"
        return EvidencePolicy(required=check.scorer.require_evidence_span is not False, unverified_fail=unverified)

    def adjudicate(self, check: CheckDocument, *, deterministic: bool) -> tuple[Verdict, ...]:
        """The verdicts that need adjudication; `deterministic`: neither a judge nor a scenario rule gives them."""
        if self.is_seed:
            return ("UNCLEAR",)
        if deterministic:
            return ()
        return ("UNCLEAR", "FAIL") if check.severity in check.vocabulary.gate_severities else ("UNCLEAR",)


SEED: Final = Policies("seed", Vote(), "strict", TEXT, "adjudicate")
REFERENCE: Final = Policies(
    "reference", Vote(denominator="usable", rationale="first", record=False, stop="never"), "lenient", NONE, "keep"
)


def policies(semantics: Semantics) -> Policies:
    """Return the policies of a project's `semantics`."""
    return REFERENCE if semantics == "reference" else SEED


def unit_of(check: CheckDocument, project: Project) -> str | None:
    """Return the check's unit of analysis: its own, else its bucket's; longitudinal checks read whole sessions."""
    own = check.routing.unit_of_analysis
    if own is not None or project.semantics != "seed":
        return own
    longitudinal = check.routing.route == "longitudinal_trace"
    if longitudinal:  # seed 004, event-window scoping: session_state is the unit of longitudinal checks
        return "session_state"
    unit = project.scoring.unit_by_bucket.get(check.primary_bucket) if project.scoring else None
    return "turn_level" if unit == UNDECIDED_UNIT else unit


def _seed_window(unit: str | None, cue: str | None, turns: int) -> Window:
    if unit == "event_window":
        return AnchoredWindow(anchors="all", cue=cue, record=True, turns=turns)
    if unit == "turn_level":
        return EachReplyWindow()
    return ExchangeWindow(turns) if unit == "local_exchange" else WholeWindow()


def _reference_window(unit: str | None) -> Window:
    if unit == "event_window":
        return AnchoredWindow()
    if unit == "turn_level":
        return LastPairWindow()
    return NearbyWindow() if unit == "local_exchange" else WholeWindow()
