"""Conversations for which expression checks give certain verdicts, found by executing the checks.

They are made of what the conditions hold (`candidates`), with the scenarios and the verdicts of other checks that the
conditions read. Nothing is claimed that was not executed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import Final, NamedTuple, TypeAlias, cast

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
MOST_PARTS: Final = 12  # of conditions, whose effects are distinguished
MOST_FINE: Final = 40  # parts of conditions and of macros
MOST_START: Final = 300  # conversations that are changed at random, the first ones and as many among all
MOST_RECORDS: Final = 5_000  # conversations among them
_PART: Final = "part "  # before the number of a part in the id of its check
MACROS: Final = ("exists", "all", "exists_one")
Verdicts: TypeAlias = tuple[str, ...]  # of each check


def conversations_with(
    checks: Sequence[Check],
    vocabulary: Vocabulary,
    wanted: Iterable[Verdicts],
    undecided: str,
    examples: Iterable[JsonObject],
    models: Sequence[InputModel] = (),
    *,
    redact: tuple[tuple[str, str], ...] = (),
) -> dict[Verdicts, JsonObject]:
    """A conversation for each of the `wanted` verdicts that the checks give, as far as one was found: a record with its
    `scenario` and the `verdicts` of other checks where conditions read them. `undecided` stands for a verdict that a
    person has to give. The records `examples` are tried first, then what `models` of these inputs say. As in a scan, a
    project's patterns to `redact` are replaced before the checks are executed."""
    routes = [check.verifier for check in checks]
    programs = [_ready(check.verifier, program) for check in checks for program in _conditions(check)]
    needs = sorted({name for route in routes for name in route.reads()})
    values = [value for route in routes for value in getattr(route, "parameters", {}).values()]
    if not all(isinstance(route, ExpressionVerifier) for route in routes):
        return {}
    written = written_in(programs, values, needs, models)
    left = set(wanted)
    found: dict[Verdicts, JsonObject] = {}
    try:
        search = _ConversationSearch(
            checks, written, vocabulary, undecided, contexts(written, needs, vocabulary), redact
        )
        given: Iterator[Callable[[], JsonObject]] = (partial(dict, each) for each in examples)
        made = map(cache, islice(chain(given, records(written, search.effect())), MOST_RECORDS))
        tried: list[Callable[[], JsonObject]] = list(made)
        for verdicts, witness in chain(search.tried(tried), search.evolved(tried)):
            if verdicts in left:
                found[verdicts] = witness
                left.remove(verdicts)
            if not left:
                break
    except (RuntimeFailure, UsageError):  # of a plug-in that is not installed here
        pass
    return found


def _conditions(check: Check) -> list[Program]:
    """The conditions over a conversation, with the one under which the check applies."""
    return [*programs_of(check.verifier), *([] if check.applies is None else [check.applies])]


def _ready(route: Verifier, program: Program) -> Program:
    """A condition with the values of the parameters."""
    return with_values(program, {("params", name): each for name, each in getattr(route, "parameters", {}).items()})


class _ConversationSearch:
    """Executes checks on conversations in some contexts, the first of which is the usual one."""

    def __init__(
        self,
        checks: Sequence[Check],
        written: Written,
        vocabulary: Vocabulary,
        undecided: str,
        around: Sequence[ConversationContext],
        redact: tuple[tuple[str, str], ...],
    ) -> None:
        """`written` is what the conditions hold."""
        self.checks, self.written, self.vocabulary, self.undecided = checks, written, vocabulary, undecided
        self.around, self.redact = around, redact
        self.read = cache(read_conversation)

    def executed(
        self, context: ConversationContext, checks: Sequence[Check], parts: Sequence[Check] = ()
    ) -> _Executed | None:
        """The checks and parts of their conditions in a context; None where its scenario is not one that a project may
        hold."""
        played, scenarios = context.scenario, dict[str, Scenario]()
        if played is not None:
            scenario = scenario_of(played, self.written.paths, self.vocabulary)
            if scenario is None:
                return None
            scenarios[str(played["scenario_id"])] = scenario
        renamed = [replace(each, id=f"check {at}") for at, each in enumerate(checks)]
        engine = _engine([*renamed, *parts], scenarios, context, self.vocabulary, self.redact)
        scenario_id = next(iter(scenarios), None)
        return _Executed(engine, len(checks), self.undecided, lambda text: self.read(text, scenario_id))

    def effect(self) -> Callable[[JsonObject], Hashable]:
        """What each part of the conditions says of a conversation; the same for all where none can be executed."""
        parts = _as_checks(self.checks, _parts, MOST_PARTS)
        executed = self.executed(self.around[0], (), parts) if parts else None
        return lambda record: None if executed is None else executed.of(record).effect

    def tried(self, conversations: Sequence[Callable[[], JsonObject]]) -> Iterator[tuple[Verdicts, JsonObject]]:
        """The verdicts for inputs: for the first conversations in the first contexts, then for further ones."""
        begun: list[_Executed | None] = []
        for at, number in islice(_diagonally(len(self.around), len(conversations)), MOST):
            if at == len(begun):
                begun.append(self.executed(self.around[at], self.checks))
            if (executed := begun[at]) is None:
                continue
            record = conversations[number]()
            if (verdicts := executed.of(record).verdicts) is not None:
                yield verdicts, _witness(record, self.around[at], self.written)

    def evolved(self, conversations: Sequence[Callable[[], JsonObject]]) -> Iterator[tuple[Verdicts, JsonObject]]:
        """The verdicts for conversations that are made of the earlier ones by changes at random, as long as these have
        other effects."""
        executed = self.executed(self.around[0], self.checks, _as_checks(self.checks, _finest, MOST_FINE))
        if executed is None:
            return
        some = range(0, len(conversations), max(1, len(conversations) // MOST_START))
        start = (conversations[at]() for at in dict.fromkeys((*range(min(MOST_START, len(conversations))), *some)))

        def whole(record: JsonObject) -> Hashable:
            result = executed.of(record)
            return result.verdicts and result

        for record in evolved(start, whole, [*self.written.texts, *self.written.whole], self.written.numbers):
            if (verdicts := executed.of(record).verdicts) is not None:
                yield verdicts, _witness(record, self.around[0], self.written)


class _Response(NamedTuple):
    """What checks say of a conversation, None where one says nothing of it, and parts of their conditions."""

    verdicts: Verdicts | None
    effect: Hashable


_REFUSED: Final = _Response(None, None)


class _Executed:
    """Checks and parts of their conditions, executed together once on each of some conversations."""

    def __init__(self, engine: Engine, checks: int, undecided: str, read: Callable[[str], Transcript | None]) -> None:
        """The number of `checks` comes before the parts in the plan."""
        self.engine, self.checks, self.undecided, self.read = engine, checks, undecided, read
        self.known: dict[str, _Response] = {}

    def of(self, record: JsonObject) -> _Response:
        """What is said of a record as a scan reads it."""
        text = json.dumps(record)
        if text not in self.known:
            transcript = self.read(text)
            self.known[text] = _REFUSED if transcript is None else self._executed(transcript)
        return self.known[text]

    def _executed(self, transcript: Transcript) -> _Response:
        try:
            (result,) = results(self.engine, [transcript], None)
        except InputError:
            return _REFUSED
        found = {each.check_id: each for each in result.verdicts}
        words = [self._word(found.get(f"check {at}")) for at in range(self.checks)]
        given = tuple([word for word in words if word is not None])
        parts = tuple([(e.verdict, e.rationale_code) for e in result.verdicts if e.check_id.startswith(_PART)])
        return _Response(None if result.errors or len(given) < len(words) else given, parts)

    def _word(self, verdict: VerdictResult | None) -> str | None:
        """A verdict in a word; None where a check does not apply, content is missing, or the check only waits for a
        verdict that it reads, which its conditions do not say."""
        if verdict is None or verdict.eligible is False or verdict.cause == "missing":
            return None
        if verdict.rationale_code == "reads_an_undecided_verdict":
            return None
        return self.undecided if verdict.rationale_code == "condition_undecided" else verdict.verdict


def read_conversation(text: str, scenario_id: str | None) -> Transcript | None:
    """The conversation in a record as a scan reads it; None where it is refused."""
    played = {} if scenario_id is None else {"scenario_id": scenario_id}
    try:
        return from_record({"id": "chat", **json.loads(text), **played})
    except InputError:
        return None


def _as_checks(checks: Sequence[Check], divide: Callable[[Program], Iterable[Program]], most: int) -> list[Check]:
    """The distinct parts of the conditions as checks of their own."""
    found = {
        (route.each, shape(part)): replace(
            check, applies=None, verifier=replace(route, fails=part, unclear=None, passes=None)
        )
        for check in checks
        if isinstance(route := check.verifier, ExpressionVerifier)
        for program in (_conditions(check) if route.each == "conversation" else programs_of(route))
        for part in divide(program)
    }
    return [replace(check, id=f"{_PART}{at}") for at, check in enumerate(islice(found.values(), most))]


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
    context_values = {"scenario": context.scenario, "verdicts": verdicts}
    return {**{key: value for key, value in context_values.items() if value}, **record}


def _as_json(record: OtherVerdict) -> object:
    """What a record says; None for none."""
    if record.verdict is None:
        return None
    return {"verdict": record.verdict, "confidence": record.confidence, "rationale_code": record.code}


def _engine(
    checks: Sequence[Check],
    scenarios: dict[str, Scenario],
    context: ConversationContext,
    vocabulary: Vocabulary,
    redact: tuple[tuple[str, str], ...],
) -> Engine:
    """A plan of these checks, which apply to every conversation of the context."""
    records = {name: record for name, record in context.verdicts.items() if record.verdict is not None}
    given = [
        replace(checks[0], id=name, verifier=ExpressionVerifier(), suppressed=None, eligible=None) for name in records
    ]
    anywhere = (*given, *(replace(check, eligible=None, suppressed=None) for check in checks))
    plugins, severities = dict(vocabulary.functions), vocabulary.severities
    plan = Plan("", "", "", {}, scenarios, anywhere, redact=redact, plugins=plugins, severities=severities)
    return _FixedVerdicts(plan, records)


def scenario_of(scenario: JsonMapping, paths: Iterable[Path], vocabulary: Vocabulary) -> Scenario | None:
    """The facts of a scenario for checks that read these paths of it; None for one that no project may hold."""
    root = load_text(json.dumps(scenario), "example.json").root
    if not isinstance(root, MappingNode) or validate("scenario", root, vocabulary):
        return None
    return facts(read_scenario(root), paths)


class _FixedVerdicts(Engine):
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
