"""The expression verifier: decides by conditions over the conversation, without a judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import lookup, personal, texts, tool_use
from rulewright_runtime.functions.table import Function
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.interpreter.evaluator import evaluator
from rulewright_runtime.ir import MIRRORED, Program
from rulewright_runtime.plan.part import ANSWERS, GRAVITY, VERDICTS, Verdict
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import PARTS, ExpressionVerifier
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.transcripts.view import Record, View
from rulewright_runtime.values import cel_type_name
from rulewright_runtime.verdicts import EvidenceSpan, Finding, VerdictResult, failed, missing_content, not_eligible
from rulewright_runtime.verify.applicable import is_empty, roots_of
from rulewright_runtime.verify.evaluation_context import EvaluationContext

SPANS: Final = {**texts.SPANS, **personal.SPANS}
CALLS: Final = {"called": tool_use.matching_calls}
MAX_SPANS: Final = 5  # quotes of one condition
MAX_MATCHES: Final = 50  # spans of one function, of which equal texts are quoted once
MAX_ITEMS: Final = 20  # deciding items with evidence
MAX_QUOTE: Final = 200  # code points
MAX_UNDECIDED: Final = 6  # verdicts of other checks whose answers are tried
_NUMBERS: Final = (int, float)
_READ: Final = ("verdict", "eligible", "confidence", "rationale_code", "adjudication_required")  # of another check


class _TracedCondition(NamedTuple):
    verdict: Verdict
    code: str
    tracer: _Tracer
    holds: Evaluator


class _Conditions(NamedTuple):
    """The conditions in the order in which they decide, the roots that they read, and the verdict if none holds."""

    each: tuple[_TracedCondition, ...]
    roots: tuple[str, ...]
    otherwise: tuple[Verdict, str, _Tracer | None]


class _Decision(NamedTuple):
    """A verdict, its code, the tracer of the condition that decided, and the reason if it is undecided."""

    verdict: Verdict
    code: str
    tracer: _Tracer | None = None
    undecided: str | None = None


def verify(check: Check, verifier: ExpressionVerifier, context: EvaluationContext) -> Finding:
    """FAIL if a part fails, else UNCLEAR if one is unclear, else PASS; never PASS for an empty conversation, and only
    if it passes whatever the undecided verdicts that it reads turn out to be. A FAIL that depends on them is
    unproven."""
    conditions = context.prepared.get(check.id)
    if conditions is None:
        conditions = context.prepared[check.id] = _prepared(verifier)
    bindings = _bindings(verifier, conditions, context)
    found = _found(verifier, conditions, bindings, context)
    undecided = [name for name in verifier.needs if _is_undecided(context.verdicts.get(name))]
    if not undecided or found.verdict not in ("PASS", "FAIL"):
        return found
    possible = _possible(undecided, verifier, conditions, bindings, context)
    if all(verdict == found.verdict for verdict in possible):
        return found
    if found.verdict == "FAIL":
        return replace(found, needs_adjudication=True, cause="unclear")
    why = f"it depends on {ticked(undecided)}"
    return failed("reads_an_undecided_verdict", extra={**found.extra, "undecided": why})


def _is_undecided(verdict: VerdictResult | None) -> bool:
    return verdict is not None and verdict.eligible and (verdict.verdict == "UNCLEAR" or verdict.cause is not None)


def _possible(
    undecided: list[str],
    verifier: ExpressionVerifier,
    conditions: _Conditions,
    bindings: Record,
    context: EvaluationContext,
) -> Iterator[Verdict]:
    """Yield the verdicts of the check over the answers to the undecided verdicts; every one for too many to try."""
    if len(undecided) > MAX_UNDECIDED:
        yield from VERDICTS
        return
    for answers in product(ANSWERS, repeat=len(undecided)):
        decided = {
            name: {**bindings["v"][name], "verdict": answer, "confidence": 1.0, "adjudication_required": False}
            for name, answer in zip(undecided, answers, strict=True)
        }
        answered = {**bindings, "v": {**bindings["v"], **decided}}
        yield _found(verifier, conditions, answered, context).verdict


def _found(
    verifier: ExpressionVerifier, conditions: _Conditions, bindings: Record, context: EvaluationContext
) -> Finding:
    if verifier.each == "conversation":
        return _whole(_decide(conditions, bindings), bindings, context)
    several, name = PARTS[verifier.each]
    items: Sequence[Record] = getattr(context.view, several)
    if not items:
        return (
            not_eligible("no_tool_calls", occasion=True)
            if verifier.each == "tool_call"
            else missing_content("nothing_to_judge")
        )
    decisions = [(item, _decide(conditions, {**bindings, name: item})) for item in items]
    return _combined(decisions, name, bindings, context)


def _prepared(verifier: ExpressionVerifier) -> _Conditions:
    fails, unclear, passes = (
        None if program is None else _Tracer(program) for program in (verifier.fails, verifier.unclear, verifier.passes)
    )
    declared: tuple[tuple[Verdict, str, _Tracer | None], ...] = (
        ("FAIL", "fail_condition_holds", fails),
        ("UNCLEAR", "unclear_condition_holds", unclear),
        ("PASS", "pass_condition_holds", passes),
    )
    each = tuple(
        _TracedCondition(verdict, code, tracer, prepare(tracer.program))
        for verdict, code, tracer in declared
        if tracer is not None
    )
    otherwise: tuple[Verdict, str, _Tracer | None] = ("UNCLEAR", "no_condition_holds", None)
    if verifier.passes is None:
        otherwise = ("PASS", "fail_condition_does_not_hold", fails)
    elif verifier.fails is None:
        otherwise = ("FAIL", "pass_condition_does_not_hold", passes)
    return _Conditions(each, roots_of(part.tracer.program for part in each), otherwise)


def _bindings(verifier: ExpressionVerifier, conditions: _Conditions, context: EvaluationContext) -> Record:
    bindings: Record = {**context.bindings, **context.view.bindings(conditions.roots), "params": verifier.parameters}
    if verifier.needs:
        verdicts = {name: context.verdicts[name] for name in verifier.needs if name in context.verdicts}
        bindings["v"] = {name: {field: getattr(each, field) for field in _READ} for name, each in verdicts.items()}
    return bindings


def _decide(conditions: _Conditions, bindings: JsonMapping) -> _Decision:
    for verdict, code, tracer, holds in conditions.each:
        try:
            value = holds(bindings)
        except EvaluationError as why:
            return _Decision("UNCLEAR", "condition_undecided", tracer, f"{why.code}: {why}")
        if value is True:
            return _Decision(verdict, code, tracer)
        if value is not False:
            kind = cel_type_name(value)
            return _Decision("UNCLEAR", "condition_undecided", tracer, f"a condition must be a bool, found {kind}")
    return _Decision(*conditions.otherwise)


def _whole(decision: _Decision, bindings: JsonMapping, context: EvaluationContext) -> Finding:
    if decision.verdict == "PASS" and is_empty(context):
        return missing_content("nothing_to_judge")
    if decision.undecided is not None:
        return _undecided(decision, {})
    if decision.verdict == "PASS" or decision.tracer is None:
        return Finding(decision.verdict, 1.0, decision.code)
    evidence = _quoted(decision, bindings, context.view)
    compared = "" if evidence else decision.tracer.compared(bindings, holds=decision.code.endswith("_condition_holds"))
    return Finding(decision.verdict, 1.0, decision.code, evidence, {"compared": compared} if compared else {})


def _combined(
    decisions: Sequence[tuple[Record, _Decision]], name: str, bindings: JsonMapping, context: EvaluationContext
) -> Finding:
    verdicts = [decision.verdict for _, decision in decisions]
    verdict = next(each for each in GRAVITY if each in verdicts)
    deciding = [(item, decision) for item, decision in decisions if decision.verdict == verdict]
    first = deciding[0][1]
    extra = {"parts": len(decisions), "failed": verdicts.count("FAIL"), "unclear": verdicts.count("UNCLEAR")}
    if verdict == "PASS":
        return Finding("PASS", 1.0, first.code, (), extra)
    evidence = [
        span
        for item, decision in deciding[:MAX_ITEMS]
        for span in _quoted(decision, {**bindings, name: item}, context.view, item)
    ]
    undecided = next((decision for _, decision in deciding if decision.undecided is not None), None)
    if verdict == "UNCLEAR" and undecided is not None:
        return _undecided(undecided, extra, tuple(evidence))
    return Finding("FAIL" if verdict == "FAIL" else "UNCLEAR", 1.0, first.code, tuple(dict.fromkeys(evidence)), extra)


def _undecided(decision: _Decision, extra: Record, evidence: tuple[EvidenceSpan, ...] = ()) -> Finding:
    """UNCLEAR for an undecided condition; no policy turns it into FAIL, because no failure was found."""
    return failed(decision.code, extra={**extra, "undecided": decision.undecided}, evidence=evidence)


def _quoted(
    decision: _Decision, bindings: JsonMapping, view: View, item: Record | None = None
) -> tuple[EvidenceSpan, ...]:
    """The spans and tool calls that the condition's functions match in the conversation; without any, the decided
    item."""
    tracer = decision.tracer
    if tracer is None:
        return () if item is None else (_part(item, view, decision.code),)
    matches = _Matches([], [], {}) if decision.undecided is not None else tracer.matches(bindings)
    made = {each["id"] for each in view.tool_calls} if matches.calls else ()  # others are literals
    spans = [_part(call, view, tracer.program.source) for call in matches.calls if call.get("id") in made]
    for text, start, end in matches.spans:
        location = view.location_of(item) if item is not None and text in item.values() else view.locations.get(text)
        if location is not None:
            spans.append(EvidenceSpan(location.role, location.turn, text[start:end], tracer.program.source))
    if spans or item is None:
        return tuple(dict.fromkeys(spans))[:MAX_SPANS]
    return (_part(item, view, tracer.program.source),)


def _part(item: Record, view: View, why: str) -> EvidenceSpan:
    """A turn, message or tool call as evidence."""
    location = view.location_of(item)
    text = item.get("content") or item.get("text") or _call_text(item)
    return EvidenceSpan(location.role, location.turn, str(text)[:MAX_QUOTE], why)


def _call_text(item: Record) -> str:
    """The name of a tool call with its arguments as they were recorded."""
    given = item.get("arguments")
    arguments = item.get("raw") or (json.dumps(given, ensure_ascii=False, default=str) if given else "")
    return f"{item.get('name') or ''} {arguments}".strip()


class _Matches(NamedTuple):
    """What the functions of a condition match: spans, each a text with its start and end, and tool calls; and the
    numbers that it compares, each comparison with whether it holds."""

    spans: list[tuple[str, int, int]]
    calls: list[Record]
    compared: dict[str, bool]


class _Tracer:
    """Evaluates a condition again and records what its functions match."""

    __slots__ = ("_evaluator", "_matches", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        self._evaluator: Evaluator | None = None
        self._matches = _Matches([], [], {})

    def matches(self, bindings: JsonMapping) -> _Matches:
        """The matches of the condition; none if it can't be decided."""
        if self._evaluator is None:
            self._evaluator = evaluator(self.program, fast=False, function=self._function)
        for found in self._matches:
            found.clear()
        try:
            self._evaluator(bindings)
        except EvaluationError:
            return _Matches([], [], {})
        return self._matches

    def compared(self, bindings: JsonMapping, *, holds: bool) -> str:
        """The comparisons of numbers in the condition that hold, or that don't, with the numbers."""
        found = [text for text, held in self.matches(bindings).compared.items() if held == holds]
        return ", ".join(found[:MAX_SPANS])

    def _function(self, name: str, arguments: int, strict: bool) -> Function:
        plain, spans, calls = lookup(name, arguments, strict), SPANS.get(name), CALLS.get(name)
        if name in MIRRORED:
            return _recording_numbers(plain, name.strip("_"), self._matches.compared)
        if calls is not None:
            return _recording_calls(plain, calls, self._matches.calls)
        return plain if spans is None else _recording(plain, spans, self._matches.spans)


def _recording(plain: Function, spans: Callable[..., Any], matches: list[tuple[str, int, int]]) -> Callable[..., Any]:
    def recording(*arguments: Any) -> Any:
        value = plain(*arguments)
        if len(matches) < MAX_SPANS:
            some = islice(spans(*arguments), MAX_MATCHES)
            matches.extend((str(arguments[0]), start, end) for start, end in some)
        return value

    return recording


def _recording_numbers(plain: Function, sign: str, compared: dict[str, bool]) -> Function:
    def recording(left: object, right: object) -> object:
        value = plain(left, right)
        if type(left) in _NUMBERS and type(right) in _NUMBERS and len(compared) < MAX_MATCHES:
            compared[f"{left} {sign} {right}"] = value is True
        return value

    return recording


def _recording_calls(plain: Function, calls: Callable[..., Iterable[object]], matches: list[Record]) -> Function:
    def recording(*arguments: object) -> object:
        value = plain(*arguments)
        if len(matches) < MAX_SPANS:
            matches.extend(call for call in islice(calls(*arguments), MAX_SPANS) if isinstance(call, dict))
        return value

    return recording
