"""Lowers the conditions `pass`, `fail` and `unclear` of a check to its verifier."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from math import isfinite
from types import MappingProxyType
from typing import Final, cast, get_args

from msgspec import structs

from rulewright.diagnostics import Diagnostic, Findings, Guess, Note, error
from rulewright.documents.check import CheckDocument
from rulewright.expression.build import Built
from rulewright.expression.declarations import parse_signature
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DYN, Type
from rulewright.load import Node, Scalar, plain, scalars_below
from rulewright.lower.expressions import (
    build_in,
    prompt_environment,
    scenario_environment,
    type_of,
    verdict_environment,
)
from rulewright.lower.lowering import LoweringContext, lower_prompt
from rulewright.lower.phases import reply_environment
from rulewright.lower.selection import eligible
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import Each, ExpressionVerifier
from rulewright_runtime.values import INT_MAX, INT_MIN

PARTS: Final = (None, *get_args(Each))
_OTHERS: Final = re.compile(r"\bv\b")  # in a condition that may read the verdicts of other checks, `v("ID")`


def environment_of(
    check: CheckDocument, checks: Iterable[str] | None = None, typed: Mapping[str, Type] = MappingProxyType({})
) -> Environment:
    """Return the environment of the check's verdict conditions. `checks` are the ids of the project's checks, None
    where they are unknown; `typed` overrides the declared types of parameters."""
    ids = None if checks is None else tuple(name for name in checks if name != check.id)
    environment = verdict_environment(
        check.each, tuple({**dict(_types(check)), **typed}.items()), ids, check.vocabulary
    )
    functions = {name: (parse_signature(each.signature),) for name, each in check.vocabulary.functions}
    return replace(environment, functions=functions) if functions else environment


def _environment_of_applies(check: CheckDocument, typed: Mapping[str, Type] = MappingProxyType({})) -> Environment:
    """The environment of the condition under which a check applies: the conversation as a whole, and the parameters of
    an `expression` check. It reads no verdicts of other checks."""
    return environment_of(structs.replace(check, each=None), (), typed)


def lower_applies(check: CheckDocument, findings: list[Diagnostic]) -> Built | None:
    """Return the condition under which a check applies to a conversation; None without one, or with a finding."""
    if check.applies is None:
        return None
    own: list[Diagnostic] = []
    built = build_in(check.applies, _environment_of_applies(check), own, expect=BOOL)
    is_unread = bool(check.params) and check.routing.route != "expression"
    reworded = {
        "message": "`params` can't be read in this condition",
        "help": "only checks that `fail` or `pass` decides read it; write the value here",
    }
    findings += [structs.replace(each, **reworded) if is_unread and each.about == "params" else each for each in own]
    return built


def check_expressions(document: CheckDocument) -> list[tuple[Scalar, Environment]]:
    """Return the conditions of a check, each with its environment."""
    when, applies, violates = document.when, document.applies, document.phases.violates
    return [
        *([] if when is None else [(when, scenario_environment(document.vocabulary))]),
        *([] if applies is None else [(applies, _environment_of_applies(document))]),
        *((scalar, environment_of(document)) for scalar in document.verdict_conditions),
        *([] if violates is None else [(violates, reply_environment(document))]),
    ]


def _types(check: CheckDocument) -> Iterator[tuple[str, Type]]:
    """The names under `params` with their declared types, else `dyn`."""
    if check.routing.route not in ("", "expression"):  # no other route has parameters
        return
    declared = plain(check.get("parameters"))
    schemas = declared if isinstance(declared, dict) else {}
    for name in {**schemas, **check.params}:
        schema = schemas.get(name)
        yield name, type_of(schema, {}, name) if isinstance(schema, dict) else DYN


def verdict_cycles(checks: Sequence[CheckDocument], nodes: Iterable[Check]) -> Findings:
    """Report checks of the plan that read each other's verdicts in a cycle."""
    needs = {node.id: ids for node in nodes if (ids := node.verifier.reads())}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as cycle:
        names = list(reversed(cycle.args[1]))
        first = next(check for check in checks if check.id == names[0])
        path = " -> ".join(f"`{name}`" for name in names)
        place = first.verdict_conditions[0]
        yield error(place, f"checks read each other's verdicts in a cycle: {path}", code="verdict-cycle")


def lower_expression(check: CheckDocument, lowering: LoweringContext) -> ExpressionVerifier | None:
    """Return the verifier of an `expression` check, or None with a finding."""
    if check.fails is None and check.passes is None:
        if "fail" in check.node or "pass" in check.node:
            return None  # a value of a wrong type has a finding of its own
        place, message = check.place("routing", "route"), "the route `expression` needs `fail` or `pass`, a condition"
        lowering.findings.append(error(place, message, code="missing-key"))
        return None
    if check.each not in PARTS:  # the environment is unknown
        return None
    if unusable := list(_unusable(check.get("params"))):
        lowering.findings += unusable
        return None
    conditions = {"fails": check.fails, "unclear": check.unclears, "passes": check.passes}
    reads_others = any(scalar is not None and _OTHERS.search(scalar.text) for scalar in conditions.values())
    environment = environment_of(check, lowering.check_ids if reads_others else ())
    built = {
        name: None if scalar is None else _build(check, scalar, environment, lowering.findings)
        for name, scalar in conditions.items()
    }
    if any(scalar is not None and built[name] is None for name, scalar in conditions.items()):
        return None
    reads = {path for each in built.values() if each is not None for path in each.reads}
    lowering.reads |= {path for path in reads if path[0] == "scenario"}
    return ExpressionVerifier(
        **{name: None if each is None else each.program for name, each in built.items()},
        each=cast("Each", check.each or "conversation"),
        needs=tuple(sorted({path[1] for path in reads if path[0] == "v" and len(path) > 1})),
        parameters=check.params,
    )


def _build(
    check: CheckDocument, condition: Scalar, environment: Environment, findings: list[Diagnostic]
) -> Built | None:
    """The program of a verdict condition; a finding about an unknown parameter shows the one that was meant."""
    own: list[Diagnostic] = []
    built = build_in(condition, environment, own, expect=BOOL)
    for found in own:
        meant = found.help.meant if found.about == "params" and isinstance(found.help, Guess) else ""
        place = check.key_place("params", meant) if meant in check.params else None
        findings.append(found if place is None else structs.replace(found, notes=(Note(place, "declared here"),)))
    return built


def _unusable(node: Node | None) -> Findings:
    """Report the numbers in a node that expressions can't hold: infinite ones and NaN, with which the result of a
    comparison never depends on the chat, and whole numbers of more than 64 bits."""
    for each in scalars_below(node):
        if isinstance(each.value, bool) or not isinstance(each.value, (int, float)):
            continue
        if not isfinite(each.value):
            yield error(each, f"a parameter must be a finite number, not `{each.raw}`", code="wrong-type")
        elif isinstance(each.value, int) and not INT_MIN <= each.value <= INT_MAX:
            message = f"a parameter must fit a whole number of 64 bits, not `{each.raw}`"
            yield error(each, message, code="wrong-type")


def mistakes_with(check: CheckDocument, typed: Mapping[str, Type]) -> list[Diagnostic]:
    """Return the findings in the conditions of an `expression` check if parameters had the types `typed`."""
    findings: list[Diagnostic] = []
    if check.each not in PARTS:
        return findings  # the environment is unknown
    for scalar in check.verdict_conditions:
        _build(check, scalar, environment_of(check, typed=typed), findings)
    if check.verdict_conditions and check.applies is not None and typed:
        build_in(check.applies, _environment_of_applies(check, typed), findings, expect=BOOL)
    return findings


def check_findings(check: CheckDocument) -> list[Diagnostic]:
    """Return the findings in the check's conditions, and in its prompt template where a judge reads it."""
    findings = mistakes_with(check, {})
    lower_applies(check, findings)
    if check.when is not None:
        eligible(check, (), findings)
    if check.prompt is not None and (check.is_judged or check.has_edge):
        lower_prompt(check.prompt, prompt_environment(check.vocabulary), findings)
    return findings
