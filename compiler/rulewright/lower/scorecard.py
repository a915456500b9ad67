"""From a scorecard document to the part of the plan that executes it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from msgspec import UNSET
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, Guess, error
from rulewright.documents.scorecard import RateDocument, ScorecardDocument
from rulewright.documents.vocabulary import Vocabulary
from rulewright.expression.environment import Environment
from rulewright.expression.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    NULL,
    SCORE,
    STRING,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    Type,
    WrapperType,
)  # fmt: skip
from rulewright.expression.unparse import unparse_value
from rulewright.load import Mapping as MappingNode
from rulewright.load import Scalar
from rulewright.lower.expressions import (
    NO_PROGRAM,
    PARAMETER_TYPES,
    VERDICT_RECORD,
    ExpressionCollector,
    check_type,
    lower_parameter,
)
from rulewright.spelling import did_you_mean, is_spelt_like
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, literal
from rulewright_runtime.plan.part import VERDICTS, programs_of
from rulewright_runtime.plan.scorecard import (
    HEADLINE,
    LABEL,
    CountPlan,
    DimensionPlan,
    FlagsPlan,
    GatePlan,
    ListPlan,
    NamedProgram,
    RatePlan,
    ScorecardPlan,
    mentioned,
)  # fmt: skip
from rulewright_runtime.score import parse_score
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import fit

MOST_SHOWN: Final = 60  # cells of a wrong value in a message
VERDICT: Final = EnumType("verdict", VERDICTS)
EVIDENCE: Final = RecordType(
    "evidence", {"role": STRING, "turn": INT, "quote": STRING, "rationale": WrapperType(STRING)}
)
GATE: Final = RecordType("gate", {"passed": OptionalType(BOOL), "failed": BOOL, "reasons": ListType(STRING)})
_HINTS: Final = {
    "failed": "`gates.NAME.failed` is whether a gate failed",
    "passed": "`gates.NAME.passed` is whether a gate passed; absent while it is undecided",
}
GUARDING_OUTPUTS: Final = frozenset({"hard_fail"})
STATUS: Final = "status"
STATUSES: Final = ("valid", "invalid", "needs_adjudication")  # of a row, as reports know them


def lower_scorecard(
    document: ScorecardDocument, scoring: JsonMapping, checks: Mapping[str, JsonMapping], labels: Mapping[str, str]
) -> tuple[ScorecardPlan | None, list[Diagnostic]]:
    """Return the plan of a scorecard and no findings, or None and the findings.

    `scoring` is the scoring file as plain data, `checks` maps the id of every selected check (in plan order) to its
    fields, `labels` maps blindspot labels to checks. A label whose check is not selected stays with the flag null.
    """
    plan, lowering = _lowered(document, json.dumps(scoring), tuple(labels.items()))
    return (None, [*lowering.findings]) if lowering.findings else (with_facts(plan, scoring, checks), [])


def lower_without_project(document: ScorecardDocument) -> tuple[ScorecardPlan | None, list[Diagnostic]]:
    """As `lower_scorecard`, for a scorecard outside a project: its plan holds neither checks nor the scoring file, and
    fields it reads from that file are not checked."""
    plan, lowering = _lowered(document, None, ())
    return None if lowering.findings else plan, [*lowering.findings]


def scorecard_expressions(document: ScorecardDocument) -> list[tuple[Scalar, Environment]]:
    """Return every expression of a scorecard with its environment."""
    return [*_lowered(document, None, ())[1].expressions]


def with_facts(
    plan: ScorecardPlan, scoring: Mapping[str, object], checks: Mapping[str, Mapping[str, object]]
) -> ScorecardPlan:
    """Return the plan with those parts of the scoring file and fields of checks that its programs may read."""
    names = mentioned(programs_of(plan))
    fields = {"primary_bucket", "severity"} | ({"secondary_tags"} & names) | (names if "check" in names else set())
    facts = {
        check_id: {key: value for key, value in check.items() if key in fields} for check_id, check in checks.items()
    }
    if "hard_fail" in fields:  # absent means false
        facts = {check_id: {"hard_fail": False, **values} for check_id, values in facts.items()}
    read = {key: value for key, value in scoring.items() if key in names} if "scoring" in names else {}
    return replace(plan, checks=facts, scoring=read)


@lru_cache(maxsize=16)
def _lowered(
    document: ScorecardDocument, scoring: str | None, labels: tuple[tuple[str, str], ...]
) -> tuple[ScorecardPlan, _ScorecardLowering]:
    """Return the plan of a document with `scoring` (JSON), and its lowering; computed once for all projects that share
    the document, as they share the shipped ones."""
    lowering = _ScorecardLowering(document, None if scoring is None else json.loads(scoring))
    return lowering.plan(labels), lowering


@dataclass(slots=True)
class _ScorecardLowering(ExpressionCollector):
    """Builds every expression of one document in its environment and collects the findings."""

    document: ScorecardDocument
    scoring: JsonObject | None  # None: unknown

    def plan(self, labels: tuple[tuple[str, str], ...]) -> ScorecardPlan:
        document = self.document
        parameters = tuple(lower_parameter(each, self.findings) for each in document.parameters)
        base = Environment(
            variables={each.name: PARAMETER_TYPES.get(each.type, DYN) for each in parameters}
            | {"scoring": DYN if self.scoring is None else type_of_data(self.scoring, "scoring")}
        )
        single = base.having({"v": verdict_type(self.document.vocabulary)})
        dimensions = tuple(self.dimension(rate, base, single) for rate in document.dimensions)
        self.refuse_no_weight(dimensions)
        lists, records = self.lists(single)
        rows = Environment(variables={**base.variables, **self.row_variables(records)}, hints=_HINTS)
        variables, rows = self.variables(rows)
        headline, label = self.shown("headline", HEADLINE), self.shown("label", LABEL)
        return ScorecardPlan(
            name=document.name,
            checks={},
            scoring={},
            parameters=parameters,
            gates=tuple(self.gates(base, single)),
            dimensions=dimensions,
            rates=tuple(self.rate(rate, single) for rate in document.rates),
            counts=tuple(CountPlan(name, self.condition(of, single)) for name, of in document.counts),
            lists=lists,
            flags=FlagsPlan(labels, *map(_verdicts, (document.raised, document.clear, document.unknown))),
            variables=variables,
            output=tuple(self.outputs(rows, headline, label)),
            headline=headline,
            label=label,
            minimum_coverage=self.share(document.minimum_coverage, base),
        )

    def condition(self, scalar: Scalar, environment: Environment) -> Program:
        return self.expression(scalar, environment, BOOL)[0]

    def gates(self, base: Environment, single: Environment) -> Iterator[GatePlan]:
        for gate in self.document.gates:
            yield GatePlan(
                name=gate.name,
                of=self.condition(gate.of, single),
                stops=self.condition(gate.stops, single),
                undecided=self.condition(gate.undecided, single),
                not_eligible=_emptiness(gate.not_eligible),
                not_run=_emptiness(gate.not_run),
                left_out="ignore" if gate.left_out == "ignore" else "open",
                pass_rate=self.share(gate.pass_rate, base) or UNSET,
            )

    def rate(self, rate: RateDocument, single: Environment) -> RatePlan:
        return RatePlan(
            name=rate.name,
            kind="every" if rate.kind == "every" else "rate",
            of=self.condition(rate.of, single),
            hit=_verdicts(rate.hit),
            miss=_verdicts(rate.miss),
            exclude=_verdicts(rate.exclude),
            error="miss" if rate.error == "miss" else "adjudicate",
            empty=None if rate.empty.value == "absent" else rate.empty.text,
            credit=None if rate.credit is None else self.expression(rate.credit, single, SCORE)[0],
        )

    def dimension(self, rate: RateDocument, base: Environment, single: Environment) -> DimensionPlan:
        return DimensionPlan(self.rate(rate, single), self.weight(rate.weight, base))

    def weight(self, written: Scalar | None, base: Environment) -> str:
        """Return the weight as decimal text. It is evaluated while compiling, so it may read the scoring file only."""
        if written is None:
            return "1"
        value: object = written.value
        if isinstance(value, str):
            scoring_environment = Environment(variables={"scoring": base.variables["scoring"]})
            program, _ = self.expression(written, scoring_environment)
            if program is NO_PROGRAM or self.scoring is None:
                return "1"
            try:
                value = prepare(program)({"scoring": self.scoring})
            except EvaluationError as failure:
                self.findings.append(error(written, f"the weight has no value: {failure}", code="bad-weight"))
                return "1"
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            found = fit(unparse_value(value) if isinstance(written.value, str) else written.raw, MOST_SHOWN)
            message = f"a weight must be a finite number of at least 0, found `{found}`"
            self.findings.append(error(written, message, code="bad-weight"))
            return "1"
        return repr(value)

    def share(self, written: Scalar | None, base: Environment) -> Program | None:
        """Return a number or an expression from 0 to 1 as a program; None without one."""
        if written is None:
            return None
        if isinstance(written.value, str):
            return self.expression(written, base, SCORE)[0]
        if type(written.value) not in (int, float) or not math.isfinite(written.value or 0):
            return None  # schema validation reports it
        return Program((Node("const", (), literal(parse_score(written.text))),))

    def refuse_no_weight(self, dimensions: tuple[DimensionPlan, ...]) -> None:
        if dimensions and not any(float(each.weight) > 0 for each in dimensions):
            place = self.document.key_place("dimensions")
            self.findings.append(error(place, "every dimension has the weight 0", code="bad-weight"))

    def lists(self, single: Environment) -> tuple[tuple[ListPlan, ...], dict[str, Type]]:
        """Return the lists, and the record type of each by its name."""
        plans, records = [], dict[str, Type]()
        for listed in self.document.lists:
            each = [(name, *self.expression(value, single)) for name, value in listed.each]
            programs = tuple((name, program) for name, program, _ in each)
            plans.append(ListPlan(listed.name, self.condition(listed.of, single), programs))
            # a field whose expression fails is null in the record
            types = {name: kind if isinstance(kind, WrapperType) else DYN for name, _, kind in each}
            records[listed.name] = ListType(RecordType(listed.name, types))
        return tuple(plans), records

    def row_variables(self, records: dict[str, Type]) -> dict[str, Type]:
        document = self.document
        gates = [gate.name for gate in document.gates]
        return {
            "verdicts": ListType(verdict_type(self.document.vocabulary)),
            "gates": self.record("gates", dict.fromkeys(gates, GATE)),
            "undecided": RecordType("undecided", dict.fromkeys(gates, ListType(STRING))),
            "dimensions": self.record("dimensions", {rate.name: _rate_type(rate) for rate in document.dimensions}),
            "weights": RecordType("weights", {rate.name: SCORE for rate in document.dimensions}),
            "rates": self.record("rates", {rate.name: _rate_type(rate) for rate in document.rates}),
            "counts": RecordType("counts", {name: INT for name, _ in document.counts}),
            "lists": RecordType("lists", records),
            "flags": MapType(STRING, OptionalType(BOOL)),
        }

    def record(self, key: str, fields: dict[str, Type]) -> RecordType:
        """Return the record type of the parts under `key`; it is open where one of them can't be read."""
        written = self.document.get(key)
        unread = isinstance(written, MappingNode) and not fields.keys() >= written.index.keys()
        return RecordType(key, fields, open=unread)

    def variables(self, rows: Environment) -> tuple[tuple[NamedProgram, ...], Environment]:
        """Return the variables, and the environment that declares them."""
        plans = []
        for name, value in self.document.variables:
            program, kind = self.expression(value, rows)
            plans.append(NamedProgram(name, program))
            rows = rows.having({name: kind})
        return tuple(plans), rows

    def shown(self, key: Literal["headline", "label"], default: str) -> str:
        """Return the name of the output that is the scorecard's headline or label; report one that is not an output."""
        written: Scalar | None = getattr(self.document, key)
        name = default if written is None else written.text
        outputs = self.document.node.get("output")
        names = outputs.keys if isinstance(outputs, MappingNode) else ()  # also of refused expressions
        if written is not None and names and name not in names:
            message = f"`{key}` names `{name}`, which is not an output of the scorecard"
            self.findings.append(error(written, message, code="unknown-value", help=did_you_mean(name, names)))
        return name

    def outputs(self, rows: Environment, headline: str, label: str) -> Iterator[NamedProgram]:
        for name, value in self.document.output:
            program, kind = self.expression(value, rows, BOOL if name in GUARDING_OUTPUTS else None)
            if name == label and (words := self.document.vocabulary.statuses):
                self.findings += unknown_statuses(program, value, words)
            elif name == STATUS:
                self.findings += misspelt_statuses(program, value)
            if program is not NO_PROGRAM and name == label and kind != STRING:
                self._refuse_role("label", name, value, f"a text, found `{kind}`")
            if program is not NO_PROGRAM and name == headline and kind not in (SCORE, OptionalType(SCORE)):
                self._refuse_role("headline", name, value, f"a score that may be absent, found `{kind}`")
            yield NamedProgram(name, program, name in GUARDING_OUTPUTS)

    def _refuse_role(self, key: Literal["headline", "label"], name: str, value: Scalar, expected: str) -> None:
        """Report an output of the wrong type for the role that it has by its name, or that `key` gives it."""
        written: Scalar | None = getattr(self.document, key)
        notes = [] if written is None else [(value, "the output")]
        message = f"`{name}` is the {key} and must be {expected}"
        help = None if written is None else "name another output, or change this one"
        self.findings.append(error(written or value, message, code="wrong-output", notes=notes, help=help))


def unknown_statuses(program: Program, written: Scalar, words: tuple[str, ...]) -> Findings:
    """Report the status words that an output may give and the vocabulary does not declare."""
    for status in _literal_texts(program, len(program.nodes) - 1):
        if status not in words:
            expected = ticked(words)
            message = f"unknown status: `{status}`; the vocabulary declares {expected}"
            yield error(written, message, code="unknown-value", help=did_you_mean(status, words))


def misspelt_statuses(program: Program, written: Scalar) -> Findings:
    """Report the status words that an output may give and that misspell a known one."""
    for status in _literal_texts(program, len(program.nodes) - 1):
        meant = next((word for word in STATUSES if is_spelt_like(status, word)), None)
        if meant is not None and status not in STATUSES:
            yield error(written, f"unknown status: `{status}`", code="unknown-value", help=Guess(meant))


def _literal_texts(program: Program, at: int) -> Iterator[str]:
    """The literal texts that the node at index `at` may evaluate to."""
    if at < 0:
        return
    node = program.nodes[at]
    if node.op == "cond":
        yield from (text for branch in node.args[1:] for text in _literal_texts(program, branch))
    elif node.op == "const" and node.value[0] == "string":
        yield node.value[1]


def _verdicts(names: tuple[str, ...]) -> Any:
    """The names as the plan's literals; the document's schema admits only these."""
    return names


def _emptiness(word: str) -> Literal["passed", "undecided"]:
    return "passed" if word == "passed" else "undecided"


def _rate_type(rate: RateDocument) -> Type:
    return OptionalType(SCORE) if rate.empty.value == "absent" else SCORE


def type_of_data(value: object, name: str) -> Type:
    """Return the type of plain data; a record has exactly the keys present, so that a misspelt key is reported."""
    if isinstance(value, dict):
        return RecordType(name, {str(key): type_of_data(item, str(key)) for key, item in value.items()})
    if isinstance(value, list):
        kinds = [type_of_data(item, name) for item in value]
        return ListType(kinds[0]) if kinds and all(kind == kinds[0] for kind in kinds) else ListType(DYN)
    kinds_of: tuple[tuple[type, Type], ...] = ((bool, BOOL), (int, INT), (float, DOUBLE), (str, STRING))
    return next((of for kind, of in kinds_of if isinstance(value, kind)), NULL if value is None else DYN)


def verdict_type(vocabulary: Vocabulary) -> RecordType:
    """Return the type of `v`: a verdict record with the check's own fields under `check`."""
    check = check_type(vocabulary)
    return RecordType(
        VERDICT_RECORD,
        {
            "check_id": STRING,
            "mode_id": STRING,  # the reference's name for `check_id`
            "eligible": BOOL,
            "verdict": VERDICT,
            "severity": check.fields["severity"],
            "primary_bucket": check.fields["primary_bucket"],
            "confidence": SCORE,
            "evidence": ListType(EVIDENCE),
            "scorer_version": STRING,
            "prompt_hash": WrapperType(STRING),
            "rationale_code": WrapperType(STRING),
            "adjudication_required": BOOL,
            "secondary_tags": ListType(STRING),
            "extra": MapType(STRING, DYN),
            "check": check,
        },
    )
