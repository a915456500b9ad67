"""The condition `applies` of a check, and what a check finds in a conversation to which it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.polarity import Decision, Polarity, condition
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.transcripts.view import View
from rulewright_runtime.verdicts import Finding, missing_content, not_eligible
from rulewright_runtime.verify.evaluation_context import EvaluationContext


def applicability(check: Check) -> Callable[[JsonMapping, View], Decision] | None:
    """Whether a check applies to a conversation, as a function of the context of expressions and the conversation; None
    for one that applies to all."""
    if check.applies is None:
        return None
    decide, roots = condition(check.applies, Polarity.GUARDING), roots_of([check.applies])
    parameters = check.verifier.parameters if isinstance(check.verifier, ExpressionVerifier) else {}
    return lambda bindings, view: decide({**bindings, **view.bindings(roots), "params": parameters})


def inapplicable(context: EvaluationContext) -> Finding:
    """NOT_APPLICABLE; UNCLEAR for a conversation in which the assistant said and did nothing."""
    if is_empty(context):
        return missing_content("nothing_to_judge")
    return not_eligible("applies_condition_does_not_hold", occasion=True)


def is_empty(context: EvaluationContext) -> bool:
    """Whether the assistant said and did nothing."""
    return not (context.replies() or context.view.tool_calls)


def roots_of(programs: Iterable[Program]) -> tuple[str, ...]:
    """The first parts of the names that programs read."""
    names = (node.value for program in programs for node in program.nodes if node.op == "name")
    return tuple(dict.fromkeys(str(name).partition(".")[0] for candidates in names for name, _ in candidates))
