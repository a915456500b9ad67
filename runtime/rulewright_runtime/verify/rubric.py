"""The rubric verifier: a judge decides one criterion about the reply to one turn.

`extra.points` of `extra.of` are the points: 1 of 1 for a binary criterion, the level's index for an ordinal one. An
autofail has no points; meeting it fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import RubricVerifier
from rulewright_runtime.transcripts.messages import Turn
from rulewright_runtime.transcripts.windows import WindowTurns
from rulewright_runtime.verdicts import Finding, missing_content, not_eligible
from rulewright_runtime.verify.asking import Asking
from rulewright_runtime.verify.evaluation_context import EvaluationContext
from rulewright_runtime.verify.judge import JudgeWindow, ask_about

LEVEL = "level"  # the field of a reply that names the level of an ordinal criterion


def verify(check: Check, verifier: RubricVerifier, context: EvaluationContext) -> Asking[Finding]:
    """The judge's verdict on the criterion; not eligible if the conversation took another branch."""
    if verifier.judging.repetitions == 0:
        return not_eligible("disabled_by_scan_profile", prompt_hash=verifier.judging.prompt_hash)
    window = window_of(verifier, context.turns)
    if window is None:
        return not_eligible("branch_not_taken", occasion=_is_branch_unknown(verifier.turn, context))
    selection = WindowTurns(window, {"unit": "turn", "turn": verifier.turn})
    if not window or context.are_silent([selection]):
        return missing_content("nothing_to_judge", extra=_criterion(verifier), prompt_hash=verifier.judging.prompt_hash)
    finding = yield from ask_about(check, verifier.judging, context, [JudgeWindow(0, selection)], "check")
    return replace(finding, extra={**finding.extra, **_points(verifier, finding)})


def _is_branch_unknown(number: int, context: EvaluationContext) -> bool:
    """Whether the user's message of that turn is missing or is not one of the scenario's."""
    if any(gap.turn == number and gap.kind in ("other_message", "other_branch") for gap in context.complete.gaps):
        return True
    return not any(turn.turn == number and turn.role == "user" for turn in context.turns)


def window_of(verifier: RubricVerifier, turns: Sequence[Turn]) -> tuple[int, ...] | None:
    """The indices of the turns that the criterion is about; empty if they have no reply, None if the conversation took
    another branch."""
    window = tuple(index for index, turn in enumerate(turns) if turn.turn == verifier.turn)
    taken = next((turns[index].branch_id for index in window if turns[index].role == "user"), None)
    if (verifier.branch is not None and taken != verifier.branch) or taken in verifier.unless:
        return None
    return window if any(turns[index].role == "assistant" for index in window) else ()


def _criterion(verifier: RubricVerifier) -> dict[str, object]:
    return {"kind": verifier.kind, "dimension": verifier.dimension, "weight": verifier.weight}


def _points(verifier: RubricVerifier, finding: Finding) -> dict[str, object]:
    """The criterion with its points; without points if the verdict is neither PASS nor FAIL."""
    record = _criterion(verifier)
    if verifier.kind == "autofail" or finding.verdict not in ("PASS", "FAIL"):
        return record
    if verifier.kind == "binary":
        return {**record, "points": int(finding.verdict == "PASS"), "of": 1}
    level = _level(verifier, finding)
    if level is None:  # fail closed: a verdict without a level gets no points
        return {**record, "points": 0, "of": len(verifier.levels) - 1}
    return {**record, "level": verifier.levels[level], "points": level, "of": len(verifier.levels) - 1}


def _level(verifier: RubricVerifier, finding: Finding) -> int | None:
    """The level that most replies with the winning verdict name; the lowest in a tie."""
    verdicts = finding.extra.get("all_verdicts", ())
    named = [
        verifier.levels.index(fields[LEVEL])
        for verdict, fields in zip(verdicts, finding.extra.get("fields", ()), strict=False)
        if verdict == finding.verdict and fields.get(LEVEL) in verifier.levels
    ]
    return min(named, key=lambda level: (-named.count(level), level)) if named else None
