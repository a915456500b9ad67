"""The expression verifier: conditions over the conversation decide, without a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import lookup, personal, texts
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.interpreter.evaluator import evaluator
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.values import cel_type_name
from rulewright_runtime.verdicts import EvidenceSpan, Finding, failed, not_eligible, nothing_said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright_runtime.functions.table import Function
    from rulewright_runtime.interpreter import Evaluator
    from rulewright_runtime.ir import Program
    from rulewright_runtime.plan.part import Verdict
    from rulewright_runtime.plan.scan import Check
    from rulewright_runtime.plan.verifiers import ExpressionVerifier
    from rulewright_runtime.transcripts.view import Record, View
    from rulewright_runtime.verify.evaluation_context import EvaluationContext

MOST_SPANS: Final = 5  # that one condition is quoted with
MOST_ITEMS: Final = 20  # of those that fail, whose evidence is kept
LONGEST_QUOTE: Final = 200
_ITEM: Final = {"turn": "turn", "reply": "turn", "message": "message", "tool_call": "tool_call"}
_SPANS: Final = {**texts.SPANS, **personal.SPANS}


class _Condition(NamedTuple):
    verdict: Verdict
    code: str
    telling: _Telling
    holds: Evaluator


class _Conditions(NamedTuple):
    """The conditions in the order in which they decide, what they read, and the verdict where none of them holds."""

    each: tuple[_Condition, ...]
    roots: tuple[str, ...]
    otherwise: tuple[Verdict, str, _Telling | None]


class _Decision(NamedTuple):
    """A verdict, why, the condition that gave it, and what could not be decided."""

    verdict: Verdict
    code: str
    telling: _Telling | None = None
    undecided: str | None = None


def verify(check: Check, verifier: ExpressionVerifier, context: EvaluationContext) -> Finding:
    """FAIL where a part fails, else UNCLEAR where one is unclear, else PASS; no PASS where nothing was said."""
    conditions = context.kept.get(check.id)
    if conditions is None:
        conditions = context.kept[check.id] = _prepared(verifier)
    seen = _seen(verifier, conditions, context)
    if verifier.each == "conversation":
        return _whole(_decide(conditions, seen), seen, context)
    items = _items(verifier.each, context.view)
    if not items:
        return not_eligible("no_tool_calls", occasion=True) if verifier.each == "tool_call" else _nothing()
    name = _ITEM[verifier.each]
    return _combined([(item, _decide(conditions, {**seen, name: item})) for item in items], name, seen, context)


def _prepared(verifier: ExpressionVerifier) -> _Conditions:
    fails, unclear, passes = (
        None if program is None else _Telling(program)
        for program in (verifier.fails, verifier.unclear, verifier.passes)
    )
    written: tuple[tuple[Verdict, str, _Telling | None], ...] = (
        ("FAIL", "fail_condition_holds", fails),
        ("UNCLEAR", "unclear_condition_holds", unclear),
        ("PASS", "pass_condition_holds", passes),
    )
    each = tuple(
        _Condition(verdict, code, telling, prepare(telling.program))
        for verdict, code, telling in written
        if telling is not None
    )
    otherwise: tuple[Verdict, str, _Telling | None] = ("UNCLEAR", "no_condition_holds", None)
    if verifier.passes is None:
        otherwise = ("PASS", "fail_condition_does_not_hold", fails)
    elif verifier.fails is None:
        otherwise = ("FAIL", "pass_condition_does_not_hold", passes)
    names = (node.value for part in each for node in part.telling.program.nodes if node.op == "name")
    roots = dict.fromkeys(str(name).partition(".")[0] for tried in names for name, _ in tried)
    return _Conditions(each, tuple(roots), otherwise)


def _seen(verifier: ExpressionVerifier, conditions: _Conditions, context: EvaluationContext) -> Record:
    seen: Record = {**context.bindings, **context.view.bindings(conditions.roots), "params": verifier.parameters}
    if verifier.needs:
        given = {name: context.verdicts[name] for name in verifier.needs if name in context.verdicts}
        seen["v"] = {
            name: {
                "verdict": each.verdict,
                "eligible": each.eligible,
                "confidence": each.confidence,
                "rationale_code": each.rationale_code,
                "adjudication_required": each.adjudication_required,
            }
            for name, each in given.items()
        }
    return seen


def _items(each: str, view: View) -> Sequence[Record]:
    return {"turn": view.turns, "reply": view.replies}.get(each) or (
        view.messages if each == "message" else view.tool_calls if each == "tool_call" else ()
    )


def _decide(conditions: _Conditions, seen: JsonMapping) -> _Decision:
    for verdict, code, telling, holds in conditions.each:
        try:
            value = holds(seen)
        except EvaluationError as why:
            return _Decision("UNCLEAR", "condition_undecided", telling, f"{why.code}: {why}")
        if value is True:
            return _Decision(verdict, code, telling)
        if value is not False:
            kind = cel_type_name(value)
            return _Decision("UNCLEAR", "condition_undecided", telling, f"a condition must be a bool, found {kind}")
    return _Decision(*conditions.otherwise)


def _whole(decision: _Decision, seen: JsonMapping, context: EvaluationContext) -> Finding:
    if decision.verdict == "PASS" and not (context.replies() or context.view.tool_calls):
        return _nothing()
    if decision.undecided is not None:
        return _undecided(decision, {})
    evidence = _quoted(decision, seen, context.view) if decision.verdict != "PASS" else ()
    return Finding(decision.verdict, 1.0, decision.code, evidence)


def _combined(
    decisions: Sequence[tuple[Record, _Decision]], name: str, seen: JsonMapping, context: EvaluationContext
) -> Finding:
    verdicts = [decision.verdict for _, decision in decisions]
    verdict = next(each for each in ("FAIL", "UNCLEAR", "PASS") if each in verdicts)
    deciding = [(item, decision) for item, decision in decisions if decision.verdict == verdict]
    first = deciding[0][1]
    extra = {"parts": len(decisions), "failed": verdicts.count("FAIL"), "unclear": verdicts.count("UNCLEAR")}
    if verdict == "PASS":
        return Finding("PASS", 1.0, first.code, (), extra)
    evidence = [
        span
        for item, decision in deciding[:MOST_ITEMS]
        for span in _quoted(decision, {**seen, name: item}, context.view, item)
    ]
    undecided = next((decision for _, decision in deciding if decision.undecided is not None), None)
    if verdict == "UNCLEAR" and undecided is not None:
        return _undecided(undecided, extra, tuple(evidence))
    return Finding("FAIL" if verdict == "FAIL" else "UNCLEAR", 1.0, first.code, tuple(dict.fromkeys(evidence)), extra)


def _nothing() -> Finding:
    return nothing_said("nothing_to_judge")


def _undecided(decision: _Decision, extra: Record, evidence: tuple[EvidenceSpan, ...] = ()) -> Finding:
    """What could not be decided is UNCLEAR; no policy makes a FAIL of it, because nothing was found."""
    return failed(decision.code, extra={**extra, "undecided": decision.undecided}, evidence=evidence)


def _quoted(decision: _Decision, seen: JsonMapping, view: View, item: Record | None = None) -> tuple[EvidenceSpan, ...]:
    """The places that the condition's functions found in what was said; else the part that was decided about."""
    telling = decision.telling
    if telling is None:
        return () if item is None else (_part(item, view, decision.code),)
    found = [] if decision.undecided is not None else telling.places(seen)
    spans = []
    for text, start, end in found:
        place = view.place_of(item) if item is not None and text in item.values() else view.places.get(text)
        if place is not None:
            spans.append(EvidenceSpan(place.role, place.turn, text[start:end], telling.program.source))
    if spans or item is None:
        return tuple(dict.fromkeys(spans))[:MOST_SPANS]
    return (_part(item, view, telling.program.source),)


def _part(item: Record, view: View, why: str) -> EvidenceSpan:
    """A turn, message or tool call as evidence."""
    place = view.place_of(item)
    said = item.get("content") or item.get("text") or item.get("name") or ""
    return EvidenceSpan(place.role, place.turn, str(said)[:LONGEST_QUOTE], why)


class _Telling:
    """A condition that is evaluated once more, for the places where its functions find something."""

    __slots__ = ("_evaluator", "_found", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        self._evaluator: Evaluator | None = None
        self._found: list[tuple[str, int, int]] = []

    def places(self, seen: JsonMapping) -> list[tuple[str, int, int]]:
        """Text, start and end of what is found."""
        if self._evaluator is None:
            self._evaluator = evaluator(self.program, fast=False, function=self._function)
        self._found.clear()
        try:
            self._evaluator(seen)
        except EvaluationError:
            return []
        return self._found

    def _function(self, name: str, arguments: int, strict: bool) -> Function:
        plain, spans = lookup(name, arguments, strict), _SPANS.get(name)
        return plain if spans is None else _telling(plain, spans, self._found)


def _telling(plain: Function, spans: Callable[..., Any], found: list[tuple[str, int, int]]) -> Callable[..., Any]:
    def telling(*arguments: Any) -> Any:
        value = plain(*arguments)
        if len(found) < MOST_SPANS:
            found.extend((str(arguments[0]), start, end) for start, end in spans(*arguments))
        return value

    return telling
