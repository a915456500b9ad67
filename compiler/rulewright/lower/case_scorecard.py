"""Lowers a scorecard over test cases to its plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import place_of, repeated, text
from rulewright.documents.scorecard import CaseScorecardDocument, MetricDocument, SettingDocument
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, SCORE, STRING, ListType, OptionalType, Type
from rulewright.load import Scalar
from rulewright.lower.expressions import NO_PROGRAM, PARAMETER_TYPES, ExpressionCollector, lower_parameter
from rulewright.spelling import did_you_mean
from rulewright_runtime.cases.case_plan import (
    CaseMetric,
    CaseScorecardPlan,
    Common,
    Input,
    Label,
    Question,
    Requirement,
    Semantic,
    Setting,
    Share,
    Text,
    Which,
)  # fmt: skip
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scorecard import parameter_value
from rulewright_runtime.polarity import Polarity, condition

DETAILS: Final = (("found", "found"), ("missing", "missing"))  # of a metric that declares none
INPUT_TYPES: Final[Mapping[str, Type]] = {"string": STRING, "strings": ListType(STRING)}


def lower_case_scorecard(document: CaseScorecardDocument) -> tuple[CaseScorecardPlan | None, list[Diagnostic]]:
    """Return the plan of a scorecard over cases and no findings, or None and the findings."""
    plan, lowering = _lowered(document)
    return (None, list(lowering.findings)) if lowering.findings else (plan, [])


def case_scorecard_expressions(document: CaseScorecardDocument) -> list[tuple[Scalar, Environment]]:
    """Return every expression of a scorecard over cases with its environment."""
    return list(_lowered(document)[1].expressions)


def requirements_of_defaults(document: CaseScorecardDocument) -> list[tuple[Scalar, bool]]:
    """Return every requirement with whether the default parameters meet it; nothing where the scorecard has findings or
    a default is not a value of its parameter."""
    plan, lowering = _lowered(document)
    values = {} if lowering.findings else values_of_defaults(document)
    if len(values) < len(document.settings) or lowering.findings:
        return []
    return [
        (that, condition(required.that, Polarity.PERMITTING)(values).holds)
        for (that, _), required in zip(document.requires, plan.requires, strict=True)
    ]


def values_of_defaults(document: CaseScorecardDocument) -> dict[str, object]:
    """Return every parameter's default, as expressions read it; nothing where one is not a value of its parameter."""
    settings = _lowered(document)[0].settings
    try:
        return {each.parameter.name: parameter_value(each.parameter) for each in settings}
    except PlanError:
        return {}


@lru_cache(maxsize=16)  # several rules read the same document in turn
def _lowered(document: CaseScorecardDocument) -> tuple[CaseScorecardPlan, _CaseScorecardLowering]:
    """The plan, and what was collected while lowering."""
    lowering = _CaseScorecardLowering(document)
    plan = lowering.plan()
    lowering.findings = _at_declared_types(document, lowering.findings)
    return plan, lowering


def _at_declared_types(document: CaseScorecardDocument, findings: list[Diagnostic]) -> list[Diagnostic]:
    """The findings, with one at the type of an input in place of those that would not be there with its other type."""
    at_types = []
    for name, kind in _inputs_near(document, findings):
        other = "string" if kind == "strings" else "strings"
        inputs = tuple((each, path, other if each == name else kind) for each, path, kind in document.inputs)
        retyped = replace(document, inputs=inputs)
        left = _mistakes(retyped)
        kept = {(each.span, each.message) for each in left}
        gone = [each for each in findings if (each.span, each.message) not in kept]
        declared = document.get("inputs", name, "type")
        if declared is None or not gone or len(left) + len(gone) > len(findings):
            continue
        message = f"the input `{name}` is used as `{other}`, not as `{kind}`"
        notes = [(each.span, f"used as `{other}` here") for each in gone]
        at_types.append(error(declared, message, code="unknown-input", help=f"write `{other}`", notes=notes))
        document, findings = retyped, left
    return [*findings, *at_types]


def _inputs_near(document: CaseScorecardDocument, findings: list[Diagnostic]) -> list[tuple[str, str]]:
    """The inputs that are named in a line with a finding, and their types."""
    lines = document.node.source.text.split("\n") if findings else []
    words = {word for each in findings for word in re.findall(r"\w+", lines[each.span.line - 1])}
    return [(name, kind) for name, _, kind in document.inputs if name in words]


def _mistakes(document: CaseScorecardDocument) -> list[Diagnostic]:
    lowering = _CaseScorecardLowering(document)
    lowering.plan()
    return lowering.findings


@dataclass(slots=True)
class _CaseScorecardLowering(ExpressionCollector):
    document: CaseScorecardDocument

    def plan(self) -> CaseScorecardPlan:
        document = self.document
        settings = tuple(self.setting(each) for each in document.settings)
        base = Environment(
            variables={s.parameter.name: PARAMETER_TYPES.get(s.parameter.type, DOUBLE) for s in settings}
        )
        inputs = {name: INPUT_TYPES.get(kind, STRING) for name, _, kind in document.inputs}
        case = base.having(inputs)
        texts = tuple(Text(name, self.build(value, case, STRING)) for name, value in document.texts)
        searching = case.having(dict.fromkeys((text.name for text in texts), STRING))
        deciding = base.having(dict.fromkeys((metric.name for metric in document.metrics), SCORE))
        labelling = deciding.having({"composite": SCORE})
        metrics = tuple(self.metric(each, base, searching, labelling) for each in document.metrics)
        self.check_labels()
        return CaseScorecardPlan(
            name=document.name,
            report_type=document.report_type,
            title=document.title,
            settings=settings,
            requires=tuple(Requirement(self.build(that, base, BOOL), message) for that, message in document.requires),
            inputs=tuple(_input(*each) for each in document.inputs),
            texts=texts,
            metrics=metrics,
            composite=self.composite(deciding),
            labels=tuple(Label(row.label, self.build(row.when, labelling, BOOL)) for row in document.labels),
            exits=document.exits,
            accepted=document.accepted,
            metadata=document.metadata,
        )

    def build(self, scalar: Scalar, environment: Environment, expect: Type) -> Program:
        return self.expression(scalar, environment, expect)[0]

    def composite(self, deciding: Environment) -> Program:
        """Return the program of the composite, a score that may be absent; a case without it is an error."""
        written = self.document.composite
        if written is None:
            return NO_PROGRAM
        program, kind = self.expression(written, deciding)
        if program is not NO_PROGRAM and kind not in (SCORE, OptionalType(SCORE)):
            message = f"`composite` must be a score that may be absent, found `{kind}`"
            self.findings.append(error(written, message, code="wrong-output"))
        return program

    def setting(self, declared: SettingDocument) -> Setting:
        parameter = lower_parameter(declared, self.findings)
        return Setting(parameter, declared.environment, declared.file, declared.flag, declared.description)

    def metric(
        self, metric: MetricDocument, base: Environment, searching: Environment, labelling: Environment
    ) -> CaseMetric:
        self.check_list(metric)
        share = Share(
            of=metric.of.text,
            found=self.build(metric.found, searching.having({"it": STRING}), BOOL),
            when=None if metric.when is None else self.build(metric.when, searching, BOOL),
            empty=metric.empty.text,
            fold=metric.fold,
        )
        return CaseMetric(
            name=metric.name,
            share=share,
            score=self.build(metric.score, base.having({"share": SCORE}), SCORE),
            passes=self.build(metric.passes, labelling, BOOL),
            fails=None if metric.fails is None else self.build(metric.fails, labelling, BOOL),
            flagged=None if metric.flagged is None else self.build(metric.flagged, labelling, BOOL),
            details=tuple((key, _which(which)) for key, which in metric.details or DETAILS),
            common=_common(metric),
            judge=self.question(metric),
            semantic=None
            if metric.semantic_threshold is None
            else Semantic(metric.semantic_threshold.as_float, metric.semantic_counts),
        )

    def question(self, metric: MetricDocument) -> Question | None:
        if metric.judge_prompt is None or metric.judge_of is None:
            return None
        names = [name for name, _, _ in self.document.inputs]
        if metric.judge_of.value not in names:
            message = f"unknown input `{metric.judge_of.value}`"
            help_text = f"the declared inputs are {ticked(names)}"
            self.findings.append(error(metric.judge_of, message, code="unknown-input", help=help_text))
        labels = [*(label for label, _ in self.document.exits), *(row.label for row in self.document.labels)]
        worse = [label for label in dict.fromkeys(labels) if label != self.document.accepted]
        if metric.judge_counts and metric.judge_unclear not in worse:
            place = place_of(metric.node, "judge", "unclear" if metric.judge_unclear else "count")
            message = "a verdict that counts needs `unclear`: a label of the table other than the accepted one"
            help_text = f"expected {ticked(worse)}"
            self.findings.append(error(place, message, code="unknown-label", help=help_text))
        unclear = metric.judge_unclear if metric.judge_counts else None
        return Question(metric.judge_prompt.text, metric.judge_of.text, unclear)

    def check_list(self, metric: MetricDocument) -> None:
        lists = [name for name, _, kind in self.document.inputs if kind == "strings"]
        if metric.of.value not in lists:
            name = metric.of.text
            message = f"`{name}` is not an input of the type `strings`"
            help_text = f"the inputs of this type are {ticked(lists)}" if lists else None
            self.findings.append(error(metric.of, message, code="unknown-input", help=help_text))
        switches = [setting.name for setting in self.document.settings if setting.type == "bool"]
        if metric.fold is not None and metric.fold not in switches:
            place = place_of(metric.node, "share", "fold")
            message = f"`{metric.fold}` is not a parameter of the type `bool`"
            self.findings.append(error(place, message, code="unknown-input"))

    def check_labels(self) -> None:
        document = self.document
        rows, exits = [row.label for row in document.labels], [label for label, _ in document.exits]
        missing = {row.label for row in document.labels} - {*exits}
        guesses = {label: did_you_mean(label, missing) for label in exits if label not in rows}
        also = {document.accepted, *(each.judge_unclear for each in document.metrics)}
        for label in [each for each, near in guesses.items() if near is not None and each in also]:
            del guesses[label]  # two places agree: the row is misspelt
        meant = {each.meant for each in guesses.values() if each is not None}
        for row in document.labels:
            if row.label in missing - meant:
                message = f"`exit` does not know the label `{row.label}`"
                help = did_you_mean(row.label, exits)
                places = [
                    (document.key_place("exit"), "every label needs a status here"),
                    (row.when.span, "given here"),
                ]
                if help is not None:  # the row is misspelt
                    places.reverse()
                self.findings.append(error(places[0][0], message, code="unknown-label", help=help, notes=places[1:]))
        for label, help in guesses.items():
            place = document.key_place("exit", label)
            twice = repeated(document.labels, lambda row: row.label) if help is None else ()
            notes = [(row.when.span, f"this row gives the label `{row.label}` again") for row, _ in twice]
            message = f"no row gives the label `{label}`"
            self.findings.append(error(place, message, code="unknown-label", help=help, notes=notes))
        if document.accepted not in rows and not (missing - meant and document.accepted in exits):
            place = document.place("accepted")
            message, help = f"no row gives the label `{document.accepted}`", did_you_mean(document.accepted, rows)
            self.findings.append(error(place, message, code="unknown-label", help=help))


def _common(metric: MetricDocument) -> Common:
    """What a batch counts of a metric: where nothing is declared, the phrases that lower its score."""
    of = _which(text(metric.node, "common", "of") or ("found" if metric.empty.value == 0 else "missing"))
    usual = {"name": f"common_{metric.name}_{of}", "item": "phrase", "count": "count"}
    name, item, count = (text(metric.node, "common", key) or each for key, each in usual.items())
    title = text(metric.node, "words", "title") or f"{metric.name} {of}"
    return Common(name, of, item, count, title, text(metric.node, "words", "plural") or "phrases")


def _input(name: str, path: str, kind: str) -> Input:
    source, *steps = path.split(".")
    origin: Literal["case", "output"] = "output" if source == "output" else "case"
    return Input(name, origin, tuple(steps), "strings" if kind == "strings" else "string")


def _which(word: str) -> Which:
    return "found" if word == "found" else "missing"
