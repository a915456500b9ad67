"""The runtime: executes a compiled plan, without YAML, grammar or schemas."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing `typing` takes longer than a cached lint may take
if TYPE_CHECKING:
    from rulewright_runtime.errors import EvaluationError, InputError, JudgeError, PlanError, RuntimeFailure
    from rulewright_runtime.execution import execute
    from rulewright_runtime.plan.envelope import encode as encode_plan
    from rulewright_runtime.plan.file import decode as decode_plan
    from rulewright_runtime.plan.scan import Plan
    from rulewright_runtime.transcript_execution import TranscriptResult
    from rulewright_runtime.transcripts.messages import Transcript, Turn
    from rulewright_runtime.transcripts.transcript_reader import Reader
    from rulewright_runtime.verdicts import EvidenceSpan, VerdictResult
    from rulewright_runtime.workflow.confidence import EvalMetric, compute_confidence, compute_raw

__version__ = "0.1.0"

__all__ = [
    "EvalMetric",
    "EvaluationError",
    "EvidenceSpan",
    "InputError",
    "JudgeError",
    "Plan",
    "PlanError",
    "Reader",
    "RuntimeFailure",
    "Transcript",
    "TranscriptResult",
    "Turn",
    "VerdictResult",
    "compute_confidence",
    "compute_raw",
    "decode_plan",
    "encode_plan",
    "execute",
]

_HOMES = {
    "errors": ("EvaluationError", "InputError", "JudgeError", "PlanError", "RuntimeFailure"),
    "execution": ("execute",),
    "plan.scan": ("Plan",),
    "transcript_execution": ("TranscriptResult",),
    "transcripts.messages": ("Turn",),
    "transcripts.transcript_reader": ("Reader", "Transcript"),
    "verdicts": ("EvidenceSpan", "VerdictResult"),
    "workflow.confidence": ("EvalMetric", "compute_confidence", "compute_raw"),
}


def __getattr__(name: str) -> object:
    """Import an exported name on first use, so that using one module does not load all of them."""
    if name in ("decode_plan", "encode_plan"):
        return getattr(import_module("rulewright_runtime.plan.file"), name.removesuffix("_plan"))
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"rulewright_runtime.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
