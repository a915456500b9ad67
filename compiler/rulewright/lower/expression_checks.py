"""From a check's `pass`, `fail` and `unclear` to the verifier that evaluates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast, get_args

from rulewright.diagnostics import Diagnostic, error
from rulewright.expression.declarations import parse_signature
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DYN, Type
from rulewright.load import Scalar, plain
from rulewright.lower.eligibility import eligible
from rulewright.lower.environments import prompt_environment, scenario_environment, type_of, verdict_environment
from rulewright.lower.expressions import build_in
from rulewright.lower.phases import reply_environment
from rulewright.lower.prompts import lower_prompt
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import Each, ExpressionVerifier

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.lower.lowering import LoweringContext

PAGES: Final[dict[str, str]] = {
    "verdicts-in-a-circle": """Checks read each other's verdicts in a circle.

    Why it matters: none of them could be decided before the others.
    Instead: let one of them look at the conversation itself.
    """,
}


PARTS: Final = (None, *get_args(Each))


def environment_of(
    check: CheckDocument, checks: Iterable[str] | None = None, typed: Mapping[str, Type] = MappingProxyType({})
) -> Environment:
    """Where the conditions of the check's verdict are decided; `checks` are the ids of the project, None: not known.
    Parameters have the types that are declared, or `typed` says."""
    ids = None if checks is None else tuple(name for name in checks if name != check.id)
    found = verdict_environment(check.each, tuple({**dict(_types(check)), **typed}.items()), ids, check.vocabulary)
    brought = {name: (parse_signature(each.signature),) for name, each in check.vocabulary.functions}
    return replace(found, functions=brought) if brought else found


def check_expressions(document: CheckDocument) -> list[tuple[Scalar, Environment]]:
    """The conditions of a check, each with the environment of its place."""
    when, violates = document.when, document.phases.violates
    return [
        *([] if when is None else [(when, scenario_environment(document.vocabulary))]),
        *((scalar, environment_of(document)) for scalar in document.verdict_conditions),
        *([] if violates is None else [(violates, reply_environment(document))]),
    ]


def _types(check: CheckDocument) -> Iterator[tuple[str, Type]]:
    """The names under `params` with their types: those that are declared, else any."""
    declared = plain(check.get("parameters"))
    schemas = declared if isinstance(declared, dict) else {}
    for name in {**schemas, **check.params}:
        schema = schemas.get(name)
        yield name, type_of(schema, {}, name) if isinstance(schema, dict) else DYN


def circles(checks: Sequence[CheckDocument], nodes: Iterable[Check]) -> Iterator[Diagnostic]:
    """A finding where checks of the plan read each other's verdicts in a circle."""
    needs = {node.id: ids for node in nodes if (ids := node.verifier.reads())}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as circle:
        names = list(reversed(circle.args[1]))
        first = next(check for check in checks if check.id == names[0])
        path = " -> ".join(f"`{name}`" for name in names)
        place = first.verdict_conditions[0]
        yield error(place, f"checks read each other's verdicts in a circle: {path}", code="verdicts-in-a-circle")


def lower_expression(check: CheckDocument, lowering: LoweringContext) -> ExpressionVerifier | None:
    """The verifier of an `expression` check, or None when a finding says why there is none."""
    if check.fails is None and check.passes is None:
        place, message = check.place("routing", "route"), "the route `expression` needs `fail` or `pass`, a condition"
        lowering.found.append(error(place, message, code="missing-key"))
        return None
    if check.each not in PARTS:  # what the conditions may name is not known
        return None
    environment = environment_of(check, lowering.check_ids)
    conditions = {"fails": check.fails, "unclear": check.unclears, "passes": check.passes}
    built = {
        name: None if scalar is None else build_in(scalar, environment, lowering.found, expect=BOOL)
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


def mistakes_with(check: CheckDocument, typed: Mapping[str, Type]) -> list[Diagnostic]:
    """What would be wrong with the conditions of its verdict if parameters were of these types."""
    found: list[Diagnostic] = []
    if check.each not in PARTS:
        return found  # what the conditions may name is not known
    for scalar in check.verdict_conditions:
        build_in(scalar, environment_of(check, typed=typed), found, expect=BOOL)
    return found


def check_findings(check: CheckDocument) -> list[Diagnostic]:
    """The mistakes in its conditions, and in a prompt that is sent, read as a template."""
    found = mistakes_with(check, {})
    if check.when is not None:
        eligible(check, (), found)
    if check.prompt is not None and (check.is_judged or check.has_edge):
        lower_prompt(check.prompt, prompt_environment(check.vocabulary), found)
    return found
