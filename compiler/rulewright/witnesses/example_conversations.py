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
from rulewright.witnesses.evolution import evolved
from rulewright.witnesses.guesses import InputModel
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.ir import CONNECTIVES, Node, Program
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
MOST_FINE: Final = 40  # parts of conditions and of macros
MOST_START: Final = 300  # conversations that are changed at random, the first ones and as many among all
MOST_RECORDS: Final = 5_000  # conversations among them
MACROS: Final = ("exists", "all", "exists_one")
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
        effect = _effect_of_parts(checks, False, written, around[0], vocabulary)
        tried = _Conversations(list(islice(chain(given, records(written, effect)), MOST_RECORDS)))
        for verdicts, witness in chain(
            _tried(checks, written, around, tried, vocabulary, undecided),
            _evolved(checks, written, around[0], tried, vocabulary, undecided),
        ):
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
    checks: Sequence[Check], is_fine: bool, written: Written, context: ConversationContext, vocabulary: Vocabulary
) -> Callable[[JsonObject], Hashable]:
    """What each part of the conditions says of a conversation, a text for each; a fine effect is also that of macros
    with a part of their condition."""
    found = {
        (check.verifier.each, shape(part)): replace(check, verifier=_alone(check.verifier, part))
        for check in checks
        if isinstance(check.verifier, ExpressionVerifier)
        for program in programs_of(check.verifier)
        for part in (_finest(program) if is_fine else _parts(program))
    }
    some = islice(found.values(), MOST_FINE if is_fine else MOST_PARTS)
    alone = [replace(check, id=f"part {at}") for at, check in enumerate(some)]
    scenarios = _scenarios_of(written, context, vocabulary)
    engine = None if scenarios is None or not alone else _engine(alone, scenarios, context, vocabulary)

    def effect(record: JsonObject) -> Hashable:
        if engine is None:
            return None
        try:
            (result,) = results(engine, [_read(record, context)], None)
        except InputError:
            return None
        return tuple([(each.verdict, each.rationale_code) for each in result.verdicts])

    return effect


def _alone(verifier: ExpressionVerifier, part: Program) -> ExpressionVerifier:
    return replace(verifier, fails=part, unclear=None, passes=None)


def _parts(program: Program) -> Iterator[Program]:
    """The parts of a condition that connectives join."""
    return (extract(program, at) for at in _places(program, len(program.nodes) - 1))


def _places(program: Program, at: int) -> Iterator[int]:
    """Where the parts of a node that connectives join are."""
    pending = [at]
    while pending:
        at = pending.pop()
        if program.nodes[at].op in CONNECTIVES:
            pending += program.nodes[at].args
        else:
            yield at


def _finest(program: Program) -> Iterator[Program]:
    """The parts of a condition, and for each macro among them the same one with each part of its own condition."""
    for part in _parts(program):
        yield part
        last = part.nodes[-1]
        if last.op in MACROS:
            for at in _places(part, last.args[-1]):
                narrowed = Node(last.op, (*last.args[:-1], at), last.value, last.at)
                yield extract(part.having((*part.nodes[:-1], narrowed)), len(part.nodes) - 1)


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


def _evolved(
    checks: Sequence[Check],
    written: Written,
    context: ConversationContext,
    conversations: _Conversations,
    vocabulary: Vocabulary,
    undecided: str,
) -> Iterator[tuple[Verdicts, JsonObject]]:
    """The verdicts for conversations that are made of the earlier ones by changes at random, as long as these have
    other effects."""
    engines = _engines(checks, written, context, vocabulary)
    effect = _effect_of_parts(checks, True, written, context, vocabulary)

    def verdicts(record: JsonObject) -> Verdicts | None:
        try:
            conversation = _read(record, context)
            found = [_verdict(*pair, conversation, undecided) for pair in zip(engines or (), checks, strict=True)]
        except InputError:
            return None
        return None if None in found else tuple(map(str, found))

    def whole(record: JsonObject) -> Hashable:
        said = verdicts(record)
        return said and (said, effect(record))

    some = range(0, conversations.number, max(1, conversations.number // MOST_START))
    start = map(conversations.record, dict.fromkeys((*range(min(MOST_START, conversations.number)), *some)))
    for record in evolved(start, whole, [*written.texts, *written.whole], written.numbers) if engines else ():
        if (said := verdicts(record)) is not None:
            yield said, _witness(record, context, written)


def _read(record: JsonObject, context: ConversationContext) -> Transcript:
    """The conversation as a scan reads it. Raises InputError."""
    played = {} if context.scenario is None else {"scenario_id": context.scenario["scenario_id"]}
    return from_record({"id": "chat", **record, **played})


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
    scenarios = _scenarios_of(written, context, vocabulary)
    return None if scenarios is None else [_engine([check], scenarios, context, vocabulary) for check in checks]


def _scenarios_of(written: Written, context: ConversationContext, vocabulary: Vocabulary) -> dict[str, Scenario] | None:
    """The scenario of a context by its id; None for one that no project may hold."""
    if context.scenario is None:
        return {}
    scenario = scenario_of(context.scenario, written.paths, vocabulary)
    return None if scenario is None else {str(context.scenario["scenario_id"]): scenario}


def _engine(
    checks: Sequence[Check], scenarios: dict[str, Scenario], context: ConversationContext, vocabulary: Vocabulary
) -> Engine:
    """A plan of these checks, which apply to every conversation of the context."""
    beside = {name: record for name, record in context.verdicts.items() if record.verdict is not None}
    given = [
        replace(checks[0], id=name, verifier=ExpressionVerifier(), suppressed=None, eligible=None) for name in beside
    ]
    anywhere = (*given, *(replace(check, eligible=None, suppressed=None) for check in checks))
    plugins, severities = dict(vocabulary.functions), vocabulary.severities
    plan = Plan("", "", "", {}, scenarios, anywhere, plugins=plugins, severities=severities)
    return _Beside(plan, beside)


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
