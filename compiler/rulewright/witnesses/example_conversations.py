"""Conversations for which expression checks give certain verdicts, found by executing the checks.

They are made of what the conditions hold (`candidates`), with the scenarios and the verdicts of other checks that the
conditions read. Nothing is claimed that was not executed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import Final, TypeAlias, cast

from msgspec.structs import replace

from rulewright.documents.scenario import read_scenario
from rulewright.documents.validation import validate
from rulewright.documents.vocabulary import Vocabulary
from rulewright.errors import UsageError
from rulewright.load.file_reader import load_text
from rulewright.load.nodes import Mapping as MappingNode
from rulewright.lower.scan_plan import facts
from rulewright.proving.program_parts import extract, shape, with_values
from rulewright.witnesses.candidates import ConversationContext, OtherVerdict, Path, Written, contexts, written_in
from rulewright.witnesses.conversation_records import records
from rulewright.witnesses.guesses import InputModel
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.ir import CONNECTIVES, Program
from rulewright_runtime.plan.part import Verdict, programs_of
from rulewright_runtime.plan.scan import Check, Plan, Scenario
from rulewright_runtime.plan.verifiers import ExpressionVerifier, Verifier
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcript_execution import CheckAsking
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import from_record
from rulewright_runtime.verdicts import Finding, VerdictResult, conclude, not_eligible
from rulewright_runtime.verify.decisions import Eligibility
from rulewright_runtime.verify.evaluation_context import EvaluationContext

MOST: Final = 10_000  # inputs that are tried
AT_ONCE: Final = 4  # conversations that are tried in one context before the next
MOST_PARTS: Final = 12  # of conditions, whose effects are told apart
MOST_RECORDS: Final = 5_000  # conversations among them
Verdicts: TypeAlias = tuple[str, ...]  # of each check


def conversations_with(
    checks: Sequence[Check],
    vocabulary: Vocabulary,
    wanted: Iterable[Verdicts],
    undecided: str,
    examples: Iterable[JsonObject] = (),
    models: Sequence[InputModel] = (),
) -> dict[Verdicts, JsonObject]:
    """A conversation for each of the `wanted` verdicts that the checks give, as far as one was found: a record with its
    `scenario` and the `verdicts` of other checks where conditions read them. `undecided` stands for a verdict that a
    person has to give. The records `examples` are tried first, then what `models` of these inputs say."""
    routes = [check.verifier for check in checks]
    programs = [_ready(route, program) for route in routes for program in programs_of(route)]
    needs = sorted({name for route in routes for name in route.reads()})
    values = [value for route in routes for value in getattr(route, "parameters", {}).values()]
    if not all(isinstance(route, ExpressionVerifier) for route in routes):
        return {}
    written = written_in(programs, values, needs, models)
    left = set(wanted)
    found: dict[Verdicts, JsonObject] = {}
    try:
        around = contexts(written, needs, vocabulary)
        given: Iterator[Callable[[], JsonObject]] = (partial(dict, each) for each in examples)
        effect = _effect_of_parts(checks, written, around[0], vocabulary)
        tried = _Conversations(list(islice(chain(given, records(written, effect)), MOST_RECORDS)))
        for verdicts, witness in _tried(checks, written, around, tried, vocabulary, undecided):
            if verdicts in left:
                found[verdicts] = witness
                left.remove(verdicts)
            if not left:
                break
    except (RuntimeFailure, UsageError):  # of a plug-in that is not installed here
        pass
    return found


def _ready(route: Verifier, program: Program) -> Program:
    """A condition with the values of the parameters."""
    return with_values(program, {("params", name): each for name, each in getattr(route, "parameters", {}).items()})


def _effect_of_parts(
    checks: Sequence[Check], written: Written, context: ConversationContext, vocabulary: Vocabulary
) -> Callable[[JsonObject], Hashable]:
    """What each part of the conditions says of a conversation, a text for each."""
    parts = {
        (check.verifier.each, shape(part)): replace(check, verifier=_alone(check.verifier, part))
        for check in checks
        if isinstance(check.verifier, ExpressionVerifier)
        for program in programs_of(check.verifier)
        for part in _parts(program)
    }
    alone = list(islice(parts.values(), MOST_PARTS))
    engines = _engines(alone, written, context, vocabulary) or []

    def effect(record: JsonObject) -> Hashable:
        try:
            conversation = from_record({"id": "chat", **record})
            return tuple([_verdict(*pair, conversation, "") for pair in zip(engines, alone, strict=True)])
        except InputError:
            return None

    return effect


def _alone(verifier: ExpressionVerifier, part: Program) -> ExpressionVerifier:
    return replace(verifier, fails=part, unclear=None, passes=None)


def _parts(program: Program) -> Iterator[Program]:
    """The parts of a condition that connectives join."""
    pending = [len(program.nodes) - 1]
    while pending:
        at = pending.pop()
        if program.nodes[at].op in CONNECTIVES:
            pending += program.nodes[at].args
        else:
            yield extract(program, at)


def _tried(
    checks: Sequence[Check],
    written: Written,
    around: Sequence[ConversationContext],
    conversations: _Conversations,
    vocabulary: Vocabulary,
    undecided: str,
) -> Iterator[tuple[Verdicts, JsonObject]]:
    """The verdicts for inputs: for the first conversations in the first contexts, then for further ones."""
    engines: list[list[Engine] | None] = []
    for at, number in islice(_diagonally(len(around), conversations.number), MOST):
        if at == len(engines):
            engines.append(_engines(checks, written, around[at], vocabulary))
        if (prepared := engines[at]) is None:
            continue
        scenario = around[at].scenario
        try:
            conversation = conversations.read(number, None if scenario is None else str(scenario["scenario_id"]))
            verdicts = [
                _verdict(engine, check, conversation, undecided) for engine, check in zip(prepared, checks, strict=True)
            ]
        except InputError:
            continue
        if None not in verdicts:
            yield tuple(map(str, verdicts)), _witness(conversations.record(number), around[at], written)


class _Conversations:
    """Conversations that are made and read when they are tried, each once."""

    def __init__(self, variants: Sequence[Callable[[], JsonObject]]) -> None:
        """`variants` make the records."""
        self.number = len(variants)
        self.record = cache(lambda at: variants[at]())
        self.read = cache(self._read)

    def _read(self, at: int, scenario_id: str | None) -> Transcript:
        """The conversation as a scan reads it. Raises InputError."""
        played = {} if scenario_id is None else {"scenario_id": scenario_id}
        return from_record({"id": "chat", **self.record(at), **played})


def _diagonally(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Every place of a table, those next to its first row or column before others; rows are begun in their order."""
    for number in range(1, rows * (columns // AT_ONCE + 1) + 1):
        for row in range(min(number, rows)):
            start = AT_ONCE * (number // (row + 1) - 1)
            if number % (row + 1) == 0 and start < columns:
                yield from ((row, column) for column in range(start, min(start + AT_ONCE, columns)))


def _witness(record: JsonObject, context: ConversationContext, written: Written) -> JsonObject:
    read = {path[1] for path in written.paths if path[0] == "v" and path[2:] in (("confidence",), ("rationale_code",))}
    verdicts = {name: _as_json(record) if name in read else record.verdict for name, record in context.verdicts.items()}
    beside = {"scenario": context.scenario, "verdicts": verdicts}
    return {**{key: value for key, value in beside.items() if value}, **record}


def _as_json(record: OtherVerdict) -> object:
    """What a record says; None for none."""
    if record.verdict is None:
        return None
    return {"verdict": record.verdict, "confidence": record.confidence, "rationale_code": record.code}


def _engines(
    checks: Sequence[Check], written: Written, context: ConversationContext, vocabulary: Vocabulary
) -> list[Engine] | None:
    """For each check a plan of it alone, which applies to every conversation of the context; None where the scenario
    is none that a project may hold."""
    scenarios = {}
    if context.scenario is not None:
        scenario = scenario_of(context.scenario, written.paths, vocabulary)
        if scenario is None:
            return None
        scenarios[str(context.scenario["scenario_id"])] = scenario
    made: list[Engine] = []
    for check in checks:
        beside = {name: record for name, record in context.verdicts.items() if record.verdict is not None}
        given = [
            replace(check, id=name, verifier=ExpressionVerifier(), suppressed=None, eligible=None) for name in beside
        ]
        anywhere = (*given, replace(check, eligible=None, suppressed=None))
        plugins, severities = dict(vocabulary.functions), vocabulary.severities
        plan = Plan("", "", "", {}, scenarios, anywhere, plugins=plugins, severities=severities)
        made.append(_Beside(plan, beside))
    return made


def scenario_of(scenario: JsonMapping, paths: Iterable[Path], vocabulary: Vocabulary) -> Scenario | None:
    """The facts of a scenario for checks that read these paths of it; None for one that no project may hold."""
    root = load_text(json.dumps(scenario), "example.json").root
    if not isinstance(root, MappingNode) or validate("scenario", root, vocabulary):
        return None
    return facts(read_scenario(root), paths)


class _Beside(Engine):
    """An engine in which some checks say what they are stated to say."""

    def __init__(self, plan: Plan, records: Mapping[str, OtherVerdict]) -> None:
        """`records` are records by check."""
        super().__init__(plan)
        self.records = records

    def _verdict(
        self, check: Check, eligibility: Eligibility, context: EvaluationContext
    ) -> VerdictResult | CheckAsking:
        record = self.records.get(check.id)
        return super()._verdict(check, eligibility, context) if record is None else conclude(check, _finding(record))


def _finding(record: OtherVerdict) -> Finding:
    if record.verdict == "NOT_APPLICABLE":
        return replace(not_eligible(record.code), confidence=record.confidence)
    return Finding(cast("Verdict", record.verdict), record.confidence, record.code)


def _verdict(engine: Engine, check: Check, conversation: Transcript, undecided: str) -> str | None:
    """What the conditions of a check say of a conversation; None where it does not apply or content is missing. Raises
    InputError where it refuses it."""
    (result,) = results(engine, [conversation], None)
    found = next((each for each in result.verdicts if each.check_id == check.id), None)
    if result.errors or found is None or found.eligible is False or found.cause == "missing":
        return None
    return undecided if found.rationale_code == "condition_undecided" else found.verdict
