"""Conversations on which two expression checks say different things, found by carrying both out.

What the conditions write down makes them (`candidates`), and the scenarios and verdicts of other checks that they are
judged beside. Nothing is claimed that was not carried out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias, cast

from msgspec.structs import replace

from rulewright.documents.scenario import read_scenario
from rulewright.documents.validation import validate
from rulewright.documents.vocabulary import Vocabulary
from rulewright.errors import UsageError
from rulewright.load.nodes import Mapping as MappingNode
from rulewright.load.reader import load_text
from rulewright.lower.scan_plan import facts
from rulewright.policies.candidates import (
    PLAIN,
    ConversationContext,
    OtherVerdict,
    Written,
    contexts,
    records,
    written_in,
)
from rulewright.policies.stored_checks import applying
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import CheckAsking, Engine, results
from rulewright_runtime.plan.part import Verdict, programs_of
from rulewright_runtime.plan.scan import Check, Plan, Scenario
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.transcript_reader import from_record
from rulewright_runtime.verdicts import Finding, VerdictResult, conclude, not_eligible
from rulewright_runtime.verify.decisions import Eligibility
from rulewright_runtime.verify.evaluation_context import EvaluationContext

MOST: Final = 6_000  # inputs that are tried
AT_ONCE: Final = 4  # conversations that are tried in one context before the next
MOST_RECORDS: Final = 2_000  # conversations among them
Verdicts: TypeAlias = tuple[str, str]


def conversations_apart(
    checks: Sequence[Check], vocabulary: Vocabulary, wanted: Iterable[Verdicts], undecided: str
) -> dict[Verdicts, JsonObject]:
    """For each `wanted` pair of verdicts a conversation of which the two checks say them, as far as one was found: a
    record, with the `scenario` it was played from and the `verdicts` of other checks where these are read.
    `undecided` is what a verdict is called that a person has to give."""
    routes = [check.verifier for check in checks]
    programs = [program for check in checks for program in programs_of(check.verifier)]
    needs = sorted({name for route in routes for name in route.reads()})
    values = [value for route in routes for value in getattr(route, "parameters", {}).values()]
    if not all(isinstance(route, ExpressionVerifier) for route in routes):
        return {}
    written = written_in(programs, values, needs)
    left = set(wanted)
    found: dict[Verdicts, JsonObject] = {}
    try:
        for verdicts, witness in _tried(checks, written, contexts(written, needs, vocabulary), vocabulary, undecided):
            if verdicts in left:
                found[verdicts] = witness
                left.remove(verdicts)
            if not left:
                break
    except (RuntimeFailure, UsageError):  # of a plug-in that is not installed here
        pass
    return found


def without_scenario(checks: Sequence[Check]) -> list[JsonObject]:
    """The region of conversations without a scenario, where only one of two checks applies to them."""
    before, after = applying(checks, {})
    if before == after:
        return []
    where, witness = ["the conversation has no scenario"], {"messages": list(PLAIN)}
    return [{"place": "eligibility", "before": before, "after": after, "where": where, "witness": witness}]


def _tried(
    checks: Sequence[Check],
    written: Written,
    around: Sequence[ConversationContext],
    vocabulary: Vocabulary,
    undecided: str,
) -> Iterator[tuple[Verdicts, JsonObject]]:
    """What the checks say of inputs: of the first conversations in the first contexts, then of further ones."""
    conversations = list(islice(records(written), MOST_RECORDS))
    engines: list[list[Engine] | None] = []
    for at, number in islice(_diagonally(len(around), len(conversations)), MOST):
        if at == len(engines):
            engines.append(_engines(checks, written, around[at], vocabulary))
        pair, record = engines[at], conversations[number]
        if pair is None:
            continue
        scenario = around[at].scenario
        played = {} if scenario is None else {"scenario_id": scenario["scenario_id"]}
        first, second = (
            _verdict(engine, check, {"id": "chat", **record, **played}, undecided)
            for engine, check in zip(pair, checks, strict=True)
        )
        if first is not None and second is not None:
            yield (first, second), _witness(record, around[at], written)


def _diagonally(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Every place of a table, those next to its first row or column before others; rows are begun in their order."""
    for number in range(1, rows * (columns // AT_ONCE + 1) + 1):
        for row in range(min(number, rows)):
            start = AT_ONCE * (number // (row + 1) - 1)
            if number % (row + 1) == 0 and start < columns:
                yield from ((row, column) for column in range(start, min(start + AT_ONCE, columns)))


def _witness(record: JsonObject, context: ConversationContext, written: Written) -> JsonObject:
    read = {path[1] for path in written.paths if path[0] == "v" and path[2:] in (("confidence",), ("rationale_code",))}
    verdicts = {name: _as_json(said) if name in read else said.verdict for name, said in context.verdicts.items()}
    beside = {"scenario": context.scenario, "verdicts": verdicts}
    return {**{key: value for key, value in beside.items() if value}, **record}


def _as_json(said: OtherVerdict) -> object:
    """What a record says; None for none."""
    if said.verdict is None:
        return None
    return {"verdict": said.verdict, "confidence": said.confidence, "rationale_code": said.code}


def _engines(
    checks: Sequence[Check], written: Written, context: ConversationContext, vocabulary: Vocabulary
) -> list[Engine] | None:
    """For each check a plan of it alone, which applies to every conversation of the context; None where the scenario
    is none that a project may hold."""
    scenarios = {}
    if context.scenario is not None:
        scenario = _scenario(context.scenario, written, vocabulary)
        if scenario is None:
            return None
        scenarios[str(context.scenario["scenario_id"])] = scenario
    made: list[Engine] = []
    for check in checks:
        beside = {name: said for name, said in context.verdicts.items() if said.verdict is not None}
        given = [
            replace(check, id=name, verifier=ExpressionVerifier(), suppressed=None, eligible=None) for name in beside
        ]
        anywhere = (*given, replace(check, eligible=None, suppressed=None))
        plugins, severities = dict(vocabulary.functions), vocabulary.severities
        plan = Plan("", "", "", {}, scenarios, anywhere, plugins=plugins, severities=severities)
        made.append(_Beside(plan, beside))
    return made


def _scenario(scenario: JsonMapping, written: Written, vocabulary: Vocabulary) -> Scenario | None:
    root = load_text(json.dumps(scenario), "example.json").root
    if not isinstance(root, MappingNode) or validate("scenario", root, vocabulary):
        return None
    return facts(read_scenario(root), written.paths)


class _Beside(Engine):
    """An engine in which some checks say what they are stated to say."""

    def __init__(self, plan: Plan, said: Mapping[str, OtherVerdict]) -> None:
        """`said` are records by check."""
        super().__init__(plan)
        self.said = said

    def _verdict(
        self, check: Check, eligibility: Eligibility, context: EvaluationContext
    ) -> VerdictResult | CheckAsking:
        said = self.said.get(check.id)
        return super()._verdict(check, eligibility, context) if said is None else conclude(check, _finding(said))


def _finding(said: OtherVerdict) -> Finding:
    if said.verdict == "NOT_APPLICABLE":
        return replace(not_eligible(said.code), confidence=said.confidence)
    return Finding(cast("Verdict", said.verdict), said.confidence, said.code)


def _verdict(engine: Engine, check: Check, record: JsonObject, undecided: str) -> str | None:
    """What the check says of a conversation; None where it refuses it or does not apply."""
    try:
        (result,) = results(engine, [from_record(record)], None)
    except InputError:
        return None
    found = next((each for each in result.verdicts if each.check_id == check.id), None)
    if result.errors or found is None or found.eligible is False:
        return None
    return undecided if found.rationale_code == "condition_undecided" else found.verdict
