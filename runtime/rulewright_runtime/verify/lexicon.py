"""The lexicon verifier: the first hit in the searched turns fails the check, or is confirmed by a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from rulewright_runtime.matching.match import MatchSpan
from rulewright_runtime.plan.question import WholeWindow
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import LexiconVerifier
from rulewright_runtime.verdicts import Finding, failed, missing_content
from rulewright_runtime.verify.asking import Verification
from rulewright_runtime.verify.evaluation_context import EvaluationContext


def verify(check: Check, verifier: LexiconVerifier, context: EvaluationContext) -> Verification:
    """FAIL with the exact hit, PASS without one, UNCLEAR if the lexicon is unknown; or the verdict of the edge."""
    lexicon = context.lexicons.get(verifier.lexicon)
    if lexicon is None:
        finding = failed(f"lexicon_not_registered:{verifier.lexicon}", needs_adjudication=False)
        return _ask(check, verifier, context, finding, "unclear")
    indices = _searched_turns(check, verifier, context, lexicon.role)
    hits = context.hits_at(verifier.lexicon, indices)
    first = next(hits, None)
    if first is None and verifier.nothing == "UNCLEAR" and not context.with_text(indices):
        return missing_content("nothing_to_judge")
    if first is None:
        return without_hit(verifier)
    quote, extra = context.quoted_hit(*first), {"matched_pattern": first[1].pattern}
    finding = Finding("FAIL", verifier.hit_confidence, verifier.detected, (quote,), extra)
    return _ask(check, verifier, context, finding, "hit", chain((first,), hits))


def without_hit(verifier: LexiconVerifier) -> Finding:
    return Finding("PASS", verifier.miss_confidence, verifier.absent)


def _searched_turns(check: Check, verifier: LexiconVerifier, context: EvaluationContext, role: str) -> Sequence[int]:
    """The indices of the turns of the role that are in a window."""
    indices = context.said_by(role)
    if isinstance(verifier.window, WholeWindow):
        return indices
    inside = {index for window in context.windows(verifier.window, check) for index in window.indices}
    return tuple(index for index in indices if index in inside)


def _ask(
    check: Check,
    verifier: LexiconVerifier,
    context: EvaluationContext,
    finding: Finding,
    why: str,
    hits: Iterable[tuple[int, MatchSpan]] = (),
) -> Verification:
    if verifier.edge is None or why not in verifier.edge.on:
        return finding
    from rulewright_runtime.verify import edge

    return edge.confirm(check, verifier.edge.judging, context, finding, why, tuple(hits))
